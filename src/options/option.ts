// What an option is: its type, its sentence, its default.
import { flag, type Type } from './values.ts'

/** One option. Names derive from the key: `chainId` → `--chain-id`, `DEVCHAIN_CHAIN_ID`, config key `chainId`. */
interface Entry<T> {
  readonly type: Type<T>
  /** One sentence, without a full stop. */
  readonly sentence: string
}

/** Has a value always. */
export interface Option<T> extends Entry<T> {
  readonly default: T
}

/** Has no default: its value may be undefined. */
export interface Optional<T> extends Entry<T> {
  /** What holds without it, in words; none when left out. */
  readonly unset?: string
  readonly fromGenesis?: true
}

/** A genesis file may say it as well. The default comes after the file: its value is undefined until that is read. */
export interface FromGenesis<T> extends Entry<T> {
  readonly default: Exclude<T, 'remote'>
  readonly fromGenesis: true
}

/** What is off unless it is asked for. */
export function off(sentence: string): Option<boolean> {
  return { type: flag, sentence, default: false }
}

/** An option whatever its kind. */
export type AnyOption = Entry<unknown> & {
  readonly default?: unknown
  readonly unset?: string
  readonly fromGenesis?: true
}
