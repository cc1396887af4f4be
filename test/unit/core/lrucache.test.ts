// Maps that forget, and functions that remember.
import { describe, expect, it } from 'vitest'
import { LruCache, memoize } from '../../../src/core/lrucache.ts'

describe('memoize', () => {
  it('computes a result once while it is among the last requested', () => {
    const asked: number[] = []
    const double = memoize(3, (input: number) => {
      asked.push(input)
      return input * 2
    })
    for (const input of [1, 2, 3, 1, 4, 3, 1, 5, 1, 3]) expect(double(input)).toBe(input * 2)
    expect(asked).toEqual([1, 2, 3, 4, 5])
  })
})

describe('LruCache', () => {
  it('holds at most twice its size, and always the newest entry', () => {
    const cache = new LruCache<number, number>(10)
    for (let i = 0; i < 1000; i++) {
      cache.set(i, i)
      expect(cache.size).toBeLessThanOrEqual(20)
      for (let back = 0; back < Math.min(10, i); back++) expect(cache.get(i - back)).toBe(i - back)
    }
    expect(cache.get(0)).toBe(undefined)
  })
})
