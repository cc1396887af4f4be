// Every trace of a corpus of transactions: all forms agree with each other, the receipts and the state.
import fc from 'fast-check'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { hexFromBytes } from '../../../src/core/hex.ts'
import { createDevchain, type Devchain } from '../../../src/devchain.ts'
import { HARDFORKS } from '../../../src/protocol/forks.ts'
import { assemble } from '../../support/evm/bytecode.ts'
import {
  allFrames,
  type CallFrame,
  countersOf,
  type FlatFrame,
  flattened,
  type StructLog,
  storyOfCalls,
  storyOfSteps,
  type VmTrace,
} from './stories.ts'

const SENDER = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const MINER = `0x${'c0'.repeat(20)}`
const NOBODY = `0x${'0e'.repeat(20)}`
const CONTRACTS = [1, 2, 3].map((i) => `0x${`a${i}`.repeat(20)}`)
const IDENTITY = `0x${'00'.repeat(19)}04`

/** Rules that differ in what opens a frame, what gas it gets, and what destruction does. */
const FORKS = [
  ...['frontier', 'tangerineWhistle', 'byzantium', 'istanbul', 'london', 'osaka'],
  HARDFORKS.at(-1)!,
]

interface Receipt {
  readonly gasUsed: string
  readonly status?: string
  readonly blockNumber: string
  readonly contractAddress: string | null
  readonly logs: readonly {
    readonly address: string
    readonly topics: string[]
    readonly data: string
  }[]
}

interface StructTrace {
  readonly gas: number
  readonly failed: boolean
  readonly returnValue: string
  readonly structLogs: readonly StructLog[]
}

type Changes = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** A chain with contracts made of these programs. */
function chainOf(hardfork: string, programs: readonly string[]): Promise<Devchain> {
  const entries = programs.map((program, i) => [
    CONTRACTS[i],
    { balance: '0x10', nonce: '0x1', code: hexFromBytes(assemble(program)) },
  ])
  return createDevchain({
    hardfork,
    clock: 'frozen',
    coinbase: MINER,
    gasPrice: 2_000_000_000,
    genesis: { alloc: Object.fromEntries(entries) },
  } as Parameters<typeof createDevchain>[0])
}

async function ask<T>(devchain: Devchain, method: string, ...params: unknown[]): Promise<T> {
  return (await devchain.request({ method, params })) as T
}

/** Sends a transaction and compares all its traces. */
async function checkTransaction(devchain: Devchain, transaction: object): Promise<CallFrame> {
  const given = { from: SENDER, gas: '0x60000', ...transaction }
  const hash = await ask<string>(devchain, 'eth_sendTransaction', given)
  const receipt = await ask<Receipt>(devchain, 'eth_getTransactionReceipt', hash)
  const trace = <T>(tracer?: string, tracerConfig?: object): Promise<T> =>
    ask(devchain, 'debug_traceTransaction', hash, tracer ? { tracer, tracerConfig } : {})
  const calls = await trace<CallFrame>('callTracer', { withLog: true })
  const steps = await trace<StructTrace>()
  checkReceipt(receipt, calls, steps)
  const story = storyOfSteps(steps.structLogs, { kind: calls.type, failed: steps.failed })
  expect(storyOfCalls(calls, story)).toEqual(story)
  const flat = await trace<FlatFrame[]>('flatCallTracer', { includePrecompiles: true })
  expect(flat.map(withoutPlace)).toEqual(flattened(calls))
  checkSelectors(calls, await trace('4byteTracer'))
  await checkReplay(devchain, hash, calls, steps)
  await checkState(devchain, hash, receipt)
  await checkAgain(trace, calls)
  return calls
}

