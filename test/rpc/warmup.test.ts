// What is exercised while nobody asks: when it runs, when it waits, and when it stops.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { warmUp } from '../../src/server/warmup.ts'

interface Scene {
  /** The requests to the chain that nobody sees. */
  readonly messages: string[]
  readonly bugs: unknown[]
  /** A user asks something. */
  readonly ask: () => void
  /** What a user asked takes until the function that is returned is called. */
  readonly work: () => () => void
  readonly stop: () => void
}

function begin(answer: (message: string) => unknown = () => ({ contractAddress: '0x1' })): Scene {
  const messages: string[] = []
  const bugs: unknown[] = []
  let asked = 0
  let works = 0
  const stop = warmUp({
    open: async () => async (message) => {
      messages.push(message)
      return JSON.stringify({ result: answer(message) })
    },
    asked: () => asked,
    isWorking: () => works > 0,
    onBug: (error) => bugs.push(error),
  })
  const work = (): (() => void) => {
    works += 1
    return () => void works--
  }
  return { messages, bugs, ask: () => void asked++, work, stop }
}

const pass = (milliseconds: number): Promise<unknown> => vi.advanceTimersByTimeAsync(milliseconds)

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('begins a while after the start, asks what users ask most, and comes to an end', async () => {
  const { messages, bugs } = begin()
  await pass(190)
  expect(messages).toEqual([])
  await pass(1_000)
  const asked = messages.length
  expect(asked).toBeGreaterThan(200)
  for (const method of ['eth_getBalance', 'eth_sendTransaction', 'eth_call', 'eth_getLogs']) {
    expect(messages.some((message) => message.includes(method))).toBe(true)
  }
  await pass(10_000)
  expect(messages).toHaveLength(asked)
  expect(bugs).toEqual([])
})

test('waits while users ask', async () => {
  const { messages, ask } = begin()
  for (let i = 0; i < 100; i++) {
    ask()
    await pass(5)
  }
  expect(messages).toEqual([])
  await pass(1_000)
  expect(messages.length).toBeGreaterThan(0)
})

test('waits for the end of what users asked, however long it takes', async () => {
  const { messages, work } = begin()
  const end = work()
  await pass(5_000)
  expect(messages).toEqual([])
  end()
  await pass(1_000)
  expect(messages.length).toBeGreaterThan(0)
})

test('stops when it is told to, also in the middle', async () => {
  const early = begin()
  early.stop()
  const scene: Scene = begin(() => {
    if (scene.messages.length === 7) scene.stop()
    return { contractAddress: '0x1' }
  })
  await pass(10_000)
  expect(early.messages).toEqual([])
  expect(scene.messages).toHaveLength(7)
})

test('ends with what is wrong, which is a bug', async () => {
  const { messages, bugs } = begin((message) =>
    message.includes('eth_getTransactionReceipt') ? null : '0x1',
  )
  await pass(10_000)
  expect(bugs).toEqual([expect.any(TypeError)])
  expect(messages.at(-1)).toContain('eth_getTransactionReceipt')
})
