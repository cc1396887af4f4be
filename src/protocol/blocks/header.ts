// Block headers as one table of fields, from which type, RLP, JSON, dumps and field rules derive.
import { keccakHash } from '../../core/crypto/crypto.ts'
import { scratchRlp, writeRlp } from '../../core/fastrlp/writer.ts'
import { type Address, type Hash, ZERO_HASH } from '../../core/hex.ts'
import { LruCache } from '../../core/lrucache.ts'
import { decodeRlp, encodeRlp, type RlpValue } from '../../core/rlp.ts'
import { blobGasOfAll } from '../fees.ts'
import { type FieldKind, type FieldValues, ListFields } from '../fields.ts'
import { type Hardfork, isAtLeast } from '../forks.ts'
import type { Transaction } from '../transactions/transaction.ts'
import { mergeBlooms } from './bloom.ts'
import { orderedTrieRoot } from './orderedtrie.ts'
import { blockGasUsed, type Receipt, receiptsRoot } from './receipt.ts'
import { type Withdrawal, withdrawalsRoot } from './withdrawal.ts'

export interface HeaderEnvironment {
  readonly hardfork: Hardfork
  readonly number: bigint
  /** Seconds. */
  readonly timestamp: bigint
  readonly coinbase: Address
  readonly gasLimit: bigint
  readonly difficulty: bigint
  readonly prevRandao: Hash
  /** Wei per gas; 0n before london. */
  readonly baseFee: bigint
  /** From cancun on; decides BLOBBASEFEE. */
  readonly excessBlobGas: bigint
  /** From amsterdam on; SLOTNUM returns it. */
  readonly slotNumber: bigint
}

export type ListRoots = Readonly<Record<'transactions' | 'receipts', Hash>>

export interface BlockContents {
  readonly transactions: readonly Transaction[]
  readonly receipts: readonly Receipt[]
  /** Default: computed, as is the bloom. */
  readonly roots?: ListRoots | undefined
  readonly logsBloom?: Uint8Array | undefined
  readonly stateRoot: Hash
  readonly extraData: Uint8Array
  readonly uncles?: readonly Header[] | undefined
  readonly withdrawals?: readonly Withdrawal[] | undefined
  /** Default: zero. */
  readonly nonce?: Uint8Array | undefined
  /** Of the parent beacon block (EIP-4788). Default: zero, as there is no beacon chain here. */
  readonly beaconRoot?: Hash | undefined
  /** Results of the system calls at the block's end. */
  readonly end?: LaterFields | undefined
}

/** Keccak-256 of the RLP of an empty list. */
const EMPTY_LIST_HASH: Hash =
  '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347' as Hash

export const EMPTY_UNCLES_HASH: Hash = EMPTY_LIST_HASH

/** SHA-256 of nothing: the hash of an empty list of requests (EIP-7685). */
export const EMPTY_REQUESTS_HASH: Hash =
  '0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' as Hash

/** Nonce of a block without work. Shared, as bulk mining keeps a million headers. */
export const NO_PROOF: Uint8Array = new Uint8Array(8)

/**
 * In RLP order (Yellow Paper, 4.4.3). `size` is in bytes: exact, or the maximum of an integer. `since` is the first
 * fork with the field, `rule` the name of the error if it is missing or too early. `difficulty`, `nonce` and uncles
 * keep their meaning on every fork, unlike on mainnet.
 */
export const HEADER_FIELDS = {
  parentHash: { kind: 'hash' },
  sha3Uncles: { kind: 'hash' },
  miner: { kind: 'address' },
  stateRoot: { kind: 'hash' },
  transactionsRoot: { kind: 'hash' },
  receiptsRoot: { kind: 'hash' },
  logsBloom: { kind: 'bytes', size: 256 },
  difficulty: { kind: 'integer', size: 32 },
  number: { kind: 'integer', size: 8 },
  gasLimit: { kind: 'integer', size: 8 },
  gasUsed: { kind: 'integer', size: 8 },
  /** Seconds since 1970. */
  timestamp: { kind: 'integer', size: 8 },
  extraData: { kind: 'bytes' },
  /** From paris on the block's randomness (PREVRANDAO, EIP-4399). */
  mixHash: { kind: 'hash' },
  nonce: { kind: 'bytes', size: 8 },
  /** Wei per gas (EIP-1559). */
  baseFeePerGas: { kind: 'integer', size: 32, since: 'london', rule: 'base fee' },
  /** EIP-4895. */
  withdrawalsRoot: { kind: 'hash', since: 'shanghai', rule: 'withdrawals root' },
  /** EIP-4844. */
  blobGasUsed: { kind: 'integer', size: 8, since: 'cancun', rule: 'blob gas used' },
  excessBlobGas: { kind: 'integer', size: 8, since: 'cancun', rule: 'excess blob gas' },
  /** EIP-4788. */
  parentBeaconBlockRoot: { kind: 'hash', since: 'cancun', rule: 'parent beacon root' },
  /** EIP-7685. */
  requestsHash: { kind: 'hash', since: 'prague', rule: 'requests hash' },
  /** EIP-7928. */
  blockAccessListHash: { kind: 'hash', since: 'amsterdam', rule: 'block access list' },
  /** Of the beacon chain (EIP-7843). */
  slotNumber: { kind: 'integer', size: 8, since: 'amsterdam', rule: 'slot number' },
} as const

