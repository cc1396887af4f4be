// A contract as the project knows it: name, ABI and sources of the code that it runs, and its storage by name.
import { type Address, bytesFromHex, hexFromBytes, paddedBytes } from '../core/hex.ts'
import { addresses } from '../node/accounts/accounts.ts'
import type { ChainState } from '../node/ledger/chainstate.ts'
import type { Trie } from '../state/trie.ts'
import { collectChanges, type ValueChange } from '../state/triewalk.ts'
import {
  type Account,
  accountAt,
  emptyStorage,
  type StorageSlot,
  slotValue,
  type World,
} from '../state/world.ts'
import type { TokenUnit, ValueStyle } from './abi/values.ts'
import type { Artifacts } from './artifacts.ts'
import type { Contract } from './code/catalogue.ts'
import type { ProxyKind } from './code/proxies.ts'
import type { Names } from './naming/names.ts'
import { type JsonObject, member } from './reading/formats.ts'
import { CompiledReader } from './sourcify/compiled.ts'
import { type NamedSlot, namedSlots, type SlotChange, storageTexts } from './trace/storage.ts'

export interface KnownContract {
  readonly name: string
  /** Path of its source; empty if unknown. */
  readonly source: string
  /** The code only resembles that of the artifact. */
  readonly isGuess: boolean
  /** How the account runs this contract's code; undefined: as its own. */
  readonly via: ProxyKind | undefined
  /** The contract of the proxy itself. */
  readonly proxy: string | undefined
  readonly abi: readonly JsonObject[]
  /** The compiler's version; empty if unknown. */
  readonly compiler: string
  /** Content by path, its own first. */
  readonly sources: ReadonlyMap<string, string>
}

export interface KnownToken extends TokenUnit {
  readonly address: Address
}

/** Blocks whose transactions may name keys of mappings, and words of them that are tried. */
const MOST_BLOCKS = 1_000
const MOST_KEYS = 128

/** Slots of an account that are read without a name. */
const MOST_SLOTS = 1_000

export class Contracts {
  readonly #names: Names
  readonly #artifacts: Artifacts
  readonly #reader: CompiledReader

  constructor(names: Names, artifacts: Artifacts) {
    this.#names = names
    this.#artifacts = artifacts
    this.#reader = new CompiledReader(artifacts)
  }

  /** Undefined without code, or without an artifact for it. */
  of(address: Address): KnownContract | undefined {
    const identity = this.#names.identities.of(this.#names.world, address)
    if (identity?.contract === undefined) return undefined
    const { contract, isGuess, via, outer } = identity
    const { catalogue } = this.#artifacts
    const compiled = isGuess ? undefined : this.#reader.of(contract)
    const version = member(compiled?.metadata, 'compiler', 'version')
    return {
      name: catalogue.nameOf(contract),
      source: contract.source,
      isGuess,
      via,
      proxy: via === undefined ? undefined : outer && catalogue.nameOf(outer.contract),
      abi: contract.abi.map(({ json }) => JSON.parse(json) as JsonObject),
      compiler: typeof version === 'string' ? version : '',
      sources: ownFirst(compiled?.sources ?? new Map(), contract),
    }
  }

  /** The tokens among some accounts. */
  tokensOf(accounts: readonly Address[]): readonly KnownToken[] {
    const { identities, world } = this.#names
    return accounts.flatMap((address) => {
      const token = identities.token(world, address)
      return token === undefined ? [] : [{ address, ...token }]
    })
  }

  /** Variables of the layout, then slots without a name; those that a fork has not fetched are fetched if they are named. */
  async storage(state: ChainState, world: World, address: Address): Promise<readonly NamedSlot[]> {
    const storage = accountAt(world, address)?.storage
    if (storage === undefined) return []
    const stored: bigint[] = []
    for (const { slot } of storage.values()) {
      if (stored.length === MOST_SLOTS) break
      stored.push(slot)
    }
    const { layout, style, keys } = await this.#readingOf(state, world, address)
    // each key of a mapping would be a request to the forked network, so only fetched slots are looked at
    const known = state.config.upstream && new Set(stored)
    return namedSlots(layout, stored, keys, { ...style, isWhole: true }, (slot, isKeyed) =>
      isKeyed && known?.has(slot) === false ? 0n : slotValue(storage, slot),
    )
  }

