// Cache on disk: an append-only file for each block, and one for each code, named by its hash.
import { appendFileSync, readFileSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { crc32 } from 'node:zlib'
import { keccakHash } from '../../core/crypto/crypto.ts'
import { attempt } from '../../core/errors.ts'
import { bytesFromHex, isBytes } from '../../core/hex.ts'
import { getOrMake, LruCache } from '../../core/lrucache.ts'
import { makeFolder, replaceFile } from '../../loader/cachefolder.ts'
import type { Json } from '../../rpc/schema.ts'
import { type ItemKey, type Store, textOfKey } from './store.ts'

/** Blocks in memory, at least unless their items are large: at most twice as many. */
const KEPT_OPEN = 32

/** Bytes of the items of one block, or of those without a block; a larger file is begun anew. */
const MOST_BYTES = 256_000_000

/** Code has files of its own, as it is the same in all blocks and networks. */
const CODE = 'code'

interface Items {
  readonly byName: Map<string, Json>
  readonly bytes: number
}

interface DiskOptions {
  /** Warns that a file grew too large and was begun anew, or that the folder is not writable. */
  readonly onNotice?: (text: string) => void
  readonly mostBytes?: number
}

/**
 * A store that many processes may use at once. Each record is a line with a checksum, written by one call; torn lines
 * are skipped. If the folder is not writable, devchain warns once and runs without it.
 */
export function diskStore(folder: string, options: DiskOptions = {}): Store {
  const { onNotice = () => undefined, mostBytes = MOST_BYTES } = options
  // two generations, so together about what two files may have
  const weights = { most: mostBytes / 2, of: ({ bytes }: Items): number => bytes }
  const open = new LruCache<string, Items>(KEPT_OPEN, weights)
  const waiting = new Map<string, string[]>()
  let isWarned = false
  const writing = (work: () => void): void => {
    try {
      work()
    } catch (error) {
      // disk full or not writable: items stay in memory
      if (isWarned) return
      isWarned = true
      onNotice(`cannot write the fork cache in ${folder}: ${(error as Error).message}`)
    }
  }
  const beginAnew = (file: string): void => {
    writing(() => rmSync(file, { force: true }))
    onNotice(`cleared the cache file ${file}: it was larger than ${mostBytes} bytes`)
  }
  const write = (): void => {
    for (const [of, records] of waiting) writing(() => append(fileOf(folder, of), records))
    waiting.clear()
  }
  const itemsOf = (of: string): Items => {
    const known = open.get(of)
    if (known !== undefined) return known
    // what waits may be of the same block
    write()
    const file = fileOf(folder, of)
    // other processes append to it too
    if ((attempt(() => statSync(file).size) ?? 0) > mostBytes) beginAnew(file)
    const items = readItems(file)
    open.set(of, items)
    return items
  }
  const put = (of: string, name: string, value: Json, record: string): void => {
    let { byName, bytes } = itemsOf(of)
    const size = record.length + 1
    if (bytes + size > mostBytes) {
      byName = new Map()
      bytes = 0
      waiting.delete(of)
      beginAnew(fileOf(folder, of))
    }
    byName.set(name, value)
    open.set(of, { byName, bytes: bytes + size })
    if (waiting.size === 0) setImmediate(write)
    getOrMake(waiting, of, () => []).push(record)
  }
  return {
    get: (key) =>
      key.of === CODE ? readCode(folder, key) : itemsOf(key.of).byName.get(nameOf(key)),
    put: (key, value) => {
      if (key.of === CODE) writing(() => writeCode(folder, key, value))
      else {
        const { of, method, params } = key
        put(of, nameOf(key), value, recordOf(JSON.stringify([method, params, value])))
      }
    },
    flush: write,
  }
}

function fileOf(folder: string, of: string): string {
  return path.join(folder, `${of.replace(/[^\w/]/g, '_')}.items`)
}

function recordOf(json: string): string {
  return `${(crc32(json) >>> 0).toString(16).padStart(8, '0')} ${json}`
}

/** A record begins with a newline, so that a torn one before it does no harm. */
function append(file: string, records: readonly string[]): void {
  makeFolder(path.dirname(file))
  appendFileSync(file, records.map((record) => `\n${record}`).join(''))
}

function readItems(file: string): Items {
  const byName = new Map<string, Json>()
  const text = textOf(file)
  for (const line of text.split('\n')) {
    const json = line.slice(9)
    if (json === '' || recordOf(json) !== line) continue
    const read = JSON.parse(json) as unknown
    if (!isItem(read)) continue
    const [method, params, value] = read
    byName.set(nameOf({ method, params }), value)
  }
  return { byName, bytes: text.length }
}

/** False for what another version may have written. */
function isItem(value: unknown): value is [string, Json[], Json] {
  return Array.isArray(value) && typeof value[0] === 'string' && Array.isArray(value[1])
}

function nameOf({ method, params }: Pick<ItemKey, 'method' | 'params'>): string {
  return textOfKey({ of: '', method, params })
}

function textOf(file: string): string {
  return attempt(() => readFileSync(file, 'utf8')) ?? ''
}

function codeFile(folder: string, { params }: ItemKey): string {
  const hash = String(params[0]).replace(/[^\w]/g, '')
  return path.join(folder, CODE, hash.slice(2, 4), `${hash}.hex`)
}

/** Ignores code whose hash differs. */
function readCode(folder: string, key: ItemKey): Json | undefined {
  const text = textOf(codeFile(folder, key))
  if (text === '' || !isBytes(text)) return undefined
  return keccakHash(bytesFromHex(text)) === key.params[0] ? text : undefined
}

function writeCode(folder: string, key: ItemKey, value: Json): void {
  if (readCode(folder, key) !== undefined) return
  const file = codeFile(folder, key)
  makeFolder(path.dirname(file))
  replaceFile(file, String(value), 0o666)
}
