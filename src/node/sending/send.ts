// Sends transactions: fill in, sign, add to the pool, and mine if due, in one command.
import { DevchainError } from '../../core/errors.ts'
import { EMPTY_BYTES, type Hash } from '../../core/hex.ts'
import type { Cancellation } from '../../evm/cancellation.ts'
import type { Executor } from '../../evm/executor.ts'
import { effectiveTip } from '../../protocol/fees.ts'
import { type BlobSidecar, decodeSent } from '../../protocol/transactions/sidecar.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import { nonceAt } from '../../state/world.ts'
import { keyWithPassphrase } from '../accounts/accounts.ts'
import { executionError } from '../calls/call.ts'
import type { TransactionRequest } from '../calls/request.ts'
import type { Chain } from '../chain/chain.ts'
import type { ExecutedTransaction } from '../ledger/blockrecord.ts'
import { headOf, transactionPlace } from '../ledger/blocktree.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import type { Change } from '../ledger/change.ts'
import { isInstant } from '../ledger/miningmode.ts'
import { nextBlockEnvironment } from '../mining/environment.ts'
import { type Mined, mineBlock, mineWaiting } from '../mining/miner.ts'
import { withBlobs } from '../pool/blobstore.ts'
import { type Conditions, checkConditions } from '../pool/conditions.ts'
import { paysBlobs, pooledByHash, pooledByNonce } from '../pool/pool.ts'
import { admit } from './admission.ts'
import { requireProven } from './blobs.ts'
import { gasFor, senderOf, withSender } from './fill.ts'
import { provenSidecar, type Signer, signedBy } from './sign.ts'

export interface SendResult {
  readonly hash: Hash
  readonly executed: ExecutedTransaction | undefined
}

export interface SignedSend {
  readonly transaction: Transaction
  /** Verified; undefined without blobs, or when they are no longer kept. */
  readonly sidecar?: BlobSidecar | undefined
  readonly conditions?: Conditions | undefined
}

type Sign = (state: ChainState, now: number) => SignedSend

/**
 * Concurrent requests get consecutive nonces. Under instant mining the block exists when the hash is returned.
 * @param signer `nobody`: as if the sender were impersonated
 * @throws {DevchainError} `UNKNOWN_ACCOUNT` or `ACCOUNT_LOCKED` where the sender signs; `INVALID_PARAMS` for
 *   contradictory members; `INVALID_BLOBS` for missing or invalid blobs; the errors of admission.ts; on a chain that
 *   throws on reverts `EXECUTION_REVERTED` or `EXECUTION_HALTED` with data `{hash, data}`: the mined transaction's hash
 *   and the returned hex
 */
export async function sendTransaction(
  chain: Chain,
  request: TransactionRequest,
  cancellation?: Cancellation,
  signer?: Signer,
): Promise<Hash> {
  return sendProven(chain, request, await provenSidecar(chain, request), cancellation, signer)
}

export async function sendProven(
  chain: Chain,
  given: TransactionRequest,
  sidecar: BlobSidecar | undefined,
  cancellation?: Cancellation,
  signer: Signer = 'sender',
): Promise<Hash> {
  const request = signer === 'sender' ? withSender(chain.state, given) : given
  const filled = { ...request, gas: await gasFor(chain, request, cancellation) }
  // signed in the command, because the nonce follows earlier requests
  const sign: Sign = (state, now) => ({
    transaction: signedBy(signer, state, filled, now),
    sidecar,
  })
  return submit(chain, sign, cancellation)
}

/** The passphrase opens the key even if the account is locked. Throws also `WRONG_PASSPHRASE`. */
export async function sendWithPassphrase(
  chain: Chain,
  request: TransactionRequest,
  passphrase: string,
  cancellation?: Cancellation,
): Promise<Hash> {
  const key = await keyWithPassphrase(chain.state.accounts, senderOf(request), passphrase)
  return sendTransaction(chain, request, cancellation, { key })
}

