// A cassette: all that was fetched for a fork as one text file, a line an item, sorted, fit for a repository.
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { DevchainError } from '../../core/errors.ts'
import type { Json } from '../../rpc/schema.ts'
import { whileLocked } from './lock.ts'
import { type ItemKey, type Store, textOfKey } from './store.ts'

/** What the first line tells: which network, and which of its blocks was forked. */
export interface CassetteHead {
  readonly chainId: string
  /** The block, as the network answered it. */
  readonly block: Json
  /** The hardfork that the network itself named; null where it named none. */
  readonly hardfork: string | null
  /** What of the next block is run on it: the transactions before that of an index. */
  readonly prefix?: Prefix
}

/** The beginning of a block. */
export interface Prefix {
  /** With its transactions in full. */
  readonly block: Json
  readonly index: number
}

/** Says what the file is, and of which form. */
const FORMAT = 'devchain fork 1'

/** Milliseconds after which what was fetched is on the disk, should the process be killed. */
const SOON_MS = 300

/**
 * Records what is fetched, and writes it to a file. What the file has of the same fork stays: several runs fill one file, also
 * at the same time.
 * @param onNotice told of a file that is begun anew or that cannot be written any more: a sentence
 * @throws {DevchainError} `INVALID_PARAMS` for a file that cannot be written, or that is something else
 */
export function recordTo(
  file: string,
  head: CassetteHead,
  onNotice: (text: string) => void,
): Store {
  const lines: Lines = new Map()
  let timer: NodeJS.Timeout | undefined
  let isWritten = false
  let written: string | undefined
  let told: string | undefined
  const write = (): void => {
    exclusively(file, () => {
      const there = readText(file)
      if (there !== written) addLines(there ?? '', { file, head, onNotice }, lines)
      written = textOf(head, lines)
      if (there !== written) replace(file, written)
    })
    isWritten = true
  }
  const writeLater = (): void => {
    clearTimeout(timer)
    timer = undefined
    try {
      write()
    } catch (error) {
      const { message } = error as Error
      if (message !== told) onNotice(`what is fetched is not recorded: ${message}`)
      told = message
    }
  }
  // what cannot be recorded is told before anything is done
  write()
  return {
    get: () => undefined,
    put: (key, value) => {
      const { of, method, params } = key
      lines.set(textOfKey(key), JSON.stringify([of, method, params, value]))
      isWritten = false
      timer ??= setTimeout(writeLater, SOON_MS).unref()
    },
    flush: async () => {
      if (!isWritten) writeLater()
    },
  }
}

/** @throws {DevchainError} `INVALID_PARAMS` for a file that cannot be written */
function exclusively(file: string, work: () => void): void {
  try {
    if (statSync(file, { throwIfNoEntry: false })?.isFile() === false)
      throw new Error('it is no file')
    mkdirSync(path.dirname(path.resolve(file)), { recursive: true })
    whileLocked(file, work)
  } catch (error) {
    if (error instanceof DevchainError) throw error
    const message = `cannot write the recorded fork ${file}: ${(error as Error).message}`
    throw new DevchainError('INVALID_PARAMS', message)
  }
}

/** Items as they are written, by their key. */
type Lines = Map<string, string>

function textOf(head: CassetteHead, lines: Lines): string {
  const sorted = [...lines].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, line]) => line)
  return [JSON.stringify([FORMAT, head]), ...sorted, ''].join('\n')
}

/** What a recording goes into. */
interface Target {
  readonly file: string
  readonly head: CassetteHead
  readonly onNotice: (text: string) => void
}

/** Adds what a file has of the same fork. */
function addLines(text: string, { file, head, onNotice }: Target, lines: Lines): void {
  if (text === '') return
  const [first = '', ...rest] = text.split('\n')
  if (identityOf(headIn(first, file)) !== identityOf(head)) {
    onNotice(`${file} was recorded of another block, and is begun anew`)
    return
  }
  for (const [line, { key }] of itemsIn(rest, file)) {
    const name = textOfKey(key)
    if (!lines.has(name)) lines.set(name, line)
  }
}

/** Two recordings of which this is the same go together. */
function identityOf({ chainId, block, prefix }: CassetteHead): string {
  const { hash = null } = (block ?? {}) as { readonly hash?: Json }
  const { hash: next = null } = (prefix?.block ?? {}) as { readonly hash?: Json }
  return JSON.stringify([chainId, hash, next, prefix?.index ?? null])
}

function replace(file: string, text: string): void {
  const fresh = `${file}.${process.pid}.new`
  try {
    writeFileSync(fresh, text)
    renameSync(fresh, file)
  } finally {
    rmSync(fresh, { force: true })
  }
}

/** A cassette that was read. */
export interface Cassette {
  readonly head: CassetteHead
  readonly store: Store
}

/**
 * Reads a cassette.
 * @throws {DevchainError} `INVALID_PARAMS` for a file that is not there, or is none, with the line
 */
export function readCassette(file: string): Cassette {
  const text = readText(file)
  if (text === undefined) throw unreadable(file, 'there is no such file')
  const [first = '', ...rest] = text.split('\n')
  const head = headIn(first, file)
  const items = new Map<string, Json>()
  for (const [, { key, value }] of itemsIn(rest, file)) items.set(textOfKey(key), value)
  const get = (key: ItemKey): Json | undefined => items.get(textOfKey(key))
  return { head, store: { get, put: () => undefined, flush: async () => undefined } }
}

/** @returns undefined where there is no such file */
function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw unreadable(file, message)
  }
}

interface Item {
  readonly key: ItemKey
  readonly value: Json
}

/**
 * The items of the lines after the first.
 * @throws {DevchainError} `INVALID_PARAMS` naming the first line that is none
 */
function* itemsIn(lines: readonly string[], file: string): Iterable<readonly [string, Item]> {
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue
    const item = itemIn(parsed(line))
    if (item === undefined) throw noLine(file, index + 2)
    yield [line, item]
  }
}

function itemIn(read: unknown): Item | undefined {
  if (!Array.isArray(read) || read.length !== 4) return undefined
  const [of, method, params, value] = read as [unknown, unknown, unknown, Json]
  if (typeof of !== 'string' || typeof method !== 'string' || !Array.isArray(params)) {
    return undefined
  }
  return { key: { of, method, params: params as Json[] }, value }
}

function headIn(line: string, file: string): CassetteHead {
  const read = parsed(line)
  const [format, head] = (Array.isArray(read) ? read : []) as [unknown, CassetteHead | null]
  if (format !== FORMAT) {
    const message = `${file} is no recorded fork: expected a first line that begins with ["${FORMAT}"`
    throw new DevchainError('INVALID_PARAMS', message)
  }
  if (isHead(head)) return head
  throw new DevchainError('INVALID_PARAMS', `${file}: line 1 names no chain and block of a fork`)
}

function isHead(value: CassetteHead | null | undefined): value is CassetteHead {
  const { chainId, block } = value ?? {}
  const { hash } = (block ?? {}) as { readonly hash?: unknown }
  return /^\d+$/.test(String(chainId)) && typeof hash === 'string'
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

function noLine(file: string, number: number): DevchainError {
  const message = `${file}: line ${number} is no item of a recorded fork`
  return new DevchainError('INVALID_PARAMS', message)
}

function unreadable(file: string, why: string): DevchainError {
  return new DevchainError('INVALID_PARAMS', `cannot read the recorded fork ${file}: ${why}`)
}
