// Signs requests with an unlocked key, a passphrase's key, or for an impersonated account.
import { DevchainError } from '../../core/errors.ts'
import { type BlobSidecar, encodeSent } from '../../protocol/transactions/sidecar.ts'
import {
  impersonate,
  signTransaction,
  type Transaction,
} from '../../protocol/transactions/transaction.ts'
import { isImpersonated, keyOf, keyWithPassphrase, requireKey } from '../accounts/accounts.ts'
import type { TransactionRequest } from '../calls/request.ts'
import type { Chain } from '../chain/chain.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import { proveBlobs } from './blobs.ts'
import {
  checkRequest,
  filled,
  fillTransaction,
  type GasRequest,
  senderOf,
  withSender,
} from './fill.ts'

/** The unlocked or impersonated sender, nobody, or a key that was opened for the request. */
export type Signer = 'sender' | 'nobody' | { readonly key: Uint8Array }

export function signedBy(
  signer: Signer,
  state: ChainState,
  request: GasRequest,
  now: number,
): Transaction {
  const unsigned = filled(state, request, now)
  const from = senderOf(request)
  if (signer === 'nobody') return impersonate(unsigned, from)
  if (signer !== 'sender') return signTransaction(unsigned, signer.key)
  const key = keyOf(state.accounts, from, now)
  if (key === undefined && isImpersonated(state.accounts, from, now))
    return impersonate(unsigned, from)
  return signTransaction(unsigned, key ?? requireKey(state.accounts, from, now), from)
}

/**
 * Fills in and signs a transaction without sending it. Impersonated accounts cannot sign.
 * @param passphrase opens the key even if the account is locked; undefined needs an unlocked account
 * @returns its encoding for sending, with the blobs of the request
 * @throws {DevchainError} `UNKNOWN_ACCOUNT`, `ACCOUNT_LOCKED` or `WRONG_PASSPHRASE`, or `INVALID_PARAMS`
 */
export async function signRequest(
  chain: Chain,
  given: TransactionRequest,
  passphrase?: string,
): Promise<Uint8Array> {
  const { accounts } = chain.state
  const request = passphrase === undefined ? withSender(chain.state, given) : given
  const from = senderOf(request)
  const key =
    passphrase === undefined
      ? requireKey(accounts, from, chain.environment.now())
      : await keyWithPassphrase(accounts, from, passphrase)
  const transaction = signTransaction(await fillTransaction(chain, request), key)
  const sidecar = request.blobs?.sidecar
  if (sidecar === undefined) return transaction.raw
  await proveBlobs(chain, transaction, sidecar)
  return encodeSent(transaction, sidecar)
}

export async function provenSidecar(
  chain: Chain,
  request: TransactionRequest,
): Promise<BlobSidecar | undefined> {
  const { to = null, blobs } = request
  if (blobs === undefined) return undefined
  checkRequest(chain.state, request)
  const { sidecar, versionedHashes = [], maxFeePerBlobGas = 0n } = blobs
  if (sidecar === undefined) {
    const message =
      'blob transaction without its blobs: expected blobs with their commitments and proofs, which this node does not compute'
    throw new DevchainError('INVALID_BLOBS', message)
  }
  await proveBlobs(chain, { type: 3, to, blobs: { versionedHashes, maxFeePerBlobGas } }, sidecar)
  return sidecar
}
