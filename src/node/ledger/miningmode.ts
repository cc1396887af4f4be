// The meaning of the mining state.
import type { MiningState } from './chainstate.ts'

export function isInstant({ mode, stopped }: MiningState): boolean {
  return mode.kind === 'instant' && !stopped
}

/** Least milliseconds between blocks; undefined without interval mining. */
export function intervalOf({ mode, stopped }: MiningState): number | undefined {
  return mode.kind === 'interval' && !stopped ? mode.intervalMs : undefined
}

/** Milliseconds until the next block, random between the bounds; undefined without interval mining. */
export function nextIntervalOf(
  { mode, stopped }: MiningState,
  random: () => number,
): number | undefined {
  if (mode.kind !== 'interval' || stopped) return undefined
  const { intervalMs, longestMs = intervalMs } = mode
  if (longestMs === intervalMs) return intervalMs
  return intervalMs + Math.floor(random() * (longestMs - intervalMs + 1))
}

/** The result of `eth_mining`. */
export function isMining(mining: MiningState): boolean {
  return isInstant(mining) || intervalOf(mining) !== undefined
}

export function isSameRhythm(a: MiningState, b: MiningState): boolean {
  return a === b || (intervalOf(a) === intervalOf(b) && longestOf(a) === longestOf(b))
}

function longestOf({ mode }: MiningState): number | undefined {
  return mode.kind === 'interval' ? (mode.longestMs ?? mode.intervalMs) : undefined
}

export function describeMining({ mode, stopped }: MiningState): string {
  if (stopped) return 'stopped'
  if (mode.kind === 'instant') return 'instant'
  if (mode.kind === 'manual') return 'by hand'
  const { intervalMs, longestMs = intervalMs } = mode
  const shortest = longestMs === intervalMs ? '' : `${intervalMs / 1000} to `
  return `every ${shortest}${longestMs / 1000} s`
}
