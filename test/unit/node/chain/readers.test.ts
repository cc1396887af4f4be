// Readers that share something on its way: it goes on for as long as one of them waits.
import { describe, expect, test } from 'vitest'
import { Readers } from '../../../../src/node/chain/readers.ts'

describe('a shared read', () => {
  test('goes on while one reader waits, then stops', () => {
    const waiting = new Set(['first', 'second'])
    const readers = new Readers(() => waiting.has('first'))
    expect(readers.join(() => waiting.has('second'))).toBe(true)
    expect(readers.isAwaited()).toBe(true)
    waiting.delete('first')
    expect(readers.isAwaited()).toBe(true)
    waiting.delete('second')
    expect(readers.isAwaited()).toBe(false)
  })

  test('starts anew for a reader who comes after it was cancelled', () => {
    const readers = new Readers(() => false)
    expect(readers.isAwaited()).toBe(false)
    expect(readers.join(undefined)).toBe(false)
    expect(readers.isAwaited()).toBe(false)
  })

  test('serves any reader once it is done', () => {
    const readers = new Readers(() => true)
    readers.end()
    expect(readers.join(undefined)).toBe(true)
  })

  test('reports to each reader how much gas was used', () => {
    const told: (bigint | undefined)[] = []
    const note = (gasUsed?: bigint): boolean => told.push(gasUsed) > 0
    const readers = new Readers(note)
    readers.join(note)
    readers.isAwaited(7n)
    expect(told).toEqual([7n, 7n])
  })

  test('always has a reader that cannot cancel', () => {
    expect(new Readers(undefined).isAwaited()).toBe(true)
  })
})
