// Counts called functions by selector and calldata size (geth's 4byteTracer).
import { hexFromBytes } from '../../core/hex.ts'
import type { Tracer } from '../executor.ts'

interface SelectorRecorder {
  readonly tracer: Tracer
  /** By key, e.g. `0xa9059cbb-64`: selector and the number of bytes after it. */
  readonly counts: ReadonlyMap<string, number>
}

/** Ignores creations and precompile calls. */
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
