// Calls, estimates and access lists, run by the real executor on worlds with small contracts.
import { beforeEach, describe, expect, test } from 'vitest'
import {
  type Address,
  bigintFromBytes,
  bytesFromHex,
  concatBytes,
  hexFromBytes,
  paddedBytes,
} from '../../../../src/core/hex.ts'
import type { EvmChoice, Executor } from '../../../../src/evm/executor.ts'
import { createExecutor } from '../../../../src/evm/run/lazyexecutor.ts'
import { createAccessList } from '../../../../src/node/calls/accesslists.ts'
import { call, executionError } from '../../../../src/node/calls/call.ts'
import { estimateGas } from '../../../../src/node/calls/estimate.ts'
import type { BlockOverrides, StateOverrides } from '../../../../src/node/calls/overrides.ts'
import type { CallRequest } from '../../../../src/node/calls/request.ts'
import type { Chain } from '../../../../src/node/chain/chain.ts'
import { treeFrom } from '../../../../src/node/ledger/blocktree.ts'
import { latest, pendingReference } from '../../../../src/node/ledger/references.ts'
import {
  emptyWorld,
  stateRoot,
  withBalance,
  withCode,
  withStorage,
} from '../../../../src/state/world.ts'
import { addressOf, chainOf, recordOf, stateOf, word } from '../records.ts'

const rich = addressOf(0x1000)
const ether = 10n ** 18n

/** Operations by name, as far as the contracts below use them. */
const OPCODES: Readonly<Record<string, number>> = {
  STOP: 0x00,
  ADD: 0x01,
  SUB: 0x03,
  LT: 0x10,
  GT: 0x11,
  ISZERO: 0x15,
  ADDRESS: 0x30,
  BALANCE: 0x31,
  CALLER: 0x33,
  CALLVALUE: 0x34,
  CALLDATALOAD: 0x35,
  CODECOPY: 0x39,
  GASPRICE: 0x3a,
  EXTCODESIZE: 0x3b,
  BLOCKHASH: 0x40,
  COINBASE: 0x41,
  TIMESTAMP: 0x42,
  NUMBER: 0x43,
  PREVRANDAO: 0x44,
  GASLIMIT: 0x45,
  BASEFEE: 0x48,
  BLOBBASEFEE: 0x4a,
  POP: 0x50,
  MSTORE: 0x52,
  SLOAD: 0x54,
  SSTORE: 0x55,
  JUMP: 0x56,
  JUMPI: 0x57,
  GAS: 0x5a,
  JUMPDEST: 0x5b,
  PUSH0: 0x5f,
  DUP1: 0x80,
  SWAP1: 0x90,
  LOG0: 0xa0,
  CREATE: 0xf0,
  CALL: 0xf1,
  RETURN: 0xf3,
  DELEGATECALL: 0xf4,
  STATICCALL: 0xfa,
  REVERT: 0xfd,
  INVALID: 0xfe,
} // prettier-ignore

/** Machine code: names are operations, numbers are pushed; `:name` is a place to jump to, `@name` pushes it. */
function assemble(source: string): Uint8Array {
  const places = new Map<string, number>()
  const parts: (number | { place: string })[] = []
  for (const token of source.trim().split(/\s+/)) {
    if (token.startsWith(':')) {
      places.set(token.slice(1), parts.length)
      parts.push(OPCODES.JUMPDEST!)
    } else if (token.startsWith('@')) {
      parts.push(0x61, { place: token.slice(1) }, 0)
    } else if (/^(0x)?[0-9a-f]+$/.test(token)) {
      const digits = BigInt(token).toString(16)
      const bytes = bytesFromHex(`0x${digits.length % 2 === 0 ? digits : `0${digits}`}`)
      parts.push(0x5f + bytes.length, ...bytes)
    } else {
      const opcode = OPCODES[token]
      if (opcode === undefined) throw new Error(`unknown operation ${token}`)
      parts.push(opcode)
    }
  }
  const bytes = parts.map((part) => (typeof part === 'number' ? part : 0))
  parts.forEach((part, i) => {
    if (typeof part === 'number') return
    const place = places.get(part.place)
    if (place === undefined) throw new Error(`unknown place ${part.place}`)
    bytes[i] = place >> 8
    bytes[i + 1] = place & 0xff
  })
  return Uint8Array.from(bytes)
}

