// Reorgs: the body of devchain_reorg, anvil_reorg and anvil_rollback.
import { DevchainError, limitExceeded } from '../../core/errors.ts'
import type { Hash } from '../../core/hex.ts'
import type { MaybePromise } from '../../core/promises.ts'
import type { Cancellation } from '../../evm/cancellation.ts'
import type { Chain } from '../../node/chain/chain.ts'
import { headOf, transactionPlace } from '../../node/ledger/blocktree.ts'
import type { ChainState } from '../../node/ledger/chainstate.ts'
import {
  type BranchTransaction,
  MAX_BRANCH,
  type Reorganized,
  reorganize,
} from '../../node/mining/reorganize.ts'
import { pooledByHash } from '../../node/pool/pool.ts'
import { gasFor } from '../../node/sending/fill.ts'
import { signedBy } from '../../node/sending/sign.ts'
import { decodeSent } from '../../protocol/transactions/sidecar.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import { data, hash, list, quantityNumber } from '../../rpc/primitives.ts'
import type { Decoder } from '../../rpc/schema.ts'
import { either, isObject, isText, refined } from '../wire/decodeobject.ts'
import { transactionRequest } from '../wire/decodetransaction.ts'

/** Makes an item's transaction, once the state and the newest kept block are known. */
type Maker = (before: ChainState, kept: bigint) => BranchTransaction

/** A transaction for a new block: signed, by hash, or to be signed by one of the node's accounts. */
export type Item = (chain: Chain, cancellation: Cancellation) => MaybePromise<Maker>

/** The new blocks' transactions; a number means so many empty blocks. */
type Blocks = readonly (readonly Item[])[]

export const item: Decoder<Item> = either<Item, Item>(
  'raw transaction, hash or transaction',
  isObject,
  refined(transactionRequest, (request) => async (chain, cancellation) => {
    const gas = await gasFor(chain, request, cancellation)
    return () => (state, now) => signedBy('sender', state, { ...request, gas }, now)
  }),
  either<Item, Item>(
    'raw transaction or hash',
    (value) => isText(value) && value.length === 66,
    refined(hash, (known) => () => (before, kept) => () => knownTransaction(before, known, kept)),
    refined(data, (raw) => () => {
      const { transaction } = decodeSent(raw)
      return () => () => transaction
    }),
  ),
)

export const blocks: Decoder<Blocks> = either(
  'number of blocks, or list of lists of transactions',
  Array.isArray,
  list(list(item)),
  refined(quantityNumber, emptyBlocks),
)

export function emptyBlocks(count: number, path: string): Blocks {
  if (count <= MAX_BRANCH) return Array.from({ length: count }, () => [])
  throw limitExceeded(`${path}: expected at most ${MAX_BRANCH} new blocks, got ${count}`)
}

export interface Order {
  readonly depth: bigint
  readonly blocks: Blocks
  readonly requeue: boolean
}

export async function run(
  chain: Chain,
  { depth, blocks: wanted, requeue }: Order,
  cancellation: Cancellation,
): Promise<Reorganized> {
  const makers = await Promise.all(
    wanted.map((items) => Promise.all(items.map((prepare) => prepare(chain, cancellation)))),
  )
  return chain.update(
    (state, executor) => {
      const kept = headOf(state.tree).block.header.number - depth
      const bound = makers.map((each) => each.map((make) => make(state, kept)))
      const now = chain.environment.now()
      return reorganize(executor, state, { depth, blocks: bound, requeue, now })
    },
    { cancellation },
  )
}

/** A pending transaction, or one in a block to be replaced. */
function knownTransaction({ pool, tree }: ChainState, wanted: Hash, kept: bigint): Transaction {
  const place = transactionPlace(tree, wanted)
  const transaction =
    place?.record.block.transactions[place.index] ?? pooledByHash(pool, wanted)?.transaction
  if (transaction === undefined) {
    const message = `transaction ${wanted} not found: it neither waits nor is in a block`
    throw new DevchainError('NOT_FOUND', message)
  }
  const number = place?.record.block.header.number
  if (number === undefined || number > kept) return transaction
  const message = `already known: ${wanted} is in block ${number}, which stays`
  throw new DevchainError('ALREADY_KNOWN', message)
}
