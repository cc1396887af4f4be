// Collects the call tree of a run, with inputs and outputs.
import { type Address, EMPTY_BYTES } from '../../core/hex.ts'
import type { Log } from '../../protocol/blocks/receipt.ts'
import type { FrameEnd, FrameStart, Tracer } from '../executor.ts'
import { revertText } from '../reasons.ts'

export interface FrameLog {
  readonly log: Log
  /** The number of earlier calls in its frame. */
  readonly position: number
  /** The number of earlier logs that were not reverted, including `logsBefore`. */
  readonly index: number
}

/** A finished frame with its inner frames. A SELFDESTRUCT is a frame too. */
export interface CallFrame
  extends Pick<FrameStart, 'from' | 'gas' | 'input' | 'isPrecompile'>,
    Pick<FrameEnd, 'output' | 'failure'> {
  readonly kind: FrameStart['kind'] | 'SELFDESTRUCT'
  /** The created contract; null if the creation failed. */
  readonly to: Address | null
  /** Wei. */
  readonly value: bigint
  /** Since amsterdam: execution gas alone, so that it does not depend on the transaction's limit. */
  readonly gasUsed: bigint
  readonly revertText: string | undefined
  /** Since amsterdam: state gas of the frame and its inner ones; below 0 if more came back. */
  readonly stateGasUsed?: bigint | undefined
  readonly calls: readonly CallFrame[]
  readonly logs: readonly FrameLog[]
}

interface CallOptions {
  readonly withLogs?: boolean | undefined
  /** Logs of earlier transactions in the block; default 0. */
  readonly logsBefore?: number | undefined
  readonly onlyTop?: boolean | undefined
  /** Called with the bytes to be kept; throws if there are too many. */
  readonly keep?: ((bytes: number) => void) | undefined
}

interface CallRecorder {
  readonly tracer: Tracer
  readonly top: () => CallFrame
}

type Open = { -readonly [K in Exclude<keyof CallFrame, 'calls' | 'logs'>]: CallFrame[K] } & {
  calls: Open[]
  logs: FrameLog[]
}

/** The approximate size of a frame besides its data. */
const FRAME_BYTES = 1_000

export function recordCalls({
  withLogs,
  logsBefore = 0,
  onlyTop,
  keep,
}: CallOptions = {}): CallRecorder {
  const open: Open[] = []
  const firstLogs: number[] = []
  let top: Open | undefined
  let logCount = logsBefore
  const isKept = (): boolean => onlyTop !== true || open.length === 0
  const onEnter = (start: FrameStart): void => {
    const frame = opened(start, isKept())
    if (isKept()) keep?.(FRAME_BYTES + frame.input.length)
    if (open.length === 0) top = frame
    else if (isKept()) open.at(-1)?.calls.push(frame)
    open.push(frame)
    firstLogs.push(logCount)
  }
  const tracer: Tracer = {
    onEnter,
    onExit: ({ gasUsed, output, created, failure, state }) => {
      const frame = open.pop()
      const firstLog = firstLogs.pop()
      if (frame === undefined || firstLog === undefined) return
      frame.gasUsed = gasUsed - (state?.spilled ?? 0n)
      frame.stateGasUsed = state?.used
      frame.output = output
      frame.failure = failure
      if (failure?.kind === 'revert') frame.revertText = revertText(output)
      if (failure === undefined && frame.to === null) frame.to = created ?? null
      if (withLogs === true && failure !== undefined) {
        withoutLogs(frame)
        logCount = firstLog
      }
      if (isKept()) keep?.(output.length)
    },
    onDestroy: ({ address, beneficiary, balance }) => {
      if (onlyTop === true) return
      keep?.(FRAME_BYTES)
      const transfer = { from: address, to: beneficiary, value: balance, gas: 0n }
      const rest = { kind: 'SELFDESTRUCT', input: EMPTY_BYTES, isPrecompile: false } as const
      open.at(-1)?.calls.push(opened({ ...transfer, ...rest }, false))
    },
  }
  const onLog = (log: Log): void => {
    const frame = open.at(-1)
    const index = logCount++
    if (frame === undefined || (onlyTop === true && open.length > 1)) return
    keep?.(FRAME_BYTES + log.data.length)
    frame.logs.push({ log, position: frame.calls.length, index })
  }
  return {
    tracer: withLogs === true ? { ...tracer, onLog } : tracer,
    top: () => {
      if (top === undefined) throw new Error('the run opened no frame')
      return top
    },
  }
}

type Opening = Pick<CallFrame, 'kind' | 'from' | 'to' | 'value' | 'gas' | 'input' | 'isPrecompile'>

function opened(
  { kind, from, to, value, gas, input, isPrecompile }: Opening,
  isKept: boolean,
): Open {
  return {
    kind,
    from,
    to,
    value,
    gas,
    gasUsed: 0n,
    // copied, as it may be a view of memory that changes
    input: isKept && input.length > 0 ? input.slice() : EMPTY_BYTES,
    output: EMPTY_BYTES,
    failure: undefined,
    revertText: undefined,
    isPrecompile,
    stateGasUsed: undefined,
    calls: [],
    logs: [],
  }
}

function withoutLogs(frame: Open): void {
  frame.logs = []
  for (const inner of frame.calls) withoutLogs(inner)
}

export interface FlatFrame {
  readonly frame: CallFrame
  /** The path of call indices from the outermost frame, which has an empty one. */
  readonly traceAddress: readonly number[]
  readonly subtraces: number
}

export interface FlatOptions {
  /** Includes precompile calls without value. */
  readonly includePrecompiles?: boolean | undefined
}

export function* flatten(
  frame: CallFrame,
  options: FlatOptions = {},
  traceAddress: readonly number[] = [],
): IterableIterator<FlatFrame> {
  const inner = frame.calls.filter((call) => isShown(call, options))
  yield { frame, traceAddress, subtraces: inner.length }
  for (const [index, call] of inner.entries()) {
    yield* flatten(call, options, [...traceAddress, index])
  }
}

function isShown({ isPrecompile, kind, value }: CallFrame, options: FlatOptions): boolean {
  if (!isPrecompile || options.includePrecompiles === true) return true
  // a DELEGATECALL has its caller's value but transfers nothing
  return kind === 'CALL' && value > 0n
}
