// Replies to the entries of a batch, one after another.
import type { Method } from './method.ts'

/** Reads that are answered at the same time. */
const MOST_READS = 100

/** What methods change. */
interface Known {
  readonly methods: ReadonlyMap<string, Pick<Method<never>, 'effects'>>
}

/**
 * Gives the replies to entries, which are to be asked for in their order.
 * @param known where it is there, an entry that only reads is begun with the reads that follow it at once: what they need of another
 *   network is then fetched together. They change nothing, so that nobody can tell their order.
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

/** How many entries from one on only read. */
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