/**
 * Sends a signed transaction; type 3 comes with its blobs. Under instant mining the block exists when the hash is
 * returned.
 * @param conditions must hold in the next block, or the send fails; if a later block breaks them, the pool drops it
 * @throws {DevchainError} as `decodeSent` and `sendTransaction`; `CONDITIONS_NOT_MET`, and `LIMIT_EXCEEDED` for too
 *   many conditions
 */
export async function sendRawTransaction(
  chain: Chain,
  raw: Uint8Array,
  cancellation?: Cancellation,
  conditions?: Conditions,
): Promise<Hash> {
  if (conditions !== undefined) checkConditions(conditions)
  const sent = decodeSent(raw)
  await requireProven(chain, sent)
  return submit(chain, () => ({ ...sent, conditions }), cancellation)
}

async function submit(
  chain: Chain,
  sign: Sign,
  cancellation: Cancellation | undefined,
): Promise<Hash> {
  const { hash, executed } = await chain.update(
    (state, executor) => {
      const now = chain.environment.now()
      return entered(executor, state, sign(state, now), now)
    },
    { cancellation },
  )
  const failure = executed?.failure
  if (failure !== undefined && chain.state.config.options.onRevert === 'throw') {
    const { word, message, data } = executionError(failure, executed?.output ?? EMPTY_BYTES)
    throw new DevchainError(word, message, { hash, data })
  }
  return hash
}

export async function entered(
  executor: Executor,
  state: ChainState,
  { transaction, sidecar, conditions }: SignedSend,
  now: number,
): Promise<Change<SendResult>> {
  const { hash } = transaction
  const pool = admit(state, transaction, now, conditions)
  const blobs = sidecar ? withBlobs(state.blobs, transaction, sidecar) : state.blobs
  const waiting = { ...state, pool, blobs }
  if (!isInstant(state.mining)) return { state: waiting, value: { hash, executed: undefined } }
  const { state: after, dropped } = state.config.behaviour.minesUntilIncluded
    ? await mineUntilIncluded(executor, waiting, transaction, now)
    : await mineWaiting(executor, waiting, now)
  const refusal = dropped.find((each) => each.transaction.hash === hash)
  if (refusal !== undefined) throw refusal.error
  const place = transactionPlace(after.tree, hash)
  const executed = place?.record.executed[place.index]
  return { state: after, value: { hash, executed }, dropped }
}

/** Most empty blocks of one send. At an eighth less a block, a 256-bit base fee reaches 0 in 1,400. */
const MAX_EMPTY = 2_000

/** Adds empty blocks until the base fee admits `sent` and its sender's earlier transactions, if that helps. */
export async function mineUntilIncluded(
  executor: Executor,
  state: ChainState,
  sent: Transaction,
  now: number,
): Promise<Mined> {
  let mined = await mineWaiting(executor, state, now)
  for (let empty = 0; empty < MAX_EMPTY && isPricedOut(mined.state, sent, now); empty += 1) {
    const before = nextBlockEnvironment(mined.state, now)
    const next = await mineBlock(executor, mined.state, { now })
    const after = nextBlockEnvironment(next.state, now)
    const isCheaper = after.baseFee < before.baseFee || after.excessBlobGas < before.excessBlobGas
    if (!isCheaper) break
    const last = await mineWaiting(executor, next.state, now)
    mined = { ...last, dropped: [...mined.dropped, ...next.dropped, ...last.dropped] }
  }
  return mined
}

/** Whether only its prices keep a sender's first transaction out of the next block. */
function isPricedOut(state: ChainState, { hash, from }: Transaction, now: number): boolean {
  const { pool, tree } = state
  if (pooledByHash(pool, hash) === undefined) return false
  const first = pooledByNonce(pool, from, nonceAt(headOf(tree).world, from))?.transaction
  if (first === undefined) return false
  const block = nextBlockEnvironment(state, now)
  return effectiveTip(first, block.baseFee) < 0n || !paysBlobs(first, block)
}
