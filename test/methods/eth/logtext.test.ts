// How many logs are written for clients at once, against the encoder of one.
import { once } from 'node:events'
import { expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { hexFromBytes } from '../../../src/core/hex.ts'
import { createDevchain } from '../../../src/devchain.ts'
import { answerLogs } from '../../../src/methods/eth/filters.ts'
import { logShape, logsShape } from '../../../src/methods/wire/encodereceipt.ts'
import { bytesOfLog } from '../../../src/methods/wire/logtext/logtext.ts'
import { type LogEntry, logsOf } from '../../../src/node/events/logs.ts'
import type { BlockRecord } from '../../../src/node/ledger/blockrecord.ts'
import { JsonText } from '../../../src/rpc/jsontext.ts'
import type { Json } from '../../../src/rpc/schema.ts'
import { assemble } from '../../support/evm/bytecode.ts'
import { countTurns, slowClock } from '../../support/waiting/turns.ts'
import { logOf, recordOf, word } from '../../unit/node/records.ts'

/** As the method replies with it: in text if there are many logs. */
async function written(
  entries: readonly LogEntry[],
  accelerator: Parameters<typeof answerLogs>[0] = { bytesOfLog },
): Promise<string> {
  const answer = await answerLogs(accelerator, entries)
  if (!(answer instanceof JsonText)) throw new Error('expected text')
  expect(answer.value?.()).toEqual(logsShape.encode(entries))
  return answer.text(10_000_000)
}

const record = recordOf(300n, word(4), {
  transactions: [{ logs: [logOf(1)] }, { logs: [logOf(2, 3, 4), logOf(5, 6)] }],
})

test.each<{ kind: string; changed: Partial<LogEntry>; expected: Json }>([
  {
    kind: 'stored',
    changed: {},
    expected: { removed: false, logIndex: '0x1', blockNumber: '0x12c' },
  },
  { kind: 'removed', changed: { removed: true }, expected: { removed: true, logIndex: '0x1' } },
  {
    kind: 'pending',
    changed: { pending: true },
    expected: {
      removed: false,
      logIndex: null,
      transactionIndex: null,
      transactionHash: null,
      blockHash: null,
      blockNumber: null,
      blockTimestamp: null,
    },
  },
])('the JSON of a log that is $kind has the right indexes', ({ changed, expected }) => {
  const entry = { ...logsOf(record)[1]!, ...changed }
  expect(logShape.encode(entry)).toMatchObject({
    ...(expected as object),
    topics: entry.log.topics,
  })
})

test('the JSON of many logs written at once equals that of single logs', async () => {
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
  expect(await written(entries)).toBe(JSON.stringify(logsShape.encode(entries)))
  // few are not worth it
  const few = entries.slice(0, 10)
  expect(answerLogs({ bytesOfLog }, few)).toBe(few)
})

test('the JSON of many logs is written in turns, with the same text as that of single logs', async () => {
  const [one, two, three] = logsOf(record)
  const changed: Partial<LogEntry>[] = [{}, { removed: true }, { pending: true }]
  const entries = Array.from({ length: 12_000 }, (_, index) => ({
    ...[one!, two!, three!][index % 3]!,
    ...changed[index % 7],
    logIndex: index,
  }))
  using _time = slowClock(10)
  using others = countTurns()
  const text = await written(entries, { bytesOfLog: undefined })
  expect(others.count()).toBeGreaterThan(10)
  expect(text === JSON.stringify(logsShape.encode(entries))).toBe(true)
})

test('the JSON of logs is the same when written again, and right for one run in two blocks', async () => {
  const many = recordOf(300n, word(4), {
    transactions: [{ logs: Array.from({ length: 70 }, (_, index) => logOf(index)) }],
  })
  const { block, executed, world, totalDifficulty } = many
  const twin = { block: { ...block, hash: word(9) }, executed, world, totalDifficulty }
  const of = (each: BlockRecord, changed: Partial<LogEntry> = {}): readonly LogEntry[] =>
    logsOf(each).map((entry) => ({ ...entry, ...changed }))
  const asked = [of(many), of(many), of(twin), of(many, { removed: true }), of(many)]
  for (const entries of asked) {
    expect(await written(entries)).toBe(JSON.stringify(logsShape.encode(entries)))
  }
})

test.each([{ isPlain: false }, { isPlain: true }])(
  'many logs are the same in the process, over HTTP, in a batch, over WebSocket and in the log, %j',
  async ({ isPlain }) => {
    const calls: unknown[] = []
    await using devchain = await createDevchain(
      {},
      { observer: { onCall: (call) => calls.push(call) }, isPlain },
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
    expect(calls.filter((call) => (call as { method: string }).method === 'eth_getLogs')).toEqual(
      Array.from({ length: 5 }, () => expect.objectContaining({ result: logs })),
    )
  },
)

test('the log gets the number of very many logs, so that no value is made of them', async () => {
  const results: unknown[] = []
  await using devchain = await createDevchain(
    {},
    { observer: { onCall: ({ result }) => results.push(result) } },
  )
  const [from] = (await devchain.request({ method: 'eth_accounts' })) as string[]
  const data = hexFromBytes(assemble('1001 more: DUP1 0 0 LOG1 1 SWAP1 SUB DUP1 @more JUMPI'))
  const gas = '0x800000'
  await devchain.request({ method: 'eth_sendTransaction', params: [{ from, data, gas }] })
  const logs = await devchain.request({ method: 'eth_getLogs', params: [{ fromBlock: '0x0' }] })
  expect(logs).toHaveLength(1_001)
  expect(results.at(-1)).toBe('1,001 logs')
})

test('a reply with more logs than are cached leaves the cache as it is', async () => {
  const cached = vi.fn(bytesOfLog)
  const [entry] = logsOf(record)
  await written(Array<LogEntry>(8_192).fill(entry!), { bytesOfLog: cached })
  expect(cached).toHaveBeenCalledTimes(8_192)
  await written(Array<LogEntry>(8_193).fill(entry!), { bytesOfLog: cached })
  expect(cached).toHaveBeenCalledTimes(8_192)
})
