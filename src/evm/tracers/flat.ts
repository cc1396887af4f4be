// The tree of frames as a list: each frame before those it opened, with its place in the tree.
import type { CallFrame } from './calls.ts'

export interface FlatFrame {
  readonly frame: CallFrame
  /** Which call of the outermost frame, which of that one's, and so on: empty for the outermost. */
  readonly traceAddress: readonly number[]
  /** Frames that it opened, without those left out. */
  readonly subtraces: number
}

export interface FlatOptions {
  /** Also calls of contracts that are part of the machine and that move no money. */
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
  // a delegated call names its caller's value, and moves nothing
  return kind === 'CALL' && value > 0n
}
