// A state as one array of bytes and back: the same objects as in a folder, one after another.
import { crc32 } from 'node:zlib'
import type { ChainState } from '../node/ledger/chainstate.ts'
import { CorruptStore } from './bytes.ts'
import { type Medium, Objects } from './objects.ts'
import { stateObject } from './states.ts'

/** Changes with every form that older readers cannot read. */
const MAGIC: Uint8Array = new TextEncoder().encode('devchain state 1\n')

/** Length and CRC-32 before each object, four bytes each. */
const HEAD = 8

/** The last object: where the state stands, a double. */
const TAIL = HEAD + 8

const FIRST_ROOM = 1024 * 1024

class Memory implements Medium {
  #bytes: Buffer
  #length: number

  constructor(bytes?: Uint8Array) {
    this.#bytes =
      bytes === undefined
        ? Buffer.alloc(FIRST_ROOM)
        : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#length = bytes?.length ?? 0
  }

  append(bytes: Uint8Array): number {
    const position = this.#length
    this.push(headOf(bytes))
    this.push(bytes)
    return position
  }

  push(bytes: Uint8Array): void {
    const end = this.#length + bytes.length
    if (end > this.#bytes.length) {
      const grown = Buffer.alloc(2 * end)
      this.#bytes.copy(grown, 0, 0, this.#length)
      this.#bytes = grown
    }
    this.#bytes.set(bytes, this.#length)
    this.#length = end
  }

  read(position: number): Uint8Array {
    return bodyAt(this.#bytes, position, this.#length)
  }

  finish(): Uint8Array {
    return new Uint8Array(this.#bytes.subarray(0, this.#length))
  }
}

export function headOf(body: Uint8Array): Uint8Array {
  const head = Buffer.allocUnsafe(HEAD)
  head.writeUInt32LE(body.length, 0)
  head.writeUInt32LE(crc32(body), 4)
  return head
}

/** @throws {CorruptStore} unless there is a whole object */
function bodyAt(bytes: Buffer, position: number, end: number): Uint8Array {
  if (position < MAGIC.length || position + HEAD > end) throw broken(position)
  const start = position + HEAD
  const length = bytes.readUInt32LE(position)
  if (start + length > end) throw broken(position)
  const body = bytes.subarray(start, start + length)
  if (crc32(body) !== bytes.readUInt32LE(position + 4)) throw broken(position)
  return body
}

function broken(position: number): CorruptStore {
  return new CorruptStore(`the object at byte ${position} is damaged`)
}

/** The same bytes for the same state. */
export function packState(value: ChainState): Uint8Array {
  const memory = new Memory()
  memory.push(MAGIC)
  const position = new Objects(memory).write(value, stateObject)
  const tail = Buffer.alloc(TAIL - HEAD)
  tail.writeDoubleLE(position)
  memory.append(tail)
  return memory.finish()
}

/**
 * Parts of the state are read from the bytes when they are asked for, so these must not change.
 * @throws {CorruptStore} for other bytes, now or when a damaged part is read
 */
export function unpackState(bytes: Uint8Array): ChainState {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  if (whole.length < MAGIC.length + TAIL || !MAGIC.every((byte, at) => whole[at] === byte)) {
    throw new CorruptStore('these are no bytes of a state, or of a newer version')
  }
  const memory = new Memory(whole)
  const position = Buffer.from(memory.read(whole.length - TAIL)).readDoubleLE()
  return new Objects(memory).read(position, stateObject)
}
