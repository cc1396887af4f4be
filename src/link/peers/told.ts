// What the log was told of those who are refused.
import { LruCache } from '../../core/lrucache.ts'

/** Milliseconds until the same refusal is told again. */
const AGAIN_MS = 60_000

/** Refusals that are remembered. */
const REMEMBERED = 100

/** When which refusal was told. */
export class ToldRefusals {
  readonly #toldAt = new LruCache<string, number>(REMEMBERED)

  /** True for one that was not told lately: it is from now on. */
  isNew(refusal: string, now: number): boolean {
    const toldAt = this.#toldAt.get(refusal)
    if (toldAt !== undefined && now - toldAt < AGAIN_MS) return false
    this.#toldAt.set(refusal, now)
    return true
  }
}
