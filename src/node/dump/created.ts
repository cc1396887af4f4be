// The contracts of creations, as anvil keeps them: named also where they were not made in the end.
import { createdAddress } from '../../core/crypto/crypto.ts'
import type { Address } from '../../core/hex.ts'
import { encodeRlp } from '../../core/rlp.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'

/** What a transaction makes, or would have made; null where it creates nothing. */
export function createdBy({ from, to, nonce }: Transaction): Address | null {
  return to === null ? createdAddress(encodeRlp([from, nonce])) : null
}
