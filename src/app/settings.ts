// Reads and checks options from flags, the environment, a config file or a program.
import { statSync } from 'node:fs'
import { attempt, invalidParams, printValue, within } from '../core/errors.ts'
import { oneLine } from '../core/format.ts'
import type { Address } from '../core/hex.ts'
import { nearest } from '../core/nearest.ts'
import { isObject, jsonOf } from '../core/objects.ts'
import { profileOf } from '../methods/compat/profiles.ts'
import {
  type AllSettings,
  CHAIN_GROUPS,
  type DevchainSettings,
  environmentNameOf,
  flagOf,
  OPTION_KEYS,
  type OptionKey,
  optionOf,
  type Some,
  withDefaults,
} from '../options/derived.ts'
import type { ForkChoice, ForkRequest } from '../options/fork.ts'
import { groupOf, OPTIONS } from '../options/table.ts'
import { type ClockSource, isPredeployName } from '../options/values.ts'

/** The forms of a setting: its value, or text as on the command line. */
type Given<T> = T extends boolean
  ? boolean
  : T extends bigint | number
    ? bigint | number | string
    : T extends readonly unknown[]
      ? readonly string[] | string
      : T extends ClockSource
        ? string
        : T extends Address
          ? string
          : T extends ForkChoice
            ? ForkRequest | string | readonly string[]
            : T

/** The options of `createDevchain`; each has the meaning, unit and default of its flag. */
export type DevchainOptions = {
  readonly [Key in keyof DevchainSettings]?: Given<DevchainSettings[Key]> | undefined
}

const TWO_BEGINNINGS = 'a pack has its own genesis and blocks'

const CONTRADICTIONS: readonly (readonly [OptionKey, OptionKey, why: string])[] = [
  ['blockTime', 'noMining', 'one mines on an interval, the other only on request'],
  ['artifacts', 'noArtifacts', 'one reads artifacts, the other does not'],
  ['abi', 'noArtifacts', 'one reads artifacts, the other does not'],
  ['from', 'genesis', TWO_BEGINNINGS],
  ['from', 'import', TWO_BEGINNINGS],
  ['from', 'predeploy', TWO_BEGINNINGS],
  ['from', 'timestamp', TWO_BEGINNINGS],
  ['from', 'forkTransaction', TWO_BEGINNINGS],
  ['from', 'loadState', TWO_BEGINNINGS],
  ['from', 'init', TWO_BEGINNINGS],
  ['genesis', 'init', 'both name the genesis file'],
  ['quiet', 'verbose', 'one silences the log, the other lengthens it'],
]

const hasDump = ({ dumpState, state }: Some<AllSettings>): boolean =>
  dumpState !== undefined || isDumpFile(state)

/** Options that do nothing without another. */
const NEEDS: readonly (readonly [OptionKey, typeof hasDump, names: string])[] = [
  ['coverageMin', ({ coverage }) => coverage !== undefined, '--coverage FILE'],
  ['durability', ({ state }) => state !== undefined && !isDumpFile(state), '--state DIR'],
  ['stateInterval', hasDump, '--dump-state FILE'],
  ['preserveHistoricalStates', hasDump, '--dump-state FILE'],
]

/** `--state` names a dump, as in anvil; undefined names none. */
export function isDumpFile(state: string | undefined): boolean {
  if (state === undefined) return false
  return attempt(() => statSync(state).isFile()) ?? state.endsWith('.json')
}

/** Given values by source, highest precedence first. */
export interface OptionSource {
  readonly kind: 'flag' | 'environment' | 'file' | 'program'
  readonly values: { readonly [Key in OptionKey]?: unknown }
  /** Path of the config file, for messages. */
  readonly path?: string
}

function nameIn(source: OptionSource, key: OptionKey): string {
  if (source.kind === 'flag') return flagOf(key)
  if (source.kind === 'environment') return environmentNameOf(key)
  return source.kind === 'file' ? `"${key}" in ${source.path}` : key
}

