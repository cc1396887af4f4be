// Running messages without a trace on the chain: calls, gas estimates, access lists.
import { larger } from '../../core/bigints.ts'

import { DevchainError, type ErrorFacts, ExecutionError } from '../../core/errors.ts'
import { EMPTY_BYTES, hexFromBytes, ZERO_ADDRESS } from '../../core/hex.ts'
import { type MaybePromise, whenThere } from '../../core/promises.ts'
import { yielder } from '../../core/yield.ts'
import type {
  BlockEnvironment,
  CallJob,
  ConsoleLine,
  Failure,
  IsAwaited,
  Message,
  MovedPrecompiles,
  Outcome,
} from '../../evm/executor.ts'
import { abandoned, EXECUTION_ERROR } from '../../evm/reasons.ts'
import { floorDataGas, highestBlobCost, intrinsicGas } from '../../protocol/fees.ts'
import type { AccessListEntry } from '../../protocol/transaction.ts'
import { balanceAt, type World } from '../../state/world.ts'
import type { Chain } from '../chain/chain.ts'
import { readAt } from '../chain/lookup.ts'
import type { BlockRecord } from '../ledger/blockrecord.ts'
import type { BlockReference } from '../ledger/references.ts'
import { callLimits } from '../mining/limits.ts'
import { sizeOf, union } from './accesslists.ts'
import { blockOfCall } from './freecalls.ts'
import { type GasGuess, gasNeedMeter, smallestGas } from './gassearch.ts'
import {
  applyBlockOverrides,
  applyStateOverrides,
  type BlockOverrides,
  movedPrecompiles,
  type StateOverrides,
} from './overrides.ts'
import { gasOfPlainTransfer } from './plaintransfer.ts'
import { blobsOf, type CallRequest, feesOf, requireTypeOfCall, withOnePrice } from './request.ts'

/** Accounts and slots to declare in advance, and the gas that the run uses when they are. */
export interface AccessListAnswer {
  readonly accessList: readonly AccessListEntry[]
  readonly gasUsed: bigint
  /** Why the run with this list came to nothing, if it did. */
  readonly failure: Failure | undefined
  readonly output: Uint8Array
  readonly consoleLines: readonly ConsoleLine[]
}

/** Under which conditions a message is run: those of the chain, where nothing is said. */
export interface Conditions {
  readonly stateOverrides?: StateOverrides | undefined
  readonly blockOverrides?: BlockOverrides | undefined
  /** In place of the world after the block. */
  readonly world?: World | undefined
  /** A run that is given up throws a DevchainError `ABANDONED`. */
  readonly isAwaited?: IsAwaited | undefined
}

/** What a simulation stands on. */
interface CallContext {
  readonly chain: Chain
  readonly world: World
  readonly block: BlockEnvironment
  readonly movedPrecompiles: MovedPrecompiles | undefined
  /** Gas of a call that names none: an override may make the block too small for any, and calls are not bound by it. */
  readonly usualGas: bigint
  readonly isAwaited: Conditions['isAwaited']
}

/** Runs after which a list that still grows is answered as it is: each run may reach for other slots. */
const MAX_LIST_ROUNDS = 16

/**
 * Runs a message on the world after a block, in that block's environment (`pending`: the next block's). Reverts and
 * halts are outcomes, not errors: `executionError` makes errors of them.
 * @param request gas left out is the block's gas limit; any larger gas is honoured
 * @returns a promise only when something has to wait: a first job, a block to be made, a long run
 * @throws {DevchainError} `NOT_FOUND` for an unknown block, `INVALID_PARAMS` for contradictory fees or overrides, the
 *   executor's words when the message cannot begin
 */
export function call(
  chain: Chain,
  request: CallRequest,
  reference: BlockReference,
  conditions?: Conditions,
): MaybePromise<Outcome> {
  return whenThere(contextAt(chain, reference, conditions), (given) => {
    const context = chain.state.config.behaviour.callsAskForFunds ? given : funded(given, request)
    const message = messageOf(context, request)
    return run(asCalled(context, message, conditions?.blockOverrides), message)
  })
}

/** Messages that run in one block. */
export interface CallBundle {
  readonly transactions?: readonly CallRequest[] | undefined
  readonly blockOverrides?: BlockOverrides | undefined
}

