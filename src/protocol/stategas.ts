// Gas for growth of the state, a second dimension beside execution since amsterdam (EIP-8037), and how a transaction's gas
// splits into both. Values are of glamsterdam-devnet v8.1.
import { larger, smaller } from '../core/bigints.ts'
import type { BlockGas } from './blocks/receipt.ts'
import { type Hardfork, isAtLeast } from './forks.ts'

const GAS_PER_BYTE = 1530n

/** In bytes an account counts 120, a slot 64, a delegation 23. */
export const NEW_ACCOUNT_STATE_GAS: bigint = 120n * GAS_PER_BYTE
export const NEW_SLOT_STATE_GAS: bigint = 64n * GAS_PER_BYTE
export const DELEGATION_STATE_GAS: bigint = 23n * GAS_PER_BYTE

/** Execution gas of the first write to an account in a transaction (EIP-8038). */
export const ACCOUNT_WRITE_GAS = 9_000n

/** Execution gas of one transaction, intrinsic gas included; the rest of its limit pays for state only. */
export const EXECUTION_GAS_CAP: bigint = 2n ** 24n

/** Undefined if something else ended the run. A lack of state gas looks the same, as a failed run forfeits what it paid for state. */
export function describeCap(reason: string, blockGas: BlockGas | undefined): string | undefined {
  if (reason !== 'out of gas' || blockGas?.execution !== EXECUTION_GAS_CAP) return undefined
  return `it had all ${EXECUTION_GAS_CAP} execution gas that a transaction may have; more gas pays for state only`
}

/** The reservoir of a system call: enough for 16 new slots. */
export const SYSTEM_STATE_GAS: bigint = 16n * NEW_SLOT_STATE_GAS

/** The gas of a transaction in both dimensions. State gas is taken from the reservoir, then from execution gas: it spills. */
export class GasMeter {
  gas: bigint
  reservoir: bigint
  readonly #granted: bigint
  /** Paid for state with execution gas. */
  #spilled = 0n

  constructor(gasLimit: bigint, intrinsic: bigint) {
    const whole = gasLimit - intrinsic
    this.gas = smaller(EXECUTION_GAS_CAP - intrinsic, whole)
    this.reservoir = whole - this.gas
    this.#granted = this.reservoir
  }

  /** Below 0 if more was given back than paid, for slots of earlier transactions. */
  get stateUsed(): bigint {
    return this.#granted - this.reservoir + this.#spilled
  }

  /** False if there is too little; nothing changes then. */
  pay(execution: bigint): boolean {
    if (this.gas < execution) return false
    this.gas -= execution
    return true
  }

  payState(amount: bigint): boolean {
    const spill = larger(amount - this.reservoir, 0n)
    if (this.gas < spill) return false
    this.reservoir -= amount - spill
    this.gas -= spill
    this.#spilled += spill
    return true
  }

  /** What the execution used and left. */
  take(gasUsed: bigint, left: { readonly reservoir: bigint; readonly spilled: bigint }): void {
    this.gas -= gasUsed
    this.reservoir = left.reservoir
    this.#spilled += left.spilled
  }

  /** Forfeits the execution gas; state gas that was paid goes back (a failure before execution). */
  fail(): void {
    this.gas = 0n
    this.#spilled = 0n
    this.reservoir = this.#granted
  }
}

/**
 * What a transaction needs of a block, and what is left. Since amsterdam any part of a gas limit may go to either
 * dimension, but execution is capped: the scarcer one counts.
 */
export function blockRoom(
  gasLimit: bigint,
  blockGasLimit: bigint,
  counted: BlockGas,
  hardfork: Hardfork,
): { readonly needed: bigint; readonly left: bigint; readonly isOfState: boolean } {
  const left = blockGasLimit - counted.execution
  const stateLeft = blockGasLimit - counted.state
  const isCapped = isAtLeast(hardfork, 'amsterdam')
  const needed = isCapped ? smaller(gasLimit, EXECUTION_GAS_CAP) : gasLimit
  const isOfState = needed <= left && gasLimit > stateLeft
  return isOfState ? { needed: gasLimit, left: stateLeft, isOfState } : { needed, left, isOfState }
}