/** Options from environment variables; an empty variable counts as unset. */
export function environmentSource(
  environment: Readonly<Record<string, string | undefined>>,
): OptionSource {
  const entries = OPTION_KEYS.map((key) => [key, environment[environmentNameOf(key)]] as const)
  return { kind: 'environment', values: Object.fromEntries(entries.filter(([, value]) => value)) }
}

/** Variables that are not options: commands and test workers use them to find a running chain. */
const OTHER_VARIABLES = ['DEVCHAIN_URL', 'DEVCHAIN_CHAINS']

/** A warning for each variable with this program's prefix that is not an option; at most ten. */
export function unknownVariables(
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const known = [...OPTION_KEYS.map(environmentNameOf), ...OTHER_VARIABLES]
  const ending = (name: string): string => name.slice(PREFIX.length)
  return Object.keys(environment)
    .filter((name) => name.startsWith(PREFIX) && !known.includes(name))
    .slice(0, 10)
    .map((name) => {
      const meant = nearest(ending(name), known.map(ending))
      const hint = meant === undefined ? '' : `; did you mean ${PREFIX}${meant}?`
      return `unknown environment variable ${oneLine(name, 100)} is ignored${hint}`
    })
}

const PREFIX = 'DEVCHAIN_'

/**
 * The values of a config file.
 * @throws {DevchainError} `INVALID_PARAMS` if it is no JSON object or has an unknown key; suggests a near key
 */
export function fileSource(path: string, content: string): OptionSource {
  const json = jsonOf(path, content)
  if (!isObject(json)) throw invalidParams(`${path}: expected a JSON object with options`)
  return checkedSource({ kind: 'file', path, values: json })
}

/** @throws {DevchainError} `INVALID_PARAMS` for an unknown option; suggests a near one */
function checkedSource(source: OptionSource): OptionSource {
  for (const key of Object.keys(source.values)) {
    const where = source.kind === 'file' ? ` in ${source.path}` : ''
    if (key === 'config' && where !== '') {
      throw invalidParams(`"config"${where}: a config file cannot name another`)
    }
    if (Object.hasOwn(OPTIONS, key)) continue
    const meant = nearest(key, OPTION_KEYS)
    const hint = meant === undefined ? '' : `; did you mean "${meant}"?`
    throw invalidParams(`unknown option "${key}"${where}${hint}`)
  }
  return source
}

/**
 * Merges the sources: the first that has an option wins; the rest gets the defaults of the node named by `compat`, or
 * devchain's.
 * @throws {DevchainError} `INVALID_PARAMS` naming the option, the value and what was expected, an option that does
 * nothing without another, or two of one source that contradict each other (of two sources, the higher wins).
 */
export function resolveOptions(sources: readonly OptionSource[]): AllSettings {
  const given = new Map<OptionKey, OptionSource>()
  for (const source of sources) {
    for (const key of OPTION_KEYS) {
      if (source.values[key] !== undefined && !given.has(key)) given.set(key, source)
    }
  }
  const values = new Map<OptionKey, unknown>()
  for (const [key, source] of given) values.set(key, readOption(source, key))
  const isSet = (key: OptionKey): boolean => isChosen(key, values.get(key))
  for (const [one, other, why] of CONTRADICTIONS) {
    const [first, second] = [given.get(one), given.get(other)]
    if (!(first && second && isSet(one) && isSet(other))) continue
    if (first === second) {
      throw invalidParams(`${nameIn(first, one)} contradicts ${nameIn(second, other)}: ${why}`)
    }
    values.delete(sources.indexOf(first) < sources.indexOf(second) ? other : one)
  }
  const own = Object.fromEntries(values) as Some<AllSettings>
  for (const [key, isThere, names] of NEEDS) {
    const source = given.get(key)
    if (source === undefined || !isSet(key) || isThere(own)) continue
    throw invalidParams(`${nameIn(source, key)} needs ${names}`)
  }
  const genesis = own.genesis ?? own.init
  return withDefaults({ ...defaultsOf(own.compat), ...own, genesis })
}