/**
 * Runs messages one after the other, each on what those before it left, without a trace on the chain.
 * @returns a list of outcomes for each bundle
 * @throws {DevchainError} as `call`, for all when one cannot begin
 */
export async function callMany(
  chain: Chain,
  bundles: readonly CallBundle[],
  reference: BlockReference,
  conditions?: Omit<Conditions, 'blockOverrides'>,
): Promise<Outcome[][]> {
  const results: Outcome[][] = []
  let world: World | undefined
  const yieldIfDue = yielder()
  for (const { transactions = [], blockOverrides } of bundles) {
    const context = await contextAt(chain, reference, { ...conditions, blockOverrides })
    const outcomes: Outcome[] = []
    for (const request of transactions) {
      if (conditions?.isAwaited?.() === false) throw abandoned()
      const current = { ...context, world: world ?? context.world }
      const message = messageOf(current, request)
      const outcome = await run(asCalled(current, message, blockOverrides), message)
      world = outcome.world
      outcomes.push(outcome)
      await yieldIfDue()
    }
    results.push(outcomes)
  }
  return results
}

/** What a message runs on and as: the world and block after overrides, and the message with all its members. */
export interface PreparedCall {
  readonly world: World
  readonly block: BlockEnvironment
  readonly message: Message
  readonly movedPrecompiles: MovedPrecompiles | undefined
  readonly ignoresBaseFee: boolean
}

/**
 * What `call` would run, for who runs it in other ways.
 * @throws {DevchainError} as `call`, but for the executor's words
 */
export async function prepareCall(
  chain: Chain,
  request: CallRequest,
  reference: BlockReference,
  conditions?: Conditions,
): Promise<PreparedCall> {
  const context = await contextAt(chain, reference, conditions)
  const message = messageOf(context, request)
  const called = asCalled(context, message, conditions?.blockOverrides)
  const { world, block, movedPrecompiles: moved } = called
  return { world, block, message, movedPrecompiles: moved, ignoresBaseFee: ignoresBaseFee(chain) }
}

/**
 * The error that a failed execution is answered with.
 * @param lines what it printed; none where its transaction tells of them
 * @param facts what the reason tells in numbers
 * @returns `EXECUTION_REVERTED` or `EXECUTION_HALTED`, `data` the raw output as hex
 */
export function executionError(
  { kind, reason }: Failure,
  output: Uint8Array,
  lines: readonly ConsoleLine[] = [],
  facts?: ErrorFacts,
): DevchainError {
  const word = kind === 'revert' ? 'EXECUTION_REVERTED' : 'EXECUTION_HALTED'
  const message = EXECUTION_ERROR + reason
  const printed = lines.map((line) => line.text)
  return new ExecutionError(word, message, hexFromBytes(output), printed, facts)
}

/**
 * The smallest gas limit with which the message succeeds as a transaction: exact, so that one less fails. At most
 * the message's own gas or else the block's gas limit, and what the sender can pay when there is a price.
 *
 * It runs once with all gas, and mostly that is all: the engine tells what the run would have needed. Where a run looks
 * at its gas, two more make sure of that; where the engine does not tell, a watched run does.
 * @throws {DevchainError} `EXECUTION_REVERTED` or `EXECUTION_HALTED` when the message fails with all that gas,
 *   `INSUFFICIENT_FUNDS` when the sender cannot pay the value and some gas, else as `call`
 */
export function estimateGas(
  chain: Chain,
  request: CallRequest,
  reference: BlockReference,
  conditions?: Conditions,
): MaybePromise<bigint> {
  return whenThere(
    contextAt(chain, reference, conditions),
    (context) => gasOfPlainTransfer(context, request) ?? estimateOn(context, request),
  )
}

function estimateOn(given: CallContext, request: CallRequest): MaybePromise<bigint> {
  const { estimatesAskForFunds } = given.chain.state.config.behaviour
  const context = estimatesAskForFunds ? given : funded(given, request)
  const message = messageOf(context, request)
  const intrinsic = intrinsicGas(message, context.block.hardfork)
  const minimum = larger(intrinsic, floorDataGas(message, context.block.hardfork))
  const cap = highestGas(context, request, message, minimum)
  const widest = { ...message, gasLimit: cap.gas }
  return whenThere(run(context, widest), (outcome) => {
    const { failure, gasNeed } = outcome
    if (failure !== undefined) throw estimateError(failure, outcome, cap)
    if (gasNeed?.isCertain === true) return larger(minimum, gasNeed.gas)
    const guesses: GasGuess[] =
      gasNeed === undefined
        ? [() => outcome.gasUsed + outcome.gasRefund, () => neededGas(context, widest, intrinsic)]
        : [() => gasNeed.gas]
    const succeeds = async (gasLimit: bigint): Promise<boolean> =>
      (await run(context, { ...message, gasLimit })).failure === undefined
    return smallestGas(succeeds, { minimum, cap: cap.gas }, guesses)
  })
}

