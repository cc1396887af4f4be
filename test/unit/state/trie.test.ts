// The persistent trie against @ethereumjs/mpt, and its promises about old versions, order and proofs.
import { createMPT, type MerklePatriciaTrie, verifyMerkleProof } from '@ethereumjs/mpt'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { keccak256 } from '../../../src/core/crypto/crypto.ts'
import { bytesFromBigint, bytesFromHex, hexFromBytes } from '../../../src/core/hex.ts'
import { encodeRlp } from '../../../src/core/rlp.ts'
import { Trie } from '../../../src/state/trie.ts'

const encodeNumber = (value: bigint): Uint8Array => encodeRlp(bytesFromBigint(value))
const emptyTrie: Trie<bigint> = Trie.of(undefined, encodeNumber)
const EMPTY_ROOT = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'

/** Keys that share long paths: 0 and 1 nibbles in a few places, so that branches collapse and nodes become short. */
const tightKey = fc
  .tuple(fc.constantFrom(0, 1, 30, 31), fc.constantFrom(0x00, 0x01, 0x10, 0x11), fc.nat(3))
  .map(([at, byte, last]) => {
    const key = new Uint8Array(32)
    key[at] = byte
    key[31] = key[31]! | last
    return key
  })

const spreadKey = fc.nat(40).map((n) => keccak256(Uint8Array.of(n)))

const change = fc.record({
  key: fc.oneof(tightKey, spreadKey),
  value: fc.oneof(
    { weight: 2, arbitrary: fc.constant(undefined) },
    { weight: 3, arbitrary: fc.bigInt(1n, (1n << 256n) - 1n) },
    { weight: 2, arbitrary: fc.bigInt(1n, 200n) },
  ),
})

const changes = fc.array(change, { maxLength: 60, size: 'max' })

async function apply(
  oracle: MerklePatriciaTrie,
  { key, value }: { key: Uint8Array; value: bigint | undefined },
): Promise<void> {
  if (value === undefined) await oracle.del(key)
  else await oracle.put(key, encodeNumber(value))
}

function sortedModel(model: ReadonlyMap<string, bigint>): [string, bigint][] {
  return [...model].sort(([a], [b]) => (a < b ? -1 : 1))
}

function contents(trie: Trie<bigint>, from?: Uint8Array): [string, bigint][] {
  return [...trie.entries(from)].map(([key, value]) => [hexFromBytes(key), value])
}

function modelOf(list: readonly { key: Uint8Array; value: bigint | undefined }[]) {
  const model = new Map<string, bigint>()
  for (const { key, value } of list) {
    if (value === undefined) model.delete(hexFromBytes(key))
    else model.set(hexFromBytes(key), value)
  }
  return model
}

