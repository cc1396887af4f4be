// Hardforks of the main network, in order, and which of them rules at a block.
import { DevchainError, printValue } from '../core/errors.ts'
import { nearest } from '../core/nearest.ts'

/**
 * Hardforks by name, oldest first, with the keys of a genesis file's `config` that say when they begin; bpo1 and bpo2 change
 * nothing but the numbers of blobs (EIP-7892).
 */
const CONFIG_KEYS = {
  frontier: [],
  homestead: ['homesteadBlock'],
  tangerineWhistle: ['eip150Block'],
  spuriousDragon: ['eip155Block', 'eip158Block'],
  byzantium: ['byzantiumBlock'],
  constantinople: ['constantinopleBlock'],
  petersburg: ['petersburgBlock'],
  istanbul: ['istanbulBlock'],
  berlin: ['berlinBlock'],
  london: ['londonBlock'],
  paris: ['mergeNetsplitBlock'],
  shanghai: ['shanghaiTime'],
  cancun: ['cancunTime'],
  prague: ['pragueTime'],
  osaka: ['osakaTime'],
  bpo1: ['bpo1Time'],
  bpo2: ['bpo2Time'],
} as const

export type Hardfork = keyof typeof CONFIG_KEYS

export const HARDFORKS: readonly Hardfork[] = Object.keys(CONFIG_KEYS) as Hardfork[]

/** Looked up, not searched for: small calls ask a dozen times, a 25th of their time. */
const PLACES = Object.fromEntries(HARDFORKS.map((fork, place) => [fork, place])) as Readonly<
  Record<Hardfork, number>
>

/** What a chain has where nobody says: the newest that is final on the main network, live since 7 January 2026. */
export const DEFAULT_HARDFORK: Hardfork = 'bpo2'

/** The newest whose rules are known here. */
export const NEWEST_HARDFORK: Hardfork = HARDFORKS.at(-1)!

/** What a network of today is at that does not tell. */
export const ASSUMED_HARDFORK: Hardfork = 'bpo2'

const SYNONYMS: ReadonlyMap<string, Hardfork> = new Map<string, Hardfork>([
  ['merge', 'paris'],
  ['latest', DEFAULT_HARDFORK],
  ['eip150', 'tangerineWhistle'],
  ['eip158', 'spuriousDragon'],
  ['constantinoplefix', 'petersburg'],
  ['muirglacier', 'istanbul'],
  ['arrowglacier', 'london'],
  ['grayglacier', 'london'],
])

/** True when the rules of `fork` include those of `other`. */
export function isAtLeast(fork: Hardfork, other: Hardfork): boolean {
  return PLACES[fork] >= PLACES[other]
}

/**
 * Reads a hardfork's name in any letter case; also `merge`, `latest` and the ice-age delays, which change no rule.
 * @throws {DevchainError} `INVALID_PARAMS` that names the nearest.
 */
export function parseHardfork(text: string): Hardfork {
  const wanted = text.toLowerCase()
  const found = HARDFORKS.find((fork) => fork.toLowerCase() === wanted) ?? SYNONYMS.get(wanted)
  if (found !== undefined) return found
  const hint = nearest(text, HARDFORKS)
  const advice =
    hint === undefined ? `expected one of ${HARDFORKS.join(', ')}` : `did you mean ${hint}?`
  throw new DevchainError('INVALID_PARAMS', `unknown hardfork ${printValue(text)}: ${advice}`)
}

/** From which block number, or from which time on, a fork rules. */
interface Activation {
  readonly fork: Hardfork
  readonly block: bigint | undefined
  /** Seconds since 1970. */
  readonly time: bigint | undefined
}

export interface ForkSchedule {
  readonly activations: readonly Activation[]
}

export function alwaysFork(fork: Hardfork): ForkSchedule {
  return { activations: [{ fork, block: 0n, time: undefined }] }
}

