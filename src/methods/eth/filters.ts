// eth: filters, and queries of stored logs.

import { DevchainError } from '../../core/errors.ts'
import { listed, plural } from '../../core/format.ts'
import { quantityFromBigint } from '../../core/hex.ts'
import { type MaybePromise, whenThere } from '../../core/promises.ts'
import type { Chain } from '../../node/chain/chain.ts'
import type { FilterChanges } from '../../node/events/filters.ts'
import { findLogs, type LogEntry, type LogQuery } from '../../node/events/logs.ts'
import { headOf } from '../../node/ledger/blocktree.ts'
import type { BlockReference } from '../../node/ledger/references.ts'
import { JsonText, JsonWriter } from '../../rpc/jsontext.ts'
import { optional, param } from '../../rpc/method.ts'
import { boolean, hash, nullable, quantity } from '../../rpc/primitives.ts'
import type { Encoder } from '../../rpc/schema.ts'
import { type MethodContext, type Methods, method } from '../common/context.ts'
import type { Profile } from '../compat/profile.ts'
import { logQuery } from '../wire/decodelogquery.ts'
import { logShape, logsShape } from '../wire/encodelog.ts'
import { quantityResult } from '../wire/encodeobject.ts'

const EXAMPLE_QUERY = { fromBlock: '0x0', toBlock: 'latest', topics: [] }

/** Logs written before other work may get a turn. */
const LOGS_IN_A_ROW = 128

const LIST_BEGIN = 0x5b

/** From so many logs on, the reply is written in turns. */
const MANY_LOGS = 64

export function answerLogs(
  { bytesOfLog }: Pick<MethodContext, 'bytesOfLog'>,
  entries: readonly LogEntry[],
): MaybePromise<readonly LogEntry[] | JsonText> {
  return entries.length < MANY_LOGS ? entries : writeMany(entries, bytesOfLog ?? plainBytes)
}

function plainBytes(entry: LogEntry): Buffer {
  return Buffer.from(`,${JSON.stringify(logShape.encode(entry))}`)
}

async function writeMany(
  entries: readonly LogEntry[],
  bytesOf: (entry: LogEntry) => Buffer,
): Promise<JsonText> {
  const writer = new JsonWriter()
  for (let from = 0; from < entries.length; from += LOGS_IN_A_ROW) {
    if (from > 0) await writer.yieldIfDue()
    const piece = Buffer.concat(entries.slice(from, from + LOGS_IN_A_ROW).map(bytesOf))
    if (from === 0) piece[0] = LIST_BEGIN
    writer.piece(piece)
  }
  writer.write(']')
  return writer.end({ value: () => entries.map(logShape.encode), count: entries.length })
}

const changes: Encoder<FilterChanges> = {
  name: 'changes',
  noun: 'change',
  json: { type: 'array', items: { anyOf: [logShape.json, hash.json] } },
  encode: (found) =>
    found.kind === 'logs' ? found.logs.map(logShape.encode) : found.hashes.map(hash.encode),
}

