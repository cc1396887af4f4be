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
import type { TokenUnit } from './abi/values.ts'
import type { Artifacts } from './artifacts.ts'
import type { Contract } from './code/catalogue.ts'
import type { ProxyKind } from './code/proxies.ts'
import type { Identity } from './naming/identity.ts'
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
  of(world: World, address: Address): KnownContract | undefined {
    const identity = this.#names.identities.of(world, address)
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
  tokensOf(world: World, accounts: readonly Address[]): readonly KnownToken[] {
    return accounts.flatMap((address) => {
      const token = this.#names.identities.token(world, address)
      return token === undefined ? [] : [{ address, ...token }]
    })
  }

  /** Variables of the layout, then slots without a name; those that a fork has not fetched are fetched if they are named. */
  async storage(state: ChainState, world: World, address: Address): Promise<readonly NamedSlot[]> {
    const names = this.#names
    const identity = names.identities.of(world, address)
    const storage = accountAt(world, address)?.storage
    if (storage === undefined) return []
    const stored: bigint[] = []
    for (const { slot } of storage.values()) {
      if (stored.length === MOST_SLOTS) break
      stored.push(slot)
    }
    const keys = keysIn(state)
    const style = { ...names.style(world, address), isWhole: true }
    const layout = await this.#layoutOf(identity)
    const read = (slot: bigint): bigint => slotValue(storage, slot)
    if (state.config.upstream === undefined) return namedSlots(layout, stored, keys, style, read)
    const declared = namedSlots(layout, stored, [], style, read)
    // each key of a mapping would be a request to the forked network, so only fetched slots are looked at
    const known = new Set(stored)
    const fetched = (slot: bigint): bigint => (known.has(slot) ? read(slot) : 0n)
    return withElements(declared, namedSlots(layout, stored, keys, style, fetched))
  }

  /** Slots that differ between two states of an account, by name. */
  async changes(
    state: ChainState,
    world: World,
    before: Account | undefined,
    after: Account | undefined,
  ): Promise<readonly string[]> {
    const [old, now] = [before?.storage ?? emptyStorage, after?.storage ?? emptyStorage]
    const { address } = (after ?? before)!
    const changed = slotChanges(old, now)
    if (changed.length === 0) return []
    const names = this.#names
    const layout = await this.#layoutOf(names.identities.of(world, address))
    return storageTexts(layout, changed, keysIn(state), names.style(world, address), (slot) => ({
      before: slotValue(old, slot),
      after: slotValue(now, slot),
    }))
  }

  async #layoutOf(identity: Identity | undefined): Promise<unknown> {
    if (identity?.contract === undefined || identity.isGuess) return undefined
    const { details } = this.#artifacts
    await details.prepare([identity.contract])
    return details.of(identity.contract)?.layout
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

/** The variables of one list with the elements of mappings of another, then slots without a name. */
function withElements(
  declared: readonly NamedSlot[],
  others: readonly NamedSlot[],
): readonly NamedSlot[] {
  const names = new Set(declared.map(({ name }) => name))
  const elements = others.filter(({ name, word }) => !names.has(name) && word !== 0n)
  const slots = new Set(elements.map(({ slot }) => slot))
  const isNamed = ({ name }: NamedSlot): boolean => name !== undefined
  const rest = declared.filter((each) => !isNamed(each) && !slots.has(each.slot))
  return [...declared.filter(isNamed), ...elements.filter(isNamed), ...rest]
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
