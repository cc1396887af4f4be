// A state as one array of bytes and back: the same objects as in a file, one after another.
import { nextTurn } from '../core/yield.ts'
import type { ChainState } from '../node/ledger/chainstate.ts'
import type { ForkBase } from '../node/ledger/upstream.ts'
import { CorruptStore } from './bytes.ts'
import { stateObject } from './codecs/states.ts'
import {
  ALIGNMENT,
  damaged,
  END_LENGTH,
  endOf,
  frameAt,
  HEAD,
  headOf,
  isWhole,
  MAGIC,
  roomFor,
} from './frames.ts'
import { type Medium, Objects } from './objects.ts'

const FIRST_ROOM = 1024 * 1024

/** Where the first object stands. */
const START = Math.ceil(MAGIC.length / ALIGNMENT) * ALIGNMENT

/** Milliseconds of writing before other work gets a turn. */
const TURN_MS = 10

class Memory implements Medium {
  #bytes: Buffer = Buffer.alloc(FIRST_ROOM)
  #length = 0

  constructor() {
    this.#push(MAGIC, START)
  }

  append(bytes: Uint8Array): number {
    const position = this.#length
    this.#push(headOf(bytes))
    this.#push(bytes, roomFor(bytes.length) - HEAD)
    return position
  }

  read(position: number): Uint8Array {
    return readObject(this.#bytes.subarray(0, this.#length), position)
  }

  /** @param root the position of the state */
  finish(root: number): Uint8Array {
    this.#push(endOf(root))
    return new Uint8Array(this.#bytes.subarray(0, this.#length))
  }

  #push(bytes: Uint8Array, room: number = bytes.length): void {
    const end = this.#length + room
    if (end > this.#bytes.length) {
      const grown = Buffer.alloc(2 * end)
      this.#bytes.copy(grown, 0, 0, this.#length)
      this.#bytes = grown
    }
    this.#bytes.set(bytes, this.#length)
    this.#length = end
  }
}

/** @throws {CorruptStore} unless there is a whole object */
function readObject(bytes: Buffer, position: number): Uint8Array {
  const start = position + HEAD
  if (!Number.isSafeInteger(start) || position < START || start > bytes.length) {
    throw damaged(position)
  }
  const frame = frameAt(bytes, position)
  const body = bytes.subarray(start, start + frame.length)
  if (body.length < frame.length || !isWhole(body, frame)) throw damaged(position)
  return body
}

/** The same bytes for the same state. The fork of a forked state is not in them: it must be given to read them. */
export function packState(value: ChainState): Uint8Array {
  const memory = new Memory()
  return memory.finish(new Objects(memory).write(value, stateObject))
}

/** As `packState`, in turns. */
export async function packInTurns(
  value: ChainState,
  turnMs: number = TURN_MS,
): Promise<Uint8Array> {
  const memory = new Memory()
  const objects = new Objects(memory)
  for (;;) {
    const position = objects.writeFor(turnMs, value, stateObject)
    if (position !== undefined) return memory.finish(position)
    await nextTurn()
  }
}

/**
 * Parts of the state are read from the bytes when they are asked for, so these must not change.
 * @param fork of a forked state
 * @throws {CorruptStore} for other bytes, now or when a damaged part is read
 */
export function unpackState(bytes: Uint8Array, fork?: ForkBase): ChainState {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  if (!MAGIC.every((byte, at) => whole[at] === byte)) {
    throw new CorruptStore('these are no bytes of a state, or of another version')
  }
  const end = Buffer.from(readObject(whole, whole.length - END_LENGTH))
  if (end.length !== 8) throw damaged(whole.length - END_LENGTH)
  const medium: Medium = {
    append: () => {
      throw new Error('a pack does not grow')
    },
    read: (position) => readObject(whole, position),
  }
  const objects = new Objects(medium)
  if (fork !== undefined) objects.addFork(fork)
  return objects.read(end.readDoubleLE(), stateObject)
}
