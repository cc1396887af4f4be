// Withdrawals: stake that comes back from the beacon chain (EIP-4895).
import type { Address, Hash } from '../../core/hex.ts'
import { decodeRlp, encodeRlp } from '../../core/rlp.ts'
import { ListFields } from '../fields.ts'
import { orderedTrieRoot } from './orderedtrie.ts'

export interface Withdrawal {
  readonly index: bigint
  readonly validatorIndex: bigint
  readonly address: Address
  /** In gwei, unlike all other amounts. */
  readonly amountGwei: bigint
}

const MEMBERS = 4

export function withdrawalsRoot(withdrawals: readonly Withdrawal[]): Hash {
  return orderedTrieRoot(withdrawals.map(encodeWithdrawal))
}

export function encodeWithdrawal(withdrawal: Withdrawal): Uint8Array {
  const { index, validatorIndex, address, amountGwei } = withdrawal
  return encodeRlp([index, validatorIndex, address, amountGwei])
}

export function decodeWithdrawal(encoded: Uint8Array, position: number): Withdrawal {
  const fields = new ListFields(
    decodeRlp(encoded, MEMBERS + 1),
    `withdrawal ${position}`,
    MEMBERS,
    MEMBERS,
  )
  return {
    index: fields.integer('index', 8),
    validatorIndex: fields.integer('validatorIndex', 8),
    address: fields.address('address'),
    amountGwei: fields.integer('amount', 8),
  }
}
