// The persistent collections behave as Map and Array do, and old versions stay as they were.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  emptyList,
  emptyMap,
  type PersistentList,
  type PersistentMap,
} from '../../../src/core/persistent.ts'

const seeded = { seed: 20261121, numRuns: 200 }

/** Two texts with one FNV-1a hash: they meet in a collision node. */
const COLLIDING = ['costarring', 'liquid']

describe('a persistent map', () => {
  const key = fc.oneof(
    fc.constantFrom(...COLLIDING),
    fc.integer({ min: 0, max: 300 }).map((n) => `key ${n}`),
  )
  const steps = fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant('set' as const), key, value: fc.integer() }),
      fc.record({ kind: fc.constant('delete' as const), key, value: fc.constant(0) }),
    ),
    { maxLength: 400, size: 'max' },
  )

  test('holds what a Map holds after the same changes', () => {
    fc.assert(
      fc.property(steps, (list) => {
        const model = new Map<string, number>()
        let map: PersistentMap<string, number> = emptyMap()
        for (const step of list) {
          if (step.kind === 'set') model.set(step.key, step.value)
          else model.delete(step.key)
          map = step.kind === 'set' ? map.set(step.key, step.value) : map.delete(step.key)
        }
        expect(map.size).toBe(model.size)
        expect(new Map(map.entries())).toEqual(model)
        for (const [name, value] of model) expect(map.get(name)).toBe(value)
      }),
      seeded,
    )
  })

  test('leaves every older version as it was', () => {
    fc.assert(
      fc.property(steps, (list) => {
        const versions: [PersistentMap<string, number>, Map<string, number>][] = []
        let map: PersistentMap<string, number> = emptyMap()
        for (const step of list) {
          versions.push([map, new Map(map.entries())])
          map = step.kind === 'set' ? map.set(step.key, step.value) : map.delete(step.key)
        }
        for (const [version, contents] of versions) {
          expect(new Map(version.entries())).toEqual(contents)
        }
      }),
      { ...seeded, numRuns: 20 },
    )
  })

  test('lists equal contents in one order, whatever their history', () => {
    const keys = fc.uniqueArray(key, { maxLength: 60, size: 'max' })
    const shuffled = keys.chain((list) =>
      fc.tuple(
        fc.constant(list),
        fc.shuffledSubarray(list, { minLength: list.length }),
        fc.subarray(list),
      ),
    )
    fc.assert(
      fc.property(shuffled, ([list, other, gone]) => {
        const filled = (names: readonly string[]): PersistentMap<string, string> =>
          names.reduce((map, name) => map.set(name, name), emptyMap<string, string>())
        const left = gone.reduce((map, name) => map.delete(name), filled(other))
        const never = filled(list.filter((name) => !gone.includes(name)))
        expect([...left.entries()]).toEqual([...never.entries()])
      }),
      seeded,
    )
  })

  test('distinguishes keys with the same hash', () => {
    const [first, second] = COLLIDING as [string, string]
    const both = emptyMap<string, number>().set(first, 1).set(second, 2)
    expect([both.get(first), both.get(second), both.size]).toEqual([1, 2, 2])
    expect([...both.delete(first).entries()]).toEqual([[second, 2]])
  })
})

describe('a persistent list', () => {
  const lengths = fc.array(fc.oneof(fc.constant(-1), fc.integer({ min: 0, max: 2_000 })), {
    maxLength: 60,
    size: 'max',
  })

  test('holds what an Array holds after the same pushes and truncations', () => {
    fc.assert(
      fc.property(lengths, (cuts) => {
        let model: number[] = []
        let list: PersistentList<number> = emptyList()
        for (const [i, cut] of cuts.entries()) {
          if (cut >= 0) {
            model = model.slice(0, cut)
            list = list.truncate(cut)
          }
          for (let k = 0; k < 40; k++) {
            model.push(i * 1_000 + k)
            list = list.push(i * 1_000 + k)
          }
        }
        expect([...list.values()]).toEqual(model)
        expect(list.at(model.length)).toBeUndefined()
        expect(list.at(-1)).toBeUndefined()
      }),
      { ...seeded, numRuns: 50 },
    )
  })

  test('of 70,000 items keeps its older versions', () => {
    let list: PersistentList<number> = emptyList()
    const versions: PersistentList<number>[] = []
    for (let i = 0; i < 70_000; i++) {
      if (i % 7_777 === 0) versions.push(list)
      list = list.push(i)
    }
    for (const [k, version] of versions.entries()) {
      expect(version.length).toBe(k * 7_777)
      expect(version.at(version.length - 1)).toBe(k === 0 ? undefined : k * 7_777 - 1)
    }
    expect(list.truncate(33_000).push(-1).at(33_000)).toBe(-1)
    expect([...list.truncate(33_000).values(32_998)]).toEqual([32_998, 32_999])
  })
})
