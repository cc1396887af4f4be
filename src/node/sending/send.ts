// Sending: a request is filled in, signed and put into the pool in one step, and mined at once where that is due.

import { larger, smaller } from '../../core/bigints.ts'
import { DevchainError, printValue } from '../../core/errors.ts'
import { type Address, EMPTY_BYTES, type Hash } from '../../core/hex.ts'
import type { Executor, IsAwaited } from '../../evm/executor.ts'
import type { Hardfork } from '../../protocol/forks.ts'
import { isAtLeast } from '../../protocol/forks.ts'
import { type BlobSidecar, decodeSent, encodeSent } from '../../protocol/sidecar.ts'
import {
  type BlobFields,
  impersonate,
  signTransaction,
  type Transaction,
  type TransactionType,
  type UnsignedTransaction,
} from '../../protocol/transaction.ts'
import { requireBlobs } from '../../protocol/validity.ts'
import {
  addresses,
  isImpersonated,
  keyOf,
  keyWithPassphrase,
  requireKey,
} from '../accounts/accounts.ts'
import { estimateGas, executionError } from '../calls/call.ts'
import { bothKinds, type TransactionRequest, typeByLists, withOnePrice } from '../calls/request.ts'
import type { Chain } from '../chain/chain.ts'
import type { ExecutedTransaction } from '../ledger/blockrecord.ts'
import { headOf, transactionPlace } from '../ledger/blocktree.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import type { Change } from '../ledger/change.ts'
import { isInstant } from '../ledger/miningmode.ts'
import { pendingReference } from '../ledger/references.ts'
import { type NextRules, nextBlobFee, nextRules } from '../mining/environment.ts'
import { mineWaiting } from '../mining/miner.ts'
import { withBlobs } from '../pool/blobstore.ts'
import { type Conditions, checkConditions } from '../pool/conditions.ts'
import { nextNonce } from '../pool/pool.ts'
import { admit } from './admission.ts'
import { proveBlobs } from './blobs.ts'

/** A request that says how much gas it takes. */
type GasRequest = TransactionRequest & { readonly gas: bigint }

/** A transaction that entered the pool, and what came of it if it was mined at once. */
interface Sent {
  readonly hash: Hash
  readonly executed: ExecutedTransaction | undefined
}

/** A transaction on its way into the pool, with what comes with it. */
interface Entrant {
  readonly transaction: Transaction
  readonly blobs: readonly Uint8Array[] | undefined
  readonly conditions: Conditions | undefined
}

/** What there is besides a transaction to be sent. */
interface Delivery {
  /** Known to be those of its hashes; undefined when it has none, or they are no longer kept. */
  readonly blobs?: readonly Uint8Array[] | undefined
  readonly conditions?: Conditions | undefined
  /** False once its caller is gone: what still runs of the sending is given up, and the transaction is nowhere. */
  readonly isAwaited?: IsAwaited | undefined
}

type Fees = Pick<UnsignedTransaction, 'type' | 'maxFeePerGas' | 'maxPriorityFeePerGas'>

/**
 * Fills in, signs and sends a transaction of an unlocked or impersonated account. Requests made in parallel get
 * consecutive nonces. Under instant mining the block is in place when the hash is returned.
 * @throws {DevchainError} `UNKNOWN_ACCOUNT` or `ACCOUNT_LOCKED`; `INVALID_PARAMS` for members that do not go together;
 *   `INVALID_BLOBS` for blobs that are missing or not proven; the words of admission.ts; on a chain that throws on reverts `EXECUTION_REVERTED` or `EXECUTION_HALTED` with data
 *   `{hash, data}`: the hash of the mined transaction, and the returned bytes in hex
 */
export async function sendTransaction(
  chain: Chain,
  request: TransactionRequest,
  isAwaited?: IsAwaited,
): Promise<Hash> {
  const sidecar = await provenSidecar(chain, request)
  return sendProven(chain, request, { blobs: sidecar?.blobs, isAwaited })
}

