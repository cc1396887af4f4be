// Members that nothing knows are ignored; one that is probably misspelt is noted in the log, beside the call.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDevchain, type Devchain, type ObservedCall } from '../../src/devchain.ts'
import { type Notes, remark } from '../../src/rpc/schema.ts'

const FROM = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const TO = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const HASH = `0x${'ab'.repeat(32)}`

let devchain: Devchain
let sent: string
const calls: ObservedCall[] = []

beforeAll(async () => {
  devchain = await createDevchain({}, { observer: { onCall: (call) => calls.push(call) } })
  const params = [{ from: FROM, to: TO, value: '0x1' }]
  sent = (await devchain.request({ method: 'eth_sendTransaction', params })) as string
})

afterAll(() => devchain.close())

/** The remarks on a call, which must be answered. */
async function notesOf(method: string, ...params: unknown[]): Promise<readonly string[]> {
  calls.length = 0
  await devchain.request({ method, params })
  expect(calls.map((call) => [call.method, call.error])).toEqual([[method, undefined]])
  return calls[0]?.notes ?? []
}

/** A request with an object of a member `key`, by the place that the object has in it. */
const PLACES: readonly [
  where: string,
  key: string,
  meant: string,
  method: string,
  params: (object: Readonly<Record<string, string>>) => readonly unknown[],
][] = [
  ['transaction', 'gasprice', 'gasPrice', 'eth_call', (o) => [{ to: TO, ...o }]],
  ['transaction', 'maxfeePerGas', 'maxFeePerGas', 'eth_estimateGas', (o) => [{ to: TO, ...o }]],
  ['transaction', 'vaule', 'value', 'eth_sendTransaction', (o) => [{ from: FROM, to: TO, ...o }]],
  ['transaction', 'imput', 'input', 'eth_createAccessList', (o) => [{ to: TO, ...o }]],
  [
    'transaction.accessList[0]',
    'storageKey',
    'storageKeys',
    'eth_call',
    (o) => [{ to: TO, accessList: [{ address: TO, ...o }] }],
  ],
  ['block', 'blockHsh', 'blockHash', 'eth_getBalance', (o) => [FROM, { blockNumber: '0x0', ...o }]],
  [
    `stateOverrides.${TO}`,
    'blance',
    'balance',
    'eth_call',
    (o) => [{ to: TO }, 'latest', { [TO]: o }],
  ],
  [
    'blockOverrides',
    'baseFeePergas',
    'baseFeePerGas',
    'eth_call',
    (o) => [{ to: TO }, 'latest', {}, o],
  ],
  ['filter', 'fromblock', 'fromBlock', 'eth_getLogs', (o) => [o]],
  ['filter', 'adress', 'address', 'eth_newFilter', (o) => [o]],
  ['filter', 'toBlok', 'toBlock', 'trace_filter', (o) => [o]],
  [
    'options',
    'tracerconfig',
    'tracerConfig',
    'debug_traceTransaction',
    (o) => [sent, { tracer: 'noopTracer', ...o }],
  ],
  [
    'options.tracerConfig',
    'onlyTopCal',
    'onlyTopCall',
    'debug_traceTransaction',
    (o) => [sent, { tracer: 'callTracer', tracerConfig: o }],
  ],
  [
    'options.tracerConfig.prestateTracer',
    'difMode',
    'diffMode',
    'debug_traceTransaction',
    (o) => [sent, { tracer: 'muxTracer', tracerConfig: { prestateTracer: o } }],
  ],
  ['options', 'stateoverrides', 'stateOverrides', 'debug_traceCall', (o) => [{}, 'latest', o]],
  ['calls[0][0]', 'gsa', 'gas', 'trace_callMany', (o) => [[[{ to: TO, ...o }, ['trace']]]]],
  [
    'simulation.blockStateCalls[0].calls[0]',
    'nonse',
    'nonce',
    'eth_simulateV1',
    (o) => [{ blockStateCalls: [{ calls: [{ to: TO, ...o }] }] }],
  ],
  [
    'bundles[0].transactions[0]',
    'fro',
    'from',
    'eth_callMany',
    (o) => [[{ transactions: [{ to: TO, ...o }] }]],
  ],
  ['order', 'timestmap', 'timestamp', 'evm_mine', (o) => [o]],
  ['order', 'requeu', 'requeue', 'devchain_reorg', (o) => [{ depth: '0x1', ...o }]],
]