/** A tree known without a run equals that of a run: within other tracers each runs. */
async function checkAgain(
  trace: <T>(tracer: string, tracerConfig: object) => Promise<T>,
  calls: CallFrame,
): Promise<void> {
  const both = { callTracer: { withLog: true }, noopTracer: {} }
  const again = await trace<{ readonly callTracer: CallFrame }>('muxTracer', both)
  expect(calls).toEqual(again.callTracer)
  const { logs: _, ...bare } = calls
  if (calls.calls === undefined) expect(await trace('callTracer', {})).toEqual(bare)
}

function checkReceipt(receipt: Receipt, calls: CallFrame, steps: StructTrace): void {
  expect(Number(calls.gasUsed)).toBe(Number(receipt.gasUsed))
  expect(steps.gas).toBe(Number(receipt.gasUsed))
  expect(calls.error !== undefined).toBe(steps.failed)
  if (receipt.status !== undefined) expect(steps.failed).toBe(receipt.status === '0x0')
  if (calls.type === 'CREATE' && !steps.failed) expect(calls.to).toBe(receipt.contractAddress)
  expect(steps.returnValue).toBe(calls.output ?? '0x')
  const logs = allFrames(calls).flatMap((frame) => frame.logs ?? [])
  const inOrder = logs.toSorted((a, b) => Number(a.index) - Number(b.index))
  expect(inOrder.map(({ index }) => Number(index))).toEqual(logs.map((_, i) => i))
  expect(inOrder.map(contentOf)).toEqual(receipt.logs.map(contentOf))
}

function contentOf(log: object): unknown {
  const { address, topics, data } = log as Receipt['logs'][number]
  return { address, topics, data }
}

function withoutPlace(frame: FlatFrame): FlatFrame {
  const { blockHash, blockNumber, transactionHash, transactionPosition, ...rest } =
    frame as FlatFrame & Record<string, unknown>
  expect([typeof blockHash, typeof transactionHash]).toEqual(['string', 'string'])
  expect([blockNumber, transactionPosition]).toEqual([expect.any(Number), 0])
  return rest
}

function checkSelectors(top: CallFrame, counts: Readonly<Record<string, number>>): void {
  const called = allFrames(top).filter(
    ({ type, input, to }) =>
      !/CREATE|SELF/.test(type) && input.length >= 10 && BigInt(to ?? 0) > 0x11n,
  )
  const keys = called.map(({ input }) => `${input.slice(0, 10)}-${(input.length - 10) / 2}`)
  expect(counts).toEqual(
    Object.fromEntries(keys.map((key) => [key, keys.filter((each) => each === key).length])),
  )
}

/** trace_… returns the same frames, but for what it leaves out, and vmTrace the same operations. */
async function checkReplay(
  devchain: Devchain,
  hash: string,
  calls: CallFrame,
  steps: StructTrace,
): Promise<void> {
  type Replay = {
    readonly trace: readonly FlatFrame[]
    readonly vmTrace: VmTrace
    readonly output: string
  }
  const parts = ['trace', 'vmTrace']
  const replay = await ask<Replay>(devchain, 'trace_replayTransaction', hash, parts)
  const running = steps.structLogs.filter(({ op }) => op !== 'STOP')
  expect(countersOf(replay.vmTrace)).toEqual(running.map(({ pc }) => pc))
  expect(replay.output).toBe(calls.output ?? '0x')
  const flat = await ask<FlatFrame[]>(devchain, 'debug_traceTransaction', hash, {
    tracer: 'flatCallTracer',
    tracerConfig: { convertParityErrors: true },
  })
  const frames = await ask<FlatFrame[]>(devchain, 'trace_transaction', hash)
  expect(frames.slice(1)).toEqual(flat.slice(1))
  expect(withOwnGas(flat[0]!, frames[0]!)).toEqual(frames[0])
  const first = steps.structLogs[0]
  if (first !== undefined) expect(Number(frames[0]!.action.gas)).toBe(first.gas)
  expect(replay.trace).toEqual(frames.map(withoutPlace))
  for (const frame of [frames[0], frames.at(-1)]) {
    if (frame === undefined) continue
    expect(await ask(devchain, 'trace_get', hash, frame.traceAddress)).toEqual(frame)
  }
}

