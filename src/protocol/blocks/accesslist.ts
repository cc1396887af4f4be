// Block access lists: what a block's transactions and system calls read, and which values each of them left (EIP-7928).
import { keccakHash } from '../../core/crypto/crypto.ts'
import { joinRlp, scratchRlp, writeRlp } from '../../core/fastrlp/writer.ts'
import type { Address, Hash } from '../../core/hex.ts'
import { getOrMake } from '../../core/lrucache.ts'
import type { RlpValue } from '../../core/rlp.ts'
import { type Hardfork, isAtLeast } from '../forks.ts'
import type { LaterFields } from './header.ts'

/** What one transaction, or one system call, reads of an account and leaves in it. Undefined values did not change. */
export interface AccountAccess {
  readonly address: Address
  /** Each once, in any order, and maybe also those that are written. */
  readonly reads: readonly bigint[]
  readonly writes: readonly SlotWrite[]
  readonly balance: bigint | undefined
  readonly nonce: bigint | undefined
  readonly code: Uint8Array | undefined
}

/** The value is another than before. */
export type SlotWrite = readonly [slot: bigint, value: bigint]

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

export const NO_SLOTS: readonly never[] = []
const NONE: readonly never[] = []

/** Its lists are made on demand, as most accounts of a block need few of them. Only a second access needs sets of slots. */
class Entry implements AccountChanges {
  readonly address: Address
  storageChanges: readonly SlotChanges[] = NONE
  storageReads: readonly bigint[] = NONE
  balanceChanges: readonly Changed<bigint>[] = NONE
  nonceChanges: readonly Changed<bigint>[] = NONE
  codeChanges: readonly Changed<Uint8Array>[] = NONE
  #written: Map<bigint, readonly Changed<bigint>[]> | undefined
  #read: Set<bigint> | undefined
  #isListed = false
  #encoded: Uint8Array | undefined

  constructor(address: Address) {
    this.address = address
  }

  add(index: bigint, { reads, writes, balance, nonce, code }: AccountAccess): void {
    this.#change()
    if (reads.length > 0) this.#addReads(reads)
    if (writes.length > 0) this.#addWrites(index, writes)
    if (balance !== undefined) this.balanceChanges = withChange(this.balanceChanges, index, balance)
    if (nonce !== undefined) this.nonceChanges = withChange(this.nonceChanges, index, nonce)
    if (code !== undefined) this.codeChanges = withChange(this.codeChanges, index, code)
  }

  /** Adds what a listed entry of the same account has. All of it is later. */
  append(later: Entry): void {
    this.#change()
    if (later.storageReads.length > 0) this.#addReads(later.storageReads)
    for (const [slot, changes] of later.storageChanges) {
      for (const [index, value] of changes) this.#addWrites(index, [[slot, value]])
    }
    this.balanceChanges = [...this.balanceChanges, ...later.balanceChanges]
    this.nonceChanges = [...this.nonceChanges, ...later.nonceChanges]
    this.codeChanges = [...this.codeChanges, ...later.codeChanges]
  }

  #change(): void {
    this.#isListed = false
    this.#encoded = undefined
  }

  #addReads(reads: readonly bigint[]): void {
    if (this.storageReads === NONE) {
      this.storageReads = reads
      return
    }
    this.#read ??= new Set(this.storageReads)
    for (const slot of reads) this.#read.add(slot)
  }

  #addWrites(index: bigint, writes: readonly SlotWrite[]): void {
    if (this.storageChanges === NONE) {
      this.storageChanges = writes.map(([slot, value]) => [slot, [[index, value]]])
      return
    }
    this.#written ??= new Map(this.storageChanges)
    for (const [slot, value] of writes) {
      this.#written.set(slot, withChange(this.#written.get(slot) ?? NONE, index, value))
    }
  }

  /** Once it is listed. */
  get encoded(): Uint8Array {
    this.#encoded ??= writeRlp(accountItem(this))
    return this.#encoded
  }

  /** After the last access, for now. */
  list(): void {
    if (this.#isListed) return
    this.#isListed = true
    const written = this.#written === undefined ? this.storageChanges : [...this.#written]
    const read = this.#read === undefined ? this.storageReads : [...this.#read]
    this.storageChanges = inOrder(written, slotOf)
    this.storageReads = without(this.storageChanges, inOrder(read, itself))
    // made again of what is in order, if there are more
    this.#written = undefined
    this.#read = undefined
  }
}

