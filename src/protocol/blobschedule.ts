// Blob parameters of a genesis file: config.blobSchedule (EIP-7840) and its later changes (EIP-7892).
import { MAX_UINT64 } from '../core/bigints.ts'
import { invalid } from '../core/errors.ts'
import { objectAt } from '../core/objects.ts'
import { type BlobRules, blobRulesOf } from './fees.ts'
import { HARDFORKS, type Hardfork, isAtLeast, readStart, wholeNumber } from './forks.ts'

export type BlobSchedule = readonly { readonly time: bigint; readonly rules: BlobRules }[]

/** Each starts at `config.<name>Time`. The last three change only blob parameters. */
const NAMES = [...HARDFORKS.filter((fork) => isAtLeast(fork, 'cancun')), 'bpo3', 'bpo4', 'bpo5']

/**
 * `{cancun: {target, max, baseFeeUpdateFraction}, …}`: missing values come from the fork before, or else mainnet.
 * @throws {DevchainError} `INVALID_PARAMS` naming the value that is no number, or is zero where it may not be
 */
export function blobScheduleFromGenesisConfig(
  config: Readonly<Record<string, unknown>>,
): BlobSchedule {
  const given = objectAt('config.blobSchedule', config.blobSchedule ?? {})
  const schedule: { time: bigint; rules: BlobRules }[] = []
  let last: BlobRules | undefined
  for (const name of NAMES) {
    const time = readStart(config, `${name}Time`)
    if (time === undefined) continue
    if (given[name] !== undefined && given[name] !== null) last = readRules(name, given[name])
    const rules = last ?? (isHardfork(name) ? blobRulesOf(name) : schedule.at(-1)?.rules)
    if (rules !== undefined) schedule.push({ time, rules })
  }
  return schedule
}

export function blobRulesAt(
  schedule: BlobSchedule,
  timestamp: bigint,
  hardfork: Hardfork,
): BlobRules {
  return schedule.findLast(({ time }) => timestamp >= time)?.rules ?? blobRulesOf(hardfork)
}

function isHardfork(name: string): name is Hardfork {
  return (HARDFORKS as readonly string[]).includes(name)
}

function readRules(name: string, value: unknown): BlobRules {
  const path = `config.blobSchedule.${name}`
  const entry = objectAt(path, value)
  return {
    target: readCount(`${path}.target`, entry.target, 0n),
    max: readCount(`${path}.max`, entry.max, 1n),
    updateFraction: readCount(`${path}.baseFeeUpdateFraction`, entry.baseFeeUpdateFraction, 1n),
  }
}

function readCount(path: string, value: unknown, least: bigint): bigint {
  const count = wholeNumber(value)
  if (count !== undefined && count >= least && count <= MAX_UINT64) return count
  throw invalid(path, `a whole number, at least ${least}`, value)
}
