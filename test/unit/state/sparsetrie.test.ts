// Tries of which only some nodes are here: they come to the roots and proofs of the whole trie.
import { createMPT, verifyMerkleProof } from '@ethereumjs/mpt'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { keccak256 } from '../../../src/core/crypto/crypto.ts'
import { bytesFromBigint, bytesFromHex, hexFromBytes } from '../../../src/core/hex.ts'
import { encodeRlp } from '../../../src/core/rlp.ts'
import { nibbleAt } from '../../../src/protocol/trienodes.ts'
import { MissingState, type MissSource, type NodeMiss } from '../../../src/state/misses.ts'
import { BrokenProof, type FindNode, sparseRoot } from '../../../src/state/sparse.ts'
import { SparseTrie } from '../../../src/state/sparsetrie.ts'
import { Trie, type TrieChange } from '../../../src/state/trie.ts'
import { pathTo } from '../../../src/state/triewalk.ts'

const encodeNumber = (value: bigint): Uint8Array => encodeRlp(bytesFromBigint(value))
const NOBODY: MissSource = { fetch: async () => undefined }

/** Keys with long paths in common, so that branches give way and nodes become short, and keys as they are. */
const key = fc.oneof(
  fc
    .tuple(fc.constantFrom(0, 1, 30, 31), fc.constantFrom(0x00, 0x01, 0x10, 0x11), fc.nat(3))
    .map(([at, byte, last]) => {
      const made = new Uint8Array(32)
      made[at] = byte
      made[31] = made[31]! | last
      return made
    }),
  fc.nat(60).map((n) => keccak256(Uint8Array.of(n))),
)
const value = fc.oneof(fc.bigInt(1n, (1n << 256n) - 1n), fc.bigInt(1n, 200n))
const entry = fc.record({ key, value })
const change = fc.record({ key, value: fc.option(value, { nil: undefined }) })

/** A network's trie of which nodes become known, as they are asked for or proven. */
class Network {
  readonly whole: Trie<bigint>
  readonly #known = new Map<string, Uint8Array>()

  constructor(entries: readonly TrieChange<bigint>[]) {
    this.whole = Trie.of(undefined, encodeNumber).withChanges(entries)
  }

  prove(of: Uint8Array): void {
    for (const node of this.whole.proof(of)) this.#known.set(hexFromBytes(keccak256(node)), node)
  }

  /** Proves some key that lies below a node. */
  fetch({ prefix }: NodeMiss): void {
    const below = [...this.whole.entries()].find(([each]) =>
      hexFromBytes(each).slice(2).startsWith(prefix),
    )
    if (below === undefined) throw new Error(`nothing is below ${prefix}`)
    this.prove(below[0])
  }

  readonly find: FindNode = (hash, at, depth) => {
    const node = this.#known.get(hexFromBytes(hash))
    if (node !== undefined) return node
    const prefix = Array.from({ length: depth }, (_, i) => nibbleAt(at, i).toString(16)).join('')
    throw new MissingState({ kind: 'node', owner: undefined, prefix }, NOBODY)
  }

  /** The same trie, of which what was proven is known. */
  backed(): Trie<bigint> {
    const root = this.whole.rootBytes
    const untouched = SparseTrie.of(() => sparseRoot(root, this.find))
    return Trie.backed(encodeNumber, {
      source: { state: { fork: '', source: undefined } },
      get: (at) => this.whole.get(at),
      knows: () => true,
      known: () => this.whole.entries(),
      root: () => {
        throw new Error('the root of what is known alone')
      },
      nodes: {
        untouched,
        begun: untouched,
        require: () => undefined,
        nameOf: () => 0n,
        whyUnknown: () => undefined,
      },
    })
  }
}

/** What work comes to once all is there that it misses. */
function withMisses<T>(network: Network, work: () => T): { value: T; misses: NodeMiss[] } {
  const misses: NodeMiss[] = []
  for (let round = 0; round < 100; round++) {
    try {
      return { value: work(), misses }
    } catch (error) {
      if (!(error instanceof MissingState)) throw error
      for (const { miss } of [error, ...error.others]) {
        misses.push(miss as NodeMiss)
        network.fetch(miss as NodeMiss)
      }
    }
  }
  throw new Error('it misses something each time')
}

