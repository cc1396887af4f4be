// Blocks and headers: their fields, encodings and hashes.
import { keccakHash } from '../../core/crypto/crypto.ts'
import type { Address, Hash } from '../../core/hex.ts'
import { LruCache } from '../../core/lrucache.ts'
import { encodeRlp, joinRlp, listSize, type RlpValue, stringSize } from '../../core/rlp.ts'
import type { Transaction } from '../transactions/transaction.ts'
import { orderedTrieRoot } from './orderedtrie.ts'

export { EMPTY_TRIE_ROOT } from './orderedtrie.ts'

/**
 * A block header (Yellow Paper, 4.4.3). The optional fields are encoded from their fork on and undefined before;
 * `difficulty`, `nonce` and uncles keep their meaning on every fork, unlike on the main network.
 */
export interface Header {
  readonly parentHash: Hash
  readonly sha3Uncles: Hash
  readonly miner: Address
  readonly stateRoot: Hash
  readonly transactionsRoot: Hash
  readonly receiptsRoot: Hash
  /** 256 bytes. */
  readonly logsBloom: Uint8Array
  readonly difficulty: bigint
  readonly number: bigint
  readonly gasLimit: bigint
  readonly gasUsed: bigint
  /** Seconds since 1970. */
  readonly timestamp: bigint
  readonly extraData: Uint8Array
  /** From paris on it is the block's randomness (PREVRANDAO, EIP-4399). */
  readonly mixHash: Hash
  /** 8 bytes. */
  readonly nonce: Uint8Array
  /** Wei per gas; from london on (EIP-1559). */
  readonly baseFeePerGas: bigint | undefined
  /** From shanghai on (EIP-4895). */
  readonly withdrawalsRoot: Hash | undefined
  /** From cancun on (EIP-4844). */
  readonly blobGasUsed: bigint | undefined
  readonly excessBlobGas: bigint | undefined
  /** From cancun on (EIP-4788). */
  readonly parentBeaconBlockRoot: Hash | undefined
  /** From prague on (EIP-7685). */
  readonly requestsHash: Hash | undefined
}

/** Stake that comes back from the beacon chain (EIP-4895). */
export interface Withdrawal {
  readonly index: bigint
  readonly validatorIndex: bigint
  readonly address: Address
  /** In gwei, unlike all other amounts. */
  readonly amountGwei: bigint
}

/** A sealed block. */
export interface Block {
  readonly header: Header
  readonly hash: Hash
  readonly transactions: readonly Transaction[]
  readonly uncles: readonly Header[]
  /** Of imported blocks from shanghai on; blocks mined here have none. */
  readonly withdrawals: readonly Withdrawal[]
  /** Bytes of the block's RLP. */
  readonly size: number
}

/** Keccak-256 of the RLP of an empty list of uncles. */
export const EMPTY_UNCLES_HASH: Hash =
  '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347' as Hash

/** SHA-256 of nothing: the hash of an empty list of requests (EIP-7685). */
export const EMPTY_REQUESTS_HASH: Hash =
  '0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' as Hash

/** Encodings of headers that came or were made lately: a block is sent to peers soon after. */
const encodings = new LruCache<Header, Uint8Array>(512)

/** The RLP of a header: fifteen fields, then those of later forks that are there. Not to be written to. */
export function encodeHeader(header: Header): Uint8Array {
  return encodings.get(header) ?? encodeRlp(headerItems(header))
}

/** Has `encodeHeader` find the RLP of this header for a while. */
export function rememberEncoding(header: Header, encoded: Uint8Array): void {
  encodings.set(header, encoded)
}

/** The hash of a block: Keccak-256 of its header's RLP. */
export function hashHeader(header: Header): Hash {
  return keccakHash(encodeHeader(header))
}

/** What a header says of its transactions. */
export function transactionsRoot(transactions: readonly Transaction[]): Hash {
  return orderedTrieRoot(transactions.map(({ raw }) => raw))
}

