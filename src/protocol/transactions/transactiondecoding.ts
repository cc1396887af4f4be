// Decodes canonical transactions, and recovers their senders.
import { keccakHash, recoverAddress } from '../../core/crypto/crypto.ts'
import { DevchainError, invalidParams, refusal } from '../../core/errors.ts'
import { type Address, type Hash, hashFromBytes } from '../../core/hex.ts'
import { getOrMake, LruCache } from '../../core/lrucache.ts'
import { decodeRlp, type RlpItem } from '../../core/rlp.ts'
import { ListFields } from '../fields.ts'
import { type Hardfork, isAtLeast, NEWEST_HARDFORK } from '../forks.ts'
import {
  type AccessListEntry,
  type Authorization,
  type BlobFields,
  HALF_ORDER,
  impersonatedSender,
  isImpersonated,
  type SignatureFields,
  signingDigest,
  type Transaction,
  type TransactionType,
  transactionOf,
  type UnsignedTransaction,
} from './transaction.ts'

/** @throws {DevchainError} `TYPE_NOT_SUPPORTED`, `INVALID_PARAMS` for malformed fields, `INVALID_SIGNATURE` */
export function decodeTransaction(raw: Uint8Array): Transaction {
  return decodeBlockTransaction(raw, SENT)
}

/** Also accepts the sender's address in place of a signature (`impersonate`). */
export function decodeImpersonated(raw: Uint8Array): Transaction {
  return decodeBlockTransaction(raw, { ...SENT, allowsImpersonated: true })
}

export interface SignatureRules {
  /** Before homestead, a high `s` is valid (EIP-2). */
  readonly hardfork: Hardfork
  /** True: accepts the sender's address in place of a signature (`impersonate`). */
  readonly allowsImpersonated: boolean
  /** The known sender: skips the recovery. */
  readonly sender?: Address | undefined
}

/** Of a transaction that is not in a block yet. */
const SENT: SignatureRules = { hardfork: NEWEST_HARDFORK, allowsImpersonated: false }

interface Signed {
  readonly unsigned: UnsignedTransaction
  readonly signature: SignatureFields
  readonly yParity: 0 | 1
  readonly hash: Hash
}

/** @throws {DevchainError} as `decodeTransaction` */
export function decodeBlockTransaction(raw: Uint8Array, rules: SignatureRules): Transaction {
  const [first] = raw
  if (first === undefined) {
    throw refusal('INVALID_PARAMS', 'malformed transaction: it is empty', { bytes: 0 })
  }
  const read = decodeAs(first >= 0xc0 ? 0 : typeOf(first), raw)
  const { unsigned, signature } = read
  const hash = keccakHash(raw)
  const from = rules.sender ?? senderOf({ ...read, hash }, rules)
  return transactionOf(unsigned, signature, { from, raw, hash })
}

function typeOf(first: number): TransactionType {
  if (first === 1 || first === 2 || first === 3 || first === 4) return first
  const message = `transaction type 0x${first.toString(16)} is not supported: expected 0x1 to 0x4, or a list (legacy)`
  throw refusal('TYPE_NOT_SUPPORTED', message, { type: first })
}

function senderOf(signed: Signed, { hardfork, allowsImpersonated }: SignatureRules): Address {
  const { signature } = signed
  if (allowsImpersonated && isImpersonated(signature)) return impersonatedSender(signature.r)
  if (signature.s > HALF_ORDER && isAtLeast(hardfork, 'homestead')) {
    throw new DevchainError(
      'INVALID_SIGNATURE',
      'invalid signature: s is in the upper half of the order (EIP-2)',
    )
  }
  return signerOf(signed)
}

/** Transactions come again, and recovery is their most expensive part. */
const signers = new LruCache<Hash, Address>(4096)

function signerOf(signed: Signed): Address {
  const { unsigned, signature, yParity, hash } = signed
  const { r, s } = signature
  return getOrMake(signers, hash, () => recoverAddress(signingDigest(unsigned), { r, s, yParity }))
}

