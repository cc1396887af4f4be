// The gas of a message around its execution, in one dimension, or in two since amsterdam (EIP-8037). Classes, because closures
// took a fifth of a transfer.
import { larger, smaller } from '../core/bigints.ts'
import { type Address, EMPTY_BYTES, ZERO_ADDRESS } from '../core/hex.ts'
import { floorDataGas, type GasRelevant, intrinsicGas, maxRefund } from '../protocol/fees.ts'
import { type Hardfork, isAtLeast } from '../protocol/forks.ts'
import {
  ACCOUNT_WRITE_GAS,
  DELEGATION_STATE_GAS,
  GasMeter,
  NEW_ACCOUNT_STATE_GAS,
} from '../protocol/stategas.ts'
import { delegationTo, isDelegation } from '../protocol/transactions/delegation.ts'
import {
  type Authorization,
  authorityOf,
  HALF_ORDER,
} from '../protocol/transactions/transaction.ts'
import { MAX_NONCE } from '../protocol/transactions/transactionrules.ts'
import { Overlay } from '../state/overlay.ts'
import type { Account } from '../state/world.ts'
import type { BlockEnvironment, GasNeed, Message, Outcome } from './executor.ts'
import type { MachineResult } from './machine.ts'

export interface Metering {
  /** For the machine. */
  readonly gas: bigint
  readonly stateGas: bigint
  readonly authorities: readonly Address[]
  /** True: since amsterdam. */
  readonly isOfState: boolean
  /** False: the gas is too little to begin. */
  readonly isPrepared: boolean
  /** Pays for an account that a plain transfer creates; false if the gas is too little. */
  payNewAccount(): boolean
  bill(result: MachineResult): Bill
}

export type Bill = Pick<Outcome, 'gasUsed' | 'gasRefund' | 'gasNeed' | 'blockGas'>

type Metered = GasRelevant & Pick<Message, 'gasLimit'>

/** Applies the authorizations. */
export function meteringOf(overlay: Overlay, message: Metered, block: BlockEnvironment): Metering {
  const isOfState = isAtLeast(block.hardfork, 'amsterdam')
  return isOfState ? new InTwo(overlay, message, block) : new InOne(overlay, message, block)
}

/** Machines count gas in signed 64 bits. A halt consumes the rest too. */
const GAS_CEILING = 2n ** 63n - 1n

class InOne implements Metering {
  readonly gas: bigint
  readonly stateGas = 0n
  readonly authorities: readonly Address[]
  readonly isOfState = false
  readonly isPrepared = true
  readonly #message: Metered
  readonly #hardfork: Hardfork
  readonly #intrinsic: bigint
  readonly #refund: bigint

