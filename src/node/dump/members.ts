// Typed reading of a dump's JSON; an error names the member and its value.
import { type DevchainError, invalidParams, printValue } from '../../core/errors.ts'
import { type Address, bytesFromHex, type Hash, isBytes } from '../../core/hex.ts'
import { isObject } from '../../core/objects.ts'
import type { Log } from '../../protocol/blocks/receipt.ts'
import type { Withdrawal } from '../../protocol/blocks/withdrawal.ts'
import type { FieldKind, FieldValues } from '../../protocol/fields.ts'

/** Most bytes of a dump's JSON: gzip may expand a thousandfold. */
export const MAX_DUMP: number = 512 * 2 ** 20

const HEX = /^0x[0-9a-fA-F]{1,64}$/
const DECIMAL = /^[0-9]{1,78}$/
const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const HASH = /^0x[0-9a-fA-F]{64}$/

export function noDump(problem: string): DevchainError {
  return invalidParams(`state: expected a result of anvil_dumpState: ${problem}`)
}

function refuse(path: string, expected: string, value: unknown): never {
  const got = value === undefined ? 'nothing' : printValue(value)
  throw noDump(`${path}: expected ${expected}, got ${got}`)
}

export function objectAt(value: unknown, path: string): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : refuse(path, 'an object', value)
}

export function listAt(value: unknown, path: string): readonly unknown[] {
  return Array.isArray(value) ? value : refuse(path, 'a list', value)
}

/** Accepts a JSON number, 0x and hex digits, or decimal digits, below 2^`bits`. */
export function integerAt(value: unknown, path: string, bits = 256): bigint {
  const number = integerOf(value)
  const isSmall = number !== undefined && number >> BigInt(bits) === 0n
  return isSmall ? number : refuse(path, `an integer below 2^${bits}`, value)
}

function integerOf(value: unknown): bigint | undefined {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return BigInt(value)
  const isText = typeof value === 'string' && (HEX.test(value) || DECIMAL.test(value))
  return isText ? BigInt(value) : undefined
}

export function addressAt(value: unknown, path: string): Address {
  if (typeof value !== 'string' || !ADDRESS.test(value)) refuse(path, 'a 20-byte address', value)
  return value.toLowerCase() as Address
}

export function hashAt(value: unknown, path: string): Hash {
  if (typeof value !== 'string' || !HASH.test(value)) refuse(path, 'a 32-byte hash', value)
  return value.toLowerCase() as Hash
}

export function bytesAt(value: unknown, path: string, length?: number): Uint8Array {
  const expected = length === undefined ? '0x-prefixed bytes' : `${length} bytes as 0x and digits`
  const isGood = typeof value === 'string' && isBytes(value)
  if (!isGood || (length !== undefined && value.length !== 2 + 2 * length)) {
    return refuse(path, expected, value)
  }
  return bytesFromHex(value)
}

/** Ignores unread members; null counts as missing. */
export class Members {
  readonly path: string
  readonly #members: Readonly<Record<string, unknown>>

  constructor(value: unknown, path: string) {
    this.#members = objectAt(value, path)
    this.path = path
  }

  has(name: string): boolean {
    return this.value(name) !== undefined
  }

  value(name: string): unknown {
    return (Object.hasOwn(this.#members, name) ? this.#members[name] : undefined) ?? undefined
  }

  integer(name: string, bits = 256): bigint {
    return integerAt(this.value(name), this.#pathOf(name), bits)
  }

  address(name: string): Address {
    return addressAt(this.value(name), this.#pathOf(name))
  }

  hash(name: string): Hash {
    return hashAt(this.value(name), this.#pathOf(name))
  }

  bytes(name: string, length?: number): Uint8Array {
    return bytesAt(this.value(name), this.#pathOf(name), length)
  }

  /** @param size in bytes: exact, but for integers the maximum */
  read(kind: FieldKind, name: string, size?: number): FieldValues[FieldKind] {
    if (kind === 'integer') return this.integer(name, size && 8 * size)
    return kind === 'bytes' ? this.bytes(name, size) : this[kind](name)
  }

  each<T>(name: string, read: (entry: unknown, path: string) => T): T[] {
    const path = this.#pathOf(name)
    return listAt(this.value(name), path).map((entry, index) => read(entry, `${path}[${index}]`))
  }

  optional<T>(name: string, read: (name: string) => T): T | undefined {
    return this.has(name) ? read(name) : undefined
  }

  #pathOf(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`
  }
}

export function withdrawalOf(value: unknown, path: string): Withdrawal {
  const members = new Members(value, path)
  return {
    index: members.integer('index', 64),
    validatorIndex: members.integer('validatorIndex', 64),
    address: members.address('address'),
    amountGwei: members.integer('amount', 64),
  }
}

export function logOf(value: unknown, path: string): Log {
  const members = new Members(value, path)
  const topics = members.each('topics', hashAt)
  if (topics.length > 4) throw noDump(`${path}.topics: expected at most 4, got ${topics.length}`)
  return { address: members.address('address'), topics, data: members.bytes('data') }
}
