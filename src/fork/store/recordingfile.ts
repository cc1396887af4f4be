// A recording: all that a fork fetched, as a sorted text file with one item a line, fit for git.
import { readFileSync } from 'node:fs'
import { type DevchainError, invalidParams } from '../../core/errors.ts'
import { oneLine } from '../../core/format.ts'
import { jsonIn } from '../../core/objects.ts'
import type { Json } from '../../rpc/schema.ts'
import { type ItemKey, type Store, textOfKey } from './store.ts'

/** The first line: the network and the forked block. */
export interface RecordingHead {
  readonly chainId: string
  readonly block: Json
  /** The hardfork that the network names; null: none. */
  readonly hardfork: string | null
  /** Replayed transactions of the next block. */
  readonly prefix?: Prefix
  /** Present if accounts and slots were fetched with proofs. */
  readonly proofs?: true
}

export interface Prefix {
  readonly block: Json
  readonly index: number
}

/** Of the block whose beginning is replayed. */
export function transactionsIn(prefix: Prefix | undefined): readonly Json[] {
  const { transactions = [] } = (prefix?.block ?? {}) as { transactions?: readonly Json[] }
  return transactions
}

export type Lines = Map<string, string>

export interface ForkRecording {
  readonly head: RecordingHead
  readonly lines: Lines
}

const FORMAT = 'devchain fork 1'

export function lineOf({ of, method, params }: ItemKey, value: Json): string {
  return JSON.stringify([of, method, params, value])
}

export function textOfRecording({ head, lines }: ForkRecording): string {
  const sorted = [...lines].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, line]) => line)
  return [JSON.stringify([FORMAT, head]), ...sorted, ''].join('\n')
}

/** @throws {DevchainError} `INVALID_PARAMS` for a missing or invalid file, with the line */
export function readRecording(file: string): ForkRecording {
  const text = textIn(file)
  if (text === undefined) throw unreadable(file, 'there is no such file')
  return recordingIn(text, file)
}

export function storeOf({ lines }: ForkRecording): Store {
  const get = (key: ItemKey): Json | undefined => {
    const line = lines.get(textOfKey(key))
    return line === undefined ? undefined : (JSON.parse(line) as Item)[3]
  }
  return { get, put: () => undefined, flush: () => undefined }
}

export function textIn(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw unreadable(file, message)
  }
}

/**
 * Accepts any order and duplicates, as git merges leave them.
 * @throws {DevchainError} `INVALID_PARAMS` naming the first line that is invalid or contradicts another
 */
export function recordingIn(text: string, file: string): ForkRecording {
  const [first = '', ...rest] = text.replace(/^\uFEFF/, '').split('\n')
  requireNoMarker(first, file, 1)
  const head = headIn(first, file)
  const lines: Lines = new Map()
  const recording = { head, lines }
  for (const [index, line] of rest.entries()) {
    if (line.trim() !== '') addLine(recording, line.trim(), file, index + 2)
  }
  return recording
}

function addLine({ head, lines }: ForkRecording, line: string, file: string, number: number): void {
  requireNoMarker(line, file, number)
  const item = jsonIn(line)
  if (isHeadLine(item)) {
    if (differenceOf(item[1], head) === undefined) return
    const message = `${file}: line ${number} begins a recording of another fork: the two cannot be merged; record again`
    throw invalidParams(message)
  }
  if (!isItem(item)) throw invalidParams(`${file}: line ${number} is no item of a recorded fork`)
  addItem(lines, item, line, `${file}: line ${number} contradicts a line before`)
}

/** Characters of a value in a message. */
const MOST_SHOWN = 100

/** @throws {DevchainError} `INVALID_PARAMS` with `problem` if the item has another value already */
function addItem(lines: Lines, item: Item, line: string, problem: string): void {
  const [of, method, params, value] = item
  const name = textOfKey({ of, method, params })
  const there = lines.get(name)
  lines.set(name, line)
  if (there === undefined || there === line) return
  const [one, other] = [(JSON.parse(there) as Item)[3], value].map((each) => JSON.stringify(each))
  if (one === other) return
  const [first, second] = [oneLine(one!, MOST_SHOWN), oneLine(other!, MOST_SHOWN)]
  const words = `${method} ${JSON.stringify(params)} of ${of} is ${first} and ${second}`
  throw invalidParams(`${problem}: ${words}`)
}

export function addRecording(into: ForkRecording, from: ForkRecording, problem: string): void {
  for (const line of from.lines.values()) {
    addItem(into.lines, JSON.parse(line) as Item, line, problem)
  }
}

/** Why two recordings cannot merge: other forks, or only one has proofs. Undefined: they can. */
export function differenceOf(
  one: RecordingHead,
  other: RecordingHead,
): 'fork' | 'proofs' | undefined {
  if (placeOf(one) !== placeOf(other)) return 'fork'
  return one.proofs === other.proofs ? undefined : 'proofs'
}

function placeOf({ chainId, block, prefix }: RecordingHead): string {
  const { hash = null } = (block ?? {}) as { readonly hash?: Json }
  const { hash: next = null } = (prefix?.block ?? {}) as { readonly hash?: Json }
  return JSON.stringify([chainId, hash, next, prefix?.index ?? null])
}

const CONFLICT_MARKER = /^(<{7}|\|{7}|={7}|>{7})( |\r?$)/

function requireNoMarker(line: string, file: string, number: number): void {
  if (!CONFLICT_MARKER.test(line)) return
  const message = `${file}: line ${number} is a conflict marker of git: delete the markers and keep the lines of both sides; with merge=union in .gitattributes git does so itself`
  throw invalidParams(message)
}

type Item = readonly [of: string, method: string, params: readonly Json[], value: Json]

function isItem(read: unknown): read is Item {
  if (!Array.isArray(read) || read.length !== 4) return false
  const [of, method, params] = read as readonly unknown[]
  return typeof of === 'string' && typeof method === 'string' && Array.isArray(params)
}

function headIn(line: string, file: string): RecordingHead {
  const read = jsonIn(line)
  if (isHeadLine(read)) return read[1]
  const isOther = !Array.isArray(read) || read[0] !== FORMAT
  const message = isOther
    ? `${file} is no recorded fork: expected a first line that begins with ["${FORMAT}"`
    : `${file}: line 1 names no chain and block of a fork`
  throw invalidParams(message)
}

function isHeadLine(read: unknown): read is [string, RecordingHead] {
  if (!Array.isArray(read) || read[0] !== FORMAT) return false
  const { chainId, block } = (read[1] ?? {}) as Partial<RecordingHead>
  const { hash } = (block ?? {}) as { readonly hash?: unknown }
  return /^\d+$/.test(String(chainId)) && typeof hash === 'string'
}

function unreadable(file: string, why: string): DevchainError {
  return invalidParams(`cannot read the recorded fork ${file}: ${why}`)
}