const RETURN_TOP = '0 MSTORE 32 0 RETURN'
const REVERT_IF_ZERO = '@ok JUMPI 0 0 REVERT :ok STOP'

/** Calls `to` with all gas and ends well in any case. */
function attempt(to: Address): string {
  return `0 0 0 0 0 ${to} GAS CALL STOP`
}

/** Calls `to` with all gas and reverts when that fails. */
function forward(to: Address, kind: 'CALL' | 'DELEGATECALL', value = 0): string {
  return `0 0 0 0 ${kind === 'CALL' ? value : ''} ${to} GAS ${kind} ${REVERT_IF_ZERO}`
}

/** Counts down from `rounds`: about 50 gas each. */
function burn(rounds: number): string {
  return `${rounds} :again 1 SWAP1 SUB DUP1 @again JUMPI STOP`
}

/** The contracts of the world that most tests run on. */
const CONTRACTS = {
  nothing: 'STOP',
  store: '1 0 SSTORE STOP',
  storeTwice: '1 0 SSTORE 2 1 SSTORE STOP',
  storeAgain: '1 0 SSTORE 2 0 SSTORE STOP',
  clear: '0 7 SSTORE STOP',
  clearMany: '0 1 SSTORE 0 2 SSTORE 0 3 SSTORE 0 4 SSTORE 0 5 SSTORE STOP',
  burn: burn(3000),
  revert: '0 0 REVERT',
  revertWord: '0x2202f1fa 0 MSTORE 4 28 REVERT',
  invalid: 'INVALID',
  endless: ':again @again JUMP',
  wantsMillion: `GAS 1000000 LT ${REVERT_IF_ZERO}`,
  gasDependent: 'GAS 200000 GT @little JUMPI 1 0 SSTORE STOP :little 1 0 SSTORE 1 1 SSTORE STOP',
  log: '0 0 LOG0 STOP',
  create: `0x600a600c600039600a6000f3 0 MSTORE 12 20 0 CREATE ${REVERT_IF_ZERO}`,
  callValue: `0 0 0 0 CALLVALUE ${addressOf(0x200)} 0 CALL ${REVERT_IF_ZERO}`,
} as const

/** Contracts that call those, and each other. */
const CALLERS = {
  proxyBurn: ['burn', 'DELEGATECALL'],
  proxyStore: ['store', 'DELEGATECALL'],
  callBurn: ['burn', 'CALL'],
  callClear: ['clearMany', 'CALL'],
  callWantsMillion: ['wantsMillion', 'CALL'],
  callGasDependent: ['gasDependent', 'CALL'],
  callCreate: ['create', 'CALL'],
  proxyProxy: ['proxyBurn', 'DELEGATECALL'],
  callThrice: ['proxyProxy', 'CALL'],
  callInvalid: ['invalid', 'CALL'],
} as const

type Name = keyof typeof CONTRACTS | keyof typeof CALLERS

const names = [...Object.keys(CONTRACTS), ...Object.keys(CALLERS)] as Name[]

function at(name: Name): Address {
  return addressOf(0x10000 + names.indexOf(name))
}

function worldWithContracts(): ReturnType<typeof withCode> {
  let world = withBalance(emptyWorld, rich, 10n * ether)
  for (const [name, source] of Object.entries(CONTRACTS)) {
    world = withCode(world, at(name as Name), assemble(source))
  }
  for (const [name, [to, kind]] of Object.entries(CALLERS)) {
    world = withCode(world, at(name as Name), assemble(forward(at(to), kind)))
  }
  // a wallet that logs when it gets money, within the stipend
  world = withCode(world, addressOf(0x200), assemble(CONTRACTS.log))
  world = withCode(world, addressOf(0x201), assemble(attempt(at('burn'))))
  for (const slot of [1n, 2n, 3n, 4n, 5n]) world = withStorage(world, at('clearMany'), slot, 9n)
  world = withStorage(world, at('callInvalid'), 0n, 1n)
  return withStorage(world, at('clear'), 7n, 9n)
}

let runs = 0

function counting(evm: EvmChoice): Executor {
  const executor = createExecutor({ evm })
  return {
    ...executor,
    call: (job) => {
      runs += 1
      return executor.call(job)
    },
  }
}

