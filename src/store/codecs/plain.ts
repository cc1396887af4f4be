// Plain values: what settings, clocks, keys and options are made of. Members need no description here, so that none is
// forgotten; a value that is not plain is an error.
import { bytesFromHex, hexFromBytes } from '../../core/hex.ts'
import { CorruptStore } from '../bytes.ts'
import type { Codec, Input, Output } from '../objects.ts'

const UNDEFINED = 0
const NULL = 1
const FALSE = 2
const TRUE = 3
const COUNT = 4
const DOUBLE = 5
const INTEGER = 6
const NEGATIVE = 7
const TEXT = 8
const HEX = 9
const BYTES = 10
const LIST = 11
const MAP = 12
const OBJECT = 13

export const plain: Codec<unknown> = { write: writePlain, read: readPlain }

/** `plain` for a type that the caller vouches for. */
export function plainly<T>(): Codec<T> {
  return plain as Codec<T>
}

function writePlain(value: unknown, to: Output): void {
  if (value === undefined) to.byte(UNDEFINED)
  else if (value === null) to.byte(NULL)
  else if (typeof value === 'boolean') to.byte(value ? TRUE : FALSE)
  else if (typeof value === 'number') writeNumber(value, to)
  else if (typeof value === 'string') writeText(value, to)
  else if (typeof value === 'object') writeObject(value, to)
  else if (typeof value === 'bigint') {
    to.byte(value < 0n ? NEGATIVE : INTEGER)
    to.integer(value < 0n ? -value : value)
  } else throw new Error(`a ${typeof value} cannot be stored`)
}

function writeNumber(value: number, to: Output): void {
  if (Number.isSafeInteger(value) && value >= 0 && !Object.is(value, -0)) {
    to.byte(COUNT)
    to.count(value)
  } else {
    to.byte(DOUBLE)
    to.double(value)
  }
}

/** Hashes and addresses take half their digits. */
function writeText(text: string, to: Output): void {
  if (/^0x(?:[0-9a-f]{2})+$/.test(text)) {
    to.byte(HEX)
    to.bytes(bytesFromHex(text))
  } else {
    to.byte(TEXT)
    to.text(text)
  }
}

function writeObject(value: object, to: Output): void {
  if (value instanceof Uint8Array) {
    to.byte(BYTES)
    to.bytes(value)
  } else if (Array.isArray(value)) {
    to.byte(LIST)
    to.count(value.length)
    for (const item of value) writePlain(item, to)
  } else if (value instanceof Map) {
    to.byte(MAP)
    to.count(value.size)
    for (const [key, item] of value) {
      writePlain(key, to)
      writePlain(item, to)
    }
  } else if (isPlainObject(value)) {
    const entries = Object.entries(value)
    to.byte(OBJECT)
    to.count(entries.length)
    for (const [name, item] of entries) {
      to.text(name)
      writePlain(item, to)
    }
  } else {
    throw new Error(`a ${value.constructor.name} cannot be stored`)
  }
}

function isPlainObject(value: object): boolean {
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function readPlain(from: Input): unknown {
  const kind = from.byte()
  const read = READERS[kind]
  if (read === undefined) throw new CorruptStore(`unknown kind of value ${kind}`)
  return read(from)
}

const READERS: Readonly<Record<number, (from: Input) => unknown>> = {
  [UNDEFINED]: () => undefined,
  [NULL]: () => null,
  [FALSE]: () => false,
  [TRUE]: () => true,
  [COUNT]: (from) => from.count(),
  [DOUBLE]: (from) => from.double(),
  [INTEGER]: (from) => from.integer(),
  [NEGATIVE]: (from) => -from.integer(),
  [TEXT]: (from) => from.text(),
  [HEX]: (from) => hexFromBytes(from.bytes()),
  [BYTES]: (from) => from.bytes(),
  [LIST]: (from) => times(from, () => readPlain(from)),
  [MAP]: (from) => new Map(times(from, () => [readPlain(from), readPlain(from)])),
  [OBJECT]: (from) => Object.fromEntries(times(from, () => [from.text(), readPlain(from)])),
}

function times<T>(from: Input, read: () => T): T[] {
  const all: T[] = []
  for (let left = from.count(); left > 0; left--) all.push(read())
  return all
}
