// The accounts and slots of another network at one of its blocks, as far as they were fetched.
import { EMPTY_CODE_HASH, keccakHash } from '../core/crypto/crypto.ts'
import { type Address, bytesFromHex, EMPTY_BYTES, type Hash, wordFromBigint } from '../core/hex.ts'
import { LruCache } from '../core/lrucache.ts'
import type { BackedChanges, Backing, Miss, MissSource } from '../state/backing.ts'
import { addressKey, slotKey } from '../state/keys.ts'
import { Trie } from '../state/trie.ts'
import {
  type Account,
  emptyAccount,
  emptyStorage,
  emptyWorld,
  type StorageSlot,
  type World,
} from '../state/world.ts'
import { quantity, unexpected } from './answers.ts'
import { missed } from './gather.ts'
import type { BlockPoint, Network } from './network.ts'
import { proveAccount, proveSlots, unproven } from './proven.ts'

/** What is otherwise here than on the network, before anything was changed. */
export interface Patches {
  /**
   * Accounts of this chain's users: they have a balance, and neither code nor slots, whatever others did with the keys that
   * all the world knows. Their nonces go on from the network's, which is asked for when somebody wants to know.
   */
  readonly own: ReadonlyMap<Address, bigint>
  /** Code that is here where the network has none. */
  readonly code: ReadonlyMap<Address, Uint8Array>
}

export const NO_PATCHES: Patches = { own: new Map(), code: new Map() }

/** Fewer slots of one block are asked for one by one, in a batch. */
const LEAST_TOGETHER = 8

/** Slots of one `eth_getStorageValues` (execution-apis). */
const MOST_TOGETHER = 1_024

/** Codes that are kept by their bytes' text, as many accounts have the same. */
const codes = new LruCache<string, { readonly code: Uint8Array; readonly hash: Hash }>(4_096)

/** The state after a block of another network. */
export class BlockState implements MissSource {
  readonly world: World
  readonly #network: Network
  readonly #point: BlockPoint
  readonly #patches: Patches
  readonly #accounts = new Map<Address, Account | undefined>()
  readonly #nonces = new Map<Address, bigint>()
  readonly #storages = new Map<Address, Storage>()
  /** Of accounts that were proven. */
  readonly #roots = new Map<Address, Uint8Array>()

  constructor(network: Network, point: BlockPoint, patches: Patches = NO_PATCHES) {
    this.#network = network
    this.#point = point
    this.#patches = patches
    const backing: Backing<Account> = {
      get: (_, name) => (typeof name === 'string' ? this.#account(name) : undefined),
      knows: (_, name) => typeof name === 'string' && this.#knows(name),
      known: () => this.#known(),
      root: (changes) => rootOf(changes, bytesFromHex(point.stateRoot)),
    }
    this.world = { accounts: Trie.backed(emptyWorld.accounts.encodeValue, backing) }
    for (const [address, balance] of patches.own) {
      this.#accounts.set(address, this.#ownAccount(address, balance))
    }
  }

  /** Fetches what is missing, all at once. */
  async fetch(misses: readonly Miss[]): Promise<void> {
    const slots = misses.filter((miss) => miss.kind === 'slot')
    await Promise.all([
      this.#network.verify(this.#point),
      this.#fetchSlots(slots.filter(({ address, slot }) => !this.#hasSlot(address, slot))),
      ...misses.map((miss) => {
        if (miss.kind === 'account') return this.#fetchAccount(miss.address)
        return miss.kind === 'nonce' ? this.#fetchNonce(miss.address) : undefined
      }),
    ])
  }

  #knows(address: Address): boolean {
    return this.#accounts.has(address)
  }

