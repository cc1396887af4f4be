// Gas estimates.
import { larger, smaller } from '../../core/bigints.ts'
import { DevchainError } from '../../core/errors.ts'
import type { Address } from '../../core/hex.ts'
import { type MaybePromise, whenThere } from '../../core/promises.ts'
import type { Failure, Message, Outcome } from '../../evm/executor.ts'
import {
  floorDataGas,
  highestBlobCost,
  intrinsicGas,
  leastGas,
  TRANSACTION_GAS,
} from '../../protocol/fees.ts'
import { isAtLeast } from '../../protocol/forks.ts'
import { describeCap, EXECUTION_GAS_CAP } from '../../protocol/stategas.ts'
import { balanceAt, codeAt, type World } from '../../state/world.ts'
import type { Chain } from '../chain/chain.ts'
import { rerunOf, withRerun } from '../chain/failedrun.ts'
import type { BlockReference } from '../ledger/references.ts'
import { transactionGasCap } from '../mining/limits.ts'
import { executionError, failureOfCall } from './call.ts'
import {
  affordableGas,
  type CallContext,
  type CallOptions,
  contextAt,
  funded,
  messageOf,
  runMessage,
} from './callcontext.ts'
import type { CallRequest } from './request.ts'

/**
 * The smallest gas limit with which the message succeeds as a transaction; one less fails. The upper bound is the
 * message's gas or the block's gas limit, and what the sender can pay. One run is usually enough, because the engine
 * reports the gas needed. If the run reads its gas, two more verify the result; without a report, bisection finds it.
 * @throws {DevchainError} `EXECUTION_REVERTED` or `EXECUTION_HALTED` when the message fails with all that gas,
 *   `INSUFFICIENT_FUNDS` when the sender cannot pay the value and some gas, else as `call`
 */
export function estimateGas(
  chain: Chain,
  request: CallRequest,
  reference: BlockReference,
  options?: CallOptions,
): MaybePromise<bigint> {
  const { estimatesAreExact } = chain.state.config.behaviour
  return whenThere(contextAt(chain, reference, options), (context) => {
    // geth ignores gas that suffices for no transaction
    const isTooLittle = request.gas !== undefined && request.gas < leastGas(context.block.hardfork)
    const asked = isTooLittle && !estimatesAreExact ? { ...request, gas: undefined } : request
    return gasOfPlainTransfer(context, asked) ?? estimateOn(context, asked)
  })
}

function estimateOn(given: CallContext, request: CallRequest): MaybePromise<bigint> {
  const { estimatesAskForFunds } = given.chain.state.config.behaviour
  const context = estimatesAskForFunds ? given : funded(given, request)
  const message = messageOf(context, request)
  const intrinsic = intrinsicGas(message, context.block.hardfork)
  const minimum = larger(intrinsic, floorDataGas(message, context.block.hardfork))
  const cap = highestGas(context, request, message, minimum)
  const run = (gasLimit: bigint): MaybePromise<Outcome> =>
    runMessage(context, { ...message, gasLimit })
  // up to the cap of execution gas nothing is in the reservoir (EIP-8037), whose use would leave the need uncertain
  const isCapped = isAtLeast(context.block.hardfork, 'amsterdam')
  const first = isCapped ? smaller(cap.gas, larger(minimum, EXECUTION_GAS_CAP)) : cap.gas
  const ran = whenThere(run(first), (outcome) =>
    outcome.failure === undefined || first === cap.gas ? outcome : run(cap.gas),
  )
  return whenThere(ran, (outcome) => {
    const { failure, gasNeed } = outcome
    if (failure !== undefined) {
      const isCapped = describeCap(failure.reason, outcome.blockGas) !== undefined
      return whenThere(isCapped && failsWithAnyGas(context, message), (yes) => {
        const error = yes ? failureOfCall(failure, outcome) : estimateError(failure, outcome, cap)
        throw withRerun(error, rerunOf(outcome))
      })
    }
    const guess = gasNeed?.gas ?? outcome.gasUsed + outcome.gasRefund
    const succeeds = async (gasLimit: bigint): Promise<boolean> =>
      (await run(gasLimit)).failure === undefined
    const exact =
      gasNeed?.isCertain === true
        ? larger(minimum, gasNeed.gas)
        : smallestGas(succeeds, { minimum, cap: cap.gas, guess })
    return whenThere(exact, (gas) => answered(context, outcome, cap, message, gas))
  })
}

function answered(
  { chain, world, block }: CallContext,
  { gasUsed, gasRefund }: Outcome,
  { gas: cap }: GasCap,
  { to, data }: Message,
  exact: bigint,
): bigint {
  const isPlain = isAtLeast(block.hardfork, 'amsterdam') || exact === TRANSACTION_GAS
  const isTransfer = data.length === 0 && isPlain && hasNoCode(world, to)
  if (chain.state.config.behaviour.estimatesAreExact || isTransfer) return exact
  return coarseGas(exact, { cap, gasUsed, gasRefund })
}

