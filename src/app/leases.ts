// Leases of chains: who asks gets one that nobody else has, until it is released.
import { randomUUID } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { limitExceeded } from '../core/errors.ts'
import type { SiteRequest } from '../rpc/site.ts'
import type { Chains } from './chains.ts'
import type { ChainSlot } from './slot.ts'

export interface Lease {
  readonly slot: ChainSlot
  readonly token: string
}

/** The place of one lease: its chain is made when it is first needed. */
interface Berth {
  slot: ChainSlot | undefined
}

type Client = Pick<SiteRequest, 'gone' | 'isThere'>

const MAX_WAITING = 1_000

/** As many chains as prool has by default: one for two processors. */
export class Leases {
  readonly #chains: Chains
  readonly #free: Berth[]
  readonly #leased = new Map<string, Berth>()
  /** In the order in which they came. */
  readonly #waiting = new Set<(berth: Berth | undefined) => void>()

  constructor(chains: Chains) {
    this.#chains = chains
    const count = Math.max(1, Math.floor(availableParallelism() / 2))
    this.#free = Array.from({ length: count }, () => ({ slot: undefined }))
  }

  /**
   * Waits for a free chain.
   * @returns undefined for a client that is gone, which nobody else could release
   * @throws {DevchainError} `LIMIT_EXCEEDED` when 1,000 clients wait
   */
  async acquire({ gone, isThere }: Client): Promise<Lease | undefined> {
    const berth = this.#free.shift() ?? (await this.#wait(gone))
    if (berth === undefined) return undefined
    const token = randomUUID()
    this.#leased.set(token, berth)
    let isTaken = false
    try {
      const slot = this.#slotOf(berth)
      await slot.open()
      isTaken = await isThere()
      return isTaken ? { slot, token } : undefined
    } finally {
      if (!isTaken) await this.release(token)
    }
  }

  /** The chain begins anew for the next client. @returns false for an unknown token */
  async release(token: string): Promise<boolean> {
    const berth = this.#leased.get(token)
    if (berth === undefined) return false
    this.#leased.delete(token)
    if (this.#isThere(berth)) await berth.slot?.end('the lease was released')
    this.#pass(berth)
    return true
  }

  /** A chain that somebody dropped is replaced. */
  #slotOf(berth: Berth): ChainSlot {
    if (berth.slot !== undefined && this.#isThere(berth)) return berth.slot
    berth.slot = this.#chains.forLeases()
    return berth.slot
  }

  #isThere({ slot }: Berth): boolean {
    return slot !== undefined && this.#chains.at(slot.path) === slot
  }

  #wait(gone: AbortSignal): Promise<Berth | undefined> {
    if (this.#waiting.size >= MAX_WAITING) {
      throw limitExceeded(`too many clients wait for a chain: the limit is ${MAX_WAITING}`)
    }
    return new Promise((resolve) => {
      this.#waiting.add(resolve)
      gone.addEventListener('abort', () => {
        this.#waiting.delete(resolve)
        resolve(undefined)
      })
    })
  }

  #pass(berth: Berth): void {
    const [next] = this.#waiting
    if (next === undefined) return void this.#free.push(berth)
    this.#waiting.delete(next)
    next(berth)
  }
}
