// The smallest gas limit with which a run succeeds, found in few runs.
import type { FrameEnd, FrameStart, Step, Tracer } from '../../evm/executor.ts'

export interface GasBounds {
  readonly minimum: bigint
  readonly cap: bigint
}

export type GasGuess = () => Promise<bigint | undefined> | bigint | undefined

/** Gas that a call which sends value gives the callee for free. */
const CALL_STIPEND = 2300n

/** SSTORE halts with this much gas or less left (EIP-2200). */
const SSTORE_SENTRY = 2300n

/**
 * Finds a gas limit that succeeds while one less fails; where more gas never does harm that is the smallest of all.
 * A guess that is right costs two runs, the second to see that one less is too little. The rest is halving, which
 * begins near the bottom: answers are small where the cap is a whole block.
 */
export async function smallestGas(
  succeeds: (gas: bigint) => Promise<boolean>,
  { minimum, cap }: GasBounds,
  guesses: readonly GasGuess[],
): Promise<bigint> {
  let low = minimum - 1n
  let high = cap
  const probe = async (gas: bigint): Promise<boolean> => {
    if (gas >= high) return true
    if (gas <= low) return false
    const isEnough = await succeeds(gas)
    if (isEnough) high = gas
    else low = gas
    return isEnough
  }
  for (const guess of guesses) {
    const gas = await guess()
    if (gas === undefined || !(await probe(gas))) continue
    if (!(await probe(gas - 1n))) return gas
  }
  while (high - low > 1n) {
    const middle = (low + high) / 2n
    await probe(low > 0n && middle > low * 2n ? low * 2n : middle)
  }
  return high
}

/** By how much an estimate of geth's may be too large. */
const ERROR_RATIO = 0.015

export interface WidestRun {
  readonly cap: bigint
  readonly gasUsed: bigint
  readonly gasRefund: bigint
}

/** @see https://github.com/ethereum/go-ethereum/blob/master/eth/gasestimator/gasestimator.go */
export function coarseGas(exact: bigint, { cap, gasUsed, gasRefund }: WidestRun): bigint {
  let low = gasUsed - 1n
  let high = cap
  const probe = (gas: bigint): void => {
    if (gas >= exact) high = gas
    else low = gas
  }
  const hopeful = ((gasUsed + gasRefund + CALL_STIPEND) * 64n) / 63n
  if (hopeful < high) probe(hopeful)
  while (low + 1n < high && Number(high - low) / Number(high) >= ERROR_RATIO) {
    const middle = (low + high) / 2n
    probe(middle > low * 2n ? low * 2n : middle)
  }
  return high
}

export interface GasNeedMeter {
  readonly tracer: Tracer
  readonly need: () => bigint | undefined
}

interface FrameNeed {
  readonly given: bigint
  readonly stipend: bigint
  gasBefore: bigint
  /** Least gas to begin with, as far as the frame has come. */
  need: bigint
  /** An inner frame that ended, until the gas left after it is known. */
  inner: { readonly need: bigint; readonly used: bigint; readonly stipend: bigint } | undefined
}

/**
 * Watches one run and works out the least gas with which it would take the same course. That is more than it spends,
 * because a frame may pass on 63/64 of its gas only (EIP-150), so that before each inner call there must be enough to
 * hold back, and because SSTORE wants 2,300 left. A run whose course depends on its gas may need something else.
 */
export function gasNeedMeter(): GasNeedMeter {
  const frames: FrameNeed[] = []
  let whole: bigint | undefined
  const onEnter = ({ gas, kind, value }: FrameStart): void => {
    const isPaid = value > 0n && (kind === 'CALL' || kind === 'CALLCODE') && frames.length > 0
    const stipend = isPaid ? CALL_STIPEND : 0n
    frames.push({ given: gas, stipend, gasBefore: gas, need: 0n, inner: undefined })
  }
  const onStep = ({ gas, opName }: Step): void => {
    const frame = frames.at(-1)
    if (frame === undefined) return
    settleInner(frame, gas)
    frame.gasBefore = gas
    if (opName === 'SSTORE') raise(frame, frame.given - gas + SSTORE_SENTRY + 1n)
  }
  const onExit = ({ gasUsed }: FrameEnd): void => {
    const frame = frames.pop()
    if (frame === undefined) return
    settleInner(frame, frame.given - gasUsed)
    raise(frame, gasUsed)
    const outer = frames.at(-1)
    if (outer === undefined) whole = frame.need
    else outer.inner = { need: frame.need, used: gasUsed, stipend: frame.stipend }
  }
  const stepParts = { stack: false, memory: false }
  return { tracer: { onEnter, onStep, stepParts, onExit }, need: () => whole }
}

/**
 * Counts an inner frame once the gas left after it is known: what the operation itself cost is the difference that
 * the inner frame does not explain, and of what was left then a 64th had to stay behind.
 */
function settleInner(frame: FrameNeed, gasAfter: bigint): void {
  const { inner } = frame
  if (inner === undefined) return
  frame.inner = undefined
  const ownCost = frame.gasBefore - gasAfter + inner.stipend - inner.used
  const passed = inner.need - inner.stipend
  const available = passed > 0n ? passed + (passed - 1n) / 63n : 0n
  raise(frame, frame.given - frame.gasBefore + ownCost + available)
}

function raise(frame: FrameNeed, need: bigint): void {
  if (need > frame.need) frame.need = need
}