describe('SparseTrie', () => {
  test('has the root of the full trie after any changes, and its proofs', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(entry, { maxLength: 60 }),
        fc.array(fc.array(change, { maxLength: 12 }), { maxLength: 4 }),
        async (entries, batches) => {
          const network = new Network(entries)
          let sparse = network.backed()
          let whole = network.whole
          for (const batch of batches) {
            for (const each of batch) network.prove(each.key)
            sparse = sparse.withChanges(batch)
            whole = whole.withChanges(batch)
          }
          const { value: root } = withMisses(network, () => sparse.rootHash)
          expect(root).toBe(whole.rootHash)
          for (const { key: each } of batches.flat()) {
            expect(sparse.proof(each)).toEqual(whole.proof(each))
          }
        },
      ),
      { numRuns: 60, seed: 19 },
    )
  })

  test('needs no more nodes while it sets keys with known paths', () => {
    fc.assert(
      fc.property(fc.array(entry), fc.array(entry, { minLength: 1 }), (entries, set) => {
        const network = new Network(entries)
        for (const each of set) network.prove(each.key)
        const { misses } = withMisses(network, () => network.backed().withChanges(set).rootHash)
        expect(misses).toEqual([])
      }),
      { seed: 19 },
    )
  })

  test('names all missing nodes at once where branches collapse', () => {
    const entries = Array.from({ length: 400 }, (_, i) => ({
      key: keccak256(Uint8Array.of(i & 255, i >> 8)),
      value: BigInt(i + 1),
    }))
    const network = new Network(entries)
    const gone = entries.slice(0, 40).map(({ key: each }) => ({ key: each, value: undefined }))
    for (const each of gone) network.prove(each.key)
    const { value: root, misses } = withMisses(
      network,
      () => network.backed().withChanges(gone).rootHash,
    )
    expect(root).toBe(network.whole.withChanges(gone).rootHash)
    const [first] = misses
    expect(misses.length).toBeGreaterThan(5)
    expect(first?.prefix.length).toBeGreaterThan(0)
  })

  test('needs no node for a key that is set again before it is hashed', () => {
    const entries = Array.from({ length: 40 }, (_, i) => ({
      key: keccak256(Uint8Array.of(i)),
      value: BigInt(i + 1),
    }))
    const network = new Network(entries)
    for (const each of entries) {
      const fresh = new Network(entries)
      fresh.prove(each.key)
      const back = fresh
        .backed()
        .withChanges([{ ...each, value: undefined }])
        .withChanges([each])
      expect(withMisses(fresh, () => back.rootHash)).toEqual({
        value: network.whole.rootHash,
        misses: [],
      })
    }
  })

  test('has proofs that @ethereumjs/mpt accepts', async () => {
    const entries = Array.from({ length: 40 }, (_, i) => ({
      key: keccak256(Uint8Array.of(i)),
      value: BigInt(i + 1),
    }))
    const network = new Network(entries)
    const added = keccak256(Uint8Array.of(77))
    network.prove(added)
    const trie = network.backed().withChanges([{ key: added, value: 5n }])
    const proven = await verifyMerkleProof(added, [...trie.proof(added)])
    expect(proven).toEqual(encodeNumber(5n))
    const root = await createMPT({ root: bytesFromHex(trie.rootHash) })
    expect(hexFromBytes(root.root())).toBe(trie.rootHash)
  })

  test.each([
    ['no list', '0x05'],
    ['three items', '0xc3010203'],
    ['an extension without a branch', '0xc482001180'],
    ['a leaf with too short a path', '0xc22001'],
    ['a reference that is no hash', `0xd3820102${'80'.repeat(16)}`],
  ])('refuses a proof with a node that is %s', (_, node) => {
    const root = sparseRoot(new Uint8Array(32), () => bytesFromHex(node))
    expect(() => [...pathTo(root, new Uint8Array(32))]).toThrow(BrokenProof)
  })
})
