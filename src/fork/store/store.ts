// What was fetched of a network, by what was asked: kept in memory, in the cache folder, in a cassette.
import type { Json } from '../../rpc/schema.ts'

/** What was asked: of which block (or `code`, or the chain), which method, with which parameters. */
export interface ItemKey {
  /** `chain id/block hash`; `code` for code by its hash. */
  readonly of: string
  readonly method: string
  readonly params: readonly Json[]
}

/** Keeps what never changes. */
export interface Store {
  /** Undefined when it is not kept. */
  readonly get: (key: ItemKey) => Json | undefined
  readonly put: (key: ItemKey, value: Json) => void
  /** Writes what is not written yet. */
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

/** Keeps nothing. */
export const NO_STORE: Store = {
  get: () => undefined,
  put: () => undefined,
  flush: async () => undefined,
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
