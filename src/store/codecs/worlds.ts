// World states: nodes of their tries are objects with their own hash, so that reading one does not read those below it.
import { EMPTY_CODE_HASH } from '../../core/crypto/crypto.ts'
import { bytesOfDigest, readDigest } from '../../core/crypto/keccak.ts'
import { EMPTY_BYTES } from '../../core/hex.ts'
import type { UpstreamState } from '../../node/ledger/upstream.ts'
import { isShort, type Reference } from '../../protocol/trienodes.ts'
import type { BackedState } from '../../state/backing.ts'
import { addressKey, slotKey } from '../../state/keys.ts'
import { type GoneKeys, Trie } from '../../state/trie.ts'
import {
  type Blinded,
  type Branch,
  type EncodeValue,
  makeBranch,
  makeExtension,
  makeLeaf,
  referenceOf,
  type TrieNode,
  type WholeNode,
} from '../../state/trienode.ts'
import {
  type Account,
  emptyStorage,
  emptyWorld,
  type StorageSlot,
  type World,
} from '../../state/world.ts'
import { CorruptStore } from '../bytes.ts'
import { type Codec, type Input, type Objects, type Output, optional, shared } from '../objects.ts'
import { mapOf } from './collections.ts'
import { plain, plainly } from './plain.ts'
import { address, bytes, hash } from './single.ts'

const LEAF = 0
const EXTENSION = 1
const BRANCH = 2

const HASH_LENGTH = 32

/** Nodes of a store are immutable: no batch of changes has this token. */
const STORED: object = {}

const code = shared(bytes)

/** How the values of a trie are kept, and their keys found again. */
interface Values<V> extends Codec<V> {
  readonly encode: EncodeValue<V>
  readonly keyOf: (value: V) => Uint8Array
}

class StoredNode<V> implements Blinded<V> {
  readonly kind = 'blinded'
  readonly edit: undefined
  readonly #store: Objects
  readonly #position: number
  readonly #codec: Codec<WholeNode<V>>
  #node: WholeNode<V> | undefined

  constructor(store: Objects, position: number, codec: Codec<WholeNode<V>>) {
    this.#store = store
    this.#position = position
    this.#codec = codec
  }

  get reference(): Reference {
    return this.whole().reference!
  }

  readonly reveal = (): WholeNode<V> => this.whole()

  readonly isKnown = (): boolean => true

  readonly whole = (): WholeNode<V> => {
    if (this.#node === undefined) {
      this.#node = this.#codec.read(this.#store.open(this.#position))
      this.#store.remember(this.#node, this.#position)
    }
    return this.#node
  }
}

function trieOf<V>(empty: Trie<V>, values: Values<V>): Codec<Trie<V>> {
  const { encode } = values
  const child: Codec<TrieNode<V>> = {
    write: (node, to) => to.reference(node, anyNode),
    read: (from) => childIn(from),
  }
  const childIn = (from: Input): StoredNode<V> =>
    from.object((store, position) => new StoredNode(store, position, node))
  const node: Codec<WholeNode<V>> = {
    write(at, to) {
      const reference = referenceOf(at, encode)
      to.bytes(isShort(reference) ? reference : bytesOfDigest(reference))
      if (at.kind === 'leaf') {
        to.byte(LEAF)
        to.byte(at.depth)
        values.write(at.value, to)
      } else if (at.kind === 'extension') {
        to.byte(EXTENSION)
        to.byte(at.from)
        to.byte(at.to)
        to.raw(at.key)
        child.write(at.child, to)
      } else {
        to.byte(BRANCH)
        writeChildren(at, to)
      }
    },
    read(from) {
      const reference = readReference(from)
      const made = readNode(from, from.byte())
      made.reference = reference
      return made
    },
  }
  const anyNode: Codec<TrieNode<V>> = {
    write(at, to) {
      if (at.kind !== 'blinded') return node.write(at, to)
      if (at.whole === undefined) throw new Error('a node without its contents cannot be stored')
      return node.write(at.whole(), to)
    },
    read: node.read,
  }
  const writeChildren = ({ children }: Branch<V>, to: Output): void => {
    let bitmap = 0
    children.forEach((each, nibble) => {
      if (each !== undefined) bitmap |= 1 << nibble
    })
    to.count(bitmap)
    for (const each of children) if (each !== undefined) child.write(each, to)
  }
  const readNode = (from: Input, kind: number): WholeNode<V> => {
    if (kind === LEAF) {
      const depth = from.byte()
      const value = values.read(from)
      return makeLeaf(values.keyOf(value), depth, value, STORED)
    }
    if (kind === EXTENSION) {
      const [start, end, key] = [from.byte(), from.byte(), from.raw(HASH_LENGTH)]
      return makeExtension(key, start, end, childIn(from), STORED)
    }
    if (kind !== BRANCH) throw new CorruptStore(`unknown kind of trie node ${kind}`)
    const bitmap = from.count()
    const children = new Array<TrieNode<V> | undefined>(16).fill(undefined)
    let count = 0
    for (let nibble = 0; nibble < 16; nibble++) {
      if (((bitmap >> nibble) & 1) === 0) continue
      children[nibble] = child.read(from)
      count += 1
    }
    return makeBranch(children, count, STORED)
  }
  const backed = backedOf(child)
  return {
    write(trie, to) {
      const { isBacked } = trie
      to.byte(isBacked ? BACKED : trie.root === undefined ? EMPTY : WHOLE)
      if (isBacked) backed.write(trie, to)
      else if (trie.root !== undefined) child.write(trie.root, to)
    },
    read(from) {
      const kind = from.byte()
      if (kind === EMPTY) return empty
      if (kind === WHOLE) return Trie.of(child.read(from), encode)
      if (kind === BACKED) return backed.read(from)
      throw new CorruptStore(`unknown kind of trie ${kind}`)
    },
  }
}

