// What was fetched, as long as the process runs.
import { LruCache } from '../../core/lrucache.ts'
import type { Json } from '../../rpc/schema.ts'
import { type Store, textOfKey } from './store.ts'

/** Items that are kept at least; states keep what they were given themselves. */
const KEPT = 50_000

/** A store in memory that forgets what was used least lately. */
export function memoryStore(): Store {
  const items = new LruCache<string, { readonly value: Json }>(KEPT)
  return {
    get: (key) => items.get(textOfKey(key))?.value,
    put: (key, value) => items.set(textOfKey(key), { value }),
    flush: async () => undefined,
  }
}
