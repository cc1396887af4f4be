// The tables of the pages, written from the declarations. `npm run docs` puts them in place; a test fails when they are stale.
import { SUBCOMMANDS, usageOf } from '../../src/cli/parse/subcommands.ts'
import type { MethodContext } from '../../src/methods/common/context.ts'
import { COMPAT_NODES, profileOf } from '../../src/methods/compat/profiles.ts'
import {
  type AllSettings,
  defaultTextOf,
  flagOf,
  OPTION_KEYS,
  type OptionKey,
  optionOf,
  type Some,
} from '../../src/options/derived.ts'
import { groupOf } from '../../src/options/table.ts'
import { HARDFORKS } from '../../src/protocol/forks.ts'
import type { Method } from '../../src/rpc/method.ts'

/** A vertical bar would end a cell. */
const cell = (text: string): string => text.replaceAll('|', '\\|')
const code = (text: string): string => `\`${cell(text)}\``

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

/** Every option with its default, a table for each group, in the order of `--help`. */
export function optionTables(): string {
  const byGroup = grouped(OPTION_KEYS, groupOf)
  return sections(byGroup, (keys) => table(['option', 'default', 'meaning'], keys.map(optionRow)))
}

function optionRow(key: OptionKey): readonly string[] {
  const { type, sentence } = optionOf(key)
  const { placeholder = '', alone } = type
  const value = placeholder && ` ${alone === undefined ? placeholder : `[${placeholder}]`}`
  return [code(flagOf(key) + value), cell(defaultTextOf(key)), cell(sentence)]
}

function grouped<K, V>(values: readonly V[], keyOf: (value: V) => K): ReadonlyMap<K, readonly V[]> {
  const groups = new Map<K, V[]>()
  for (const value of values) {
    const key = keyOf(value)
    groups.set(key, [...(groups.get(key) ?? []), value])
  }
  return groups
}

/** A heading for each key, with the text of what belongs to it. */
function sections<T>(groups: ReadonlyMap<string, T>, textOf: (group: T) => string): string {
  return [...groups].map(([title, group]) => `### ${title}\n\n${textOf(group)}`).join('\n\n')
}

/** The hardforks that `--hardfork` takes, oldest first. */
export function hardforkList(): string {
  return HARDFORKS.map(code).join(', ')
}

/** What each node's name changes of the defaults, a row for each option. */
export function profileTable(): string {
  // versions of one node have the same
  const nodes = grouped(COMPAT_NODES, (node): Some<AllSettings> => profileOf(node).defaults)
  const profiles = [...nodes.keys()]
  const keys = OPTION_KEYS.filter((key) => profiles.some((defaults) => defaults[key] !== undefined))
  const rows = keys.map((key) => [
    code(flagOf(key)),
    cell(defaultTextOf(key)),
    ...profiles.map((defaults) => defaultOfNode(key, defaults)),
  ])
  const heads = [...nodes.values()].map((names) => names.map(code).join(', '))
  return table(['option', 'without `--compat`', ...heads], rows)
}

/** A node's default as it may be written behind its flag; nothing where it is no other than usual. */
function defaultOfNode(key: OptionKey, defaults: Some<AllSettings>): string {
  return defaults[key] === undefined ? '' : optionOf(key).type.print(defaults[key])
}

/** Every subcommand with its own flags, a row each, in the order of `--help`. */
export function subcommandTable(): string {
  const rows = SUBCOMMANDS.map((subcommand) => {
    const flags = subcommand.flags.map(({ name, placeholder }) =>
      code(placeholder === undefined ? name : `${name} ${placeholder}`),
    )
    return [code(`devchain ${usageOf(subcommand)}`), cell(subcommand.sentence), flags.join('<br>')]
  })
  return table(['command', 'what it does', 'options'], rows)
}

/** Every supported method with its parameters, a table for each prefix. */
export function methodTables(methods: readonly Method<MethodContext>[]): string {
  const supported = methods
    .filter(({ unsupported }) => unsupported === undefined)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return sections(grouped(supported, prefixOf), (some) =>
    table(['method', 'parameters', 'what it does'], some.map(methodRow)),
  )
}

function methodRow({ name, aliases, params, summary }: Method<MethodContext>): readonly string[] {
  return [
    [name, ...aliases].map(code).join('<br>'),
    params.map((param) => (param.required ? param.name : `${param.name}?`)).join(', '),
    cell(summary),
  ]
}

const prefixOf = ({ name }: Method<MethodContext>): string => name.split(/[_.]/)[0] as string

/** Methods that are always refused, with the message of their error. */
export function unsupportedTable(methods: readonly Method<MethodContext>[]): string {
  const refused = methods.filter(({ unsupported }) => unsupported !== undefined)
  const byReason = grouped(refused, ({ unsupported }) => unsupported as string)
  const rows = [...byReason].map(([reason, some]) => [
    some.map(({ name }) => code(name)).join('<br>'),
    cell(reason),
  ])
  return table(['method', 'message'], rows)
}

type Tables = Readonly<Record<string, (methods: readonly Method<MethodContext>[]) => string>>

/** The pages with tables in them: each table by the name in its markers. */
export const TABLES: Readonly<Record<string, Tables>> = {
  'src/cli/README.md': {
    options: optionTables,
    hardforks: hardforkList,
    profiles: profileTable,
    commands: subcommandTable,
  },
  'src/methods/README.md': {
    methods: methodTables,
    unsupported: unsupportedTable,
  },
}

/** A page with the tables of today between their markers. Throws when a marker is missing. */
export function withTables(
  page: string,
  text: string,
  methods: readonly Method<MethodContext>[],
): string {
  return Object.entries(TABLES[page] ?? {}).reduce(
    (before, [name, table]) => withTable(before, name, table(methods)),
    text,
  )
}

/** A page with a table between its markers. Throws when a marker is missing. */
export function withTable(page: string, name: string, table: string): string {
  const [start, end] = [`<!-- ${name}: written by npm run docs -->`, `<!-- end of ${name} -->`]
  const [from, to] = [page.indexOf(start), page.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`the page has no ${start} … ${end}`)
  return `${page.slice(0, from + start.length)}\n\n${table}\n\n${page.slice(to)}`
}