  #account(address: Address): Account | undefined {
    const known = this.#accounts.get(address)
    if (known !== undefined || this.#accounts.has(address)) return known
    if (this.#takeKept(address)) return this.#accounts.get(address)
    missed({ kind: 'account', address }, this)
    // what a guess is good for: slots of it are asked for in the same round
    return { ...emptyAccount(address), storage: this.#storageOf(address).trie }
  }

  *#known(): Iterable<readonly [Uint8Array, Account]> {
    for (const [address, account] of this.#accounts) {
      // whose nonce nobody asked for is as it was made here
      if (this.#patches.own.has(address) && !this.#nonces.has(address)) {
        const balance = this.#patches.own.get(address) ?? 0n
        yield [addressKey(address), { ...emptyAccount(address), balance }]
      } else if (account !== undefined) yield [addressKey(address), account]
    }
  }

  /** Its nonce is asked for by whoever reads it, or copies the account. */
  #ownAccount(address: Address, balance: bigint): Account {
    const nonce = (): bigint => {
      const known = this.#nonces.get(address)
      if (known !== undefined) return known
      missed({ kind: 'nonce', address }, this)
      return 0n
    }
    return {
      address,
      get nonce() {
        return nonce()
      },
      balance,
      code: EMPTY_BYTES,
      codeHash: EMPTY_CODE_HASH,
      storage: emptyStorage,
    }
  }

  async #fetchNonce(address: Address): Promise<void> {
    if (this.#nonces.has(address)) return
    const nonce = this.#network.isProven
      ? (await proveAccount(this.#network, this.#point, address)).nonce
      : quantity(await this.#ask('eth_getTransactionCount', [address]))
    this.#nonces.set(address, nonce)
  }

  async #fetchAccount(address: Address): Promise<void> {
    if (this.#accounts.has(address)) return
    if (this.#network.isProven) {
      await this.#fetchProven(address)
      return
    }
    const [balance, nonce, text] = await Promise.all([
      this.#ask('eth_getBalance', [address]),
      this.#ask('eth_getTransactionCount', [address]),
      this.#network.codeAt(address, this.#point),
    ])
    this.#accounts.set(
      address,
      this.#accountOf(address, quantity(balance), quantity(nonce), codeOf(text)),
    )
  }

  /** An account that an earlier fork fetched is there at once. @returns false where it did not */
  #takeKept(address: Address): boolean {
    if (this.#network.isProven) return false
    const balance = this.#network.keptAt('eth_getBalance', [address], this.#point)
    if (balance === undefined) return false
    const nonce = this.#network.keptAt('eth_getTransactionCount', [address], this.#point)
    const text = this.#network.keptCodeAt(address, this.#point)
    if (nonce === undefined || text === undefined) return false
    const account = this.#accountOf(address, quantity(balance), quantity(nonce), codeOf(text))
    this.#accounts.set(address, account)
    return true
  }

  async #fetchProven(address: Address): Promise<void> {
    const [{ balance, nonce, codeHash, storageRoot }, text] = await Promise.all([
      proveAccount(this.#network, this.#point, address),
      this.#network.codeAt(address, this.#point),
    ])
    const code = codeOf(text)
    if (code.hash !== codeHash) throw unproven(`the code of ${address}`, 'it has another hash')
    this.#roots.set(address, storageRoot)
    this.#accounts.set(address, this.#accountOf(address, balance, nonce, code))
  }

  async #fetchProvenSlots(address: Address, slots: readonly bigint[]): Promise<void> {
    if (!this.#roots.has(address)) await this.#fetchProven(address)
    const root = this.#roots.get(address) ?? emptyStorage.rootBytes
    const values = await proveSlots(this.#network, this.#point, { address, root }, slots)
    slots.forEach((slot, index) => {
      this.#storageOf(address).values.set(slot, values[index] ?? 0n)
    })
  }

  /** Undefined for one of which nothing is there: it cannot be told from an empty one, which no newer fork has. */
  #accountOf(
    address: Address,
    balance: bigint,
    nonce: bigint,
    { code, hash: codeHash }: ReturnType<typeof codeOf>,
  ): Account | undefined {
    const ours = this.#patches.code.get(address)
    if (ours !== undefined && code.length === 0) {
      const codeHash = keccakHash(ours)
      return { ...emptyAccount(address), balance, nonce: 1n, code: ours, codeHash }
    }
    if (balance === 0n && nonce === 0n && code.length === 0) return undefined
    // without code and nonce nothing ever ran there that could have written a slot
    const hasStorage = nonce > 0n || code.length > 0
    const storage = hasStorage ? this.#storageOf(address).trie : emptyStorage
    return { address, nonce, balance, codeHash, code, storage }
  }

  #storageOf(address: Address): Storage {
    let storage = this.#storages.get(address)
    if (storage === undefined) {
      storage = new Storage((slot) => {
        const kept = this.#keptSlot(address, slot)
        if (kept === undefined) missed({ kind: 'slot', address, slot }, this)
        return kept
      })
      this.#storages.set(address, storage)
    }
    return storage
  }

  #keptSlot(address: Address, slot: bigint): bigint | undefined {
    if (this.#network.isProven) return undefined
    const params = [address, wordFromBigint(slot)]
    const kept = this.#network.keptAt('eth_getStorageAt', params, this.#point)
    return kept === undefined ? undefined : word(kept)
  }

  #hasSlot(address: Address, slot: bigint): boolean {
    return this.#storageOf(address).values.has(slot)
  }

