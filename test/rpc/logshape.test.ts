// How logs are written for clients, against their fields written one by one.
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { hexFromBytes } from '../../src/core/hex.ts'
import { createDevchain } from '../../src/devchain.ts'
import { answerLogs } from '../../src/methods/eth/filters.ts'
import { logByFields, logShape, logsShape } from '../../src/methods/wire/encodelog.ts'
import { writtenAsText } from '../../src/methods/wire/logtext/logtext.ts'
import { type LogEntry, logsOf } from '../../src/node/events/logs.ts'
import type { BlockRecord } from '../../src/node/ledger/blockrecord.ts'
import { JsonText } from '../../src/rpc/jsontext.ts'
import { nullable } from '../../src/rpc/primitives.ts'
import { assemble } from '../support/bytecode.ts'
import { logOf, recordOf, word } from '../unit/node/records.ts'

const logs = writtenAsText(logsShape)

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
  const written = logs.write?.(entries)?.()
  expect(written?.toString('utf8')).toBe(JSON.stringify(logsShape.encode(entries)))
  // few are not worth it
  expect(logs.write?.(entries.slice(0, 10))).toBe(undefined)
  // a result that may be missing is written in the same way where it is there
  const missing = nullable(logs)
  expect(missing.write?.(entries)?.().toString('utf8')).toBe(written?.toString('utf8'))
  expect(missing.write?.(null)).toBe(undefined)
})

test('Very many logs are written in pieces as they are one by one', async () => {
  const [one, two, three] = logsOf(record)
  const changed: Partial<LogEntry>[] = [{}, { removed: true }, { pending: true }]
  const entries = Array.from({ length: 9_000 }, (_, index) => ({
    ...[one!, two!, three!][index % 3]!,
    ...changed[index % 7],
    logIndex: index,
  }))
  expect(answerLogs(entries.slice(0, 1_000))).toEqual(entries.slice(0, 1_000))
  const written = await answerLogs(entries)
  if (!(written instanceof JsonText)) throw new Error('expected text')
  const json = JSON.stringify(logsShape.encode(entries))
  expect((await written.text(10_000_000)) === json).toBe(true)
  expect(JSON.stringify(written.value?.()) === json).toBe(true)
})

test('Logs that are written again are the same, and those of one run in two blocks tell of their own', () => {
  const many = recordOf(300n, word(4), {
    transactions: [{ logs: Array.from({ length: 70 }, (_, index) => logOf(index)) }],
  })
  const { block, executed, world, totalDifficulty } = many
  const twin = { block: { ...block, hash: word(9) }, executed, world, totalDifficulty }
  const of = (each: BlockRecord, changed: Partial<LogEntry> = {}): readonly LogEntry[] =>
    logsOf(each).map((entry) => ({ ...entry, ...changed }))
  const asked = [of(many), of(many), of(twin), of(many, { removed: true }), of(many)]
  for (const entries of asked) {
    const written = logs.write?.(entries)?.()
    expect(written?.toString('utf8')).toBe(JSON.stringify(logsShape.encode(entries)))
  }
})

test('Many logs are the same in the process, over HTTP, in a batch, over a WebSocket and in the log of calls', async () => {
  const told: unknown[] = []
  await using devchain = await createDevchain(
    {},
    { observer: { onCall: (call) => told.push(call) } },
  )
  const [from] = (await devchain.request({ method: 'eth_accounts' })) as string[]
  // a hundred logs with a topic that counts
  const data = hexFromBytes(assemble('100 more: DUP1 0 0 LOG1 1 SWAP1 SUB DUP1 @more JUMPI'))
  await devchain.request({
    method: 'eth_sendTransaction',
    params: [{ from, data, gas: '0x100000' }],
  })
  const wanted = { method: 'eth_getLogs', params: [{ fromBlock: '0x0' }] }
  const logs = await devchain.request(wanted)
  expect(logs).toHaveLength(100)
  expect((logs as { topics: string[] }[])[99]?.topics).toEqual([`0x${'1'.padStart(64, '0')}`])

  const { url } = await devchain.listen()
  const request = { jsonrpc: '2.0', id: 1, ...wanted }
  const reply = { jsonrpc: '2.0', id: 1, result: logs }
  const ask = async (body: unknown): Promise<unknown> =>
    (await fetch(url, { method: 'POST', body: JSON.stringify(body) })).json()
  expect(await ask(request)).toEqual(reply)
  expect(await ask([request, request])).toEqual([reply, reply])
  const socket = new WebSocket(url.replace('http', 'ws'))
  await once(socket, 'open')
  socket.send(JSON.stringify(request))
  const [message] = await once(socket, 'message')
  expect(JSON.parse(`${message}`)).toEqual(reply)
  socket.terminate()
  expect(told.filter((call) => (call as { method: string }).method === 'eth_getLogs')).toEqual(
    Array.from({ length: 5 }, () => expect.objectContaining({ result: logs })),
  )
})
