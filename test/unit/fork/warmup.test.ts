// Loading what the first requests need, while a network lets us wait.
import { EventEmitter, once } from 'node:events'
import { expect, test } from 'vitest'
import type { Executor } from '../../../src/evm/executor.ts'
import { warmUp } from '../../../src/fork/start/warmup.ts'

function executorOf(call: () => void): Executor {
  return { call } as unknown as Executor
}

test('warmUp sends its request before it loads anything', async () => {
  const events: string[] = []
  const response = new EventEmitter()
  const executor = executorOf(() => {
    events.push('run')
    response.emit('came')
  })
  const done = warmUp(executor, once(response, 'came'))
  // a client is asked a moment later, and sends what is asked for in one turn together
  queueMicrotask(() => setImmediate(() => events.push('asked')))
  await done
  expect(events).toEqual(['asked', 'run'])
})

test('warmUp loads nothing once the response has arrived', async () => {
  const events: string[] = []
  await warmUp(
    executorOf(() => events.push('run')),
    Promise.resolve(),
  )
  expect(events).toEqual([])
})