const executors = { reference: counting('reference'), auto: counting('auto') }

function chainWith(
  changes: Parameters<typeof stateOf>[1] = {},
  executor: Executor = executors.auto,
): Chain {
  const genesis = { ...recordOf(0n, word(0)), world: worldWithContracts() }
  return chainOf(stateOf(treeFrom(genesis), changes), executor).chain
}

const chain = chainWith()
const chains = { reference: chainWith({}, executors.reference), auto: chain }
const run = async (request: CallRequest) => call(chain, request, latest)
const estimate = async (request: CallRequest) => estimateGas(chain, request, latest)

beforeEach(() => {
  runs = 0
})

function refusal(word: string, message: RegExp): Error {
  return expect.objectContaining({ word, message: expect.stringMatching(message) }) as Error
}

describe('estimateGas', () => {
  const initCode = assemble('100 0 RETURN')
  /** Runs at most: of the reference, and of engines that report what a run would have needed. */
  const cases: { name: string; request: CallRequest; atMost: readonly [number, number] }[] = [
    { name: 'a transfer', request: { to: addressOf(0x505), value: 1n }, atMost: [1, 1] },
    {
      name: 'a transfer with data',
      request: { to: addressOf(0x505), data: new Uint8Array(100).fill(1) },
      atMost: [2, 1],
    },
    { name: 'code that costs nothing', request: { to: at('nothing') }, atMost: [1, 1] },
    { name: 'a store', request: { to: at('store') }, atMost: [3, 1] },
    { name: 'two stores', request: { to: at('storeTwice') }, atMost: [3, 1] },
    {
      name: 'a store that wants the sentry gas left',
      request: { to: at('storeAgain') },
      atMost: [20, 1],
    },
    {
      name: 'a call whose failure does not matter',
      request: { to: addressOf(0x201) },
      atMost: [20, 20],
    },
    { name: 'a refund', request: { to: at('clear') }, atMost: [3, 1] },
    {
      name: 'refunds above the fifth that is paid',
      request: { to: at('clearMany') },
      atMost: [3, 1],
    },
    { name: 'a loop', request: { to: at('burn') }, atMost: [3, 1] },
    {
      name: 'a loop with much data',
      request: { to: at('burn'), data: new Uint8Array(10_000).fill(1) },
      atMost: [2, 1],
    },
    { name: 'a log', request: { to: at('log') }, atMost: [3, 1] },
    { name: 'a proxy that burns', request: { to: at('proxyBurn') }, atMost: [20, 3] },
    { name: 'a proxy that stores', request: { to: at('proxyStore') }, atMost: [20, 3] },
    { name: 'a call that burns', request: { to: at('callBurn') }, atMost: [20, 3] },
    { name: 'a call that refunds', request: { to: at('callClear') }, atMost: [20, 3] },
    { name: 'a proxy of a proxy', request: { to: at('proxyProxy') }, atMost: [20, 3] },
    { name: 'four frames', request: { to: at('callThrice') }, atMost: [20, 3] },
    { name: 'a creation inside', request: { to: at('create') }, atMost: [20, 3] },
    { name: 'a creation inside a call', request: { to: at('callCreate') }, atMost: [20, 3] },
    {
      name: 'money passed on with the stipend alone',
      request: { to: at('callValue'), value: 5n },
      atMost: [20, 3],
    },
    { name: 'a creation', request: { data: initCode }, atMost: [3, 1] },
    {
      name: 'code that wants a million left',
      request: { to: at('wantsMillion') },
      atMost: [30, 30],
    },
    {
      name: 'a call that wants a million left',
      request: { to: at('callWantsMillion') },
      atMost: [30, 30],
    },
    {
      name: 'code that does more with less',
      request: { to: at('gasDependent') },
      atMost: [30, 30],
    },
    { name: 'a call of such code', request: { to: at('callGasDependent') }, atMost: [30, 30] },
    {
      name: 'an access list',
      request: { to: at('store'), accessList: [{ address: at('store'), storageKeys: [word(0)] }] },
      atMost: [3, 1],
    },
  ]

  const engines = ['reference', 'auto'] as const
  const matrix = cases.flatMap(({ name, request, atMost }) =>
    engines.map((evm, i) => ({ name, request, evm, most: atMost[i] ?? 0 })),
  )

  test.each(matrix)(
    'of $name succeeds while one less fails, in $most runs at most with --evm $evm',
    async ({ request, evm, most }) => {
      const message = { from: rich, ...request }
      const gas = await estimateGas(chains[evm], message, latest)
      expect(runs).toBeLessThanOrEqual(most)
      expect(await succeeds({ ...message, gas })).toBe(true)
      expect(await succeeds({ ...message, gas: gas - 1n })).toBe(false)
    },
  )

  async function succeeds(request: CallRequest): Promise<boolean> {
    try {
      return (await run(request)).failure === undefined
    } catch (error) {
      expect(['INTRINSIC_GAS_TOO_LOW', 'GAS_BELOW_FLOOR']).toContain(
        (error as { word: string }).word,
      )
      return false
    }
  }

  test('of a plain transfer is 21,000', async () => {
    expect(await estimate({ from: rich, to: addressOf(0x505), value: 1n })).toBe(21_000n)
  })

  test('of data to an account without code is the floor price of the data', async () => {
    const data = new Uint8Array(100).fill(1)
    expect(await estimate({ from: rich, to: addressOf(0x505), data })).toBe(21_000n + 40n * 100n)
  })

  test.each<{ name: string; request: CallRequest; word: string; message: RegExp; data?: string }>([
    {
      name: 'reverts',
      request: { to: at('revert') },
      word: 'EXECUTION_REVERTED',
      message: /^VM Exception while processing transaction: revert/,
      data: '0x',
    },
    {
      name: 'reverts with a custom error',
      request: { to: at('revertWord') },
      word: 'EXECUTION_REVERTED',
      message: /custom error 0x2202f1fa/,
      data: '0x2202f1fa',
    },
    {
      name: 'halts',
      request: { to: at('invalid') },
      word: 'EXECUTION_HALTED',
      message: /^VM Exception while processing transaction: invalid opcode 0xfe$/,
      data: '0x',
    },
    {
      name: 'never ends',
      request: { to: at('endless') },
      word: 'EXECUTION_HALTED',
      message: /out of gas: it needs more than 30000000, the gas limit of the block/,
    },
    {
      name: 'never ends with given gas',
      request: { to: at('endless'), gas: 50_000n },
      word: 'EXECUTION_HALTED',
      message: /more than 50000, the gas given/,
    },
    {
      name: 'gets less gas than any transaction',
      request: { to: at('store'), gas: 20_000n },
      word: 'INTRINSIC_GAS_TOO_LOW',
      message: /20000/,
    },
    {
      name: 'sends more than there is',
      request: { value: 11n * ether, to: addressOf(0x505) },
      word: 'INSUFFICIENT_FUNDS',
      message:
        /^insufficient funds for gas \* price \+ value: address 0x0+1000 have 10000000000000000000 want 11000000000000000000$/,
    },
    {
      name: 'cannot pay any gas',
      request: { gasPrice: ether, to: addressOf(0x505) },
      word: 'INSUFFICIENT_FUNDS',
      message: /want 21000000000000000000000$/,
    },
    {
      name: 'cannot pay enough gas',
      request: { gasPrice: ether / 2500n, to: at('storeTwice') },
      word: 'EXECUTION_HALTED',
      message: /more than 25000, the most that 0x0+1000 can pay for/,
    },
    {
      name: 'names two prices',
      request: { gasPrice: 1n, maxFeePerGas: 1n },
      word: 'INVALID_PARAMS',
      message: /either gasPrice or maxFeePerGas/,
    },
    {
      name: 'tips more than its maximum',
      request: { maxPriorityFeePerGas: 2n, maxFeePerGas: 1n },
      word: 'TIP_ABOVE_FEE_CAP',
      message: /tip 2, fee cap 1/,
    },
    {
      name: 'is for another chain',
      request: { chainId: 1n, to: addressOf(0x505) },
      word: 'WRONG_CHAIN_ID',
      message: /expected 33, got 1/,
    },
  ])('is refused if the request $name', async ({ request, word: expected, message, data }) => {
    const error = estimate({ from: rich, ...request })
    await expect(error).rejects.toThrow(refusal(expected, message))
    if (data !== undefined) await expect(error).rejects.toMatchObject({ data })
  })

  test('may exceed the gas limit of the block, up to the given gas', async () => {
    const tight = chainWith({ blockGasLimit: 30_000n })
    const message = { from: rich, to: at('storeTwice') }
    await expect(async () => estimateGas(tight, message, pendingReference)).rejects.toThrow(
      /more than 30000/,
    )
    const gas = await estimateGas(tight, { ...message, gas: 10n ** 8n }, pendingReference)
    expect(gas).toBe(await estimate(message))
  })

  test('does not change the chain', async () => {
    const { state } = chain
    const root = stateRoot(worldWithContracts())
    await estimate({ from: rich, to: at('store'), value: 0n })
    expect(chain.state).toBe(state)
    expect(stateRoot(state.tree.canonical.at(0)!.world)).toBe(root)
  })
})

