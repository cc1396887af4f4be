// eth: filters that are polled, and queries of stored logs.
import { DevchainError } from '../../core/errors.ts'
import { headOf } from '../../node/blocktree.ts'
import type { BlockReference, Chain } from '../../node/chain.ts'
import type { FilterChanges } from '../../node/filters.ts'
import { findLogs, type LogQuery } from '../../node/logs.ts'
import { type Method, optional, param } from '../../rpc/method.ts'
import { boolean, hash, nullable, quantity } from '../../rpc/primitives.ts'
import type { Encoder } from '../../rpc/schema.ts'
import type { Profile } from '../compat/profile.ts'
import { type MethodContext, method } from '../context.ts'
import { quantityResult } from '../fields.ts'
import { logQuery } from '../inputs.ts'
import { logShape, logsShape } from '../shapes.ts'

const EXAMPLE_QUERY = { fromBlock: '0x0', toBlock: 'latest', topics: [] }

const newFilter = method({
  name: 'eth_newFilter',
  summary: 'Installs a filter of logs; eth_getFilterChanges polls it.',
  params: [optional('filter', logQuery, { addresses: [], topics: [] })],
  result: quantityResult,
  example: { params: [EXAMPLE_QUERY], result: '0x1' },
  handle: ({ chain }, query) => chain.filters.addLogFilter(query),
})

const newBlockFilter = method({
  name: 'eth_newBlockFilter',
  summary: 'Installs a filter of new blocks; eth_getFilterChanges polls it.',
  params: [],
  result: quantityResult,
  example: { params: [], result: '0x1' },
  handle: ({ chain, profile }) => {
    const newest = profile.filters === 'lenient' ? headOf(chain.state.tree).block.hash : undefined
    return chain.filters.addBlockFilter(newest)
  },
})

const newPendingTransactionFilter = method({
  name: 'eth_newPendingTransactionFilter',
  summary: 'Installs a filter of new pending transactions; eth_getFilterChanges polls it.',
  params: [],
  result: quantityResult,
  example: { params: [], result: '0x1' },
  handle: ({ chain }) => chain.filters.addPendingFilter(),
})

const uninstallFilter = method({
  name: 'eth_uninstallFilter',
  summary: 'Removes a filter; false when there is none of that id.',
  params: [param('id', quantity)],
  result: boolean,
  example: { params: ['0x1'], result: false },
  handle: ({ chain }, id) => chain.filters.remove(id),
})

const changes: Encoder<FilterChanges> = {
  name: 'changes',
  json: { type: 'array', items: { anyOf: [logShape.json, hash.json] } },
  encode: (found) =>
    found.kind === 'logs' ? found.logs.map(logShape.encode) : found.hashes.map(hash.encode),
}

/** A filter that is not there, where that is no error. */
function isUnknown({ filters }: Chain, profile: Profile, id: bigint): boolean {
  return profile.filters === 'lenient' && !filters.has(id)
}

const getFilterChanges = method({
  name: 'eth_getFilterChanges',
  summary: 'What a filter saw since the last poll: logs, or hashes of blocks or transactions.',
  params: [param('id', quantity)],
  result: nullable(changes),
  example: { params: ['0x1'] },
  handle: ({ chain, profile }, id) =>
    isUnknown(chain, profile, id) ? null : chain.filters.changes(id),
})

const getFilterLogs = method({
  name: 'eth_getFilterLogs',
  summary: 'All stored logs that a log filter matches.',
  params: [param('id', quantity)],
  result: nullable(logsShape),
  example: { params: ['0x1'] },
  handle: ({ chain, profile }, id) =>
    isUnknown(chain, profile, id) ? null : chain.filters.logs(id),
})

const getLogs = method({
  name: 'eth_getLogs',
  summary: 'Stored logs of a range of blocks, or of one block, by address and topics.',
  params: [optional('filter', logQuery, { addresses: [], topics: [] })],
  result: logsShape,
  example: { params: [EXAMPLE_QUERY], result: [] },
  handle: ({ chain, profile }, query) => {
    if (!profile.logsBeyondHead) refuseFuture(chain, query)
    return findLogs(chain, query)
  },
})

/** @throws {DevchainError} `INVALID_PARAMS` for a range that begins or ends after the newest block */
function refuseFuture({ state }: Chain, { from, to }: LogQuery): void {
  const head = headOf(state.tree).block.header.number
  const beyond = (reference: BlockReference | undefined): bigint | undefined =>
    reference?.kind === 'number' && reference.number > head ? reference.number : undefined
  const end = beyond(to)
  if (end !== undefined) {
    const message = `block range extends beyond current head block: toBlock is ${end}, the newest is ${head}`
    throw new DevchainError('INVALID_PARAMS', message)
  }
  const begin = beyond(from)
  if (begin === undefined) return
  const message = `invalid block range params: fromBlock is ${begin}, the newest block is ${head}`
  throw new DevchainError('INVALID_PARAMS', message)
}

export const filterMethods: readonly Method<MethodContext>[] = [
  newFilter,
  newBlockFilter,
  newPendingTransactionFilter,
  uninstallFilter,
  getFilterChanges,
  getFilterLogs,
  getLogs,
]
