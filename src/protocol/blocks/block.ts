// Blocks: contents, encoding and size.
import { keccakHash } from '../../core/crypto/crypto.ts'
import { joinRlp, listSize, stringSize } from '../../core/fastrlp/writer.ts'
import type { Hash } from '../../core/hex.ts'
import { encodeRlp } from '../../core/rlp.ts'
import type { Transaction } from '../transactions/transaction.ts'
import { encodeHeader, type Header, headerItems, rememberEncoding } from './header.ts'
import { encodeWithdrawal, type Withdrawal } from './withdrawal.ts'

export interface Block {
  readonly header: Header
  readonly hash: Hash
  readonly transactions: readonly Transaction[]
  readonly uncles: readonly Header[]
  /** Of imported blocks from shanghai on; blocks mined here have none. */
  readonly withdrawals: readonly Withdrawal[]
  /** Bytes. */
  readonly size: number
}

/** Shared, as bulk mining keeps a million blocks. */
const NO_WITHDRAWALS: readonly Withdrawal[] = []

export function sealBlock(
  header: Header,
  transactions: readonly Transaction[],
  uncles: readonly Header[] = [],
  withdrawals: readonly Withdrawal[] = NO_WITHDRAWALS,
): Block {
  const encoded = encodeHeader(header)
  rememberEncoding(header, encoded)
  const size = sizeOf({ header, transactions, uncles, withdrawals }, encoded.length)
  return { header, hash: keccakHash(encoded), transactions, uncles, withdrawals, size }
}

/** @param headerSize bytes of the encoded header */
export function sizeOf(
  { header, transactions, uncles, withdrawals }: Omit<Block, 'hash' | 'size'>,
  headerSize: number,
): number {
  return listSize(
    headerSize +
      listSize(
        sumOf(transactions, ({ type, raw }) => (type === 0 ? raw.length : stringSize(raw))),
      ) +
      listSize(sumOf(uncles, (uncle) => encodeHeader(uncle).length)) +
      (header.withdrawalsRoot === undefined
        ? 0
        : listSize(sumOf(withdrawals, (each) => encodeWithdrawal(each).length))),
  )
}

function sumOf<T>(items: readonly T[], size: (item: T) => number): number {
  return items.reduce((sum, item) => sum + size(item), 0)
}

export function cumulativeDifficulty({ header, uncles }: Pick<Block, 'header' | 'uncles'>): bigint {
  return uncles.reduce((sum, { difficulty }) => sum + difficulty, header.difficulty)
}

export function encodeBlock(
  block: Pick<Block, 'header' | 'transactions' | 'uncles' | 'withdrawals'>,
): Uint8Array {
  const { header, transactions, uncles, withdrawals } = block
  // a legacy transaction is a list, the others are byte strings
  const parts = [
    encodeHeader(header),
    joinRlp(transactions.map(({ type, raw }) => (type === 0 ? raw : encodeRlp(raw)))),
    encodeRlp(uncles.map(headerItems)),
  ]
  if (header.withdrawalsRoot === undefined) return joinRlp(parts)
  return joinRlp([...parts, joinRlp(withdrawals.map(encodeWithdrawal))])
}
