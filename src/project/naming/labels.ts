// Labels that users gave to accounts.
import { limitExceeded } from '../../core/errors.ts'
import { oneLine } from '../../core/format.ts'
import type { Address } from '../../core/hex.ts'
import type { MaybePromise } from '../../core/promises.ts'

const MOST_LABELS = 10_000
const LONGEST_LABEL = 64

/** Where labels are kept when the process ends. */
export interface KeptLabels {
  readonly known: ReadonlyMap<Address, string>
  readonly keep: (labels: ReadonlyMap<Address, string>) => MaybePromise<void>
}

export class Labels {
  readonly all: ReadonlyMap<Address, string>
  readonly #names: Map<Address, string>
  readonly #kept: KeptLabels | undefined
  #version = 0

  constructor(kept: KeptLabels | undefined) {
    this.#kept = kept
    this.#names = new Map(kept?.known)
    this.all = this.#names
  }

  get version(): number {
    return this.#version
  }

  /**
   * An empty label removes it.
   * @throws {DevchainError} `LIMIT_EXCEEDED` for too many labels
   */
  async set(labels: Iterable<readonly [Address, string]>): Promise<void> {
    try {
      for (const [address, text] of labels) this.#set(address, text)
    } finally {
      await this.#kept?.keep(new Map(this.#names))
    }
  }

  #set(address: Address, text: string): void {
    const name = oneLine(text.trim(), LONGEST_LABEL)
    const isFull = this.#names.size >= MOST_LABELS && !this.#names.has(address)
    if (name !== '' && isFull) throw limitExceeded(`there may be ${MOST_LABELS} labels at a time`)
    if (name === '') this.#names.delete(address)
    else this.#names.set(address, name)
    this.#version += 1
  }
}
