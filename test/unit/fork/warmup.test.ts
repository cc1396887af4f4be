// Loading what the first requests need, while a network lets us wait.
import { expect, test } from 'vitest'
import type { Executor } from '../../../src/evm/executor.ts'
import { warmUp } from '../../../src/fork/start/warmup.ts'

function executorOf(call: () => void): Executor {
  return { call } as unknown as Executor
}

test('warmUp sends its request before it loads anything', async () => {
  const events: string[] = []
  const controller = new AbortController()
  const executor = executorOf(() => {
    events.push('run')
    controller.abort()
  })
  const done = warmUp(executor, controller.signal)
  // a client is asked a moment later, and sends what is asked for in one turn together
  queueMicrotask(() => setImmediate(() => events.push('asked')))
  await done
  expect(events).toEqual(['asked', 'run'])
})

test('warmUp loads nothing once the response has arrived', async () => {
  const events: string[] = []
  await warmUp(
    executorOf(() => events.push('run')),
    AbortSignal.abort(),
  )
  expect(events).toEqual([])
})
