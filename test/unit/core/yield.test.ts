// Turns for others during long work.
import { expect, test, vi } from 'vitest'
import { yielder } from '../../../src/core/yield.ts'
import { nextTurn } from '../../support/waiting/turns.ts'

test('a yielder gives others their turn after its time is used up, then starts a new count', async () => {
  let now = 1_000
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
  const turns: number[] = []
  const yieldIfDue = yielder(20, async () => turns.push(now))
  expect(yieldIfDue()).toBe(undefined)
  now += 19
  expect(yieldIfDue()).toBe(undefined)
  now += 1
  const turn = yieldIfDue()
  now += 500
  await turn
  expect(turns).toEqual([1_020])
  // what others took is not the work's
  expect(yieldIfDue()).toBe(undefined)
  now += 20
  await yieldIfDue()
  expect(turns).toEqual([1_020, 1_540])
  clock.mockRestore()
})

test('a yielder throws what its pause throws', () => {
  const yieldIfDue = yielder(0, () => {
    throw new Error('no memory is left')
  })
  expect(yieldIfDue).toThrow('no memory is left')
})

test('works that share a yielder resume one at a time, each in its own turn', async () => {
  let now = 1_000
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
  const yieldIfDue = yielder(20)
  const done: string[] = []
  const work = async (name: string): Promise<void> => {
    for (let piece = 1; piece <= 2; piece++) {
      const pause = yieldIfDue()
      if (pause !== undefined) await pause
      now += 20
      done.push(`${name}${piece}`)
    }
  }
  const all = Promise.all([work('a'), work('b'), work('c')])
  // each turn of the loop has place for one piece
  for (let turn = 0; done.length < 6; turn++) {
    expect(done.length).toBeLessThanOrEqual(turn + 1)
    await nextTurn()
  }
  await all
  // in the order in which they began to wait
  expect(done).toEqual(['a1', 'a2', 'b1', 'c1', 'b2', 'c2'])
  clock.mockRestore()
})
