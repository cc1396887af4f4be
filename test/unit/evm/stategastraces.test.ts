// Traces under amsterdam: the state gas of steps adds up to that of frames, and that of frames to that of transactions.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DevchainError } from '../../../src/core/errors.ts'
import type { FrameEnd, FrameStart, Step } from '../../../src/evm/executor.ts'
import { OP } from '../../../src/evm/opcodes.ts'
import { type CallFrame, recordCalls } from '../../../src/evm/tracers/calls.ts'
import { OPTIONS } from '../../../src/options/table.ts'
import { caseOf, worldOf } from '../../fuzz/cases.ts'
import { transactionOf } from '../../fuzz/compare.ts'
import { allEngines } from '../../support/evm/engines.ts'
import { ALICE, blockWith, CONTRACT, funded, OTHER, transactionWith, withProgram } from './stage.ts'

const CASES = 300

const interpreter = allEngines().find(({ name }) => name === 'interpreter')!

interface Frame {
  readonly steps: Step[]
  readonly inner: Frame[]
  readonly start: FrameStart
  end: FrameEnd | undefined
}

/** Undefined: the case's gas or nonce does not allow the transaction. */
async function refusedOr<T>(run: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof DevchainError) return undefined
    throw error
  }
}

/** Runs the first message of a case as a transaction. */
async function traced(seed: number) {
  const subject = caseOf(seed, 'amsterdam')
  const [message] = subject.messages
  const open: Frame[] = []
  const frames: Frame[] = []
  const job = transactionOf(subject, message!, worldOf(subject))
  const tracer = {
    onEnter: (start: FrameStart): void => {
      const frame: Frame = { steps: [], inner: [], start, end: undefined }
      open.at(-1)?.inner.push(frame)
      open.push(frame)
      frames.push(frame)
    },
    onStep: (step: Step): void => {
      open.at(-1)?.steps.push({ ...step, stack: [] })
    },
    onExit: (end: FrameEnd): void => {
      open.pop()!.end = end
    },
  }
  const outcome = await refusedOr(() =>
    interpreter.jobsWithin(OPTIONS.memoryLimit.default).transact({ ...job, tracer }),
  )
  return { frames, outcome }
}

const stateOf = ({ end }: Frame): bigint => end?.state?.used ?? 0n

/** False for frames with state gas besides their steps': for deployed code, for a transaction's new recipient, or given back. */
function isPlain({ start, end, inner }: Frame): boolean {
  const paysFirst = start.to === null || (start.depth === 0 && start.value > 0n)
  return !paysFirst && !end?.failure && inner.every((each) => !each.end?.failure)
}

test('state gas of steps and inner frames is that of their frame', async () => {
  let [compared, paid] = [0, 0]
  for (let seed = 0; seed < CASES; seed += 1) {
    const { frames } = await traced(seed)
    for (const frame of frames.filter(isPlain)) {
      const own = frame.steps.reduce((sum, { state }) => sum + state!.cost, 0n)
      const inner = frame.inner.reduce((sum, each) => sum + stateOf(each), 0n)
      expect(own + inner, `seed ${seed}`).toBe(stateOf(frame))
      compared += 1
      if (stateOf(frame) !== 0n) paid += 1
    }
  }
  expect(compared).toBeGreaterThan(200)
  expect(paid).toBeGreaterThan(5)
})

test('a step leaves the gas, without its cost and the state gas that the reservoir did not pay', async () => {
  let spilled = 0
  for (let seed = 0; seed < CASES; seed += 1) {
    const { frames } = await traced(seed)
    for (const { steps } of frames) {
      for (const [i, step] of steps.entries()) {
        const next = steps[i + 1]
        if (next === undefined || step.opcode >= OP.CREATE) continue
        const reserved = step.state!.reservoir - next.state!.reservoir
        const spill = step.state!.cost - reserved
        if (spill > 0n) spilled += 1
        expect(next.gas, `seed ${seed}, step ${i}`).toBe(step.gas - step.gasCost - spill)
      }
    }
  }
  expect(spilled).toBeGreaterThan(50)
})

test('a failed frame used no state gas, and a transaction what its outermost frame used', async () => {
  let successes = 0
  for (let seed = 0; seed < CASES; seed += 1) {
    const { frames, outcome } = await traced(seed)
    for (const frame of frames) {
      if (frame.end?.failure !== undefined)
        expect(frame.end.state).toEqual({ used: 0n, spilled: 0n })
    }
    const [outermost] = frames
    const isCall = outermost?.start.to !== null && outermost?.start.value === 0n
    if (outcome?.failure !== undefined || outermost === undefined || !isCall) continue
    const used = stateOf(outermost)
    const before = outcome?.blockGas?.state ?? 0n
    // authorizations pay before the first frame
    if (before % 97_920n === 0n) expect(before).toBe(used > 0n ? used : 0n)
    successes += 1
  }
  expect(successes).toBeGreaterThan(50)
})

/** What a frame does: fills or clears a slot, or makes an account. */
const act = fc.constantFrom(
  '7 1 SSTORE',
  '7 2 SSTORE',
  '0 1 SSTORE',
  '0 2 SSTORE',
  '0 0 0 CREATE POP',
)
const acts = fc.array(act, { maxLength: 6 }).map((each) => each.join(' '))

test('the gas of a call frame does not depend on the limit of its transaction', async () => {
  const jobs = interpreter.jobsWithin(OPTIONS.memoryLimit.default)
  const framesOf = async (outer: string, inner: string, gasLimit: bigint): Promise<unknown> => {
    const world = withProgram(withProgram(funded, CONTRACT, outer), OTHER, inner)
    const transaction = transactionWith({ from: ALICE, to: CONTRACT, gasLimit })
    const { tracer, top } = recordCalls()
    await jobs.transact({ world, block: blockWith({ hardfork: 'amsterdam' }), transaction, tracer })
    const shown = ({ gasUsed, stateGasUsed, calls }: CallFrame): unknown => [
      gasUsed,
      stateGasUsed,
      calls.map(shown),
    ]
    return shown(top())
  }
  await fc.assert(
    fc.asyncProperty(acts, acts, acts, fc.boolean(), async (before, inside, after, reverts) => {
      const outer = `${before} 0 0 0 0 ${OTHER} GAS DELEGATECALL POP ${after}`
      const inner = `${inside} ${reverts ? '0 0 REVERT' : 'STOP'}`
      const spilling = await framesOf(outer, inner, 16_000_000n)
      expect(await framesOf(outer, inner, 30_000_000n)).toEqual(spilling)
      // the reservoir pays for two slots
      expect(await framesOf(outer, inner, 2n ** 24n + 200_000n)).toEqual(spilling)
    }),
    { seed: 8037, numRuns: 100 },
  )
})
