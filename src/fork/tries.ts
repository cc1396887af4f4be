// The tries of one block of another network, as far as they were proven: local state stands on their nodes.
import { type Address, bytesFromHex, type Hex, hexFromBytes } from '../core/hex.ts'
import type { BackingNodes } from '../state/backing.ts'
import { MissingState, type MissSource, type NodeMiss } from '../state/misses.ts'
import { type FindNode, sparseRoot } from '../state/sparse.ts'
import { SparseTrie } from '../state/sparsetrie.ts'
import { EMPTY_ROOT_BYTES, nibbleAt } from '../state/trienode.ts'
import { gathering } from './network/gather.ts'
import type { BlockPoint, Network } from './network/network.ts'
import { namesWith } from './proofs/prefixes.ts'
import type { ProvenNodes } from './proofs/proof.ts'
import { type ProvenAccount, proveAccount, proveSlots } from './proven.ts'

export class ProvenTries {
  readonly state: SparseTrie
  readonly #network: Network
  readonly #point: BlockPoint
  readonly #source: MissSource
  readonly #onLost: (why: string) => void
  readonly #nodes: ProvenNodes = new Map()
  /** Of storage, of the accounts that were proven. */
  readonly #roots = new Map<Address, Uint8Array>()
  #lost: string | undefined

  /**
   * @param source who fetches what is missing, and is asked by `fetchNodes` for nodes
   * @param onLost told once, when a node cannot be had: why state roots are not known from then on
   */
  constructor(
    network: Network,
    point: BlockPoint,
    source: MissSource,
    onLost: (why: string) => void,
  ) {
    this.#network = network
    this.#point = point
    this.#source = source
    this.#onLost = onLost
    const root = bytesFromHex(point.stateRoot)
    this.state = SparseTrie.of(() => sparseRoot(root, this.#finder(undefined)))
  }

  /** The storage of an account, once it is proven. */
  storageOf(address: Address): SparseTrie {
    return SparseTrie.of(() => {
      const root = this.#roots.get(address)
      if (root === undefined) throw new MissingState({ kind: 'account', address }, this.#source)
      return sparseRoot(root, this.#finder(address))
    })
  }

  async proveAccount(address: Address): Promise<ProvenAccount | undefined> {
    const account = await proveAccount(this.#network, this.#point, address, this.#nodes)
    this.#roots.set(address, account?.storageRoot ?? EMPTY_ROOT_BYTES)
    return account
  }

  async proveSlots(address: Address, slots: readonly bigint[]): Promise<readonly bigint[]> {
    const root = this.#roots.get(address) ?? this.#rootOf(address)
    return proveSlots(this.#network, this.#point, { address, root }, slots, this.#nodes)
  }

  async #rootOf(address: Address): Promise<Uint8Array> {
    await this.proveAccount(address)
    return this.#roots.get(address) ?? EMPTY_ROOT_BYTES
  }

  /** Why state roots are those of what is known alone; undefined where they are the network's. */
  readonly whyUnknown: BackingNodes<unknown>['whyUnknown'] = () => {
    if (this.#lost !== undefined) return this.#lost
    return gathering()?.hasGuessed === true ? 'not all that it takes is known yet' : undefined
  }

  /**
   * Fetches nodes that nothing here is the name of, as a deletion needs them whose branch gives way to another child: by
   * proofs of names that lead there.
   */
  async fetchNodes(misses: readonly NodeMiss[]): Promise<void> {
    const byOwner = new Map<Address | undefined, string[]>()
    for (const { owner, prefix } of misses) {
      byOwner.set(owner, [...(byOwner.get(owner) ?? []), prefix])
    }
    await Promise.all([...byOwner].map(([owner, prefixes]) => this.#fetchBelow(owner, prefixes)))
  }

  async #fetchBelow(owner: Address | undefined, prefixes: readonly string[]): Promise<void> {
    const onLong = (left: readonly string[]): void => this.#network.tell(longSearch(owner, left))
    const names = await namesWith(prefixes, owner === undefined ? 20 : 32, { onLong })
    const lost = prefixes.find((prefix) => !names.has(prefix))
    if (lost !== undefined) this.#lose(owner, lost)
    if (owner !== undefined) {
      await this.proveSlots(owner, [...names.values()])
      return
    }
    const addresses = [...names.values()].map(
      (name) => `0x${name.toString(16).padStart(40, '0')}` as Address,
    )
    await Promise.all(addresses.map((address) => this.proveAccount(address)))
  }

  #lose(owner: Address | undefined, prefix: string): void {
    if (this.#lost !== undefined) return
    const where = owner === undefined ? 'the state' : `the storage of ${owner}`
    this.#lost = `a node of ${where} is needed, at ${prefix}, and no name was found whose proof has it`
    this.#onLost(this.#lost)
  }

  #finder(owner: Address | undefined): FindNode {
    return (hash, key, depth) => {
      const node = this.#nodes.get(hexFromBytes(hash) as Hex)
      if (node !== undefined) return node
      let prefix = ''
      for (let index = 0; index < depth; index++) prefix += nibbleAt(key, index).toString(16)
      throw new MissingState({ kind: 'node', owner, prefix }, this.#source)
    }
  }
}

function longSearch(owner: Address | undefined, prefixes: readonly string[]): string {
  const what = owner === undefined ? 'accounts' : `slots of ${owner}`
  return `looking for ${what} whose hash begins with ${prefixes.join(', ')}, to know what is beside what was deleted: this takes seconds`
}