/** What a header says of its uncles. */
export function unclesHash(uncles: readonly Header[]): Hash {
  return uncles.length === 0 ? EMPTY_UNCLES_HASH : keccakHash(encodeRlp(uncles.map(headerItems)))
}

/** What a header says of its withdrawals, from shanghai on. */
export function withdrawalsRoot(withdrawals: readonly Withdrawal[]): Hash {
  return orderedTrieRoot(withdrawals.map(encodeWithdrawal))
}

/** One for all blocks: bulk mining keeps a million of them. */
const NO_WITHDRAWALS: readonly Withdrawal[] = []

/** A block of a finished header: adds its hash and size. */
export function sealBlock(
  header: Header,
  transactions: readonly Transaction[],
  uncles: readonly Header[] = [],
  withdrawals: readonly Withdrawal[] = NO_WITHDRAWALS,
): Block {
  const encoded = encodeHeader(header)
  rememberEncoding(header, encoded)
  const size = listSize(
    encoded.length +
      listSize(
        sumOf(transactions, ({ type, raw }) => (type === 0 ? raw.length : stringSize(raw))),
      ) +
      listSize(sumOf(uncles, (uncle) => encodeHeader(uncle).length)) +
      (header.withdrawalsRoot === undefined
        ? 0
        : listSize(sumOf(withdrawals, (each) => encodeWithdrawal(each).length))),
  )
  return { header, hash: keccakHash(encoded), transactions, uncles, withdrawals, size }
}

function sumOf<T>(items: readonly T[], sizeOf: (item: T) => number): number {
  return items.reduce((sum, item) => sum + sizeOf(item), 0)
}

/** What a block adds to the weight of its chain: its own difficulty and its uncles'. */
export function cumulativeDifficulty({ header, uncles }: Pick<Block, 'header' | 'uncles'>): bigint {
  return uncles.reduce((sum, { difficulty }) => sum + difficulty, header.difficulty)
}

/** The RLP of a block: header, transactions, uncles, and from shanghai on the withdrawals. */
export function encodeBlock(
  block: Pick<Block, 'header' | 'transactions' | 'uncles' | 'withdrawals'>,
): Uint8Array {
  const { header, transactions, uncles, withdrawals } = block
  // a legacy transaction is a list in the list, the others are byte strings
  const parts = [
    encodeHeader(header),
    joinRlp(transactions.map(({ type, raw }) => (type === 0 ? raw : encodeRlp(raw)))),
    encodeRlp(uncles.map(headerItems)),
  ]
  if (header.withdrawalsRoot === undefined) return joinRlp(parts)
  return joinRlp([...parts, joinRlp(withdrawals.map(encodeWithdrawal))])
}

function encodeWithdrawal(withdrawal: Withdrawal): Uint8Array {
  const { index, validatorIndex, address, amountGwei } = withdrawal
  return encodeRlp([index, validatorIndex, address, amountGwei])
}

/** The fields of a header in the order of their RLP. */
export function headerItems(header: Header): RlpValue[] {
  const items: RlpValue[] = [
    header.parentHash,
    header.sha3Uncles,
    header.miner,
    header.stateRoot,
    header.transactionsRoot,
    header.receiptsRoot,
    header.logsBloom,
    header.difficulty,
    header.number,
    header.gasLimit,
    header.gasUsed,
    header.timestamp,
    header.extraData,
    header.mixHash,
    header.nonce,
  ]
  const { baseFeePerGas, withdrawalsRoot, blobGasUsed, excessBlobGas } = header
  if (baseFeePerGas !== undefined) items.push(baseFeePerGas)
  if (withdrawalsRoot !== undefined) items.push(withdrawalsRoot)
  if (blobGasUsed !== undefined) items.push(blobGasUsed)
  if (excessBlobGas !== undefined) items.push(excessBlobGas)
  if (header.parentBeaconBlockRoot !== undefined) items.push(header.parentBeaconBlockRoot)
  if (header.requestsHash !== undefined) items.push(header.requestsHash)
  return items
}