/** Of a fork: what changed here, and where the rest comes from. */
function backedOf<V>(child: Codec<TrieNode<V>>): Codec<Trie<V>> {
  const optionalChild = optional(child)
  return {
    write(trie, to) {
      const { backing, set, gone } = trie.backedParts!
      backedState.write(backing.source.state, to)
      backedAddress.write(backing.source.address, to)
      optionalChild.write(set, to)
      goneKeys.write(gone, to)
    },
    read(from) {
      const upstream = backedState.read(from) as UpstreamState
      const owner = backedAddress.read(from)
      const parts = { set: optionalChild.read(from), gone: goneKeys.read(from) }
      const trie = owner === undefined ? upstream.world.accounts : upstream.storageOf(owner)
      return (trie as Trie<unknown> as Trie<V>).changed(parts)
    },
  }
}

const EMPTY = 0
const WHOLE = 1
const BACKED = 2

const backedState: Codec<BackedState> = shared({
  write({ fork, source }, to) {
    to.text(fork)
    plain.write(source, to)
  },
  read: (from) => from.store.fork(from.text()).stateOf(plain.read(from)),
})

const backedAddress = optional(address)

const goneKeys: Codec<GoneKeys> = mapOf(plainly(), plainly())

function readReference(from: Input): Reference {
  const read = from.bytes()
  if (read.length < HASH_LENGTH) return read
  if (read.length > HASH_LENGTH) throw new CorruptStore('a hash is too long')
  return readDigest(new DataView(read.buffer, read.byteOffset), 0)
}

const storage = trieOf<StorageSlot>(emptyStorage, {
  encode: emptyStorage.encodeValue,
  keyOf: ({ slot }) => slotKey(slot),
  write({ slot, value }, to) {
    to.integer(slot)
    to.integer(value)
  },
  read: (from) => ({ slot: from.integer(), value: from.integer() }),
})

const accounts = trieOf<Account>(emptyWorld.accounts, {
  encode: emptyWorld.accounts.encodeValue,
  keyOf: (account) => addressKey(account.address),
  write(account, to) {
    address.write(account.address, to)
    to.integer(account.nonce)
    to.integer(account.balance)
    const hasCode = account.codeHash !== EMPTY_CODE_HASH
    to.byte(hasCode ? 1 : 0)
    if (hasCode) {
      hash.write(account.codeHash, to)
      code.write(account.code, to)
    }
    storage.write(account.storage, to)
  },
  read(from) {
    const common = { address: address.read(from), nonce: from.integer(), balance: from.integer() }
    const hasCode = from.byte() !== 0
    const codeHash = hasCode ? hash.read(from) : EMPTY_CODE_HASH
    const itsCode = hasCode ? code.read(from) : EMPTY_BYTES
    return { ...common, codeHash, code: itsCode, storage: storage.read(from) }
  },
})

export const world: Codec<World> = {
  write: (value, to) => accounts.write(value.accounts, to),
  read: (from) => ({ accounts: accounts.read(from) }),
}
