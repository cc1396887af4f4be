// What contract code costs on each engine, and a call from its text to its answer: micro-benchmarks of both.
import { EMPTY_BYTES } from '../../src/core/hex.ts'
import { createDevchain } from '../../src/devchain.ts'
import type { CallJob, Jobs } from '../../src/evm/executor.ts'
import { HotCodeCompiler } from '../../src/evm/fast/compiler/hotcode.ts'
import { FastMachine } from '../../src/evm/fast/machine.ts'
import { createReferenceMachine } from '../../src/evm/reference/machine.ts'
import { Dispatcher } from '../../src/rpc/dispatch.ts'
import { defineMethod, param } from '../../src/rpc/method.ts'
import { quantity } from '../../src/rpc/primitives.ts'
import { engineOf } from '../support/evm/engines.ts'
import { ALICE, blockWith, CONTRACT, funded, withProgram } from '../unit/evm/stage.ts'
import { eachOf, type Figure, timed } from './measure.ts'

const ENGINES: readonly (readonly [name: string, jobs: Jobs])[] = [
  engineOf('reference', async () => createReferenceMachine()),
  engineOf('interpreted', async () => new FastMachine()),
  engineOf('compiled', async () => new FastMachine(new HotCodeCompiler())),
].map(({ name, jobsWithin }) => [name, jobsWithin(128_000_000)])

const FIELD = '0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47'

/** What the rounds begin with: a long word. */
const FIRST = '0x2a3fe67d11aa40c21b09de8a0cbe2a0a47a9c00f5d34d30f0fd3a61f2c9e9f11'

/** Rounds of a loop, which leave a word below the counter and the counter as they were. */
const LOOPS: readonly (readonly [name: string, body: string])[] = [
  ['arithmetic', 'SWAP1 3 MUL DUP2 ADD DUP1 7 SHR XOR SWAP1'],
  ['multiplication in a field', `SWAP1 ${FIELD} DUP2 DUP3 MULMOD SWAP1 POP SWAP1`],
  ['words in memory', 'DUP1 0xff AND 5 SHL DUP1 MLOAD DUP3 ADD SWAP1 MSTORE'],
  ['hashes of 64 bytes', 'DUP1 0 MSTORE 64 0 KECCAK256 POP'],
  ['slots of storage', 'DUP1 63 AND DUP1 SLOAD DUP3 ADD SWAP1 SSTORE'],
  ['calls of nobody', '0 0 0 0 0xdead GAS STATICCALL POP'],
]

/** Times that a loop goes round in one run. */
const TURNS = 20_000

/** Runs of which the fastest counts. The first ones are compiled meanwhile. */
const RUNS = 8

/** All figures, one after another: ten seconds. */
export async function* engineFigures(): AsyncIterableIterator<Figure> {
  for (const [loop, body] of LOOPS) {
    for (const [engine, jobs] of ENGINES) {
      yield {
        name: `${loop}, 1000 ${engine}`,
        value: await thousandOf(engine, jobs, body),
        unit: 'µs',
      }
    }
  }
  yield await callFigure()
  yield* dispatchFigures()
}

function fail(error: unknown): never {
  throw error
}

function jobOf(body: string, turns: number): CallJob {
  const program = `${FIRST} ${turns} L: ${body} 1 SWAP1 SUB DUP1 @L JUMPI`
  return {
    world: withProgram(funded, CONTRACT, program),
    block: blockWith(),
    message: {
      from: ALICE,
      to: CONTRACT,
      value: 0n,
      data: EMPTY_BYTES,
      gasLimit: 10_000_000_000n,
      maxFeePerGas: 0n,
      maxPriorityFeePerGas: 0n,
      accessList: [],
      authorizationList: [],
    },
  }
}

/** Microseconds of a thousand rounds. */
async function thousandOf(engine: string, jobs: Jobs, body: string): Promise<number> {
  // the reference takes a hundred times as long
  const turns = engine === 'reference' ? TURNS / 20 : TURNS
  const job = jobOf(body, turns)
  const times: number[] = []
  for (let index = 0; index < RUNS; index++) {
    times.push(await timed(async () => jobs.call(job)))
  }
  return (1_000_000 * Math.min(...times)) / turns
}

/** A contract that stops at once: what a run costs besides its code. */
async function callFigure(): Promise<Figure> {
  const [, compiled] = ENGINES.at(-1) ?? []
  const job = jobOf('', 1)
  return {
    name: 'call of a small contract',
    value: await eachOf(() => compiled?.call(job)),
    unit: 'µs',
  }
}

async function* dispatchFigures(): AsyncIterableIterator<Figure> {
  const echo = defineMethod({
    name: 'test_echo',
    summary: 'Gives back what it is given.',
    params: [param('value', quantity)],
    result: quantity,
    example: { params: ['0x1'], result: '0x1' },
    handle: (_: undefined, value) => value,
  })
  const dispatcher = new Dispatcher<undefined>({ methods: [echo], onBug: fail })
  const text = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'test_echo', params: ['0x10'] })
  yield {
    name: 'call of a method, from text to text',
    value: await eachOf(() => dispatcher.dispatch(undefined, text)),
    unit: 'µs',
  }
  const chain = await createDevchain()
  yield {
    name: 'eth_getBalance in the same process',
    value: await eachOf(() =>
      chain.request({ method: 'eth_getBalance', params: [CONTRACT, 'latest'] }),
    ),
    unit: 'µs',
  }
  await chain.close()
}
