// Makes a transaction of a request and fills in gas, nonce, type and fees.
import { larger, smaller } from '../../core/bigints.ts'
import { DevchainError, invalidParams, isInterruption, printValue } from '../../core/errors.ts'
import { type Address, EMPTY_BYTES } from '../../core/hex.ts'
import type { Cancellation } from '../../evm/cancellation.ts'
import { isAtLeast } from '../../protocol/forks.ts'
import type {
  BlobFields,
  TransactionType,
  UnsignedTransaction,
} from '../../protocol/transactions/transaction.ts'
import { requireBlobs } from '../../protocol/transactions/transactionrules.ts'
import { addresses } from '../accounts/accounts.ts'
import type { CallOptions } from '../calls/callcontext.ts'
import { estimateGas } from '../calls/estimate.ts'
import {
  bothKinds,
  requirePurpose,
  type TransactionRequest,
  typeByLists,
  typeByMembers,
  withOnePrice,
} from '../calls/request.ts'
import type { Chain } from '../chain/chain.ts'
import { headOf } from '../ledger/blocktree.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import { pendingReference } from '../ledger/references.ts'
import { type NextRules, nextBlobFee, nextRules } from '../mining/environment.ts'
import { transactionGasCap, usualGas } from '../mining/limits.ts'
import { nextNonce } from '../pool/pool.ts'
import { gasPrice as gasPriceOffered } from './gasoracle.ts'

export type GasRequest = TransactionRequest & { readonly gas: bigint }

type Fees = Pick<UnsignedTransaction, 'type' | 'maxFeePerGas' | 'maxPriorityFeePerGas'>

export async function fillTransaction(
  chain: Chain,
  request: TransactionRequest,
): Promise<UnsignedTransaction> {
  const gas = await gasFor(chain, request)
  return filled(chain.state, { ...request, gas }, chain.environment.now())
}

/** Runs before the command: inside it an estimate would deadlock. */
export async function gasFor(
  chain: Chain,
  request: TransactionRequest,
  cancellation?: Cancellation,
): Promise<bigint> {
  if (request.gas !== undefined) return request.gas
  const { hardfork } = nextRules(chain.state, chain.environment.now())
  const usual = usualGas(chain.state.settings, hardfork)
  if (usual !== 'estimate') return smaller(usual, mostGas(chain))
  const failing = chain.state.config.behaviour.refusesFailingEstimates ? 'refused' : 'sent'
  return estimatedGas(chain, request, failing, { cancellation })
}

/** @param failing `sent` gives a failing request all the gas it may have */
export async function estimatedGas(
  chain: Chain,
  request: TransactionRequest,
  failing: 'refused' | 'sent',
  options: CallOptions,
): Promise<bigint> {
  try {
    return await estimateGas(chain, request, pendingReference, options)
  } catch (error) {
    const isRefusal = error instanceof DevchainError && !isInterruption(error)
    if (failing === 'refused' || !isRefusal) throw error
    return mostGas(chain)
  }
}

function mostGas({ state, environment }: Chain): bigint {
  const { blockGasLimit } = state.settings
  const { hardfork } = nextRules(state, environment.now())
  return smaller(blockGasLimit, transactionGasCap(state.config, hardfork) ?? blockGasLimit)
}

/** The nonce follows the sender's waiting transactions. */
export function filled(state: ChainState, given: GasRequest, now: number): UnsignedTransaction {
  const { config, pool, tree } = state
  const request = withOnePrice(given, config.behaviour)
  const { to = null, value = 0n, data = EMPTY_BYTES, gas } = request
  const from = senderOf(request)
  checkRequest(state, request)
  const rules = nextRules(state, now)
  const isProtected = isAtLeast(rules.hardfork, 'spuriousDragon')
  const { type, maxFeePerGas, maxPriorityFeePerGas } = feesFor(state, request, rules)
  return {
    type,
    maxFeePerGas,
    maxPriorityFeePerGas,
    chainId: isProtected ? config.chainId : undefined,
    nonce: request.nonce ?? nextNonce(pool, headOf(tree).world, from),
    gasLimit: gas,
    to,
    value,
    data,
    accessList: request.accessList ?? [],
    authorizationList: request.authorizationList ?? [],
    blobs: type === 3 ? blobFieldsFor(state, request, rules) : undefined,
  }
}

/** By default twice the present blob price, as in geth. */
function blobFieldsFor(
  state: ChainState,
  { to = null, blobs }: TransactionRequest,
  rules: NextRules,
): BlobFields {
  const { versionedHashes = [], maxFeePerBlobGas } = blobs ?? {}
  const price = maxFeePerBlobGas ?? 2n * nextBlobFee(state, rules)
  const fields = { versionedHashes, maxFeePerBlobGas: price }
  requireBlobs({ type: 3, to, blobs: fields }, rules.hardfork, rules.blobRules)
  return fields
}

