// A fork equals its network: accounts, slots, logs, receipts and calls at its block, and what comes of the same transactions.
import { describe, expect, test } from 'vitest'
import type { Hash } from '../../../src/core/hex.ts'
import { createDevchain, type Devchain } from '../../../src/devchain.ts'
import { Network } from '../../../src/fork/network.ts'
import { NO_STORE } from '../../../src/fork/store/store.ts'
import {
  type Asked,
  deployKeeper,
  KEEPER_CODE,
  sendOn,
  setting,
  startUpstream,
  word,
} from '../../support/upstream.ts'

/** Blocks of the network, and from one fork to the next. */
const BLOCKS = 200
const STEP = 10

/** Slots that transactions write to. */
const SLOTS = 12

const ONE = `0x${word(1)}` as Hash
const OTHER = `0x${word(2)}` as Hash

type Ask = (method: string, ...params: readonly unknown[]) => Promise<unknown>

interface Block {
  readonly number: string
  readonly timestamp: string
  readonly stateRoot: string
  readonly transactions: readonly string[]
}

/** Numbers that are the same in every run. */
function* numbers(seed: number): Generator<number, never> {
  let state = seed
  for (;;) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    yield state >>> 8
  }
}

/** Random blocks: contracts made, slots set and cleared, ether sent to old and new accounts, transactions that fail. */
async function grow(ask: Ask): Promise<readonly string[]> {
  const random = numbers(7)
  const pick = (limit: number): number => random.next().value % limit
  const accounts = (await ask('eth_accounts')) as readonly string[]
  const keepers = [await deployKeeper({ ask })]
  const others: string[] = []
  await ask('evm_setAutomine', false)
  for (let block = 2; block < BLOCKS; block++) {
    for (let count = pick(4); count > 0; count--) {
      const from = accounts[pick(5)]
      const to = keepers[pick(keepers.length)]
      const kind = pick(6)
      const gas = kind === 5 ? '0x5600' : '0x60000'
      if (kind === 0 && keepers.length < 9) {
        await ask('eth_sendTransaction', { from, data: KEEPER_CODE, gas: '0x200000' })
      } else if (kind === 1) {
        const stranger = `0x${word(pick(1_000_000) + 0x99999).slice(24)}`
        others.push(stranger)
        await ask('eth_sendTransaction', { from, to: stranger, value: `0x${pick(900) + 1}`, gas })
      } else {
        const value = kind === 2 ? 0 : pick(1_000)
        await ask('eth_sendTransaction', { from, to, data: setting(pick(SLOTS), value), gas })
      }
    }
    await ask('evm_mine')
    const receipts = (await ask('eth_getBlockReceipts', 'latest')) as {
      contractAddress: string | null
    }[]
    for (const { contractAddress } of receipts) {
      if (contractAddress !== null) keepers.push(contractAddress)
    }
  }
  return [...accounts.slice(5), ...keepers, ...others]
}

function askOf(devchain: Devchain): Ask {
  return (method, ...params) => devchain.request({ method, params })
}

/** What of an account is asked for at a block. */
async function accountAt(ask: Ask, address: string, block: string): Promise<readonly unknown[]> {
  const slots = Array.from({ length: SLOTS }, (_, slot) => `0x${slot.toString(16)}`)
  return Promise.all([
    ask('eth_getBalance', address, block),
    ask('eth_getTransactionCount', address, block),
    ask('eth_getCode', address, block),
    ask('eth_getStorageValues', { [address]: slots }, block),
    ask('eth_call', { to: address, data: `0x${word(3)}` }, block),
  ])
}

/** What a receipt tells that does not hang on hashes of blocks. */
function outcomeOf(receipt: Record<string, unknown>): unknown {
  const { status, gasUsed, contractAddress, transactionHash } = receipt
  const logs = (receipt.logs as Record<string, unknown>[]).map(({ address, topics, data }) => ({
    address,
    topics,
    data,
  }))
  return { status, gasUsed, contractAddress, transactionHash, logs }
}

/** Sends the transactions of a block to another chain, mines them at the block's time, and gives both sides' outcomes. */
async function repeat(from: Ask, to: Ask, number: number, isProven: boolean): Promise<void> {
  const block = (await from('eth_getBlockByNumber', number, false)) as Block
  for (const hash of block.transactions) {
    await to('eth_sendRawTransaction', await from('eth_getRawTransactionByHash', hash))
  }
  await to('evm_mine', Number(block.timestamp))
  const theirs = (await from('eth_getBlockReceipts', block.number)) as Record<string, unknown>[]
  const ours = (await to('eth_getBlockReceipts', block.number)) as Record<string, unknown>[]
  expect(ours.map(outcomeOf)).toEqual(theirs.map(outcomeOf))
  if (!isProven) return
  const made = (await to('eth_getBlockByNumber', number, false)) as Block
  expect([number, made.stateRoot]).toEqual([number, block.stateRoot])
}

