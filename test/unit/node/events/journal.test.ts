// What is kept once for all readers, against a list for each reader.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Hash } from '../../../../src/core/hex.ts'
import type { BlockLogs } from '../../../../src/node/events/changes.ts'
import { HashShelf, LogShelf, Readers } from '../../../../src/node/events/journal.ts'
import { NO_BLOCKS } from '../../../../src/node/ledger/canonicalchain.ts'
import { logOf, recordOf, treeOf, word } from '../records.ts'

const records = new Map<number, BlockLogs>()

function blockOf(value: number): BlockLogs {
  const known = records.get(value)
  if (known !== undefined) return known
  const record = recordOf(BigInt(value), word(value))
  const made = { record, removed: value % 2 === 0, count: 1 }
  records.set(value, made)
  return made
}

/** What a shelf is used for, with numbers that stand for entries. */
interface Use {
  readonly push: (value: number) => void
  readonly read: (reader: bigint) => readonly number[] | undefined
  readonly add: (reader: bigint) => void
  readonly remove: (reader: bigint) => void
}

function hashes(bound: number): Use {
  const shelf = new HashShelf(bound)
  const readers = new Readers(shelf)
  return {
    push: (value) => shelf.push(word(value)),
    read: (reader) => {
      const read = readers.read(reader)
      return read && [...read].map((hash: Hash) => Number(BigInt(hash)))
    },
    add: (reader) => readers.add(reader),
    remove: (reader) => readers.delete(reader),
  }
}

function blocks(bound: number): Use {
  const shelf = new LogShelf({ blocks: bound, removedLogs: bound })
  const readers = new Readers(shelf)
  return {
    push: (value) => shelf.push(blockOf(value)),
    read: (reader) => {
      const read = readers.read(reader)
      return read && [...read].map(({ record }) => Number(record.block.header.number))
    },
    add: (reader) => readers.add(reader),
    remove: (reader) => readers.delete(reader),
  }
}

/** The same with a list for each reader. */
function lists(bound: number): Use {
  const kept = new Map<bigint, number[]>()
  return {
    push: (value) => {
      for (const list of kept.values()) list.push(value)
    },
    read: (reader) => {
      const list = kept.get(reader) ?? []
      kept.set(reader, [])
      return list.length > bound ? undefined : list
    },
    add: (reader) => void kept.set(reader, []),
    remove: (reader) => void kept.delete(reader),
  }
}

const step = fc.oneof(
  { arbitrary: fc.record({ push: fc.constantFrom(1, 3, 40, 1_000, 1_100) }), weight: 4 },
  fc.record({ read: fc.integer({ min: 0, max: 4 }) }),
  fc.record({ add: fc.integer({ min: 0, max: 4 }) }),
  fc.record({ remove: fc.integer({ min: 0, max: 4 }) }),
)

describe.each([
  { kind: 'hashes', use: hashes },
  { kind: 'blocks with logs', use: blocks },
])('$kind that are kept once', ({ use }) => {
  test('are told to each reader as if each had a list of its own', () => {
    const bounds = fc.constantFrom(3, 50, 2_500)
    fc.assert(
      fc.property(bounds, fc.array(step, { maxLength: 40 }), (bound, steps) => {
        const [one, other] = [use(bound), lists(bound)]
        const known = new Set<number>()
        let value = 0
        for (const each of steps) {
          if ('push' in each) {
            for (let i = 0; i < each.push; i++) {
              value += 1
              one.push(value)
              other.push(value)
            }
          } else if ('add' in each && !known.has(each.add)) {
            known.add(each.add)
            for (const shelf of [one, other]) shelf.add(BigInt(each.add))
          } else if ('remove' in each) {
            known.delete(each.remove)
            for (const shelf of [one, other]) shelf.remove(BigInt(each.remove))
          } else if ('read' in each && known.has(each.read)) {
            expect(one.read(BigInt(each.read))).toEqual(other.read(BigInt(each.read)))
          }
        }
      }),
      { seed: 20261122, numRuns: 150 },
    )
  })
})

describe('what is kept', () => {
  test('goes when all have read it', () => {
    const shelf = new HashShelf(100_000)
    const readers = new Readers(shelf)
    readers.add(1n)
    readers.add(2n)
    for (let i = 0; i < 5_000; i++) shelf.push(word(i))
    readers.read(1n)
    expect([shelf.start, shelf.end]).toEqual([0, 5_000])
    readers.read(2n)
    expect([shelf.start, shelf.end]).toEqual([5_000, 5_000])
    readers.delete(2n)
    shelf.push(word(1))
    readers.delete(1n)
    expect([shelf.start, shelf.end]).toEqual([5_001, 5_001])
  })

  test('is read as it was, whatever comes while it is read', () => {
    const shelf = new HashShelf(3)
    const readers = new Readers(shelf)
    readers.add(1n)
    for (const value of [1, 2, 3]) shelf.push(word(value))
    const read = readers.read(1n)
    for (const value of [4, 5, 6, 7]) shelf.push(word(value))
    expect([...read!]).toEqual([1, 2, 3].map(word))
  })

  test('is nothing of more blocks at once than are kept, and what follows is whole', () => {
    const shelf = new HashShelf(2)
    const readers = new Readers(shelf)
    readers.add(1n)
    const { canonical } = treeOf({}, {}, {})
    shelf.pushBlocks(canonical.range(0))
    expect(readers.read(1n)).toBe(undefined)
    shelf.pushBlocks(canonical.range(2))
    shelf.pushBlocks(NO_BLOCKS)
    expect([...readers.read(1n)!]).toEqual([2, 3].map((number) => canonical.hashAt(number)))
  })

  test('of abandoned blocks are so many logs', () => {
    const shelf = new LogShelf({ blocks: 1_000, removedLogs: 5 })
    const readers = new Readers(shelf)
    const told = (count: number, removed: boolean): BlockLogs => {
      const logs = Array.from({ length: count }, () => logOf(1))
      return { record: recordOf(1n, word(1), { transactions: [{ logs }] }), removed, count }
    }
    readers.add(1n)
    for (let i = 0; i < 100; i++) shelf.push(told(3, false))
    shelf.push(told(3, true))
    expect([...readers.read(1n)!]).toHaveLength(101)
    shelf.push(told(3, true))
    shelf.push(told(3, false))
    shelf.push(told(3, true))
    expect(readers.read(1n)).toBe(undefined)
    shelf.push(told(3, false))
    expect([...readers.read(1n)!]).toHaveLength(1)
  })
})
