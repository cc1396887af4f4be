// Loading what the first requests need, while a network lets us wait.
import { expect, test } from 'vitest'
import type { Executor } from '../../../src/evm/executor.ts'
import { warmUp } from '../../../src/fork/start/warmup.ts'

/** An executor that tells of its calls. */
function executorTelling(events: string[]): Executor {
  return { call: () => void events.push('run') } as unknown as Executor
}

test('warmUp sends its request before it loads anything', async () => {
  const events: string[] = []
  const done = warmUp(executorTelling(events), () => events.length < 2)
  // a client is asked a moment later, and sends what is asked for in one turn together
  queueMicrotask(() => setImmediate(() => events.push('asked')))
  await done
  expect(events).toEqual(['asked', 'run'])
})

test('warmUp loads nothing once the response has arrived', async () => {
  const events: string[] = []
  await warmUp(executorTelling(events), () => false)
  expect(events).toEqual([])
})