type Fields = typeof HEADER_FIELDS
export type HeaderName = keyof Fields
type LaterName = { [K in HeaderName]: Fields[K] extends { since: string } ? K : never }[HeaderName]

type FirstFields = {
  readonly [K in HeaderName as Exclude<K, LaterName>]: FieldValues[Fields[K]['kind']]
}
export type LaterFields = {
  readonly [K in HeaderName as K & LaterName]?: FieldValues[Fields[K]['kind']] | undefined
}

export interface Header extends FirstFields, LaterFields {}

export type FieldRule = Fields[LaterName]['rule']

export interface HeaderField {
  readonly kind: FieldKind
  readonly size?: number
  readonly since?: Hardfork
  readonly rule?: FieldRule
}

export const FIELDS: readonly (readonly [name: HeaderName, field: HeaderField])[] = Object.entries(
  HEADER_FIELDS,
) as [HeaderName, HeaderField][]

export const LATER_FIELDS: readonly (readonly [
  LaterName,
  Required<Pick<HeaderField, 'since' | 'rule'>>,
])[] = FIELDS.filter(([, { since }]) => since !== undefined) as never

/** Hardforks that added fields, oldest first. */
export const HEADER_FORKS: readonly Hardfork[] = [
  ...new Set(LATER_FIELDS.map(([, { since }]) => since)),
]

export function hasFieldsOf(fork: Hardfork, header: Header): boolean {
  return LATER_FIELDS.some(([name, { since }]) => since === fork && header[name] !== undefined)
}

const NO_VALUES = Object.fromEntries(FIELDS.map(([name]) => [name, undefined]))

/** Calls `read` in RLP order. */
export function headerFrom(
  read: (name: HeaderName, field: HeaderField) => Header[HeaderName],
): Header {
  // a copy of an object with all members is faster to fill and to read
  const header = { ...NO_VALUES } as Record<HeaderName, Header[HeaderName]>
  for (const [name, field] of FIELDS) header[name] = read(name, field)
  return header as Header
}

export function headerOf(
  environment: HeaderEnvironment,
  parentHash: Hash,
  contents: BlockContents,
): Header {
  const { transactions, receipts, roots, uncles = [], withdrawals = [], end } = contents
  const all: Required<Header> = {
    parentHash,
    sha3Uncles: unclesHash(uncles),
    miner: environment.coinbase,
    stateRoot: contents.stateRoot,
    transactionsRoot: roots?.transactions ?? transactionsRoot(transactions),
    receiptsRoot: roots?.receipts ?? receiptsRoot(receipts),
    logsBloom: contents.logsBloom ?? mergeBlooms(receipts.map(({ logsBloom }) => logsBloom)),
    difficulty: environment.difficulty,
    number: environment.number,
    gasLimit: environment.gasLimit,
    gasUsed: blockGasUsed(receipts),
    timestamp: environment.timestamp,
    extraData: contents.extraData,
    mixHash: environment.prevRandao,
    nonce: contents.nonce ?? NO_PROOF,
    baseFeePerGas: environment.baseFee,
    withdrawalsRoot: withdrawalsRoot(withdrawals),
    blobGasUsed: blobGasOfAll(transactions),
    excessBlobGas: environment.excessBlobGas,
    parentBeaconBlockRoot: contents.beaconRoot ?? ZERO_HASH,
    requestsHash: end?.requestsHash ?? EMPTY_REQUESTS_HASH,
    blockAccessListHash: end?.blockAccessListHash ?? EMPTY_LIST_HASH,
    slotNumber: environment.slotNumber,
  }
  return headerFrom((name, { since = 'frontier' }) =>
    isAtLeast(environment.hardfork, since) ? all[name] : undefined,
  )
}

/** Recent headers: a block is sent to peers soon after it is made. */
const encodings = new LruCache<Header, Uint8Array>(512)

/** Callers must not change the bytes, which are cached. */
export function encodeHeader(header: Header): Uint8Array {
  return encodings.get(header) ?? writeRlp(headerItems(header))
}

/** Caches a known encoding for `encodeHeader`. */
export function rememberEncoding(header: Header, encoded: Uint8Array): void {
  encodings.set(header, encoded)
}

export function hashHeader(header: Header): Hash {
  return keccakHash(encodings.get(header) ?? scratchRlp(headerItems(header)))
}

export function headerItems(header: Header): RlpValue[] {
  const items: RlpValue[] = []
  for (const [name] of FIELDS) {
    const value = header[name]
    if (value !== undefined) items.push(value)
  }
  return items
}

/** Accepts headers of every fork: later fields may be missing from any one on. */
export function decodeHeader(encoded: Uint8Array, name = 'header'): Header {
  const most = FIELDS.length
  // one more item for the list itself
  const fields = new ListFields(
    decodeRlp(encoded, most + 1),
    name,
    most - LATER_FIELDS.length,
    most,
  )
  return headerFrom((field, { kind, size, since }) =>
    since === undefined || fields.hasNext ? fields.read(kind, field, size) : undefined,
  )
}

export function transactionsRoot(transactions: readonly Transaction[]): Hash {
  return orderedTrieRoot(transactions.map(({ raw }) => raw))
}

export function unclesHash(uncles: readonly Header[]): Hash {
  return uncles.length === 0 ? EMPTY_UNCLES_HASH : keccakHash(encodeRlp(uncles.map(headerItems)))
}