const FIELDS_OF_TYPE = { 0: 9, 1: 11, 2: 12, 3: 14, 4: 13 } as const

function decodeAs(type: TransactionType, raw: Uint8Array): Omit<Signed, 'hash'> {
  const isLegacy = type === 0
  const item = decodeRlp(isLegacy ? raw : raw.subarray(1), MOST_ITEMS)
  const fields = fieldsOf(item, FIELDS_OF_TYPE[type])
  const chainId = isLegacy ? undefined : fields.integer('chainId')
  const nonce = fields.integer('nonce', 8)
  const maxPriorityFeePerGas = fields.integer(type < 2 ? 'gasPrice' : 'maxPriorityFeePerGas')
  const maxFeePerGas = type < 2 ? maxPriorityFeePerGas : fields.integer('maxFeePerGas')
  const gasLimit = fields.integer('gasLimit', 8)
  const [to, value, data] = [
    fields.addressOrNull('to'),
    fields.integer('value'),
    fields.bytes('data'),
  ]
  const accessList = isLegacy ? [] : fields.list('accessList').map(decodeAccessListEntry)
  const authorizationList =
    type === 4 ? fields.list('authorizationList').map(decodeAuthorization) : []
  const blobs = type === 3 ? decodeBlobFields(fields) : undefined
  if (type === 4 && to === null) throw malformed('a set-code transaction (type 4) must name `to`')
  if (type === 3 && to === null) throw malformed('a blob transaction (type 3) must name `to`')
  const signature = { v: fields.integer('v'), r: fields.integer('r'), s: fields.integer('s') }
  const signed = isLegacy ? legacyParity(signature.v) : { chainId, yParity: parityOf(signature.v) }
  const unsigned: UnsignedTransaction = {
    type,
    chainId: signed.chainId,
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
  return { unsigned, signature, yParity: signed.yParity }
}

/** EIP-155. */
function legacyParity(v: bigint): {
  readonly chainId: bigint | undefined
  readonly yParity: 0 | 1
} {
  if (v !== 27n && v !== 28n && v < 35n) {
    const message = `invalid signature: v is ${v}, expected 27, 28 or at least 35`
    throw new DevchainError('INVALID_SIGNATURE', message)
  }
  const chainId = v < 35n ? undefined : (v - 35n) / 2n
  return { chainId, yParity: Number((v + 1n) % 2n) as 0 | 1 }
}

function decodeBlobFields(fields: ListFields): BlobFields {
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
  const fields = fieldsOf(item, 2, name)
  const address = fields.address('address')
  const storageKeys = fields
    .list('storageKeys')
    .map((key, i) => hashOf(key, `${name}.storageKeys[${i}]`))
  return { address, storageKeys }
}

function decodeAuthorization(item: RlpItem, index: number): Authorization {
  const fields = fieldsOf(item, 6, `authorizationList[${index}]`)
  const chainId = fields.integer('chainId')
  const address = fields.address('address')
  const nonce = fields.integer('nonce', 8)
  // one byte; values above 1 are well-formed, but make the authorization invalid
  const yParity = Number(fields.integer('yParity', 1))
  return { chainId, address, nonce, yParity, r: fields.integer('r'), s: fields.integer('s') }
}

function parityOf(value: bigint): 0 | 1 {
  if (value !== 0n && value !== 1n) throw malformed(`yParity must be 0 or 1, not ${value}`)
  return value === 0n ? 0 : 1
}

export function malformed(problem: string): DevchainError {
  return invalidParams(`malformed transaction: ${problem}`)
}

/** RLP items of one transaction: an access list with so many keys would cost 200 million gas. */
export const MOST_ITEMS: number = 2 ** 17

function fieldsOf(item: RlpItem, count: number, name?: string): ListFields {
  const isPart = name !== undefined
  const prefix = `transaction: ${isPart ? `${name}.` : ''}`
  return new ListFields(item, `transaction: ${name ?? 'it'}`, count, count, prefix)
}
