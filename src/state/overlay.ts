// The changes of one run to a world, which are applied at the end.
import { keccakHash } from '../core/crypto/crypto.ts'
import { type Address, EMPTY_BYTES } from '../core/hex.ts'
import { addressKey } from './keys.ts'
import type { TrieChange } from './trie.ts'
import {
  type Account,
  accountAt,
  emptyAccount,
  emptyStorage,
  storageAt,
  type World,
  withAccounts,
  withSlots,
} from './world.ts'

interface Writes {
  readonly slots: Map<bigint, bigint>
  /** The account was cleared or deleted: other slots are zero, whatever the base says. */
  readonly isFresh: boolean
}

/** Of an overlay since its base. */
export interface OverlayChanges {
  readonly accounts: ReadonlyMap<Address, Account | undefined>
  readonly slots: ReadonlyMap<Address, Writes>
}

/**
 * A mutable view of a world. The EVM decides if empty accounts stay. Setters create missing accounts. What may be reverted goes to
 * an overlay over this one, which is absorbed or dropped: a block's transactions each run over the overlay of the block, so that
 * tries change once a block.
 */
export class Overlay {
  #base: World | Overlay
  /** Changed accounts; undefined if deleted. Their storage is out of date. */
  readonly #accounts = new Map<Address, Account | undefined>()
  readonly #slots = new Map<Address, Writes>()

  /** @param base must not change while this overlay is used */
  constructor(base: World | Overlay) {
    this.#base = base
  }

  /** Without changed storage: use `storage`. Undefined if it does not exist. */
  account(address: Address): Account | undefined {
    const changed = this.#accounts.get(address)
    if (changed !== undefined || this.#accounts.has(address)) return changed
    return this.originalAccount(address)
  }

  /** As it was before the run. */
  originalAccount(address: Address): Account | undefined {
    const base = this.#base
    return base instanceof Overlay ? base.account(address) : accountAt(base, address)
  }

  code(address: Address): Uint8Array {
    return this.account(address)?.code ?? EMPTY_BYTES
  }

  /** Saves the lookups of the setters below. Storage is not of the account. */
  setAccount(account: Account): void {
    this.#accounts.set(account.address, account)
  }

  set(
    address: Address,
    fields: { readonly nonce?: bigint | undefined; readonly balance?: bigint | undefined },
  ): void {
    const before = this.account(address)
    const account = before ?? emptyAccount(address)
    const { nonce = account.nonce, balance = account.balance } = fields
    if (nonce === before?.nonce && balance === before.balance) return
    this.setAccount({ ...account, nonce, balance })
  }

  /** The bytes must not change later. */
  setCode(address: Address, code: Uint8Array): void {
    const account = this.account(address) ?? emptyAccount(address)
    this.setAccount({ ...account, code, codeHash: keccakHash(code) })
  }

  storage(address: Address, slot: bigint): bigint {
    const writes = this.#slots.get(address)
    const written = writes?.slots.get(slot)
    if (written !== undefined) return written
    return writes?.isFresh === true ? 0n : this.originalStorage(address, slot)
  }

  /** The value before the run, on which gas and refunds of SSTORE depend (EIP-2200). */
  originalStorage(address: Address, slot: bigint): bigint {
    const base = this.#base
    return base instanceof Overlay ? base.storage(address, slot) : storageAt(base, address, slot)
  }

  /** Storage prevents creating a contract (EIP-7610). */
  hasStorage(address: Address): boolean {
    const writes = this.#slots.get(address)
    for (const value of writes?.slots.values() ?? []) if (value !== 0n) return true
    if (writes?.isFresh === true) return false
    const base = this.#base
    if (base instanceof Overlay && writes === undefined) return base.hasStorage(address)
    return !this.#storageOf(address).isEmpty
  }

  setStorage(address: Address, slot: bigint, value: bigint): void {
    if (this.account(address) === undefined) this.setAccount(emptyAccount(address))
    let writes = this.#slots.get(address)
    if (writes === undefined) {
      writes = { slots: new Map(), isFresh: false }
      this.#slots.set(address, writes)
    }
    writes.slots.set(slot, value)
  }

  clearStorage(address: Address): void {
    if (this.account(address) === undefined) return
    this.#slots.set(address, { slots: new Map(), isFresh: true })
  }

  /** With its storage and code. A new account at this address starts empty. */
  deleteAccount(address: Address): void {
    if (this.account(address) === undefined) return
    this.clearStorage(address)
    this.#accounts.set(address, undefined)
  }

  /** Applies all changes; returns the original world if there are none. The overlay stays usable. */
  world(): World {
    const base = this.#base instanceof Overlay ? this.#base.world() : this.#base
    const changes: TrieChange<Account>[] = []
    for (const address of new Set([...this.#accounts.keys(), ...this.#slots.keys()])) {
      const before = accountAt(base, address)
      const after = this.#applied(address, before)
      if (!isSame(before, after))
        changes.push({ key: addressKey(address), value: after, name: address })
    }
    return changes.length === 0 ? base : withAccounts(base, changes)
  }

  /** Makes `world()` the base of later changes. */
  settle(): World {
    const world = this.world()
    this.#base = world
    this.#accounts.clear()
    this.#slots.clear()
    return world
  }

  /**
   * Replaces an account of the base that only the base has changed.
   * @returns false if this overlay changed it
   */
  replaceUnchanged(before: Account | undefined, after: Account | undefined): boolean {
    const address = (before ?? after)?.address
    const base = this.#base
    if (address === undefined || base instanceof Overlay) return address === undefined
    const isChanged = this.#accounts.has(address) || this.#slots.has(address)
    if (isChanged || accountAt(base, address) !== before) return false
    this.#base = withAccounts(base, [{ key: addressKey(address), value: after, name: address }])
    return true
  }

  /** Takes over the changes of an overlay over this one, which must not be used any more. */
  absorb({ accounts, slots }: OverlayChanges): void {
    for (const [address, account] of accounts) this.#accounts.set(address, account)
    for (const [address, writes] of slots) {
      const own = this.#slots.get(address)
      if (own === undefined || writes.isFresh) this.#slots.set(address, writes)
      else for (const [slot, value] of writes.slots) own.slots.set(slot, value)
    }
  }

  /** What `absorb` takes. */
  get changes(): OverlayChanges {
    return { accounts: this.#accounts, slots: this.#slots }
  }

  #applied(address: Address, before: Account | undefined): Account | undefined {
    const account = this.#accounts.has(address) ? this.#accounts.get(address) : before
    if (account === undefined) return undefined
    const storage = this.#written(address, before?.storage ?? emptyStorage)
    return storage === account.storage ? account : { ...account, storage }
  }

  #storageOf(address: Address): Account['storage'] {
    const base = this.#base
    const kept =
      base instanceof Overlay ? base.#storageOf(address) : accountAt(base, address)?.storage
    return this.#written(address, kept ?? emptyStorage)
  }

  #written(address: Address, kept: Account['storage']): Account['storage'] {
    const { slots, isFresh } = this.#slots.get(address) ?? NO_WRITES
    return withSlots(isFresh && !kept.isEmpty ? emptyStorage : kept, slots)
  }
}

const NO_WRITES: Writes = { slots: new Map(), isFresh: false }

function isSame(a: Account | undefined, b: Account | undefined): boolean {
  if (a === b) return true
  if (a === undefined || b === undefined) return false
  return (
    a.nonce === b.nonce &&
    a.balance === b.balance &&
    a.codeHash === b.codeHash &&
    a.storage === b.storage
  )
}
