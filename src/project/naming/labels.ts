// Labels that users gave to accounts.
import { DevchainError } from '../../core/errors.ts'
import { oneLine } from '../../core/format.ts'
import type { Address } from '../../core/hex.ts'

const MOST_LABELS = 10_000
const LONGEST_LABEL = 64

export class Labels {
  readonly #names = new Map<Address, string>()
  #version = 0

  get version(): number {
    return this.#version
  }

  get all(): ReadonlyMap<Address, string> {
    return this.#names
  }

  get(address: Address): string | undefined {
    return this.#names.get(address)
  }

  /**
   * An empty label removes it.
   * @throws {DevchainError} `LIMIT_EXCEEDED` for too many labels
   */
  set(address: Address, text: string): void {
    const name = oneLine(text.trim(), LONGEST_LABEL)
    const isFull = this.#names.size >= MOST_LABELS && !this.#names.has(address)
    if (name !== '' && isFull) {
      throw new DevchainError('LIMIT_EXCEEDED', `there may be ${MOST_LABELS} labels at a time`)
    }
    if (name === '') this.#names.delete(address)
    else this.#names.set(address, name)
    this.#version += 1
  }
}
