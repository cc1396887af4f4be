// Simulates calls in blocks on top of a block of the chain, without changing it (eth_simulateV1). Headers, roots,
// receipts and hashes are complete.
import { larger, MAX_UINT64 } from '../../core/bigints.ts'
import { DevchainError, type ErrorWord, invalidParams } from '../../core/errors.ts'
import { EMPTY_BYTES, type Hash, ZERO_ADDRESS, ZERO_HASH } from '../../core/hex.ts'
import { yielder } from '../../core/yield.ts'
import type { Cancellation } from '../../evm/cancellation.ts'
import type {
  BlockEnvironment,
  CallJob,
  Message,
  MovedPrecompiles,
  Outcome,
} from '../../evm/executor.ts'
import { watchTransfers } from '../../evm/tracers/recorders.ts'
import { AccessParts } from '../../protocol/blocks/accesslist.ts'
import { sealBlock } from '../../protocol/blocks/block.ts'
import { type Header, headerOf } from '../../protocol/blocks/header.ts'
import { type BlockGas, type Log, sumOfBlockGas } from '../../protocol/blocks/receipt.ts'
import { blobBaseFeeIn, blobGasOfAll, TRANSACTION_GAS } from '../../protocol/fees.ts'
import { type Hardfork, isAtLeast } from '../../protocol/forks.ts'
import { blockRoom } from '../../protocol/stategas.ts'
import { BLOCK_SECONDS } from '../../protocol/timestamps.ts'
import {
  type BlobFields,
  type Transaction,
  type TransactionType,
  type UnsignedTransaction,
  withoutSignature,
} from '../../protocol/transactions/transaction.ts'
import * as rules from '../../protocol/transactions/transactionrules.ts'
import { Overlay } from '../../state/overlay.ts'
import { accountOrEmpty, nonceAt, stateRoot, type World } from '../../state/world.ts'
import type { Chain } from '../chain/chain.ts'
import { stateAt } from '../chain/lookup.ts'
import type { LogEntry } from '../events/logs.ts'
import type { BlockRecord, ExecutedTransaction } from '../ledger/blockrecord.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import type { BlockReference } from '../ledger/references.ts'
import { blockEnvironment, blockStart, environmentAfter } from '../mining/environment.ts'
import { callLimits } from '../mining/limits.ts'
import { executedAs } from '../mining/receipts.ts'
import { withRewards } from '../mining/rewards.ts'
import { repeatable } from './callcontext.ts'
import {
  applyBlockOverrides,
  applyStateOverrides,
  type BlockOverrides,
  movedPrecompiles,
  type StateOverrides,
} from './overrides.ts'
import { blobsOf, feesOf, requireChain, type TransactionRequest, typeByLists } from './request.ts'

export interface BlockPlan {
  readonly blockOverrides?: BlockOverrides | undefined
  /** Applied before the block; they last for the later blocks, except for moved precompiles. */
  readonly stateOverrides?: StateOverrides | undefined
  readonly calls?: readonly TransactionRequest[] | undefined
}

export interface Simulation {
  readonly blocks: readonly BlockPlan[]
  /** False: no nonce and fee checks and a base fee of 0, as in `eth_call`. Signatures are never checked. */
  readonly validation: boolean
  /** Adds ether transfers to the logs. */
  readonly traceTransfers: boolean
}

export interface SimulatedCall {
  readonly outcome: Outcome
  /** Includes requested transfers; `logIndex` counts them over the whole block. */
  readonly logs: readonly LogEntry[]
}

export interface SimulatedBlock {
  readonly record: BlockRecord
  readonly calls: readonly SimulatedCall[]
}

/** Most blocks of a simulation, including those that fill gaps: as many as BLOCKHASH knows. */
const MAX_BLOCKS = 256n