/** The upper bound of an estimate, and the reason for it in words. */
interface GasCap {
  readonly gas: bigint
  readonly reason: string
}

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
    const gasLimit = request.gas ?? block.gasLimit
    const facts = { from, balance, cost: least, value, price: maxFeePerGas, gasLimit }
    throw new DevchainError('INSUFFICIENT_FUNDS', text, undefined, facts)
  }
  const most = transactionGasCap(chain.state.config, block.hardfork)
  const affordable = affordableGas(world, message)
  const bounds: GasCap[] = [
    request.gas === undefined
      ? { gas: block.gasLimit, reason: 'the gas limit of the block' }
      : { gas: request.gas, reason: 'the gas given' },
  ]
  if (most !== undefined) {
    bounds.push({ gas: most, reason: 'the most that one transaction may have' })
  }
  if (affordable !== undefined) {
    bounds.push({ gas: affordable, reason: `the most that ${from} can pay for` })
  }
  return bounds.reduce((lowest, bound) => (bound.gas < lowest.gas ? bound : lowest))
}

/** Runs it for free with more state gas than any run needs. */
function failsWithAnyGas(context: CallContext, message: Message): MaybePromise<boolean> {
  const plenty = { gasLimit: 2n ** 62n, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }
  const run = runMessage({ ...context, onRun: undefined }, { ...message, ...plenty })
  return whenThere(run, ({ failure }) => failure?.reason === 'out of gas')
}

function estimateError(failure: Failure, outcome: Outcome, { gas, reason }: GasCap): DevchainError {
  const { output, consoleLines } = outcome
  const isStarved = failure.kind === 'halt' && failure.reason === 'out of gas'
  const why = isStarved ? `out of gas: it needs more than ${gas}, ${reason}` : failure.reason
  const facts = isStarved ? { allowance: gas } : undefined
  return executionError({ ...failure, reason: why }, output, consoleLines, facts)
}

/** The estimate without a run for a plain transfer, where the chain behaves so; otherwise undefined. */
function gasOfPlainTransfer(
  { chain, world, block }: Pick<CallContext, 'chain' | 'world' | 'block'>,
  request: CallRequest,
): bigint | undefined {
  if (chain.state.config.behaviour.estimatesRunTransfers) return undefined
  if (isAtLeast(block.hardfork, 'amsterdam')) return undefined
  const { to, data, accessList, authorizationList, blobs } = request
  const isPlain =
    (data === undefined || data.length === 0) &&
    accessList === undefined &&
    authorizationList === undefined &&
    blobs?.versionedHashes === undefined
  return isPlain && hasNoCode(world, to) ? TRANSACTION_GAS : undefined
}

function hasNoCode(world: World, to: Address | null | undefined): boolean {
  return to !== undefined && to !== null && codeAt(world, to).length === 0
}

interface GasBounds {
  readonly minimum: bigint
  readonly cap: bigint
  readonly guess: bigint
}

const CALL_STIPEND = 2300n

/** Finds a limit that succeeds while one less fails. A right guess costs two runs; bisection starts near the bottom. */
export async function smallestGas(
  succeeds: (gas: bigint) => Promise<boolean>,
  { minimum, cap, guess }: GasBounds,
): Promise<bigint> {
  let low = minimum - 1n
  let high = cap
  const probe = async (gas: bigint): Promise<boolean> => {
    if (gas >= high) return true
    if (gas <= low) return false
    const isEnough = await succeeds(gas)
    if (isEnough) high = gas
    else low = gas
    return isEnough
  }
  if ((await probe(guess)) && !(await probe(guess - 1n))) return guess
  while (high - low > 1n) {
    const middle = (low + high) / 2n
    await probe(low > 0n && middle > low * 2n ? low * 2n : middle)
  }
  return high
}

/** geth's estimates may be too large by this ratio. */
const ERROR_RATIO = 0.015

/** @see https://github.com/ethereum/go-ethereum/blob/master/eth/gasestimator/gasestimator.go */
export function coarseGas(
  exact: bigint,
  { cap, gasUsed, gasRefund }: Pick<Outcome, 'gasUsed' | 'gasRefund'> & Pick<GasBounds, 'cap'>,
): bigint {
  let low = gasUsed - 1n
  let high = cap
  const probe = (gas: bigint): void => {
    if (gas >= exact) high = gas
    else low = gas
  }
  const hopeful = ((gasUsed + gasRefund + CALL_STIPEND) * 64n) / 63n
  if (hopeful < high) probe(hopeful)
  while (low + 1n < high && Number(high - low) / Number(high) >= ERROR_RATIO) {
    const middle = (low + high) / 2n
    probe(middle > low * 2n ? low * 2n : middle)
  }
  return high
}