  constructor(overlay: Overlay, message: Metered, { hardfork, chainId }: BlockEnvironment) {
    this.#message = message
    this.#hardfork = hardfork
    this.#intrinsic = intrinsicGas(message, hardfork)
    const { refund, authorities } = authorize(overlay, message, chainId)
    this.authorities = authorities
    this.#refund = refund
    this.gas = smaller(message.gasLimit - this.#intrinsic, GAS_CEILING)
  }

  payNewAccount(): boolean {
    return true
  }

  /** Caps refunds and applies the calldata floor price (EIP-7623). */
  bill({ gasUsed: used, refund, gasNeed }: MachineResult): Bill {
    const intrinsic = this.#intrinsic
    const spent = used === this.gas ? this.#message.gasLimit : intrinsic + used
    const refunded = smaller(this.#refund + refund, maxRefund(spent, this.#hardfork))
    const gasUsed = larger(spent - refunded, floorDataGas(this.#message, this.#hardfork))
    return {
      gasUsed,
      gasRefund: larger(spent - gasUsed, 0n),
      gasNeed: gasNeed && { gas: intrinsic + gasNeed.gas, isCertain: gasNeed.isCertain },
      blockGas: undefined,
    }
  }
}

class InTwo implements Metering {
  readonly gas: bigint
  readonly stateGas: bigint
  readonly authorities: readonly Address[]
  readonly isOfState = true
  readonly isPrepared: boolean
  readonly #overlay: Overlay
  readonly #message: Metered
  readonly #hardfork: Hardfork
  readonly #gasLimit: bigint
  readonly #meter: GasMeter
  /** Accounts that the authorizations changed, as they were before. */
  readonly #before = new Map<Address, Account | undefined>()

  constructor(overlay: Overlay, message: Metered, { hardfork, chainId }: BlockEnvironment) {
    this.#overlay = overlay
    this.#message = message
    this.#hardfork = hardfork
    this.#gasLimit = smaller(message.gasLimit, GAS_CEILING)
    this.#meter = new GasMeter(this.#gasLimit, intrinsicGas(message, hardfork))
    const { authorities, isPaid } = this.#authorize(chainId)
    this.authorities = authorities
    this.isPrepared = isPaid
    this.gas = this.#meter.gas
    this.stateGas = this.#meter.reservoir
  }

  #authorize(chainId: bigint): Authorized {
    const message = this.#message
    if (message.authorizationList.length === 0) {
      return authorize(this.#overlay, message, chainId, this.#meter)
    }
    const authorized = new Overlay(this.#overlay)
    const result = authorize(authorized, message, chainId, this.#meter)
    const { changes } = authorized
    for (const address of changes.accounts.keys()) {
      this.#before.set(address, this.#overlay.account(address))
    }
    this.#overlay.absorb(changes)
    return result
  }

  #unauthorize(): void {
    for (const [address, account] of this.#before) {
      if (account === undefined) this.#overlay.deleteAccount(address)
      else this.#overlay.setAccount(account)
    }
  }

  payNewAccount(): boolean {
    return this.#meter.payState(NEW_ACCOUNT_STATE_GAS)
  }

  /**
   * If the gas was too little before the first operation, authorizations are void. Blocks count gas before refunds (EIP-7778);
   * the floor of the calldata counts as execution.
   */
  bill(result: MachineResult): Bill {
    const { state, gasNeed } = result
    const meter = this.#meter
    if (state?.isUnprepared) {
      this.#unauthorize()
      meter.fail()
    } else if (state !== undefined) meter.take(result.gasUsed, state)
    const floor = floorDataGas(this.#message, this.#hardfork)
    const spent = this.#gasLimit - meter.gas - meter.reservoir
    const gasUsed = larger(spent - smaller(result.refund, maxRefund(spent, this.#hardfork)), floor)
    const stateGas = larger(meter.stateUsed, 0n)
    return {
      gasUsed,
      gasRefund: larger(spent - gasUsed, 0n),
      blockGas: { execution: larger(spent - stateGas, floor), state: stateGas },
      gasNeed: gasNeed && this.#needOf(gasNeed, state !== undefined),
    }
  }

  /** What the reservoir paid counts as it is: with less gas execution gas pays, unevenly among calls. A transfer makes none. */
  #needOf({ gas, isCertain }: GasNeed, hasRun: boolean): GasNeed {
    const { gas: left, reservoir } = this.#meter
    if (!hasRun) return { gas: this.#gasLimit - left - reservoir, isCertain }
    const before = this.#gasLimit - this.gas - this.stateGas
    const reserved = larger(this.stateGas - reservoir, 0n)
    return { gas: before + gas + reserved, isCertain: isCertain && reserved === 0n }
  }
}

/** Refunded for an authorization whose account existed, before amsterdam. */
const EXISTING_REFUND = 12_500n

export interface Authorized {
  /** Before amsterdam. */
  readonly refund: bigint
  /** Of valid signatures, even if the authorization was skipped. */
  readonly authorities: readonly Address[]
  /** False: the gas is too little, and the caller has to undo the changes. */
  readonly isPaid: boolean
}

const NOTHING: Authorized = { refund: 0n, authorities: [], isPaid: true }

/**
 * Skips invalid authorizations. The others stay even if execution fails.
 * @param meter since amsterdam: pays state gas for a new account or delegation, and the first write to an account (EIP-8037,
 * EIP-2780)
 */
export function authorize(
  overlay: Overlay,
  message: Pick<Message, 'from' | 'to' | 'value' | 'authorizationList'>,
  chainId: bigint,
  meter?: GasMeter,
): Authorized {
  const { from, to, value, authorizationList } = message
  if (authorizationList.length === 0) return NOTHING
  let refund = 0n
  const authorities: Address[] = []
  const written = new Set<Address>([from])
  if (to !== null && value > 0n) written.add(to)
  const delegated = new Set<Address>()
  for (const authorization of authorizationList) {
    const authority = validAuthority(overlay, authorization, chainId, authorities)
    if (authority === undefined) continue
    const isNew = overlay.account(authority) === undefined
    const isFirst = authorization.address !== ZERO_ADDRESS && !delegated.has(authority)
    const wasDelegated = isDelegation(overlay.originalAccount(authority)?.code ?? EMPTY_BYTES)
    if (authorization.address !== ZERO_ADDRESS) delegated.add(authority)
    const isPaid =
      meter === undefined ||
      (meter.payState(isNew ? NEW_ACCOUNT_STATE_GAS : 0n) &&
        meter.pay(written.has(authority) ? 0n : ACCOUNT_WRITE_GAS) &&
        meter.payState(isFirst && !wasDelegated ? DELEGATION_STATE_GAS : 0n))
    if (!isPaid) return { refund, authorities, isPaid }
    if (!isNew) refund += EXISTING_REFUND
    written.add(authority)
    const { address, nonce } = authorization
    overlay.setCode(authority, address === ZERO_ADDRESS ? EMPTY_BYTES : delegationTo(address))
    overlay.set(authority, { nonce: nonce + 1n })
  }
  return { refund, authorities, isPaid: true }
}

/** Adds the signer to `authorities`. Undefined: the authorization is invalid. */
function validAuthority(
  overlay: Overlay,
  authorization: Authorization,
  chainId: bigint,
  authorities: Address[],
): Address | undefined {
  const { nonce, s } = authorization
  if (authorization.chainId !== 0n && authorization.chainId !== chainId) return undefined
  if (nonce > MAX_NONCE || s > HALF_ORDER) return undefined
  const authority = authorityOf(authorization)
  if (authority === undefined) return undefined
  authorities.push(authority)
  const account = overlay.account(authority)
  const code = account?.code ?? EMPTY_BYTES
  if (code.length > 0 && !isDelegation(code)) return undefined
  return (account?.nonce ?? 0n) === nonce ? authority : undefined
}
