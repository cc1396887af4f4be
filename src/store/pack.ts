// A state as one array of bytes and back: the same objects as in a file, one after another.
import { nextTurn } from '../core/yield.ts'
import type { ChainState } from '../node/ledger/chainstate.ts'
import type { ForkBase } from '../node/ledger/upstream.ts'
import { ByteStack, CorruptStore } from './bytes.ts'
import { stateObject } from './codecs/states.ts'
import {
  ALIGNMENT,
  align,
  damaged,
  END_LENGTH,
  endOf,
  frameAt,
  MAGIC,
  pushObject,
  rootIn,
} from './frames.ts'
import { type Medium, Objects } from './objects.ts'

/** Where the first object stands. */
const START = Math.ceil(MAGIC.length / ALIGNMENT) * ALIGNMENT

/** Milliseconds of writing before other work gets a turn. */
const TURN_MS = 10

/** Where a pack is written; it is read when it is whole. */
class Packing implements Medium {
  readonly #bytes = new ByteStack()

  constructor() {
    this.#bytes.raw(MAGIC)
    align(this.#bytes)
  }

  append(bytes: Uint8Array): number {
    return pushObject(bytes, this.#bytes)
  }

  read(): never {
    throw new Error('a pack is not read while it is written')
  }

  /** @param root the position of the state */
  finish(root: number): Uint8Array {
    this.#bytes.raw(endOf(root))
    return new Uint8Array(this.#bytes.pop(0))
  }
}

/** The same bytes for the same state. The fork of a forked state is not in them: it must be given to read them. */
export function packState(value: ChainState): Uint8Array {
  const packing = new Packing()
  return packing.finish(new Objects(packing).write(value, stateObject))
}

/** As `packState`, in turns. */
export async function packInTurns(
  value: ChainState,
  turnMs: number = TURN_MS,
): Promise<Uint8Array> {
  const packing = new Packing()
  const objects = new Objects(packing)
  for (;;) {
    const position = objects.writeFor(turnMs, value, stateObject)
    if (position !== undefined) return packing.finish(position)
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
  const bytesAt = (at: number, length: number): Buffer => whole.subarray(at, at + length)
  const root = rootIn(frameAt(whole.length - END_LENGTH, bytesAt))
  if (root === undefined) throw damaged(whole.length - END_LENGTH)
  const medium: Medium = {
    append: () => {
      throw new Error('a pack does not grow')
    },
    read: (position) => {
      const frame = position < START ? undefined : frameAt(position, bytesAt)
      if (frame === undefined) throw damaged(position)
      return frame.body
    },
  }
  const forks = new Map(fork && [[fork.upstream.source.name, fork]])
  return new Objects(medium, forks).read(root, stateObject)
}
