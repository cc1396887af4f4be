// A contract as the project knows it: name, ABI and sources of the code that it runs, and its storage by name.
import type { Address } from '../core/hex.ts'
import { addresses } from '../node/accounts/accounts.ts'
import type { DirectChange } from '../node/cheats/directchanges.ts'
import type { ChainState } from '../node/ledger/chainstate.ts'
import type { Trie } from '../state/trie.ts'
import { collectChanges, type ValueChange } from '../state/triewalk.ts'
import { accountAt, emptyStorage, type StorageSlot, slotValue, type World } from '../state/world.ts'
import type { TokenUnit } from './abi/values.ts'
import type { Artifacts } from './artifacts.ts'
import type { ProxyKind } from './code/proxies.ts'
import type { Names } from './naming/names.ts'
import { type JsonObject, member } from './reading/formats.ts'
import { CompiledReader } from './sourcify/compiled.ts'
import {
  type KeySource,
  mappingKeys,
  type NamedSlot,
  namedSlots,
  type ReadSlot,
  type SlotNaming,
  slotChanges,
  storageTexts,
} from './trace/storage.ts'

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

/** Blocks whose transactions may name keys of mappings. */
const MOST_BLOCKS = 1_000

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
    const sources = [...(compiled?.sources ?? [])]
    const version = member(compiled?.metadata, 'compiler', 'version')
    return {
      name: catalogue.nameOf(contract),
      source: contract.source,
      isGuess,
      via,
      proxy: via === undefined ? undefined : outer && catalogue.nameOf(outer.contract),
      abi: contract.abi.map(({ json }) => JSON.parse(json) as JsonObject),
      compiler: typeof version === 'string' ? version : '',
      sources: new Map([...sources.filter(([path]) => path === contract.source), ...sources]),
    }
  }

  /** The tokens among some accounts. */
  tokensOf(accounts: readonly Address[]): readonly (TokenUnit & { readonly address: Address })[] {
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
    const naming = await this.#namingOf(state, world, address)
    // each key of a mapping would be a request to the forked network, so only fetched slots are looked at
    const known = state.config.upstream && new Set(stored)
    return namedSlots(naming, stored, (slot, isKeyed) =>
      isKeyed && known?.has(slot) === false ? 0n : slotValue(storage, slot),
    )
  }

  /** The same of two worlds. Of a fork, also the variables of the layout that it has not fetched. */
  async changesBetween(
    state: ChainState,
    address: Address,
    ...worlds: readonly [World, World]
  ): Promise<readonly string[]> {
    const [before, after] = worlds.map((world) => accountAt(world, address))
    if (state.config.upstream === undefined) return await this.changes(state, { before, after })
    const named: NamedSlot[] = []
    for (const world of worlds) named.push(...(await this.storage(state, world, address)))
    return await this.changes(state, { before, after }, new Set(named.map(({ slot }) => slot)))
  }

  /** Slots that differ between two states of an account, by name. @param slots those that are compared; by default, all */
  async changes(
    state: ChainState,
    { before, after }: Pick<DirectChange, 'before' | 'after'>,
    slots?: ReadonlySet<bigint>,
  ): Promise<readonly string[]> {
    const account = after ?? before
    if (account === undefined) return []
    const [old, now] = [before?.storage ?? emptyStorage, after?.storage ?? emptyStorage]
    const read: ReadSlot = (slot) => ({
      before: slotValue(old, slot),
      after: slotValue(now, slot),
    })
    const changed = slotChanges([...(slots ?? slotsOf(old, now))], read).slice(0, MOST_SLOTS)
    if (changed.length === 0) return []
    const naming = await this.#namingOf(state, this.#names.world, account.address)
    return storageTexts(naming, changed, read)
  }

  async #namingOf(state: ChainState, world: World, address: Address): Promise<SlotNaming> {
    const exact = this.#names.identities.exact(world, address)
    const layout = exact && (await this.#artifacts.details.of(exact))?.layout
    return { layout, style: this.#names.style(world, address), keys: mappingKeys(keysIn(state)) }
  }
}

/** Slots that may differ. Of a fork, those that were fetched or set. */
function slotsOf(old: Trie<StorageSlot>, now: Trie<StorageSlot>): readonly bigint[] {
  const pairs: ValueChange<StorageSlot>[] = []
  if (!old.isBacked && !now.isBacked) collectChanges(old.root, now.root, pairs)
  else for (const each of now.values()) pairs.push([undefined, each])
  return [...new Set(pairs.map(([was, is]) => (is ?? was)!.slot))]
}

/** The node's accounts, and its newest transactions. */
function* keysIn({ accounts, tree }: ChainState): Iterable<KeySource> {
  yield { addresses: addresses(accounts) }
  const { canonical, network } = tree
  // the blocks of a forked network would have to be fetched
  const first = Math.max(canonical.length - MOST_BLOCKS, (network?.number ?? -1) + 1)
  for (const { executed } of [...canonical.filled(first)].reverse()) {
    for (const { transaction, receipt } of executed) {
      const { from, to, data } = transaction
      const named = [from, to, receipt.contractAddress]
      yield { addresses: named, logs: receipt.logs, ...(to !== null && { input: data }) }
    }
  }
}
