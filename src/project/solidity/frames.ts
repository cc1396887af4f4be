// Records the frames of a failed run in a second run: which failed, their code, and how they ended.
import { EMPTY_BYTES } from '../../core/hex.ts'
import type { Failure, FrameStart, Tracer } from '../../evm/executor.ts'
import { OP } from '../../evm/opcodes.ts'
import type { Contract } from '../code/catalogue.ts'
import type { Details } from './details.ts'
import type { CodeMap } from './sourcemap.ts'
import { follow, type OpenTrail, RECORDED } from './trails.ts'

export interface RunFrame extends Omit<FrameStart, 'code'> {
  /** Undefined for a creation, whose input is its code. */
  readonly code: Uint8Array | undefined
  readonly calls: readonly RunFrame[]
  readonly output: Uint8Array
  readonly failure: Failure | undefined
  /** How it ended; undefined if not recorded or successful. */
  readonly trail: OpenTrail | undefined
}

export interface FrameContract {
  readonly contract: Contract
  readonly name: string
  readonly details: Details | undefined
  /** Of the frame's code; undefined without a source map. */
  readonly map: CodeMap | undefined
}

const KEPT_CALLS = 4

type Open = { -readonly [K in keyof RunFrame]: RunFrame[K] } & { calls: RunFrame[] }

export type MapOf = (frame: RunFrame) => CodeMap | undefined

const NONE: ReadonlySet<number> = new Set()

/** Operations whose operand is the callee's address. */
const READ: ReadonlySet<number> = new Set([OP.EXTCODESIZE])

/** @param mapOf source maps by code; with it, each frame's path is recorded too */
export function recordFrames(mapOf?: MapOf): {
  readonly tracer: Tracer
  /** The outermost frame, after the run. */
  readonly top: () => RunFrame | undefined
} {
  const open: Open[] = []
  let current: OpenTrail | undefined
  let top: RunFrame | undefined
  const tracer: Tracer = {
    onEnter: (start) => {
      if (current !== undefined) current.caller = current.steps.at(-1)
      const frame = opened(start)
      if (mapOf !== undefined && !frame.isPrecompile) {
        const code = frame.code ?? frame.input
        frame.trail = { code, map: mapOf(frame), calls: [], steps: [], caller: undefined }
      }
      current = frame.trail
      open.push(frame)
    },
    onExit: ({ output, failure }) => {
      const frame = open.pop()
      if (frame === undefined) return
      const caller = open.at(-1)
      current = caller?.trail
      frame.output = output
      frame.failure = failure
      // successful frames are not reported
      if (failure === undefined) {
        frame.calls = []
        frame.trail = undefined
      }
      if (caller === undefined) top = frame
      else {
        caller.calls.push(frame)
        if (caller.calls.length > KEPT_CALLS) caller.calls.shift()
      }
    },
    // steps also give the frame's code
    onStep: (step) => {
      if (current !== undefined) follow(current, step)
    },
    stepParts: {
      stack: mapOf !== undefined,
      memory: false,
      only: mapOf ? RECORDED : NONE,
      stackOf: READ,
      gas: false,
    },
  }
  return { tracer, top: () => top }
}

function opened(start: FrameStart): Open {
  return {
    ...start,
    input: start.input.slice(),
    code: start.to === null ? undefined : start.code(),
    calls: [],
    output: EMPTY_BYTES,
    failure: undefined,
    trail: undefined,
  }
}

/** The failing frames, from the outermost to the origin of the failure. */
export function failureChain(top: RunFrame): readonly RunFrame[] {
  const frames: RunFrame[] = []
  for (let frame: RunFrame | undefined = top; frame !== undefined; frame = causeOf(frame)) {
    frames.push(frame)
  }
  return frames
}

/** The forwarded call: the newest, if it failed with the same data. */
function causeOf({ calls, failure, output }: RunFrame): RunFrame | undefined {
  const newest = calls.at(-1)
  if (newest?.failure === undefined || failure?.kind !== 'revert' || newest.isPrecompile)
    return undefined
  return Buffer.compare(newest.output, output) === 0 ? newest : undefined
}
