// The trie in linear memory against its slow twin: the same roots after the same changes.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { keccak256 } from '../../../../src/core/crypto/crypto.ts'
import { hexFromBytes, paddedBytes } from '../../../../src/core/hex.ts'
import { encodeRlp } from '../../../../src/core/rlp.ts'
import { Arena } from '../../../../src/node/bulk/arena.ts'
import { Trie } from '../../../../src/state/trie.ts'

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

/** The RLP of integers of all lengths, as storage has them. */
const values = fc
  .uint8Array({ minLength: 1, maxLength: 40 })
  .map((bytes) => encodeRlp(Uint8Array.from([(bytes[0] ?? 0) || 1, ...bytes.slice(1)])))

const changes = fc.array(fc.tuple(keys, values), { maxLength: 60 })

const emptyTrie = Trie.of<Uint8Array>(undefined, (value) => value)

/** Some tries in one memory, each hashed with the next of the two queues. */
class Live {
  readonly #arena = new Arena()
  readonly #targets: readonly number[]
  readonly #tries: readonly number[]

  constructor(count: number) {
    this.#targets = Array.from({ length: count }, () => this.#arena.allocate(32))
    this.#tries = this.#targets.map((target) => this.#arena.storeWords([0, target]))
  }

  put(index: number, key: Uint8Array, value: Uint8Array): boolean {
    return this.#arena.put(this.#tries[index]!, key, value)
  }

  roots(): string[] {
    for (const [index, trie] of this.#tries.entries()) this.#arena.exports.hash(trie, index % 2)
    this.#arena.exports.run()
    return this.#targets.map((at) => hexFromBytes(this.#arena.bytes.slice(at, at + 32)))
  }
}

test('LiveTrie has the roots of a Trie that is built anew for each change', () => {
  const batches = fc.array(fc.array(fc.tuple(keys, values), { minLength: 1, maxLength: 3 }))
  fc.assert(
    fc.property(changes, batches, (first, later) => {
      const live = new Live(1)
      let slow = emptyTrie
      for (const batch of [first, ...later]) {
        for (const [key, value] of batch) {
          slow = slow.withChanges([{ key, value }])
          expect(live.put(0, key, value)).toBe(true)
        }
        if (!slow.isEmpty) expect(live.roots()).toEqual([slow.rootHash])
      }
    }),
    { seed: 4, numRuns: 500 },
  )
})

test('LiveTrie with thousands of keys has the root of its slow twin, at first and after each change', () => {
  const live = new Live(1)
  const keyOf = (n: number): Uint8Array => keccak256(paddedBytes(BigInt(n), 32))
  let slow = emptyTrie.withChanges(
    Array.from({ length: 5000 }, (_, n) => ({ key: keyOf(n), value: encodeRlp(BigInt(n + 1)) })),
  )
  for (let n = 0; n < 5000; n++) live.put(0, keyOf(n), encodeRlp(BigInt(n + 1)))
  expect(live.roots()).toEqual([slow.rootHash])
  for (let n = 4900; n < 5100; n++) {
    slow = slow.withChanges([{ key: keyOf(n), value: encodeRlp(BigInt(n) << 99n) }])
    live.put(0, keyOf(n), encodeRlp(BigInt(n) << 99n))
    expect(live.roots()).toEqual([slow.rootHash])
  }
})

test('LiveTrie refuses nodes that are too short to be hashed', () => {
  const key = (end: number): Uint8Array => new Uint8Array(32).fill(end, 31)
  const live = new Live(1)
  expect(live.put(0, key(1), Uint8Array.of(1))).toBe(true)
  expect(live.put(0, key(2), Uint8Array.of(1))).toBe(false)
  expect(live.put(0, key(2), Uint8Array.of(2))).toBe(false)
})

test('LiveTrie hashes two tries in pairs, whatever their number of nodes', () => {
  const list = (minLength: number) => fc.array(changes, { minLength, maxLength: 6 })
  fc.assert(
    fc.property(list(1), list(0), (left, right) => {
      const live = new Live(2)
      const own = { key: keccak256(new Uint8Array(3)), value: encodeRlp(new Uint8Array(20)) }
      const slow = [0, 1].map((index) => {
        live.put(index, own.key, own.value)
        return emptyTrie.withChanges([own])
      })
      for (const [round, batch] of left.entries()) {
        for (const [side, list] of [batch, right[round] ?? []].entries()) {
          for (const [key, value] of list) {
            slow[side] = slow[side]!.withChanges([{ key, value }])
            live.put(side, key, value)
          }
        }
        expect(live.roots()).toEqual(slow.map(({ rootHash }) => rootHash))
      }
    }),
    { seed: 5, numRuns: 200 },
  )
})