/**
 * The accounts and slots that the message touches, and the gas it uses when it declares them. The sender, the callee
 * and precompiles are free to touch anyway and are listed only with slots.
 * @param request its own access list is part of the answer
 * @throws {DevchainError} as `call`
 */
export async function createAccessList(
  chain: Chain,
  request: CallRequest,
  reference: BlockReference,
  conditions?: Conditions,
): Promise<AccessListAnswer> {
  const context = await contextAt(chain, reference, conditions)
  const message = messageOf(context, request)
  let accessList = message.accessList
  for (let round = 1; ; round += 1) {
    const outcome = await run(context, { ...message, accessList }, { reportsAccess: true })
    const touched = union(accessList, outcome.accessed)
    // a longer list changes what touching costs, which may change where the run goes
    if (sizeOf(touched) === sizeOf(accessList) || round === MAX_LIST_ROUNDS) {
      const { gasUsed, failure, output, consoleLines } = outcome
      return { accessList, gasUsed, failure, output, consoleLines }
    }
    accessList = touched
  }
}

function contextAt(
  chain: Chain,
  reference: BlockReference,
  conditions: Conditions = {},
): MaybePromise<CallContext> {
  const context = (record: BlockRecord): CallContext => contextOn(chain, record, conditions)
  return readAt(chain, reference, context, conditions.isAwaited)
}

function contextOn(
  chain: Chain,
  record: BlockRecord,
  { stateOverrides, blockOverrides, world, isAwaited }: Conditions,
): CallContext {
  const { state } = chain
  const real = chain.environmentOf(record)
  const block = applyBlockOverrides(real, blockOverrides, state.config.hardforkAt)
  return {
    chain,
    world: applyStateOverrides(world ?? record.world, stateOverrides),
    block,
    movedPrecompiles: movedPrecompiles(stateOverrides, block.hardfork),
    usualGas: larger(real.gasLimit, block.gasLimit),
    isAwaited,
  }
}

/** Whether calls run whose price is below the base fee. */
function ignoresBaseFee({ state }: Chain): boolean {
  return state.config.behaviour.callsBelowBaseFee
}

/** The context as a call has it, which nobody takes for a transaction: free ones see no fees. */
function asCalled(
  context: CallContext,
  message: Message,
  overrides: BlockOverrides | undefined,
): CallContext {
  const { behaviour } = context.chain.state.config
  return { ...context, block: blockOfCall(context.block, message, behaviour, overrides) }
}

function run(
  { chain, world, block, movedPrecompiles: moved, isAwaited }: CallContext,
  message: Message,
  { tracer, reportsAccess }: Pick<CallJob, 'tracer' | 'reportsAccess'> = {},
): MaybePromise<Outcome> {
  return chain.executor.call({
    world,
    block,
    message,
    movedPrecompiles: moved,
    ignoresBaseFee: ignoresBaseFee(chain),
    limits: callLimits(chain.state.config),
    tracer,
    reportsAccess,
    isAwaited,
  })
}

