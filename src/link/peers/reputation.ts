// What peers did so far, and what follows from it: who does wrong too often is banned for a time that grows.
import { DEEDS, type Deed, type Reputation } from '../../node/peers.ts'
import type { Timing } from '../protocol/timing.ts'
import { AddressList } from './addresses.ts'

/** What a deed does to a score. What a user may have set up wrongly, such as another network, costs nothing. */
const POINTS: Readonly<Record<Deed, number>> = {
  successfulHandshakes: 1,
  failedHandshakes: -5,
  invalidNetworks: 0,
  repeatedMessages: 0,
  validBlocks: 1,
  validTransactions: 1,
  invalidBlocks: -50,
  invalidTransactions: -1,
  invalidMessages: -50,
  timeoutMessages: -20,
  unexpectedMessages: -50,
  invalidHeader: -50,
}

/** Good deeds count so much at most: nobody saves up for many bad ones. */
const HIGHEST_SCORE = 50

const LOWEST_SCORE = -100

/** The first ban, and the longest; each takes twice as long as the one before. */
const FIRST_BAN_MS = 10_000
const LONGEST_BAN_MS = 3_600_000

const MAX_ENTRIES = 1_000

const THIS_MACHINE = AddressList.of('127.0.0.0/8', '::1')

interface Entry {
  readonly type: Reputation['type']
  readonly counts: Record<Deed, number>
  score: number
  punishments: number
  bannedUntil: number
}

/** Who did something: a node, and the address that it is at. */
export interface Doer {
  /** 64 hex digits; undefined for one that has not introduced itself. */
  readonly id: string | undefined
  readonly address: string
}

export class Reputations {
  readonly #timing: Timing
  readonly #entries = new Map<string, Entry>()

  constructor(timing: Timing) {
    this.#timing = timing
  }

  /**
   * Counts a deed of a node and of its address.
   * @param times so often
   * @returns milliseconds for which it is banned now; undefined when this bans nobody
   */
  note({ id, address }: Doer, deed: Deed, times = 1): number | undefined {
    if (times === 0) return undefined
    const own = id === undefined ? undefined : this.#count(id, 'node', deed, times)
    const shared = this.#count(address, 'address', deed, times)
    // all nodes of this machine have one address
    const isShared = THIS_MACHINE.has(address)
    const punished = [own, isShared ? undefined : shared].filter((each) => each !== undefined)
    const bans = punished.filter(({ score }) => score < LOWEST_SCORE).map((each) => this.#ban(each))
    return bans.length === 0 ? undefined : Math.max(...bans)
  }

  /** Milliseconds for which a node or an address is still banned; 0 when it is not. */
  bannedMs({ id, address }: Doer): number {
    const now = this.#timing.now()
    const entries = [id, address].map((key) => this.#entries.get(key ?? ''))
    return Math.max(0, ...entries.map((entry) => (entry?.bannedUntil ?? 0) - now))
  }

  /** @param wallNow milliseconds since 1970 */
  list(wallNow: number): readonly Reputation[] {
    const now = this.#timing.now()
    return [...this.#entries].map(([key, { type, counts, score, punishments, bannedUntil }]) => ({
      id: type === 'node' ? key.slice(0, 8) : key,
      type,
      counts,
      score,
      punishments,
      isGood: bannedUntil <= now,
      punishedUntil: bannedUntil <= now ? 0 : Math.round(wallNow + bannedUntil - now),
    }))
  }

  /** Forgets a node, by its id or the beginning of it, or an address. */
  clear(idOrAddress: string): boolean {
    const keys = [...this.#entries].filter(([key, { type }]) =>
      type === 'node' && idOrAddress.length >= 8
        ? key.startsWith(idOrAddress.toLowerCase())
        : key === idOrAddress,
    )
    for (const [key] of keys) this.#entries.delete(key)
    return keys.length > 0
  }

  #count(key: string, type: Entry['type'], deed: Deed, times: number): Entry {
    const entry = this.#entries.get(key) ?? newEntry(type)
    entry.counts[deed] += times
    entry.score = Math.min(HIGHEST_SCORE, entry.score + times * POINTS[deed])
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    this.#forgetOldest()
    return entry
  }

  /** Those that were heard of least lately go, but for the banned. */
  #forgetOldest(): void {
    if (this.#entries.size <= MAX_ENTRIES) return
    const now = this.#timing.now()
    const [oldest] = [...this.#entries].find(([, entry]) => entry.bannedUntil <= now) ?? [
      ...this.#entries.keys(),
    ]
    if (oldest !== undefined) this.#entries.delete(oldest)
  }

  #ban(entry: Entry): number {
    const ms = Math.min(LONGEST_BAN_MS, FIRST_BAN_MS * 2 ** entry.punishments)
    entry.punishments += 1
    entry.score = 0
    entry.bannedUntil = this.#timing.now() + ms
    return ms
  }
}

function newEntry(type: Entry['type']): Entry {
  const counts = Object.fromEntries(DEEDS.map((deed) => [deed, 0])) as Record<Deed, number>
  return { type, counts, score: 0, punishments: 0, bannedUntil: 0 }
}
