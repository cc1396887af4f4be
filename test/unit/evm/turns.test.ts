// Many long runs at once keep others waiting no longer than one.

import { describe, expect, test } from 'vitest'
import { TurnQueue } from '../../../src/core/yield.ts'
import type { Cancellation } from '../../../src/evm/cancellation.ts'
import { createExecutor } from '../../../src/evm/run/lazyexecutor.ts'
import { countTurns, nextTurn } from '../../support/waiting/turns.ts'
import { callOf } from './stage.ts'

describe('runs that wait for a turn', () => {
  test('resume one by one, in the order in which they came', async () => {
    const queue = new TurnQueue()
    const gone: number[] = []
    for (const i of [1, 2, 3]) void queue.next().then(() => gone.push(i))
    const seen: number[] = []
    while (gone.length < 3) {
      await nextTurn()
      seen.push(gone.length)
    }
    expect(gone).toEqual([1, 2, 3])
    expect(seen).toEqual([1, 2, 3])
  })

  test('may wait again at once', async () => {
    const queue = new TurnQueue()
    const gone: string[] = []
    const again = async (name: string): Promise<void> => {
      for (let i = 0; i < 3; i += 1) {
        await queue.next()
        gone.push(name)
      }
    }
    await Promise.all([again('a'), again('b')])
    expect(gone.join('')).toBe('ababab')
  })
})

test.each(['reference', 'interpreter', 'auto'] as const)(
  'with --evm %s thirty endless calls delay others no longer than one',
  async (evm) => {
    const executor = createExecutor({ evm })
    await executor.call(callOf('1'))
    using others = countTurns()
    const pauses: number[] = []
    const cancellation: Cancellation = {
      get aborted() {
        return others.count() >= 60
      },
      onPause: () => {
        pauses[others.count()] = (pauses[others.count()] ?? 0) + 1
      },
    }
    const job = { ...callOf('again: @again JUMP', { gasLimit: 10n ** 15n }), cancellation }
    const runs = await Promise.allSettled(Array.from({ length: 30 }, () => executor.call(job)))
    expect(runs.map(({ status }) => status)).toEqual(Array(30).fill('rejected'))
    // a run that has had its time waits for a turn of its own
    expect(Math.max(...pauses.slice(1, 60).filter(Boolean))).toBe(1)
  },
)
