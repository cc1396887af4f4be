// A trace under compilation: a straight row of operations with exits. The head charges the gas of all, and exits refund the
// unused part. It exits before unusual cases, so that only the interpreter decides on gas and errors.
import type { Emitter, Limb } from '../wasm/emitter.ts'
import * as wasm from '../wasm/instructions.ts'
import { isKnown } from '../wasm/limbs.ts'
import * as locals from '../wasm/locals.ts'
import { type StackSnapshot, SymbolicStack, type Word } from './stack.ts'

export type TraceStep = Readonly<Record<'pc' | 'opcode' | 'gas' | 'next', number>>

export interface Exit {
  readonly pc: number
  readonly snapshot: StackSnapshot
  readonly used: number
  readonly passed: number
  /** The code behind it may be compiled too. */
  readonly isLinked: boolean
  /** The index among used exits; undefined until the first branch. */
  label: number | undefined
}

export interface TraceCode {
  readonly bytes: Uint8Array
  readonly isDestination: (pc: number) => boolean
}

export class TraceBuilder {
  readonly code: TraceCode
  readonly emitter: Emitter
  readonly stack: SymbolicStack
  readonly exits: Exit[] = []
  /** Gas of all operations, and of those passed. */
  readonly total: number
  used = 0
  passed = 0
  hasEnded = false
  /** It contains a jump with unknown target, which may lead elsewhere at another place. */
  hasUnknownJump = false
  knownMemory = 0

  constructor(code: TraceCode, total: number, emitter: Emitter) {
    this.code = code
    this.total = total
    this.emitter = emitter
    this.stack = new SymbolicStack(emitter)
  }

  exit(pc: number, used: number = this.used, isLinked = false): Exit {
    const passed = used > this.used ? this.passed + 1 : this.passed
    return { pc, snapshot: this.stack.snapshot(), used, passed, isLinked, label: undefined }
  }

  leaveIf(exit: Exit): void {
    this.emitter.op(wasm.BR_IF)
    this.#target(exit)
  }

  #target(exit: Exit): void {
    if (exit.label === undefined) {
      exit.label = this.exits.length
      this.exits.push(exit)
    }
    // skip the open blocks and the loop
    this.emitter.out.unsigned(this.emitter.depth + 1 + exit.label)
  }

  end(exit: Exit): void {
    this.emitter.op(wasm.BR)
    this.#target(exit)
    this.hasEnded = true
  }

  needZero(limb: Limb, exit: Exit): void {
    if (limb === 0n) return
    this.emitter.limb(limb)
    this.emitter.op(wasm.I64_EQZ)
    this.emitter.op(wasm.I32_EQZ)
    this.leaveIf(exit)
  }

  needNonZero(limb: Limb, exit: Exit): void {
    if (isKnown(limb) && limb !== 0n) return
    this.emitter.limb(limb)
    this.emitter.op(wasm.I64_EQZ)
    this.leaveIf(exit)
  }

  /** The i64 on the stack is the gas left; exits if below 0. */
  payOrLeave(exit: Exit): void {
    this.emitter.tee(locals.LEFT)
    this.emitter.i64(0n)
    this.emitter.op(wasm.I64_LT_S)
    this.leaveIf(exit)
    this.emitter.get(locals.LEFT)
    this.emitter.set(locals.GAS)
  }

  /** Prepaid gas of the operations behind this one. */
  ahead(step: TraceStep): bigint {
    return BigInt(this.total - this.used - step.gas)
  }

  upper(word: Word): readonly Limb[] {
    return this.stack.limbs(word).slice(1)
  }
}
