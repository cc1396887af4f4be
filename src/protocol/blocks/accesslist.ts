// Block access lists: what a block's transactions and system calls read, and which values each of them left (EIP-7928).
import { keccakHash } from '../../core/crypto/crypto.ts'
import type { Address, Hash } from '../../core/hex.ts'
import { encodeRlp, type RlpValue } from '../../core/rlp.ts'
import { type Hardfork, isAtLeast } from '../forks.ts'
import type { LaterFields } from './header.ts'

/** What one transaction, or one system call, reads of an account and leaves in it. Undefined values did not change. */
export interface AccountAccess {
  readonly address: Address
  readonly reads: Iterable<bigint>
  readonly writes: ReadonlyMap<bigint, bigint>
  readonly balance: bigint | undefined
  readonly nonce: bigint | undefined
  readonly code: Uint8Array | undefined
}

/** 0: before the transactions; their numbers from 1 on; the next one is after them. */
export interface AccessPart {
  readonly index: number
  readonly accesses: readonly AccountAccess[]
}

export interface Changed<T> {
  readonly index: number
  readonly value: T
}

/** In order of addresses; its lists are in order of slots and indexes. */
export interface AccountChanges {
  readonly address: Address
  readonly storageChanges: readonly {
    readonly slot: bigint
    readonly changes: readonly Changed<bigint>[]
  }[]
  /** Without those that changed. */
  readonly storageReads: readonly bigint[]
  readonly balanceChanges: readonly Changed<bigint>[]
  readonly nonceChanges: readonly Changed<bigint>[]
  readonly codeChanges: readonly Changed<Uint8Array>[]
}

export type BlockAccessList = readonly AccountChanges[]

/** The value of each part that changed one, by index. */
type Changes<T> = Map<number, T>

interface Entry {
  readonly slots: Map<bigint, Changes<bigint>>
  readonly reads: Set<bigint>
  readonly balances: Changes<bigint>
  readonly nonces: Changes<bigint>
  readonly codes: Changes<Uint8Array>
}

/** The parts are in order; later ones of the same index replace earlier values. */
export function accessListOf(parts: readonly AccessPart[]): BlockAccessList {
  const entries = new Map<Address, Entry>()
  for (const { index, accesses } of parts) {
    for (const access of accesses) add(entryOf(entries, access.address), index, access)
  }
  return [...entries].sort(([one], [other]) => (one < other ? -1 : 1)).map(changesOf)
}

function entryOf(entries: Map<Address, Entry>, address: Address): Entry {
  let entry = entries.get(address)
  if (entry === undefined) {
    entry = {
      slots: new Map(),
      reads: new Set(),
      balances: new Map(),
      nonces: new Map(),
      codes: new Map(),
    }
    entries.set(address, entry)
  }
  return entry
}

function add(entry: Entry, index: number, access: AccountAccess): void {
  const { reads, writes, balance, nonce, code } = access
  for (const slot of reads) entry.reads.add(slot)
  for (const [slot, value] of writes) {
    const changes = entry.slots.get(slot) ?? new Map()
    entry.slots.set(slot, changes.set(index, value))
  }
  if (balance !== undefined) entry.balances.set(index, balance)
  if (nonce !== undefined) entry.nonces.set(index, nonce)
  if (code !== undefined) entry.codes.set(index, code)
}

function changesOf([address, entry]: readonly [Address, Entry]): AccountChanges {
  const { slots, reads, balances, nonces, codes } = entry
  return {
    address,
    storageChanges: [...slots]
      .map(([slot, changes]) => ({ slot, changes: inOrder(changes) }))
      .sort((one, other) => compare(one.slot, other.slot)),
    storageReads: [...reads].filter((slot) => !slots.has(slot)).sort(compare),
    balanceChanges: inOrder(balances),
    nonceChanges: inOrder(nonces),
    codeChanges: inOrder(codes),
  }
}

function inOrder<T>(changes: Changes<T>): Changed<T>[] {
  return [...changes].map(([index, value]) => ({ index, value }))
}

function compare(one: bigint, other: bigint): number {
  return one < other ? -1 : one > other ? 1 : 0
}

export interface Listed {
  readonly accessList: BlockAccessList | undefined
  readonly fields: LaterFields
}

/** Collects what a block in the making accesses: at the start, by each transaction, at the end. */
export class AccessParts {
  readonly #parts: AccessPart[] = []
  #index = 0

  /** Of the next one. */
  add(accesses: readonly AccountAccess[] | undefined): void {
    if (accesses !== undefined && accesses.length > 0) {
      this.#parts.push({ index: this.#index, accesses })
    }
    this.#index += 1
  }

  /**
   * @param fields the others of the header that result from the block
   * @param last after the transactions
   */
  listed(hardfork: Hardfork, fields: LaterFields, last: readonly AccountAccess[]): Listed {
    if (!isAtLeast(hardfork, 'amsterdam')) return { accessList: undefined, fields }
    const accessList = accessListOf([...this.#parts, { index: this.#index, accesses: last }])
    const blockAccessListHash = hashAccessList(accessList)
    return { accessList, fields: { ...fields, blockAccessListHash } }
  }
}

export function encodeAccessList(list: BlockAccessList): Uint8Array {
  return encodeRlp(list.map(accountItem))
}

export function hashAccessList(list: BlockAccessList): Hash {
  return keccakHash(encodeAccessList(list))
}

function accountItem(changes: AccountChanges): RlpValue {
  const { address, storageChanges, storageReads } = changes
  return [
    address,
    storageChanges.map((each) => [each.slot, each.changes.map(changeItem)]),
    storageReads,
    changes.balanceChanges.map(changeItem),
    changes.nonceChanges.map(changeItem),
    changes.codeChanges.map(changeItem),
  ]
}

function changeItem({ index, value }: Changed<bigint | Uint8Array>): RlpValue {
  return [BigInt(index), value]
}

/** Gas of the block's limit for each item. */
const ITEM_GAS = 2_000n

/** Accounts and slots; undefined: not more than a block with this gas limit may have. */
export function excessOfItems(
  list: BlockAccessList,
  gasLimit: bigint,
): { readonly items: number; readonly most: bigint } | undefined {
  const items = list.reduce(
    (sum, { storageChanges, storageReads }) =>
      sum + 1 + storageChanges.length + storageReads.length,
    0,
  )
  const most = gasLimit / ITEM_GAS
  return BigInt(items) > most ? { items, most } : undefined
}