function isChosen(key: OptionKey, value: unknown): boolean {
  return value !== undefined && value !== false && value !== optionOf(key).default
}

/**
 * The defaults of the node that `compat` names. Defaults that a genesis file may override are chosen after the file is
 * read.
 */
function defaultsOf(compat: AllSettings['compat']): Some<AllSettings> {
  const { defaults } = profileOf(compat)
  const kept = Object.entries(defaults).filter(([key]) => !optionOf(key as OptionKey).fromGenesis)
  return Object.fromEntries(kept)
}

function readOption(source: OptionSource, key: OptionKey): unknown {
  const { type } = optionOf(key)
  const value = source.values[key]
  const name = nameIn(source, key)
  const read: unknown = within(name, () => type.read(value))
  if (read !== undefined) return read
  // of a list, the item that is wrong
  const wrong = [value].flat().find((each) => type.read([each]) === undefined) ?? value
  throw invalidParams(`${name}: expected ${type.expected}, got ${(type.show ?? printValue)(wrong)}`)
}

/** Groups of options that a chain at a path may have of its own. */
const OWN_GROUPS: readonly string[] = [...CHAIN_GROUPS, 'Fork']

/** They read or write files, whose paths a client must not choose. */
const FILES: readonly OptionKey[] = ['import', 'forkRecord', 'forkReplay']

/**
 * The settings of a chain with options of its own: the program's for all others. A genesis or a fork of its own replaces
 * the program's, an option what contradicts it there, and `compat` brings its defaults in place of those of the
 * program's `compat`: of values in general, as the program's settings do not say whose choice a value was.
 * @throws {DevchainError} `INVALID_PARAMS` for an unknown or invalid option, or one that a chain cannot have of its own
 */
export function ownSettings(base: DevchainSettings, options: object): DevchainSettings {
  const source = checkedSource({ kind: 'program', values: options })
  const keys = Object.keys(options) as OptionKey[]
  for (const key of keys) {
    if (OWN_GROUPS.includes(groupOf(key)) && !FILES.includes(key)) continue
    throw invalidParams(`option "${key}" cannot be one chain's own: it is set when devchain starts`)
  }
  const { genesis, predeploy } = source.values
  requireNoPath('genesis', typeof genesis === 'string')
  const predeploys = [predeploy ?? []].flat().map(String)
  requireNoPath('predeploy', !predeploys.every(isPredeployName))
  const resolved = resolveOptions([source])
  const own = Object.fromEntries(keys.map((key) => [key, resolved[key]])) as Some<AllSettings>
  const replaced =
    own.genesis === undefined && own.fork === undefined
      ? {}
      : { genesis: undefined, fork: undefined, forkRecord: undefined, forkReplay: undefined }
  const rest = new Map(Object.entries(base) as [OptionKey, unknown][])
  const reset = (key: OptionKey): unknown => rest.set(key, optionOf(key).default)
  for (const [one, other] of CONTRADICTIONS) {
    if (isChosen(one, own[one])) reset(other)
    if (isChosen(other, own[other])) reset(one)
  }
  if (own.compat !== undefined) {
    for (const [key, value] of Object.entries(defaultsOf(base.compat)) as [OptionKey, unknown][]) {
      if (rest.get(key) === value) reset(key)
    }
  }
  return {
    ...Object.fromEntries(rest),
    import: undefined,
    loadState: undefined,
    peer: [],
    ...replaced,
    ...(own.compat && defaultsOf(own.compat)),
    ...own,
  } as DevchainSettings
}

function requireNoPath(key: OptionKey, isPath: boolean): void {
  if (!isPath) return
  throw invalidParams(`option "${key}": expected its content; a chain at a path reads no files`)
}

export function readDevchainOptions(options: DevchainOptions): DevchainSettings {
  return resolveOptions([checkedSource({ kind: 'program', values: options })])
}
