// ots: the methods of the Otterscan explorer, in level 8 of its API. Quantities are hex
// everywhere; where serving nodes differ (logs in receipts, `value` null in calls that move none), the
// shorter form is used, as the explorer requests whole receipts when it needs them.

import type { Address } from '../../core/hex.ts'
import { creationOf, findAppearances } from '../../node/calls/appearances.ts'
import { TraceBudget } from '../../node/calls/replay.ts'
import type { Chain } from '../../node/chain/chain.ts'
import { stateAt } from '../../node/chain/lookup.ts'
import { executedAt, headOf, type TransactionPlace } from '../../node/ledger/blocktree.ts'
import { belowNumber } from '../../node/ledger/upstream.ts'
import { sentWithNonce } from '../../node/sending/inclusion.ts'
import { param } from '../../rpc/method.ts'
import { address, boolean, hash, nullable, quantity, quantityNumber } from '../../rpc/primitives.ts'
import { invalid } from '../../rpc/schema.ts'
import { codeAt } from '../../state/world.ts'
import { type MethodContext, type Methods, method } from '../common/context.ts'
import { blockOrLatest } from '../wire/decodeblock.ts'
import { creation, type SearchPage, searchPage } from '../wire/encodeexplorer.ts'
import { plainInteger } from '../wire/encodeobject.ts'
import { ACCOUNT } from '../wire/examples.ts'

/** The API level, which the explorer requests first. */
const LEVEL = 8

/** Entries per page, plus the rest of the last block. */
const MAX_SIZE = 1_000

/** An account's transactions before a block, newest first. Block 0 means the one after the newest. */
export async function searchBefore(
  { chain, options }: MethodContext,
  account: Address,
  block: bigint,
  size: number,
): Promise<SearchPage> {
  const head = headOf(chain.state.tree).block.header.number
  const isFirst = block === 0n || block > head
  const from = isFirst ? head : block - 1n
  const search = { from, step: -1n, count: sizeOf(size) } as const
  const budget = new TraceBudget(options.traceLimit)
  const { places, isComplete } = await findAppearances(chain, account, search, budget)
  return { places: withBelowNumber(chain, places), isFirst, isLast: isComplete }
}

/** An account's transactions after a block, newest first. Block 0 means the beginning. */
export async function searchAfter(
  { chain, options }: MethodContext,
  account: Address,
  block: bigint,
  size: number,
): Promise<SearchPage> {
  const isLast = block === 0n
  const search = { from: isLast ? 0n : block + 1n, step: 1n, count: sizeOf(size) } as const
  const budget = new TraceBudget(options.traceLimit)
  const { places, isComplete } = await findAppearances(chain, account, search, budget)
  return { places: withBelowNumber(chain, places).toReversed(), isFirst: isComplete, isLast }
}

/** Adds the block members that the forked network's receipts have. */
function withBelowNumber(
  { state }: Chain,
  places: readonly TransactionPlace[],
): SearchPage['places'] {
  const { upstream } = state.config
  return places.map((place) => ({
    ...place,
    belowNumber: belowNumber(upstream, place.record.block.header),
  }))
}

function sizeOf(size: number): number {
  if (size > 0 && size <= MAX_SIZE) return size
  throw invalid('size', `1 to ${MAX_SIZE} transactions a page`, size)
}

export const otsAccountMethods: Methods = [
  method('ots_getApiLevel', {
    summary: 'Returns the supported level of the Otterscan API, as a JSON number.',
    result: plainInteger,
    example: { result: LEVEL },
    handle: () => BigInt(LEVEL),
  }),
  method('ots_hasCode', {
    summary: 'Returns whether an account has code.',
    params: [param('address', address), blockOrLatest],
    result: boolean,
    example: { result: false },
    onFork: 'here',
    handle: async ({ chain, caller }, account, block) =>
      codeAt((await stateAt(chain, block, caller)).world, account).length > 0,
  }),
  method('ots_getContractCreator', {
    summary: 'Returns who created a contract, in which transaction; null if no transaction did.',
    params: [param('address', address)],
    result: nullable(creation),
    example: { result: null },
    onFork: 'creator',
    handle: async ({ chain, options }, contract) => {
      const found = await creationOf(chain, contract, new TraceBudget(options.traceLimit))
      if (found === undefined) return null
      return { hash: executedAt(found.place).transaction.hash, creator: found.creator }
    },
  }),
  method('ots_searchTransactionsBefore', {
    summary: "Returns an account's transactions before a block, newest first; 0 for all.",
    params: [param('address', address), param('block', quantity), param('size', quantityNumber)],
    result: searchPage,
    example: {
      params: [ACCOUNT, 0, 25],
      result: { txs: [], receipts: [], firstPage: true, lastPage: true },
    },
    onFork: 'searchBefore',
    handle: searchBefore,
  }),
  method('ots_searchTransactionsAfter', {
    summary: "Returns an account's transactions after a block, newest first; 0 for all.",
    params: [param('address', address), param('block', quantity), param('size', quantityNumber)],
    result: searchPage,
    example: {
      params: [ACCOUNT, 0, 25],
      result: { txs: [], receipts: [], firstPage: true, lastPage: true },
    },
    onFork: 'searchAfter',
    handle: searchAfter,
  }),
  method('ots_getTransactionBySenderAndNonce', {
    summary: 'Returns the hash of a mined transaction by sender and nonce; null if none.',
    params: [param('sender', address), param('nonce', quantity)],
    result: nullable(hash),
    example: { params: [ACCOUNT, 0], result: null },
    onFork: 'sent',
    handle: ({ chain }, sender, nonce) => {
      const place = sentWithNonce(chain.state, sender, nonce)?.place
      return place === undefined ? null : executedAt(place).transaction.hash
    },
  }),
]
