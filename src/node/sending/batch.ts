// Sends batches of calls (EIP-5792): each call becomes a transaction, in order.
import { keccakHash } from '../../core/crypto/crypto.ts'
import { DevchainError, printValue } from '../../core/errors.ts'
import { type Address, bytesFromHex, concatBytes, type Hash } from '../../core/hex.ts'
import { yielder } from '../../core/yield.ts'
import type { Cancellation } from '../../evm/cancellation.ts'
import type { Executor } from '../../evm/executor.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import type { World } from '../../state/world.ts'
import { addresses, isImpersonated, keyOf } from '../accounts/accounts.ts'
import { call, executionError } from '../calls/call.ts'
import type { TransactionRequest } from '../calls/request.ts'
import type { Chain } from '../chain/chain.ts'
import { executedAt, headOf, type TransactionPlace, transactionPlace } from '../ledger/blocktree.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import type { Change, DroppedTransaction } from '../ledger/change.ts'
import { describeMining, isInstant } from '../ledger/miningmode.ts'
import { pendingReference } from '../ledger/references.ts'
import { mineGiven, mineWaiting } from '../mining/miner.ts'
import { batchById, type CallBatch, MOST_CALLS, withBatch } from '../pool/batches.ts'
import { pooledByHash } from '../pool/pool.ts'
import { admit } from './admission.ts'
import { estimatedGas, type GasRequest, senderOf } from './fill.ts'
import { entered } from './send.ts'
import { signedBy } from './sign.ts'

export interface BatchOrder {
  /** Derived from the transactions by default. */
  readonly id: string | undefined
  readonly from: Address | undefined
  readonly chainId: bigint | undefined
  readonly isAtomic: boolean
  readonly calls: readonly Pick<TransactionRequest, 'to' | 'data' | 'value'>[]
}

export interface BatchStatus {
  readonly batch: CallBatch
  /** 100 pending, 200 confirmed, 400 dropped, 500 reverted, 600 partly reverted (EIP-5792). */
  readonly code: 100 | 200 | 400 | 500 | 600
  readonly places: readonly TransactionPlace[]
}

/**
 * Sends calls of an unlocked or impersonated account, each with its gas estimated after the calls before it. Instant
 * mining mines them before this returns. An atomic batch is one block, refused if a call fails. Otherwise each call is
 * a block, and the first failure stops the rest. If the pool refuses a call, none is sent.
 * @returns the id of the batch
 * @throws {DevchainError} `UNAUTHORIZED`, `UNSUPPORTED_CHAIN`, `DUPLICATE_BATCH`, `BATCH_TOO_LARGE`,
 *   `ATOMICITY_NOT_SUPPORTED`; where a call of an atomic batch fails, as `estimateGas`; and as `sendTransaction`
 * @see https://eips.ethereum.org/EIPS/eip-5792
 */
export async function sendBatch(
  chain: Chain,
  order: BatchOrder,
  cancellation: Cancellation,
): Promise<string> {
  const from = order.from ?? addresses(chain.state.accounts)[0]
  checkOrder(chain, chain.state, { ...order, from })
  const calls = order.calls.map((each) => ({ ...each, from }))
  const requests = await withGas(chain, calls, order.isAtomic, cancellation)
  return chain.update(
    async (state, executor) => {
      checkOrder(chain, state, { ...order, from })
      const now = chain.environment.now()
      const send = order.isAtomic ? sendTogether : sendInTurn
      const { state: after, value: hashes, dropped } = await send(executor, state, requests, now)
      const id = order.id ?? keccakHash(concatBytes(...hashes.map(bytesFromHex)))
      const { isAtomic } = order
      const batch = { id, chainId: state.config.chainId, size: requests.length, isAtomic, hashes }
      return { state: { ...after, batches: withBatch(after.batches, batch) }, value: id, dropped }
    },
    { cancellation },
  )
}

export function batchStatus({ batches, tree, pool }: ChainState, id: string): BatchStatus {
  const batch = batchById(batches, id)
  if (batch === undefined) {
    const message = `unknown batch of calls: expected an id of wallet_sendCalls, got ${printValue(id)}`
    throw new DevchainError('UNKNOWN_BATCH', message)
  }
  const places = batch.hashes.flatMap((hash) => transactionPlace(tree, hash) ?? [])
  const succeeded = places.filter((place) => executedAt(place).failure === undefined).length
  const codeOf = (): BatchStatus['code'] => {
    if (batch.hashes.some((hash) => pooledByHash(pool, hash) !== undefined)) return 100
    if (succeeded === batch.size) return 200
    if (places.length === 0) return 400
    return succeeded === 0 ? 500 : 600
  }
  return { batch, code: codeOf(), places }
}

