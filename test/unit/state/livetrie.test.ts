// The trie in linear memory against its slow twin: the same roots after the same changes.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { keccak256 } from '../../../src/core/crypto.ts'
import { hexFromBytes, paddedBytes } from '../../../src/core/hex.ts'
import { encodeRlp } from '../../../src/core/rlp.ts'
import { Arena } from '../../../src/state/arena.ts'
import { LiveTrie, ShortNodeError } from '../../../src/state/livetrie.ts'
import { Trie } from '../../../src/state/trie.ts'

/** Keys that are hashes, and keys that have many nibbles in common. */
const keys = fc.oneof(
  fc.nat(300).map((n) => keccak256(paddedBytes(BigInt(n), 32))),
  fc.tuple(fc.nat(2), fc.nat(3), fc.nat(40)).map(([at, nibble, end]) => {
    const key = new Uint8Array(32)
    key[at] = nibble << (end % 2 === 0 ? 0 : 4)
    key[3] = end
    return key
  }),
)

const values = fc
  .uint8Array({ minLength: 1, maxLength: 40 })
  .map((bytes) => encodeRlp(Uint8Array.from([(bytes[0] ?? 0) || 1, ...bytes.slice(1)])))

const changes = fc.array(fc.tuple(keys, values), { maxLength: 60 })

function rootOf(arena: Arena, trie: LiveTrie<Uint8Array>): string {
  const target = arena.allocate(32)
  trie.hash(0, target)
  arena.run()
  return hexFromBytes(arena.bytes.slice(target, target + 32))
}

test('A live trie has the roots of the trie that is made anew with each change', () => {
  fc.assert(
    fc.property(
      changes,
      fc.array(fc.array(fc.tuple(keys, values), { minLength: 1, maxLength: 3 })),
      (first, later) => {
        let slow = Trie.empty<Uint8Array>((value) => value)
        for (const [key, value] of first) slow = slow.set(key, value)
        const arena = new Arena()
        const live = new LiveTrie(arena, slow)
        for (const batch of later) {
          for (const [key, value] of batch) {
            slow = slow.set(key, value)
            live.put(key, value)
          }
          expect(rootOf(arena, live)).toBe(slow.rootHash)
        }
      },
    ),
    { seed: 4, numRuns: 300 },
  )
})

test('Leaves that are changed in place have the root of the trie with the changed values', () => {
  const long = (byte: number): Uint8Array => encodeRlp(new Uint8Array(33).fill(byte | 1))
  fc.assert(
    fc.property(
      fc.uniqueArray(keys, { minLength: 1, maxLength: 60, selector: hexFromBytes }),
      fc.array(fc.array(fc.nat(), { minLength: 1, maxLength: 3 }), { maxLength: 30 }),
      (all, rounds) => {
        let slow = Trie.empty<Uint8Array>((value) => value)
        for (const key of all) slow = slow.set(key, long(0))
        const arena = new Arena()
        const live = new LiveTrie(arena, slow)
        for (const key of all) live.put(key, long(0))
        const root = arena.allocate(32)
        live.hash(0, root)
        arena.run()
        const { layout } = live
        for (const [byte, picked] of rounds.entries()) {
          const changed = new Set(picked.map((index) => all[index % all.length]!))
          const leaves = [...changed].map((key) => live.leafOf(key)!)
          for (const [index, key] of [...changed].entries()) {
            const leaf = leaves[index]!
            arena.bytes.set(long(byte), leaf.at + leaf.length - leaf.valueLength)
            expect(live.valueOf(leaf)).toEqual(long(byte))
            arena.enqueue(1, live.jobOf(leaf, root))
            slow = slow.set(key, long(byte))
          }
          for (const job of live.jobsAbove(leaves, root)) arena.enqueue(1, job)
          arena.run()
          expect(hexFromBytes(arena.bytes.slice(root, root + 32))).toBe(slow.rootHash)
        }
        expect(live.layout).toBe(layout)
      },
    ),
    { seed: 8, numRuns: 200 },
  )
})