const SIMULATED: Partial<Record<ErrorWord, ErrorWord>> = {
  NONCE_TOO_LOW: 'SIMULATED_NONCE_TOO_LOW',
  NONCE_TOO_HIGH: 'SIMULATED_NONCE_TOO_HIGH',
  FEE_CAP_TOO_LOW: 'SIMULATED_FEE_CAP_TOO_LOW',
  INTRINSIC_GAS_TOO_LOW: 'SIMULATED_INTRINSIC_GAS_TOO_LOW',
  GAS_BELOW_FLOOR: 'SIMULATED_INTRINSIC_GAS_TOO_LOW',
  INSUFFICIENT_FUNDS: 'SIMULATED_INSUFFICIENT_FUNDS',
  EXCEEDS_BLOCK_GAS_LIMIT: 'SIMULATED_BLOCK_GAS_EXCEEDED',
  INIT_CODE_TOO_LARGE: 'SIMULATED_INIT_CODE_TOO_LARGE',
  TIP_ABOVE_FEE_CAP: 'INVALID_PARAMS',
  TYPE_NOT_SUPPORTED: 'INVALID_PARAMS',
  WRONG_CHAIN_ID: 'INVALID_PARAMS',
  EMPTY_AUTHORIZATION_LIST: 'INVALID_PARAMS',
  INVALID_BLOBS: 'INVALID_PARAMS',
}

type PlacedPlan = Omit<BlockPlan, 'blockOverrides'> & {
  readonly blockOverrides: BlockOverrides & { readonly number: bigint; readonly timestamp: bigint }
}

interface SimulationContext {
  readonly chain: Chain
  readonly state: ChainState
  readonly simulation: Simulation
  readonly base: BlockRecord
  readonly hashes: Map<bigint, Hash>
  readonly cancellation: Cancellation | undefined
}

interface BlockContext {
  readonly context: SimulationContext
  readonly environment: BlockEnvironment
  readonly moved: MovedPrecompiles | undefined
  readonly spent: bigint
}

interface RunCall {
  readonly executed: ExecutedTransaction
  readonly outcome: Outcome
  readonly logs: readonly Log[]
}

/**
 * Simulates blocks after the one that `reference` names. Gaps between the numbers become empty blocks in the result.
 * Gas limit, fee recipient and difficulty default to the parent's; the time is 12 seconds later, the randomness zero. A
 * call without gas gets the rest of 50,000,000 for the whole simulation, or of its block if that is less. Reverts and
 * halts are outcomes.
 * @throws {DevchainError} `NOT_FOUND` for an unknown block; `BLOCK_NUMBER_NOT_INCREASING`,
 *   `BLOCK_TIMESTAMP_NOT_INCREASING`, `TOO_MANY_BLOCKS`; the errors of overrides.ts; `SIMULATED_…` for a call that no
 *   block could hold; `INVALID_PARAMS` for a call that contradicts itself
 * @see https://github.com/ethereum/execution-apis/blob/main/docs/reference/ethsimulatev1-notes.mdx
 */
export async function simulateBlocks(
  chain: Chain,
  simulation: Simulation,
  reference: BlockReference,
  cancellation?: Cancellation,
): Promise<SimulatedBlock[]> {
  const { state } = chain
  const base = await stateAt(chain, reference, cancellation)
  const hashes = new Map<bigint, Hash>()
  const context = { chain, state, simulation, base, hashes, cancellation }
  const results: SimulatedBlock[] = []
  let parent = base
  for (const plan of placed(simulation.blocks, base.block.header)) {
    const spent = results.reduce((sum, { record }) => sum + record.block.header.gasUsed, 0n)
    const result = await simulateBlock(context, plan, { parent, spent })
    parent = result.record
    context.hashes.set(parent.block.header.number, parent.block.hash)
    results.push(result)
  }
  return results
}