  /** Slots that differ between two states of an account, by name. */
  async changes(
    state: ChainState,
    before: Account | undefined,
    after: Account | undefined,
  ): Promise<readonly string[]> {
    const [old, now] = [before?.storage ?? emptyStorage, after?.storage ?? emptyStorage]
    const { address } = (after ?? before)!
    const changed = slotChanges(old, now)
    if (changed.length === 0) return []
    const { layout, style, keys } = await this.#readingOf(state, this.#names.world, address)
    return storageTexts(layout, changed, keys, style, (slot) => ({
      before: slotValue(old, slot),
      after: slotValue(now, slot),
    }))
  }

  /** What names the slots of an account: the layout of its code, how values are printed, and keys of mappings. */
  async #readingOf(
    state: ChainState,
    world: World,
    address: Address,
  ): Promise<{ layout: unknown; style: ValueStyle; keys: readonly Uint8Array[] }> {
    const { details } = this.#artifacts
    const { contract, isGuess } = this.#names.identities.of(world, address) ?? {}
    const exact = isGuess ? undefined : contract
    if (exact !== undefined) await details.prepare([exact])
    const style = this.#names.style(world, address)
    return { layout: exact && details.of(exact)?.layout, style, keys: keysIn(state) }
  }
}

/** At most `MOST_SLOTS`. Of a fork, those that were fetched or set. */
function slotChanges(old: Trie<StorageSlot>, now: Trie<StorageSlot>): readonly SlotChange[] {
  const slots = new Set<bigint>()
  const changes: SlotChange[] = []
  const pairs: ValueChange<StorageSlot>[] = []
  if (!old.isBacked && !now.isBacked) collectChanges(old.root, now.root, pairs)
  else for (const each of now.values()) pairs.push([undefined, each])
  for (const [was, is] of pairs) slots.add((is ?? was)!.slot)
  for (const slot of slots) {
    if (changes.length === MOST_SLOTS) break
    const [before, after] = [slotValue(old, slot), slotValue(now, slot)]
    if (before !== after) changes.push({ slot, before, after })
  }
  return changes
}

function ownFirst(
  sources: ReadonlyMap<string, string>,
  { source }: Contract,
): ReadonlyMap<string, string> {
  const isOwn = ([path]: readonly [string, string]): boolean => path === source
  return new Map([...sources].sort((a, b) => Number(isOwn(b)) - Number(isOwn(a))))
}

/** Possible keys of mappings: the node's accounts, and words of the newest transactions and events. */
function keysIn({ accounts, tree }: ChainState): readonly Uint8Array[] {
  const keys = new Map<string, Uint8Array>()
  const add = (word: Uint8Array): void => {
    if (word.length === 32 && keys.size < MOST_KEYS) keys.set(hexFromBytes(word), word)
  }
  const addAddress = (address: Address): void => add(paddedBytes(BigInt(address), 32))
  for (const address of addresses(accounts)) addAddress(address)
  const { canonical, network } = tree
  // the blocks of a forked network would have to be fetched
  const first = Math.max(canonical.length - MOST_BLOCKS, (network?.number ?? -1) + 1)
  const newest = [...canonical.filled(first)].reverse()
  for (const { executed } of newest) {
    for (const { transaction, receipt } of executed) {
      if (keys.size >= MOST_KEYS) return [...keys.values()]
      const { from, to, data } = transaction
      addAddress(from)
      for (const address of [to, receipt.contractAddress]) if (address) addAddress(address)
      for (const { topics } of receipt.logs) {
        for (const topic of topics.slice(1)) add(bytesFromHex(topic))
      }
      if (to === null) continue
      for (let at = 4; at + 32 <= data.length && keys.size < MOST_KEYS; at += 32) {
        add(data.slice(at, at + 32))
      }
    }
  }
  return [...keys.values()]
}
