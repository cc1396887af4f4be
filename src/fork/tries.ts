// The proven parts of a block's tries on another network, on which local state builds.
import { keccak256 } from '../core/crypto/keccak.ts'
import { DevchainError } from '../core/errors.ts'
import {
  type Address,
  bigintFromBytes,
  bytesFromHex,
  equalBytes,
  type Hex,
  hashFromBytes,
  hexFromBytes,
  isBytes,
} from '../core/hex.ts'
import { getOrMake } from '../core/lrucache.ts'
import { decodeRlp, type RlpItem } from '../core/rlp.ts'
import { nibbleAt } from '../protocol/trienodes.ts'
import type { Json } from '../rpc/schema.ts'
import type { BackingNodes } from '../state/backing.ts'
import { addressKey, slotKey } from '../state/keys.ts'
import { MissingState, type MissSource, type NodeMiss } from '../state/misses.ts'
import { BrokenProof, type FindNode, sparseRoot } from '../state/sparse.ts'
import { SparseTrie } from '../state/sparsetrie.ts'
import { EMPTY_ROOT_BYTES, firstDifference, KEY_NIBBLES } from '../state/trienode.ts'
import { pathTo } from '../state/triewalk.ts'
import type { Account } from '../state/world.ts'
import { unexpected } from './network/answers.ts'
import { gathering } from './network/gather.ts'
import type { BlockPoint, ForkedNetwork } from './network/network.ts'
import { namesWith } from './prefixes.ts'

/** RLP of verified nodes by hash. */
type ProvenNodes = Map<Hex, Uint8Array>

interface ProvenAccount extends Pick<Account, 'nonce' | 'balance' | 'codeHash'> {
  readonly storageRoot: Uint8Array
}

export class ProvenTries {
  readonly state: SparseTrie
  readonly #network: ForkedNetwork
  readonly #point: BlockPoint
  readonly #source: MissSource
  readonly #onLost: (why: string) => void
  readonly #nodes: ProvenNodes = new Map()
  readonly #roots = new Map<Address, Uint8Array>()
  #lost: string | undefined