/** The outermost frame of a transaction with the gas of another. */
function withOwnGas(frame: FlatFrame, { action, result }: FlatFrame): FlatFrame {
  const { gasUsed, stateGasUsed } = result ?? {}
  const own = { gasUsed, stateGasUsed, executionGasUsed: undefined, gasRefund: undefined }
  return {
    ...frame,
    action: { ...frame.action, gas: action.gas },
    result: frame.result && { ...frame.result, ...own },
  } as FlatFrame
}

/** What the traces say of accounts is what they had before and have after. */
async function checkState(devchain: Devchain, hash: string, receipt: Receipt): Promise<void> {
  const [before, after] = [BigInt(receipt.blockNumber) - 1n, BigInt(receipt.blockNumber)]
  const options = { tracer: 'prestateTracer', tracerConfig: { diffMode: true } }
  const whole = await ask<Changes>(devchain, 'debug_traceTransaction', hash, {
    tracer: 'prestateTracer',
  })
  const { pre, post } = await ask<{ pre: Changes; post: Changes }>(
    devchain,
    'debug_traceTransaction',
    hash,
    options,
  )
  const { stateDiff } = await ask<{ stateDiff: Changes }>(
    devchain,
    'trace_replayTransaction',
    hash,
    ['stateDiff'],
  )
  const known = [SENDER, MINER, NOBODY, ...CONTRACTS, ...Object.keys(post), ...Object.keys(whole)]
  for (const address of new Set(known)) {
    const [was, is] = [
      await accountAt(devchain, address, before),
      await accountAt(devchain, address, after),
    ]
    const account = whole[address]
    if (account !== undefined) {
      expect([account.balance, account.nonce ?? 0, account.code ?? '0x']).toEqual([
        was.balance,
        was.nonce,
        was.code,
      ])
    }
    const [from, to] = [pre[address] ?? {}, post[address]]
    const merged = { ...from, ...to }
    if (to !== undefined) {
      expect(from.balance ?? '0x0').toBe(was.balance)
      expect([merged.balance ?? '0x0', merged.nonce ?? 0]).toEqual([is.balance, is.nonce])
    } else if (pre[address] === undefined) {
      expect(is).toEqual(was)
    }
    checkDifference(stateDiff[address], was, is)
  }
}

interface AccountState {
  readonly balance: string
  readonly nonce: number
  readonly code: string
  /** The first slots. */
  readonly slots: readonly string[]
}

async function accountAt(
  devchain: Devchain,
  address: string,
  number: bigint,
): Promise<AccountState> {
  const block = `0x${number.toString(16)}`
  const [balance, nonce, code, ...slots] = await Promise.all([
    ask<string>(devchain, 'eth_getBalance', address, block),
    ask<string>(devchain, 'eth_getTransactionCount', address, block),
    ask<string>(devchain, 'eth_getCode', address, block),
    ...[0, 1, 2].map((slot) => ask<string>(devchain, 'eth_getStorageAt', address, slot, block)),
  ])
  return { balance, nonce: Number(nonce), code, slots }
}

function checkDifference(
  difference: Readonly<Record<string, unknown>> | undefined,
  was: AccountState,
  is: AccountState,
): void {
  if (difference === undefined) {
    expect(is).toEqual(was)
    return
  }
  const slots = difference.storage as Readonly<Record<string, unknown>>
  expect(endsOf(difference.balance, was.balance, '0x0')).toEqual([was.balance, is.balance])
  expect(endsOf(difference.code, was.code, '0x')).toEqual([was.code, is.code])
  for (const [i, slot] of is.slots.entries()) {
    const change = slots[`0x${i.toString(16).padStart(64, '0')}`] ?? '='
    const before = was.slots[i] ?? ''
    expect(endsOf(change, before, ZERO_WORD)).toEqual([before, slot])
  }
}

const ZERO_WORD = `0x${'0'.repeat(64)}`

