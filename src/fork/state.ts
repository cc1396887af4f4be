// Accounts and slots of a network at one block, as far as they were fetched.
import { EMPTY_CODE_HASH, keccakHash } from '../core/crypto/crypto.ts'
import {
  type Address,
  bytesFromHex,
  EMPTY_BYTES,
  equalBytes,
  type Hash,
  wordFromBigint,
} from '../core/hex.ts'
import { getOrMake, memoize } from '../core/lrucache.ts'
import type { Json } from '../rpc/schema.ts'
import type { BackedState, Backing, BackingNodes } from '../state/backing.ts'
import { addressKey, slotKey } from '../state/keys.ts'
import { type Miss, MissingState, type MissSource } from '../state/misses.ts'
import type { SparseChange } from '../state/sparsetrie.ts'
import { Trie } from '../state/trie.ts'
import { EMPTY_ROOT_BYTES } from '../state/trienode.ts'
import {
  type Account,
  emptyAccount,
  emptyStorage,
  emptyWorld,
  isEmpty,
  type StorageSlot,
  type World,
} from '../state/world.ts'
import { standIns } from './arbitrum/standins.ts'
import { bytesIn, quantity, word } from './network/answers.ts'
import { gathering, missed } from './network/gather.ts'
import { type BlockPoint, type ForkedNetwork, partsOf, type SlotPlace } from './network/network.ts'
import { ProvenTries, unproven } from './tries.ts'

export interface Patches {
  /**
   * Accounts of this chain's users: with a balance but without code and slots, as their keys are public and others use
   * them. Their nonces start from the network's, fetched on demand.
   */
  readonly own: ReadonlyMap<Address, bigint>
  /** Local code where the network has none. */
  readonly code: ReadonlyMap<Address, Uint8Array>
}

/** What a store keeps of a state. */
export interface StateSource {
  readonly point: BlockPoint
  readonly patches: Patches
}

const NO_PATCHES: Patches = { own: new Map(), code: new Map() }

/** For fewer slots, a batch of single requests. */
const LEAST_TOGETHER = 8

/** Slots of one `eth_getStorageValues` (execution-apis). */
const MOST_TOGETHER = 1_024

const codeOf = memoize(
  4_096,
  (text: string): { readonly code: Uint8Array; readonly hash: Hash } => {
    const code = text === '0x' ? EMPTY_BYTES : bytesFromHex(bytesIn(text))
    return { code, hash: code.length === 0 ? EMPTY_CODE_HASH : keccakHash(code) }
  },
)

interface Storage {
  readonly values: Map<bigint, bigint>
  readonly trie: Trie<StorageSlot>
}

export class BlockState implements BackedState, MissSource {
  readonly world: World
  readonly #network: ForkedNetwork
  readonly #point: BlockPoint
  readonly #patches: Patches
  readonly #accounts = new Map<Address, Account | undefined>()
  readonly #nonces = new Map<Address, bigint>()
  readonly #storages = new Map<Address, Storage>()
  readonly #tries: ProvenTries | undefined
  readonly #standIn: ReturnType<typeof standIns>

