// The cache folder: what was fetched of each block in a file that is only ever appended to, and code by its hash.
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { crc32 } from 'node:zlib'
import { keccakHash } from '../../core/crypto/crypto.ts'
import { bytesFromHex, isBytes } from '../../core/hex.ts'
import type { Json } from '../../rpc/schema.ts'
import { type ItemKey, type Store, textOfKey } from './store.ts'

/** Blocks whose items are held in memory. */
const MOST_OPEN = 64

/** Codes have files of their own: they are the same in all blocks and networks. */
const CODE = 'code'

/**
 * A store in a folder, which many processes may use at once. Each record is a line of its own with a checksum, written by
 * one call: what was torn when a process was killed is passed over. A folder that cannot be written to is none.
 */
export function diskStore(folder: string): Store {
  const open = new Map<string, Map<string, Json>>()
  const waiting = new Map<string, string[]>()
  const itemsOf = (of: string): Map<string, Json> => {
    let items = open.get(of)
    if (items !== undefined) return items
    items = readItems(fileOf(folder, of))
    const [oldest] = open.keys()
    if (open.size >= MOST_OPEN && oldest !== undefined) open.delete(oldest)
    open.set(of, items)
    return items
  }
  const write = (): void => {
    for (const [of, records] of waiting) append(fileOf(folder, of), records)
    waiting.clear()
  }
  return {
    get: (key) => (key.of === CODE ? readCode(folder, key) : itemsOf(key.of).get(nameOf(key))),
    put: (key, value) => {
      if (key.of === CODE) {
        writeCode(folder, key, value)
        return
      }
      const { of, method, params } = key
      itemsOf(of).set(nameOf(key), value)
      if (waiting.size === 0) setImmediate(write)
      const records = waiting.get(of) ?? []
      records.push(recordOf(JSON.stringify([method, params, value])))
      waiting.set(of, records)
    },
    flush: async () => write(),
  }
}

function fileOf(folder: string, of: string): string {
  return path.join(folder, `${of.replace(/[^\w/]/g, '_')}.items`)
}

function recordOf(json: string): string {
  return `${(crc32(json) >>> 0).toString(16).padStart(8, '0')} ${json}`
}

/** A record begins with a line's end, so that what was torn before it does not reach into it. */
function append(file: string, records: readonly string[]): void {
  try {
    mkdirSync(path.dirname(file), { recursive: true })
    appendFileSync(file, records.map((record) => `\n${record}`).join(''))
  } catch {
    // a full or foreign disk: what is fetched stays in memory
  }
}

function readItems(file: string): Map<string, Json> {
  const items = new Map<string, Json>()
  for (const line of textOf(file).split('\n')) {
    const json = line.slice(9)
    if (json === '' || recordOf(json) !== line) continue
    const [method, params, value] = JSON.parse(json) as [string, Json[], Json]
    items.set(nameOf({ method, params }), value)
  }
  return items
}

/** What tells an item from others of its block. */
function nameOf({ method, params }: Pick<ItemKey, 'method' | 'params'>): string {
  return textOfKey({ of: '', method, params })
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

function codeFile(folder: string, { params }: ItemKey): string {
  const hash = String(params[0]).replace(/[^\w]/g, '')
  return path.join(folder, CODE, hash.slice(2, 4), `${hash}.hex`)
}

/** Code whose hash is another is as good as none. */
function readCode(folder: string, key: ItemKey): Json | undefined {
  const text = textOf(codeFile(folder, key))
  if (text === '' || !isBytes(text)) return undefined
  return keccakHash(bytesFromHex(text)) === key.params[0] ? text : undefined
}

function writeCode(folder: string, key: ItemKey, value: Json): void {
  const file = codeFile(folder, key)
  try {
    if (existsSync(file)) return
    mkdirSync(path.dirname(file), { recursive: true })
    const fresh = `${file}.${process.pid}.new`
    writeFileSync(fresh, String(value))
    renameSync(fresh, file)
  } catch {
    // as in `append`
  }
}
