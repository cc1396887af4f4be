// Replaces a waiting transaction with a new price or gas limit.
import { isDeepStrictEqual } from 'node:util'
import { DevchainError, invalidParams, printValue } from '../../core/errors.ts'
import { type Hash, hexFromBytes } from '../../core/hex.ts'
import type { Cancellation } from '../../evm/cancellation.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import type { TransactionRequest } from '../calls/request.ts'
import type { Chain } from '../chain/chain.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import { keptSidecar } from '../pool/blobstore.ts'
import { leastReplacement } from './admission.ts'
import { sentWithNonce } from './inclusion.ts'
import { sendProven } from './send.ts'

/** Undefined or 0n keeps the waiting transaction's value. */
interface FeeFields {
  /** Wei per gas; for types 2 to 4 the fee and the tip. */
  readonly gasPrice?: bigint | undefined
  readonly gasLimit?: bigint | undefined
}

/**
 * All else in the request must match the waiting transaction. Blob fees rise as far as they must.
 * @returns the new hash
 * @throws {DevchainError} `INVALID_PARAMS` for a request without sender or nonce, or that differs otherwise;
 *   `NOT_FOUND` when none waits; else as `sendTransaction`: `REPLACEMENT_UNDERPRICED` when it does not offer 10 % more
 */
export async function resend(
  chain: Chain,
  request: TransactionRequest,
  fees: FeeFields,
  cancellation?: Cancellation,
): Promise<Hash> {
  const waiting = waitingAs(chain.state, request)
  requireSame(waiting, request)
  const sidecar = keptSidecar(chain.state.blobs, waiting.hash)
  return sendProven(chain, replacementOf(waiting, fees), sidecar, cancellation)
}

function waitingAs(state: ChainState, { from, nonce }: TransactionRequest): Transaction {
  if (from === undefined) throw missing('from', "the sender's address")
  if (nonce === undefined) throw missing('nonce', 'the nonce of a pending transaction')
  const sent = sentWithNonce(state, from, nonce)
  if (sent?.waiting !== undefined) return sent.waiting
  const { block } = sent?.place?.record ?? {}
  const found = block?.transactions[sent?.place?.index ?? 0]
  const fate = found === undefined ? '' : `: ${found.hash} is in block ${block?.header.number}`
  const message = `transaction not found: none of ${from} with nonce ${nonce} is pending${fate}`
  throw new DevchainError('NOT_FOUND', message)
}

function requireSame(waiting: Transaction, request: TransactionRequest): void {
  const has = membersOf({ ...waiting, gas: waiting.gasLimit, gasPrice: waiting.maxFeePerGas })
  const wrong = Object.entries(membersOf(request)).find(
    ([name, given]) => given !== undefined && !isDeepStrictEqual(given, has[name]),
  )
  if (wrong === undefined) return
  const [name, given] = wrong
  const message = `transaction.${name}: expected ${printValue(has[name])}, as in the pending transaction ${waiting.hash} with nonce ${waiting.nonce}, got ${printValue(given)}`
  throw invalidParams(message)
}

function membersOf({ data, blobs, ...others }: TransactionRequest): Record<string, unknown> {
  return {
    ...others,
    data: data && hexFromBytes(data),
    maxFeePerBlobGas: blobs?.maxFeePerBlobGas,
    blobVersionedHashes: blobs?.versionedHashes,
  }
}

function replacementOf(
  waiting: Transaction,
  { gasPrice = 0n, gasLimit = 0n }: FeeFields,
): TransactionRequest {
  const { from, type, to, value, data, nonce, blobs } = waiting
  const fee = gasPrice === 0n ? waiting.maxFeePerGas : gasPrice
  const tip = gasPrice === 0n ? waiting.maxPriorityFeePerGas : gasPrice
  const fees = type < 2 ? { gasPrice: fee } : { maxFeePerGas: fee, maxPriorityFeePerGas: tip }
  return {
    ...fees,
    from,
    type,
    to,
    value,
    data,
    nonce,
    gas: gasLimit === 0n ? waiting.gasLimit : gasLimit,
    accessList: type === 0 ? undefined : waiting.accessList,
    authorizationList: type === 4 ? waiting.authorizationList : undefined,
    blobs: blobs && { ...blobs, maxFeePerBlobGas: leastReplacement(blobs.maxFeePerBlobGas) },
  }
}

function missing(member: string, expected: string): DevchainError {
  return invalidParams(`transaction.${member}: expected ${expected}, got nothing`)
}
