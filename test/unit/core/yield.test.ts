// Turns for others during long work.
import { expect, test, vi } from 'vitest'
import { yielder } from '../../../src/core/yield.ts'

test('Others have their turn once the work has taken so long, and then the time counts anew', async () => {
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

test('What the pause throws, the work throws', () => {
  const yieldIfDue = yielder(0, () => {
    throw new Error('no memory is left')
  })
  expect(yieldIfDue).toThrow('no memory is left')
})
