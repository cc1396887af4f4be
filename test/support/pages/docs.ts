// The tables of the pages, written from the declarations. `npm run docs` puts them in place; a test fails when they are stale.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { SUBCOMMANDS, usageOf } from '../../../src/cli/parse/subcommands.ts'
import type { MethodContext } from '../../../src/methods/common/context.ts'
import { COMPAT_NODES, type CompatNode, profileOf } from '../../../src/methods/compat/profiles.ts'
import {
  type AllSettings,
  defaultTextOf,
  flagOf,
  OPTION_KEYS,
  type OptionKey,
  optionOf,
  type Some,
} from '../../../src/options/derived.ts'
import type { Method } from '../../../src/rpc/method.ts'

/** A vertical bar would end a cell. */
const cell = (text: string): string => text.replaceAll('|', '\\|')
const code = (text: string): string => `\`${cell(text)}\``

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

/** Every option with its default, a row each, in the order of `--help`. */
export function optionTable(): string {
  const rows = OPTION_KEYS.map((key) => {
    const { type, sentence } = optionOf(key)
    const { placeholder = '', alone } = type
    const value = placeholder && ` ${alone === undefined ? placeholder : `[${placeholder}]`}`
    return [code(flagOf(key) + value), cell(defaultTextOf(key)), cell(sentence)]
  })
  return table(['option', 'default', 'meaning'], rows)
}

/** What each node's name changes of the defaults, a row for each option. */
export function profileTable(): string {
  const defaultsOf = (node: CompatNode): Some<AllSettings> => profileOf(node).defaults
  // versions of one node have the same
  const nodes = COMPAT_NODES.filter(
    (node, place) =>
      COMPAT_NODES.findIndex((each) => defaultsOf(each) === defaultsOf(node)) === place,
  )
  const profiles = nodes.map(defaultsOf)
  const keys = OPTION_KEYS.filter((key) => profiles.some((defaults) => defaults[key] !== undefined))
  const rows = keys.map((key) => [
    code(flagOf(key)),
    cell(defaultTextOf(key)),
    ...profiles.map((defaults) => defaultOfNode(key, defaults)),
  ])
  return table(['option', 'by itself', ...nodes.map((node) => code(`--compat ${node}`))], rows)
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

/** Every method with its parameters, a row each, by module. */
export function methodTable(methods: readonly Method<MethodContext>[]): string {
  const supported = methods.filter(({ unsupported }) => unsupported === undefined)
  const rows = supported
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, aliases, params, summary }) => [
      [name, ...aliases].map(code).join('<br>'),
      params.map((param) => (param.required ? param.name : `${param.name}?`)).join(', '),
      cell(summary),
    ])
  return table(['method', 'parameters', 'answer'], rows)
}

/** The methods that devchain is specified to have, by module. */
export const CATALOGUE: Readonly<Record<string, readonly string[]>> = JSON.parse(
  readFileSync(path.resolve(import.meta.dirname, '../../../fixtures/catalogue.json'), 'utf8'),
) as Record<string, string[]>

/** What waits until chains can be linked with each other: methods that have nothing to tell, and those not there yet. */
const WITHOUT_PEERS: readonly string[] = ['net_peerCount', 'net_peerList']
const WITH_PEERS: readonly string[] = CATALOGUE.sco ?? []

/** What a caller of a method of the catalogue gets. Throws for one that nobody has thought of. */
export function stateOf(name: string, methods: readonly Method<MethodContext>[]): string {
  const method = methods.find((each) => each.name === name)
  if (method?.unsupported !== undefined) return `error -32004: ${method.unsupported}`
  if (WITHOUT_PEERS.includes(name)) return 'answered; no peers before chains can be linked'
  if (method !== undefined) return 'answered'
  if (WITH_PEERS.includes(name)) return 'not yet: comes with peers'
  throw new Error(`${name} is in the catalogue and has no state`)
}

/** Every method of the catalogue by module, with what its caller gets. */
export function catalogueTable(methods: readonly Method<MethodContext>[]): string {
  const rows = Object.entries(CATALOGUE).flatMap(([module, names]) => {
    const byState = new Map<string, string[]>()
    for (const name of names) {
      const state = stateOf(name, methods)
      byState.set(state, [...(byState.get(state) ?? []), code(name)])
    }
    return [...byState].map(([state, some]) => [code(module), some.join(', '), cell(state)])
  })
  return table(['module', 'methods', 'state'], rows)
}

type Tables = Readonly<Record<string, (methods: readonly Method<MethodContext>[]) => string>>

/** The pages with tables in them: each table by the name in its markers. */
export const TABLES: Readonly<Record<string, Tables>> = {
  'src/cli/README.md': {
    options: optionTable,
    profiles: profileTable,
    commands: subcommandTable,
  },
  'src/methods/README.md': { methods: methodTable, catalogue: catalogueTable },
}

/** A page with the tables of today between their markers. Throws when a marker is missing. */
export function withTables(
  page: string,
  text: string,
  methods: readonly Method<MethodContext>[],
): string {
  return Object.entries(TABLES[page] ?? {}).reduce((before, [name, table]) => {
    const [start, end] = [`<!-- ${name}: written by npm run docs -->`, `<!-- end of ${name} -->`]
    const [from, to] = [before.indexOf(start), before.indexOf(end)]
    if (from < 0 || to < from) throw new Error(`${page} has no ${start} … ${end}`)
    return `${before.slice(0, from + start.length)}\n\n${table(methods)}\n\n${before.slice(to)}`
  }, text)
}
