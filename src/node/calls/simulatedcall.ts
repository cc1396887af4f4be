// A call of a simulated block: the message to run, and the transaction in the block.

import { larger, MAX_UINT64 } from '../../core/bigints.ts'
import { DevchainError, invalidParams } from '../../core/errors.ts'
import { EMPTY_BYTES, ZERO_ADDRESS } from '../../core/hex.ts'
import type { BlockEnvironment, Message } from '../../evm/executor.ts'
import type { BlockGas } from '../../protocol/blocks/receipt.ts'
import { TRANSACTION_GAS } from '../../protocol/fees.ts'
import { type Hardfork, isAtLeast } from '../../protocol/forks.ts'
import { blockRoom } from '../../protocol/stategas.ts'
import {
  type BlobFields,
  type Transaction,
  type TransactionType,
  type UnsignedTransaction,
  withoutSignature,
} from '../../protocol/transactions/transaction.ts'
import { nonceAt, type World } from '../../state/world.ts'
import { blobsOf, feesOf, requireChain, type TransactionRequest, typeByLists } from './request.ts'

interface CallPlace {
  readonly world: World
  /** Of the calls before it in the block. */
  readonly counted: BlockGas
  /** By the blocks before. */
  readonly spent: bigint
}

/** Gas that all calls without gas share in a simulation; all clients that pass the official tests use this value. */
const SHARED_GAS = 50_000_000n

const NO_BLOBS: BlobFields = { versionedHashes: [], maxFeePerBlobGas: 0n }

/**
 * Fills in the call. If nonces are not checked, a given one is shown but has no effect.
 * @throws {DevchainError} `SIMULATED_BLOCK_GAS_EXCEEDED` if too little gas is left for the call; `WRONG_CHAIN_ID`;
 *   `INVALID_PARAMS` for members that contradict each other
 */
export function prepare(
  environment: BlockEnvironment,
  { world, counted, spent }: CallPlace,
  request: TransactionRequest,
): { readonly message: Message; readonly transaction: Transaction } {
  const { chainId } = environment
  const { from = ZERO_ADDRESS, to = null, value = 0n, data = EMPTY_BYTES } = request
  const nonce = nonceAt(world, from)
  const type = typeOf(request, environment.hardfork)
  checkRequest(request, environment, counted)
  const used = larger(counted.execution, counted.state)
  const common = {
    to,
    value,
    data,
    gasLimit: request.gas ?? sharedGas(environment.gasLimit - used, SHARED_GAS - spent - used),
    ...feesOf(request, environment),
    accessList: request.accessList ?? [],
    authorizationList: request.authorizationList ?? [],
    blobs: blobsOf(request) ?? (type === 3 ? NO_BLOBS : undefined),
  }
  const unsigned: UnsignedTransaction = {
    ...common,
    type,
    chainId: type === 0 ? undefined : chainId,
    nonce: request.nonce ?? nonce,
  }
  return { message: { ...common, from, nonce }, transaction: withoutSignature(unsigned, from) }
}

function sharedGas(leftOfBlock: bigint, leftOfAll: bigint): bigint {
  if (leftOfBlock <= leftOfAll) return leftOfBlock
  if (leftOfAll >= TRANSACTION_GAS) return leftOfAll
  const left = leftOfAll > 0n ? leftOfAll : 0n
  const message = `gas limit of the simulation reached: calls without gas share ${SHARED_GAS}, of which ${left} are left, expected at least ${TRANSACTION_GAS}: set gas`
  throw new DevchainError('SIMULATED_BLOCK_GAS_EXCEEDED', message)
}

function checkRequest(
  { chainId, gas, nonce }: TransactionRequest,
  { chainId: expected, gasLimit, hardfork }: BlockEnvironment,
  counted: BlockGas,
): void {
  requireChain(chainId, expected)
  if (nonce !== undefined && nonce > MAX_UINT64) {
    throw invalidParams(`nonce: expected at most ${MAX_UINT64}, got ${nonce}`)
  }
  if (gas === undefined) return
  const { needed, left } = blockRoom(gas, gasLimit, counted, hardfork)
  if (needed <= left) return
  const message = `block gas limit reached: expected at most ${left} gas, the rest of ${gasLimit}, got ${gas}`
  throw new DevchainError('SIMULATED_BLOCK_GAS_EXCEEDED', message)
}

/** Type 2 by default where the fork has it. A blob fee alone makes no blob transaction. */
function typeOf(request: TransactionRequest, hardfork: Hardfork): TransactionType {
  const { gasPrice, accessList } = request
  const type = request.type ?? typeByLists({ ...request, blobs: blobsOf(request) })
  if (type !== undefined) return type as TransactionType
  if (gasPrice === undefined && isAtLeast(hardfork, 'london')) return 2
  return accessList === undefined ? 0 : 1
}
