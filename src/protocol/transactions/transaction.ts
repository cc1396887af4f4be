// Signs and encodes transactions: legacy (type 0), access list (1), dynamic fee (2), blobs (3), set code (4).
import {
  addressOfKey,
  keccak256,
  keccakHash,
  recoverAddress,
  type Signature,
  signDigest,
} from '../../core/crypto/crypto.ts'
import { unlessRefused } from '../../core/errors.ts'
import { writeTypedRlp } from '../../core/fastrlp/writer.ts'
import {
  type Address,
  addressFromBytes,
  EMPTY_BYTES,
  type Hash,
  hexFromBytes,
  paddedBytes,
} from '../../core/hex.ts'
import { getOrMake, LruCache, memoizeByIdentity } from '../../core/lrucache.ts'
import { decodeRlp, type RlpItem, type RlpValue } from '../../core/rlp.ts'

/** EIP-2930. */
export interface AccessListEntry {
  readonly address: Address
  readonly storageKeys: readonly Hash[]
}

/** Permission to run another account's code as one's own (EIP-7702). */
export interface Authorization {
  readonly chainId: bigint
  readonly address: Address
  readonly nonce: bigint
  /** 0 or 1; other bytes are allowed, but make the authorization invalid, so it is skipped. */
  readonly yParity: number
  readonly r: bigint
  readonly s: bigint
}

/** EIP-4844. The blobs travel beside the transaction. */
export interface BlobFields {
  /** Wei per blob gas. */
  readonly maxFeePerBlobGas: bigint
  readonly versionedHashes: readonly Hash[]
}

export type TransactionType = 0 | 1 | 2 | 3 | 4

/** Amounts in wei. */
export interface UnsignedTransaction {
  readonly type: TransactionType
  /** Undefined: legacy, without replay protection (EIP-155). */
  readonly chainId: bigint | undefined
  readonly nonce: bigint
  readonly gasLimit: bigint
  /** Wei per gas. In types 0 and 1 this and `maxPriorityFeePerGas` are both the gas price. */
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  /** Null creates a contract. */
  readonly to: Address | null
  readonly value: bigint
  readonly data: Uint8Array
  readonly accessList: readonly AccessListEntry[]
  /** Empty except in type 4. */
  readonly authorizationList: readonly Authorization[]
  readonly blobs?: BlobFields | undefined
}

export type SignatureFields = Readonly<Record<'v' | 'r' | 's', bigint>>

export interface Transaction extends UnsignedTransaction, SignatureFields {
  readonly from: Address
  readonly hash: Hash
  readonly raw: Uint8Array
}

/** Half the order of secp256k1: a higher `s` is invalid (EIP-2). */
export const HALF_ORDER: bigint =
  0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

/** First byte of what an authorization signs (EIP-7702). */
const AUTHORIZATION_MAGIC = 5

/** A list for type 0, the type's byte and a list for the others (EIP-2718). */
export function encodeTransaction(transaction: UnsignedTransaction & SignatureFields): Uint8Array {
  return encodeSigned(transaction, transaction)
}

function encodeSigned(unsigned: UnsignedTransaction, { v, r, s }: SignatureFields): Uint8Array {
  return writeTypedRlp(unsigned.type, [...payload(unsigned), v, r, s])
}

export function signingDigest(unsigned: UnsignedTransaction): Uint8Array {
  const { type, chainId } = unsigned
  const items = payload(unsigned)
  // EIP-155; the other types have the chain id among their items
  if (type === 0 && chainId !== undefined) items.push(chainId, 0n, 0n)
  return keccak256(writeTypedRlp(type, items))
}

/** @param from the key's address, if the caller knows it */
export function signTransaction(
  unsigned: UnsignedTransaction,
  privateKey: Uint8Array,
  from: Address = addressOfKey(privateKey),
): Transaction {
  const { r, s, yParity } = signatureBy(privateKey, from, signingDigest(unsigned))
  return withSignature(unsigned, { v: recoveryValue(unsigned, yParity), r, s }, from)
}

/** Tests send the same transactions again after each revert, and signing is the most expensive part of a transfer. */
const signatures = new LruCache<string, Signature>(1024)

function signatureBy(privateKey: Uint8Array, from: Address, digest: Uint8Array): Signature {
  const key = `${hexFromBytes(digest)}${from}`
  return getOrMake(signatures, key, () => signDigest(digest, privateKey))
}

/**
 * `r` and `s` are the address, so that equal transactions of different senders have different hashes. Other software
 * recovers another sender, or none, from `raw`.
 */
export function impersonate(unsigned: UnsignedTransaction, from: Address): Transaction {
  const stamp = stampOf(from)
  return withSignature(unsigned, { v: recoveryValue(unsigned, 0), r: stamp, s: stamp }, from)
}

/** For simulated blocks: the signature is all zeros. */
export function withoutSignature(unsigned: UnsignedTransaction, from: Address): Transaction {
  return withSignature(unsigned, { v: 0n, r: 0n, s: 0n }, from)
}

