// Writes the body of a trace's function: instructions, locals, and 256-bit words as four limbs. A limb is a known number or
// a local.
import {
  CALL,
  ELSE,
  END,
  I32_CONST,
  I32_LOAD,
  I32_STORE,
  I64_CONST,
  I64_LOAD,
  I64_STORE,
  IF,
  LOCAL_GET,
  LOCAL_SET,
  LOCAL_TEE,
  TYPE_EMPTY,
  VECTOR,
} from './instructions.ts'
import { Writer } from './writer.ts'

/** 64 bits: a constant, or the number of the local that holds them. */
export type Limb = bigint | number

/** 256 bits, the lowest first. */
export type Limbs = readonly [Limb, Limb, Limb, Limb]

export const MAX_LIMB: bigint = 2n ** 64n - 1n

/** Locals with a given meaning. The first is the function's parameter. */
export const FRAME_LOCAL = 0
/** The stack's place of the lowest slot that the trace knows of. */
export const BASE_LOCAL = 1
/** Where the frame's memory begins. */
export const MEMORY_LOCAL = 2
export const ADDRESS_LOCAL = 3
/** Of the exits: what the cell holds that they count in. */
export const COUNT_LOCAL = 4
export const VECTOR_LOCAL = 5
/** Gas left when the whole trace is paid. */
export const GAS_LOCAL = 6
/** A word may be read at offsets below: the memory's size less 31, at least 0. */
export const LIMIT_LOCAL = 7
/** Below so much gas a loop leaves at its head. */
export const YIELD_LOCAL = 8
export const LEFT_LOCAL = 9
/** From here on locals hold limbs. */
const FIRST_LIMB_LOCAL = 10

/** Writes instructions. */
export class Emitter {
  readonly out: Writer = new Writer()
  /** Number of the next free local. */
  nextLocal: number = FIRST_LIMB_LOCAL
  /** Blocks that are open within the trace's loop. */
  depth = 0

  clear(): void {
    this.out.clear()
    this.nextLocal = FIRST_LIMB_LOCAL
    this.depth = 0
  }

  /** Instructions without operands. */
  op(opcode: number): void {
    this.out.byte(opcode)
  }

  get(local: number): void {
    this.out.byte(LOCAL_GET)
    this.out.unsigned(local)
  }

  set(local: number): void {
    this.out.byte(LOCAL_SET)
    this.out.unsigned(local)
  }

  tee(local: number): void {
    this.out.byte(LOCAL_TEE)
    this.out.unsigned(local)
  }

  /** Puts the value on the stack into a local of its own. */
  keep(): number {
    const local = this.nextLocal++
    this.set(local)
    return local
  }

  newLocal(): number {
    return this.nextLocal++
  }

  i32(value: number): void {
    this.out.byte(I32_CONST)
    this.out.signed32(value)
  }

  i64(value: bigint): void {
    this.out.byte(I64_CONST)
    this.out.signed64(value)
  }

  limb(value: Limb): void {
    if (typeof value === 'bigint') this.i64(value)
    else this.get(value)
  }

  call(index: number): void {
    this.out.byte(CALL)
    this.out.unsigned(index)
  }

  load64(offset: number): void {
    this.#access(I64_LOAD, 3, offset)
  }

  store64(offset: number): void {
    this.#access(I64_STORE, 3, offset)
  }

  load32(offset: number): void {
    this.#access(I32_LOAD, 2, offset)
  }

  store32(offset: number): void {
    this.#access(I32_STORE, 2, offset)
  }

  #access(opcode: number, alignment: number, offset: number): void {
    this.out.byte(opcode)
    this.out.byte(alignment)
    this.out.unsigned(offset)
  }

  vector(opcode: number): void {
    this.out.byte(VECTOR)
    this.out.unsigned(opcode)
  }

  /** Loads or stores a vector wherever it stands. */
  vectorAccess(opcode: number, offset: number): void {
    this.vector(opcode)
    this.out.byte(0)
    this.out.unsigned(offset)
  }

  /** Begins a block that is run when the i32 on the stack is not 0. */
  if(): void {
    this.out.byte(IF)
    this.out.byte(TYPE_EMPTY)
    this.depth++
  }

  else(): void {
    this.out.byte(ELSE)
  }

  end(): void {
    this.out.byte(END)
    this.depth--
  }

  /** Stores a word at a fixed place. */
  putWord(limbs: Limbs, address: number): void {
    for (let i = 0; i < 4; i++) {
      this.i32(0)
      this.limb(limbs[i] ?? 0n)
      this.store64(address + 8 * i)
    }
  }

  /** Loads a word from a fixed place; limbs from `count` on are known to be 0. */
  takeWord(address: number, count = 4): Limbs {
    const limb = (i: number): Limb => {
      if (i >= count) return 0n
      this.i32(0)
      this.load64(address + 8 * i)
      return this.keep()
    }
    return [limb(0), limb(1), limb(2), limb(3)]
  }
}
