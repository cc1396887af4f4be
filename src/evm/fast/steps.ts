// Builds trace steps from the instance's events, which contain only changes of the stack.
import { type Address, EMPTY_BYTES, equalBytes } from '../../core/hex.ts'
import { type Hardfork, isAtLeast, NEWEST_HARDFORK } from '../../protocol/forks.ts'
import type { Step, Tracer } from '../executor.ts'
import { farWords, namesAt, OP, operationsAt } from '../opcodes.ts'
import type { Instance } from './instance.ts'
import * as layout from './layout.ts'

/** 1 for operations that push a word. DUP and SWAP are derived from the stack. */
const LEAVES = new Uint8Array(256)
for (const [opcode, { leaves }] of operationsAt(NEWEST_HARDFORK)) LEAVES[opcode] = leaves

const NO_WORDS: readonly bigint[] = []

interface OpenFrame {
  readonly stack: bigint[]
  last: number
  /** The byte behind the last operation. */
  immediate: number
  memory: Uint8Array
}

export class Steps {
  readonly #instance: Instance
  readonly #frames: OpenFrame[] = []
  #hardfork: Hardfork | undefined
  #names: readonly string[] = []
  #watchesStack = false
  #watchesTop = false
  #watchesGas = true
  #countsState = false
  #stackOf: ReadonlySet<number> | undefined

  constructor(instance: Instance) {
    this.#instance = instance
  }

  begin(tracer: Tracer, hardfork: Hardfork): void {
    this.#frames.length = 0
    this.#countsState = isAtLeast(hardfork, 'amsterdam')
    if (this.#hardfork !== hardfork) this.#names = namesAt(hardfork)
    this.#hardfork = hardfork
    const { stack = true, only, stackOf, gas = true } = tracer.stepParts ?? {}
    this.#watchesGas = gas
    this.#stackOf = stackOf
    this.#watchesStack = stack && only === undefined
    this.#watchesTop = stack && only !== undefined
  }

  enter(at: number): void {
    const depth = this.#instance.number(at + layout.EVENT_DEPTH)
    this.#frames[depth] = { stack: [], last: -1, immediate: 0, memory: EMPTY_BYTES }
  }

  stepAt(at: number, address: Address): Step {
    const instance = this.#instance
    const depth = instance.number(at + layout.EVENT_DEPTH)
    const opcode = instance.number(at + layout.EVENT_OPCODE)
    const frame = this.#frames[depth]
    if (frame === undefined)
      throw new Error(`the instance reports a step without a frame at depth ${depth}`)
    const unchanged = this.#watchesStack ? this.#follow(frame, at) : 0
    frame.last = opcode
    frame.immediate = instance.number(at + layout.STEP_IMMEDIATE)
    return {
      pc: instance.number(at + layout.STEP_PC),
      opcode,
      opName: this.#names[opcode] as string,
      gas: this.#watchesGas ? instance.long(at + layout.EVENT_GAS) : 0n,
      gasCost: this.#watchesGas ? instance.long(at + layout.STEP_COST) : 0n,
      refund: this.#watchesGas ? instance.long(at + layout.STEP_REFUND) : 0n,
      depth,
      address,
      stack: this.#stackAt(frame, opcode, at),
      unchanged,
      memory: frame.memory,
      loaded: opcode === OP.SLOAD ? instance.word(at + layout.STEP_LOADED) : undefined,
      state: this.#watchesGas && this.#countsState ? this.#stateAt(at) : undefined,
    }
  }

  #stateAt(at: number): Step['state'] {
    const reservoir = this.#instance.long(at + layout.STEP_RESERVOIR)
    const cost = BigInt.asIntN(64, this.#instance.long(at + layout.STEP_STATE_COST))
    return { reservoir, cost }
  }

  #stackAt(frame: OpenFrame, opcode: number, at: number): readonly bigint[] {
    if (!this.#watchesTop) return frame.stack
    return this.#stackOf?.has(opcode) === false ? NO_WORDS : this.#topAt(at)
  }

  /** Steps share memory that did not change between them. */
  readMemory(depth: number, place: number, size: number): void {
    this.#instance.refresh()
    const frame = this.#frames[depth]
    const memory = this.#instance.bytes.subarray(place, place + size)
    if (frame !== undefined && !equalBytes(frame.memory, memory)) frame.memory = memory.slice()
  }

  /** @returns unchanged words at the bottom */
  #follow({ stack, last, immediate }: OpenFrame, at: number): number {
    if (last >= OP.SWAP1 && last <= OP.SWAP16) return swap(stack, 0, last - OP.SWAP1 + 1)
    if (last === OP.SWAPN || last === OP.EXCHANGE) return swap(stack, ...farWords(last, immediate)!)
    if (last >= OP.DUP1 && last <= OP.DUP16) {
      return stack.push(stack[stack.length - 1 - (last - OP.DUP1)] as bigint) - 1
    }
    const height = this.#instance.number(at + layout.STEP_HEIGHT)
    const leaves = last === -1 ? 0 : (LEAVES[last] as number)
    const unchanged = height - leaves
    while (stack.length > unchanged) stack.pop()
    if (leaves > 0) stack.push(this.#instance.word(at + layout.STEP_TOP))
    return unchanged
  }

  #topAt(at: number): readonly bigint[] {
    const isEmpty = this.#instance.number(at + layout.STEP_HEIGHT) === 0
    return isEmpty ? [] : [this.#instance.word(at + layout.STEP_TOP)]
  }
}

/** @returns unchanged words at the bottom */
function swap(stack: bigint[], nearer: number, other: number): number {
  const top = stack.length - 1
  const word = stack[top - nearer] as bigint
  stack[top - nearer] = stack[top - other] as bigint
  stack[top - other] = word
  return top - other
}
