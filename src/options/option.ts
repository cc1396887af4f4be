// The type of an option: its value type, sentence and default.
import { flag, type Type } from './values.ts'

/** Names derive from the key: `chainId` → `--chain-id`, `DEVCHAIN_CHAIN_ID`, config key `chainId`. */
interface BaseOption<T> {
  readonly type: Type<T>
  /** One sentence, without a full stop. */
  readonly sentence: string
}

export interface Option<T> extends BaseOption<T> {
  readonly default: T
}

export interface Optional<T> extends BaseOption<T> {
  /** What happens without it, in words, if anything. */
  readonly unset?: string
  readonly fromGenesis?: true
}

/** A genesis file may set it too, so its value is undefined until the file is read; then the default applies. */
export interface FromGenesis<T> extends BaseOption<T> {
  readonly default: Exclude<T, 'remote'>
  readonly fromGenesis: true
}

export function off(sentence: string): Option<boolean> {
  return { type: flag, sentence, default: false }
}

export type AnyOption = BaseOption<unknown> & {
  readonly default?: unknown
  readonly unset?: string
  readonly fromGenesis?: true
}