/**
 * As `sendTransaction`, with blobs that are known to be those of the request's hashes.
 * @throws {DevchainError} as `sendTransaction`
 */
export async function sendProven(
  chain: Chain,
  request: TransactionRequest,
  delivery: Omit<Delivery, 'conditions'>,
): Promise<Hash> {
  return sendFilled(chain, withSender(chain.state, request), delivery, signedBySender)
}

/**
 * A request as the transaction that it becomes on a state: filled in, and signed by its unlocked sender or given the
 * name of an impersonated one.
 * @param now wall time in milliseconds
 * @throws {DevchainError} `UNKNOWN_ACCOUNT`, `ACCOUNT_LOCKED` or `INVALID_PARAMS`
 */
export function signedBySender(state: ChainState, request: GasRequest, now: number): Transaction {
  const unsigned = filled(state, request, now)
  const from = senderOf(request)
  const key = keyOf(state.accounts, from, now)
  if (key === undefined && isImpersonated(state.accounts, from, now))
    return impersonate(unsigned, from)
  return signTransaction(unsigned, key ?? requireKey(state.accounts, from, now), from)
}

/**
 * As `sendTransaction`, with the key that the passphrase opens, whether the account is locked or not.
 * @throws {DevchainError} also `WRONG_PASSPHRASE`
 */
export async function sendWithPassphrase(
  chain: Chain,
  request: TransactionRequest,
  passphrase: string,
  isAwaited?: IsAwaited,
): Promise<Hash> {
  const key = await keyWithPassphrase(chain.state.accounts, senderOf(request), passphrase)
  const sidecar = await provenSidecar(chain, request)
  const delivery = { blobs: sidecar?.blobs, isAwaited }
  return sendFilled(chain, request, delivery, (state, whole, now) =>
    signTransaction(filled(state, whole, now), key),
  )
}

/**
 * Sends a transaction that the caller has signed, one of type 3 with its blobs. Under instant mining the block is in
 * place when the hash is returned.
 * @throws {DevchainError} as `decodeSent` and `sendTransaction`
 */
export async function sendRawTransaction(
  chain: Chain,
  raw: Uint8Array,
  isAwaited?: IsAwaited,
): Promise<Hash> {
  return sendSigned(chain, raw, { isAwaited })
}

async function sendSigned(
  chain: Chain,
  raw: Uint8Array,
  delivery: Omit<Delivery, 'blobs'>,
): Promise<Hash> {
  const { transaction, sidecar } = decodeSent(raw)
  if (transaction.type === 3) {
    if (sidecar === undefined) {
      const message =
        'blob transaction without its blobs: expected 0x03 and rlp([transaction, blobs, commitments, proofs]) or rlp([transaction, 1, blobs, commitments, cell proofs]), got the transaction alone, as blocks hold it'
      throw new DevchainError('INVALID_BLOBS', message)
    }
    await proveBlobs(chain, transaction, sidecar)
  }
  return send(chain, () => transaction, { ...delivery, blobs: sidecar?.blobs })
}

/**
 * As `sendRawTransaction`, for blocks that keep the conditions alone. Where the next one does not, the transaction is refused;
 * where a later one does not, it leaves the pool.
 * @throws {DevchainError} also `CONDITIONS_NOT_MET`, and `LIMIT_EXCEEDED` for conditions that are too many
 */
export async function sendConditional(
  chain: Chain,
  raw: Uint8Array,
  conditions: Conditions,
  isAwaited?: IsAwaited,
): Promise<Hash> {
  checkConditions(conditions)
  return sendSigned(chain, raw, { conditions, isAwaited })
}

/**
 * As `sendTransaction` for whatever sender, as though it were impersonated.
 * @throws {DevchainError} as `sendTransaction`, but nothing about accounts
 */