/** The parts are in order; later ones of the same index replace earlier values. */
export function accessListOf(parts: readonly AccessPart[]): BlockAccessList {
  const entries: Entries = new Map()
  for (const { index, accesses } of parts) addTo(entries, index, accesses)
  return inOrder(listed(entries.values()), addressOf)
}

type Entries = Map<Address, Entry>

function addTo(entries: Entries, index: bigint, accesses: readonly AccountAccess[]): void {
  for (const access of accesses) entryOf(entries, access.address).add(index, access)
}

function entryOf(entries: Entries, address: Address): Entry {
  return getOrMake(entries, address, (key) => new Entry(key))
}

function listed(entries: Iterable<Entry>): Entry[] {
  const list = [...entries]
  for (const entry of list) entry.list()
  return list
}

/** Changes are arrays of this module, except for `NONE`. */
function withChange<T>(
  changes: readonly Changed<T>[],
  index: bigint,
  value: T,
): readonly Changed<T>[] {
  const change: Changed<T> = [index, value]
  if (changes.length === 0) return [change]
  const own = changes as Changed<T>[]
  if (own.at(-1)![0] === index) own.pop()
  own.push(change)
  return own
}

const itself = (slot: bigint): bigint => slot
const slotOf = ([slot]: SlotChanges): bigint => slot
const addressOf = ({ address }: { readonly address: Address }): Address => address

/** Sorts only what is not in order yet: most lists of a block are, and V8 takes a microsecond for the shortest one. */
function inOrder<T>(values: readonly T[], keyOf: (value: T) => bigint | Address): readonly T[] {
  for (let i = 1; i < values.length; i++) {
    if (keyOf(values[i - 1]!) > keyOf(values[i]!)) {
      return values.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
    }
  }
  return values
}

/** Both are in order. */
function without(changes: readonly SlotChanges[], reads: readonly bigint[]): readonly bigint[] {
  if (changes.length === 0 || reads.length === 0) return reads
  let at = 0
  return reads.filter((slot) => {
    while (at < changes.length && changes[at]![0] < slot) at += 1
    return changes[at]?.[0] !== slot
  })
}

export interface Listed {
  readonly accessList: BlockAccessList | undefined
  readonly fields: LaterFields
}

/** The accounts of a shorter list are encoded together. */
const MANY = 16

/** Collects what a block in the making accesses: at the start, by each transaction, at the end. It may be listed many times. */
export class AccessParts {
  #start: readonly AccountAccess[] = NONE
  /** Of the next part. */
  #index = 0n
  /** Of the transactions. */
  readonly #entries: Entries = new Map()
  #inOrder: readonly Entry[] = []

  /** Of the start, and then of each transaction. */
  add(accesses: readonly AccountAccess[] = NONE): void {
    if (this.#index === 0n) this.#start = accesses
    else addTo(this.#entries, this.#index, accesses)
    this.#index += 1n
  }

  /** Of the start, instead of those that were added first. */
  restart(accesses: readonly AccountAccess[]): void {
    this.#start = accesses
  }

  /**
   * The list is valid until the next access is added.
   * @param fields the others of the header that result from the block
   * @param last after the transactions
   */
  listed(hardfork: Hardfork, fields: LaterFields, last: readonly AccountAccess[]): Listed {
    if (!isAtLeast(hardfork, 'amsterdam')) return { accessList: undefined, fields }
    const accessList = this.#with(last)
    const blockAccessListHash =
      accessList.length < MANY
        ? hashAccessList(accessList)
        : keccakHash(joinRlp(accessList.map(({ encoded }) => encoded)))
    return { accessList, fields: { requestsHash: fields.requestsHash, blockAccessListHash } }
  }

  #with(last: readonly AccountAccess[]): readonly Entry[] {
    this.#list()
    const system: Entries = new Map()
    addTo(system, 0n, this.#start)
    const shared = new Set<Entry>()
    for (const { address } of [...this.#start, ...last]) {
      const entry = this.#entries.get(address)
      if (entry === undefined || shared.has(entry)) continue
      shared.add(entry)
      entryOf(system, address).append(entry)
    }
    addTo(system, this.#index, last)
    const others = this.#inOrder.filter((entry) => !shared.has(entry))
    return inOrder([...others, ...listed(system.values())], addressOf)
  }

  #list(): readonly Entry[] {
    const added = [...this.#entries.values()].slice(this.#inOrder.length)
    this.#inOrder = inOrder(listed([...this.#inOrder, ...added]), addressOf)
    return added
  }

  /** Puts in order what was added, and encodes new accounts: known ones may well change again. */
  enter(): void {
    for (const entry of this.#list()) void entry.encoded
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
