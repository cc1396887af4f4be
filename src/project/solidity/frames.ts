// What is recorded of a failing run, frame by frame, to tell afterwards where in the source it failed.
import { DevchainError } from '../../core/errors.ts'
import type { Address } from '../../core/hex.ts'
import type { Failure, FrameStart, Step, Tracer } from '../../evm/executor.ts'
import { OP } from '../../evm/opcodes.ts'

/** A frame of a run. */
export interface RunFrame {
  readonly kind: FrameStart['kind']
  /** Whose code runs; null for a creation. */
  readonly to: Address | null
  readonly value: bigint
  readonly input: Uint8Array
  readonly isPrecompile: boolean
  /** The code that runs; undefined for a creation, whose input it is. */
  readonly code: Uint8Array | undefined
  /** Where it jumped, in order: places of JUMP, each followed by that of its target. */
  readonly jumps: readonly number[]
  /** Its last operations, the newest last. */
  readonly last: readonly LastStep[]
  readonly calls: readonly RunFrame[]
  /** Operations that it ran. */
  readonly steps: number
  /** How many operations it had run when its newest call began; 0 without any. */
  readonly calledAt: number
  readonly output: Uint8Array
  readonly failure: Failure | undefined
}

/** An operation, and what is on top of the stack before it. */
export interface LastStep {
  readonly pc: number
  readonly opcode: number
  readonly top: bigint | undefined
}

/** Operations of a frame that are kept from its end. */
const KEPT_STEPS = 64

/** Jumps that a run may make, until no more of them are kept: then it is not told where it failed. */
const MOST_JUMPS = 4_000_000

/** Operations of a run that is explained: to look at more would keep its caller waiting. */
const MOST_STEPS = 3_000_000

/** Calls of one frame that are kept: the newest. */
const KEPT_CALLS = 4

type Open = { -readonly [K in keyof RunFrame]: RunFrame[K] } & {
  jumps: number[]
  last: LastStep[]
  calls: RunFrame[]
}

/** Records a run. */
export function recordFrames(): {
  readonly tracer: Tracer
  /** The outermost frame, once the run is over; undefined where there was too much of it. */
  readonly top: () => RunFrame | undefined
} {
  const open: Open[] = []
  let top: RunFrame | undefined
  let jumps = 0
  let steps = 0
  const onStep = ({ pc, opcode, stack }: Step): void => {
    const frame = open.at(-1)
    if (frame === undefined) return
    steps += 1
    if (steps > MOST_STEPS) {
      const message = `what runs over ${MOST_STEPS} operations is not explained`
      throw new DevchainError('LIMIT_EXCEEDED', message)
    }
    if (frame.last.at(-1)?.opcode === OP.JUMP) {
      jumps += 1
      if (jumps <= MOST_JUMPS) frame.jumps.push(frame.last.at(-1)!.pc, pc)
    }
    frame.steps += 1
    frame.last.push({ pc, opcode, top: stack.at(-1) })
    if (frame.last.length >= 2 * KEPT_STEPS) frame.last = frame.last.slice(-KEPT_STEPS)
  }
  const tracer: Tracer = {
    onEnter: (start) => {
      const caller = open.at(-1)
      if (caller !== undefined) caller.calledAt = caller.steps
      const code = start.to === null ? undefined : start.code()
      open.push(opened(start, code))
    },
    onStep,
    onExit: ({ output, failure }) => {
      const frame = open.pop()
      if (frame === undefined) return
      jumps -= closed(frame, output, failure)
      const caller = open.at(-1)
      if (caller === undefined) top = frame
      else {
        caller.calls.push(frame)
        if (caller.calls.length > KEPT_CALLS) caller.calls.shift()
      }
    },
  }
  return { tracer, top: () => (jumps > MOST_JUMPS ? undefined : top) }
}

/** Ends a frame; of one that succeeded nothing is told. @returns how many jumps are forgotten with it */
function closed(frame: Open, output: Uint8Array, failure: Failure | undefined): number {
  frame.output = output
  frame.failure = failure
  if (failure !== undefined) return 0
  const forgotten = frame.jumps.length / 2
  frame.jumps = []
  frame.calls = []
  return forgotten
}

function opened(
  { kind, to, value, input, isPrecompile }: FrameStart,
  code: Uint8Array | undefined,
): Open {
  return {
    kind,
    to,
    value,
    input: input.slice(),
    isPrecompile,
    code,
    jumps: [],
    last: [],
    calls: [],
    steps: 0,
    calledAt: 0,
    output: new Uint8Array(),
    failure: undefined,
  }
}
