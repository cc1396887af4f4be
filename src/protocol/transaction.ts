// Transactions as values, and their encodings: legacy (type 0), access list (1), dynamic fee (2), blobs (3), set code (4).
import { addressOfKey, keccak256, keccakHash, recoverAddress, signDigest } from '../core/crypto.ts'
import { DevchainError } from '../core/errors.ts'
import {
  type Address,
  addressFromBytes,
  bigintFromBytes,
  EMPTY_BYTES,
  type Hash,
  hashFromBytes,
  hexFromBytes,
  paddedBytes,
} from '../core/hex.ts'
import { Recent } from '../core/recent.ts'
import { decodeRlp, encodeTyped, type RlpItem, type RlpValue } from '../core/rlp.ts'
import { type Hardfork, isAtLeast } from './forks.ts'

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
  /** A hash for each blob. */
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

interface SignatureFields {
  readonly v: bigint
  readonly r: bigint
  readonly s: bigint
}

/** Half the order of secp256k1: `s` above it is refused (EIP-2). */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

/** The first byte of what an account signs to give an authorization (EIP-7702). */
const AUTHORIZATION_MAGIC = 5

/** The canonical encoding: a list for type 0, the type's byte and a list for the others (EIP-2718). */
export function encodeTransaction(transaction: UnsignedTransaction & SignatureFields): Uint8Array {
  return encodeSigned(transaction, transaction)
}

function encodeSigned(unsigned: UnsignedTransaction, { v, r, s }: SignatureFields): Uint8Array {
  return encodeTyped(unsigned.type, [...payload(unsigned), v, r, s])
}

/** The 32 bytes that a sender signs. */
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

/**
 * Reads a signed transaction, and recovers who sent it.
 * @throws {DevchainError} `TYPE_NOT_SUPPORTED` for blob and unknown types, `INVALID_PARAMS` for fields that are not
 *   well-formed, `INVALID_SIGNATURE` for a signature that belongs to no key or has a high `s`.
 */
export function decodeTransaction(raw: Uint8Array): Transaction {
  if (raw[0] === 3) {
    throw new DevchainError(
      'TYPE_NOT_SUPPORTED',
      'blob transactions (type 3) are not supported: devchain keeps no blobs; send type 0, 1, 2 or 4',
    )
  }
  return decodeSigned(raw, recoverSender)
}

/** Which signatures are good where a transaction stands. */
export interface SignatureRules {
  /** Before homestead `s` may be in the upper half of the order (EIP-2). */
  readonly hardfork: Hardfork
  /** True where a sender's address may stand in place of a signature, as `impersonate` puts it. */
  readonly allowsImpersonated: boolean
}

/**
 * Reads a transaction of a block, which may be of any type.
 * @throws {DevchainError} as `decodeTransaction`
 */
export function decodeBlockTransaction(raw: Uint8Array, rules: SignatureRules): Transaction {
  return decodeSigned(raw, (signed) => {
    const { r, s } = signed.signature
    // nobody can make a signature with such an r: finding it is as hard as finding the key of an address
    if (rules.allowsImpersonated && r === s && r >> 160n === 0n) return impersonatedSender(r)
    return isAtLeast(rules.hardfork, 'homestead') ? recoverSender(signed) : signerOf(signed)
  })
}

/** A transaction that was read, before its sender is known. */
interface Signed {
  readonly unsigned: UnsignedTransaction
  readonly signature: SignatureFields
  readonly yParity: 0 | 1
  readonly hash: Hash
}

type SenderFinder = (signed: Signed) => Address