interface Difference {
  readonly '*'?: { readonly from: string; readonly to: string }
  readonly '+'?: string
  readonly '-'?: string
}

/** What a difference says there was and is: `same` twice, or `nothing` where there was or is no account. */
function endsOf(change: unknown, same: string, nothing: string): readonly string[] {
  if (change === '=') return [same, same]
  const { '*': both, '+': added, '-': removed } = change as Difference
  if (both !== undefined) return [both.from, both.to]
  return [removed ?? nothing, added ?? nothing]
}

/** Init code of up to 32 bytes: makes an empty contract, one with code, one that starts with 0xef; reverts, halts, dies. */
const INITS = [
  '',
  '00',
  '600160005360016000f3',
  '60ef60005360016000f3',
  '60006000fd',
  'fe',
  '33ff',
  '602a60015500',
]

const target = fc.constantFrom(...CONTRACTS, NOBODY, IDENTITY, SENDER)
const amount = fc.constantFrom(0, 0, 1, 10 ** 15)
const small = fc.integer({ min: 0, max: 2 })

const action: fc.Arbitrary<string> = fc.oneof(
  fc.tuple(small, small).map(([value, slot]) => `${value} ${slot} SSTORE`),
  small.map((slot) => `${slot} SLOAD POP`),
  fc.tuple(small, small).map(([length, topic]) => `${topic} ${length * 40} 3 LOG1`),
  fc.constant('7 0 MSTORE'),
  target.map((address) => `${address} BALANCE POP`),
  {
    weight: 3,
    arbitrary: fc
      .tuple(target, amount, fc.constantFrom('CALL', 'CALLCODE'), fc.constantFrom(0, 3, 4, 36))
      .map(([to, value, op, length]) => `0 0 ${length} 0 ${value} ${to} 2 GAS DIV ${op} POP`),
  },
  fc
    .tuple(
      target,
      fc.constantFrom('DELEGATECALL', 'STATICCALL'),
      fc.constantFrom('2 GAS DIV', '700'),
    )
    .map(([to, op, gas]) => `32 0 4 0 ${to} ${gas} ${op} POP`),
  fc
    .tuple(fc.constantFrom(...INITS), amount, fc.constantFrom('CREATE', 'CREATE2'))
    .map(([init, value, op]) => {
      const store = `0x01${init.padEnd(62, '0')} 0 MSTORE`
      const salt = op === 'CREATE2' ? '9 ' : ''
      return `${store} ${salt}${init.length / 2} 1 ${value} ${op} POP`
    }),
)

const ending: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constant('STOP') },
  fc.constantFrom(
    '32 0 RETURN',
    '4 0 REVERT',
    'INVALID',
    'POP',
    '1 JUMP',
    '1 0xffffffffff MSTORE STOP',
  ),
  target.map((address) => `${address} SELFDESTRUCT`),
)

const program = fc
  .tuple(fc.array(action, { maxLength: 5, size: 'max' }), ending)
  .map(([actions, last]) => [...actions, last].join(' '))

const programs = fc.array(program, { minLength: 3, maxLength: 3 })

