// Transactions as values, signed and encoded: legacy (type 0), access list (1), dynamic fee (2), blobs (3), set code (4).
import {
  addressOfKey,
  keccak256,
  keccakHash,
  recoverAddress,
  signDigest,
} from '../../core/crypto/crypto.ts'
import { DevchainError } from '../../core/errors.ts'
import {
  type Address,
  addressFromBytes,
  EMPTY_BYTES,
  type Hash,
  paddedBytes,
} from '../../core/hex.ts'
import { decodeRlp, encodeTyped, type RlpItem, type RlpValue } from '../../core/rlp.ts'

/** An address and the storage keys of it that a transaction declares in advance (EIP-2930). */
export interface AccessListEntry {
  readonly address: Address
  readonly storageKeys: readonly Hash[]
}

/** An account's permission to run another account's code as its own (EIP-7702). */
export interface Authorization {
  readonly chainId: bigint
  readonly address: Address
  readonly nonce: bigint
  /** 0 or 1; other bytes can be sent, and their authorization is skipped as one that nobody gave. */
  readonly yParity: number
  readonly r: bigint
  readonly s: bigint
}

/**
 * What a transaction says about its blobs (EIP-4844). The blobs themselves travel beside it and are in no block; devchain
 * takes such transactions as part of blocks only.
 */
export interface BlobFields {
  /** Wei per gas of blobs. */
  readonly maxFeePerBlobGas: bigint
  readonly versionedHashes: readonly Hash[]
}

export type TransactionType = 0 | 1 | 2 | 3 | 4

/** What a sender decides about a transaction, before it is signed. Amounts in wei. */
export interface UnsignedTransaction {
  readonly type: TransactionType
  /** Undefined in legacy transactions without replay protection (before EIP-155). */
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
  /** Empty in type 0. */
  readonly accessList: readonly AccessListEntry[]
  /** Empty but in type 4. */
  readonly authorizationList: readonly Authorization[]
  /** Of type 3, and of no other. */
  readonly blobs?: BlobFields | undefined
}

/** A signed transaction. `raw` is its canonical encoding, of which `hash` is the Keccak-256. */
export interface Transaction extends UnsignedTransaction {
  readonly from: Address
  readonly hash: Hash
  readonly raw: Uint8Array
  readonly v: bigint
  readonly r: bigint
  readonly s: bigint
}

export interface SignatureFields {
  readonly v: bigint
  readonly r: bigint
  readonly s: bigint
}

/** Half the order of secp256k1: `s` above it is refused (EIP-2). */
export const HALF_ORDER: bigint =
  0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

/** The first byte of what an account signs to give an authorization (EIP-7702). */
const AUTHORIZATION_MAGIC = 5

/** The canonical encoding: a list for type 0, the type's byte and a list for the others (EIP-2718). */
export function encodeTransaction(transaction: UnsignedTransaction & SignatureFields): Uint8Array {
  return encodeSigned(transaction, transaction)
}

function encodeSigned(unsigned: UnsignedTransaction, { v, r, s }: SignatureFields): Uint8Array {
  return encodeTyped(unsigned.type, [...payload(unsigned), v, r, s])
}

export function signingDigest(unsigned: UnsignedTransaction): Uint8Array {
  const { type, chainId } = unsigned
  const items = payload(unsigned)
  // replay protection of legacy transactions (EIP-155); the others have the chain id among their items
  if (type === 0 && chainId !== undefined) items.push(chainId, 0n, 0n)
  return keccak256(encodeTyped(type, items))
}

/** Signs for the account of a private key; `from` is its address, where the caller knows it already. */
export function signTransaction(
  unsigned: UnsignedTransaction,
  privateKey: Uint8Array,
  from: Address = addressOfKey(privateKey),
): Transaction {
  const { r, s, yParity } = signDigest(signingDigest(unsigned), privateKey)
  return withSignature(unsigned, { v: recoveryValue(unsigned, yParity), r, s }, from)
}

