// A cassette: all that was fetched for a fork as one text file, a line an item, sorted, fit for a repository.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { DevchainError } from '../../core/errors.ts'
import type { Json } from '../../rpc/schema.ts'
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

/** Records what is fetched, and writes it to a file. */
export function recordTo(file: string, headOf: () => CassetteHead | undefined): Store {
  const lines = new Map<string, string>()
  let timer: NodeJS.Timeout | undefined
  const write = (): void => {
    clearTimeout(timer)
    timer = undefined
    const head = headOf()
    if (head === undefined) return
    const sorted = [...lines].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, line]) => line)
    const text = [JSON.stringify([FORMAT, head]), ...sorted, ''].join('\n')
    mkdirSync(path.dirname(path.resolve(file)), { recursive: true })
    const fresh = `${file}.${process.pid}.new`
    writeFileSync(fresh, text)
    renameSync(fresh, file)
  }
  return {
    get: () => undefined,
    put: (key, value) => {
      const { of, method, params } = key
      lines.set(textOfKey(key), JSON.stringify([of, method, params, value]))
      timer ??= setTimeout(write, SOON_MS).unref()
    },
    flush: async () => write(),
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
  const [first, ...rest] = textOf(file).split('\n')
  const head = headIn(first ?? '', file)
  const items = new Map<string, Json>()
  rest.forEach((line, index) => {
    if (line.trim() === '') return
    const item = parsed(line)
    if (!Array.isArray(item) || item.length !== 4) throw noLine(file, index + 2)
    const [of, method, params, value] = item as [string, string, Json[], Json]
    items.set(textOfKey({ of, method, params }), value)
  })
  const get = (key: ItemKey): Json | undefined => items.get(textOfKey(key))
  return { head, store: { get, put: () => undefined, flush: async () => undefined } }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const why = code === 'ENOENT' ? 'there is no such file' : message
    throw new DevchainError('INVALID_PARAMS', `cannot read the recorded fork ${file}: ${why}`)
  }
}

function headIn(line: string, file: string): CassetteHead {
  const [format, head] = (parsed(line) ?? []) as [unknown, CassetteHead | undefined]
  if (format === FORMAT && typeof head?.chainId === 'string') return head
  const message = `${file} is no recorded fork: expected a first line that begins with ["${FORMAT}"`
  throw new DevchainError('INVALID_PARAMS', message)
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
