// Proof-of-work difficulty: from the parent's, the time since, and the difficulty bomb.
import { larger } from '../../core/bigints.ts'
import { type Hardfork, isAtLeast, readStart } from '../forks.ts'
import { EMPTY_UNCLES_HASH, type Header } from './header.ts'

/** Blocks of the forks that only delay the bomb; undefined: never. */
export type Glaciers = Readonly<Record<'muir' | 'arrow' | 'gray', bigint | undefined>>

const LEAST_DIFFICULTY = 131_072n

/** The difficulty changes in multiples of parent / 2048. */
const PART = 2_048n

/** The largest fall, in such multiples. */
const MOST_PARTS_DOWN = 99n

const PERIOD = 100_000n

/** @throws {DevchainError} `INVALID_PARAMS` for a value that is no number */
export function glaciersOf(config: Readonly<Record<string, unknown>>): Glaciers {
  return {
    muir: readStart(config, 'muirGlacierBlock'),
    arrow: readStart(config, 'arrowGlacierBlock'),
    gray: readStart(config, 'grayGlacierBlock'),
  }
}

/** EIP-649 (byzantium), 1234 (constantinople), 2384 (muir), 3554 (london), 4345 (arrow), 5133 (gray). */
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
 * @param timestamp in seconds
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
  const periods = larger(0n, parent.number + 1n - delay) / PERIOD
  const bomb = periods > 1n ? 2n ** (periods - 2n) : 0n
  return larger(LEAST_DIFFICULTY, adjusted + bomb)
}

/** Multiples of parent / 2048; negative: the difficulty falls. */
function partsUp(parent: DifficultyParent, seconds: bigint, hardfork: Hardfork): bigint {
  if (!isAtLeast(hardfork, 'homestead')) return seconds < 13n ? 1n : -1n
  if (!isAtLeast(hardfork, 'byzantium')) return larger(-MOST_PARTS_DOWN, 1n - seconds / 10n)
  const forUncles = parent.sha3Uncles === EMPTY_UNCLES_HASH ? 1n : 2n
  return larger(-MOST_PARTS_DOWN, forUncles - seconds / 9n)
}
