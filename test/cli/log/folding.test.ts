// Calls that repeat, in a row and by turns: the lines that the log makes of them.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { ObservedCall } from '../../../src/app/observer.ts'
import { Folding, type Renderer } from '../../../src/cli/log/folding.ts'
import { PLAIN } from '../../../src/cli/log/palette.ts'
import { createPrettyRenderer } from '../../../src/cli/log/pretty.ts'
import type { Hash } from '../../../src/core/hex.ts'
import { methods } from '../../../src/methods/index.ts'

const TOKEN = '0x5fbdb2315678afecb367f032d93f642f64180aa3'
const HASH = `0x48cf${'00'.repeat(28)}b142` as Hash

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

function call(method: string, fields: Partial<ObservedCall> = {}): ObservedCall {
  const usual = { params: [], durationMs: 0.4, result: undefined, error: undefined }
  const meaning = methods.find(({ name }) => name === method)?.result
  return { method, meaning, console: [], notes: [], ...usual, ...fields }
}

interface Recorded {
  readonly add: (call: ObservedCall) => void
  /** An empty block that comes by itself. */
  readonly addBlock: (number: bigint) => void
  readonly end: () => void
  readonly text: () => string
}

const pretty = createPrettyRenderer(PLAIN, false)

/** What is written to a terminal of 24 rows, or to a file. */
function record(renderer: Renderer, columns?: number): Recorded {
  let written = ''
  const screen = columns === undefined ? undefined : () => ({ columns, rows: 24 })
  const folding = new Folding(renderer, { write: (text) => (written += text) }, screen)
  return {
    add: (each) => folding.add({ call: each, count: 1, events: [] }),
    addBlock: (number) => {
      const shape = { hash: HASH, transactions: 0, gasUsed: 0n, gasLimit: 1n, baseFee: undefined }
      const block = { event: 'block', first: number, number, timestamp: 0n, ...shape } as const
      folding.add({ call: undefined, count: 1, events: [block] })
    },
    end: () => folding.end(),
    text: () => written,
  }
}

const [height, chainId, changes] = [
  call('eth_blockNumber', { result: '0x7' }),
  call('eth_chainId', { result: '0x21' }),
  call('eth_getFilterChanges', { params: ['0x1'], result: [] }),
]
const poll = ({ add }: Recorded): void => {
  for (const each of [height, chainId, changes]) add(each)
}
const lines = (text: string): string[] =>
  text
    .replaceAll(/ +0\.4 ms {2}/g, ' ')
    .trimEnd()
    .split('\n')

test('alternating calls in a file are a line each with a counter, ever more seldom', () => {
  const polled = record(pretty)
  for (let second = 0; second < 120; second++) {
    poll(polled)
    vi.advanceTimersByTime(1_000)
  }
  polled.end()
  const all = lines(polled.text())
  expect(all.length).toBeLessThan(40)
  for (const method of ['eth_blockNumber', 'eth_chainId', 'eth_getFilterChanges']) {
    const counts = all
      .filter((line) => line.startsWith(method))
      .map((line) => Number(/×(\d+)$/.exec(line)?.[1] ?? 1))
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(120)
  }
})

test('alternating calls on a terminal are redrawn together', () => {
  const polled = record(pretty, 100)
  poll(polled)
  poll(polled)
  vi.advanceTimersByTime(60)
  polled.add(changes)
  vi.advanceTimersByTime(60)
  expect(lines(polled.text())).toEqual([
    'eth_blockNumber 7',
    'eth_chainId 33',
    'eth_getFilterChanges 0 changes',
    '\u001b[3A\r\u001b[0Jeth_blockNumber 7  ×2',
    'eth_chainId 33  ×2',
    'eth_getFilterChanges 0 changes  ×2',
    '\u001b[1A\r\u001b[0Jeth_getFilterChanges 0 changes  ×3',
  ])
})

test('calls that fail or change the chain are not folded into calls around them', () => {
  const polled = record(pretty)
  const gone = call('eth_getFilterChanges', { error: { code: -32001, message: 'no filter 0x1' } })
  const automine = call('evm_setAutomine', { description: 'automine off', effects: 'chain' })
  poll(polled)
  poll(polled)
  polled.add(gone)
  polled.add(height)
  polled.add(gone)
  polled.add(height)
  polled.add(automine)
  polled.add(automine)
  polled.add(height)
  polled.add(automine)
  polled.end()
  expect(lines(polled.text())).toEqual([
    'eth_blockNumber 7  ×2',
    'eth_chainId 33  ×2',
    'eth_getFilterChanges 0 changes  ×2',
    'eth_getFilterChanges ✗ no filter 0x1  ×2',
    'eth_blockNumber 7  ×2',
    'evm_setAutomine automine off  ×2',
    'eth_blockNumber 7',
    'evm_setAutomine automine off',
  ])
})

test('a method with changing parameters has three lines, the last for the newest', () => {
  const scan = (renderer: Renderer): string[] => {
    const { add, end, text } = record(renderer)
    for (let i = 0; i < 9; i++) {
      add(height)
      add(call('eth_getLogs', { params: [{ fromBlock: `0x${i}` }], result: [] }))
      add(call('eth_call', { params: [{ to: TOKEN, data: `0x0${i}` }], result: '0x' }))
      vi.advanceTimersByTime(1)
    }
    end()
    return lines(text()).filter((line) => line.startsWith('eth_'))
  }
  expect(scan(pretty)).toEqual([
    'eth_blockNumber 7  ×9',
    'eth_getLogs 0 logs',
    'eth_call 0x5FbD…0aa3 → 0x',
    'eth_getLogs 0 logs',
    'eth_call 0x5FbD…0aa3 → 0x',
    'eth_getLogs 0 logs  ×7, parameters differ',
    ...Array.from({ length: 7 }, () => 'eth_call 0x5FbD…0aa3 → 0x'),
  ])
  // parameters are shown
  const verbose = scan(createPrettyRenderer(PLAIN, true))
  expect(verbose.filter((line) => line === 'eth_getLogs 0 logs')).toHaveLength(9)
})

test('empty interval blocks fold among polling calls', () => {
  const { add, addBlock, end, text } = record(pretty)
  for (let number = 6n; number < 20n; number++) {
    add(height)
    addBlock(number)
    vi.advanceTimersByTime(10)
  }
  end()
  expect(lines(text())).toEqual([
    'eth_blockNumber 7  ×14',
    `blocks 6 to 19 ${HASH}`,
    '  empty · 1970-01-01 00:00:00',
  ])
})

test('a terminal redraws no more lines than it has rows', () => {
  const { add, text } = record(pretty, 100)
  const accounts = Array.from({ length: 40 }, (_, i) => `0x${i.toString(16).padStart(40, '0')}`)
  for (const to of accounts) add(call('eth_call', { params: [{ to }], result: '0x' }))
  add(call('eth_call', { params: [{ to: accounts.at(-12) }], result: '0x' }))
  vi.advanceTimersByTime(60)
  expect(text()).toContain('\u001b[12A')
  const former = text().length
  add(call('eth_call', { params: [{ to: accounts.at(-13) }], result: '0x' }))
  expect(text().slice(former)).not.toContain('\u001b')
})

test('a call that repeats after half a minute has a new line', () => {
  const { add, text } = record(pretty, 100)
  add(chainId)
  add(height)
  vi.advanceTimersByTime(31_000)
  add(chainId)
  expect(lines(text())).toEqual(['eth_chainId 33', 'eth_blockNumber 7', 'eth_chainId 33'])
})
