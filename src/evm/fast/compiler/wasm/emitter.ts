// Writes the body of a trace's function: instructions, locals, and words as four limbs, each a constant or a local.
import { FRAME_MEMORY_SIZE } from '../../layout.ts'
import * as wasm from './instructions.ts'
import * as locals from './locals.ts'
import { Writer } from './writer.ts'

/** 64 bits: a constant, or the index of a local. */
export type Limb = bigint | number

export type Limbs = readonly [Limb, Limb, Limb, Limb]

export const MAX_LIMB: bigint = 2n ** 64n - 1n

export class Emitter {
  readonly out: Writer = new Writer()
  nextLocal: number = locals.FIRST_LIMB
  depth = 0

  clear(): void {
    this.out.clear()
    this.nextLocal = locals.FIRST_LIMB
    this.depth = 0
  }

  op(opcode: number): void {
    this.out.byte(opcode)
  }

  get(local: number): void {
    this.out.byte(wasm.LOCAL_GET)
    this.out.unsigned(local)
  }

  set(local: number): void {
    this.out.byte(wasm.LOCAL_SET)
    this.out.unsigned(local)
  }

  tee(local: number): void {
    this.out.byte(wasm.LOCAL_TEE)
    this.out.unsigned(local)
  }

  keep(): number {
    const local = this.nextLocal++
    this.set(local)
    return local
  }

  newLocal(): number {
    return this.nextLocal++
  }

  i32(value: number): void {
    this.out.byte(wasm.I32_CONST)
    this.out.signed32(value)
  }

  i64(value: bigint): void {
    this.out.byte(wasm.I64_CONST)
    this.out.signed64(value)
  }

  limb(value: Limb): void {
    if (typeof value === 'bigint') this.i64(value)
    else this.get(value)
  }

  call(index: number): void {
    this.out.byte(wasm.CALL)
    this.out.unsigned(index)
  }

  load64(offset: number): void {
    this.#access(wasm.I64_LOAD, 3, offset)
  }

  store64(offset: number): void {
    this.#access(wasm.I64_STORE, 3, offset)
  }

  load32(offset: number): void {
    this.#access(wasm.I32_LOAD, 2, offset)
  }

  store32(offset: number): void {
    this.#access(wasm.I32_STORE, 2, offset)
  }

  frame32(offset: number): void {
    this.get(locals.FRAME)
    this.load32(offset)
  }

  global32(place: number): void {
    this.i32(0)
    this.load32(place)
  }

  /** Pops a number into a local; negative becomes 0. */
  setAtLeastZero(local: number): void {
    this.tee(local)
    this.i64(0n)
    this.get(local)
    this.i64(0n)
    this.op(wasm.I64_GT_S)
    this.op(wasm.SELECT)
    this.set(local)
  }

  readLimit(): void {
    this.frame32(FRAME_MEMORY_SIZE)
    this.op(wasm.I64_EXTEND_I32_U)
    this.i64(31n)
    this.op(wasm.I64_SUB)
    this.setAtLeastZero(locals.LIMIT)
  }

  #access(opcode: number, alignment: number, offset: number): void {
    this.out.byte(opcode)
    this.out.byte(alignment)
    this.out.unsigned(offset)
  }

  vector(opcode: number): void {
    this.out.byte(wasm.VECTOR)
    this.out.unsigned(opcode)
  }

  /** Needs no alignment. */
  vectorAccess(opcode: number, offset: number): void {
    this.vector(opcode)
    this.out.byte(0)
    this.out.unsigned(offset)
  }

  if(): void {
    this.out.byte(wasm.IF)
    this.out.byte(wasm.TYPE_EMPTY)
    this.depth++
  }

  else(): void {
    this.out.byte(wasm.ELSE)
  }

  end(): void {
    this.out.byte(wasm.END)
    this.depth--
  }

  putWord(limbs: Limbs, address: number): void {
    for (let i = 0; i < 4; i++) {
      this.i32(0)
      this.limb(limbs[i] ?? 0n)
      this.store64(address + 8 * i)
    }
  }

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
