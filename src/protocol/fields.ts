// Reads the fields of an RLP list in order, each as its type.
import { type DevchainError, invalidParams } from '../core/errors.ts'
import {
  type Address,
  addressFromBytes,
  bigintFromBytes,
  type Hash,
  hashFromBytes,
  hexFromBytes,
} from '../core/hex.ts'
import type { RlpItem } from '../core/rlp.ts'

export interface FieldValues {
  hash: Hash
  address: Address
  bytes: Uint8Array
  integer: bigint
}

export type FieldKind = keyof FieldValues

/** Error messages begin with the list's name and name the field. */
export class ListFields {
  readonly #items: readonly RlpItem[]
  readonly #prefix: string
  #next = 0

  /**
   * @param prefix stands before field names
   * @throws {DevchainError} `INVALID_PARAMS` unless `item` is a list of `least` to `most` items
   */
  constructor(
    item: RlpItem | undefined,
    name: string,
    least: number,
    most: number,
    prefix: string = `${name}.`,
  ) {
    if (item === undefined || item instanceof Uint8Array) throw malformed(`${name} is not a list`)
    if (item.length < least || item.length > most) {
      const expected = least === most ? `${least}` : `${least} to ${most}`
      throw malformed(`${name} has ${item.length} fields, expected ${expected}`)
    }
    this.#items = item
    this.#prefix = prefix
  }

  get hasNext(): boolean {
    return this.#next < this.#items.length
  }

  /** @param size in bytes: exact, or the maximum of an integer */
  read(kind: FieldKind, field: string, size?: number): FieldValues[FieldKind] {
    if (kind === 'integer') return this.integer(field, size)
    return kind === 'bytes' ? this.bytes(field, size) : this[kind](field)
  }

  item(): RlpItem | undefined {
    return this.#items[this.#next++]
  }

  list(field: string): readonly RlpItem[] {
    const item = this.item()
    if (item === undefined || item instanceof Uint8Array) {
      throw malformed(`${this.#prefix}${field} is not a list`)
    }
    return item
  }

  bytes(field: string, length?: number): Uint8Array {
    const item = this.item()
    if (!(item instanceof Uint8Array)) throw malformed(`${this.#prefix}${field} is a list`)
    if (length !== undefined && item.length !== length) {
      throw malformed(`${this.#prefix}${field} has ${item.length} bytes, expected ${length}`)
    }
    return item
  }

  integer(field: string, most = 32): bigint {
    const bytes = this.bytes(field)
    if (bytes[0] === 0) throw malformed(`${this.#prefix}${field} has leading zeros`)
    if (bytes.length <= most) return bigintFromBytes(bytes)
    throw malformed(
      `${this.#prefix}${field} has ${bytes.length} bytes, at most ${most} are allowed`,
    )
  }

  hash(field: string): Hash {
    return hashFromBytes(this.bytes(field, 32))
  }

  address(field: string): Address {
    const bytes = this.bytes(field)
    if (bytes.length === 20) return addressFromBytes(bytes)
    const got = `${bytes.length} bytes, expected 20: ${hexFromBytes(bytes.subarray(0, 32))}`
    throw malformed(`${this.#prefix}${field} has ${got}`)
  }

  addressOrNull(field: string): Address | null {
    if (this.#items[this.#next]?.length !== 0) return this.address(field)
    this.bytes(field)
    return null
  }
}

export function malformed(problem: string): DevchainError {
  return invalidParams(`malformed ${problem}`)
}