describe('a fork of a network of 200 random blocks', () => {
  test.each([false, true])(
    'has its accounts, slots, logs and calls at each tenth block, and comes to the same by the same transactions; proven: %s',
    async (forkProofs) => {
      await using network = await createDevchain({ clock: 'step:12', chainId: 77, accounts: 7 })
      const ask = askOf(network)
      const addresses = await grow(ask)
      expect(Number(await ask('eth_blockNumber'))).toBe(BLOCKS)
      for (let number = STEP; number < BLOCKS; number += STEP) {
        const hex = `0x${number.toString(16)}`
        await using fork = await createDevchain({
          fork: { provider: network, block: number },
          chainId: 'remote',
          forkProofs,
          accounts: 0,
          noMining: true,
        })
        const here = askOf(fork)
        for (const address of addresses) {
          const expected = await accountAt(ask, address, hex)
          expect([address, await accountAt(here, address, 'latest')]).toEqual([address, expected])
        }
        const range = { fromBlock: `0x${(number - STEP + 1).toString(16)}`, toBlock: hex }
        expect(await here('eth_getLogs', range)).toEqual(await ask('eth_getLogs', range))
        for (let next = number + 1; next <= number + 3; next++)
          await repeat(ask, here, next, forkProofs)
        const after = `0x${(number + 3).toString(16)}`
        for (const address of addresses) {
          const expected = await accountAt(ask, address, after)
          expect([address, await accountAt(here, address, 'latest')]).toEqual([address, expected])
        }
      }
    },
    60_000,
  )
})

describe('a network that lies', () => {
  const LIES: readonly (readonly [string, (asked: Asked, result: never) => unknown, RegExp])[] = [
    [
      'a balance',
      ({ method }, result: { accountProof: string[] }) =>
        method === 'eth_getProof'
          ? { ...result, accountProof: result.accountProof.map(withOtherEnd) }
          : result,
      /the proof of account 0x[0-9a-f]{40} does not hold: a node has another hash/,
    ],
    [
      'code',
      ({ method }, result) => (method === 'eth_getCode' ? '0x6001' : result),
      /the proof of the code of 0x[0-9a-f]{40} does not hold: it has another hash/,
    ],
    [
      'a slot',
      ({ method }, result: { storageProof: { proof: string[] }[] }) =>
        method === 'eth_getProof'
          ? {
              ...result,
              storageProof: result.storageProof.map((each) => ({
                ...each,
                proof: each.proof.slice(0, -1),
              })),
            }
          : result,
      /the proof of slot 0x[0-9a-f]+ of 0x[0-9a-f]{40} does not hold: it ends too early/,
    ],
  ]

  test.each(LIES)(
    'about %s is found out, and named, where proofs are asked for',
    async (_, lie, message) => {
      await using upstream = await startUpstream()
      const keeper = await deployKeeper(upstream)
      upstream.faults.lie = lie as (asked: Asked, result: unknown) => unknown
      await using fork = await createDevchain({
        fork: { url: upstream.url },
        noForkCache: true,
        forkProofs: true,
      })
      await expect(askOf(fork)('eth_call', { to: keeper })).rejects.toThrow(message)
      expect(await askOf(fork)('devchain_forkInfo')).toMatchObject({ proven: true })
    },
  )
})

/** A node with another last byte. */
function withOtherEnd(node: string): string {
  return `${node.slice(0, -2)}${node.endsWith('00') ? '01' : '00'}`
}

describe('a network that goes wrong', () => {
  test('that is reorganized below the fork is an error that names both blocks', async () => {
    let time = 0
    let seen: string = ONE
    const asker = { name: 'it', request: async () => ({ hash: seen }) }
    const network = new Network({
      chainId: 1n,
      asker,
      store: NO_STORE,
      isProven: false,
      isShallow: () => true,
      now: () => time,
    })
    const point = { number: 9n, hash: ONE, stateRoot: ONE }
    network.noteVerified(ONE)
    seen = OTHER
    await network.verify(point)
    time = 10_001
    await expect(network.verify(point)).rejects.toThrow(
      `block 9 of the forked network was ${ONE} and is ${OTHER}: it was reorganized below the fork`,
    )
    seen = ONE
    await network.verify(point)
  })

  test.each(['eth_getBalance', 'eth_getCode', 'eth_getStorageAt', 'eth_getTransactionCount'])(
    'that has no %s of the block any more is told in its own words, and nothing is made of it',
    async (method) => {
      await using upstream = await startUpstream()
      const keeper = await deployKeeper(upstream)
      await using fork = await createDevchain({ fork: { url: upstream.url }, noForkCache: true })
      const here = askOf(fork)
      upstream.faults.unknown.add('eth_getStorageValues')
      upstream.faults.refuse = (asked) =>
        asked.method === method ? { code: -32000, message: 'missing trie node' } : undefined
      const [from] = (await here('eth_accounts')) as string[]
      const request = { from, to: keeper, data: setting(0, 9), gas: '0x60000' }
      await expect(here('eth_sendTransaction', request)).rejects.toThrow(/missing trie node/)
      await expect(here('eth_call', { to: keeper })).rejects.toThrow(/missing trie node/)
      upstream.faults.refuse = undefined
      expect(await here('eth_blockNumber')).toBe(await upstream.ask('eth_blockNumber'))
      expect((await sendOn(here, { to: keeper, data: setting(0, 9) })).status).toBe('0x1')
    },
  )

  test.each([null, '', '0x', 'nonsense', 5, {}])(
    'that answers %j for a balance is told so',
    async (answer) => {
      await using upstream = await startUpstream()
      const keeper = await deployKeeper(upstream)
      await using fork = await createDevchain({ fork: { url: upstream.url }, noForkCache: true })
      upstream.faults.lie = ({ method }, result) => (method === 'eth_getBalance' ? answer : result)
      await expect(askOf(fork)('eth_getBalance', keeper)).rejects.toThrow(
        /the forked network answered .*, not a number/,
      )
    },
  )
})