export async function sendUnsignedTransaction(
  chain: Chain,
  request: TransactionRequest,
  isAwaited?: IsAwaited,
): Promise<Hash> {
  const sidecar = await provenSidecar(chain, request)
  const delivery = { blobs: sidecar?.blobs, isAwaited }
  return sendFilled(chain, request, delivery, (state, whole, now) =>
    impersonate(filled(state, whole, now), senderOf(whole)),
  )
}

/** The transaction that `sendTransaction` would sign now. */
export async function fillTransaction(
  chain: Chain,
  request: TransactionRequest,
): Promise<UnsignedTransaction> {
  const gas = await gasFor(chain, request)
  return filled(chain.state, { ...request, gas }, chain.environment.now())
}

/**
 * Fills in and signs a transaction without sending it. An impersonated account has no key to sign with.
 * @returns its encoding, ready to be sent: with the blobs that came with the request
 * @throws {DevchainError} `UNKNOWN_ACCOUNT` or `ACCOUNT_LOCKED`, or `INVALID_PARAMS`
 */
export async function signRequest(chain: Chain, given: TransactionRequest): Promise<Uint8Array> {
  const request = withSender(chain.state, given)
  const now = chain.environment.now()
  const key = requireKey(chain.state.accounts, senderOf(request), now)
  return signedWith(chain, request, key)
}

/**
 * As `signRequest`, with the key that the passphrase opens, whether the account is locked or not.
 * @throws {DevchainError} also `WRONG_PASSPHRASE`
 */
export async function signWithPassphrase(
  chain: Chain,
  request: TransactionRequest,
  passphrase: string,
): Promise<Uint8Array> {
  const key = await keyWithPassphrase(chain.state.accounts, senderOf(request), passphrase)
  return signedWith(chain, request, key)
}

async function signedWith(
  chain: Chain,
  request: TransactionRequest,
  key: Uint8Array,
): Promise<Uint8Array> {
  const transaction = signTransaction(await fillTransaction(chain, request), key)
  const sidecar = request.blobs?.sidecar
  if (sidecar === undefined) return transaction.raw
  await proveBlobs(chain, transaction, sidecar)
  return encodeSent(transaction, sidecar)
}

/** The blobs that a request has to come with, proven; undefined where it is for no transaction of type 3. */
async function provenSidecar(
  chain: Chain,
  request: TransactionRequest,
): Promise<BlobSidecar | undefined> {
  const { to = null, blobs } = request
  if (blobs === undefined) return undefined
  checkRequest(chain.state, request)
  const { sidecar, versionedHashes = [], maxFeePerBlobGas = 0n } = blobs
  if (sidecar === undefined) {
    const message =
      'blob transaction without its blobs: expected blobs, and commitments and proofs of them, which this node does not compute'
    throw new DevchainError('INVALID_BLOBS', message)
  }
  await proveBlobs(chain, { type: 3, to, blobs: { versionedHashes, maxFeePerBlobGas } }, sidecar)
  return sidecar
}

/** @param make the transaction of a request that has its gas, on the state that it is sent to */
async function sendFilled(
  chain: Chain,
  request: TransactionRequest,
  delivery: Delivery,
  make: (state: ChainState, request: GasRequest, now: number) => Transaction,
): Promise<Hash> {
  const gas = await gasFor(chain, request, delivery.isAwaited)
  return send(chain, (state, now) => make(state, { ...request, gas }, now), delivery)
}

