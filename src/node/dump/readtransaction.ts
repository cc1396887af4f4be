// Reads a dump's transactions into the canonical encoding, which gives hash and sender.
import { unlessRefused } from '../../core/errors.ts'
import type { Address } from '../../core/hex.ts'
import type { Hardfork } from '../../protocol/forks.ts'
import {
  type AccessListEntry,
  type Authorization,
  encodeTransaction,
  type Transaction,
  type TransactionType,
  type UnsignedTransaction,
} from '../../protocol/transactions/transaction.ts'
import { decodeBlockTransaction } from '../../protocol/transactions/transactiondecoding.ts'
import { hashAt, Members, noDump } from './members.ts'

export interface EncodedTransaction {
  readonly path: string
  readonly raw: Uint8Array
  readonly impersonatedSender: Address | undefined
}

/** How anvil 1.0 to 1.5 names the types: an object of one member has the transaction. */
const TAGS: readonly string[] = ['Legacy', 'EIP2930', 'EIP1559', 'EIP4844', 'EIP7702']

/** What a dump has for one of the types of transactions: with its tag, or a member that says the type. */
function tagged(members: Members): readonly [type: number | undefined, members: Members] {
  const type = TAGS.findIndex((tag) => members.has(tag))
  if (type < 0) return [undefined, members]
  const tag = TAGS[type]!
  return [type, new Members(members.value(tag), `${members.path}.${tag}`)]
}

/** Accepts older dumps, and newer ones with the impersonated sender. Throws `INVALID_PARAMS`. */
export function readTransaction(value: unknown, path: string): EncodedTransaction {
  const outer = new Members(value, path)
  const isWrapped = outer.has('transaction')
  const members = isWrapped ? new Members(outer.value('transaction'), `${path}.transaction`) : outer
  const impersonatedSender = outer.optional('impersonated_sender', (name) => outer.address(name))
  return { path: members.path, raw: encodedOf(members), impersonatedSender }
}

/**
 * @param from the sender by the dump, which is taken at its word, as for receipts: to recover senders takes as long as all else
 * @throws {DevchainError} `INVALID_PARAMS`
 */
export function decodedTransaction(
  { path, raw, impersonatedSender }: EncodedTransaction,
  hardfork: Hardfork,
  from: Address | undefined,
): Transaction {
  const rules = { hardfork, allowsImpersonated: true, sender: impersonatedSender ?? from }
  return unlessRefused(
    () => decodeBlockTransaction(raw, rules),
    ({ message }) => {
      throw noDump(`${path}: ${message}`)
    },
  )
}

function encodedOf(outer: Members): Uint8Array {
  const [tag, members] = tagged(outer)
  const type = tag ?? (members.has('type') ? Number(members.integer('type', 8)) : 0)
  if (type > 4) throw noDump(`${members.path}.type: expected 0 to 4, got ${type}`)
  const unsigned = unsignedOf(members, type as TransactionType)
  const v = type !== 0 && members.has('yParity') ? 'yParity' : 'v'
  const [given, r, s] = [members.integer(v), members.integer('r'), members.integer('s')]
  const signature = { v: tag === 0 ? legacyV(given, unsigned) : given, r, s }
  return encodeTransaction({ ...unsigned, ...signature })
}

/** With a tag, it is the parity alone. */
function legacyV(v: bigint, { chainId }: UnsignedTransaction): bigint {
  if (v > 1n) return v
  return chainId === undefined ? 27n + v : 35n + 2n * chainId + v
}

export function unsignedOf(members: Members, type: TransactionType): UnsignedTransaction {
  const hasPrice = type < 2
  const maxFeePerGas = members.integer(hasPrice ? 'gasPrice' : 'maxFeePerGas')
  return {
    type,
    chainId: members.optional('chainId', (name) => members.integer(name)),
    nonce: members.integer('nonce', 64),
    gasLimit: members.integer('gas', 64),
    maxFeePerGas,
    maxPriorityFeePerGas: hasPrice ? maxFeePerGas : members.integer('maxPriorityFeePerGas'),
    to: members.optional('to', (name) => members.address(name)) ?? null,
    value: members.integer('value'),
    data: members.bytes('input'),
    accessList: type === 0 || !members.has('accessList') ? [] : members.each('accessList', entryOf),
    authorizationList: type === 4 ? members.each('authorizationList', authorizationOf) : [],
    blobs: type !== 3 ? undefined : blobsOf(members),
  }
}

function blobsOf(members: Members): UnsignedTransaction['blobs'] {
  const maxFeePerBlobGas = members.integer('maxFeePerBlobGas')
  return { maxFeePerBlobGas, versionedHashes: members.each('blobVersionedHashes', hashAt) }
}

function entryOf(value: unknown, path: string): AccessListEntry {
  const members = new Members(value, path)
  return { address: members.address('address'), storageKeys: members.each('storageKeys', hashAt) }
}

function authorizationOf(value: unknown, path: string): Authorization {
  const members = new Members(value, path)
  return {
    chainId: members.integer('chainId'),
    address: members.address('address'),
    nonce: members.integer('nonce', 64),
    yParity: Number(members.integer(members.has('yParity') ? 'yParity' : 'v', 8)),
    r: members.integer('r'),
    s: members.integer('s'),
  }
}
