// What was fetched, as long as the process runs.
import { LruCache } from '../../core/lrucache.ts'
import type { Json } from '../../rpc/schema.ts'
import { type Store, textOfKey } from './store.ts'

/** Items that are kept at least, unless they are large; states keep what they were given themselves. */
const KEPT = 50_000

/** Bytes of what is kept: whole blocks and traces are large. */
const MOST_BYTES = 64_000_000

/** What an array, an object or a text takes besides what is in it, roughly. */
const OWN_BYTES = 16

interface Kept {
  readonly value: Json
  readonly bytes: number
}

/** A store in memory that forgets what was used least lately: up to twice `mostBytes` are there. */
export function memoryStore(mostBytes: number = MOST_BYTES): Store {
  const items = new LruCache<string, Kept>(KEPT, { most: mostBytes, of: ({ bytes }) => bytes })
  return {
    get: (key) => items.get(textOfKey(key))?.value,
    put: (key, value) => {
      const name = textOfKey(key)
      items.set(name, { value, bytes: name.length + bytesOf(value) })
    },
    flush: async () => undefined,
  }
}

/** What a value takes in memory, roughly. */
function bytesOf(value: Json): number {
  if (typeof value === 'string') return OWN_BYTES + value.length
  if (typeof value !== 'object' || value === null) return OWN_BYTES
  let bytes = OWN_BYTES
  // names of members are shared by all objects of a kind
  for (const member of Object.values(value)) bytes += bytesOf(member as Json)
  return bytes
}