export const filterMethods: Methods = [
  method('eth_newFilter', {
    summary: 'Creates a filter of logs for eth_getFilterChanges.',
    params: [optional('filter', logQuery, { addresses: [], topics: [] })],
    result: quantityResult,
    example: { params: [EXAMPLE_QUERY], result: '0x1' },
    effects: 'node',
    describe: ([query], id) => `${queryText(query)}, filter ${id}`,
    handle: ({ filters, profile: { filterHistory } }, query) => {
      const isNamed = filterHistory === 'named' && query.from !== undefined
      return filters.addLogFilter(query, filterHistory === 'all' || isNamed ? 'stored' : 'new')
    },
  }),
  method('eth_newBlockFilter', {
    summary: 'Creates a filter of new blocks for eth_getFilterChanges.',
    result: quantityResult,
    example: { result: '0x1' },
    effects: 'node',
    describe: (_values, id) => `blocks, filter ${id}`,
    handle: (context) => addBlockFilter(context),
  }),
  method('eth_newPendingTransactionFilter', {
    summary: 'Creates a filter of pending transactions for eth_getFilterChanges.',
    result: quantityResult,
    example: { result: '0x1' },
    effects: 'node',
    describe: (_values, id) => `pending transactions, filter ${id}`,
    handle: ({ filters }) => filters.addPendingFilter(),
  }),
  method('eth_uninstallFilter', {
    summary: 'Deletes a filter; false if unknown.',
    params: [param('id', quantity)],
    result: boolean,
    example: { params: ['0x1'], result: false },
    effects: 'node',
    describe: ([id]) => `removed filter ${quantityFromBigint(id)}`,
    handle: ({ filters }, id) => filters.remove(id),
  }),
  method('eth_getFilterChanges', {
    summary: 'Returns what a filter saw since the last poll: logs, or hashes.',
    params: [param('id', quantity)],
    result: nullable(changes),
    example: { params: ['0x1'] },
    onFork: 'filterChanges',
    effects: 'node',
    handle: (context, id) => {
      if (isUnknown(context, id)) return null
      const { chain, caller, filters } = context
      const stored = filters.beginWith(id, (history) =>
        findLogs(chain, history, { cancellation: caller }),
      )
      return whenThere(stored, (before = []) => answerChanges(context, id, before))
    },
  }),
  method('eth_getFilterLogs', {
    summary: 'Returns all stored logs that match a log filter.',
    params: [param('id', quantity)],
    result: nullable(logsShape),
    example: { params: ['0x1'] },
    onFork: 'filterLogs',
    handle: async (context, id) =>
      isUnknown(context, id)
        ? null
        : answerLogs(context, await context.filters.logs(id, context.caller)),
  }),
  method('eth_getLogs', {
    summary: 'Returns the logs of a block or a range of blocks, by address and topics.',
    params: [optional('filter', logQuery, { addresses: [], topics: [] })],
    result: logsShape,
    example: { params: [EXAMPLE_QUERY], result: [] },
    onFork: 'logs',
    handle: async (context, query) => {
      const { chain, caller, profile } = context
      refuseFuture(chain, query, profile.logsBeyondHead)
      return answerLogs(context, await findLogs(chain, query, { cancellation: caller }))
    },
  }),
]

/** A log query in words: `logs of 0x…, by 2 topics`. */
export function queryText({ addresses, topics }: LogQuery): string {
  const count = topics.filter((each) => each !== null && each.length > 0).length
  const from = addresses.length === 0 ? '' : ` of ${listed(addresses)}`
  return `logs${from}${count === 0 ? '' : `, by ${plural(count, 'topic')}`}`
}

/** A block filter, starting as in the profile's node. */
export function addBlockFilter({ chain, filters, profile }: MethodContext): bigint {
  const newest = profile.filters === 'lenient' ? headOf(chain.state.tree).block.hash : undefined
  return filters.addBlockFilter(newest)
}

/** True for an unknown filter, if the profile does not treat it as an error. */
function isUnknown({ filters, profile }: MethodContext, id: bigint): boolean {
  return profile.filters === 'lenient' && !filters.has(id)
}

/** @param before stored logs that come first */
function answerChanges(
  context: MethodContext,
  id: bigint,
  before: readonly LogEntry[],
): MaybePromise<FilterChanges | JsonText> {
  return whenThere<FilterChanges, FilterChanges | JsonText>(
    context.filters.changes(id),
    (found) => {
      if (found.kind !== 'logs') return found
      return whenThere(answerLogs(context, [...before, ...found.logs]), (logs) =>
        logs instanceof JsonText ? logs : { kind: 'logs', logs },
      )
    },
  )
}

/**
 * @param taken whether ranges may lie, or end, after the newest block
 * @throws {DevchainError} `INVALID_PARAMS` for a range that begins or ends after it, `NOT_FOUND` where only the end may
 */
function refuseFuture(
  { state }: Chain,
  { from, to }: LogQuery,
  taken: Profile['logsBeyondHead'],
): void {
  if (taken === 'all') return
  const head = headOf(state.tree).block.header.number
  const beyond = (reference: BlockReference | undefined): bigint | undefined =>
    reference?.kind === 'number' && reference.number > head ? reference.number : undefined
  const begin = beyond(from)
  if (begin !== undefined && taken === 'end') {
    const message = `block ${begin} not found: the newest block is ${head}`
    throw new DevchainError('NOT_FOUND', message, undefined, { number: begin })
  }
  const end = taken === 'none' ? beyond(to) : undefined
  if (end !== undefined) {
    const message = `block range extends beyond current head block: toBlock is ${end}, the newest is ${head}`
    throw new DevchainError('INVALID_PARAMS', message)
  }
  if (begin === undefined) return
  const message = `invalid block range params: fromBlock is ${begin}, the newest block is ${head}`
  throw new DevchainError('INVALID_PARAMS', message)
}
