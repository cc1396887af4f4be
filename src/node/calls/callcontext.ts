// What a message runs on: the world and block after overrides, and the complete message.
import { larger, MAX_UINT64, smaller } from '../../core/bigints.ts'
import { type Address, EMPTY_BYTES, ZERO_ADDRESS } from '../../core/hex.ts'
import { memoizeByIdentity } from '../../core/lrucache.ts'
import { type MaybePromise, whenThere } from '../../core/promises.ts'
import type { Cancellation } from '../../evm/cancellation.ts'
import type {
  BlockEnvironment,
  CallJob,
  Message,
  MovedPrecompiles,
  Outcome,
  Tracer,
} from '../../evm/executor.ts'
import { areBlobsFree, highestBlobCost, intrinsicGas, isFree } from '../../protocol/fees.ts'
import { requireAuthorizations } from '../../protocol/transactions/transactionrules.ts'
import { balanceAt, type World } from '../../state/world.ts'
import { addresses } from '../accounts/accounts.ts'
import type { Chain } from '../chain/chain.ts'
import { type Rerun, withRerun } from '../chain/failedrun.ts'
import { readState } from '../chain/lookup.ts'
import type { BlockRecord } from '../ledger/blockrecord.ts'
import type { BlockReference } from '../ledger/references.ts'
import { callLimits } from '../mining/limits.ts'
import {
  applyBlockOverrides,
  applyStateOverrides,
  type BlockOverrides,
  movedPrecompiles,
  type StateOverrides,
} from './overrides.ts'
import {
  blobsOf,
  type CallRequest,
  feesOf,
  requireChain,
  requirePurpose,
  requireTypeOfCall,
  withOnePrice,
} from './request.ts'

export interface CallOptions {
  readonly stateOverrides?: StateOverrides | undefined
  readonly blockOverrides?: BlockOverrides | undefined
  readonly world?: World | undefined
  readonly cancellation?: Cancellation | undefined
  readonly tracer?: Tracer | undefined
  readonly onRun?: ((rerun: Rerun) => void) | undefined
}

export interface CallContext {
  readonly chain: Chain
  readonly world: World
  readonly block: BlockEnvironment
  readonly movedPrecompiles: MovedPrecompiles | undefined
  /** Gas of a call that names none. Calls ignore a block gas limit that an override makes too small. */
  readonly usualGas: bigint
  readonly cancellation: CallOptions['cancellation']
  readonly onRun: CallOptions['onRun']
}

export function contextAt(
  chain: Chain,
  reference: BlockReference,
  options: CallOptions = {},
): MaybePromise<CallContext> {
  const { stateOverrides, blockOverrides, cancellation, onRun } = options
  const context = (record: BlockRecord): CallContext => {
    const { config } = chain.state
    const real = chain.environmentOf(record)
    const block = applyBlockOverrides(real, blockOverrides, config.hardforkAt)
    return {
      chain,
      world: applyStateOverrides(options.world ?? record.world, stateOverrides),
      block,
      movedPrecompiles: movedPrecompiles(stateOverrides, block.hardfork, config),
      usualGas: config.behaviour.callGas ?? larger(real.gasLimit, block.gasLimit),
      cancellation,
      onRun,
    }
  }
  return readState(chain, reference, context, cancellation)
}

/** Cached by identity because engines cache by block. */
const withoutFee = memoizeByIdentity(
  (block: BlockEnvironment): BlockEnvironment => ({ ...block, baseFee: 0n }),
)

export interface Called {
  readonly context: CallContext
  readonly message: Message
}

/**
 * The message of a call, and what it runs on. A call is no transaction: without a price (or all, by behaviour) it sees a
 * base fee of 0, unless that is overridden. The same for blobs.
 */
export function calledOn(
  given: CallContext,
  request: CallRequest,
  overrides: BlockOverrides = {},
): Called {
  const { callsAskForFunds, callsSeeBaseFee } = given.chain.state.config.behaviour
  const context = callsAskForFunds ? given : funded(given, request)
  const message = messageOf(context, request)
  if (callsSeeBaseFee === 'all') return { context, message }
  const { block } = context
  const paysNone = callsSeeBaseFee === 'none' || isFree(message)
  const hidesFee = block.baseFee > 0n && paysNone && overrides.baseFee === undefined
  const seen = hidesFee ? withoutFee(block) : block
  const hidesBlobFee = message.blobs !== undefined && areBlobsFree(message)
  const hidesAll = hidesBlobFee && overrides.blobBaseFee === undefined
  return { context: { ...context, block: hidesAll ? { ...seen, blobBaseFee: 0n } : seen }, message }
}

