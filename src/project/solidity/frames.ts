// The frames of a failed run, as a first run of it tells: which of them failed, and whose code they ran.
import type { Address } from '../../core/hex.ts'
import { EMPTY_BYTES } from '../../core/hex.ts'
import type { Failure, FrameStart, Tracer } from '../../evm/executor.ts'

/** A frame of a run. */
export interface RunFrame {
  /** Counts the frames of the run as they are opened, from 0 on. */
  readonly number: number
  readonly kind: FrameStart['kind']
  /** Whose code runs; null for a creation. */
  readonly to: Address | null
  readonly value: bigint
  readonly input: Uint8Array
  readonly isPrecompile: boolean
  /** The code that runs; undefined for a creation, whose input it is. */
  readonly code: Uint8Array | undefined
  /** Its newest calls, in their order. */
  readonly calls: readonly RunFrame[]
  readonly output: Uint8Array
  readonly failure: Failure | undefined
}

/** Calls of one frame that are kept: the newest. */
const KEPT_CALLS = 4

type Open = { -readonly [K in keyof RunFrame]: RunFrame[K] } & { calls: RunFrame[] }

/** Records the frames of a run. */
export function recordFrames(): {
  readonly tracer: Tracer
  /** The outermost frame, once the run is over. */
  readonly top: () => RunFrame | undefined
} {
  const open: Open[] = []
  let count = 0
  let top: RunFrame | undefined
  const tracer: Tracer = {
    onEnter: (start) => {
      open.push(opened(start, count))
      count += 1
    },
    onExit: ({ output, failure }) => {
      const frame = open.pop()
      if (frame === undefined) return
      frame.output = output
      frame.failure = failure
      // of what succeeded nothing is told
      if (failure === undefined) frame.calls = []
      const caller = open.at(-1)
      if (caller === undefined) top = frame
      else {
        caller.calls.push(frame)
        if (caller.calls.length > KEPT_CALLS) caller.calls.shift()
      }
    },
    // with steps the code of a frame is told too
    onStep: () => undefined,
    stepParts: { stack: false, memory: false, only: new Set() },
  }
  return { tracer, top: () => top }
}

function opened({ kind, to, value, input, code, isPrecompile }: FrameStart, number: number): Open {
  return {
    number,
    kind,
    to,
    value,
    input: input.slice(),
    isPrecompile,
    code: to === null ? undefined : code(),
    calls: [],
    output: EMPTY_BYTES,
    failure: undefined,
  }
}

/** The frames that a failure went through, from the outermost to the one that it came from. */
export function failureChain(top: RunFrame): readonly RunFrame[] {
  const frames: RunFrame[] = []
  for (let frame: RunFrame | undefined = top; frame !== undefined; frame = causeOf(frame)) {
    frames.push(frame)
  }
  return frames
}

/** The call whose failure was handed on: the newest, when it failed with the same data. */
function causeOf({ calls, failure, output }: RunFrame): RunFrame | undefined {
  const newest = calls.at(-1)
  if (newest?.failure === undefined || failure?.kind !== 'revert' || newest.isPrecompile)
    return undefined
  return Buffer.compare(newest.output, output) === 0 ? newest : undefined
}