  /** @param onLost called once with the reason if the state root can no longer be known */
  constructor(
    network: ForkedNetwork,
    point: BlockPoint,
    patches: Patches = NO_PATCHES,
    onLost: (why: string) => void = () => undefined,
  ) {
    this.#network = network
    this.#point = point
    this.#patches = patches
    this.#standIn = network.isArbitrum ? standIns(network, point, this) : () => undefined
    this.#tries = network.isProven ? new ProvenTries(network, point, this, onLost) : undefined
    const backing: Backing<Account> = {
      source: { state: this },
      get: (_, name) => (typeof name === 'string' ? this.#account(name) : undefined),
      knows: (_, name) =>
        typeof name === 'string' && (this.#accounts.has(name) || this.#standIn(name) !== undefined),
      known: () => this.#known(),
      root: (changed) => rootOf(changed, bytesFromHex(point.stateRoot)),
      nodes: this.#tries && this.#nodesOver(this.#tries),
    }
    this.world = { accounts: Trie.backed(emptyWorld.accounts.encodeValue, backing) }
    for (const [address, balance] of patches.own) {
      this.#accounts.set(address, this.#ownAccount(address, balance))
    }
  }

  get fork(): string {
    return this.#network.fork
  }

  get source(): StateSource {
    return { point: this.#point, patches: this.#patches }
  }

  storageOf(address: Address): Trie<StorageSlot> {
    return this.#standIn(address)?.storage ?? this.#storageOf(address).trie
  }

  /** Cached values are no misses; cached proofs are read when fetched. */
  isKept(miss: Miss): boolean {
    if (!this.#network.isProven || !('address' in miss)) return false
    const slots = miss.kind === 'slot' ? [wordFromBigint(miss.slot)] : []
    return this.#network.keptAt('eth_getProof', [miss.address, slots], this.#point) !== undefined
  }

  async fetch(misses: readonly Miss[]): Promise<void> {
    const slots = misses.filter((miss) => miss.kind === 'slot')
    const nodes = misses.filter((miss) => miss.kind === 'node')
    await Promise.all([
      this.#fetchSlots(slots.filter(({ address, slot }) => !this.#hasSlot(address, slot))),
      nodes.length > 0 && this.#tries?.fetchNodes(nodes),
      ...misses.map((miss) => {
        if (miss.kind === 'account') return this.#fetchAccount(miss.address)
        return miss.kind === 'nonce' ? this.#fetchNonce(miss.address) : undefined
      }),
    ])
  }

  #account(address: Address): Account | undefined {
    const known = this.#standIn(address) ?? this.#accounts.get(address)
    if (known !== undefined || this.#accounts.has(address)) return known
    if (this.#takeKept(address)) return this.#accounts.get(address)
    missed({ kind: 'account', address }, this)
    // a guess lets the same round fetch slots of the account
    return { ...emptyAccount(address), storage: this.#storageOf(address).trie }
  }

  *#known(): Iterable<readonly [Uint8Array, Account]> {
    for (const [address, account] of this.#accounts) {
      // its nonce is not known, and a dump would be loaded with 0
      if (this.#patches.own.has(address) && !this.#nonces.has(address)) continue
      if (account !== undefined) yield [addressKey(address), account]
    }
  }

  /** The nonce is fetched when it is read, or when the account is copied. */
  #ownAccount(address: Address, balance: bigint): Account {
    const nonce = (): bigint => {
      const known = this.#nonces.get(address) ?? this.#keptNonce(address)
      if (known !== undefined) return known
      missed({ kind: 'nonce', address }, this)
      return 0n
    }
    return {
      ...emptyAccount(address),
      balance,
      get nonce() {
        return nonce()
      },
    }
  }

  #keptNonce(address: Address): bigint | undefined {
    const kept = this.#keptAt('eth_getTransactionCount', [address])
    if (kept === undefined) return undefined
    const nonce = quantity(kept)
    this.#nonces.set(address, nonce)
    return nonce
  }

  async #fetchNonce(address: Address): Promise<void> {
    if (this.#nonces.has(address)) return
    const nonce =
      this.#tries === undefined
        ? await this.#ask('eth_getTransactionCount', [address], quantity)
        : ((await this.#tries.proveAccount(address))?.nonce ?? 0n)
    this.#nonces.set(address, nonce)
  }

  async #fetchAccount(address: Address): Promise<void> {
    if (this.#accounts.has(address)) return
    if (this.#tries !== undefined) {
      await this.#fetchProven(address, this.#tries)
      return
    }
    const [balance, nonce, text] = await Promise.all([
      this.#ask('eth_getBalance', [address], quantity),
      this.#ask('eth_getTransactionCount', [address], quantity),
      this.#network.codeAt(address, this.#point),
    ])
    this.#accounts.set(address, this.#accountFrom(address, balance, nonce, text))
  }

  #accountFrom(
    address: Address,
    balance: bigint,
    nonce: bigint,
    text: unknown,
  ): Account | undefined {
    const code = codeOf(String(text))
    // without code and nonce, nothing could have written a slot
    const hasStorage = nonce > 0n || code.code.length > 0
    return this.#accountOf({ address, balance, nonce }, code, hasStorage)
  }

  /** @returns false if no earlier fork fetched the account */
  #takeKept(address: Address): boolean {
    const balance = this.#keptAt('eth_getBalance', [address])
    if (balance === undefined) return false
    const nonce = this.#keptAt('eth_getTransactionCount', [address])
    const text = this.#network.keptCodeAt(address, this.#point)
    if (nonce === undefined || text === undefined) return false
    const account = this.#accountFrom(address, quantity(balance), quantity(nonce), text)
    this.#accounts.set(address, account)
    return true
  }

  async #fetchProven(address: Address, tries: ProvenTries): Promise<void> {
    const proof = tries.proveAccount(address)
    const hash = proof.then((found) => found?.codeHash ?? EMPTY_CODE_HASH)
    // a failure that nobody awaits any more is ignored
    hash.catch(() => undefined)
    const [proven, text] = await Promise.all([
      proof,
      this.#network.codeAt(address, this.#point, hash),
    ])
    const code = codeOf(String(text))
    if (code.hash !== (await hash)) throw unproven(`the code of ${address}`, 'it has another hash')
    const hasStorage = proven !== undefined && !equalBytes(proven.storageRoot, EMPTY_ROOT_BYTES)
    const { nonce, balance } = proven ?? { nonce: 0n, balance: 0n }
    const account = this.#accountOf({ address, nonce, balance }, code, hasStorage)
    // an empty account that exists: a touch deletes it (EIP-161)
    this.#accounts.set(address, account ?? (proven && emptyAccount(address)))
  }

  /** Undefined for an empty account: it looks like a missing one, and newer hardforks have none. */
  #accountOf(
    { address, nonce, balance }: Pick<Account, 'address' | 'nonce' | 'balance'>,
    { code, hash: codeHash }: ReturnType<typeof codeOf>,
    hasStorage: boolean,
  ): Account | undefined {
    this.#network.noteUsed(address, code)
    const ours = this.#patches.code.get(address)
    if (ours !== undefined && code.length === 0) {
      return {
        ...emptyAccount(address),
        balance,
        nonce: 1n,
        code: ours,
        codeHash: keccakHash(ours),
      }
    }
    if (balance === 0n && nonce === 0n && code.length === 0 && !hasStorage) return undefined
    const storage = hasStorage ? this.#storageOf(address).trie : emptyStorage
    return { address, nonce, balance, codeHash, code, storage }
  }

  #storageOf(address: Address): Storage {
    return getOrMake(this.#storages, address, () => this.#newStorage(address))
  }

  #newStorage(address: Address): Storage {
    const values = new Map<bigint, bigint>()
    const read = (slot: bigint): bigint | undefined => {
      const known = values.get(slot)
      if (known !== undefined) return known
      const kept = this.#keptAt('eth_getStorageAt', [address, wordFromBigint(slot)])
      if (kept === undefined) missed({ kind: 'slot', address, slot }, this)
      else values.set(slot, word(kept))
      return values.get(slot)
    }
    const backing: Backing<StorageSlot> = {
      source: { state: this, address },
      get: (_, slot) => {
        const value = typeof slot === 'bigint' ? read(slot) : undefined
        return value === undefined || value === 0n ? undefined : { slot: slot as bigint, value }
      },
      knows: (_, slot) => typeof slot === 'bigint' && values.has(slot),
      *known() {
        for (const [slot, value] of values) {
          if (value !== 0n) yield [slotKey(slot), { slot, value }] as const
        }
      },
      root: (changed) => rootOf(changed, EMPTY_ROOT_BYTES),
      nodes: this.#tries && this.#slotNodes(address, values, this.#tries),
    }
    return { values, trie: Trie.backed(emptyStorage.encodeValue, backing) }
  }

  #slotNodes(
    address: Address,
    values: ReadonlyMap<bigint, bigint>,
    tries: ProvenTries,
  ): BackingNodes<StorageSlot> {
    const untouched = tries.storageOf(address)
    return {
      untouched,
      begun: untouched,
      require: (name) => {
        const slot = name as bigint
        if (!values.has(slot)) throw new MissingState({ kind: 'slot', address, slot }, this)
      },
      nameOf: ({ slot }) => slot,
      whyUnknown: tries.whyUnknown,
    }
  }