function decodeSigned(raw: Uint8Array, findSender: SenderFinder): Transaction {
  const [first] = raw
  if (first === undefined) throw malformed('it is empty')
  if (first >= 0xc0) return decodeLegacy(raw, findSender)
  if (first !== 1 && first !== 2 && first !== 3 && first !== 4) {
    throw new DevchainError(
      'TYPE_NOT_SUPPORTED',
      `transaction type 0x${first.toString(16)} is not supported: expected 0, 1, 2 or 4`,
    )
  }
  return decodeTyped(first, raw, findSender)
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

/** Whose stamp it is. Nobody sends from address 1, the precompile, so that 1 is the zero address. */
function impersonatedSender(stamp: bigint): Address {
  return addressFromBytes(paddedBytes(stamp === 1n ? 0n : stamp, 20))
}

function withSignature(
  unsigned: UnsignedTransaction,
  signature: SignatureFields,
  from: Address,
): Transaction {
  const raw = encodeSigned(unsigned, signature)
  return transactionOf(unsigned, signature, { from, raw, hash: keccakHash(raw) })
}

/** Written out: to add members to a spread of so many takes microseconds, and twice the memory. */
function transactionOf(
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

/** The items before the signature. */
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

function decodeLegacy(raw: Uint8Array, findSender: SenderFinder): Transaction {
  const fields = new Fields(raw, 9)
  const nonce = fields.integer('nonce', 8)
  const gasPrice = fields.integer('gasPrice')
  const gasLimit = fields.integer('gasLimit', 8)
  const [to, value, data] = [fields.recipient(), fields.integer('value'), fields.bytes('data')]
  const signature = fields.signature()
  const { v } = signature
  if (v !== 27n && v !== 28n && v < 35n) {
    throw new DevchainError(
      'INVALID_SIGNATURE',
      `invalid signature: v is ${v}, expected 27, 28 or at least 35`,
    )
  }
  const chainId = v < 35n ? undefined : (v - 35n) / 2n
  const yParity = Number((v + 1n) % 2n) as 0 | 1
  const unsigned: UnsignedTransaction = {
    type: 0,
    chainId,
    nonce,
    gasLimit,
    maxFeePerGas: gasPrice,
    maxPriorityFeePerGas: gasPrice,
    to,
    value,
    data,
    accessList: [],
    authorizationList: [],
  }
  const hash = keccakHash(raw)
  const from = findSender({ unsigned, signature, yParity, hash })
  return transactionOf(unsigned, signature, { from, raw, hash })
}

function decodeTyped(type: 1 | 2 | 3 | 4, raw: Uint8Array, findSender: SenderFinder): Transaction {
  const fields = new Fields(raw.subarray(1), { 1: 11, 2: 12, 3: 14, 4: 13 }[type])
  const chainId = fields.integer('chainId')
  const nonce = fields.integer('nonce', 8)
  const maxPriorityFeePerGas = fields.integer(type === 1 ? 'gasPrice' : 'maxPriorityFeePerGas')
  const maxFeePerGas = type === 1 ? maxPriorityFeePerGas : fields.integer('maxFeePerGas')
  const gasLimit = fields.integer('gasLimit', 8)
  const [to, value, data] = [fields.recipient(), fields.integer('value'), fields.bytes('data')]
  const accessList = fields.list('accessList').map(decodeAccessListEntry)
  const authorizationList =
    type === 4 ? fields.list('authorizationList').map(decodeAuthorization) : []
  const blobs = type === 3 ? decodeBlobFields(fields) : undefined
  if (type === 4 && to === null) throw malformed('a set-code transaction (type 4) must name `to`')
  if (type === 3 && to === null) throw malformed('a blob transaction (type 3) must name `to`')
  const signature = fields.signature()
  const yParity = parityOf(signature.v)
  const unsigned: UnsignedTransaction = {
    type,
    chainId,
    nonce,
    gasLimit,
    maxFeePerGas,
    maxPriorityFeePerGas,
    to,
    value,
    data,
    accessList,
    authorizationList,
    blobs,
  }
  const hash = keccakHash(raw)
  const from = findSender({ unsigned, signature, yParity, hash })
  return transactionOf(unsigned, signature, { from, raw, hash })
}

function recoverSender(signed: Signed): Address {
  if (signed.signature.s > HALF_ORDER) {
    throw new DevchainError(
      'INVALID_SIGNATURE',
      'invalid signature: s is in the upper half of the order (EIP-2)',
    )
  }
  return signerOf(signed)
}

/** Transactions come again: into a pool after a revert, in blocks of a branch. A sender takes 0.14 ms to recover. */
const signers = new Recent<Hash, Address>(4096)

function signerOf({ unsigned, signature: { r, s }, yParity, hash }: Signed): Address {
  const known = signers.find(hash)
  if (known !== undefined) return known
  const signer = recoverAddress(signingDigest(unsigned), { r, s, yParity })
  signers.keep(hash, signer)
  return signer
}

function decodeBlobFields(fields: Fields): BlobFields {
  const maxFeePerBlobGas = fields.integer('maxFeePerBlobGas')
  const versionedHashes = fields
    .list('blobVersionedHashes')
    .map((item, i) => hashOf(item, `blobVersionedHashes[${i}]`))
  return { maxFeePerBlobGas, versionedHashes }
}

function hashOf(item: RlpItem, name: string): Hash {
  if (!(item instanceof Uint8Array) || item.length !== 32) {
    throw malformed(`${name} must have 32 bytes`)
  }
  return hashFromBytes(item)
}

function decodeAccessListEntry(item: RlpItem, index: number): AccessListEntry {
  const name = `accessList[${index}]`
  const fields = new Fields(item, 2, name)
  const address = fields.address('address')
  const storageKeys = fields
    .list('storageKeys')
    .map((key, i) => hashOf(key, `${name}.storageKeys[${i}]`))
  return { address, storageKeys }
}

function decodeAuthorization(item: RlpItem, index: number): Authorization {
  const fields = new Fields(item, 6, `authorizationList[${index}]`)
  const chainId = fields.integer('chainId')
  const address = fields.address('address')
  const nonce = fields.integer('nonce', 8)
  // one byte, of which only 0 and 1 are a parity: others make no authority, but no wrong encoding either
  const yParity = Number(fields.integer('yParity', 1))
  return { chainId, address, nonce, yParity, r: fields.integer('r'), s: fields.integer('s') }
}

function parityOf(value: bigint): 0 | 1 {
  if (value !== 0n && value !== 1n) throw malformed(`yParity must be 0 or 1, not ${value}`)
  return value === 0n ? 0 : 1
}

function malformed(problem: string): DevchainError {
  return new DevchainError('INVALID_PARAMS', `malformed transaction: ${problem}`)
}

/** Reads the items of an RLP list one after another, each as what it must be. */
class Fields {
  private readonly items: readonly RlpItem[]
  private readonly name: string
  private next = 0

  constructor(source: RlpItem, count: number, name = '') {
    const item = name === '' ? decodeRlp(source as Uint8Array) : source
    if (item instanceof Uint8Array) throw malformed(`${name || 'it'} is not a list`)
    if (item.length !== count) {
      throw malformed(`${name || 'it'} has ${item.length} fields, expected ${count}`)
    }
    this.items = item
    this.name = name === '' ? '' : `${name}.`
  }

  bytes(field: string): Uint8Array {
    const item = this.items[this.next++]
    if (!(item instanceof Uint8Array)) throw malformed(`${this.name}${field} is a list`)
    return item
  }

  list(field: string): readonly RlpItem[] {
    const item = this.items[this.next++]
    if (item === undefined || item instanceof Uint8Array) {
      throw malformed(`${this.name}${field} is not a list`)
    }
    return item
  }

  integer(field: string, length = 32): bigint {
    const bytes = this.bytes(field)
    if (bytes[0] === 0) throw malformed(`${this.name}${field} has leading zeros`)
    if (bytes.length > length) {
      throw malformed(
        `${this.name}${field} has ${bytes.length} bytes, at most ${length} are allowed`,
      )
    }
    return bigintFromBytes(bytes)
  }

  address(field: string): Address {
    const bytes = this.bytes(field)
    if (bytes.length !== 20) {
      throw malformed(
        `${this.name}${field} has ${bytes.length} bytes, expected 20: ${hexFromBytes(bytes)}`,
      )
    }
    return addressFromBytes(bytes)
  }

  recipient(): Address | null {
    if ((this.items[this.next] as Uint8Array).length !== 0) return this.address('to')
    this.bytes('to')
    return null
  }

  signature(): SignatureFields {
    return { v: this.integer('v'), r: this.integer('r'), s: this.integer('s') }
  }
}
