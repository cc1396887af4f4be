// Turns for others during long work.
import { expect, test, vi } from 'vitest'
import { breather } from '../../../src/core/breather.ts'

test('Others have their turn once the work has taken so long, and then the time counts anew', async () => {
  let now = 1_000
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
  const turns: number[] = []
  const breathe = breather(20, async () => turns.push(now))
  expect(breathe()).toBe(undefined)
  now += 19
  expect(breathe()).toBe(undefined)
  now += 1
  const turn = breathe()
  now += 500
  await turn
  expect(turns).toEqual([1_020])
  // what others took is not the work's
  expect(breathe()).toBe(undefined)
  now += 20
  await breathe()
  expect(turns).toEqual([1_020, 1_540])
  clock.mockRestore()
})

test('What the pause throws, the work throws', () => {
  const breathe = breather(0, () => {
    throw new Error('no memory is left')
  })
  expect(breathe).toThrow('no memory is left')
})
