// Call and transaction requests, and the checks and defaults that follow from them.
import { DevchainError, type ErrorFacts } from '../../core/errors.ts'
import type { Address, Hash } from '../../core/hex.ts'
import type { BlockEnvironment, Message } from '../../evm/executor.ts'
import type { Hardfork } from '../../protocol/forks.ts'
import type { BlobSidecar } from '../../protocol/transactions/sidecar.ts'
import type {
  AccessListEntry,
  Authorization,
  BlobFields,
  TransactionType,
} from '../../protocol/transactions/transaction.ts'
import { requireType } from '../../protocol/transactions/transactionrules.ts'
import type { Behaviour } from '../ledger/behaviour.ts'

/** A message to run. Amounts in wei. */
export interface CallRequest {
  /** Defaults to the zero address. */
  readonly from?: Address | undefined
  /** Undefined or null: a contract creation. */
  readonly to?: Address | null | undefined
  readonly gas?: bigint | undefined
  /** Wei per gas. Without a price, or with zero, the run is free. */
  readonly gasPrice?: bigint | undefined
  readonly maxFeePerGas?: bigint | undefined
  readonly maxPriorityFeePerGas?: bigint | undefined
  readonly value?: bigint | undefined
  readonly data?: Uint8Array | undefined
  readonly nonce?: bigint | undefined
  readonly chainId?: bigint | undefined
  readonly accessList?: readonly AccessListEntry[] | undefined
  readonly authorizationList?: readonly Authorization[] | undefined
  readonly blobs?: BlobRequest | undefined
}

export interface BlobRequest {
  /** Undefined for clients that ask for the gas before they know the hashes. */
  readonly versionedHashes?: readonly Hash[] | undefined
  readonly maxFeePerBlobGas?: bigint | undefined
  readonly sidecar?: BlobSidecar | undefined
}

/** A transaction whose missing fields the node fills in. Amounts in wei. */
export interface TransactionRequest extends CallRequest {
  readonly type?: number | undefined
}

export function blobsOf({ blobs }: CallRequest): BlobFields | undefined {
  if (blobs?.versionedHashes === undefined) return undefined
  return { versionedHashes: blobs.versionedHashes, maxFeePerBlobGas: blobs.maxFeePerBlobGas ?? 0n }
}

export function requireChain(given: bigint | undefined, chainId: bigint): void {
  if (given === undefined || given === chainId) return
  const message = `wrong chain id: expected ${chainId}, got ${given}`
  throw new DevchainError('WRONG_CHAIN_ID', message, undefined, { given, chainId })
}

/** Drops the EIP-1559 fees if `gasPrice` takes precedence. */
export function withOnePrice<R extends CallRequest>(
  request: R,
  { refusesBothPrices }: Pick<Behaviour, 'refusesBothPrices'>,
): R {
  const { gasPrice, maxFeePerGas, maxPriorityFeePerGas } = request
  const hasFees = maxFeePerGas !== undefined || maxPriorityFeePerGas !== undefined
  if (refusesBothPrices || gasPrice === undefined || !hasFees) return request
  return { ...request, maxFeePerGas: undefined, maxPriorityFeePerGas: undefined }
}

export function requirePurpose({ to, data }: Pick<CallRequest, 'to' | 'data'>): void {
  if ((to !== undefined && to !== null) || (data !== undefined && data.length > 0)) return
  const message = 'expected `to`, or `data` with the code of a contract to create: got neither'
  throw new DevchainError('INVALID_PARAMS', message, undefined, { creates: 'nothing' })
}

export function bothKinds({ maxFeePerGas }: Pick<CallRequest, 'maxFeePerGas'>): ErrorFacts {
  return { both: maxFeePerGas === undefined ? 'maxPriorityFeePerGas' : 'maxFeePerGas' }
}

export function feesOf(
  { gasPrice, maxFeePerGas, maxPriorityFeePerGas }: CallRequest,
  { baseFee }: Pick<BlockEnvironment, 'baseFee'>,
): Pick<Message, 'maxFeePerGas' | 'maxPriorityFeePerGas'> {
  if (gasPrice !== undefined) {
    if (maxFeePerGas !== undefined || maxPriorityFeePerGas !== undefined) {
      const message = `expected either gasPrice or maxFeePerGas and maxPriorityFeePerGas, got gasPrice ${gasPrice} and others`
      throw new DevchainError('INVALID_PARAMS', message, undefined, bothKinds({ maxFeePerGas }))
    }
    return { maxFeePerGas: gasPrice, maxPriorityFeePerGas: gasPrice }
  }
  const tip = maxPriorityFeePerGas ?? 0n
  const highest = maxFeePerGas ?? (tip === 0n ? 0n : baseFee + tip)
  return { maxFeePerGas: highest, maxPriorityFeePerGas: tip }
}

/** @throws {DevchainError} `TYPE_NOT_SUPPORTED` for members of a later fork's type */
export function requireTypeOfCall(request: CallRequest, hardfork: Hardfork): void {
  requireType({ type: typeByMembers(request) }, hardfork)
}

export function typeByMembers(request: CallRequest): TransactionType {
  const { maxFeePerGas, maxPriorityFeePerGas, accessList } = request
  const listed = typeByLists(request)
  if (listed !== undefined) return listed
  if (maxFeePerGas !== undefined || maxPriorityFeePerGas !== undefined) return 2
  return accessList === undefined ? 0 : 1
}

export function typeByLists({
  authorizationList,
  blobs,
}: Pick<TransactionRequest, 'authorizationList' | 'blobs'>): 3 | 4 | undefined {
  if (authorizationList !== undefined) return 4
  return blobs === undefined ? undefined : 3
}
