// Transactions of the forked network that are run again here: those before the one that a fork begins with, and old ones to trace.
import { describe, expect, test } from 'vitest'
import type { DevchainOptions } from '../../../src/devchain.ts'
import { createDevchain } from '../../../src/devchain.ts'
import type { Hardfork } from '../../../src/protocol/forks.ts'
import { askOf, randomNetwork } from '../../support/fork/randomnetwork.ts'
import {
  type Asked,
  deployKeeper,
  forkOf,
  setting,
  startUpstream,
  type Upstream,
  word,
} from '../../support/fork/upstream.ts'

interface Busy {
  readonly keeper: string
  /** Of the transactions of one block, each of which sets slot 0 to another value from 7 on. */
  readonly hashes: readonly string[]
  readonly number: string
}

/** A block’s first transaction is of a type that only its network has. */
function strange({ method }: Asked, result: unknown): unknown {
  if (method !== 'eth_getBlockByHash' || result === null) return result
  const { transactions, ...block } = result as { transactions: { type: string }[] }
  const [first, ...others] = transactions
  return { ...block, transactions: [{ ...first, type: '0x6a' }, ...others] }
}

/** A network whose newest but one block has so many transactions. */
async function busy(upstream: Upstream, count = 4): Promise<Busy> {
  const { ask } = upstream
  const keeper = await deployKeeper(upstream)
  await ask('evm_setAutomine', false)
  const [from] = (await ask('eth_accounts')) as readonly string[]
  const hashes: string[] = []
  for (let value = 7; value < 7 + count; value++) {
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

  test('queues the rest of the block, for blocks of the same chain id', async () => {
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

  test.each(['nothing', 'a block', 'too little', 'an account that is none'])(
    'runs the trace on the fork if the network returns %s',
    async (answer) => {
      await using upstream = await startUpstream()
      const { keeper, hashes } = await busy(upstream, 6)
      const result = { pre: { '0x12': {} }, post: {} }
      const answers: Record<string, unknown> = {
        nothing: null,
        'a block': {},
        'too little': [{ result: { pre: {}, post: {} } }],
        'an account that is none': hashes.map((txHash) => ({ txHash, result })),
      }
      upstream.faults.lie = ({ method }, truth) =>
        method === 'debug_traceBlockByHash' ? answers[answer] : truth
      await using fork = await forkOf(upstream, { forkTransaction: hashes[5] as string })
      expect(await fork.ask('eth_getStorageAt', keeper, '0x0')).toBe(`0x${word(11)}`)
      expect(upstream.requests.flat()).toContainEqual(
        expect.objectContaining({ method: 'debug_traceBlockByHash' }),
      )
    },
  )

  test.each<Hardfork>(['amsterdam', 'bpo2', 'shanghai'])(
    'has the same traces as the network, made by either side: %s',
    async (hardfork) => {
      await using network = await randomNetwork(40, hardfork)
      const ask = askOf(network)
      let compared = 0
      for (let number = 1; number <= 40; number++) {
        const at = `0x${number.toString(16)}`
        const { transactions } = (await ask('eth_getBlockByNumber', at, false)) as {
          transactions: readonly string[]
        }
        if (transactions.length < 5) continue
        const { accounts } = (await ask('debug_dumpBlock', at)) as {
          accounts: Record<string, { address: string; storage?: Record<string, string> }>
        }
        const states = await Promise.all(
          [true, false].map(async (isTraced) => {
            const asked: string[] = []
            const request: typeof network.request = (request) => {
              asked.push(request.method)
              const isRefused = !isTraced && request.method === 'debug_traceBlockByHash'
              return isRefused
                ? Promise.reject(new Error('no such method'))
                : network.request(request)
            }
            await using fork = await createDevchain({
              fork: { provider: { request } },
              forkTransaction: transactions[4] as string,
              accounts: 7,
            })
            const here = askOf(fork)
            const reported = Object.values(accounts).map(({ address, storage = {} }) =>
              Promise.all([
                address,
                here('eth_getBalance', address),
                here('eth_getTransactionCount', address),
                here('eth_getCode', address),
                here('eth_getStorageValues', { [address]: ['0x0', ...Object.keys(storage)] }),
              ]),
            )
            const state = await Promise.all(reported)
            expect(asked.includes('debug_traceBlockByHash')).toBe(true)
            return state
          }),
        )
        expect(states[0]).toEqual(states[1])
        compared += 1
      }
      expect(compared).toBeGreaterThan(3)
    },
  )

  test('has the network’s trace of transactions that only the network can run', async () => {
    await using upstream = await startUpstream()
    const { keeper, hashes } = await busy(upstream)
    upstream.faults.lie = strange
    await using fork = await forkOf(upstream, { forkTransaction: hashes[2] as string })
    expect(fork.notices).toEqual([])
    expect(await fork.ask('eth_getStorageAt', keeper, '0x0')).toBe(`0x${word(8)}`)
  })

  test('leaves out, with a warning, what only the network can run if it does not trace', async () => {
    await using upstream = await startUpstream()
    upstream.faults.unknown.add('debug_traceBlockByHash')
    const { keeper, hashes } = await busy(upstream)
    upstream.faults.lie = strange
    await using fork = await forkOf(upstream, { forkTransaction: hashes[2] as string })
    // the second has the nonce after that of the first
    expect(fork.notices).toEqual([
      'skipped 2 of the 2 transactions before the forked one: they cannot run here',
    ])
    expect(await fork.ask('eth_getStorageAt', keeper, '0x0')).toBe(`0x${word(100)}`)
  })

  test.each<[string, string, object, RegExp]>([
    [
      'a block number that is none',
      'eth_getTransactionByHash',
      { blockNumber: 'zz' },
      /answered "zz", not a number/,
    ],
    [
      'transactions that are no list',
      'eth_getBlockByHash',
      { transactions: {} },
      /does not return all of block/,
    ],
    [
      'a transaction that is none',
      'eth_getBlockByHash',
      { transactions: [null] },
      /does not return all of block/,
    ],
  ])(
    'is refused with the words of the network if it returns %s',
    async (_, method, members, message) => {
      await using upstream = await startUpstream()
      const { hashes } = await busy(upstream)
      upstream.faults.lie = (asked, result) =>
        asked.method === method ? { ...(result as object), ...members } : result
      const asked = forkOf(upstream, { forkTransaction: hashes[2] as string })
      await expect(asked).rejects.toThrow(message)
    },
  )

  const unknown = `0x${word(1)}`
  test.each<[string, DevchainOptions, RegExp]>([
    ['that nobody knows', { forkTransaction: unknown }, /has no transaction 0x0+1$/],
    ['of no hash', { forkTransaction: '0x12' }, /expected the hash of a transaction/],
    ['beside a block', { forkTransaction: unknown, fork: 'BLOCK' }, /remove @BLOCK from --fork/],
    ['that is not named', { forkLater: true }, /--fork-later needs --fork-transaction HASH/],
    [
      'of another chain id',
      { forkTransaction: unknown, forkLater: true },
      /needs --chain-id remote/,
    ],
  ])('is refused at a transaction %s', async (_, options, message) => {
    await using upstream = await startUpstream()
    const fork = options.fork === 'BLOCK' ? { url: upstream.url, block: 0 } : { url: upstream.url }
    await expect(forkOf(upstream, { ...options, fork })).rejects.toThrow(message)
  })
})

const TRACERS = ['callTracer', 'prestateTracer', '4byteTracer'].map((tracer) => ({ tracer }))

describe('an old trace that the network refuses', () => {
  test('is run on the fork, on the state of its block', async () => {
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

  test('runs where the network mined a tip above the fee cap, and ignores tracers', async () => {
    await using upstream = await startUpstream()
    const { hashes, number } = await busy(upstream)
    const questions: readonly (readonly [string, ...unknown[]])[] = [
      ['debug_traceTransaction', hashes[1], { tracer: 'callTracer' }],
      ['debug_traceTransaction', hashes[1], { tracer: 'prestateTracer' }],
      ['debug_traceTransaction', hashes[1], {}],
      ['trace_transaction', hashes[1]],
    ]
    const expected = await Promise.all(questions.map((each) => upstream.ask(...each)))
    const structs = await upstream.ask('debug_traceTransaction', hashes[1])
    upstream.faults.unknown.add('trace_transaction').add('debug_traceBlockByHash')
    // as ganache
    upstream.faults.lie = ({ method }, result) => {
      if (method === 'debug_traceTransaction') return structs
      const { transactions = [], ...block } = (result ?? {}) as { transactions?: object[] }
      if (!/^eth_getBlockBy/.test(method) || typeof transactions[0] !== 'object') return result
      const fees = { type: '0x2', maxFeePerGas: '0x0', maxPriorityFeePerGas: '0x5' }
      return { ...block, transactions: transactions.map((each) => ({ ...each, ...fees })) }
    }
    await using fork = await forkOf(upstream)
    for (const [index, each] of questions.entries()) {
      expect(await fork.ask(...each)).toEqual(expected[index])
    }
    await using within = await forkOf(upstream, { forkTransaction: hashes[3] as string })
    expect(within.notices).toEqual([])
    expect(await within.ask('eth_blockNumber')).toBe(`0x${(Number(number) - 1).toString(16)}`)
  })

  test('is an error with the reason if its block cannot be run', async () => {
    await using upstream = await startUpstream()
    const { hashes } = await busy(upstream)
    upstream.faults.unknown.add('debug_traceTransaction')
    upstream.faults.lie = ({ method }, result) => {
      if (method !== 'eth_getBlockByNumber' || result === null) return result
      const { transactions, ...block } = result as { transactions: (object | string)[] }
      const typed = transactions.map((each) =>
        typeof each === 'string' ? each : { ...each, type: '0x6a' },
      )
      return { ...block, transactions: typed }
    }
    await using fork = await forkOf(upstream)
    await expect(fork.ask('debug_traceTransaction', hashes[0])).rejects.toThrow(
      /cannot re-execute block \d+ here: transaction 0x\w+ has type 0x6a, which only its network runs/,
    )
  })
})

describe('a network with block access lists', () => {
  const LISTS = ['eth_getBlockAccessList', 'eth_getBlockAccessListByBlockHash'] as const

  const NAMES = [
    ...LISTS,
    'eth_getBlockAccessListByBlockNumber',
    'eth_getBlockAccessListRaw',
    'debug_getRawBlockAccessList',
    'debug_getBlockAccessList',
  ]

  /** How often the network was asked, and what was seen, if it lacks these methods. */
  async function replayed(
    unknown: readonly string[],
  ): Promise<{ asked: number; methods: Set<string>; seen: unknown }> {
    await using upstream = await startUpstream({ chainId: 5, hardfork: 'amsterdam' })
    const { keeper, hashes } = await busy(upstream, 4)
    const traces = ['debug_traceBlockByHash', 'debug_traceTransaction']
    for (const method of [...traces, ...unknown]) upstream.faults.unknown.add(method)
    upstream.requests.length = 0
    await using fork = await forkOf(upstream, { forkTransaction: hashes[3] as string })
    const slot = await fork.ask('eth_getStorageAt', keeper, '0x0')
    await using whole = await forkOf(upstream)
    const trace = await whole.ask('debug_traceTransaction', hashes[3], { tracer: 'callTracer' })
    const methods = new Set(upstream.requests.flat().map(({ method }) => method))
    return { asked: upstream.requests.length, methods, seen: [slot, trace] }
  }

  test('is asked for what a replay needs, in fewer rounds', async () => {
    const [known, older, plain] = [
      await replayed([]),
      await replayed([LISTS[0]]),
      await replayed(LISTS),
    ]
    expect(known.seen).toEqual(plain.seen)
    expect(older.seen).toEqual(plain.seen)
    expect(known.methods).toContain(LISTS[0])
    expect(known.methods).not.toContain(LISTS[1])
    expect(older.methods).toContain(LISTS[1])
    expect(known.asked).toBeLessThan(plain.asked)
  })

  test.each([
    ['eth_getBlockAccessList', 'eth_getBlockAccessListByBlockNumber'],
    ['eth_getBlockAccessListByBlockNumber', 'eth_getBlockAccessList'],
    ['eth_getBlockAccessListRaw', 'debug_getBlockAccessList'],
    ['debug_getRawBlockAccessList', 'eth_getBlockAccessListRaw'],
  ])('is asked for %s by the only name that it has, %s', async (method, known) => {
    await using upstream = await startUpstream({ hardfork: 'amsterdam' })
    const { number } = await busy(upstream)
    await using fork = await forkOf(upstream)
    const list = await upstream.ask(method, number)
    for (const name of NAMES) if (name !== known) upstream.faults.unknown.add(name)
    expect(await fork.ask(method, number)).toEqual(list)
    upstream.faults.unknown.add(known)
    const other = `0x${(BigInt(number) - 1n).toString(16)}`
    await expect(fork.ask(method, other)).rejects.toMatchObject({ code: -32601 })
  })

  test('may return no list, or none that can be read', async () => {
    await using upstream = await startUpstream({ hardfork: 'amsterdam' })
    const { keeper, hashes } = await busy(upstream)
    for (const lie of [null, 7, [{ address: '0x12' }], [{ address: keeper, storageReads: 1 }]]) {
      upstream.faults.lie = ({ method }, truth) => (method === LISTS[0] ? lie : truth)
      const begun = forkOf(upstream, { forkTransaction: hashes[2] as string })
      await using fork = await begun
      expect(await fork.ask('eth_getStorageAt', keeper, '0x0')).toBe(`0x${word(8)}`)
    }
  })
})

/** Who sends deposits: nobody's key is needed for it. */
const ALIASED = `0x${'a1'.repeat(20)}`

/** What a network of Optimism has in place of the first transaction of a block. */
interface Deposit {
  readonly mint?: string
  readonly value?: string
  readonly isSystemTx?: boolean
}

/** A network whose newest block begins with a deposit, and goes on with two transactions. */
async function withDeposit(
  deposit: Deposit,
): Promise<Upstream & { hashes: string[]; keeper: string }> {
  const upstream = await startUpstream({ chainId: 8_453, baseFee: 7n, gasPrice: 9n })
  const { ask } = upstream
  const keeper = await deployKeeper(upstream)
  const [from] = (await ask('eth_accounts')) as readonly string[]
  await ask('anvil_setBalance', ALIASED, '0xde0b6b3a7640000')
  await ask('anvil_impersonateAccount', ALIASED)
  await ask('evm_setAutomine', false)
  const hashes: string[] = []
  for (const [index, sender] of [ALIASED, from, from].entries()) {
    const call = { from: sender, to: keeper, data: setting(index, 700 + index), gas: '0x20000' }
    const fees = { gasPrice: index === 0 ? '0xa' : '0x9' }
    hashes.push((await ask('eth_sendTransaction', { ...call, ...fees })) as string)
  }
  await ask('evm_mine')
  const strangeFirst = (json: unknown): unknown => {
    if (typeof json !== 'object' || json === null || !('from' in json)) return json
    const { from: sender, gasPrice: _, nonce: __, ...rest } = json as Record<string, string>
    if (sender !== ALIASED) return json
    const none = { type: '0x7e', v: '0x0', r: '0x0', s: '0x0', gasPrice: '0x0' }
    return { ...rest, from: sender, ...none, nonce: '0x0', sourceHash: `0x${word(1)}`, ...deposit }
  }
  upstream.faults.lie = ({ method }, result) => {
    if (!/^eth_getBlockBy/.test(method) || result === null) return result
    const { transactions, ...block } = result as { transactions: object[] }
    return { ...block, transactions: transactions.map(strangeFirst) }
  }
  upstream.faults.unknown.add('debug_traceBlockByHash').add('debug_traceTransaction')
  return { ...upstream, hashes, keeper }
}

describe('a deposit of Optimism', () => {
  test.each<[string, Deposit, bigint]>([
    ['minting ether', { mint: '0x64' }, 0x64n],
    ['minting nothing', {}, 0n],
    ['of the system', { isSystemTx: true, mint: '0x0' }, 0n],
  ])('%s runs for free before the forked transaction', async (_, deposit, mint) => {
    await using upstream = await withDeposit(deposit)
    await using fork = await forkOf(upstream, { forkTransaction: upstream.hashes[2] as string })
    const { ask } = fork
    const slots = [0, 1, 2].map((slot) => ask('eth_getStorageAt', upstream.keeper, `0x${slot}`))
    expect((await Promise.all(slots)).map(Number)).toEqual([700, 701, 102])
    const balance = BigInt((await ask('eth_getBalance', ALIASED, 'latest')) as string)
    expect(balance).toBe(10n ** 18n + mint)
    expect(await ask('eth_getTransactionCount', ALIASED, 'latest')).toBe('0x1')
    expect(fork.notices).toEqual([])
  })

  test('that cannot run keeps what it mints, and its nonce increases', async () => {
    await using upstream = await withDeposit({ mint: '0x64', value: `0x${word(10n ** 19n)}` })
    await using fork = await forkOf(upstream, { forkTransaction: upstream.hashes[1] as string })
    const { ask } = fork
    expect(Number(await ask('eth_getStorageAt', upstream.keeper, '0x0'))).toBe(100)
    const balance = BigInt((await ask('eth_getBalance', ALIASED, 'latest')) as string)
    expect(balance).toBe(10n ** 18n + 100n)
    expect(await ask('eth_getTransactionCount', ALIASED, 'latest')).toBe('0x1')
    expect(fork.notices).toEqual([])
  })

  test('can be traced on the fork, like others of its block', async () => {
    await using upstream = await withDeposit({ mint: '0x64' })
    await using fork = await forkOf(upstream)
    for (const hash of upstream.hashes) {
      const options = { tracer: 'callTracer' }
      expect(await fork.ask('eth_gasPrice')).toBe('0x7')
      const traced = (await fork.ask('debug_traceTransaction', hash, options)) as object
      const known = (await upstream.ask('debug_traceTransaction', hash, options)) as object
      expect(traced).toEqual(known)
    }
  })

  test('is shown as on its network, and is not queued', async () => {
    await using upstream = await withDeposit({ mint: '0x64' })
    const later = { forkTransaction: upstream.hashes[1] as string, forkLater: true }
    await using fork = await forkOf(upstream, { ...later, chainId: 'remote', accounts: 0 })
    expect(await fork.ask('txpool_status')).toMatchObject({ pending: '0x0', queued: '0x1' })
    await using whole = await forkOf(upstream)
    const block = (await whole.ask('eth_getBlockByNumber', 'latest', true)) as {
      transactions: readonly object[]
    }
    expect(block.transactions[0]).toMatchObject({ type: '0x7e', mint: '0x64', from: ALIASED })
  })
})
