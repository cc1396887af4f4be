// Calls of all methods with parameters that are nearly right, and with any others: nothing is answered with a bug.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createDevchain } from '../../../src/devchain.ts'
import { methods } from '../../../src/methods/index.ts'
import type { Json } from '../../../src/rpc/schema.ts'

const A = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const B = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
/** The contract that A's first transaction makes. */
const CONTRACT = '0x5fbdb2315678afecb367f032d93f642f64180aa3'
const CREATION = '0x6460006000a06000526005601bf3'
const WORD = `0x${'00'.repeat(31)}01`

/** Their example is asked elsewhere: they wait for time to pass, or make it pass for all that come later. */
const SKIPPED: ReadonlySet<string> = new Set([
  'eth_sendTransactionSync',
  'eth_sendRawTransactionSync',
  'evm_setIntervalMining',
])

/** Values that mean something to some method, and some that mean nothing to any. */
const VALUES: readonly Json[] = [
  null,
  true,
  0,
  1,
  -1,
  1.5,
  2 ** 53,
  '',
  '0x',
  '0x0',
  '0x1',
  '0x00',
  '0xffffffffffffffff',
  `0x${'f'.repeat(64)}`,
  `0x1${'0'.repeat(64)}`,
  'latest',
  'earliest',
  'pending',
  'nope',
  A,
  B,
  CONTRACT,
  WORD,
  `0x${'12'.repeat(100)}`,
  '\u0000',
  [],
  {},
  [[]],
  [null],
  ['0x0'],
  { blockNumber: '0x1' },
  { blockHash: WORD },
  { from: A, to: B, value: '0x1' },
  { from: A, data: '0x60006000fd', gas: '0x20000' },
  { from: A, to: B, authorizationList: [{}] },
  { fromBlock: '0x0', toBlock: 'latest' },
  { address: CONTRACT, topics: [null, [WORD]] },
  { tracer: 'callTracer', tracerConfig: { withLog: true } },
  { tracer: 'prestateTracer', tracerConfig: { diffMode: true } },
  { tracer: 'muxTracer', tracerConfig: { flatCallTracer: {}, noopTracer: {} } },
  { [B]: { balance: '0x1', code: '0x6001600055', state: { [WORD]: WORD } } },
  { number: '0x99', time: '0x7fffffff' },
  { blockStateCalls: [{ calls: [{ from: A, to: B }] }] },
  { depth: 1 },
  { timestamp: 5, blocks: 3 },
  ['trace', 'vmTrace', 'stateDiff'],
  [50, 25],
]

const anyValue: fc.Arbitrary<Json> = fc.constantFrom(...VALUES)

/** A value with a part of it exchanged. */
function nearly(value: Json): fc.Arbitrary<Json> {
  if (value === null || typeof value !== 'object') return anyValue
  if (Array.isArray(value)) {
    return fc
      .tuple(fc.nat(value.length), anyValue)
      .map(([at, other]) => [...value.slice(0, at), other, ...value.slice(at + 1)])
  }
  const names = [...Object.keys(value), 'from', 'to', 'gas', 'nonce', 'type', 'limit', '__proto__']
  return fc
    .tuple(fc.constantFrom(...names), anyValue)
    .map(([name, other]) => ({ ...value, [name]: other }) as Json)
}

/** A method with its example's parameters, some of them others, one more, or one fewer. */
const anyCall = fc
  .constantFrom(...methods.filter(({ name }) => !SKIPPED.has(name)))
  .chain(({ name, params, example }) => {
    const given = example.params
    const changed = given.map((value) =>
      fc.oneof({ weight: 2, arbitrary: fc.constant(value) }, nearly(value), anyValue),
    )
    const parameters = fc.oneof(
      { weight: 4, arbitrary: fc.tuple(...changed) },
      { weight: 1, arbitrary: fc.array(anyValue, { maxLength: params.length + 1 }) },
      { weight: 1, arbitrary: anyValue.map((value) => [...given, value]) },
      { weight: 1, arbitrary: fc.constant(given.slice(0, -1)) },
    )
    return parameters.map((each) => ({ method: name, params: each as Json[] }))
  })

test('no method responds to random parameters with a bug', async () => {
  const bugs: unknown[] = []
  const onBug = (error: unknown): void => {
    bugs.push(error)
  }
  await using devchain = await createDevchain({ clock: 'frozen' }, { observer: { onBug } })
  for (const data of [CREATION, CREATION]) {
    await devchain.request({
      method: 'eth_sendTransaction',
      params: [{ from: A, data, gas: '0x30000' }],
    })
  }
  const law = fc.asyncProperty(anyCall, async (call) => {
    await devchain.request(call).catch((error: { code: number }) => {
      expect(error).not.toMatchObject({ code: -32603 })
    })
    expect(bugs).toEqual([])
  })
  await fc.assert(law, { seed: 11, numRuns: 3_000, endOnFailure: true })
})