function placed(plans: readonly BlockPlan[], base: Header): PlacedPlan[] {
  if (plans.length === 0) {
    throw invalidParams('blockStateCalls: expected at least one block to simulate, got none')
  }
  const all: PlacedPlan[] = []
  let { number, timestamp } = base
  for (const plan of plans) {
    const wanted = plan.blockOverrides?.number ?? number + 1n
    checkNumber(wanted, number, base.number)
    while (number + 1n < wanted) {
      number += 1n
      timestamp += BLOCK_SECONDS
      all.push({ blockOverrides: { number, timestamp } })
    }
    const time = plan.blockOverrides?.timestamp ?? timestamp + BLOCK_SECONDS
    if (time <= timestamp) {
      const message = `block timestamps must be in order: expected one above ${timestamp} for block ${wanted}, got ${time}`
      throw new DevchainError('BLOCK_TIMESTAMP_NOT_INCREASING', message)
    }
    number = wanted
    timestamp = time
    all.push({ ...plan, blockOverrides: { ...plan.blockOverrides, number, timestamp } })
  }
  return all
}

function checkNumber(number: bigint, previous: bigint, base: bigint): void {
  if (number <= previous) {
    const message = `block numbers must be in order: expected a number above ${previous}, got ${number}`
    throw new DevchainError('BLOCK_NUMBER_NOT_INCREASING', message)
  }
  if (number - base <= MAX_BLOCKS) return
  const message = `too many blocks: a simulation may have ${MAX_BLOCKS}, and block ${number} is ${number - base} after block ${base}`
  throw new DevchainError('TOO_MANY_BLOCKS', message)
}

async function simulateBlock(
  context: SimulationContext,
  plan: PlacedPlan,
  { parent, spent }: { readonly parent: BlockRecord } & Pick<BlockContext, 'spent'>,
): Promise<SimulatedBlock> {
  const { executor } = context.chain
  const { config } = context.state
  const { blockOverrides, stateOverrides, calls = [] } = plan
  const { beaconRoot = ZERO_HASH, ...overrides } = blockOverrides
  const usual = simulatedEnvironment(context, parent, overrides)
  const environment = applyBlockOverrides(usual, overrides, config.hardforkAt)
  const block: BlockContext = {
    context,
    environment,
    moved: movedPrecompiles(stateOverrides, environment.hardfork, config),
    spent,
  }
  const start = { block: parent.block, world: applyStateOverrides(parent.world, stateOverrides) }
  const begun = await executor.beginBlock(blockStart(environment, start, beaconRoot))
  const runs = await runCalls(block, calls, begun.world)
  const executed = runs.map((run) => run.executed)
  const logs = executed.flatMap(({ receipt }) => receipt.logs)
  const { coinbase: miner, hardfork, number } = environment
  const ran = runs.at(-1)?.outcome.world ?? begun.world
  const world = withRewards(ran, context.state.config, hardfork, { miner, number }, [])
  const end = await executor.endBlock({ world, block: environment, logs })
  const parts = new AccessParts()
  for (const { accesses } of [begun, ...runs.map(({ outcome }) => outcome)]) parts.add(accesses)
  const listed = parts.listed(hardfork, end.fields, end.accesses)
  const transactions = executed.map(({ transaction }) => transaction)
  const header = headerOf(environment, parent.block.hash, {
    transactions,
    receipts: executed.map(({ receipt }) => receipt),
    stateRoot: stateRoot(end.world),
    end: listed.fields,
    extraData: EMPTY_BYTES,
    beaconRoot,
  })
  const record: BlockRecord = {
    block: sealBlock(header, transactions),
    executed,
    world: end.world,
    totalDifficulty: parent.totalDifficulty + header.difficulty,
  }
  return { record, calls: withPlaces(runs, record) }
}

function simulatedEnvironment(
  { simulation, state, base, hashes }: SimulationContext,
  parent: BlockRecord,
  { number, timestamp }: PlacedPlan['blockOverrides'],
): BlockEnvironment {
  const { header } = parent.block
  const past = blockEnvironment(state, base)
  return environmentAfter(state, header, {
    number,
    timestamp,
    coinbase: header.miner,
    gasLimit: header.gasLimit,
    difficulty: header.difficulty,
    prevRandao: ZERO_HASH,
    baseFee: simulation.validation ? undefined : 0n,
    blockHash: (asked) => {
      if (asked === base.block.header.number) return base.block.hash
      return hashes.get(asked) ?? past.blockHash(asked)
    },
  })
}