describe('all traces of a transaction agree', () => {
  test.each(FORKS)('whatever contracts do, under %s', async (hardfork) => {
    await fc.assert(
      fc.asyncProperty(programs, fc.constantFrom(0, 1, 7), async (codes, value) => {
        await using devchain = await chainOf(hardfork, codes)
        const transaction = { to: CONTRACTS[0], value, data: '0x1122334455' }
        await checkTransaction(devchain, transaction)
      }),
      { numRuns: 20, seed: 7 },
    )
  })

  test('on creations, transfers and calls that cannot start', async () => {
    await using devchain = await chainOf('osaka', ['0 0 0 0 99 0x12 GAS CALL STOP', 'STOP', 'STOP'])
    const made = await checkTransaction(devchain, { data: '0x600160005360016000f3' })
    expect(made).toMatchObject({ type: 'CREATE', output: '0x01' })
    expect(await checkTransaction(devchain, { to: NOBODY, value: 5 })).toMatchObject({
      type: 'CALL',
    })
    const reverted = await checkTransaction(devchain, { data: '0x60006000fd' })
    expect(reverted.error).toBe('execution reverted')
    const unpaid = await checkTransaction(devchain, { to: CONTRACTS[0] })
    expect(unpaid.calls).toMatchObject([
      { error: 'insufficient balance for transfer', gasUsed: '0x0' },
    ])
    expect((await checkTransaction(devchain, { to: IDENTITY, data: '0x1234' })).output).toBe(
      '0x1234',
    )
    const starved = await checkTransaction(devchain, { data: '0x5b600056', gas: 60_000 })
    expect(starved.error).toBe('out of gas')
  })

  test('in the middle of a block, and long after it', async () => {
    // counts up, and returns the count and the hash of the block before (kept by a system call)
    const count =
      '0 SLOAD 1 ADD DUP1 0 SSTORE 0 MSTORE 1 NUMBER SUB BLOCKHASH 32 MSTORE 64 0 RETURN'
    await using devchain = await chainOf('osaka', [count, 'STOP', 'STOP'])
    await ask(devchain, 'evm_stopMining')
    const hashes: string[] = []
    for (let i = 0; i < 3; i++) {
      const transaction = { from: SENDER, to: CONTRACTS[0], gas: '0x60000' }
      hashes.push(await ask(devchain, 'eth_sendTransaction', transaction))
    }
    const tracer = { tracer: 'callTracer' }
    const pending = await ask(devchain, 'debug_traceBlockByNumber', 'pending', tracer)
    await ask(devchain, 'evm_mine')
    await ask(devchain, 'evm_startMining')
    for (let i = 0; i < 3; i++) {
      await ask(devchain, 'eth_sendTransaction', { from: SENDER, to: CONTRACTS[0], gas: '0x60000' })
    }
    const singly: CallFrame[] = []
    for (const hash of hashes) {
      singly.push(await ask<CallFrame>(devchain, 'debug_traceTransaction', hash, tracer))
    }
    expect(singly.map(({ output }) => Number(output?.slice(0, 66)))).toEqual([1, 2, 3])
    const { hash, parentHash } = await ask<{ hash: string; parentHash: string }>(
      devchain,
      'eth_getBlockByNumber',
      1,
      false,
    )
    expect(singly.map(({ output }) => `0x${output?.slice(66)}`)).toEqual([
      parentHash,
      parentHash,
      parentHash,
    ])
    const together = hashes.map((txHash, at) => ({ txHash, result: singly[at] }))
    expect(await ask(devchain, 'debug_traceBlockByNumber', 1, tracer)).toEqual(together)
    expect(await ask(devchain, 'debug_traceBlockByHash', hash, tracer)).toEqual(together)
    expect(pending).toEqual(together)
    const frames = await ask<FlatFrame[]>(devchain, 'trace_block', 1)
    const replays = await ask<{ trace: FlatFrame[] }[]>(
      devchain,
      'trace_replayBlockTransactions',
      1,
    )
    expect(frames.map(({ transactionPosition }) => transactionPosition)).toEqual([0, 1, 2])
    expect(replays.flatMap(({ trace }) => trace)).toEqual(
      frames.map(({ action, result, subtraces, traceAddress, type }) => ({
        action,
        result,
        subtraces,
        traceAddress,
        type,
      })),
    )
    const { storage } = await ask<{ storage: object }>(
      devchain,
      'debug_storageRangeAt',
      1,
      2,
      CONTRACTS[0],
    )
    expect(Object.values(storage)).toMatchObject([{ value: `0x${'2'.padStart(64, '0')}` }])
  })

  test('on words of memory and storage of 32 bytes, and leave empty memory out', async () => {
    await using devchain = await chainOf('osaka', [
      '7 1 SSTORE 5 0 MSTORE 1 SLOAD STOP',
      'STOP',
      'STOP',
    ])
    const call = { to: CONTRACTS[0] }
    const { structLogs } = await ask<{ structLogs: { op: string }[] }>(
      devchain,
      'debug_traceCall',
      call,
      'latest',
      { enableMemory: true },
    )
    const word = (value: number): string => `0x${String(value).padStart(64, '0')}`
    const changed = { [word(1)]: word(7) }
    expect(structLogs.find(({ op }) => op === 'SSTORE')).toMatchObject({ storage: changed })
    expect(structLogs.find(({ op }) => op === 'SLOAD')).toMatchObject({
      storage: changed,
      memory: [word(5)],
    })
    expect(structLogs[0]).not.toHaveProperty('memory')
    expect(structLogs[0]).not.toHaveProperty('storage')
  })

  test('on logs with their index in the block', async () => {
    // the first two logs are of a frame that reverts, the third of one that does not
    const outer = `0 0 0 0 0 ${CONTRACTS[1]} GAS CALL 0 0 0 0 0 ${CONTRACTS[2]} GAS CALL 0 0 LOG0 STOP`
    const reverts = '0 0 LOG0 0 0 LOG0 0 0 REVERT'
    await using devchain = await chainOf('osaka', [outer, reverts, '0 0 LOG0 STOP'])
    await ask(devchain, 'evm_stopMining')
    const hashes: string[] = []
    for (let i = 0; i < 3; i++) {
      const transaction = { from: SENDER, to: CONTRACTS[0], gas: '0x60000' }
      hashes.push(await ask(devchain, 'eth_sendTransaction', transaction))
    }
    await ask(devchain, 'evm_mine')
    for (const [at, hash] of hashes.entries()) {
      const indexes = async (onlyTopCall: boolean): Promise<number[]> => {
        const tracerConfig = { withLog: true, onlyTopCall }
        const options = { tracer: 'callTracer', tracerConfig }
        const top = await ask<CallFrame>(devchain, 'debug_traceTransaction', hash, options)
        return allFrames(top).flatMap(({ logs = [] }) => logs.map(({ index }) => Number(index)))
      }
      const { logs } = await ask<{ logs: { logIndex: string }[] }>(
        devchain,
        'eth_getTransactionReceipt',
        hash,
      )
      expect(logs.map(({ logIndex }) => Number(logIndex))).toEqual([2 * at, 2 * at + 1])
      expect((await indexes(false)).toSorted((a, b) => a - b)).toEqual([2 * at, 2 * at + 1])
      expect(await indexes(true)).toEqual([2 * at + 1])
    }
  })

  test('on a transaction that sets the code of an account', async () => {
    await using devchain = await chainOf('osaka', ['7 0 SSTORE STOP', 'STOP', 'STOP'])
    const owner = privateKeyToAccount(`0x${'42'.repeat(32)}`)
    const signed = await owner.signAuthorization({
      chainId: 33,
      address: CONTRACTS[0] as Hex,
      nonce: 0,
    })
    const authorization = {
      chainId: 33,
      address: CONTRACTS[0],
      nonce: 0,
      yParity: signed.yParity,
      r: signed.r,
      s: signed.s,
    }
    const to = owner.address.toLowerCase()
    const hash = await ask<string>(devchain, 'eth_sendTransaction', {
      from: SENDER,
      to,
      gas: '0x60000',
      authorizationList: [authorization],
    })
    const { pre, post } = await ask<{ pre: Changes; post: Changes }>(
      devchain,
      'debug_traceTransaction',
      hash,
      { tracer: 'prestateTracer', tracerConfig: { diffMode: true } },
    )
    expect(pre[to]).toBeUndefined()
    const slot = `0x${'0'.repeat(64)}`
    const code = `0xef0100${CONTRACTS[0]?.slice(2)}`
    expect(post[to]).toMatchObject({
      nonce: 1,
      code,
      storage: { [slot]: `0x${'7'.padStart(64, '0')}` },
    })
    const whole = await ask<Changes>(devchain, 'debug_traceTransaction', hash, {
      tracer: 'prestateTracer',
    })
    expect(Object.keys(whole)).toContain(CONTRACTS[0])
    const replay = await ask<{ vmTrace: { code: string; ops: unknown[] } }>(
      devchain,
      'trace_replayTransaction',
      hash,
      ['vmTrace'],
    )
    expect(replay.vmTrace).toMatchObject({ code: hexFromBytes(assemble('7 0 SSTORE STOP')) })
    expect(replay.vmTrace.ops).toHaveLength(4)
  })

  test('on a call at the maximum depth', async () => {
    // calls itself with all the gas it may pass on, until that or the depth ends it
    const itself = `0 0 0 0 0 ${CONTRACTS[0]} GAS CALL STOP`
    await using devchain = await chainOf('frontier', [
      `0 0 0 0 0 ${CONTRACTS[0]} 60 GAS SUB CALL STOP`,
      itself,
      'STOP',
    ])
    const top = await checkTransaction(devchain, { to: CONTRACTS[0], gas: '0x100000' })
    const deepest = allFrames(top).at(-1)
    expect(deepest?.error).toBe('max call depth exceeded')
    expect(allFrames(top)).toHaveLength(1026)
  })
})