/** Null: the signature is invalid. */
const knownAuthority = memoizeByIdentity(
  (authorization: Authorization) => recoverAuthority(authorization) ?? null,
)

/** Undefined: the signature belongs to no key (EIP-7702). */
export function authorityOf(authorization: Authorization): Address | undefined {
  return knownAuthority(authorization) ?? undefined
}

function recoverAuthority(authorization: Authorization): Address | undefined {
  const { chainId, address, nonce, r, s, yParity } = authorization
  if (s > HALF_ORDER || (yParity !== 0 && yParity !== 1)) return undefined
  const digest = keccak256(writeTypedRlp(AUTHORIZATION_MAGIC, [chainId, address, nonce]))
  return unlessRefused(() => recoverAddress(digest, { r, s, yParity }))
}

/** The address as a number. 1 for the zero address, as 0 can mean "unsigned". */
function stampOf(from: Address): bigint {
  return BigInt(from) || 1n
}

/** True if the signature is a sender's stamp (`stampOf`) or zeros. */
export function isImpersonated({ r, s }: SignatureFields): boolean {
  // no real signature has such an r: finding one is as hard as finding an address's key
  return r === s && r >> 160n === 0n
}

/** 1 is the zero address: nobody sends from address 1, a precompile. */
export function impersonatedSender(stamp: bigint): Address {
  return addressFromBytes(paddedBytes(stamp === 1n ? 0n : stamp, 20))
}

function withSignature(
  unsigned: UnsignedTransaction,
  signature: SignatureFields,
  from: Address,
): Transaction {
  const raw = encodeSigned(unsigned, signature)
  const signed = transactionOf(unsigned, signature, { from, raw, hash: keccakHash(raw) })
  return unsigned.data.length < LONG ? signed : { ...signed, data: dataWithin(raw, unsigned.type) }
}

/** Bytes. Longer data are stored once, as a view of `raw`: a view takes as much memory as 200 bytes. */
const LONG = 1024

const DATA_ITEM: Readonly<Record<TransactionType, number>> = { 0: 5, 1: 6, 2: 7, 3: 7, 4: 7 }

function dataWithin(raw: Uint8Array, type: TransactionType): Uint8Array {
  const items = decodeRlp(type === 0 ? raw : raw.subarray(1)) as readonly RlpItem[]
  return items[DATA_ITEM[type]] as Uint8Array
}

/** Written out, as adding members to a large spread takes microseconds and twice the memory. */
export function transactionOf(
  unsigned: UnsignedTransaction,
  { v, r, s }: SignatureFields,
  { from, raw, hash }: Pick<Transaction, 'from' | 'raw' | 'hash'>,
): Transaction {
  return {
    type: unsigned.type,
    chainId: unsigned.chainId,
    nonce: unsigned.nonce,
    gasLimit: unsigned.gasLimit,
    maxFeePerGas: unsigned.maxFeePerGas,
    maxPriorityFeePerGas: unsigned.maxPriorityFeePerGas,
    to: unsigned.to,
    value: unsigned.value,
    data: unsigned.data,
    accessList: unsigned.accessList,
    authorizationList: unsigned.authorizationList,
    blobs: unsigned.blobs,
    v,
    r,
    s,
    from,
    raw,
    hash,
  }
}

/** Legacy `v` includes the chain id (EIP-155); other types have the parity. */
function recoveryValue({ type, chainId }: UnsignedTransaction, yParity: 0 | 1): bigint {
  if (type !== 0) return BigInt(yParity)
  return BigInt(yParity) + (chainId === undefined ? 27n : chainId * 2n + 35n)
}

function payload(transaction: UnsignedTransaction): RlpValue[] {
  const { type, nonce, gasLimit, maxFeePerGas, maxPriorityFeePerGas, value, data } = transaction
  const to = transaction.to ?? EMPTY_BYTES
  if (type === 0) return [nonce, maxFeePerGas, gasLimit, to, value, data]
  const chainId = transaction.chainId ?? 0n
  const items = type === 1 ? [chainId, nonce] : [chainId, nonce, maxPriorityFeePerGas]
  const accessList = transaction.accessList.map((entry) => [entry.address, entry.storageKeys])
  const typed = [...items, maxFeePerGas, gasLimit, to, value, data, accessList]
  if (type === 3) return [...typed, ...blobValues(transaction)]
  return type === 4 ? [...typed, transaction.authorizationList.map(authorizationValue)] : typed
}

function blobValues({ blobs }: UnsignedTransaction): RlpValue[] {
  if (blobs === undefined) throw new Error('a blob transaction without blob fields')
  return [blobs.maxFeePerBlobGas, blobs.versionedHashes]
}

function authorizationValue(authorization: Authorization): RlpValue {
  const { chainId, address, nonce, yParity, r, s } = authorization
  return [chainId, address, nonce, BigInt(yParity), r, s]
}