async function runCalls(
  block: BlockContext,
  calls: readonly TransactionRequest[],
  begun: World,
): Promise<RunCall[]> {
  const runs: RunCall[] = []
  const yieldIfDue = yielder()
  for (const [index, request] of calls.entries()) {
    const world = runs.at(-1)?.outcome.world ?? begun
    const run = await runCall(block, runs, world, request).catch((error: unknown) => {
      throw inSimulation(error, block.environment.number, index)
    })
    runs.push(run)
    await yieldIfDue()
  }
  return runs
}

function inSimulation(error: unknown, block: bigint, index: number): unknown {
  if (!(error instanceof DevchainError)) return error
  const { word, message, data, facts } = error
  const place = `call ${index} of simulated block ${block}`
  return new DevchainError(SIMULATED[word] ?? word, `${message} (${place})`, data, facts)
}

async function runCall(
  block: BlockContext,
  before: readonly RunCall[],
  world: World,
  request: TransactionRequest,
): Promise<RunCall> {
  const { context, environment, moved, spent } = block
  const { chain, state, simulation } = context
  const { hardfork, blobRules } = environment
  const receipts = before.map(({ executed }) => executed.receipt)
  const gasUsed = receipts.at(-1)?.cumulativeGasUsed ?? 0n
  const blobGasUsed = blobGasOfAll(before.map(({ executed }) => executed.transaction))
  const place = { world, counted: sumOfBlockGas(receipts), spent }
  const { message, transaction } = prepare(environment, place, request)
  rules.requireType(transaction, hardfork)
  rules.requireAuthorizations(transaction)
  rules.requireBlobs(transaction, hardfork, blobRules)
  rules.requireBlobRoom(transaction, blobGasUsed, hardfork, blobRules)
  if (simulation.validation) checkAsBlock(transaction, environment, world)
  // from amsterdam on transfers have logs of their own (EIP-7708)
  const isWatched = simulation.traceTransfers && !isAtLeast(hardfork, 'amsterdam')
  const watch = isWatched ? watchTransfers() : undefined
  const job: CallJob = {
    world,
    block: environment,
    message,
    movedPrecompiles: moved,
    limits: callLimits(state.config),
    isOfBlock: true,
    cancellation: context.cancellation,
  }
  const run = chain.executor.call({ ...job, tracer: watch?.tracer })
  const outcome = await repeatable(chain, job, run)
  const after = new Overlay(outcome.world)
  const executed = executedAs(transaction, outcome, environment, gasUsed + outcome.gasUsed, after)
  return { executed, outcome, logs: watch?.logs() ?? outcome.logs }
}

/** A block's extra checks of a transaction; signature and sender are never checked. */
function checkAsBlock(transaction: Transaction, block: BlockEnvironment, world: World): void {
  rules.requireNextNonce(transaction, accountOrEmpty(world, transaction.from))
  rules.requireTipWithinCap(transaction)
  rules.requireBaseFee(transaction, block.baseFee)
  rules.requireBlobFee(transaction, blobBaseFeeIn(block))
}

function withPlaces(runs: readonly RunCall[], { block, executed }: BlockRecord): SimulatedCall[] {
  let logIndex = -1
  return runs.map(({ outcome, logs }, transactionIndex) => ({
    outcome,
    logs: logs.map((log) => {
      logIndex += 1
      const transactionHash = executed[transactionIndex]!.transaction.hash
      return { log, block, transactionHash, transactionIndex, logIndex, removed: false }
    }),
  }))
}

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
    chainId: type === 0 ? undefined : environment.chainId,
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
