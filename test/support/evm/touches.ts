// Collects accounts and slots that the library's EVM reads, from steps and frames.
import type { InterpreterStep } from '@ethereumjs/evm'
import { type Address, addressFromBytes, paddedBytes } from '../../../src/core/hex.ts'
import type { FrameEnd, FrameStart, Touched } from '../../../src/evm/executor.ts'
import { OP, type Operation, operationsAt } from '../../../src/evm/opcodes.ts'
import { type Hardfork, isAtLeast } from '../../../src/protocol/forks.ts'
import { delegateOf } from '../../../src/protocol/transactions/delegation.ts'
import type { Overlay } from '../../../src/state/overlay.ts'

/** Operations with an address on top of the stack. */
const LOOKING_AT: ReadonlySet<number> = new Set([
  ...[OP.BALANCE, OP.EXTCODESIZE, OP.EXTCODECOPY, OP.EXTCODEHASH, OP.SELFDESTRUCT],
])

/** Operations with an address below the gas. */
const CALLING: ReadonlySet<number> = new Set([
  ...[OP.CALL, OP.CALLCODE, OP.DELEGATECALL, OP.STATICCALL],
])

/** SSTORE requires more than this (EIP-2200). */
const SENTRY_GAS = 2300n

const WARM_GAS = 100n

export class Touches {
  readonly #touched = new Map<Address, Set<bigint>>()
  readonly #state: () => Overlay
  readonly #hardfork: Hardfork
  readonly #operations: ReadonlyMap<number, Operation>
  readonly #isStatic: boolean[] = []

  constructor(state: () => Overlay, hardfork: Hardfork) {
    this.#state = state
    this.#hardfork = hardfork
    this.#operations = operationsAt(hardfork)
  }

  get touched(): Touched {
    return new Map([...this.#touched].map(([address, slots]) => [address, [...slots]]))
  }

  step(step: InterpreterStep): void {
    const { code } = step.opcode
    const word = step.stack.at(CALLING.has(code) ? -2 : -1)
    if (word === undefined || !this.#isTried(step)) return
    if (code === OP.SLOAD || code === OP.SSTORE) {
      this.#touch(addressFromBytes(step.address.bytes)).add(word)
    } else if (LOOKING_AT.has(code) || CALLING.has(code)) {
      this.#touch(addressFromBytes(paddedBytes(word, 20)))
    }
  }

  enter({ to }: FrameStart, isStatic: boolean): void {
    this.#isStatic.push(isStatic)
    if (to === null) return
    this.#touch(to)
    const delegate = delegateOf(this.#state().code(to))
    const isFollowed = delegate !== undefined && isAtLeast(this.#hardfork, 'prague')
    if (isFollowed) this.#touch(delegate)
  }

  exit({ created }: FrameEnd): void {
    this.#isStatic.pop()
    if (created !== undefined) this.#touch(created)
  }

  /** True if gas and stack suffice for the access. */
  #isTried({ opcode: { code, dynamicFee }, gasLeft, stack }: InterpreterStep): boolean {
    const operation = this.#operations.get(code)
    const isCold = isAtLeast(this.#hardfork, 'berlin') && (dynamicFee ?? 0n) > WARM_GAS
    if (code === OP.SLOAD && isCold && gasLeft < (dynamicFee ?? 0n)) return false
    if (operation === undefined || stack.length < operation.takes || gasLeft < operation.gas) {
      return false
    }
    const pays = code === OP.CALL && stack.at(-3) !== 0n
    const changes = code === OP.SSTORE || code === OP.SELFDESTRUCT || pays
    if (changes && this.#isStatic.at(-1) === true) return false
    return code !== OP.SSTORE || gasLeft > SENTRY_GAS || !isAtLeast(this.#hardfork, 'istanbul')
  }

  #touch(address: Address): Set<bigint> {
    const slots = this.#touched.get(address) ?? new Set()
    this.#touched.set(address, slots)
    return slots
  }
}
