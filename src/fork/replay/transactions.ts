// Transactions as other nodes answer them, read to be run again here.
import { parseAddress, parseBytes, parseHash } from '../../core/hex.ts'
import {
  type AccessListEntry,
  type Authorization,
  encodeTransaction,
  type Transaction,
  type TransactionType,
} from '../../protocol/transactions/transaction.ts'
import type { Json } from '../../rpc/schema.ts'
import { quantity, unexpected } from '../network/answers.ts'

export type Members = Readonly<Record<string, Json | undefined>>

/** The newest type that everybody has; others are a network's own. */
const NEWEST_TYPE = 4

/** A transaction; undefined for one of a type that only its own network can run. */
export function readTransaction(json: Json): Transaction | undefined {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw unexpected('a transaction', json)
  }
  const members = json as Members
  const type = Number(members.type ?? 0)
  if (!(type >= 0 && type <= NEWEST_TYPE)) return undefined
  const read = fieldsOf(members, type as TransactionType)
  return { ...read, raw: encodeTransaction(read) }
}

function fieldsOf(members: Members, type: TransactionType): Omit<Transaction, 'raw'> {
  const { chainId } = members
  const price = quantity(members.maxFeePerGas ?? members.gasPrice)
  return {
    ...messageOf(members),
    type,
    chainId: chainId === undefined || chainId === null ? undefined : quantity(chainId),
    nonce: quantity(members.nonce),
    maxFeePerGas: price,
    maxPriorityFeePerGas: type < 2 ? price : quantity(members.maxPriorityFeePerGas),
    accessList: type === 0 ? [] : listOf(members.accessList).map(readEntry),
    authorizationList: listOf(members.authorizationList).map(readAuthorization),
    blobs:
      type === 3
        ? {
            maxFeePerBlobGas: quantity(members.maxFeePerBlobGas),
            versionedHashes: listOf(members.blobVersionedHashes).map((each) =>
              parseHash(String(each)),
            ),
          }
        : undefined,
    v: quantity(members.v ?? members.yParity ?? '0x0'),
    r: quantity(members.r ?? '0x0'),
    s: quantity(members.s ?? '0x0'),
  }
}

type Message = Pick<Transaction, 'from' | 'to' | 'value' | 'data' | 'gasLimit' | 'hash'>

/** What all transactions have, those of a network's own types too. */
export function messageOf({ from, to, value, input, data, gas, hash }: Members): Message {
  return {
    from: parseAddress(String(from)),
    to: to === null || to === undefined ? null : parseAddress(String(to)),
    value: quantity(value),
    data: parseBytes(String(input ?? data ?? '0x')),
    gasLimit: quantity(gas),
    hash: parseHash(String(hash)),
  }
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : []
}

function readEntry(json: Json): AccessListEntry {
  const { address, storageKeys } = json as Members
  return {
    address: parseAddress(String(address)),
    storageKeys: listOf(storageKeys).map((key) => parseHash(String(key))),
  }
}

function readAuthorization(json: Json): Authorization {
  const { chainId, address, nonce, yParity, v, r, s } = json as Members
  return {
    chainId: quantity(chainId),
    address: parseAddress(String(address)),
    nonce: quantity(nonce),
    yParity: Number(quantity(yParity ?? v)),
    r: quantity(r),
    s: quantity(s),
  }
}