/** The first account sends where the chain needs no sender. */
export function withSender(
  { accounts, config }: ChainState,
  request: TransactionRequest,
): TransactionRequest {
  if (request.from !== undefined || config.behaviour.needsSender) return request
  return { ...request, from: addresses(accounts)[0] }
}

export function senderOf({ from }: TransactionRequest): Address {
  if (from !== undefined) return from
  throw new DevchainError('INVALID_PARAMS', "from: expected the sender's address, got nothing")
}

export function checkRequest({ config }: ChainState, request: TransactionRequest): void {
  const { chainId } = request
  if (chainId !== undefined && chainId !== config.chainId) {
    const message = `invalid chain id for signer: have ${chainId} want ${config.chainId}`
    const facts = { given: chainId, chainId: config.chainId }
    throw new DevchainError('WRONG_CHAIN_ID', message, undefined, facts)
  }
  requirePurpose(request)
  const isDynamic = request.maxFeePerGas !== undefined || request.maxPriorityFeePerGas !== undefined
  if (request.gasPrice !== undefined && isDynamic) {
    const message =
      'expected either gasPrice, or maxFeePerGas and maxPriorityFeePerGas, got both kinds'
    throw new DevchainError('INVALID_PARAMS', message, undefined, bothKinds(request))
  }
  checkType(request, isDynamic)
}

/** Refuses members that the type cannot carry, which would be lost silently. */
function checkType(request: TransactionRequest, isDynamic: boolean): void {
  const { accessList, authorizationList, blobs } = request
  const type = request.type ?? typeByLists(request)
  if (type === undefined) return
  if (![0, 1, 2, 3, 4].includes(type)) {
    const message = `transaction type not supported: expected 0 to 4, got ${printValue(type)}`
    throw new DevchainError('TYPE_NOT_SUPPORTED', message)
  }
  const misfits = {
    maxFeePerGas: isDynamic && type < 2,
    accessList: accessList !== undefined && accessList.length > 0 && type === 0,
    authorizationList: authorizationList !== undefined && type !== 4,
    blobVersionedHashes: blobs !== undefined && type !== 3,
  }
  const [misfit] = Object.entries(misfits).find(([, isThere]) => isThere) ?? []
  if (misfit === undefined) return
  throw invalidParams(`a transaction of type ${type} has no ${misfit}`)
}

/** By default enough to be mined, even if the base fee is above the default price. */
function feesFor(state: ChainState, request: TransactionRequest, rules: NextRules): Fees {
  const { hardfork, baseFee } = rules
  const type = typeFor(state, request, rules)
  const { gasPrice: defaultPrice, minGasPrice, tip: usualTip } = state.settings
  const { capCoversTip, usualPriceBeforeLondon } = state.config.behaviour
  const isEarly = !isAtLeast(hardfork, 'london') && defaultPrice === 0n
  const { gasPrice, maxFeePerGas, maxPriorityFeePerGas } = request
  const defaultTip = larger(minGasPrice, usualTip)
  const enough = (tip: bigint): bigint => {
    if (!capCoversTip) return gasPriceOffered(state)
    return baseFee + tip > defaultPrice ? 2n * baseFee + tip : defaultPrice
  }
  if (type < 2) {
    const least = isEarly ? usualPriceBeforeLondon : 0n
    const price = gasPrice ?? larger(enough(defaultTip), least)
    return { type, maxFeePerGas: price, maxPriorityFeePerGas: price }
  }
  const wanted = maxPriorityFeePerGas ?? gasPrice ?? defaultTip
  const cap = maxFeePerGas ?? gasPrice ?? enough(wanted)
  // the pool reports a caller's tip that is too high
  const tip = maxPriorityFeePerGas ?? smaller(wanted, cap)
  return { type, maxFeePerGas: cap, maxPriorityFeePerGas: tip }
}

function typeFor(
  { settings, config }: ChainState,
  request: TransactionRequest,
  { hardfork, baseFee }: NextRules,
): TransactionType {
  const { type, gasPrice } = request
  const isMarket = isAtLeast(hardfork, 'london') && baseFee + settings.tip > settings.gasPrice
  const isOpen = gasPrice === undefined && isMarket && !config.behaviour.keepsTypeWithoutPrice
  const asked = isOpen && (type === 0 || type === 1) ? undefined : type
  if (asked !== undefined) return asked as TransactionType
  const natural = typeByMembers(request)
  return natural < 2 && gasPrice === undefined && isMarket ? 2 : natural
}
