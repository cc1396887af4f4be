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
    this.#isListed = false
    this.#encoded = undefined
    if (reads.length > 0) this.#addReads(reads)
    if (writes.length > 0) this.#addWrites(index, writes)
    if (balance !== undefined) this.balanceChanges = withChange(this.balanceChanges, index, balance)
    if (nonce !== undefined) this.nonceChanges = withChange(this.nonceChanges, index, nonce)
    if (code !== undefined) this.codeChanges = withChange(this.codeChanges, index, code)
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
  }
}

/** The parts are in order; later ones of the same index replace earlier values. */
export function accessListOf(parts: readonly AccessPart[]): BlockAccessList {
  return entriesOf(parts)
}

function entriesOf(parts: readonly AccessPart[]): readonly Entry[] {
  const entries = new Map<Address, Entry>()
  for (const part of parts) addPart(entries, part)
  return inOrder(listed(entries.values()), addressOf)
}

function addPart(entries: Map<Address, Entry>, { index, accesses }: AccessPart): void {
  for (const access of accesses) {
    getOrMake(entries, access.address, (address) => new Entry(address)).add(index, access)
  }
}

function listed(entries: Iterable<Entry>): Entry[] {
  const list = [...entries]
  for (const entry of list) entry.list()
  return list
}

/** Changes are this module's own arrays, except for `NONE`. */
function withChange<T>(
  changes: readonly Changed<T>[],
  index: bigint,
  value: T,
): readonly Changed<T>[] {
  const change: Changed<T> = [index, value]
  if (changes === NONE) return [change]
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

/** A list of fewer transactions is made anew. */
const MANY = 16

/** Collects what a block in the making accesses: at the start, by each transaction, at the end. It may be listed many times. */
export class AccessParts {
  #start: AccessPart = { index: 0n, accesses: NONE }
  readonly #parts: AccessPart[] = []
  #index = 0n
  /** Of the first parts. */
  readonly #entries = new Map<Address, Entry>()
  #inOrder: readonly Entry[] = []
  #entered = 0

  /** Of the next one. */
  add(accesses: readonly AccountAccess[] | undefined = NONE): void {
    const part = { index: this.#index, accesses }
    this.#index += 1n
    if (part.index === 0n) this.#start = part
    else if (accesses.length > 0) this.#parts.push(part)
  }

  /** Of the start, instead of those that were added first. */
  restart(accesses: readonly AccountAccess[]): void {
    this.#start = { index: 0n, accesses }
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
      this.#parts.length < MANY
        ? hashAccessList(accessList)
        : keccakHash(joinRlp(accessList.map(({ encoded }) => encoded)))
    return { accessList, fields: { requestsHash: fields.requestsHash, blockAccessListHash } }
  }

  #with(last: readonly AccountAccess[]): readonly Entry[] {
    const end = { index: this.#index, accesses: last }
    if (this.#parts.length < MANY) return entriesOf([this.#start, ...this.#parts, end])
    this.enter()
    const system = new Set([...this.#start.accesses, ...last].map(addressOf))
    const isOfSystem = ({ address }: { readonly address: Address }): boolean => system.has(address)
    if (![...system].some((address) => this.#entries.has(address))) {
      return inOrder([...this.#inOrder, ...entriesOf([this.#start, end])], addressOf)
    }
    const mixed = this.#parts.map(({ index, accesses }) => ({
      index,
      accesses: accesses.filter(isOfSystem),
    }))
    const others = this.#inOrder.filter((entry) => !isOfSystem(entry))
    return inOrder([...others, ...entriesOf([this.#start, ...mixed, end])], addressOf)
  }

  /** Puts in order and encodes what was added, for the next list. */
  enter(): void {
    for (const part of this.#parts.slice(this.#entered)) addPart(this.#entries, part)
    this.#entered = this.#parts.length
    const added = [...this.#entries.values()].slice(this.#inOrder.length)
    this.#inOrder = inOrder(listed([...this.#inOrder, ...added]), addressOf)
    for (const entry of this.#inOrder) void entry.encoded
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
