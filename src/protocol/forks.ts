// Hardforks of the main network, in order, and which of them rules at a block.

/** Hardforks by name, oldest first. The last is the newest that is final in @ethereumjs/common. */
export const HARDFORKS = [
  'frontier',
  'homestead',
  'tangerineWhistle',
  'spuriousDragon',
  'byzantium',
  'constantinople',
  'petersburg',
  'istanbul',
  'berlin',
  'london',
  'paris',
  'shanghai',
  'cancun',
  'prague',
  'osaka',
] as const

export type Hardfork = (typeof HARDFORKS)[number]

export const NEWEST_HARDFORK: Hardfork = 'osaka'

/** True when the rules of `fork` include those of `other`. */
export function isAtLeast(fork: Hardfork, other: Hardfork): boolean {
  return HARDFORKS.indexOf(fork) >= HARDFORKS.indexOf(other)
}
