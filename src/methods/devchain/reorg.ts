// Reorganizations on request: devchain_reorg, and anvil's two ways to ask for one.
import { DevchainError, printValue } from '../../core/errors.ts'
import type { Hash } from '../../core/hex.ts'
import type { IsAwaited } from '../../evm/executor.ts'
import type { TransactionRequest } from '../../node/calls/request.ts'
import type { Chain } from '../../node/chain/chain.ts'
import { headOf, transactionPlace } from '../../node/ledger/blocktree.ts'
import type { BlockRange } from '../../node/ledger/canonicalchain.ts'
import type { ChainState } from '../../node/ledger/chainstate.ts'
import {
  type BranchTransaction,
  MAX_BRANCH,
  type Reorganized,
  reorganize,
} from '../../node/mining/reorganize.ts'
import { pooledByHash } from '../../node/pool/pool.ts'
import { gasFor, signedBySender } from '../../node/sending/send.ts'
import { decodeSent } from '../../protocol/sidecar.ts'
import type { Transaction } from '../../protocol/transaction.ts'
import { type Method, optional, param } from '../../rpc/method.ts'
import {
  boolean,
  data,
  hash,
  list,
  nothing,
  quantity,
  quantityNumber,
} from '../../rpc/primitives.ts'
import type { Decoder, Encoder } from '../../rpc/schema.ts'
import { type MethodContext, method } from '../common/context.ts'
import { members, transactionRequest } from '../wire/decodeobject.ts'
import { field, shape } from '../wire/encodeobject.ts'

/** A transaction for a new block: signed, known by its hash, or to be signed by an account of the node. */
type Item =
  | { readonly kind: 'raw'; readonly raw: Uint8Array }
  | { readonly kind: 'hash'; readonly hash: Hash }
  | { readonly kind: 'request'; readonly request: TransactionRequest }

/** The new blocks with their transactions; a number stands for as many empty ones. */
type Blocks = readonly (readonly Item[])[]

interface Order {
  readonly depth: bigint
  readonly blocks: Blocks
  readonly requeue: boolean
}

const item: Decoder<Item> = {
  name: 'raw transaction, hash or transaction',
  json: { anyOf: [data.json, hash.json, transactionRequest.json] },
  decode: (value, path, notes) => {
    if (typeof value === 'object' && value !== null) {
      return { kind: 'request', request: transactionRequest.decode(value, path, notes) }
    }
    const isHash = typeof value === 'string' && value.length === 66
    if (isHash) return { kind: 'hash', hash: hash.decode(value, path) }
    return { kind: 'raw', raw: data.decode(value, path) }
  },
}

const blocksWithItems = list(list(item))

const blocks: Decoder<Blocks> = {
  name: 'number of blocks, or list of lists of transactions',
  json: { anyOf: [quantityNumber.json, blocksWithItems.json] },
  decode: (value, path, notes) =>
    Array.isArray(value)
      ? blocksWithItems.decode(value, path, notes)
      : emptyBlocks(quantityNumber.decode(value, path), path),
}

const orderMembers = members('reorganization', { depth: quantity, blocks, requeue: boolean })

/** `{depth, blocks, requeue}`, or the depth alone. */
const order: Decoder<Order> = {
  name: 'depth or {depth, blocks, requeue}',
  json: { anyOf: [quantity.json, orderMembers.json] },
  decode: (value, path, notes) => {
    const isObject = typeof value === 'object' && value !== null
    const given = isObject
      ? orderMembers.decode(value, path, notes)
      : { depth: quantity.decode(value, path) }
    if (given.depth === undefined) {
      const message = `${path}.depth: expected how many blocks are replaced, got nothing`
      throw new DevchainError('INVALID_PARAMS', message)
    }
    const { depth, requeue = true } = given
    return { depth, requeue, blocks: given.blocks ?? replacements(depth, `${path}.depth`) }
  },
}

const hashes = list(hash)

/** Not of the blocks themselves, which those of long runs would be made for. */
function hashesOf(blocks: BlockRange): Hash[] {
  return Array.from({ length: blocks.length }, (_, index) => blocks.hashAt(index))
}

const reorganized: Encoder<Reorganized> = shape<Reorganized>('reorganization', {
  removed: field(hashes, ({ removed }) => hashesOf(removed).reverse()),
  added: field(hashes, ({ added }) => hashesOf(added)),
  requeued: field(hashes, ({ requeued }) => requeued.map((transaction) => transaction.hash)),
})

const reorg = method({
  name: 'devchain_reorg',
  summary:
    'Replaces the last {depth} blocks by {blocks}: a number of empty ones, or lists of transactions (raw, hash, or request).',
  params: [param('order', order)],
  result: reorganized,
  example: { params: [{ depth: '0x2' }] },
  writes: 'chain',
  handle: ({ chain, caller }, given) => run(chain, given, caller.isWaiting),
})

