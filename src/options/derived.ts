// What derives from the table of options: the types of settings, defaults, and names.
import type { AnyOption, FromGenesis, Option, Optional } from './option.ts'
import { type MakingTable, OPTIONS, type ProgramTable, type Table } from './table.ts'

export type OptionKey = keyof Table

export const OPTION_KEYS: readonly OptionKey[] = Object.keys(OPTIONS) as OptionKey[]

type Value<Entry> =
  Entry extends FromGenesis<infer T>
    ? T | undefined
    : Entry extends Option<infer T>
      ? T
      : Entry extends Optional<infer T>
        ? T | undefined
        : never

type ValuesOf<Some> = { readonly [Key in keyof Some]: Value<Some[Key]> }

/** What makes a chain: options, read and checked. */
export type ChainSettings = ValuesOf<MakingTable>

/** What says how a chain begins, and is read for that: the chain itself does not keep it. */
type Beginning = 'compat' | 'genesis' | 'import' | 'predeploy'

/** What a chain keeps of its options. */
export type ChainParameters = Omit<ChainSettings, Beginning | Remote> &
  Pick<DevchainSettings, 'filterTimeout'> & {
    readonly [Key in Remote]: Exclude<ChainSettings[Key], 'remote'>
  }

/** What a chain keeps, as it may be given. */
type GivenParameters = Omit<ChainParameters, Remote> & Pick<ChainSettings, Remote>

/** What a fork may take over from its network. */
type Remote = 'chainId' | 'baseFee'

/** The options of `createDevchain`: a chain, its server, its peers, and what is known of the project. */
export type DevchainSettings = ValuesOf<ProgramTable>

/** All options. */
export type AllSettings = ValuesOf<Table>

/** Some of these settings. */
export type Some<Settings> = { readonly [Key in keyof Settings]?: Settings[Key] | undefined }

/** An option whatever its type, for those who go through all. */
export function optionOf(key: OptionKey): AnyOption {
  return OPTIONS[key]
}

/** The default of an option, or what holds without it, in words: for help and tables. */
export function defaultTextOf(key: OptionKey): string {
  const { type, default: value, unset } = optionOf(key)
  return unset ?? (value === undefined ? 'none' : type.print(value))
}

/** All settings: those that are given, and defaults for the others. What a genesis file may say stays open. */
export function withDefaults(given: Some<AllSettings>): AllSettings {
  const settings = OPTION_KEYS.map((key) => {
    const { default: value, fromGenesis } = optionOf(key)
    return [key, given[key] ?? (fromGenesis ? undefined : value)]
  })
  return Object.fromEntries(settings) as AllSettings
}

/** What a chain keeps, with the same defaults. */
export function chainParameters(given: Some<GivenParameters>): ChainParameters {
  const { compat, genesis, import: blocks, predeploy, fork, ...parameters } = withDefaults(given)
  return { ...parameters, chainId: known(parameters.chainId), baseFee: known(parameters.baseFee) }
}

/** What is taken over is not known before the network is asked. */
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
