// How logs are written for clients, against their fields written one by one.
import { expect, test } from 'vitest'
import { logByFields, logShape } from '../../src/methods/shapes.ts'
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