export function requireOwn({ state, environment }: Chain, account: Address): void {
  const now = environment.now()
  if (keyOf(state.accounts, account, now) !== undefined) return
  if (isImpersonated(state.accounts, account, now)) return
  const message = `unauthorized: expected an unlocked or impersonated account, got ${account}`
  throw new DevchainError('UNAUTHORIZED', message)
}

function checkOrder(chain: Chain, state: ChainState, order: BatchOrder): void {
  const { id, chainId, calls, isAtomic } = order
  const { config, batches, mining } = state
  if (chainId !== undefined && chainId !== config.chainId) {
    const message = `unsupported chain id: expected ${config.chainId}, got ${chainId}`
    throw new DevchainError('UNSUPPORTED_CHAIN', message)
  }
  requireOwn(chain, senderOf(order))
  if (calls.length > MOST_CALLS) {
    const message = `batch too large: expected at most ${MOST_CALLS} calls, got ${calls.length}`
    throw new DevchainError('BATCH_TOO_LARGE', message)
  }
  if (id !== undefined && batchById(batches, id) !== undefined) {
    const message = `duplicate id: batch ${printValue(id)} exists already`
    throw new DevchainError('DUPLICATE_BATCH', message)
  }
  if (isAtomic && calls.length > 1 && !isInstant(state.mining)) {
    const message = `atomicity not supported: atomic calls need instant mining, and blocks are mined ${describeMining(mining)}`
    throw new DevchainError('ATOMICITY_NOT_SUPPORTED', message)
  }
}

/** Runs before the command: inside it an estimate would deadlock. */
async function withGas(
  chain: Chain,
  calls: readonly TransactionRequest[],
  isAtomic: boolean,
  cancellation: Cancellation,
): Promise<readonly GasRequest[]> {
  const isStrict = isAtomic || chain.state.config.options.onRevert === 'throw'
  const failing = isStrict ? 'refused' : 'sent'
  const requests: GasRequest[] = []
  let world: World | undefined
  const yieldIfDue = yielder()
  for (const request of calls) {
    const options = { world, cancellation }
    const gas = await estimatedGas(chain, request, failing, options)
    requests.push({ ...request, gas })
    if (requests.length === calls.length) break
    world = (await call(chain, request, pendingReference, options)).world
    await yieldIfDue()
  }
  return requests
}

type Send = (
  executor: Executor,
  state: ChainState,
  requests: readonly GasRequest[],
  now: number,
) => Promise<Change<readonly Hash[]>>

/** Under instant mining it stops after the first failure. */
const sendInTurn: Send = async (executor, given, requests, now) => {
  let state = given
  const hashes: Hash[] = []
  const dropped: DroppedTransaction[] = []
  for (const request of requests) {
    const transaction = signedBy('sender', state, request, now)
    const change = await entered(executor, state, { transaction }, now)
    state = change.state
    hashes.push(change.value.hash)
    dropped.push(...(change.dropped ?? []))
    if (change.value.executed?.failure !== undefined) break
  }
  return { state, value: hashes, dropped }
}

const sendTogether: Send = async (executor, state, requests, now) => {
  if (!isInstant(state.mining)) return sendInTurn(executor, state, requests, now)
  let { pool } = state
  const transactions: Transaction[] = []
  for (const request of requests) {
    const waiting = { ...state, pool }
    const transaction = signedBy('sender', waiting, request, now)
    pool = admit(waiting, transaction, now)
    transactions.push(transaction)
  }
  const mined = await mineGiven(executor, { ...state, pool }, transactions, { now })
  for (const { failure, output } of headOf(mined.state.tree).executed) {
    if (failure !== undefined) throw executionError(failure, output)
  }
  // the batch may fill a nonce gap of waiting transactions
  const { state: after, dropped } = await mineWaiting(executor, mined.state, now)
  return { state: after, value: transactions.map(({ hash }) => hash), dropped }
}
