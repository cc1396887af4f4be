// What is kept once for all readers, against a list for each reader.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { BlockLogs } from '../../../../src/node/events/changes.ts'
import { Journal } from '../../../../src/node/events/journal.ts'
import { logOf, recordOf, word } from '../records.ts'

/** What a journal is used for. */
interface Use {
  readonly push: (value: number) => void
  readonly read: (reader: bigint) => readonly number[] | undefined
  readonly add: (reader: bigint) => void
  readonly remove: (reader: bigint) => void
}

function journal(bound: number): Use {
  const kept = new Journal<number>({ entries: bound })
  return {
    push: (value) => kept.push(value),
    read: (reader) => kept.read(reader),
    add: (reader) => kept.add(reader),
    remove: (reader) => kept.delete(reader),
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

describe('Journal', () => {
  test('gives each reader all entries, as if it had its own list', () => {
    const bounds = fc.constantFrom(3, 50, 2_500)
    fc.assert(
      fc.property(bounds, fc.array(step, { maxLength: 40 }), (bound, steps) => {
        const [one, other] = [journal(bound), lists(bound)]
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
            for (const use of [one, other]) use.add(BigInt(each.add))
          } else if ('remove' in each) {
            known.delete(each.remove)
            for (const use of [one, other]) use.remove(BigInt(each.remove))
          } else if ('read' in each && known.has(each.read)) {
            expect(one.read(BigInt(each.read))).toEqual(other.read(BigInt(each.read)))
          }
        }
      }),
      { seed: 20261122, numRuns: 150 },
    )
  })
})

describe('an entry of the journal', () => {
  test('is deleted when all readers have read it', () => {
    const journal = new Journal<number>({ entries: 100_000 })
    journal.add(1n)
    journal.add(2n)
    for (let i = 0; i < 5_000; i++) journal.push(i)
    journal.read(1n)
    expect(journal.length).toBe(5_000)
    journal.read(2n)
    expect(journal.length).toBe(0)
    journal.delete(2n)
    journal.push(1)
    expect(journal.length).toBe(1)
    journal.delete(1n)
    expect(journal.length).toBe(0)
  })

  test('is read as it was, whatever comes during the read', () => {
    const journal = new Journal<number>({ entries: 3 })
    journal.add(1n)
    for (const value of [1, 2, 3]) journal.push(value)
    const read = journal.read(1n)
    for (const value of [4, 5, 6, 7]) journal.push(value)
    expect(read).toEqual([1, 2, 3])
  })

  test('is dropped if too many come at once, and later ones are complete', () => {
    const journal = new Journal<number>({ entries: 2 })
    journal.add(1n)
    journal.pushAll(3, () => expect.unreachable())
    expect(journal.read(1n)).toBe(undefined)
    journal.pushAll(2, (index) => index)
    journal.pushAll(0, () => expect.unreachable())
    expect(journal.read(1n)).toEqual([0, 1])
  })

  test('of abandoned blocks counts by its logs', () => {
    const journal = new Journal<BlockLogs>({
      entries: 1_000,
      weight: 5,
      weightOf: ({ removed, count }) => (removed ? count : 0),
    })
    const logsOfBlock = (count: number, removed: boolean): BlockLogs => {
      const logs = Array.from({ length: count }, () => logOf(1))
      return { record: recordOf(1n, word(1), { transactions: [{ logs }] }), removed, count }
    }
    journal.add(1n)
    for (let i = 0; i < 100; i++) journal.push(logsOfBlock(3, false))
    journal.push(logsOfBlock(3, true))
    expect(journal.read(1n)).toHaveLength(101)
    journal.push(logsOfBlock(3, true))
    journal.push(logsOfBlock(3, false))
    journal.push(logsOfBlock(3, true))
    expect(journal.read(1n)).toBe(undefined)
    journal.push(logsOfBlock(3, false))
    expect(journal.read(1n)).toHaveLength(1)
  })
})
