// Which functions a run called: the first four bytes of calldata, and how many followed.
import { hexFromBytes } from '../../core/hex.ts'
import type { Tracer } from '../executor.ts'

interface SelectorRecorder {
  readonly tracer: Tracer
  /** How often each was called: `0xa9059cbb-64`, with the number of bytes after the selector. */
  readonly counts: ReadonlyMap<string, number>
}

/** Counts selectors of calls; creations and calls of precompiles have none. */
export function recordSelectors(): SelectorRecorder {
  const counts = new Map<string, number>()
  const tracer: Tracer = {
    onEnter: ({ to, input, isPrecompile }) => {
      if (to === null || isPrecompile || input.length < 4) return
      const key = `${hexFromBytes(input.subarray(0, 4))}-${input.length - 4}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    },
  }
  return { tracer, counts }
}
