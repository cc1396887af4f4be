// What an option is: its group, its type, its default.
import type { Type } from './values.ts'

export const GROUPS = [
  'Chain',
  'Fork',
  'Accounts',
  'Transactions',
  'Mining and time',
  'Server',
  'Peers',
  'Project',
  'Terminal',
  'Process',
] as const

export type Group = (typeof GROUPS)[number]

/** One option. Names derive from the key: `chainId` → `--chain-id`, `DEVCHAIN_CHAIN_ID`, config key `chainId`. */
interface Entry<T> {
  readonly type: Type<T>
  readonly group: Group
  /** One sentence, without a full stop. */
  readonly sentence: string
}

/** Has a value always. */
export interface Option<T> extends Entry<T> {
  readonly default: T
}

/** Has no default: its value may be undefined. */
export interface Optional<T> extends Entry<T> {
  /** What holds without it, in words. */
  readonly unset: string
  readonly fromGenesis?: true
}

/** A genesis file may say it as well. The default comes after the file: its value is undefined until that is read. */
export interface FromGenesis<T> extends Entry<T> {
  readonly default: Exclude<T, 'remote'>
  readonly fromGenesis: true
}

/** An option whatever its kind. */
export type AnyOption = Entry<unknown> & {
  readonly default?: unknown
  readonly unset?: string
  readonly fromGenesis?: true
}