  async #fetchSlots(
    slots: readonly { readonly address: Address; readonly slot: bigint }[],
  ): Promise<void> {
    if (this.#network.isProven) {
      const byAddress = new Map<Address, bigint[]>()
      for (const { address, slot } of slots) {
        byAddress.set(address, [...(byAddress.get(address) ?? []), slot])
      }
      await Promise.all(
        [...byAddress].map(([address, some]) => this.#fetchProvenSlots(address, some)),
      )
      return
    }
    if (slots.length >= LEAST_TOGETHER) {
      const parts: (typeof slots)[] = []
      for (let at = 0; at < slots.length; at += MOST_TOGETHER) {
        parts.push(slots.slice(at, at + MOST_TOGETHER))
      }
      const fetched = await Promise.all(parts.map((part) => this.#fetchTogether(part)))
      if (fetched.every((isFetched) => isFetched)) return
    }
    await Promise.all(
      slots
        .filter(({ address, slot }) => !this.#hasSlot(address, slot))
        .map(async ({ address, slot }) => {
          const value = await this.#ask('eth_getStorageAt', [address, wordFromBigint(slot)])
          this.#storageOf(address).values.set(slot, word(value))
        }),
    )
  }

  /** @returns false where the network does not know the method, or some of the values are here as single ones */
  async #fetchTogether(
    slots: readonly { readonly address: Address; readonly slot: bigint }[],
  ): Promise<boolean> {
    const values = await this.#network.storageValues(slots, this.#point)
    if (values === undefined) return false
    slots.forEach(({ address, slot }, index) => {
      this.#storageOf(address).values.set(slot, word(values[index]))
    })
    return true
  }

  #ask(method: string, params: readonly string[]): Promise<unknown> {
    return this.#network.askAt(method, params, this.#point)
  }
}

/** The slots of one account. */
class Storage {
  readonly values = new Map<bigint, bigint>()
  readonly trie: Trie<StorageSlot>

  /** @param onMiss gives a value that is kept elsewhere */
  constructor(onMiss: (slot: bigint) => bigint | undefined) {
    const { values } = this
    const backing: Backing<StorageSlot> = {
      get: (_, slot) => {
        if (typeof slot !== 'bigint') return undefined
        let value = values.get(slot)
        if (value === undefined) {
          value = onMiss(slot)
          if (value !== undefined) values.set(slot, value)
        }
        return value === undefined || value === 0n ? undefined : { slot, value }
      },
      knows: (_, slot) => typeof slot === 'bigint' && values.has(slot),
      *known() {
        for (const [slot, value] of values) {
          if (value !== 0n) yield [slotKey(slot), { slot, value }] as const
        }
      },
      root: (changes) => rootOf(changes, changes.setRoot()),
    }
    this.trie = Trie.backed(emptyStorage.encodeValue, backing)
  }
}

/** The root of what is known: that of the network until something is changed, then that of the changes alone. */
function rootOf<V>({ set, setRoot, gone }: BackedChanges<V>, untouched: Uint8Array): Uint8Array {
  const [first] = gone
  return set === undefined && first === undefined ? untouched : setRoot()
}

function codeOf(text: unknown): { readonly code: Uint8Array; readonly hash: Hash } {
  const hex = String(text)
  if (!/^0x([0-9a-fA-F]{2})*$/.test(hex)) throw unexpected('code', text)
  const known = codes.get(hex)
  if (known !== undefined) return known
  const code = hex === '0x' ? EMPTY_BYTES : bytesFromHex(hex)
  const read = { code, hash: code.length === 0 ? EMPTY_CODE_HASH : keccakHash(code) }
  codes.set(hex, read)
  return read
}

/** Reads a slot's value: some nodes leave leading zeros out, or answer nothing for zero. */
function word(value: unknown): bigint {
  return value === '0x' ? 0n : quantity(value)
}
