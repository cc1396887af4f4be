// Addresses of creations as anvil keeps them, even of failed ones.
import { createdAddress } from '../../core/crypto/crypto.ts'
import type { Address } from '../../core/hex.ts'
import { encodeRlp } from '../../core/rlp.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'

export function createdBy({ from, to, nonce }: Transaction): Address | null {
  return to === null ? createdAddress(encodeRlp([from, nonce])) : null
}
