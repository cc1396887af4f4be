// The world: every account after a block, as one immutable value.
import { EMPTY_CODE_HASH, keccakHash } from '../core/crypto/crypto.ts'
import { type Address, EMPTY_BYTES, type Hash } from '../core/hex.ts'
import { encodeRlp } from '../core/rlp.ts'
import { addressKey, slotKey } from './keys.ts'
import { Trie, type TrieChange } from './trie.ts'

/** A non-zero storage slot of a contract. */
export interface StorageSlot {
  readonly slot: bigint
  readonly value: bigint
}

/** An account. Code is shared between accounts by reference. */
export interface Account {
  readonly address: Address
  readonly nonce: bigint
  /** Wei. */
  readonly balance: bigint
  readonly codeHash: Hash
  readonly code: Uint8Array
  /** Keyed by the Keccak-256 of the slot; holds no zero values. */
  readonly storage: Trie<StorageSlot>
}

/** All accounts, keyed by the Keccak-256 of the address. Immutable; a change shares what did not change. */
export interface World {
  readonly accounts: Trie<Account>
}

export const emptyStorage: Trie<StorageSlot> = Trie.empty(({ value }) => encodeRlp(value))

export const emptyWorld: World = { accounts: Trie.empty(encodeAccount) }

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

/** True for an account that goes when it is touched, and that EXTCODEHASH does not see (EIP-161). */
export function isEmpty({ nonce, balance, code }: Account): boolean {
  return nonce === 0n && balance === 0n && code.length === 0
}

/** The account, or undefined when there is none (an empty account of an old fork is there, with zeros). */
export function accountAt(world: World, address: Address): Account | undefined {
  return world.accounts.get(addressKey(address), address)
}

/** Wei; 0n when there is no such account. */
export function balanceAt(world: World, address: Address): bigint {
  return accountAt(world, address)?.balance ?? 0n
}

/** Transactions sent, or contracts made; 0n when there is no such account. */
export function nonceAt(world: World, address: Address): bigint {
  return accountAt(world, address)?.nonce ?? 0n
}

/** Deployed code, not to be changed; no bytes when there is no such account. */
export function codeAt(world: World, address: Address): Uint8Array {
  return accountAt(world, address)?.code ?? EMPTY_BYTES
}

/** The value of a slot; 0n when it was never set, or there is no such account. */
export function storageAt(world: World, address: Address, slot: bigint): bigint {
  const account = accountAt(world, address)
  return account === undefined ? 0n : slotValue(account.storage, slot)
}

/** The value of a slot in one account's storage. */
export function slotValue(storage: Trie<StorageSlot>, slot: bigint): bigint {
  if (storage.isEmpty) return 0n
  return storage.get(slotKey(slot), slot)?.value ?? 0n
}

/** The root of the state trie, as a block header names it. Hashed when first asked. */
export function stateRoot(world: World): Hash {
  return world.accounts.rootHash
}

/** The root of an account's storage trie. Hashed when first asked. */
export function storageRoot(account: Account): Hash {
  return account.storage.rootHash
}

/** All accounts in the order of their hashed addresses, from `from` (a hashed address) on. */
export function accountsOf(world: World, from?: Uint8Array): IterableIterator<Account> {
  return world.accounts.values(from)
}

/** The world with `account` in the place of what was at its address. */
export function withAccount(world: World, account: Account): World {
  return withAccounts(world, [{ key: addressKey(account.address), value: account }])
}

export function withoutAccount(world: World, address: Address): World {
  return withAccounts(world, [{ key: addressKey(address), value: undefined, name: address }])
}

/** Many accounts at once, by the Keccak-256 of their addresses; undefined takes one away. */
export function withAccounts(world: World, changes: Iterable<TrieChange<Account>>): World {
  const accounts = world.accounts.withChanges(changes)
  return accounts === world.accounts ? world : { accounts }
}

/** Sets a balance in wei; makes the account when there is none. */
export function withBalance(world: World, address: Address, balance: bigint): World {
  return withAccount(world, { ...accountOrEmpty(world, address), balance })
}

/** Sets a nonce; makes the account when there is none. */
export function withNonce(world: World, address: Address, nonce: bigint): World {
  return withAccount(world, { ...accountOrEmpty(world, address), nonce })
}

/** Sets code and its hash; makes the account when there is none. The bytes must not be changed later. */
export function withCode(world: World, address: Address, code: Uint8Array): World {
  return withAccount(world, { ...accountOrEmpty(world, address), code, codeHash: keccakHash(code) })
}

/** Sets one slot, a zero value taking it away; makes the account when there is none. */
export function withStorage(world: World, address: Address, slot: bigint, value: bigint): World {
  const account = accountOrEmpty(world, address)
  return withAccount(world, {
    ...account,
    storage: withSlots(account.storage, new Map([[slot, value]])),
  })
}

/** Storage with slots set, all at once; zero values take theirs away, and equal ones change nothing. */
export function withSlots(
  storage: Trie<StorageSlot>,
  slots: ReadonlyMap<bigint, bigint>,
): Trie<StorageSlot> {
  const changes: TrieChange<StorageSlot>[] = []
  for (const [slot, value] of slots) {
    // a slot set to what it was (a reentrancy guard, say) would cost a path of hashes
    const key = slotKey(slot)
    // what a slot of a fork was is not asked for: it is set all the same
    if (storage.knows(key, slot) && slotValue(storage, slot) === value) continue
    changes.push({ key, value: value === 0n ? undefined : { slot, value }, name: slot })
  }
  return changes.length === 0 ? storage : storage.withChanges(changes)
}

function accountOrEmpty(world: World, address: Address): Account {
  return accountAt(world, address) ?? emptyAccount(address)
}

/** The account as its leaf holds it: RLP of nonce, balance, storage root and code hash. */
function encodeAccount(account: Account): Uint8Array {
  const { nonce, balance, storage, codeHash } = account
  return encodeRlp([nonce, balance, storage.rootBytes, codeHash])
}
