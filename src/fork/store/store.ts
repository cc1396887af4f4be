// Stores of what a network answered, by request: in memory, in the cache folder, in a recording.
import { LruCache } from '../../core/lrucache.ts'
import type { Json } from '../../rpc/schema.ts'

export interface ItemKey {
  /** `chain id/block hash`; `chain id` for what no reorg changes; `code` for code by its hash. */
  readonly of: string
  readonly method: string
  readonly params: readonly Json[]
}

export interface Store {
  readonly get: (key: ItemKey) => Json | undefined
  readonly put: (key: ItemKey, value: Json) => void
  readonly flush: () => void
}

/** Unique: lines if no part contains a newline, else JSON, which begins with a bracket. */
export function textOfKey({ of, method, params }: ItemKey): string {
  return params.every((param) => typeof param === 'string' && !param.includes('\n'))
    ? `${of}\n${method}\n${params.join('\n')}`
    : JSON.stringify([of, method, params])
}

export function layered(upper: Store, lower: Store): Store {
  return {
    get: (key) => {
      const above = upper.get(key)
      if (above !== undefined) return above
      const below = lower.get(key)
      if (below !== undefined) upper.put(key, below)
      return below
    },
    put: (key, value) => {
      upper.put(key, value)
      lower.put(key, value)
    },
    flush: () => {
      upper.flush()
      lower.flush()
    },
  }
}

/** Items kept at least unless they are large, and their bytes: states keep what they read themselves. */
const KEPT = 50_000
const MOST_BYTES = 64_000_000

/** Rough overhead of an array, an object or a string. */
const OWN_BYTES = 16

/** Drops what was used least recently; holds up to twice `mostBytes`. */
export function memoryStore(mostBytes: number = MOST_BYTES): Store {
  const items = new LruCache<string, { readonly value: Json; readonly bytes: number }>(KEPT, {
    most: mostBytes,
    of: ({ bytes }) => bytes,
  })
  return {
    get: (key) => items.get(textOfKey(key))?.value,
    put: (key, value) => {
      const name = textOfKey(key)
      items.set(name, { value, bytes: name.length + bytesOf(value) })
    },
    flush: () => undefined,
  }
}

function bytesOf(value: Json): number {
  if (typeof value === 'string') return OWN_BYTES + value.length
  if (typeof value !== 'object' || value === null) return OWN_BYTES
  let bytes = OWN_BYTES
  // objects of a kind share the names of their members
  for (const member of Object.values(value)) bytes += bytesOf(member as Json)
  return bytes
}
