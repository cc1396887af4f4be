// testing_buildBlockV1: a block that is built and not kept is the one that the chain would mine.
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createDevchain, type Devchain } from '../../../src/devchain.ts'

const ALICE = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const BOB = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const MINER = '0x00000000000000000000000000000000000c0ffe'
const RANDOM = `0x${'42'.repeat(32)}`

const ATTRIBUTES = {
  timestamp: '0x77359400',
  prevRandao: RANDOM,
  suggestedFeeRecipient: MINER,
  withdrawals: [],
  parentBeaconBlockRoot: `0x${'00'.repeat(32)}`,
}

interface Payload {
  readonly blockHash: string
  readonly stateRoot: string
  readonly gasLimit: string
  readonly gasUsed: string
  readonly transactions: readonly string[]
}

interface Built {
  readonly executionPayload: Payload
  readonly blockValue: string
  readonly executionRequests: readonly string[]
}

interface Head {
  readonly hash: string
  readonly number: string
  readonly stateRoot: string
  readonly extraData: string
}

let devchain: Devchain

beforeEach(async () => {
  devchain = await createDevchain({ compat: 'geth', noMining: true })
})

afterEach(() => devchain.close())

async function ask<T>(method: string, ...params: unknown[]): Promise<T> {
  return (await devchain.request({ method, params })) as T
}

function head(): Promise<Head> {
  return ask('eth_getBlockByNumber', 'latest', false)
}

async function build(transactions: unknown, attributes: object = {}): Promise<Built> {
  const { hash, extraData } = await head()
  const given = { ...ATTRIBUTES, ...attributes }
  return ask('testing_buildBlockV1', hash, given, transactions, extraData)
}

/** A transfer of Alice's that is signed and not sent. */
async function signed(nonce: number): Promise<string> {
  const transaction = {
    ...{ from: ALICE, to: BOB, value: '0x5', gas: '0x5208', nonce: `0x${nonce.toString(16)}` },
    ...{ maxFeePerGas: '0xb2d05e00', maxPriorityFeePerGas: '0x7' },
  }
  return ask('eth_signTransaction', transaction)
}

async function mineAsOrdered(): Promise<Head> {
  await ask('anvil_setCoinbase', MINER)
  await ask('hardhat_setPrevRandao', RANDOM)
  await ask('evm_setNextBlockTimestamp', ATTRIBUTES.timestamp)
  await ask('evm_mine')
  return head()
}

