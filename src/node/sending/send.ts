// Sending: a request is filled in, signed and put into the pool in one step, and mined at once where that is due.

import { DevchainError } from '../../core/errors.ts'
import { EMPTY_BYTES, type Hash } from '../../core/hex.ts'
import type { Executor, IsAwaited } from '../../evm/executor.ts'
import { type BlobSidecar, decodeSent } from '../../protocol/transactions/sidecar.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import { keyWithPassphrase } from '../accounts/accounts.ts'
import { executionError } from '../calls/call.ts'
import type { TransactionRequest } from '../calls/request.ts'
import type { Chain } from '../chain/chain.ts'
import type { ExecutedTransaction } from '../ledger/blockrecord.ts'
import { transactionPlace } from '../ledger/blocktree.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import type { Change } from '../ledger/change.ts'
import { isInstant } from '../ledger/miningmode.ts'
import { mineWaiting } from '../mining/miner.ts'
import { mineUntilIncluded } from '../mining/untilincluded.ts'
import { withBlobs } from '../pool/blobstore.ts'
import { type Conditions, checkConditions } from '../pool/conditions.ts'
import { admit } from './admission.ts'
import { requireProven } from './blobs.ts'
import { type GasRequest, gasFor, senderOf, withSender } from './fill.ts'
import { provenSidecar, type Signer, signedBy } from './sign.ts'

export interface Sent {
  readonly hash: Hash
  readonly executed: ExecutedTransaction | undefined
}

interface Attachments {
  /** Proven; undefined when it has no blobs, or they are no longer kept. */
  readonly sidecar?: BlobSidecar | undefined
  readonly conditions?: Conditions | undefined
}

/** A request with its gas: it becomes a transaction when its turn has come, as its nonce follows on those before it. */
interface Prepared extends Attachments {
  readonly request: GasRequest
  readonly signer: Signer
}

export interface Signed extends Attachments {
  readonly transaction: Transaction
}

/**
 * Fills in, signs and sends a transaction. Requests made in parallel get consecutive nonces. Under instant mining the block
 * is in place when the hash is returned.
 * @param signer `nobody`: as though the sender were impersonated
 * @throws {DevchainError} `UNKNOWN_ACCOUNT` or `ACCOUNT_LOCKED` where the sender signs; `INVALID_PARAMS` for members that do
 *   not go together; `INVALID_BLOBS` for blobs that are missing or not proven; the words of admission.ts; on a chain that
 *   throws on reverts `EXECUTION_REVERTED` or `EXECUTION_HALTED` with data `{hash, data}`: the hash of the mined
 *   transaction, and the returned bytes in hex
 */
export async function sendTransaction(
  chain: Chain,
  request: TransactionRequest,
  isAwaited?: IsAwaited,
  signer?: Signer,
): Promise<Hash> {
  return sendProven(chain, request, await provenSidecar(chain, request), isAwaited, signer)
}

/** As `sendTransaction`, with blobs that are proven to be those of the request's hashes; undefined where it has none. */
export async function sendProven(
  chain: Chain,
  given: TransactionRequest,
  sidecar: BlobSidecar | undefined,
  isAwaited?: IsAwaited,
  signer: Signer = 'sender',
): Promise<Hash> {
  const request = signer === 'sender' ? withSender(chain.state, given) : given
  const gas = await gasFor(chain, request, isAwaited)
  return submit(chain, { request: { ...request, gas }, signer, sidecar }, isAwaited)
}

/** As `sendTransaction`, with the key that the passphrase opens, whether the account is locked or not. Throws also `WRONG_PASSPHRASE`. */
export async function sendWithPassphrase(
  chain: Chain,
  request: TransactionRequest,
  passphrase: string,
  isAwaited?: IsAwaited,
): Promise<Hash> {
  const key = await keyWithPassphrase(chain.state.accounts, senderOf(request), passphrase)
  return sendTransaction(chain, request, isAwaited, { key })
}

/**
 * Sends a transaction that the caller has signed, one of type 3 with its blobs. Under instant mining the block is in
 * place when the hash is returned.
 * @param conditions where the next block does not keep them, the transaction is refused; where a later one does not, it
 *   leaves the pool
 * @throws {DevchainError} as `decodeSent` and `sendTransaction`; `CONDITIONS_NOT_MET`, and `LIMIT_EXCEEDED` for conditions
 *   that are too many
 */
export async function sendRawTransaction(
  chain: Chain,
  raw: Uint8Array,
  isAwaited?: IsAwaited,
  conditions?: Conditions,
): Promise<Hash> {
  if (conditions !== undefined) checkConditions(conditions)
  const sent = decodeSent(raw)
  await requireProven(chain, sent)
  return submit(chain, { ...sent, conditions }, isAwaited)
}

/** @param isAwaited false once its caller is gone: what still runs is given up, and the transaction is nowhere */
async function submit(
  chain: Chain,
  given: Prepared | Signed,
  isAwaited: IsAwaited | undefined,
): Promise<Hash> {
  const { hash, executed } = await chain.update(
    (state, executor) => {
      const now = chain.environment.now()
      const transaction =
        'transaction' in given
          ? given.transaction
          : signedBy(given.signer, state, given.request, now)
      return entered(executor, state, { ...given, transaction }, now)
    },
    { isAwaited },
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
  { transaction, sidecar, conditions }: Signed,
  now: number,
): Promise<Change<Sent>> {
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