describe('an unknown member', () => {
  test.each(PLACES)('%s.%s is noted as %s for %s', async (where, key, meant, method, params) => {
    expect(await notesOf(method, ...params({ [key]: '0x1' }))).toEqual([
      `${where}: the member "${key}" is ignored; did you mean ${meant}?`,
    ])
    expect(await notesOf(method, ...params({ customField: '0x1' }))).toEqual([])
  })

  test('that is short, or that clients often send, has no note', async () => {
    const request = { to: TO, id: 1, tp: 2, foo: 3, chain: 'x', hash: HASH, customField: {} }
    expect(await notesOf('eth_call', request)).toEqual([])
  })

  test('of a call that fails has a note too', async () => {
    calls.length = 0
    const params = [{ to: 5, gasprice: '0x1' }]
    await expect(devchain.request({ method: 'eth_call', params })).rejects.toThrow('transaction.to')
    await expect(
      devchain.request({ method: 'eth_call', params: [{ gasprice: '0x1', to: 5 }] }),
    ).rejects.toThrow('transaction.to')
    expect(calls.map(({ notes }) => notes.length)).toEqual([0, 1])
  })
})

test('a type that other members contradict has a note', async () => {
  const fees = { maxFeePerGas: '0x1', maxPriorityFeePerGas: '0x0' }
  expect(
    await notesOf('eth_sendTransaction', { from: FROM, to: TO, type: '0x1', ...fees }),
  ).toEqual(['transaction.type: 1 is ignored; the other members make it one of type 2, 3, 4'])
  expect(await notesOf('eth_call', { to: TO, type: '0xf', gasPrice: '0x0' })).toEqual([
    'transaction.type: 15 is ignored; the other members make it one of type 0, 1',
  ])
  expect(await notesOf('eth_call', { to: TO, type: '0x2' })).toEqual([])
})

test('a call with many unknown members has few notes, and a note that there were more', async () => {
  const one = Array.from({ length: 1000 }, (_, i) => ({ to: TO, [`gasprice${i % 9}`]: '0x1' }))
  const notes = await notesOf('eth_callMany', [{ transactions: one.slice(0, 500) }])
  expect(notes).toHaveLength(9)
  expect(notes.at(-1)).toBe('there is more of the kind, which is not shown')
})

test('notes are made once, and never beyond the limit', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 2 })), (texts) => {
      const notes: Notes = []
      for (const text of texts) remark(notes, text)
      const different = [...new Set(texts)]
      expect(notes.slice(0, 8)).toEqual(different.slice(0, 8))
      expect(notes.length).toBe(Math.min(different.length, 9))
    }),
    { seed: 20261122, numRuns: 200 },
  )
})

test('trace_filter notes the limit of its result if no count is given', async () => {
  const at = `0x${'20'.repeat(20)}`
  // PUSH2 10000, JUMPDEST, a CALL without input, a counter that goes down, JUMPI
  const caller = '0x6127105b5f5f5f5f5f60ff5af15060019003806003575000'
  await devchain.request({ method: 'hardhat_setCode', params: [at, caller] })
  const transaction = { from: FROM, to: at, gas: '0x4c4b40' }
  const hash = await devchain.request({ method: 'eth_sendTransaction', params: [transaction] })
  const receipt = await devchain.request({ method: 'eth_getTransactionReceipt', params: [hash] })
  expect(receipt).toMatchObject({ status: '0x1' })
  const block = (receipt as { readonly blockNumber: string }).blockNumber
  expect(await notesOf('trace_filter', { fromBlock: block })).toEqual([
    'answered with the first 10000 frames, the most one request gets; ask for others with {after: 10000}',
  ])
  expect(await notesOf('trace_filter', { fromBlock: block, after: 10_000 })).toEqual([])
  expect(await notesOf('trace_filter', { fromBlock: block, count: 10_000 })).toEqual([])
})
