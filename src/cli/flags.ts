// Arguments as nearly everybody gives them, read without a library: it takes 4 ms to load, a tenth of a start.
import { flagOf, OPTION_KEYS, OPTIONS, type OptionKey } from '../options/table.ts'

/** What a command line gives, by option: text, a list of texts for those that add up, true for flags. */
export type GivenFlags = { readonly [Key in OptionKey]?: unknown }

/**
 * Reads arguments that are nothing but `--name value`, `--name=value` and `--name` of options that exist.
 * @returns undefined for anything else, which is not for this function to judge: help, mistakes, odd values
 */
export function plainFlags(argv: readonly string[]): GivenFlags | undefined {
  const values: Partial<Record<OptionKey, unknown>> = {}
  for (let i = 0; i < argv.length; i++) {
    const argument = argv[i] ?? ''
    const equals = argument.indexOf('=')
    const name = equals < 0 ? argument : argument.slice(0, equals)
    const key = OPTION_KEYS.find((candidate) => flagOf(candidate) === name)
    if (key === undefined) return undefined
    const { type } = OPTIONS[key]
    if (type.placeholder === undefined) {
      if (equals >= 0) return undefined
      values[key] = true
      continue
    }
    const value = equals < 0 ? argv[++i] : argument.slice(equals + 1)
    if (value === undefined || value === '' || value.startsWith('-')) return undefined
    const former = values[key] as readonly string[] | undefined
    values[key] = type.repeatable ? [...(former ?? []), value] : value
  }
  return values
}
