// YieldQueue: many long runs at once keep others waiting no longer than one.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createExecutor } from '../../../src/evm/run/lazyexecutor.ts'
import { YieldQueue } from '../../../src/evm/run/yieldqueue.ts'
import { callOf } from './stage.ts'

describe('those who wait for a turn', () => {
  test('go on one by one, in the order in which they came', async () => {
    const queue = new YieldQueue()
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

  test('may come again at once', async () => {
    const queue = new YieldQueue()
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

/** Processor time of the longest turn of the event loop until `isOver`, in milliseconds. */
async function longestTurn(isOver: () => boolean): Promise<number> {
  const turns: number[] = []
  while (!isOver()) {
    const before = process.cpuUsage()
    await nextTurn()
    const { user, system } = process.cpuUsage(before)
    turns.push((user + system) / 1_000)
  }
  // what is compiled while it runs is on the same bill
  return turns.sort((a, b) => a - b)[Math.floor(turns.length / 2)] ?? 0
}

test.each(['reference', 'interpreter', 'auto'] as const)(
  'under --evm %s thirty endless calls keep others waiting as long as one',
  async (evm) => {
    const executor = createExecutor({ evm })
    await executor.call(callOf('1'))
    let turns = 0
    const isAwaited = (): boolean => turns < 60
    const job = { ...callOf('again: @again JUMP', { gasLimit: 10n ** 15n }), isAwaited }
    const runs = Promise.allSettled(Array.from({ length: 30 }, async () => executor.call(job)))
    const longest = await longestTurn(() => turns++ >= 60)
    expect((await runs).map(({ status }) => status)).toEqual(Array(30).fill('rejected'))
    expect(longest).toBeLessThan(50)
  },
)
