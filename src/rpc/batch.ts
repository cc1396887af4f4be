// Replies to the entries of a batch, in order.
import type { Method } from './method.ts'

/** Reads that run concurrently. */
const MOST_READS = 100

interface Known {
  readonly methods: ReadonlyMap<string, Pick<Method<never>, 'effects'>>
}

/**
 * Returns the reply of each entry; call it in order.
 * @param known if given, consecutive reads start together, so that a fork fetches their state together. Reads change
 * nothing, so
 * their order does not matter.
 */
export function inTurn<R>(
  batch: readonly unknown[],
  known: Known | undefined,
  reply: (value: unknown) => R,
): (at: number) => R {
  let begun: readonly R[] = []
  let begunAt = 0
  return (at) => {
    if (at >= begunAt + begun.length) {
      const count = known === undefined ? 1 : Math.max(1, readsFrom(known, batch, at))
      begun = batch.slice(at, at + count).map(reply)
      begunAt = at
    }
    return begun[at - begunAt]!
  }
}

/** Counts the consecutive reads from an index on. */
function readsFrom({ methods }: Known, batch: readonly unknown[], at: number): number {
  const isRead = (value: unknown): boolean => {
    const { method: name } = (value ?? {}) as { readonly method?: unknown }
    const method = typeof name === 'string' ? methods.get(name) : undefined
    return method !== undefined && method.effects === 'nothing'
  }
  const next = batch.slice(at, at + MOST_READS)
  const end = next.findIndex((value) => !isRead(value))
  return end < 0 ? next.length : end
}