/** The fork that rules at a block; frontier before any other begins. */
export function hardforkAt(schedule: ForkSchedule, number: bigint, timestamp: bigint): Hardfork {
  const active = schedule.activations.findLast(
    ({ block, time }) =>
      (block !== undefined && number >= block) || (time !== undefined && timestamp >= time),
  )
  return active?.fork ?? 'frontier'
}

/**
 * Reads the forks of a geth-style genesis `config`. A `terminalTotalDifficulty` of 0 is paris as soon as london.
 * @throws {DevchainError} `INVALID_PARAMS` for a value that is no number, or a fork that begins before the one it follows.
 */
export function scheduleFromGenesisConfig(config: Readonly<Record<string, unknown>>): ForkSchedule {
  const activations = HARDFORKS.flatMap((fork) =>
    CONFIG_KEYS[fork].flatMap((key): Activation[] => {
      const value = readStart(config, key)
      if (value === undefined) return []
      const isTime = key.endsWith('Time')
      return [{ fork, block: isTime ? undefined : value, time: isTime ? value : undefined }]
    }),
  )
  if (isMergedFromStart(config) && !activations.some(({ fork }) => fork === 'paris')) {
    // a merge comes with london at the earliest, as in geth
    const london = activations.find(({ fork }) => fork === 'london')?.block ?? 0n
    activations.push({ fork: 'paris', block: london, time: undefined })
  }
  const inOrder = activations.toSorted(
    (a, b) => HARDFORKS.indexOf(a.fork) - HARDFORKS.indexOf(b.fork),
  )
  checkOrder(inOrder)
  return { activations: inOrder }
}

/** A block number or time of a genesis `config`; undefined where it says nothing. */
export function readStart(
  config: Readonly<Record<string, unknown>>,
  key: string,
): bigint | undefined {
  const value = config[key]
  if (value === undefined || value === null) return undefined
  const isText = typeof value === 'string' && /^(0x[0-9a-fA-F]+|[0-9]+)$/.test(value)
  if (isText || (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0)) {
    return BigInt(value as string | number)
  }
  throw new DevchainError(
    'INVALID_PARAMS',
    `config.${key}: expected a block number or time, got ${printValue(value)}`,
  )
}

/**
 * The total difficulty whose first block was the last of proof-of-work; undefined where `config` says when the merge
 * comes in another way, or that there is none.
 * @throws {DevchainError} `INVALID_PARAMS` for a value that is no number
 */
export function terminalTotalDifficultyOf(
  config: Readonly<Record<string, unknown>>,
): bigint | undefined {
  const { terminalTotalDifficulty: total } = config
  if (config.mergeNetsplitBlock !== undefined && config.mergeNetsplitBlock !== null)
    return undefined
  if (total === undefined || total === null || isMergedFromStart(config)) return undefined
  // as a JSON number it may be above 2^53: the main network's has few digits that are not zero
  if (typeof total === 'number' && Number.isInteger(total) && total > 0) return BigInt(total)
  return readStart(config, 'terminalTotalDifficulty')
}

function isMergedFromStart(config: Readonly<Record<string, unknown>>): boolean {
  const total = config.terminalTotalDifficulty
  return (
    config.terminalTotalDifficultyPassed === true ||
    (total !== undefined && total !== null && Number(total) === 0)
  )
}

function checkOrder(activations: readonly Activation[]): void {
  for (const [i, later] of activations.entries()) {
    const earlier = activations[i - 1]
    if (earlier === undefined) continue
    const isEarly =
      (later.block !== undefined && earlier.block !== undefined && later.block < earlier.block) ||
      (later.time !== undefined && earlier.time !== undefined && later.time < earlier.time)
    if (isEarly) {
      throw new DevchainError(
        'INVALID_PARAMS',
        `config: ${later.fork} begins at ${later.block ?? later.time}, before ${earlier.fork} at ${earlier.block ?? earlier.time}`,
      )
    }
  }
}