describe('Trie', () => {
  it('has the well-known root when it is empty', () => {
    expect(emptyTrie.rootHash).toBe(EMPTY_ROOT)
    expect(emptyTrie.isEmpty).toBe(true)
    expect(emptyTrie.get(new Uint8Array(32))).toBeUndefined()
    expect(emptyTrie.proof(new Uint8Array(32))).toEqual([])
  })

  it('has the roots of @ethereumjs/mpt after each of random puts and deletes', async () => {
    await fc.assert(
      fc.asyncProperty(changes, async (list) => {
        const oracle = await createMPT()
        let trie = emptyTrie
        for (const each of list) {
          trie = trie.withChanges([each])
          await apply(oracle, each)
          expect(trie.rootHash).toBe(hexFromBytes(oracle.root()))
        }
      }),
      { seed: 1, numRuns: 60 },
    )
  })

  it('has the same root after batches of any size as after single changes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(changes, { maxLength: 5 }), async (batches) => {
        const oracle = await createMPT()
        let trie = emptyTrie
        for (const batch of batches) {
          trie = trie.withChanges(batch)
          for (const each of batch) await apply(oracle, each)
          expect(trie.rootHash).toBe(hexFromBytes(oracle.root()))
        }
        expect(contents(trie)).toEqual(sortedModel(modelOf(batches.flat())))
      }),
      { seed: 2, numRuns: 60 },
    )
  })

  it('has the same root when it is filled at once', () => {
    fc.assert(
      fc.property(changes, (list) => {
        const entries = [...sortedModel(modelOf(list))].map(([key, value]) => ({
          key: bytesFromHex(key),
          value,
        }))
        const filled = emptyTrie.filled(entries.reverse())
        expect(filled.rootHash).toBe(emptyTrie.withChanges(entries).rootHash)
        expect(contents(filled)).toEqual(sortedModel(modelOf(list)))
        expect(filled.withChanges(list).rootHash).toBe(emptyTrie.withChanges(list).rootHash)
      }),
      { seed: 5, numRuns: 100 },
    )
    const key = keccak256(Uint8Array.of(1))
    const twice = [1n, 2n].map((value) => ({ key, value }))
    expect(emptyTrie.filled(twice).rootHash).toBe(
      emptyTrie.withChanges([{ key, value: 2n }]).rootHash,
    )
    const full = emptyTrie.withChanges([{ key, value: 1n }])
    expect(() => full.filled([])).toThrow('only an empty trie can be filled')
  })

  it('does not depend on the order in which its keys were set', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(tightKey, { selector: hexFromBytes, maxLength: 20, size: 'max' }),
        (keys) => {
          const inOrder = keys.map((key) => ({ key, value: BigInt(key[31]! + 1) }))
          const more = { key: keccak256(Uint8Array.of(99)), value: 5n }
          const one = emptyTrie.withChanges(inOrder)
          const many = emptyTrie.withChanges([more, ...inOrder.toReversed()])
          const other = many.withChanges([{ key: more.key, value: undefined }])
          expect(other.rootHash).toBe(one.rootHash)
        },
      ),
      { seed: 3, numRuns: 100 },
    )
  })

  it('keeps its root and contents when later versions are made from it', () => {
    fc.assert(
      fc.property(
        fc.array(changes, { minLength: 1, maxLength: 6 }),
        fc.boolean(),
        (batches, early) => {
          const kept: { trie: Trie<bigint>; root: string; entries: [string, bigint][] }[] = []
          const past: { key: Uint8Array; value: bigint | undefined }[] = []
          let trie = emptyTrie
          for (const batch of batches) {
            trie = trie.withChanges(batch)
            past.push(...batch)
            const twin = emptyTrie.withChanges(past)
            // hashed before or after the next version is made from it: both must hold
            if (early) expect(trie.rootHash).toBe(twin.rootHash)
            kept.push({ trie, root: twin.rootHash, entries: sortedModel(modelOf(past)) })
          }
          for (const version of kept) {
            expect(version.trie.rootHash).toBe(version.root)
            expect(contents(version.trie)).toEqual(version.entries)
          }
        },
      ),
      { seed: 4, numRuns: 100 },
    )
  })

  it('finds each of its keys and no other', () => {
    fc.assert(
      fc.property(changes, tightKey, (list, other) => {
        const trie = emptyTrie.withChanges(list)
        const model = modelOf(list)
        for (const { key } of list) expect(trie.get(key)).toBe(model.get(hexFromBytes(key)))
        expect(trie.get(other)).toBe(model.get(hexFromBytes(other)))
      }),
      { seed: 5, numRuns: 100 },
    )
  })

  it('iterates in key order from any key on', () => {
    fc.assert(
      fc.property(changes, fc.oneof(tightKey, spreadKey), (list, from) => {
        const expected = sortedModel(modelOf(list)).filter(([key]) => key >= hexFromBytes(from))
        expect(contents(emptyTrie.withChanges(list), from)).toEqual(expected)
      }),
      { seed: 6, numRuns: 100 },
    )
  })

  it('proves values, and absent keys, to @ethereumjs/mpt', async () => {
    await fc.assert(
      fc.asyncProperty(changes, tightKey, async (list, other) => {
        const trie = emptyTrie.withChanges(list)
        if (trie.isEmpty) return
        for (const key of [...list.map((each) => each.key), other]) {
          const proof = trie.proof(key)
          expect(hexFromBytes(keccak256(proof[0]!))).toBe(trie.rootHash)
          expect(proof.filter((node) => node.length < 32)).toEqual([])
          const proven = await verifyMerkleProof(key, [...proof])
          const value = trie.get(key)
          expect(proven).toEqual(value === undefined ? null : encodeNumber(value))
        }
      }),
      { seed: 7, numRuns: 30 },
    )
  })

  it.each([
    [5n, 1, 'branch and leaves are within the extension'],
    [1n << 64n, 2, 'leaves are within the branch'],
    [1n << 255n, 3, 'no node is within another'],
  ])('proves a value of %d with %d nodes: %s', async (value, count) => {
    const keys = [0, 1].map((last) => new Uint8Array(32).fill(last, 31))
    const trie = emptyTrie.withChanges(keys.map((key) => ({ key, value })))
    const proof = trie.proof(keys[1]!)
    expect(proof).toHaveLength(count)
    expect(await verifyMerkleProof(keys[1]!, [...proof])).toEqual(encodeNumber(value))
  })

  it('is the same object when a change has no effect', () => {
    const key = keccak256(Uint8Array.of(1))
    const seven = { key, value: 7n }
    const trie = emptyTrie.withChanges([seven, { key: keccak256(Uint8Array.of(2)), value: 8n }])
    expect(trie.withChanges([seven])).toBe(trie)
    const absent = keccak256(Uint8Array.of(3))
    expect(trie.withChanges([{ key: absent, value: undefined }])).toBe(trie)
    expect(trie.withChanges([])).toBe(trie)
  })

  it('encodes a value only when its leaf is hashed, and only once', () => {
    const asked: bigint[] = []
    const counting = Trie.of<bigint>(undefined, (value) => {
      asked.push(value)
      return encodeNumber(value)
    })
    const trie = counting.withChanges(
      [1n, 2n, 3n].map((value) => ({ key: keccak256(bytesFromBigint(value)), value })),
    )
    expect(asked).toEqual([])
    expect(trie.rootHash).toBe(trie.rootHash)
    expect(asked.toSorted()).toEqual([1n, 2n, 3n])
    const next = trie.withChanges([{ key: keccak256(bytesFromBigint(2n)), value: 20n }])
    expect(next.rootHash).not.toBe(trie.rootHash)
    expect(asked.slice(3)).toEqual([20n])
  })

  it('holds values of every RLP length', async () => {
    const raw = Trie.of<Uint8Array>(undefined, (value) => encodeRlp(value))
    const oracle = await createMPT()
    let trie = raw
    for (const length of [0, 1, 20, 31, 32, 55, 56, 200, 255, 256, 70_000]) {
      const key = keccak256(bytesFromBigint(BigInt(length)))
      const value = new Uint8Array(length).fill(0x7f)
      trie = trie.withChanges([{ key, value }])
      await oracle.put(key, encodeRlp(value))
      expect(trie.rootHash).toBe(hexFromBytes(oracle.root()))
    }
  })

  it('holds a single key', () => {
    const key = bytesFromHex(`0x${'ab'.repeat(32)}`)
    const trie = emptyTrie.withChanges([{ key, value: 1n }])
    expect(contents(trie)).toEqual([[hexFromBytes(key), 1n]])
    const none = trie.withChanges([{ key, value: undefined }])
    expect(none.isEmpty).toBe(true)
    expect(none.rootHash).toBe(EMPTY_ROOT)
  })
})