  #keptAt(method: string, params: readonly string[]): Json | undefined {
    return this.#network.isProven ? undefined : this.#network.keptAt(method, params, this.#point)
  }

  #hasSlot(address: Address, slot: bigint): boolean {
    return this.#storageOf(address).values.has(slot)
  }

  async #fetchSlots(slots: readonly SlotPlace[]): Promise<void> {
    const tries = this.#tries
    if (tries !== undefined) return this.#fetchProvenSlots(slots, tries)
    if (slots.length >= LEAST_TOGETHER) {
      const parts = partsOf(slots, MOST_TOGETHER)
      const fetched = await Promise.all(parts.map((part) => this.#fetchTogether(part)))
      if (fetched.every((isFetched) => isFetched)) return
    }
    await Promise.all(
      slots
        .filter(({ address, slot }) => !this.#hasSlot(address, slot))
        .map(async ({ address, slot }) => {
          const params = [address, wordFromBigint(slot)]
          const value = await this.#ask('eth_getStorageAt', params, word)
          this.#storageOf(address).values.set(slot, value)
        }),
    )
  }

  /** @returns false: slots must be asked for one by one */
  async #fetchTogether(slots: readonly SlotPlace[]): Promise<boolean> {
    const values = await this.#network.storageValues(slots, this.#point)
    if (values === undefined) return false
    slots.forEach(({ address, slot }, index) => {
      this.#storageOf(address).values.set(slot, word(values[index]))
    })
    return true
  }

  async #fetchProvenSlots(places: readonly SlotPlace[], tries: ProvenTries): Promise<void> {
    const byAddress = new Map<Address, bigint[]>()
    for (const { address, slot } of places) getOrMake(byAddress, address, () => []).push(slot)
    await Promise.all(
      [...byAddress].map(async ([address, slots]) => {
        const values = await tries.proveSlots(address, slots)
        const known = this.#storageOf(address).values
        for (const [index, slot] of slots.entries()) known.set(slot, values[index] ?? 0n)
      }),
    )
  }

  #nodesOver(tries: ProvenTries): BackingNodes<Account> {
    return {
      untouched: tries.state,
      begun: tries.state.with(() => this.#patched()),
      require: (name) => this.#require(name as Address),
      nameOf: ({ address }) => address,
      whyUnknown: tries.whyUnknown,
    }
  }

  #require(address: Address): void {
    const isOwn = this.#patches.own.has(address)
    if (isOwn ? this.#nonces.has(address) : this.#accounts.has(address)) return
    throw new MissingState({ kind: isOwn ? 'nonce' : 'account', address }, this)
  }

  #patched(): readonly SparseChange[] {
    const { own, code } = this.#patches
    return [...own.keys(), ...code.keys()].map((address) => ({
      key: addressKey(address),
      encode: () => {
        this.#require(address)
        const account = this.#accounts.get(address)
        return account === undefined || isEmpty(account)
          ? undefined
          : emptyWorld.accounts.encodeValue(account)
      },
    }))
  }

  #ask<T>(method: string, params: readonly string[], read: (answer: unknown) => T): Promise<T> {
    return this.#network.askAt(method, params, this.#point, read)
  }
}

/** Before any change the network's root, after that the root of the changes alone. */
function rootOf(changed: (() => Uint8Array) | undefined, untouched: Uint8Array): Uint8Array {
  // keep nothing that follows from a guess
  return gathering()?.hasGuessed === true ? EMPTY_ROOT_BYTES : (changed?.() ?? untouched)
}