describe('a call', () => {
  const show = (source: string) => assemble(`${source} ${RETURN_TOP}`)
  /** What code that was put at an address for this call returns, as a number. */
  async function returned(
    source: string,
    request: CallRequest = {},
    ...[reference = latest, blockOverrides]: Partial<[typeof latest, BlockOverrides]>
  ): Promise<bigint> {
    const stateOverrides = new Map([[addressOf(0x300), { code: show(source) }]])
    const message = { to: addressOf(0x300), ...request }
    const conditions = { stateOverrides, blockOverrides }
    return bigintFromBytes((await call(chain, message, reference, conditions)).output)
  }

  test('at latest runs in the latest block, at pending in the next one', async () => {
    expect(await returned('NUMBER')).toBe(0n)
    expect(await returned('NUMBER', {}, pendingReference)).toBe(1n)
    expect(await returned('TIMESTAMP')).toBe(1_700_000_000n)
    expect(await returned('TIMESTAMP', {}, pendingReference)).toBeGreaterThan(1_700_000_000n)
  })

  test.each<{ source: string; overrides: BlockOverrides; value: bigint }>([
    { source: 'NUMBER', overrides: { number: 77n }, value: 77n },
    { source: 'TIMESTAMP', overrides: { timestamp: 5n }, value: 5n },
    { source: 'GASLIMIT', overrides: { gasLimit: 12n }, value: 12n },
    { source: 'COINBASE', overrides: { coinbase: addressOf(9) }, value: 9n },
    { source: 'PREVRANDAO', overrides: { prevRandao: word(8) }, value: 8n },
    { source: 'BASEFEE', overrides: { baseFee: 6n }, value: 6n },
    { source: 'BLOBBASEFEE', overrides: { blobBaseFee: 1234n }, value: 1234n },
    {
      source: '3 BLOCKHASH',
      overrides: { number: 9n, blockHash: new Map([[3n, word(4)]]) },
      value: 4n,
    },
  ])('sees $source as its block overrides say', async ({ source, overrides, value }) => {
    expect(await returned(source, {}, latest, overrides)).toBe(value)
  })

  test('has the gas limit of the block, or any limit that it names', async () => {
    const usual = await returned('GAS')
    expect(usual).toBeGreaterThan(29_900_000n)
    expect(usual).toBeLessThan(30_000_000n)
    const large = 4n * 10n ** 12n
    expect(await returned('GAS', { gas: large })).toBeGreaterThan(large - 100_000n)
    expect(await returned('GAS', { gas: 50_000n })).toBeLessThan(50_000n)
  })

  test('is free and comes from the zero address by default', async () => {
    expect(await returned('CALLER')).toBe(0n)
    expect(await returned('GASPRICE')).toBe(0n)
    expect(await returned('CALLER', { from: rich })).toBe(BigInt(rich))
  })

  test('with a price pays it, and gets no more gas than the sender can pay for', async () => {
    expect(await returned('GASPRICE', { from: rich, gasPrice: 7n })).toBe(7n)
    expect(await returned('GAS', { from: rich, gasPrice: ether / 10_000n })).toBeLessThan(100_000n)
    for (const gas of [21_000n, undefined]) {
      const poor = async () =>
        call(chain, { from: addressOf(77), to: rich, gasPrice: 1n, gas }, latest)
      await expect(poor).rejects.toThrow(refusal('INSUFFICIENT_FUNDS', /insufficient funds/))
    }
  })

  test('applies state overrides only to itself', async () => {
    const stateOverrides = new Map([
      [at('nothing'), { balance: 5n, code: show('ADDRESS BALANCE') }],
    ])
    const { output } = await call(chain, { to: at('nothing') }, latest, { stateOverrides })
    expect(bigintFromBytes(output)).toBe(5n)
    expect((await run({ to: at('nothing') })).output).toHaveLength(0)
  })

  test('returns a revert or halt as an outcome, from which errors are made', async () => {
    const { failure, output } = await run({ to: at('revertWord') })
    expect(failure).toMatchObject({ kind: 'revert' })
    expect(hexFromBytes(output)).toBe('0x2202f1fa')
    expect(executionError(failure!, output)).toMatchObject({
      word: 'EXECUTION_REVERTED',
      message: expect.stringContaining('VM Exception while processing transaction: '),
      data: '0x2202f1fa',
    })
    expect((await run({ to: at('invalid') })).failure).toMatchObject({ kind: 'halt' })
  })

  test('without a callee creates a contract and returns its code', async () => {
    const code = assemble(CONTRACTS.log)
    const init = concatBytes(assemble(`${code.length} 12 0 CODECOPY ${code.length} 0 RETURN`), code)
    const { output, created } = await run({ from: rich, data: init })
    expect(output).toEqual(code)
    expect(created).toBeDefined()
  })

  test('at a block that does not exist is refused', async () => {
    const missing = async () => call(chain, { to: rich }, { kind: 'number', number: 9n })
    await expect(missing).rejects.toThrow(refusal('NOT_FOUND', /block 0x9 not found/))
  })
})

