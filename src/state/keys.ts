// Keys of the state tries: Keccak-256 of addresses and storage slots, remembered for a while.
import { keccak256 } from '../core/crypto.ts'
import { type Address, bytesFromHex, paddedBytes } from '../core/hex.ts'
import { Recent } from '../core/recent.ts'

/** Entries of one generation; the two of them, full, are about 10 MB. */
const GENERATION = 32_768

/**
 * Remembers the results of a pure function: at least the last `size` distinct ones asked for, at most twice as many.
 */
export class Memory<Input, Output> {
  readonly #compute: (input: Input) => Output
  readonly #known: Recent<Input, Output>

  constructor(size: number, compute: (input: Input) => Output) {
    this.#known = new Recent(size)
    this.#compute = compute
  }

  /** How many results are remembered. */
  get count(): number {
    return this.#known.count
  }

  of(input: Input): Output {
    const known = this.#known.find(input)
    if (known !== undefined) return known
    const output = this.#compute(input)
    this.#known.keep(input, output)
    return output
  }
}

// Shared by all worlds of the process: a hash is the same everywhere, and costs more than all else in a read.
const addressKeys = new Memory(GENERATION, (address: Address) => keccak256(bytesFromHex(address)))
const slotKeys = new Memory(GENERATION, (slot: bigint) => keccak256(paddedBytes(slot, 32)))

/** Key of an account in the state trie. Not to be changed: it is shared. */
export function addressKey(address: Address): Uint8Array {
  return addressKeys.of(address)
}

/** Key of a slot in an account's storage trie. Not to be changed: it is shared. */
export function slotKey(slot: bigint): Uint8Array {
  return slotKeys.of(slot)
}
