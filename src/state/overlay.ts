// The journal of one run: changes to a world that can be reverted, and applied at the end.
import { keccakHash } from '../core/crypto/crypto.ts'
import { type Address, EMPTY_BYTES } from '../core/hex.ts'
import { addressKey } from './keys.ts'
import type { TrieChange } from './trie.ts'
import {
  type Account,
  accountAt,
  emptyAccount,
  emptyStorage,
  slotValue,
  storageAt,
  type World,
  withAccounts,
  withSlots,
} from './world.ts'

type JournalEntry =
  | {
      readonly kind: 'account'
      readonly address: Address
      readonly before: Account | undefined | null
    }
  | {
      readonly kind: 'slots'
      readonly address: Address
      readonly before: Map<bigint, bigint> | undefined
    }
  | {
      readonly kind: 'slot'
      readonly slots: Map<bigint, bigint>
      readonly slot: bigint
      readonly before: bigint | undefined
    }

/**
 * A mutable view of a world. A revert costs as much as the changes it undoes, a commit nothing. The EVM decides if empty
 * accounts stay. Setters create missing accounts.
 */
export class Overlay {
  readonly #base: World
  /** Changed accounts without the writes in `#slots`; undefined if deleted. */
  readonly #accounts = new Map<Address, Account | undefined>()
  /** Slots written since the account's storage was as in `#accounts` or `#base`. */
  readonly #slots = new Map<Address, Map<bigint, bigint>>()
  readonly #journal: JournalEntry[] = []
  readonly #checkpoints: number[] = []

  constructor(base: World) {
    this.#base = base
  }

  /** Without changed storage: use `storage`. Undefined if it does not exist. */
  account(address: Address): Account | undefined {
    const changed = this.#accounts.get(address)
    if (changed !== undefined || this.#accounts.has(address)) return changed
    return accountAt(this.#base, address)
  }

  code(address: Address): Uint8Array {
    return this.account(address)?.code ?? EMPTY_BYTES
  }

  setBalance(address: Address, balance: bigint): void {
    const account = this.account(address)
    if (account?.balance === balance) return
    this.#put(address, { ...(account ?? emptyAccount(address)), balance })
  }

  setNonce(address: Address, nonce: bigint): void {
    const account = this.account(address)
    if (account?.nonce === nonce) return
    this.#put(address, { ...(account ?? emptyAccount(address)), nonce })
  }

  setNonceAndBalance(address: Address, nonce: bigint, balance: bigint): void {
    const account = this.account(address)
    if (account?.nonce === nonce && account.balance === balance) return
    this.#put(address, { ...(account ?? emptyAccount(address)), nonce, balance })
  }

  /** The bytes must not change later. */
  setCode(address: Address, code: Uint8Array): void {
    const account = this.account(address) ?? emptyAccount(address)
    this.#put(address, { ...account, code, codeHash: keccakHash(code) })
  }

  storage(address: Address, slot: bigint): bigint {
    const written = this.#slots.get(address)?.get(slot)
    if (written !== undefined) return written
    const account = this.account(address)
    return account === undefined ? 0n : slotValue(account.storage, slot)
  }

  /** The value before the run, on which gas and refunds of SSTORE depend (EIP-2200). */
  originalStorage(address: Address, slot: bigint): bigint {
    return storageAt(this.#base, address, slot)
  }

  setStorage(address: Address, slot: bigint, value: bigint): void {
    const account = this.account(address)
    if (account === undefined) this.#put(address, emptyAccount(address))
    let slots = this.#slots.get(address)
    if (slots === undefined) {
      slots = new Map()
      this.#putSlots(address, slots)
    }
    this.#record({ kind: 'slot', slots, slot, before: slots.get(slot) })
    slots.set(slot, value)
  }

  clearStorage(address: Address): void {
    const account = this.account(address)
    if (account === undefined) return
    if (this.#slots.has(address)) this.#putSlots(address, undefined)
    if (!account.storage.isEmpty) this.#put(address, { ...account, storage: emptyStorage })
  }

  /** With its storage and code. A new account at this address starts empty. */
  deleteAccount(address: Address): void {
    if (this.#slots.has(address)) this.#putSlots(address, undefined)
    if (this.account(address) !== undefined) this.#put(address, undefined)
  }

  checkpoint(): void {
    this.#checkpoints.push(this.#journal.length)
  }

  commit(): void {
    this.#closeCheckpoint()
    // without an open checkpoint nothing can be reverted
    if (this.#checkpoints.length === 0) this.#journal.length = 0
  }

  revert(): void {
    const length = this.#closeCheckpoint()
    while (this.#journal.length > length) this.#undo(this.#journal.pop()!)
  }

  /** Applies all changes; returns the original world if there are none. The overlay stays usable. */
  world(): World {
    const changes: TrieChange<Account>[] = []
    const addresses = new Set([...this.#accounts.keys(), ...this.#slots.keys()])
    for (const address of addresses) {
      const before = accountAt(this.#base, address)
      const after = this.#applied(address)
      if (!isSame(before, after))
        changes.push({ key: addressKey(address), value: after, name: address })
    }
    return changes.length === 0 ? this.#base : withAccounts(this.#base, changes)
  }

  #applied(address: Address): Account | undefined {
    const account = this.account(address)
    const slots = this.#slots.get(address)
    if (account === undefined || slots === undefined) return account
    const storage = withSlots(account.storage, slots)
    return storage === account.storage ? account : { ...account, storage }
  }

  #put(address: Address, account: Account | undefined): void {
    const before = this.#accounts.has(address) ? this.#accounts.get(address) : null
    this.#record({ kind: 'account', address, before })
    this.#accounts.set(address, account)
  }

  #putSlots(address: Address, slots: Map<bigint, bigint> | undefined): void {
    this.#record({ kind: 'slots', address, before: this.#slots.get(address) })
    if (slots === undefined) this.#slots.delete(address)
    else this.#slots.set(address, slots)
  }

  #record(entry: JournalEntry): void {
    if (this.#checkpoints.length > 0) this.#journal.push(entry)
  }

  #undo(entry: JournalEntry): void {
    switch (entry.kind) {
      case 'account':
        if (entry.before === null) this.#accounts.delete(entry.address)
        else this.#accounts.set(entry.address, entry.before)
        break
      case 'slots':
        if (entry.before === undefined) this.#slots.delete(entry.address)
        else this.#slots.set(entry.address, entry.before)
        break
      case 'slot':
        if (entry.before === undefined) entry.slots.delete(entry.slot)
        else entry.slots.set(entry.slot, entry.before)
        break
    }
  }

  #closeCheckpoint(): number {
    const length = this.#checkpoints.pop()
    if (length === undefined) throw new Error('no checkpoint is open')
    return length
  }
}

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
