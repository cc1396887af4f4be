// How logs are written for clients, against their fields written one by one.
import { expect, test } from 'vitest'
import { logByFields, logShape, logsShape } from '../../src/methods/shapes.ts'
import { type LogEntry, logsOf } from '../../src/node/logs.ts'
import { logOf, recordOf, word } from '../unit/node/records.ts'

const record = recordOf(300n, word(4), {
  transactions: [{ logs: [logOf(1)] }, { logs: [logOf(2, 3, 4), logOf(5, 6)] }],
})

test.each<{ kind: string; changed: Partial<LogEntry> }>([
  { kind: 'stored', changed: {} },
  { kind: 'removed', changed: { removed: true } },
  { kind: 'pending', changed: { pending: true } },
])('A log that is $kind is written as its fields say, in their order', ({ changed }) => {
  const entries = logsOf(record).map((entry) => ({ ...entry, ...changed }))
  expect(entries).toHaveLength(3)
  for (const entry of entries) {
    expect(JSON.stringify(logShape.encode(entry))).toBe(JSON.stringify(logByFields.encode(entry)))
  }
})

test('Many logs are written at once as they are one by one', () => {
  const longest = recordOf(2n ** 256n - 1n, word(4), {
    transactions: [{ logs: [logOf(1, 2, 3, 4)] }],
  })
  const entries = Array.from({ length: 70 }, (_, index) => {
    const [one] = logsOf(index % 9 === 0 ? longest : record).slice(index % 2)
    const entry = one ?? logsOf(longest)[0]!
    const { log } = entry
    return {
      ...entry,
      log: { ...log, data: new Uint8Array(index * 31).fill(index) },
      logIndex: index === 1 ? Number.MAX_SAFE_INTEGER : index,
      removed: index % 3 === 0,
      pending: index % 5 === 0,
    }
  })
  const written = logsShape.write?.(entries)
  expect(written?.toString('utf8')).toBe(JSON.stringify(logsShape.encode(entries)))
  // few are not worth it
  expect(logsShape.write?.(entries.slice(0, 10))).toBe(undefined)
})