export function runMessage(
  { chain, world, block, movedPrecompiles: moved, cancellation, onRun }: CallContext,
  message: Message,
  { tracer, reportsAccess }: Pick<CallJob, 'tracer' | 'reportsAccess'> = {},
): MaybePromise<Outcome> {
  const { config } = chain.state
  const job: CallJob = {
    world,
    block,
    message,
    movedPrecompiles: moved,
    ignoresBaseFee: config.behaviour.callsBelowBaseFee,
    limits: callLimits(config),
    // named, not spread into a copy: this is the path of every eth_call
    tracer,
    reportsAccess,
    cancellation,
  }
  onRun?.(rerunOfJob(chain, job))
  return repeatable(chain, job, chain.executor.call(job))
}

/** Keeps with a failed outcome how to run it again: the same job gives the same result. */
export function repeatable(
  chain: Pick<Chain, 'executor'>,
  job: CallJob,
  outcome: MaybePromise<Outcome>,
): MaybePromise<Outcome> {
  return whenThere(outcome, (made) =>
    made.failure === undefined ? made : withRerun(made, rerunOfJob(chain, job)),
  )
}

function rerunOfJob({ executor }: Pick<Chain, 'executor'>, job: CallJob): Rerun {
  return (tracer) => whenThere(executor.call({ ...job, tracer }), () => job.world)
}

export function messageOf(
  { chain, world, block, usualGas }: CallContext,
  request: CallRequest,
): Message {
  const { chainId, behaviour } = chain.state.config
  requireChain(request.chainId, chainId)
  if (behaviour.callsAskForType) requireTypeOfCall(request, block.hardfork)
  if (behaviour.creationsNeedData) requirePurpose(request)
  const fees = feesOf(withOnePrice(request, behaviour), block)
  const { maxFeePerGas, maxPriorityFeePerGas } = fees
  const message: Message = {
    from: callerOf(chain, request),
    to: request.to ?? null,
    value: request.value ?? 0n,
    data: request.data ?? EMPTY_BYTES,
    gasLimit: smaller(request.gas ?? usualGas, behaviour.callGas ?? MAX_UINT64),
    maxFeePerGas,
    maxPriorityFeePerGas,
    accessList: request.accessList ?? [],
    authorizationList: request.authorizationList ?? [],
    nonce: request.nonce,
    blobs: blobsOf(request),
  }
  if (request.authorizationList !== undefined) requireAuthorizations({ type: 4, ...message })
  const affordable = affordableGas(world, message)
  if (request.gas !== undefined || affordable === undefined || affordable >= usualGas)
    return message
  // the executor refuses a sender who cannot pay for any gas
  const isEnough = affordable >= intrinsicGas(message, block.hardfork)
  return isEnough ? { ...message, gasLimit: affordable } : message
}

function callerOf({ state: { accounts, config } }: Chain, { from }: CallRequest): Address {
  const usual = config.behaviour.callsComeFromFirst ? addresses(accounts)[0] : undefined
  return from ?? usual ?? ZERO_ADDRESS
}

export function funded(context: CallContext, request: CallRequest): CallContext {
  const { value = 0n, gas = context.usualGas } = request
  const from = callerOf(context.chain, request)
  const { behaviour } = context.chain.state.config
  const { maxFeePerGas } = feesOf(withOnePrice(request, behaviour), context.block)
  const cost = value + gas * maxFeePerGas + highestBlobCost({ blobs: blobsOf(request) })
  if (balanceAt(context.world, from) >= cost) return context
  const world = applyStateOverrides(context.world, new Map([[from, { balance: cost }]]))
  return { ...context, world }
}

/** Gas that the sender can pay for after value and blobs; undefined when gas is free. */
export function affordableGas(
  world: World,
  { from, value, maxFeePerGas, blobs }: Pick<Message, 'from' | 'value' | 'maxFeePerGas' | 'blobs'>,
): bigint | undefined {
  if (maxFeePerGas === 0n) return undefined
  const rest = balanceAt(world, from) - value - highestBlobCost({ blobs })
  return rest > 0n ? rest / maxFeePerGas : 0n
}