/** anvil's pair of a transaction and the new block that it goes into, counted from 0. */
const placedItem: Decoder<readonly [Item, number]> = {
  name: '[transaction, index of a new block]',
  json: {
    type: 'array',
    items: { anyOf: [item.json, quantityNumber.json] },
    minItems: 2,
    maxItems: 2,
  },
  decode: (value, path, notes) => {
    if (!Array.isArray(value) || value.length !== 2) {
      const message = `${path}: expected [transaction, index of a new block], got ${printValue(value)}`
      throw new DevchainError('INVALID_PARAMS', message)
    }
    const given = item.decode(value[0], `${path}[0]`, notes)
    return [given, quantityNumber.decode(value[1], `${path}[1]`)]
  },
}

const anvilReorg = method({
  name: 'anvil_reorg',
  summary:
    'Replaces the last blocks by as many with the given transactions only; others of theirs are lost. See devchain_reorg.',
  params: [param('depth', quantity), optional('transactions', list(placedItem), [])],
  result: nothing,
  example: { params: ['0x1', []] },
  writes: 'chain',
  handle: async ({ chain, caller }, depth, placed) => {
    const empty = replacements(depth, 'depth')
    const outside = placed.find(([, index]) => index >= empty.length)
    if (outside !== undefined) {
      const message = `transactions: expected an index of a new block, 0 to ${empty.length - 1}, got ${outside[1]}`
      throw new DevchainError('INVALID_PARAMS', message)
    }
    const filled = empty.map((_, i) => placed.filter(([, at]) => at === i).map(([each]) => each))
    await run(chain, { depth, blocks: filled, requeue: false }, caller.isWaiting)
    return null
  },
})

const anvilRollback = method({
  name: 'anvil_rollback',
  summary: 'Takes the last blocks off the chain, one unless told; their transactions are lost.',
  params: [optional('depth', quantity, 1n)],
  result: nothing,
  example: { params: ['0x1'] },
  writes: 'chain',
  handle: async ({ chain, caller }, depth) => {
    await run(chain, { depth, blocks: [], requeue: false }, caller.isWaiting)
    return null
  },
})

async function run(
  chain: Chain,
  { depth, blocks: wanted, requeue }: Order,
  isAwaited: IsAwaited,
): Promise<Reorganized> {
  const makers = await Promise.all(
    wanted.map((items) => Promise.all(items.map((each) => maker(chain, each, isAwaited)))),
  )
  return chain.update(
    (state, executor) => {
      const kept = headOf(state.tree).block.header.number - depth
      const bound = makers.map((each) => each.map((make) => make(state, kept)))
      const now = chain.environment.now()
      return reorganize(executor, state, { depth, blocks: bound, requeue, now })
    },
    { isAwaited },
  )
}

/** How an item becomes a transaction, once it is settled which state is reorganized and which block stays the newest. */
type Maker = (before: ChainState, kept: bigint) => BranchTransaction

async function maker(chain: Chain, given: Item, isAwaited: IsAwaited): Promise<Maker> {
  if (given.kind === 'raw') {
    const { transaction } = decodeSent(given.raw)
    return () => () => transaction
  }
  if (given.kind === 'hash') {
    return (before, kept) => () => knownTransaction(before, given.hash, kept)
  }
  const gas = await gasFor(chain, given.request, isAwaited)
  return () => (state, now) => signedBySender(state, { ...given.request, gas }, now)
}

/** A transaction that waits, or that stands in a block to be replaced. */
function knownTransaction({ pool, tree }: ChainState, wanted: Hash, kept: bigint): Transaction {
  const place = transactionPlace(tree, wanted)
  const transaction =
    place?.record.block.transactions[place.index] ?? pooledByHash(pool, wanted)?.transaction
  if (transaction === undefined) {
    throw new DevchainError(
      'NOT_FOUND',
      `transaction ${wanted} not found: it neither waits nor is in a block`,
    )
  }
  const number = place?.record.block.header.number
  if (number === undefined || number > kept) return transaction
  const message = `already known: ${wanted} is in block ${number}, which stays`
  throw new DevchainError('ALREADY_KNOWN', message)
}

/** As many empty blocks as are replaced. */
function replacements(depth: bigint, path: string): Blocks {
  return emptyBlocks(Number(depth), path)
}

function emptyBlocks(count: number, path: string): Blocks {
  if (count <= MAX_BRANCH) return Array.from({ length: count }, () => [])
  const message = `${path}: expected at most ${MAX_BRANCH} new blocks, got ${count}`
  throw new DevchainError('LIMIT_EXCEEDED', message)
}

export const reorganizeMethods: readonly Method<MethodContext>[] = [
  reorg,
  anvilReorg,
  anvilRollback,
]
