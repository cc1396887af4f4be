// When blocks are mined: what the mining state means.
import type { MiningState } from './chainstate.ts'

/** True when a transaction is mined at once. */
export function isInstant({ mode, stopped }: MiningState): boolean {
  return mode.kind === 'instant' && !stopped
}

/** Milliseconds between blocks; undefined when blocks do not come by themselves. */
export function intervalOf({ mode, stopped }: MiningState): number | undefined {
  return mode.kind === 'interval' && !stopped ? mode.intervalMs : undefined
}

/** True when blocks are mined without being asked for: what `eth_mining` answers. */
export function isMining(mining: MiningState): boolean {
  return isInstant(mining) || intervalOf(mining) !== undefined
}
