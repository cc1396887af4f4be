// Where jobs are done: checks first, then the run, on the machine that suits the job.
import { keccakHash } from '../core/crypto.ts'
import { areBlobsFree, effectiveGasPrice, effectiveTip, isFree } from '../protocol/fees.ts'
import { accountAt } from '../state/world.ts'
import { blobPriceOf, checkMessage, checkTransaction } from './checks.ts'
import type { CallJob, ExecutorOptions, Jobs, Outcome, TransactionJob } from './executor.ts'
import { DEFAULT_MEMORY_LIMIT, type MachineJob, memoryForGas } from './machine.ts'
import { abandoned } from './reasons.ts'
import { beginBlock, endBlock } from './system.ts'
import { type Subject, Tiers, tiersOf, type Workshop } from './tiers.ts'
import { type Application, applyMessage, type RunSetting } from './transition.ts'
import { Turns } from './turns.ts'

/**
 * An executor with the machines of the options.
 * @param isClosed true once everything that runs is to be given up
 */
export function createWorkshop(
  { evm = 'auto', memoryLimit = DEFAULT_MEMORY_LIMIT, onBug = console.error }: ExecutorOptions,
  isClosed: () => boolean,
): Jobs {
  return executorOn({ tiers: new Tiers(tiersOf(evm, onBug), onBug), memoryLimit, isClosed })
}

/** An executor on machines that exist. */
export function executorOn(parts: Omit<Workshop, 'turns'>): Jobs {
  const workshop = { ...parts, turns: new Turns() }
  return {
    transact: (job) => transact(workshop, job),
    call: (job) => call(workshop, job),
    beginBlock: (job) => beginBlock(workshop, job),
    endBlock: (job) => endBlock(workshop, job),
    findWrongBlob: async (sidecar) => {
      // few chains see a blob
      const { findWrongBlob } = await import('./blobproofs.ts')
      return findWrongBlob(sidecar, pauseOf(workshop, {}))
    },
    rest: (isAwaited) => pauseOf(workshop, { isAwaited })(),
  }
}

function transact(workshop: Workshop, job: TransactionJob): Outcome | Promise<Outcome> {
  checkTransaction(job)
  const { block, transaction } = job
  const price = effectiveGasPrice(transaction, block.baseFee)
  const tip = effectiveTip(transaction, block.baseFee)
  const { nonce, blobs } = transaction
  const blobPrice = blobPriceOf(transaction, block)
  return apply(workshop, job, applicationOf(transaction, { nonce, price, tip, blobs, blobPrice }))
}

/**
 * A free call pays nothing to anybody, whatever the block's base fee is, which BASEFEE tells. A nonce that is given stands
 * in for the sender's own, which decides the address of a created contract.
 */
function call(workshop: Workshop, job: CallJob): Outcome | Promise<Outcome> {
  checkMessage(job)
  const { world, block, message } = job
  const free = isFree(message)
  const price = free ? 0n : effectiveGasPrice(message, block.baseFee)
  // below the base fee nothing is left for the miner
  const tip = price < block.baseFee ? 0n : price - block.baseFee
  const nonce = message.nonce ?? accountAt(world, message.from)?.nonce ?? 0n
  const { blobs } = message
  const blobPrice = areBlobsFree(message) ? 0n : blobPriceOf(message, block)
  return apply(workshop, job, applicationOf(message, { nonce, price, tip, blobs, blobPrice }))
}

type Terms = Pick<Application, 'nonce' | 'price' | 'tip' | 'blobs' | 'blobPrice'>

/** Written out, as a spread of so many members takes longer than many a call. */
function applicationOf(
  message: Omit<Application, keyof Terms>,
  { nonce, price, tip, blobs, blobPrice }: Terms,
): Application {
  const { from, to, value, data, gasLimit, accessList, authorizationList } = message
  return {
    from,
    to,
    value,
    data,
    gasLimit,
    accessList,
    authorizationList,
    nonce,
    price,
    tip,
    blobs,
    blobPrice,
  }
}

type JobTraits = Pick<
  CallJob,
  'world' | 'block' | 'limits' | 'movedPrecompiles' | 'tracer' | 'reportsAccess' | 'isAwaited'
>

function apply(
  workshop: Workshop,
  job: JobTraits,
  message: Application,
): Outcome | Promise<Outcome> {
  const setting: RunSetting = {
    world: job.world,
    block: job.block,
    limits: job.limits,
    movedPrecompiles: job.movedPrecompiles,
    memoryLimit: memoryOf(workshop, job, message),
    reportsAccess: job.reportsAccess === true,
    tracer: job.tracer,
    pause: pauseOf(workshop, job),
  }
  return workshop.tiers.run(subjectOf(job, message), (machine) =>
    applyMessage(machine, setting, message),
  )
}

/** Bytes of memory that a run may have. */
function memoryOf(
  { memoryLimit }: Workshop,
  { limits }: JobTraits,
  { gasLimit }: Application,
): number {
  return limits?.memory === 'gas' ? Math.max(memoryLimit, memoryForGas(gasLimit)) : memoryLimit
}

function subjectOf({ world, tracer }: JobTraits, { to, data }: Application): Subject {
  return {
    // the others tell nobody what they do
    needsReference: tracer !== undefined,
    codeHash: () => (to === null ? undefined : accountAt(world, to)?.codeHash) ?? keccakHash(data),
  }
}

/** Lets timers and sockets have their turn during a long run, and ends one that nobody waits for any more. */
function pauseOf(
  { isClosed, turns }: Workshop,
  { tracer, isAwaited }: Pick<CallJob, 'tracer' | 'isAwaited'>,
): NonNullable<MachineJob['pause']> {
  return async (gasUsed) => {
    await turns.next()
    if (isClosed() || isAwaited?.(gasUsed) === false) throw abandoned()
    await tracer?.onPause?.()
  }
}
