// Leases of chains: who asks gets one that nobody else has, until it is released.
import { randomUUID } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { DevchainError } from '../core/errors.ts'
import type { Chains } from './chains.ts'
import type { ChainSlot } from './slot.ts'

export interface Lease {
  readonly slot: ChainSlot
  readonly token: string
}

interface Waiting {
  readonly gone: AbortSignal
  readonly grant: (name: string | undefined) => void
}

const MAX_WAITING = 1_000

/** As many chains as prool has by default: one for two processors. */
export class Leases {
  readonly #chains: Chains
  readonly #free: string[]
  readonly #leased = new Map<string, string>()
  readonly #waiting: Waiting[] = []

  constructor(chains: Chains) {
    this.#chains = chains
    const count = Math.max(1, Math.floor(availableParallelism() / 2))
    this.#free = Array.from({ length: count }, (_, i) => `lease-${i + 1}`)
  }

  /**
   * Waits for a free chain.
   * @param gone aborted when the client disconnects, which ends its lease or its waiting
   * @returns undefined for a client that is gone
   * @throws {DevchainError} `LIMIT_EXCEEDED` when 1,000 clients wait
   */
  async acquire(gone: AbortSignal): Promise<Lease | undefined> {
    const name = this.#free.shift() ?? (await this.#wait(gone))
    if (name === undefined) return undefined
    if (gone.aborted) {
      this.#pass(name)
      return undefined
    }
    const token = randomUUID()
    this.#leased.set(token, name)
    try {
      const slot = this.#chains.leased(name)
      await slot.open()
      return { slot, token }
    } catch (error) {
      await this.release(token)
      throw error
    }
  }

  /** The chain begins anew for the next client. @returns false for an unknown token */
  async release(token: string): Promise<boolean> {
    const name = this.#leased.get(token)
    if (name === undefined) return false
    this.#leased.delete(token)
    await this.#chains.at(`/${name}`)?.end('the lease was released')
    this.#pass(name)
    return true
  }

  #wait(gone: AbortSignal): Promise<string | undefined> {
    if (this.#waiting.length >= MAX_WAITING) {
      const message = `too many clients wait for a chain: the limit is ${MAX_WAITING}`
      throw new DevchainError('LIMIT_EXCEEDED', message)
    }
    return new Promise((resolve) => {
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
        resolve(undefined)
      }
      const grant = (name: string | undefined): void => {
        gone.removeEventListener('abort', leave)
        resolve(name)
      }
      const waiting: Waiting = { gone, grant }
      this.#waiting.push(waiting)
      gone.addEventListener('abort', leave, { once: true })
    })
  }

  #pass(name: string): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free.push(name)
    else next.grant(name)
  }
}
