// The README's tables, written from the declarations. `npm run docs` puts them in place; a test fails when they are stale.
import type { MethodContext } from '../../src/methods/context.ts'
import { flagOf, GROUPS, OPTION_KEYS, OPTIONS } from '../../src/options.ts'
import type { Method } from '../../src/rpc/method.ts'

/** A vertical bar would end a cell. */
const cell = (text: string): string => text.replaceAll('|', '\\|')
const code = (text: string): string => `\`${cell(text)}\``

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

/** Every option with its default, a row each, in the order of `--help`. */
export function optionTable(): string {
  const rows = GROUPS.flatMap((group) =>
    OPTION_KEYS.filter((key) => OPTIONS[key].group === group).map((key) => {
      const { type, sentence, fallbackText } = OPTIONS[key]
      const value = type.placeholder === undefined ? '' : ` ${type.placeholder}`
      return [code(flagOf(key) + value), cell(fallbackText), cell(sentence)]
    }),
  )
  return table(['option', 'default', 'meaning'], rows)
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

/** The methods that are answered with an error on purpose, by reason. */
export function unsupportedTable(methods: readonly Method<MethodContext>[]): string {
  const byReason = new Map<string, string[]>()
  for (const { name, unsupported } of methods) {
    if (unsupported === undefined) continue
    byReason.set(unsupported, [...(byReason.get(unsupported) ?? []), code(name)])
  }
  const rows = [...byReason].map(([reason, names]) => [names.join(', '), cell(reason)])
  return table(['not supported', 'reason'], rows)
}

/** The README with the tables of today between their markers. Throws when a marker is missing. */
export function withTables(readme: string, methods: readonly Method<MethodContext>[]): string {
  const tables = {
    options: optionTable(),
    methods: methodTable(methods),
    unsupported: unsupportedTable(methods),
  }
  return Object.entries(tables).reduce((text, [name, content]) => {
    const [start, end] = [`<!-- ${name}: written by npm run docs -->`, `<!-- end of ${name} -->`]
    const [from, to] = [text.indexOf(start), text.indexOf(end)]
    if (from < 0 || to < from) throw new Error(`README.md has no ${start} … ${end}`)
    return `${text.slice(0, from + start.length)}\n\n${content}\n\n${text.slice(to)}`
  }, readme)
}
