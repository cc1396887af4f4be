// Records the runs of a request: transactions of blocks, and messages, within the limits of one request.
import type { MaybePromise } from '../../core/promises.ts'
import { type Cancellation, throwIfCancelled } from '../../evm/cancellation.ts'
import type { Tracer } from '../../evm/executor.ts'
import {
  replay,
  replayOne,
  TraceBudget,
  type TracedRun,
  type TracedTarget,
  type TracerFor,
} from '../../node/calls/replay.ts'
import type { Chain } from '../../node/chain/chain.ts'
import { type BlockRecord, logsBefore } from '../../node/ledger/blockrecord.ts'
import type { TransactionPlace } from '../../node/ledger/blocktree.ts'
import { type JsonText, JsonWriter } from '../../rpc/jsontext.ts'
import { type MethodContext, printLines } from '../common/context.ts'
import type { FramePlace } from '../wire/traces/encodeframes.ts'
import { areFramesKnown } from './aloneframe.ts'
import type { Recorder, Stage, TraceRecording } from './tracers.ts'

/** Shared by the recordings of one request. */
export interface TraceWork extends Pick<Stage, 'writer' | 'budget' | 'project'> {
  readonly cancellation: Cancellation
}

export function newTraceWork({
  options,
  caller,
  project,
}: Pick<MethodContext, 'options' | 'caller' | 'project'>): TraceWork {
  const budget = new TraceBudget(options.traceLimit)
  return { writer: new JsonWriter(), budget, cancellation: caller, project: project.project }
}

/** The tracer also enforces the limits, waits for the writer, and throws `CANCELLED` when the request is cancelled. */
function begin(
  { writer, budget, cancellation, project }: TraceWork,
  recorder: Recorder,
  target: TracedTarget,
  place: Stage['place'],
): TraceRecording {
  const recording = recorder({ writer, budget, target, place, project })
  const onPause = async (): Promise<void> => {
    throwIfCancelled(cancellation)
    await writer.settle()
  }
  const tracer: Tracer = { ...recording.tracer, onTick: budget.tick, onPause }
  return { ...recording, tracer }
}

/**
 * Records a run and writes its result.
 * @param place undefined for a run outside any block
 */
export async function recordRun(
  work: TraceWork,
  recorder: Recorder,
  trace: (tracerFor: TracerFor) => Promise<TracedRun>,
  place?: FramePlace,
): Promise<TracedRun> {
  let recording: TraceRecording | undefined
  const run = await trace((target, index) => {
    throwIfCancelled(work.cancellation)
    // transactions before it in its block
    if (place !== undefined && index !== place.index) return undefined
    recording = begin(work, recorder, target, place)
    return recording.tracer
  })
  await recording?.write(run)
  work.budget.release()
  return run
}

/** The JSON of the recording of a run outside any block. Its console lines are added to those of the call. */
export async function recordOne(
  context: MethodContext,
  recorder: Recorder,
  trace: (tracerFor: TracerFor) => Promise<TracedRun>,
): Promise<JsonText> {
  const work = newTraceWork(context)
  printLines(context, (await recordRun(work, recorder, trace)).outcome)
  return work.writer.end()
}

/** The JSON of a mined transaction's recording; it runs again unless the result is known. */
export function recordTransaction(
  context: MethodContext,
  transaction: TransactionPlace,
  recorder: Recorder,
): MaybePromise<JsonText> {
  const { record, index } = transaction
  const place = framePlace(record, index)
  const executed = record.executed[index]
  if (recorder.ofAlone && executed && areFramesKnown([executed])) {
    const writer = new JsonWriter()
    recorder.ofAlone({ writer, place }, executed)
    return writer.end()
  }
  const work = newTraceWork(context)
  const trace = (tracerFor: TracerFor): Promise<TracedRun> =>
    replayOne(context.chain, transaction, tracerFor)
  return recordRun(work, recorder, trace, place).then(() => work.writer.end())
}

/** Replays a block, and records its transactions one after the other. */
export async function recordBlock(
  chain: Chain,
  record: BlockRecord,
  work: TraceWork,
  recorder: Recorder,
): Promise<void> {
  let recording: TraceRecording | undefined
  const tracerFor = (target: TracedTarget, index: number): Tracer | undefined => {
    throwIfCancelled(work.cancellation)
    recording = begin(work, recorder, target, framePlace(record, index))
    return recording.tracer
  }
  for await (const run of replay(chain, record, tracerFor)) {
    // a recording's data is released once it is written
    await recording?.write(run)
    work.budget.release()
  }
}

/** Records a block's transactions, and writes the results as a list; they run again unless all results are known. */
export async function recordList(
  chain: Chain,
  record: BlockRecord,
  work: TraceWork,
  recorder: Recorder,
): Promise<void> {
  const { writer } = work
  writer.write('[')
  if (recorder.ofAlone && areFramesKnown(record.executed)) {
    for (const [index, executed] of record.executed.entries()) {
      throwIfCancelled(work.cancellation)
      if (index > 0) writer.write(',')
      recorder.ofAlone({ writer, place: framePlace(record, index) }, executed)
      await writer.yieldIfDue()
    }
  } else {
    await recordBlock(chain, record, work, (stage) => {
      // output at the recording's begin is part of its entry
      if (stage.place?.index !== 0) writer.write(',')
      return recorder(stage)
    })
  }
  writer.write(']')
}

/** The position that a transaction's frames belong to. */
function framePlace(record: BlockRecord, index: number): FramePlace {
  const transactionHash = record.block.transactions[index]!.hash
  return { record, index, transactionHash, logsBefore: logsBefore(record, index) }
}
