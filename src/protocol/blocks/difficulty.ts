// The difficulty of proof-of-work: by the parent's and the time since, and by the bomb that makes it grow for ever.

import { type Hardfork, isAtLeast, readStart } from '../forks.ts'
import { EMPTY_UNCLES_HASH, type Header } from './header.ts'

/** Blocks from which on the bomb is delayed further, by the forks that do nothing else; undefined for never. */
export interface Glaciers {
  readonly muir: bigint | undefined
  readonly arrow: bigint | undefined
  readonly gray: bigint | undefined
}

const LEAST_DIFFICULTY = 131_072n

/** The difficulty changes by a multiple of this part of the parent's. */
const PART = 2_048n

/** Most parts that it sinks by at once. */
const MOST_PARTS_DOWN = 99n

const PERIOD = 100_000n

/**
 * Reads `muirGlacierBlock`, `arrowGlacierBlock` and `grayGlacierBlock` of a geth-style genesis `config`.
 * @throws {DevchainError} `INVALID_PARAMS` for a value that is no number
 */
export function glaciersOf(config: Readonly<Record<string, unknown>>): Glaciers {
  return {
    muir: readStart(config, 'muirGlacierBlock'),
    arrow: readStart(config, 'arrowGlacierBlock'),
    gray: readStart(config, 'grayGlacierBlock'),
  }
}

/**
 * By how many blocks the bomb is late at a block: EIP-649 (byzantium), 1234 (constantinople), 2384 (muir), 3554 (london),
 * 4345 (arrow) and 5133 (gray).
 */
export function bombDelayAt(glaciers: Glaciers, number: bigint, hardfork: Hardfork): bigint {
  const isPast = (block: bigint | undefined): boolean => block !== undefined && number >= block
  if (isPast(glaciers.gray)) return 11_400_000n
  if (isPast(glaciers.arrow)) return 10_700_000n
  if (isAtLeast(hardfork, 'london')) return 9_700_000n
  if (isPast(glaciers.muir)) return 9_000_000n
  if (isAtLeast(hardfork, 'constantinople')) return 5_000_000n
  return isAtLeast(hardfork, 'byzantium') ? 3_000_000n : 0n
}

export interface DifficultyParent
  extends Pick<Header, 'number' | 'timestamp' | 'difficulty' | 'sha3Uncles'> {}

/**
 * The difficulty of the block after `parent`, of a fork before paris.
 * @param timestamp the block's own, in seconds
 * @param delay blocks by which the bomb is late (`bombDelayAt`)
 * @see https://eips.ethereum.org/EIPS/eip-2 and https://eips.ethereum.org/EIPS/eip-100
 */
export function nextDifficulty(
  parent: DifficultyParent,
  timestamp: bigint,
  hardfork: Hardfork,
  delay: bigint,
): bigint {
  const parts = partsUp(parent, timestamp - parent.timestamp, hardfork)
  const adjusted = parent.difficulty + (parent.difficulty / PART) * parts
  const periods = atLeast(0n, parent.number + 1n - delay) / PERIOD
  const bomb = periods > 1n ? 2n ** (periods - 2n) : 0n
  return atLeast(LEAST_DIFFICULTY, adjusted + bomb)
}

/** Parts of the parent's difficulty by which that of the next block is higher, or lower below 0. */
function partsUp(parent: DifficultyParent, seconds: bigint, hardfork: Hardfork): bigint {
  if (!isAtLeast(hardfork, 'homestead')) return seconds < 13n ? 1n : -1n
  if (!isAtLeast(hardfork, 'byzantium')) return atLeast(-MOST_PARTS_DOWN, 1n - seconds / 10n)
  const forUncles = parent.sha3Uncles === EMPTY_UNCLES_HASH ? 1n : 2n
  return atLeast(-MOST_PARTS_DOWN, forUncles - seconds / 9n)
}

function atLeast(least: bigint, value: bigint): bigint {
  return value > least ? value : least
}