describe('testing_buildBlockV1', () => {
  test('builds the next block from the pool, which joins the chain only when mined', async () => {
    const before = await head()
    await ask('eth_sendRawTransaction', await signed(0))
    await ask('eth_sendRawTransaction', await signed(1))
    const { executionPayload, blockValue } = await build(null)
    expect(blockValue).toBe(`0x${(2 * 21_000 * 7).toString(16)}`)
    expect(await head()).toEqual(before)
    expect(await ask('eth_getBlockByHash', executionPayload.blockHash, false)).toBeNull()
    expect((await mineAsOrdered()).hash).toBe(executionPayload.blockHash)
  })

  test('includes given transactions and none of the pool', async () => {
    await ask('eth_sendTransaction', { from: BOB, to: ALICE, value: '0x1' })
    const given = [await signed(0), await signed(1)]
    const { executionPayload } = await build(given)
    expect(executionPayload.transactions).toEqual(given)
    expect(executionPayload.gasUsed).toBe('0xa410')
    await ask('anvil_dropAllTransactions')
    for (const raw of given) await ask('eth_sendRawTransaction', raw)
    expect((await mineAsOrdered()).hash).toBe(executionPayload.blockHash)
  })

  test('makes an empty block from an empty list', async () => {
    await ask('eth_sendTransaction', { from: BOB, to: ALICE, value: '0x1' })
    const { executionPayload, blockValue } = await build([])
    expect(executionPayload.transactions).toEqual([])
    expect(blockValue).toBe('0x0')
    await ask('anvil_dropAllTransactions')
    expect((await mineAsOrdered()).hash).toBe(executionPayload.blockHash)
  })

  test('builds on the given parent, even if newer blocks exist', async () => {
    const { hash, extraData } = await head()
    const params = [hash, ATTRIBUTES, [await signed(0)], extraData]
    const early = await ask('testing_buildBlockV1', ...params)
    await mineAsOrdered()
    await ask('evm_mine')
    expect(await ask('testing_buildBlockV1', ...params)).toEqual(early)
  })

  test('credits withdrawals in gwei', async () => {
    const withdrawal = { index: '0x0', validatorIndex: '0x1', address: BOB, amount: '0x3' }
    const { executionPayload } = await build([], { withdrawals: [withdrawal] })
    expect(executionPayload).toMatchObject({ withdrawals: [withdrawal] })
    const balance = BigInt(await ask<string>('eth_getBalance', BOB, 'latest'))
    await ask('anvil_setBalance', BOB, `0x${(balance + 3n * 10n ** 9n).toString(16)}`)
    expect((await mineAsOrdered()).stateRoot).toBe(executionPayload.stateRoot)
  })

  test('returns the requests of its transactions with their type', async () => {
    const queue = '0x00000961ef480eb55e80d19ad83579a64c007002'
    const raw = await ask<string>('eth_signTransaction', {
      ...{ from: ALICE, to: queue, value: '0x3b9aca00', gas: '0x30d40', nonce: '0x0' },
      ...{ maxFeePerGas: '0xb2d05e00', maxPriorityFeePerGas: '0x0' },
      data: `0x${'aa'.repeat(48)}0000000000000d80`,
    })
    const { executionRequests } = await build([raw])
    const amount = '800d000000000000'
    expect(executionRequests).toEqual([`0x01${ALICE.slice(2)}${'aa'.repeat(48)}${amount}`])
  })

  test.each([
    ['0x1', 30_000_000 - (Math.floor(30_000_000 / 1024) - 1)],
    ['0x1c9c381', 30_000_001],
    ['0x77359400', 30_000_000 + Math.floor(30_000_000 / 1024) - 1],
  ])('moves towards the gas limit %s', async (targetGasLimit, expected) => {
    const { executionPayload } = await build([], { targetGasLimit })
    expect(Number(executionPayload.gasLimit)).toBe(expected)
  })
})

describe('testing_buildBlockV1 refuses', () => {
  test('a nonce that is not the next', async () => {
    const before = await head()
    await expect(build([await signed(999)])).rejects.toMatchObject({
      code: -32_000,
      message: 'transaction: number 0: nonce too high: next nonce 0, tx nonce 999',
    })
    expect(await head()).toEqual(before)
  })

  test('an unknown parent', async () => {
    const unknown = `0x${'ab'.repeat(32)}`
    await expect(ask('testing_buildBlockV1', unknown, ATTRIBUTES, [])).rejects.toThrow(
      /header for hash not found/,
    )
  })

  test('a time that is not after the parent’s', async () => {
    await expect(build([], { timestamp: '0x1' })).rejects.toThrow(/^timestamp: 1 is not after/)
  })

  test('too much extra data', async () => {
    const { hash } = await head()
    const data = `0x${'00'.repeat(33)}`
    await expect(ask('testing_buildBlockV1', hash, ATTRIBUTES, [], data)).rejects.toThrow(
      'extra data: it has 33 bytes, at most 32 are allowed',
    )
  })

  test('the pool’s transactions on an older block', async () => {
    const { hash } = await head()
    await ask('evm_mine')
    await expect(ask('testing_buildBlockV1', hash, ATTRIBUTES, null)).rejects.toThrow(
      /^transactions: null takes those of the pool/,
    )
  })

  test('attributes without a time', async () => {
    await expect(build([], { timestamp: null })).rejects.toThrow(
      'payloadAttributes.timestamp: expected seconds since 1970',
    )
  })

  test('a block before paris', async () => {
    const old = await createDevchain({ hardfork: 'london' })
    const { hash } = (await old.request({
      method: 'eth_getBlockByNumber',
      params: ['latest', false],
    })) as Head
    const params = [hash, ATTRIBUTES, []]
    await expect(old.request({ method: 'testing_buildBlockV1', params })).rejects.toThrow(
      'payloads need paris or later',
    )
    await old.close()
  })
})