/**
 * A transaction of an account whose key the node does not hold. `r` and `s` are the address, so that equal
 * transactions of different senders differ in their hashes. It is no signature of the sender: whoever decodes `raw`
 * elsewhere finds another sender or none.
 */
export function impersonate(unsigned: UnsignedTransaction, from: Address): Transaction {
  const stamp = stampOf(from)
  return withSignature(unsigned, { v: recoveryValue(unsigned, 0), r: stamp, s: stamp }, from)
}

/** A transaction that nobody signed, for blocks that are only imagined: its signature is all zeros. */
export function withoutSignature(unsigned: UnsignedTransaction, from: Address): Transaction {
  return withSignature(unsigned, { v: 0n, r: 0n, s: 0n }, from)
}

/** Who gave which authorization, null for nobody, for as long as the authorization is there. */
const authorities = new WeakMap<Authorization, Address | null>()

/** The account that gave an authorization; undefined when its signature belongs to no key (EIP-7702). */
export function authorityOf(authorization: Authorization): Address | undefined {
  let authority = authorities.get(authorization)
  if (authority === undefined) {
    authority = recoverAuthority(authorization) ?? null
    authorities.set(authorization, authority)
  }
  return authority ?? undefined
}

function recoverAuthority(authorization: Authorization): Address | undefined {
  const { chainId, address, nonce, r, s, yParity } = authorization
  if (s > HALF_ORDER || (yParity !== 0 && yParity !== 1)) return undefined
  const digest = keccak256(encodeTyped(AUTHORIZATION_MAGIC, [chainId, address, nonce]))
  try {
    return recoverAddress(digest, { r, s, yParity })
  } catch (error) {
    if (error instanceof DevchainError) return undefined
    throw error
  }
}

/** The address as a number; not 0, which stands for "unsigned" at times: the zero address has the number 1. */
function stampOf(from: Address): bigint {
  return BigInt(from) || 1n
}

/** True of a transaction without a signature of its sender's: it has the sender's stamp, as above, or zeros. */
export function isImpersonated({ r, s }: SignatureFields): boolean {
  // nobody can make a signature with such an r: finding it is as hard as finding the key of an address
  return r === s && r >> 160n === 0n
}

/** Whose stamp it is. Nobody sends from address 1, the precompile, so that 1 is the zero address. */
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

/** Bytes of data from which on a transaction keeps them once: a part of an array takes as much memory as 200 bytes. */
const LONG = 1024

/** Where the data stand in the list of a type's items. */
const DATA_ITEM: Readonly<Record<TransactionType, number>> = { 0: 5, 1: 6, 2: 7, 3: 7, 4: 7 }

function dataWithin(raw: Uint8Array, type: TransactionType): Uint8Array {
  const items = decodeRlp(type === 0 ? raw : raw.subarray(1)) as readonly RlpItem[]
  return items[DATA_ITEM[type]] as Uint8Array
}

/** The parts of a transaction, put together. Written out: to add members to a spread of so many takes microseconds, and twice the memory. */
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

/** `v` of a legacy signature carries the chain id (EIP-155); of the other types it is the parity. */
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
  const typed = [...items, maxFeePerGas, gasLimit, to, value, data, accessListValue(transaction)]
  if (type === 3) return [...typed, ...blobValues(transaction)]
  return type === 4 ? [...typed, transaction.authorizationList.map(authorizationValue)] : typed
}

function blobValues({ blobs }: UnsignedTransaction): RlpValue[] {
  if (blobs === undefined) throw new Error('a blob transaction without blob fields')
  return [blobs.maxFeePerBlobGas, blobs.versionedHashes]
}

function accessListValue({ accessList }: UnsignedTransaction): RlpValue {
  return accessList.map(({ address, storageKeys }) => [address, storageKeys])
}

function authorizationValue(authorization: Authorization): RlpValue {
  const { chainId, address, nonce, yParity, r, s } = authorization
  return [chainId, address, nonce, BigInt(yParity), r, s]
}