test('an index after the one that follows the last transaction of a block is refused', async () => {
  await using devchain = await chainOf('osaka', ['STOP', 'STOP', 'STOP'])
  await ask(devchain, 'eth_sendTransaction', { from: SENDER, to: CONTRACTS[0] })
  const call = { to: CONTRACTS[0] }
  const requests = (index: number): [method: string, ...params: unknown[]][] => [
    ['debug_traceCall', call, 'latest', { txIndex: index }],
    ['debug_storageRangeAt', 'latest', index, CONTRACTS[0]],
    [
      'eth_callMany',
      [{ transactions: [call] }],
      { blockNumber: 'latest', transactionIndex: index },
    ],
  ]
  const message = 'transaction index 2 out of range for block 1: expected 0 to 1'
  for (const request of requests(2)) {
    await expect(ask(devchain, ...request)).rejects.toMatchObject({ code: -32602, message })
  }
  for (const request of requests(1)) await expect(ask(devchain, ...request)).resolves.toBeDefined()
})

test('struct logs have the STOP behind the end of the code, as in geth', async () => {
  await using devchain = await chainOf('osaka', ['7', `0 0 0 0 0 ${CONTRACTS[0]} 9000 CALL`])
  const hash = await ask<string>(devchain, 'eth_sendTransaction', {
    from: SENDER,
    to: CONTRACTS[1],
  })
  const { structLogs } = await ask<StructTrace>(devchain, 'debug_traceTransaction', hash)
  const stops = structLogs.filter(({ op }) => op === 'STOP')
  expect(stops.map(({ pc, depth, gasCost, stack }) => [pc, depth, gasCost, stack])).toEqual([
    [2, 2, 0, ['0x7']],
    [35, 1, 0, ['0x1']],
  ])
  expect(stops[0]!.gas).toBe(8_997)
})

test('prestateTracer lists the slot of an SLOAD only if there was gas for it, as in geth', async () => {
  await using devchain = await chainOf('osaka', ['7 SLOAD'])
  const slotsWith = async (gas: number): Promise<string[]> => {
    const transaction = { from: SENDER, to: CONTRACTS[0], gas: `0x${(21_003 + gas).toString(16)}` }
    const hash = await ask<string>(devchain, 'eth_sendTransaction', transaction)
    const options = { tracer: 'prestateTracer' }
    const accounts = await ask<Changes>(devchain, 'debug_traceTransaction', hash, options)
    return Object.keys(accounts[CONTRACTS[0]!]?.storage ?? {})
  }
  expect(await slotsWith(2_099)).toEqual([])
  expect(await slotsWith(2_100)).toEqual([`0x${'7'.padStart(64, '0')}`])
})
