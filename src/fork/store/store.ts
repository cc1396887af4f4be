// What was fetched of a network, by what was asked: kept in memory, in the cache folder, in a cassette.
import { LruCache } from '../../core/lrucache.ts'
import type { Json } from '../../rpc/schema.ts'

/** What was asked: of which block (or `code`, or the chain), which method, with which parameters. */
export interface ItemKey {
  /** `chain id/block hash`; `code` for code by its hash. */
  readonly of: string
  readonly method: string
  readonly params: readonly Json[]
}

export interface Store {
  /** Undefined when it is not kept. */
  readonly get: (key: ItemKey) => Json | undefined
  readonly put: (key: ItemKey, value: Json) => void
  readonly flush: () => Promise<void>
}

/** A key as one text, so that no two keys are the same: lines of texts without any, else JSON, which begins with a bracket. */
export function textOfKey({ of, method, params }: ItemKey): string {
  return params.every(isLine)
    ? `${of}\n${method}\n${params.join('\n')}`
    : JSON.stringify([of, method, params])
}

function isLine(param: Json): param is string {
  return typeof param === 'string' && !param.includes('\n')
}

/** Stores one over the other: what the lower has is put into the upper too. */
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
    flush: async () => {
      await upper.flush()
      await lower.flush()
    },
  }
}

/** Items that are kept at least, unless they are large, and their bytes: states keep what they were given themselves. */
const KEPT = 50_000
const MOST_BYTES = 64_000_000

/** What an array, an object or a text takes besides what is in it, roughly. */
const OWN_BYTES = 16

/** A store in memory that forgets what was used least lately: up to twice `mostBytes` are there. */
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
    flush: async () => undefined,
  }
}

function bytesOf(value: Json): number {
  if (typeof value === 'string') return OWN_BYTES + value.length
  if (typeof value !== 'object' || value === null) return OWN_BYTES
  let bytes = OWN_BYTES
  // names of members are shared by all objects of a kind
  for (const member of Object.values(value)) bytes += bytesOf(member as Json)
  return bytes
}
