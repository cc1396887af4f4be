// Types of settings, defaults and names, derived from the table of options.
import type { AnyOption, FromGenesis, Option, Optional } from './option.ts'
import { groupOf, type MakingTable, OPTIONS, type ProgramTable, type Table } from './table.ts'

export type OptionKey = keyof Table

export const OPTION_KEYS: readonly OptionKey[] = Object.keys(OPTIONS) as OptionKey[]

type Value<Opt> =
  Opt extends FromGenesis<infer T>
    ? T | undefined
    : Opt extends Option<infer T>
      ? T
      : Opt extends Optional<infer T>
        ? T | undefined
        : never

type ValuesOf<Some> = { readonly [Key in keyof Some]: Value<Some[Key]> }

export type ChainSettings = ValuesOf<MakingTable>

/** Options read only to start a chain; the chain does not keep them. */
const BEGINNING = ['compat', 'genesis', 'import', 'predeploy'] as const

export type ChainParameters = Omit<ChainSettings, (typeof BEGINNING)[number] | Remote> &
  Pick<DevchainSettings, 'filterTimeout'> & {
    readonly [Key in Remote]: Exclude<ChainSettings[Key], 'remote'>
  }

/** Groups of options that a chain has of its own. */
export const CHAIN_GROUPS: readonly string[] = [
  'Chain',
  'Accounts',
  'Transactions',
  'Mining and time',
]

/** A chain keeps the option. */
export function isKept(key: OptionKey): boolean {
  return CHAIN_GROUPS.includes(groupOf(key)) && !BEGINNING.some((each) => each === key)
}

/** No paths or ports of the machine: chains on disk and packs have them. */
const PARAMETERS: ReadonlySet<string> = new Set(
  OPTION_KEYS.filter((key) => isKept(key) || key === 'filterTimeout'),
)

type GivenParameters = Omit<ChainParameters, Remote> & Pick<ChainSettings, Remote>

/** Options that a fork may take from its network. */
type Remote = 'chainId' | 'baseFee'

export type DevchainSettings = ValuesOf<ProgramTable>

export type AllSettings = ValuesOf<Table>

export type Some<Settings> = { readonly [Key in keyof Settings]?: Settings[Key] | undefined }

/** An option without its value type, for code that iterates over all. */
export function optionOf(key: OptionKey): AnyOption {
  return OPTIONS[key]
}

/** The default, or the option's `unset` text, for help and tables. */
export function defaultTextOf(key: OptionKey): string {
  const { type, default: value, unset } = optionOf(key)
  return unset ?? (value === undefined ? 'none' : type.print(value))
}

/** Fills in defaults, except for what a genesis file may say. */
export function withDefaults(given: Some<AllSettings>): AllSettings {
  const settings = OPTION_KEYS.map((key) => {
    const { default: value, fromGenesis } = optionOf(key)
    return [key, given[key] ?? (fromGenesis ? undefined : value)]
  })
  return Object.fromEntries(settings) as AllSettings
}

export function chainParameters(given: Some<GivenParameters>): ChainParameters {
  const kept = Object.entries(withDefaults(given)).filter(([key]) => PARAMETERS.has(key))
  const parameters = Object.fromEntries(kept) as unknown as ChainSettings &
    Pick<DevchainSettings, 'filterTimeout'>
  return { ...parameters, chainId: known(parameters.chainId), baseFee: known(parameters.baseFee) }
}

/** `remote` is unknown until the network is asked. */
function known<T>(value: T | 'remote' | undefined): T | undefined {
  return value === 'remote' ? undefined : value
}

/** `--chain-id` of `chainId`. */
export function flagOf(key: OptionKey): string {
  return `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

/** `DEVCHAIN_CHAIN_ID` of `chainId`. */
export function environmentNameOf(key: OptionKey): string {
  return `DEVCHAIN_${flagOf(key).slice(2).toUpperCase().replaceAll('-', '_')}`
}
