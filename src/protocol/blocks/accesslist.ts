// Block access lists: what a block's transactions and system calls read, and which values each of them left (EIP-7928).
import { keccakHash } from '../../core/crypto/crypto.ts'
import { scratchRlp, writeRlp } from '../../core/fastrlp/writer.ts'
import type { Address, Hash } from '../../core/hex.ts'
import type { RlpValue } from '../../core/rlp.ts'
import { type Hardfork, isAtLeast } from '../forks.ts'
import type { LaterFields } from './header.ts'

/** What one transaction, or one system call, reads of an account and leaves in it. Undefined values did not change. */
export interface AccountAccess {
  readonly address: Address
  readonly reads: ReadonlySet<bigint>
  readonly writes: ReadonlyMap<bigint, bigint>
  readonly balance: bigint | undefined
  readonly nonce: bigint | undefined
  readonly code: Uint8Array | undefined
}

/** 0: before the transactions; their numbers from 1 on; the next one is after them. */
export interface AccessPart {
  readonly index: bigint
  readonly accesses: readonly AccountAccess[]
}

/** As it is encoded. */
export type Changed<T> = readonly [index: bigint, value: T]

export type SlotChanges = readonly [slot: bigint, changes: readonly Changed<bigint>[]]

/** In order of addresses; its lists are in order of slots and indexes. */
export interface AccountChanges {
  readonly address: Address
  readonly storageChanges: readonly SlotChanges[]
  /** Without those that changed. */
  readonly storageReads: readonly bigint[]
  readonly balanceChanges: readonly Changed<bigint>[]
  readonly nonceChanges: readonly Changed<bigint>[]
  readonly codeChanges: readonly Changed<Uint8Array>[]
}

export type BlockAccessList = readonly AccountChanges[]

export const NO_SLOTS: ReadonlySet<bigint> = new Set()
export const NO_WRITES: ReadonlyMap<bigint, bigint> = new Map()
const NONE: readonly never[] = []

/** Lists are made on demand, as most accounts of a block need few of them. */
class Entry {
  readonly address: Address
  #slots: Map<bigint, Changed<bigint>[]> | undefined
  #reads = NO_SLOTS
  #ownReads: Set<bigint> | undefined
  #balances: Changed<bigint>[] | undefined
  #nonces: Changed<bigint>[] | undefined
  #codes: Changed<Uint8Array>[] | undefined

  constructor(address: Address) {
    this.address = address
  }

  add(index: bigint, { reads, writes, balance, nonce, code }: AccountAccess): void {
    if (this.#reads.size === 0) this.#reads = reads
    else if (reads.size > 0) this.#read(reads)
    if (writes.size > 0) this.#write(index, writes)
    if (balance !== undefined) this.#balances = withChange(this.#balances, index, balance)
    if (nonce !== undefined) this.#nonces = withChange(this.#nonces, index, nonce)
    if (code !== undefined) this.#codes = withChange(this.#codes, index, code)
  }

  /** Copies the first ones, which are not this entry's own. */
  #read(reads: ReadonlySet<bigint>): void {
    this.#ownReads ??= new Set(this.#reads)
    for (const slot of reads) this.#ownReads.add(slot)
    this.#reads = this.#ownReads
  }

  #write(index: bigint, writes: ReadonlyMap<bigint, bigint>): void {
    this.#slots ??= new Map()
    for (const [slot, value] of writes) {
      this.#slots.set(slot, withChange(this.#slots.get(slot), index, value))
    }
  }

  changes(): AccountChanges {
    return {
      address: this.address,
      storageChanges: this.#slots === undefined ? NONE : [...this.#slots].sort(compareSlots),
      storageReads: this.#reads.size === 0 ? NONE : this.#onlyRead(this.#slots),
      balanceChanges: this.#balances ?? NONE,
      nonceChanges: this.#nonces ?? NONE,
      codeChanges: this.#codes ?? NONE,
    }
  }

  #onlyRead(written: ReadonlyMap<bigint, unknown> | undefined): readonly bigint[] {
    const reads = [...this.#reads]
    return (written === undefined ? reads : reads.filter((slot) => !written.has(slot))).sort(
      compare,
    )
  }
}

/** The parts are in order; later ones of the same index replace earlier values. */
export function accessListOf(parts: readonly AccessPart[]): BlockAccessList {
  const entries = new Map<Address, Entry>()
  for (const { index, accesses } of parts) {
    for (const access of accesses) {
      let entry = entries.get(access.address)
      if (entry === undefined) {
        entry = new Entry(access.address)
        entries.set(access.address, entry)
      }
      entry.add(index, access)
    }
  }
  return [...entries.keys()].sort().map((address) => entries.get(address)!.changes())
}

function withChange<T>(changes: Changed<T>[] = [], index: bigint, value: T): Changed<T>[] {
  if (changes.at(-1)?.[0] === index) changes.pop()
  changes.push([index, value])
  return changes
}

function compare(one: bigint, other: bigint): number {
  return one < other ? -1 : one > other ? 1 : 0
}

function compareSlots([one]: SlotChanges, [other]: SlotChanges): number {
  return compare(one, other)
}

export interface Listed {
  readonly accessList: BlockAccessList | undefined
  readonly fields: LaterFields
}

/** Collects what a block in the making accesses: at the start, by each transaction, at the end. */
export class AccessParts {
  readonly #parts: AccessPart[] = []
  #index = 0n

  /** Of the next one. */
  add(accesses: readonly AccountAccess[] | undefined): void {
    if (accesses !== undefined && accesses.length > 0) {
      this.#parts.push({ index: this.#index, accesses })
    }
    this.#index += 1n
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
  return writeRlp(list.map(accountItem))
}

export function hashAccessList(list: BlockAccessList): Hash {
  return keccakHash(scratchRlp(list.map(accountItem)))
}

function accountItem(changes: AccountChanges): RlpValue {
  const { address, storageChanges, storageReads, balanceChanges, nonceChanges, codeChanges } =
    changes
  return [address, storageChanges, storageReads, balanceChanges, nonceChanges, codeChanges]
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
