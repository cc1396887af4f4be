// Decodes blocks in the form in which nodes export and exchange them.
import { keccakHash } from '../../core/crypto/crypto.ts'
import { decodeRlp, encodedItems } from '../../core/rlp.ts'
import { TRANSACTION_GAS } from '../fees.ts'
import { malformed } from '../fields.ts'
import type { Block } from './block.ts'
import { decodeHeader, type Header, rememberEncoding } from './header.ts'
import { decodeWithdrawal, type Withdrawal } from './withdrawal.ts'

/** Transactions stay encoded: valid signatures depend on the fork. */
export interface EncodedBlock extends Omit<Block, 'transactions'> {
  /** Canonical encodings. */
  readonly transactions: readonly Uint8Array[]
}

const MOST_PARTS = 4

/** Bounds for any chain. */
const MOST_UNCLES = 10
const MOST_WITHDRAWALS = 4_096

/**
 * Does not validate.
 * @throws {DevchainError} `INVALID_PARAMS` for a malformed block
 */
export function decodeBlock(bytes: Uint8Array): EncodedBlock {
  const parts = partsOf(bytes, 'block', MOST_PARTS)
  const [headerPart, transactionsPart, unclesPart, withdrawalsPart] = parts
  if (headerPart === undefined || transactionsPart === undefined || unclesPart === undefined) {
    throw malformed(`block has ${parts.length} fields, expected 3 to ${MOST_PARTS}`)
  }
  // copy: a view would keep the whole block alive
  const encodedHeader = new Uint8Array(headerPart)
  const header = decodeHeader(encodedHeader, 'header')
  rememberEncoding(header, encodedHeader)
  if ((withdrawalsPart !== undefined) !== (header.withdrawalsRoot !== undefined)) {
    const problem = withdrawalsPart ? 'has withdrawals and no root of them' : 'has no withdrawals'
    throw malformed(`block: it ${problem}`)
  }
  return {
    header,
    hash: keccakHash(encodedHeader),
    transactions: transactionsOf(transactionsPart, header),
    uncles: partsOf(unclesPart, 'block.uncles', MOST_UNCLES).map((item, i) =>
      decodeHeader(item, `uncle ${i}`),
    ),
    withdrawals: withdrawalsPart ? withdrawalsOf(withdrawalsPart) : [],
    size: bytes.length,
  }
}

function transactionsOf(part: Uint8Array, { gasLimit }: Header): readonly Uint8Array[] {
  const most = Number(gasLimit / TRANSACTION_GAS)
  return partsOf(part, 'block.transactions', most).map((item) =>
    // a legacy transaction is a list, the others are byte strings
    isList(item) ? item : (decodeRlp(item) as Uint8Array),
  )
}

function withdrawalsOf(part: Uint8Array): readonly Withdrawal[] {
  return partsOf(part, 'block.withdrawals', MOST_WITHDRAWALS).map(decodeWithdrawal)
}

function partsOf(part: Uint8Array, name: string, most: number): readonly Uint8Array[] {
  if (!isList(part)) throw malformed(`${name} is not a list`)
  return encodedItems(part, most)
}

function isList(encoded: Uint8Array): boolean {
  return (encoded[0] ?? 0) >= 0xc0
}