  /**
   * @param source fetches what is missing, and delegates nodes to `fetchNodes`
   * @param onLost called once, when a node cannot be fetched: why state roots are unknown from then on
   */
  constructor(
    network: ForkedNetwork,
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

  storageOf(address: Address): SparseTrie {
    return SparseTrie.of(() => {
      const root = this.#roots.get(address)
      if (root === undefined) throw new MissingState({ kind: 'account', address }, this.#source)
      return sparseRoot(root, this.#finder(address))
    })
  }

  /**
   * Undefined: the proof shows that there is none.
   * @throws {DevchainError} `UPSTREAM_FAILED` naming the account whose proof is wrong
   */
  async proveAccount(address: Address): Promise<ProvenAccount | undefined> {
    const root = bytesFromHex(this.#point.stateRoot)
    const read = (answer: Json): ProvenAccount | undefined => {
      const { accountProof } = (answer ?? {}) as { accountProof?: unknown }
      return this.#read(`account ${address}`, accountProof, root, addressKey(address), accountIn)
    }
    const account = await this.#network.askAt('eth_getProof', [address, []], this.#point, read)
    this.#roots.set(address, account?.storageRoot ?? EMPTY_ROOT_BYTES)
    return account
  }

  /**
   * Fetches the account's proof in parallel.
   * @throws as `proveAccount`
   */
  async proveSlots(address: Address, slots: readonly bigint[]): Promise<readonly bigint[]> {
    const reader = async (): Promise<(answer: Json, slot: bigint) => bigint> => {
      if (!this.#roots.has(address)) await this.proveAccount(address)
      const root = this.#roots.get(address)!
      return (answer, slot) => {
        const { proof } = (answer ?? {}) as { proof?: unknown }
        const what = `slot 0x${slot.toString(16)} of ${address}`
        const word = (leaf: RlpItem): bigint => bigintFromBytes(bytesOf(leaf))
        return this.#read(what, proof, root, slotKey(slot), word) ?? 0n
      }
    }
    return this.#network.slotProofs(address, slots, this.#point, reader())
  }

  #read<T>(
    what: string,
    proof: unknown,
    root: Uint8Array,
    key: Uint8Array,
    read: (leaf: RlpItem) => T,
  ): T | undefined {
    const nodes = nodesOf(proof)
    try {
      const value = provenValue(root, key, nodes, this.#nodes)
      return value && read(decodeRlp(value))
    } catch (error) {
      // undecodable nodes prove nothing either
      if (!(error instanceof BrokenProof || error instanceof DevchainError)) throw error
      throw unproven(what, error.message)
    }
  }

  /** Why state roots cover only known state; undefined: they are the network's. */
  readonly whyUnknown: BackingNodes<unknown>['whyUnknown'] = () => {
    if (this.#lost !== undefined) return this.#lost
    return gathering()?.hasGuessed === true ? 'some of its state is not fetched yet' : undefined
  }

  /** A deletion may need the other child of a branch, whose name is unknown: fetches proofs of made-up names on its path. */
  async fetchNodes(misses: readonly NodeMiss[]): Promise<void> {
    const byOwner = new Map<Address | undefined, string[]>()
    for (const { owner, prefix } of misses) getOrMake(byOwner, owner, () => []).push(prefix)
    await Promise.all([...byOwner].map(([owner, prefixes]) => this.#fetchBelow(owner, prefixes)))
  }

  async #fetchBelow(owner: Address | undefined, prefixes: readonly string[]): Promise<void> {
    const what = owner === undefined ? 'accounts' : `slots of ${owner}`
    const onLong = (left: readonly string[]): void =>
      this.#network.warn(
        `searching for ${what} whose hash begins with ${left.join(', ')}, to prove the trie next to a deletion: this takes seconds`,
      )
    const names = await namesWith(prefixes, owner === undefined ? 20 : 32, onLong)
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
    this.#lost = `no key was found whose proof has the trie node at ${prefix} of ${where}`
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

/**
 * Verifies a Merkle proof of `eth_getProof`.
 * @param known receives the verified nodes
 * @returns undefined: the proof shows that the key is absent
 * @throws {BrokenProof} if it proves neither
 */
function provenValue(
  root: Uint8Array,
  key: Uint8Array,
  nodes: readonly Uint8Array[],
  known: ProvenNodes,
): Uint8Array | undefined {
  let used = 0
  const find: FindNode = (hash) => {
    const node = nodes[used]
    used += 1
    return getOrMake(known, hexFromBytes(hash), () => {
      if (node === undefined) throw new BrokenProof('it ends too early')
      if (!equalBytes(keccak256(node), hash)) throw new BrokenProof('a node has another hash')
      return node
    })
  }
  for (const node of pathTo(sparseRoot(root, find), key)) {
    if (node.kind !== 'leaf') continue
    const { depth, value } = node
    return firstDifference(node.key, key, depth, KEY_NIBBLES) === KEY_NIBBLES ? value : undefined
  }
  return undefined
}

function accountIn(leaf: RlpItem): ProvenAccount {
  if (leaf instanceof Uint8Array || leaf.length !== 4) throw new BrokenProof('a leaf is none')
  const [nonce, balance, storageRoot, codeHash] = leaf.map(bytesOf)
  return {
    nonce: bigintFromBytes(nonce!),
    balance: bigintFromBytes(balance!),
    storageRoot: storageRoot!,
    codeHash: hashFromBytes(codeHash!),
  }
}

function bytesOf(item: RlpItem): Uint8Array {
  if (item instanceof Uint8Array) return item
  throw new BrokenProof('a leaf is none')
}

function nodesOf(value: unknown): readonly Uint8Array[] {
  const isList = Array.isArray(value) && value.every((node) => isBytes(String(node)))
  if (!isList) throw unexpected('a proof', value)
  return value.map((node) => bytesFromHex(String(node)))
}

export function unproven(what: string, why: string): DevchainError {
  const message = `the forked network returned a wrong proof of ${what}: ${why} (--fork-proofs)`
  return new DevchainError('UPSTREAM_FAILED', message)
}