describe('createAccessList', () => {
  const list = (request: CallRequest, stateOverrides?: StateOverrides) =>
    createAccessList(chain, request, latest, { stateOverrides })

  test('has the slots of the callee, and makes the run cost what it reports', async () => {
    const request = { from: rich, to: at('storeTwice') }
    const { accessList, gasUsed, outcome } = await list(request)
    expect(outcome.failure).toBeUndefined()
    expect(accessList).toEqual([{ address: at('storeTwice'), storageKeys: [word(0), word(1)] }])
    expect((await run({ ...request, accessList })).gasUsed).toBe(gasUsed)
  })

  test('has called accounts, without sender, callee and precompiles', async () => {
    const source = `${rich} BALANCE POP 4 EXTCODESIZE POP ADDRESS BALANCE POP ${forward(at('store'), 'CALL')}`
    const overrides = new Map([[addressOf(0x300), { code: assemble(source) }]])
    const { accessList } = await list({ from: rich, to: addressOf(0x300) }, overrides)
    expect(accessList).toEqual([{ address: at('store'), storageKeys: [word(0)] }])
  })

  test('is empty for a transfer', async () => {
    expect(await list({ from: rich, to: addressOf(0x505), value: 1n })).toMatchObject({
      accessList: [],
      gasUsed: 21_000n,
      outcome: { failure: undefined, output: new Uint8Array(), consoleLines: [] },
    })
  })

  test('keeps what the caller listed', async () => {
    const declared = [{ address: addressOf(0x77), storageKeys: [word(3)] }]
    const { accessList } = await list({ from: rich, to: at('store'), accessList: declared })
    expect(accessList).toEqual([...declared, { address: at('store'), storageKeys: [word(0)] }])
  })

  test('reports why the run failed, with what it touched until then', async () => {
    const source = '0 SLOAD 0 0 REVERT'
    const overrides = new Map([[addressOf(0x300), { code: assemble(source) }]])
    const { accessList, outcome } = await list({ from: rich, to: addressOf(0x300) }, overrides)
    expect(outcome.failure).toMatchObject({ kind: 'revert' })
    expect(accessList).toEqual([{ address: addressOf(0x300), storageKeys: [word(0)] }])
  })
})

test('the assembler of these tests pushes numbers and resolves labels', () => {
  expect(hexFromBytes(assemble('0 @end JUMP :end 256 STOP'))).toBe(
    '0x600061000656' + '5b610100' + '00',
  )
  expect(paddedBytes(1n, 2)).toEqual(Uint8Array.of(0, 1))
})
