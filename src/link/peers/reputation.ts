// Scores peers; a node or address that misbehaves too often is banned, each time for longer.
import { REPUTATION_EVENTS, type Reputation, type ReputationEvent } from '../../node/peers.ts'
import type { Timing } from '../protocol/timing.ts'
import { AddressList } from './addresses.ts'

/** Points for each event. Likely misconfiguration, such as another network, costs none. */
const POINTS: Readonly<Record<ReputationEvent, number>> = {
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

/** A cap, so that good behaviour does not pay for much misbehaviour. */
const HIGHEST_SCORE = 50

const LOWEST_SCORE = -100

/** Milliseconds: the first ban and the longest; each is twice the one before. */
const FIRST_BAN_MS = 10_000
const LONGEST_BAN_MS = 3_600_000

const MAX_ENTRIES = 1_000

const THIS_MACHINE = AddressList.of('127.0.0.0/8', '::1')

interface Entry {
  readonly type: Reputation['type']
  readonly counts: Record<ReputationEvent, number>
  score: number
  punishments: number
  bannedUntil: number
}

export interface PeerKeys {
  /** 64 hex digits; undefined before the handshake. */
  readonly id: string | undefined
  readonly address: string
}

export class Reputations {
  readonly #timing: Timing
  readonly #entries = new Map<string, Entry>()

  constructor(timing: Timing) {
    this.#timing = timing
  }

  /** @returns milliseconds of a new ban; undefined: none */
  note({ id, address }: PeerKeys, event: ReputationEvent, times = 1): number | undefined {
    if (times === 0) return undefined
    const own = id === undefined ? undefined : this.#count(id, 'node', event, times)
    const shared = this.#count(address, 'address', event, times)
    // all local nodes share one address
    const isShared = THIS_MACHINE.has(address)
    const punished = [own, isShared ? undefined : shared].filter((each) => each !== undefined)
    const bans = punished.filter(({ score }) => score < LOWEST_SCORE).map((each) => this.#ban(each))
    return bans.length === 0 ? undefined : Math.max(...bans)
  }

  /** 0: not banned. */
  bannedMs(idOrAddress: string): number {
    return Math.max(0, (this.#entries.get(idOrAddress)?.bannedUntil ?? 0) - this.#timing.now())
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

  clear(idOrAddress: string): boolean {
    const keys = [...this.#entries].filter(([key, { type }]) =>
      type === 'node' && idOrAddress.length >= 8
        ? key.startsWith(idOrAddress.toLowerCase())
        : key === idOrAddress,
    )
    for (const [key] of keys) this.#entries.delete(key)
    return keys.length > 0
  }

  #count(key: string, type: Entry['type'], event: ReputationEvent, times: number): Entry {
    const entry = this.#entries.get(key) ?? newEntry(type)
    entry.counts[event] += times
    entry.score = Math.min(HIGHEST_SCORE, entry.score + times * POINTS[event])
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    this.#forgetOldest()
    return entry
  }

  /** Keeps banned entries; drops the least recent others. */
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
  const counts = Object.fromEntries(REPUTATION_EVENTS.map((event) => [event, 0])) as Record<
    ReputationEvent,
    number
  >
  return { type, counts, score: 0, punishments: 0, bannedUntil: 0 }
}
