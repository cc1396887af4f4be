// Transactions of the forked network that are run again here: those before the one that a fork begins with, and old ones to trace.
import { describe, expect, test } from 'vitest'
import type { DevchainOptions } from '../../../src/devchain.ts'
import {
  deployKeeper,
  forkOf,
  setting,
  startUpstream,
  type Upstream,
  word,
} from '../../support/upstream.ts'

interface Busy {
  readonly keeper: string
  /** Of four transactions of one block, each of which sets slot 0 to another value from 7 on. */
  readonly hashes: readonly string[]
  readonly number: string
}

/** A network whose newest but one block has four transactions. */
async function busy(upstream: Upstream): Promise<Busy> {
  const { ask } = upstream
  const keeper = await deployKeeper(upstream)
  await ask('evm_setAutomine', false)
  const [from] = (await ask('eth_accounts')) as readonly string[]
  const hashes: string[] = []
  for (const value of [7, 8, 9, 10]) {
    const request = { from, to: keeper, data: setting(0, value), gas: '0x20000' }
    hashes.push((await ask('eth_sendTransaction', request)) as string)
  }
  await ask('evm_mine')
  const number = (await ask('eth_blockNumber')) as string
  await ask('evm_setAutomine', true)
  await ask('evm_mine')
  return { keeper, hashes, number }
}

describe('a fork at a transaction', () => {
  test.each([0, 1, 3])('has the state before it: number %i of its block', async (index) => {
    await using upstream = await startUpstream()
    const { keeper, hashes, number } = await busy(upstream)
    await using fork = await forkOf(upstream, { forkTransaction: hashes[index] as string })
    const before = index === 0 ? 100 : 6 + index
    expect(await fork.ask('eth_getStorageAt', keeper, '0x0')).toBe(`0x${word(before)}`)
    expect(BigInt((await fork.ask('eth_blockNumber')) as string)).toBe(BigInt(number) - 1n)
    expect(await fork.ask('eth_getTransactionReceipt', hashes[index])).toBeNull()
    expect(fork.notices).toEqual([])
    // nobody is asked for it at the end, and a reset comes back to it
    await fork.ask('anvil_setStorageAt', keeper, '0x0', `0x${word(1)}`)
    await fork.ask('evm_reset')
    expect(await fork.ask('eth_getStorageAt', keeper, '0x0')).toBe(`0x${word(before)}`)
  })

  test('has what came after it wait, for blocks of the same chain id', async () => {
    await using upstream = await startUpstream({ chainId: 5 })
    const { keeper, hashes } = await busy(upstream)
    const [, second, third, fourth] = hashes as [string, string, string, string]
    const options: DevchainOptions = {
      forkTransaction: second,
      forkLater: true,
      chainId: 'remote',
      // nonces go on from those of the network
      accounts: 0,
    }
    await using fork = await forkOf(upstream, options)
    expect(await fork.ask('txpool_status')).toEqual({ pending: '0x0', queued: '0x2' })
    const raw = await upstream.ask('eth_getRawTransactionByHash', second)
    expect(await fork.ask('eth_sendRawTransaction', raw)).toBe(second)
    for (const hash of [second, third, fourth]) {
      expect(await fork.ask('eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1' })
    }
    expect(await fork.ask('eth_getStorageAt', keeper, '0x0')).toBe(`0x${word(10)}`)
    expect(fork.notices).toEqual([])
  })

  test('leaves out, and says so, what only its network can run', async () => {
    await using upstream = await startUpstream()
    const { keeper, hashes } = await busy(upstream)
    upstream.faults.lie = ({ method }, result) => {
      if (method !== 'eth_getBlockByHash' || result === null) return result
      const { transactions, ...block } = result as { transactions: { type: string }[] }
      const [first, ...others] = transactions
      return { ...block, transactions: [{ ...first, type: '0x7e' }, ...others] }
    }
    await using fork = await forkOf(upstream, { forkTransaction: hashes[2] as string })
    // the second has the nonce after that of the first
    expect(fork.notices).toEqual([
      '2 of the 2 transactions before the forked one cannot be run here, and are left out',
    ])
    expect(await fork.ask('eth_getStorageAt', keeper, '0x0')).toBe(`0x${word(100)}`)
  })

  const unknown = `0x${word(1)}`
  test.each<[string, DevchainOptions, RegExp]>([
    ['that nobody knows', { forkTransaction: unknown }, /has no transaction 0x0+1$/],
    ['of no hash', { forkTransaction: '0x12' }, /expected the hash of a transaction/],
    ['beside a block', { forkTransaction: unknown, fork: 'BLOCK' }, /not with @BLOCK/],
    ['that is not named', { forkLater: true }, /name it with --fork-transaction/],
    [
      'of another chain id',
      { forkTransaction: unknown, forkLater: true },
      /needs --chain-id remote/,
    ],
  ])('is refused at one %s', async (_, options, message) => {
    await using upstream = await startUpstream()
    const fork = options.fork === 'BLOCK' ? { url: upstream.url, block: 0 } : { url: upstream.url }
    await expect(forkOf(upstream, { ...options, fork })).rejects.toThrow(message)
  })
})

const TRACERS = ['callTracer', 'prestateTracer', '4byteTracer'].map((tracer) => ({ tracer }))

describe('an old trace that the network refuses', () => {
  test('is made here, on the state of its block', async () => {
    await using upstream = await startUpstream({ chainId: 5 })
    const { hashes, number } = await busy(upstream)
    const [, hash] = hashes
    const questions: readonly (readonly [string, ...unknown[]])[] = [
      ...TRACERS.map((tracer) => ['debug_traceTransaction', hash, tracer] as const),
      ['debug_traceTransaction', hash],
      ['debug_traceBlockByNumber', number, { tracer: 'callTracer' }],
      ['trace_transaction', hash],
      ['trace_get', hash, ['0x0']],
      ['trace_replayTransaction', hash, ['trace', 'stateDiff']],
      ['trace_block', number],
      ['trace_replayBlockTransactions', number, ['trace']],
    ]
    const expected = []
    for (const [method, ...params] of questions)
      expected.push(await upstream.ask(method, ...params))
    for (const [method] of questions) upstream.faults.unknown.add(method)
    await using fork = await forkOf(upstream)
    for (const [index, [method, ...params]] of questions.entries()) {
      expect(await fork.ask(method, ...params), method).toEqual(expected[index])
    }
  })

  test('is refused with the reason where its block cannot be run', async () => {
    await using upstream = await startUpstream()
    const { hashes } = await busy(upstream)
    upstream.faults.unknown.add('debug_traceTransaction')
    upstream.faults.lie = ({ method }, result) => {
      if (method !== 'eth_getBlockByNumber' || result === null) return result
      const { transactions, ...block } = result as { transactions: (object | string)[] }
      const typed = transactions.map((each) =>
        typeof each === 'string' ? each : { ...each, type: '0x7e' },
      )
      return { ...block, transactions: typed }
    }
    await using fork = await forkOf(upstream)
    await expect(fork.ask('debug_traceTransaction', hashes[0])).rejects.toThrow(
      /cannot be run again here: 0x\w+ is a transaction of type 0x7e, which only its own network has/,
    )
  })
})
