// Scripts of requests and replies, `fixtures/rpc/<method>/<case>.io`: read, run against a socket, compared, rewritten.
//
//   // a comment; `// options: {…}` gives createDevchain options, `// transport: ws` talks WebSocket
//   >> {"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}
//   << {"jsonrpc":"2.0","id":1,"result":"0x21"}
//
// A text `<name>` of a reply stands for whatever comes first in its place, and for the same later on, in requests
// too; `<*>` stands for anything. Over WebSocket `<<` lines before the reply are notifications.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'

export type Transport = 'http' | 'ws'

/** A request and the messages that answer it, as text. */
export interface Exchange {
  readonly request: string
  readonly replies: readonly string[]
}

export interface Script {
  readonly file: string
  /** The method that it is about: the name of its folder. */
  readonly method: string
  readonly options: Readonly<Record<string, unknown>>
  readonly transport: Transport
  readonly lines: readonly string[]
}

/** Sends one request text; gives the messages up to and including the reply to it. */
export type Send = (request: string) => Promise<readonly string[]>

/** What `<name>`s have come to stand for. */
type Bindings = Map<string, unknown>

export const SCRIPTS: string = path.resolve(import.meta.dirname, '../../../fixtures/rpc')

/** All scripts, in order of method and name. */
export function readScripts(): readonly Script[] {
  return readdirSync(SCRIPTS, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
    .flatMap((method) => {
      const folder = path.join(SCRIPTS, method)
      const names = readdirSync(folder).filter((name) => name.endsWith('.io'))
      return names.sort().map((name) => readScript(method, path.join(folder, name)))
    })
}

function readScript(method: string, file: string): Script {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  const directive = (name: string): string | undefined =>
    lines.find((line) => line.startsWith(`// ${name}:`))?.slice(name.length + 4)
  const transport = directive('transport')?.trim() ?? 'http'
  if (transport !== 'http' && transport !== 'ws') throw new Error(`${file}: transport ${transport}`)
  const options = JSON.parse(directive('options') ?? '{}') as Record<string, unknown>
  return { file, method, options, transport, lines }
}

/** The exchanges of a script. A line of no known form is an error, so that no typo hides a check. */
export function exchangesOf({ file, lines }: Script): readonly Exchange[] {
  const exchanges: { request: string; replies: string[] }[] = []
  for (const line of lines) {
    if (line === '' || line.startsWith('//')) continue
    if (line.startsWith('>> ')) exchanges.push({ request: line.slice(3), replies: [] })
    else if (line.startsWith('<< ')) exchanges.at(-1)?.replies.push(line.slice(3))
    else throw new Error(`${file}: expected //, >> or <<, got ${line}`)
  }
  return exchanges
}

/** What a run showed: the first reply that was not the expected one, and all that came. */
export interface Run {
  readonly mismatch: { readonly expected: unknown; readonly actual: unknown } | undefined
  /** Requests as sent, with the messages they were answered by. */
  readonly exchanges: readonly Exchange[]
  /** The script as it would be with these replies. */
  readonly lines: readonly string[]
}

/** Sends the requests one after another, and compares. Goes on after a mismatch, so that all replies are known. */
export async function runScript(script: Script, send: Send): Promise<Run> {
  const bindings: Bindings = new Map()
  const sent: Exchange[] = []
  const answers: (readonly string[])[] = []
  let mismatch: Run['mismatch']
  for (const { request, replies } of exchangesOf(script)) {
    const text = request.replaceAll(/"<(\w+)>"/g, (whole, name: string) =>
      bindings.has(name) ? JSON.stringify(bindings.get(name)) : whole,
    )
    const actual = await send(text)
    sent.push({ request: text, replies: actual })
    const expected = replies.map((reply) => JSON.parse(reply) as unknown)
    const parsed = actual.map((reply) => JSON.parse(reply) as unknown)
    const fits = fitsPattern(expected, parsed, bindings)
    if (!fits) mismatch ??= { expected, actual: parsed }
    answers.push(fits ? replies : actual.map((reply) => withNames(reply, bindings)))
  }
  return { mismatch, exchanges: sent, lines: linesWith(script.lines, answers) }
}

function fitsPattern(expected: unknown, actual: unknown, bindings: Bindings): boolean {
  if (expected === '<*>') return actual !== undefined
  const name = typeof expected === 'string' ? /^<(\w+)>$/.exec(expected)?.[1] : undefined
  if (name !== undefined && !bindings.has(name)) bindings.set(name, actual)
  if (name !== undefined) return isDeepStrictEqual(bindings.get(name), actual)
  if (Array.isArray(expected) && Array.isArray(actual)) {
    return (
      expected.length === actual.length &&
      expected.every((each, i) => fitsPattern(each, actual[i], bindings))
    )
  }
  if (!isObject(expected) || !isObject(actual)) return isDeepStrictEqual(expected, actual)
  const keys = new Set([...Object.keys(expected), ...Object.keys(actual)])
  return [...keys].every((key) => fitsPattern(expected[key], actual[key], bindings))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A recorded reply in which known values have their names again. */
function withNames(reply: string, bindings: Bindings): string {
  let text = reply
  for (const [name, value] of bindings) {
    text = text.replaceAll(JSON.stringify(value), `"<${name}>"`)
  }
  return text
}

function linesWith(
  lines: readonly string[],
  answers: readonly (readonly string[])[],
): readonly string[] {
  let next = 0
  return lines
    .filter((line) => !line.startsWith('<< '))
    .flatMap((line) => {
      if (!line.startsWith('>> ')) return [line]
      const replies = answers[next] ?? []
      next += 1
      return [line, ...replies.map((reply) => `<< ${reply}`)]
    })
}
