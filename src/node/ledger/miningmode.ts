// The meaning of the mining state.
import type { MiningState } from './chainstate.ts'

export function isInstant({ mode, stopped }: MiningState): boolean {
  return (
    !stopped && (mode.kind === 'instant' || (mode.kind === 'interval' && mode.instant === true))
  )
}

/** Least and most milliseconds between blocks; undefined without interval mining. */
function boundsOf({ mode, stopped }: MiningState): readonly [number, number] | undefined {
  if (mode.kind !== 'interval' || stopped) return undefined
  return [mode.intervalMs, mode.longestMs ?? mode.intervalMs]
}

export function intervalOf(mining: MiningState): number | undefined {
  return boundsOf(mining)?.[0]
}

/** Milliseconds until the next block, random between the bounds; undefined without interval mining. */
export function nextIntervalOf(mining: MiningState, random: () => number): number | undefined {
  const bounds = boundsOf(mining)
  if (bounds === undefined) return undefined
  const [least, most] = bounds
  return least === most ? least : least + Math.floor(random() * (most - least + 1))
}

/** The result of `eth_mining`. */
export function isMining(mining: MiningState): boolean {
  return isInstant(mining) || intervalOf(mining) !== undefined
}

export function isSameRhythm(a: MiningState, b: MiningState): boolean {
  return String(boundsOf(a)) === String(boundsOf(b))
}

export function describeMining({ mode, stopped }: MiningState): string {
  if (stopped) return 'stopped'
  if (mode.kind === 'instant') return 'instant'
  if (mode.kind === 'manual') return 'by hand'
  const { intervalMs, longestMs = intervalMs, instant } = mode
  const start = instant ? 'instant and ' : ''
  const shortest = longestMs === intervalMs ? '' : `${intervalMs / 1000} to `
  return `${start}every ${shortest}${longestMs / 1000} s`
}
