// The type of transaction that a call would be, by the members that it has.
import type { Hardfork } from '../../protocol/forks.ts'
import type { TransactionType } from '../../protocol/transaction.ts'
import { noAuthorizations, requireType } from '../../protocol/validity.ts'
import type { CallRequest } from './call.ts'

/**
 * @throws {DevchainError} `TYPE_NOT_SUPPORTED` for members of a type that came with a later fork,
 *   `EMPTY_AUTHORIZATION_LIST` for one that no transaction could have (EIP-7702)
 */
export function requireTypeOfCall(request: CallRequest, hardfork: Hardfork): void {
  requireType({ type: typeOfCall(request) }, hardfork)
  if (request.authorizationList?.length === 0) throw noAuthorizations()
}

/** The type that alone has the members of a request. */
function typeOfCall(request: CallRequest): TransactionType {
  const { maxFeePerGas, maxPriorityFeePerGas, accessList, authorizationList, blobs } = request
  if (authorizationList !== undefined) return 4
  if (blobs !== undefined) return 3
  if (maxFeePerGas !== undefined || maxPriorityFeePerGas !== undefined) return 2
  return accessList === undefined ? 0 : 1
}