test('The jobs of a leaf hold until another comes', () => {
  const [one, other] = [keccak256(Uint8Array.of(1)), keccak256(Uint8Array.of(2))]
  const live = new LiveTrie(
    new Arena(),
    Trie.empty<Uint8Array>((value) => value),
  )
  const before = live.layout
  live.put(one, encodeRlp(new Uint8Array(33)))
  live.put(one, encodeRlp(new Uint8Array(33).fill(1)))
  expect(live.layout).toBe(before)
  live.put(other, encodeRlp(new Uint8Array(33)))
  expect(live.layout).not.toBe(before)
  expect(live.leafOf(keccak256(Uint8Array.of(3)))).toBeUndefined()
})

test('A leaf stays the leaf of its key, whatever comes between', () => {
  const own = fc.tuple(keys, fc.nat(255))
  const long = (byte: number): Uint8Array => encodeRlp(new Uint8Array(33).fill(byte | 1))
  fc.assert(
    fc.property(fc.array(own, { minLength: 1 }), fc.array(own), (first, later) => {
      const live = new LiveTrie(
        new Arena(),
        Trie.empty<Uint8Array>((value) => value),
      )
      const leaves = first.map(([key, byte]) => {
        live.put(key, long(byte))
        return { key, leaf: live.leafOf(key)! }
      })
      for (const [key, byte] of later) {
        live.put(key, long(byte))
        for (const { key: own, leaf } of leaves) expect(live.leafOf(own)).toBe(leaf)
      }
    }),
    { seed: 7, numRuns: 200 },
  )
})

test('A trie that is told the hashes of a live one is the trie that hashes itself', () => {
  const valueTrie = Trie.empty<Uint8Array>((value) => value)
  fc.assert(
    fc.property(changes, changes, changes, (first, told, later) => {
      const changed = (trie: Trie<Uint8Array>, list: typeof first): Trie<Uint8Array> =>
        trie.withChanges(list.map(([key, value]) => ({ key, value })))
      const base = changed(valueTrie, first)
      const twin = changed(valueTrie, [...first, ...told, ...later])
      const arena = new Arena()
      const live = new LiveTrie(arena, base)
      for (const [key, value] of told) live.put(key, value)
      if (first.length + told.length === 0) return
      const target = arena.allocate(32)
      live.hash(0, target)
      arena.run()
      const trie = changed(base, told)
      live.shareHashes(trie, target)
      expect(trie.rootHash).toBe(changed(valueTrie, [...first, ...told]).rootHash)
      // the nodes below are asked for where some change
      expect(changed(trie, later).rootHash).toBe(twin.rootHash)
    }),
    { seed: 6, numRuns: 300 },
  )
})

test('A live trie refuses nodes that are too short to be hashed', () => {
  const key = (end: number): Uint8Array => new Uint8Array(32).fill(end, 31)
  const slow = Trie.empty<Uint8Array>((each) => each)
    .set(key(1), Uint8Array.of(1))
    .set(key(2), Uint8Array.of(1))
  expect(() => new LiveTrie(new Arena(), slow)).toThrow(ShortNodeError)
  const live = new LiveTrie(
    new Arena(),
    Trie.empty<Uint8Array>((each) => each),
  )
  live.put(key(1), Uint8Array.of(1))
  expect(() => live.put(key(2), Uint8Array.of(1))).toThrow(ShortNodeError)
})

test('Two tries are hashed in pairs, whatever the number of their nodes', () => {
  fc.assert(
    fc.property(
      fc.array(changes, { minLength: 1, maxLength: 6 }),
      fc.array(changes, { maxLength: 6 }),
      (left, right) => {
        const arena = new Arena()
        const target = arena.allocate(64)
        const slow = [0, 1].map(() =>
          Trie.empty<Uint8Array>((value) => value).set(
            keccak256(new Uint8Array(3)),
            Uint8Array.of(5),
          ),
        )
        const live = slow.map((trie) => new LiveTrie(arena, trie))
        for (const [round, batch] of left.entries()) {
          for (const [side, own] of [batch, right[round] ?? []].entries()) {
            for (const [key, value] of own) {
              slow[side] = slow[side]!.set(key, value)
              live[side]!.put(key, value)
            }
          }
          live[0]!.hash(0, target)
          live[1]!.hash(1, target + 32)
          arena.run()
          const roots = [target, target + 32].map((at) =>
            hexFromBytes(arena.bytes.slice(at, at + 32)),
          )
          expect(roots).toEqual(slow.map(({ rootHash }) => rootHash))
        }
      },
    ),
    { seed: 5, numRuns: 200 },
  )
})