/** The message with everything filled in that the caller left out. */
function messageOf({ chain, world, block, usualGas }: CallContext, request: CallRequest): Message {
  const { chainId, behaviour } = chain.state.config
  if (request.chainId !== undefined && request.chainId !== chainId) {
    const text = `wrong chain id: expected ${chainId}, got ${request.chainId}`
    const facts = { given: request.chainId, chainId }
    throw new DevchainError('WRONG_CHAIN_ID', text, undefined, facts)
  }
  if (behaviour.callsAskForType) requireTypeOfCall(request, block.hardfork)
  const fees = feesOf(withOnePrice(request, behaviour), block)
  const { maxFeePerGas, maxPriorityFeePerGas } = fees
  const message: Message = {
    from: request.from ?? ZERO_ADDRESS,
    to: request.to ?? null,
    value: request.value ?? 0n,
    data: request.data ?? EMPTY_BYTES,
    gasLimit: request.gas ?? usualGas,
    maxFeePerGas,
    maxPriorityFeePerGas,
    accessList: request.accessList ?? [],
    authorizationList: request.authorizationList ?? [],
    nonce: request.nonce,
    blobs: blobsOf(request),
  }
  const affordable = affordableGas(world, message)
  if (request.gas !== undefined || affordable === undefined || affordable >= usualGas)
    return message
  // who cannot pay for any gas is told so by the executor
  const isEnough = affordable >= intrinsicGas(message, block.hardfork)
  return isEnough ? { ...message, gasLimit: affordable } : message
}

/** The context where the sender can pay for all that the request may cost. */
function funded(context: CallContext, request: CallRequest): CallContext {
  const { from = ZERO_ADDRESS, value = 0n, gas = context.usualGas } = request
  const { behaviour } = context.chain.state.config
  const { maxFeePerGas } = feesOf(withOnePrice(request, behaviour), context.block)
  const cost = value + gas * maxFeePerGas + highestBlobCost({ blobs: blobsOf(request) })
  if (balanceAt(context.world, from) >= cost) return context
  const world = applyStateOverrides(context.world, new Map([[from, { balance: cost }]]))
  return { ...context, world }
}

/** Gas that the sender can pay for besides value and blobs; undefined when gas is free. */
function affordableGas(
  world: World,
  { from, value, maxFeePerGas, blobs }: Pick<Message, 'from' | 'value' | 'maxFeePerGas' | 'blobs'>,
): bigint | undefined {
  if (maxFeePerGas === 0n) return undefined
  const rest = balanceAt(world, from) - value - highestBlobCost({ blobs })
  return rest > 0n ? rest / maxFeePerGas : 0n
}

/** How much gas an estimate may go up to, and in words why not more. */
interface GasCap {
  readonly gas: bigint
  readonly reason: string
}

/** @throws {DevchainError} `INSUFFICIENT_FUNDS` when the sender cannot pay the value and the least gas */
function highestGas(
  { chain, world, block }: CallContext,
  request: CallRequest,
  message: Message,
  minimum: bigint,
): GasCap {
  const { from, value, maxFeePerGas, blobs } = message
  const balance = balanceAt(world, from)
  const least = value + minimum * maxFeePerGas + highestBlobCost({ blobs })
  if (balance < least) {
    const text = `insufficient funds for gas * price + value: address ${from} have ${balance} want ${least}`
    throw new DevchainError('INSUFFICIENT_FUNDS', text, undefined, { from, balance, cost: least })
  }
  const { transactionGasCap } = chain.state.config
  const affordable = affordableGas(world, message)
  const bounds: GasCap[] = [
    request.gas === undefined
      ? { gas: block.gasLimit, reason: 'the gas limit of the block' }
      : { gas: request.gas, reason: 'the gas given' },
  ]
  if (transactionGasCap !== undefined) {
    bounds.push({ gas: transactionGasCap, reason: 'the most that one transaction may have' })
  }
  if (affordable !== undefined) {
    bounds.push({ gas: affordable, reason: `the most that ${from} can pay for` })
  }
  return bounds.reduce((lowest, bound) => (bound.gas < lowest.gas ? bound : lowest))
}

/** The error of an estimate: as of a call, and for want of gas with the gas it had. */
function estimateError(
  failure: Failure,
  { output, consoleLines }: Outcome,
  { gas, reason }: GasCap,
): DevchainError {
  const isStarved = failure.kind === 'halt' && failure.reason === 'out of gas'
  const why = isStarved ? `out of gas: it needs more than ${gas}, ${reason}` : failure.reason
  const facts = isStarved ? { allowance: gas } : undefined
  return executionError({ ...failure, reason: why }, output, consoleLines, facts)
}

/** Gas that the run needs to take the same course, as a watched run tells. */
async function neededGas(
  context: CallContext,
  widest: Message,
  intrinsic: bigint,
): Promise<bigint | undefined> {
  const meter = gasNeedMeter()
  await run(context, widest, { tracer: meter.tracer })
  const need = meter.need()
  return need === undefined ? undefined : intrinsic + need
}