async function send(
  chain: Chain,
  make: (state: ChainState, now: number) => Transaction,
  { blobs, conditions, isAwaited }: Delivery,
): Promise<Hash> {
  const { hash, executed } = await chain.update(
    (state, executor) => {
      const now = chain.environment.now()
      return entered(executor, state, { transaction: make(state, now), blobs, conditions }, now)
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

/** The state with a transaction in the pool, or under instant mining in a block. */
async function entered(
  executor: Executor,
  state: ChainState,
  { transaction, blobs: given, conditions }: Entrant,
  now: number,
): Promise<Change<Sent>> {
  const { hash } = transaction
  const pool = admit(state, transaction, now, conditions)
  const blobs = given ? withBlobs(state.blobs, transaction, given) : state.blobs
  const waiting = { ...state, pool, blobs }
  if (!isInstant(state.mining)) return { state: waiting, value: { hash, executed: undefined } }
  const { state: after, dropped } = await mineWaiting(executor, waiting, now)
  const refusal = dropped.find((each) => each.transaction.hash === hash)
  if (refusal !== undefined) throw refusal.error
  const place = transactionPlace(after.tree, hash)
  const executed = place?.record.executed[place.index]
  return { state: after, value: { hash, executed }, dropped }
}

/** The gas that a request gets. Asked before the command begins: within it an estimate would wait for its end. */
export async function gasFor(
  chain: Chain,
  request: TransactionRequest,
  isAwaited?: IsAwaited,
): Promise<bigint> {
  if (request.gas !== undefined) return request.gas
  const { defaultGas, blockGasLimit } = chain.state.settings
  const { transactionGasCap = blockGasLimit } = chain.state.config
  const most = smaller(blockGasLimit, transactionGasCap)
  if (defaultGas !== 'estimate') return smaller(defaultGas, most)
  try {
    return await estimateGas(chain, request, pendingReference, { isAwaited })
  } catch (error) {
    const { behaviour } = chain.state.config
    const isRefusal = error instanceof DevchainError && error.word !== 'ABANDONED'
    if (behaviour.refusesFailingEstimates || !isRefusal) throw error
    return most
  }
}

function filled(state: ChainState, given: GasRequest, now: number): UnsignedTransaction {
  const { config, pool, tree } = state
  const request = withOnePrice(given, config.behaviour)
  const { to = null, value = 0n, data = EMPTY_BYTES, gas } = request
  const from = senderOf(request)
  checkRequest(state, request)
  const rules = nextRules(state, now)
  const { hardfork, baseFee } = rules
  const isProtected = isAtLeast(hardfork, 'spuriousDragon')
  const { type, maxFeePerGas, maxPriorityFeePerGas } = feesFor(state, request, hardfork, baseFee)
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

/** Where no price is given it is twice what blobs cost now: geth's measure. */
function blobFieldsFor(
  state: ChainState,
  { to = null, blobs }: TransactionRequest,
  rules: NextRules,
): BlobFields {
  const { number, timestamp, hardfork } = rules
  const { versionedHashes = [], maxFeePerBlobGas } = blobs ?? {}
  const price = maxFeePerBlobGas ?? 2n * nextBlobFee(state, rules)
  const fields = { versionedHashes, maxFeePerBlobGas: price }
  const blobRules = state.config.blobRulesAt(number, timestamp)
  requireBlobs({ type: 3, to, blobs: fields }, hardfork, blobRules)
  return fields
}

/** Where a sender may be missing the first account sends. */
function withSender(
  { accounts, config }: ChainState,
  request: TransactionRequest,
): TransactionRequest {
  if (request.from !== undefined || config.behaviour.needsSender) return request
  return { ...request, from: addresses(accounts)[0] }
}

function senderOf({ from }: TransactionRequest): Address {
  if (from !== undefined) return from
  throw new DevchainError('INVALID_PARAMS', "from: expected the sender's address, got nothing")
}

function checkRequest({ config }: ChainState, request: TransactionRequest): void {
  const { to, data, chainId } = request
  if (chainId !== undefined && chainId !== config.chainId) {
    const message = `invalid chain id for signer: have ${chainId} want ${config.chainId}`
    const facts = { given: chainId, chainId: config.chainId }
    throw new DevchainError('WRONG_CHAIN_ID', message, undefined, facts)
  }
  if ((to === undefined || to === null) && (data === undefined || data.length === 0)) {
    const message = 'expected `to`, or `data` with the code of a contract to create: got neither'
    throw new DevchainError('INVALID_PARAMS', message, undefined, { creates: 'nothing' })
  }
  const isDynamic = request.maxFeePerGas !== undefined || request.maxPriorityFeePerGas !== undefined
  if (request.gasPrice !== undefined && isDynamic) {
    const message =
      'expected either gasPrice, or maxFeePerGas and maxPriorityFeePerGas, got both kinds'
    throw new DevchainError('INVALID_PARAMS', message, undefined, bothKinds(request))
  }
  checkType(request, isDynamic)
}

/** Members that a type cannot carry would be lost without a word. */
function checkType(request: TransactionRequest, isDynamic: boolean): void {
  const { accessList, authorizationList, blobs } = request
  const type = request.type ?? typeByLists(request)
  if (type === undefined) return
  if (![0, 1, 2, 3, 4].includes(type)) {
    const message = `transaction type not supported: expected 0 to 4, got ${printValue(type)}`
    throw new DevchainError('TYPE_NOT_SUPPORTED', message)
  }
  const misfits = [
    { name: 'maxFeePerGas', isThere: isDynamic && type < 2 },
    {
      name: 'accessList',
      isThere: accessList !== undefined && accessList.length > 0 && type === 0,
    },
    { name: 'authorizationList', isThere: authorizationList !== undefined && type !== 4 },
    { name: 'blobVersionedHashes', isThere: blobs !== undefined && type !== 3 },
  ]
  const misfit = misfits.find(({ isThere }) => isThere)
  if (misfit === undefined) return
  const message = `a transaction of type ${type} has no ${misfit.name}`
  throw new DevchainError('INVALID_PARAMS', message)
}

/** Type and price. Where none is given and the base fee is above the default price, enough is offered to be mined. */
function feesFor(
  state: ChainState,
  request: TransactionRequest,
  hardfork: Hardfork,
  baseFee: bigint,
): Fees {
  const type = typeFor(state, request, hardfork, baseFee)
  const { gasPrice: defaultPrice, minGasPrice, tip: usualTip } = state.settings
  const { baseFeesInCap, usualPriceBeforeLondon } = state.config.behaviour
  const isEarly = !isAtLeast(hardfork, 'london') && defaultPrice === 0n
  const { gasPrice, maxFeePerGas, maxPriorityFeePerGas } = request
  const defaultTip = larger(minGasPrice, usualTip)
  const enough = (tip: bigint): bigint =>
    baseFee + tip > defaultPrice ? baseFeesInCap * baseFee + tip : defaultPrice
  if (type < 2) {
    const least = isEarly ? usualPriceBeforeLondon : 0n
    const price = gasPrice ?? larger(enough(defaultTip), least)
    return { type, maxFeePerGas: price, maxPriorityFeePerGas: price }
  }
  const wanted = maxPriorityFeePerGas ?? gasPrice ?? defaultTip
  const cap = maxFeePerGas ?? gasPrice ?? enough(wanted)
  // a tip of the caller's is kept even when it is too high: the pool says so
  const tip = maxPriorityFeePerGas ?? smaller(wanted, cap)
  return { type, maxFeePerGas: cap, maxPriorityFeePerGas: tip }
}

function typeFor(
  { settings, config }: ChainState,
  {
    type,
    gasPrice,
    maxFeePerGas,
    maxPriorityFeePerGas,
    accessList,
    authorizationList,
    blobs,
  }: TransactionRequest,
  hardfork: Hardfork,
  baseFee: bigint,
): TransactionType {
  const isMarket = isAtLeast(hardfork, 'london') && baseFee + settings.tip > settings.gasPrice
  const isOpen = gasPrice === undefined && isMarket && !config.behaviour.keepsTypeWithoutPrice
  const asked = isOpen && (type === 0 || type === 1) ? undefined : type
  const listed = asked ?? typeByLists({ authorizationList, blobs })
  if (listed !== undefined) return listed as TransactionType
  if (maxFeePerGas !== undefined || maxPriorityFeePerGas !== undefined) return 2
  if (gasPrice === undefined && isMarket) return 2
  return accessList === undefined ? 0 : 1
}
