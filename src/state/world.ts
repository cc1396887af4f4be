// The world state after a block, as an immutable value.
import { EMPTY_CODE_HASH, keccakHash } from '../core/crypto/crypto.ts'
import { writeRlp } from '../core/fastrlp/writer.ts'
import { type Address, bytesFromHex, EMPTY_BYTES, type Hash } from '../core/hex.ts'
import { addressKey, addressKeyOnce, slotKey } from './keys.ts'
import { Trie, type TrieChange } from './trie.ts'

export interface StorageSlot {
  readonly slot: bigint
  readonly value: bigint
}

export interface Account {
  readonly address: Address
  readonly nonce: bigint
  readonly balance: bigint
  readonly codeHash: Hash
  readonly code: Uint8Array
  /** Keyed by the Keccak-256 of the slot; never holds zero. */
  readonly storage: Trie<StorageSlot>
}

/** Keyed by the Keccak-256 of the address. Immutable; a change shares the rest. */
export interface World {
  readonly accounts: Trie<Account>
}

const EMPTY_CODE_HASH_BYTES = bytesFromHex(EMPTY_CODE_HASH)

export const emptyStorage: Trie<StorageSlot> = Trie.of(undefined, ({ value }) => writeRlp(value))

export const emptyWorld: World = { accounts: Trie.of(undefined, encodeAccount) }

export function emptyAccount(address: Address): Account {
  return {
    address,
    nonce: 0n,
    balance: 0n,
    codeHash: EMPTY_CODE_HASH,
    code: EMPTY_BYTES,
    storage: emptyStorage,
  }
}

/** An account that goes when touched, and whose EXTCODEHASH is 0 (EIP-161). */
export function isEmpty({ nonce, balance, code }: Account): boolean {
  return nonce === 0n && balance === 0n && code.length === 0
}

/** Undefined if there is none. Before spurious dragon, empty accounts exist. */
export function accountAt(world: World, address: Address): Account | undefined {
  return world.accounts.get(addressKey(address), address)
}

export function balanceAt(world: World, address: Address): bigint {
  return accountAt(world, address)?.balance ?? 0n
}

export function nonceAt(world: World, address: Address): bigint {
  return accountAt(world, address)?.nonce ?? 0n
}

/** Do not modify. */
export function codeAt(world: World, address: Address): Uint8Array {
  return accountAt(world, address)?.code ?? EMPTY_BYTES
}

export function storageAt(world: World, address: Address, slot: bigint): bigint {
  const account = accountAt(world, address)
  return account === undefined ? 0n : slotValue(account.storage, slot)
}

export function slotValue(storage: Trie<StorageSlot>, slot: bigint): bigint {
  if (storage.isEmpty) return 0n
  return storage.get(slotKey(slot), slot)?.value ?? 0n
}

export function stateRoot(world: World): Hash {
  return world.accounts.rootHash
}

export function storageRoot(account: Account): Hash {
  return account.storage.rootHash
}

/** By hashed address, starting at the hashed address `from`. */
export function accountsOf(world: World, from?: Uint8Array): IterableIterator<Account> {
  return world.accounts.values(from)
}

export function withAccount(world: World, account: Account): World {
  return withAccounts(world, [{ key: addressKey(account.address), value: account }])
}

export function withoutAccount(world: World, address: Address): World {
  return withAccounts(world, [{ key: addressKey(address), value: undefined, name: address }])
}

/** Keyed by the Keccak-256 of the address; undefined deletes the account. */
export function withAccounts(world: World, changes: Iterable<TrieChange<Account>>): World {
  const accounts = world.accounts.withChanges(changes)
  return accounts === world.accounts ? world : { accounts }
}

/** A world of these accounts only, each once. */
export function worldOf(accounts: Iterable<Account>): World {
  const entries = Array.from(accounts, (value) => ({ key: addressKeyOnce(value.address), value }))
  return { accounts: emptyWorld.accounts.filled(entries) }
}

export function withBalance(world: World, address: Address, balance: bigint): World {
  return withAccount(world, { ...accountOrEmpty(world, address), balance })
}

export function withNonce(world: World, address: Address, nonce: bigint): World {
  return withAccount(world, { ...accountOrEmpty(world, address), nonce })
}

/** Creates the account if needed. The bytes must not change later. */
export function withCode(world: World, address: Address, code: Uint8Array): World {
  return withAccount(world, { ...accountOrEmpty(world, address), code, codeHash: keccakHash(code) })
}

export function withStorage(world: World, address: Address, slot: bigint, value: bigint): World {
  return withAccount(world, withSlot(accountOrEmpty(world, address), slot, value))
}

/** Zero deletes the slot. */
export function withSlot(account: Account, slot: bigint, value: bigint): Account {
  return { ...account, storage: withSlots(account.storage, new Map([[slot, value]])) }
}

/** Zero deletes a slot; equal values change nothing. */
export function withSlots(
  storage: Trie<StorageSlot>,
  slots: ReadonlyMap<bigint, bigint>,
): Trie<StorageSlot> {
  if (slots.size === 0) return storage
  const changes: TrieChange<StorageSlot>[] = []
  for (const [slot, value] of slots) {
    // an unchanged slot (a reentrancy guard) would rehash a path
    const key = slotKey(slot)
    // do not fetch the old value in a fork
    if (storage.knows(key, slot) && slotValue(storage, slot) === value) continue
    changes.push({ key, value: value === 0n ? undefined : { slot, value }, name: slot })
  }
  return changes.length === 0 ? storage : storage.withChanges(changes)
}

export function accountOrEmpty(world: World, address: Address): Account {
  return accountAt(world, address) ?? emptyAccount(address)
}

export function encodeAccount(account: Account): Uint8Array {
  const { nonce, balance, storage, codeHash } = account
  const hash = codeHash === EMPTY_CODE_HASH ? EMPTY_CODE_HASH_BYTES : codeHash
  return writeRlp([nonce, balance, storage.rootBytes, hash])
}

/** Compares what two worlds have at an address. */
export function isSameAccount(a: Account | undefined, b: Account | undefined): boolean {
  if (a === undefined || b === undefined || a === b) return a === b
  return (
    a.nonce === b.nonce &&
    a.balance === b.balance &&
    a.codeHash === b.codeHash &&
    (a.storage === b.storage || a.storage.rootHash === b.storage.rootHash)
  )
}
