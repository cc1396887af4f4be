// Flattens the call tree: each frame before its inner frames, with its position.
import type { CallFrame } from './calls.ts'

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
