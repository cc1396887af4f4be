// Readers that share something on its way: it goes on for as long as one of them waits.
import { describe, expect, test } from 'vitest'
import { Readers } from '../../../../src/node/chain/readers.ts'

describe('what several read', () => {
  test('goes on while one of them waits, and not after', () => {
    const waiting = new Set(['first', 'second'])
    const readers = new Readers(() => waiting.has('first'))
    expect(readers.join(() => waiting.has('second'))).toBe(true)
    expect(readers.isAwaited()).toBe(true)
    waiting.delete('first')
    expect(readers.isAwaited()).toBe(true)
    waiting.delete('second')
    expect(readers.isAwaited()).toBe(false)
  })

  test('is made anew for who comes when it was given up already', () => {
    const readers = new Readers(() => false)
    expect(readers.isAwaited()).toBe(false)
    expect(readers.join(undefined)).toBe(false)
    expect(readers.isAwaited()).toBe(false)
  })

  test('is for anybody once it is made', () => {
    const readers = new Readers(() => true)
    readers.end()
    expect(readers.join(undefined)).toBe(true)
  })

  test('tells each that waits how much gas was used', () => {
    const told: (bigint | undefined)[] = []
    const note = (gasUsed?: bigint): boolean => told.push(gasUsed) > 0
    const readers = new Readers(note)
    readers.join(note)
    readers.isAwaited(7n)
    expect(told).toEqual([7n, 7n])
  })

  test('always waits for a reader of whom nothing else is known', () => {
    expect(new Readers(undefined).isAwaited()).toBe(true)
  })
})
