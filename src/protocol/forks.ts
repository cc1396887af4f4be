// Mainnet's hardforks in order, and which one a block is under.
import { invalid, invalidParams, printValue } from '../core/errors.ts'
import { nearest } from '../core/nearest.ts'

/** Oldest first, with their genesis `config` keys; bpo1 and bpo2 only change blob parameters (EIP-7892). */
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
  amsterdam: ['amsterdamTime'],
} as const

export type Hardfork = keyof typeof CONFIG_KEYS

export const HARDFORKS: readonly Hardfork[] = Object.keys(CONFIG_KEYS) as Hardfork[]

/** A lookup, as small calls ask a dozen times: a search took 1/25 of their time. */
const PLACES = Object.fromEntries(HARDFORKS.map((fork, place) => [fork, place])) as Readonly<
  Record<Hardfork, number>
>

/** The newest one live on mainnet, since 7 January 2026. */
export const DEFAULT_HARDFORK: Hardfork = 'bpo2'

export const NEWEST_HARDFORK: Hardfork = HARDFORKS.at(-1)!

/** For networks of today that do not name theirs. */
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

/** True if the rules of `fork` include those of `other`. */
export function isAtLeast(fork: Hardfork, other: Hardfork): boolean {
  return PLACES[fork] >= PLACES[other]
}

/** Its index in the order of activation. */
export function placeOfFork(fork: Hardfork): number {
  return PLACES[fork]
}

/** @throws {DevchainError} `INVALID_PARAMS` that suggests the nearest name */
export function parseHardfork(text: string): Hardfork {
  const wanted = text.toLowerCase()
  const found = HARDFORKS.find((fork) => fork.toLowerCase() === wanted) ?? SYNONYMS.get(wanted)
  if (found !== undefined) return found
  const hint = nearest(text, HARDFORKS)
  const advice =
    hint === undefined ? `expected one of ${HARDFORKS.join(', ')}` : `did you mean ${hint}?`
  throw invalidParams(`unknown hardfork ${printValue(text)}: ${advice}`)
}

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

export function hardforkAt(schedule: ForkSchedule, number: bigint, timestamp: bigint): Hardfork {
  const active = schedule.activations.findLast(
    ({ block, time }) =>
      (block !== undefined && number >= block) || (time !== undefined && timestamp >= time),
  )
  return active?.fork ?? 'frontier'
}

/** @throws {DevchainError} `INVALID_PARAMS` for a value that is no number, or a fork before its predecessor */
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

export function readStart(
  config: Readonly<Record<string, unknown>>,
  key: string,
): bigint | undefined {
  const value = config[key]
  if (value === undefined || value === null) return undefined
  const number = wholeNumber(value)
  if (number !== undefined) return number
  throw invalid(`config.${key}`, 'a block number or time', value)
}

/** A number of a genesis file; undefined for anything else. */
export function wholeNumber(value: unknown): bigint | undefined {
  const isText = typeof value === 'string' && /^(0x[0-9a-fA-F]+|[0-9]+)$/.test(value)
  const isNumber = typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
  return isText || isNumber ? BigInt(value) : undefined
}

/** Undefined: `config` sets the merge in another way, or there is none. */
export function terminalTotalDifficultyOf(
  config: Readonly<Record<string, unknown>>,
): bigint | undefined {
  const { terminalTotalDifficulty: total } = config
  if (config.mergeNetsplitBlock !== undefined && config.mergeNetsplitBlock !== null)
    return undefined
  if (total === undefined || total === null || isMergedFromStart(config)) return undefined
  // a JSON number above 2^53 is fine: mainnet's has few nonzero digits
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
      throw invalidParams(
        `config: ${later.fork} begins at ${later.block ?? later.time}, before ${earlier.fork} at ${earlier.block ?? earlier.time}`,
      )
    }
  }
}
