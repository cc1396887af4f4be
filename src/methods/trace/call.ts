// trace: traces of messages and signed transactions that run without effects.

import {
  type TracedRun,
  type TracerFor,
  traceMessage,
  traceUnsent,
} from '../../node/calls/replay.ts'
import { decodeSent } from '../../protocol/transactions/sidecar.ts'
import type { JsonText } from '../../rpc/jsontext.ts'
import { optional, param } from '../../rpc/method.ts'
import { list } from '../../rpc/primitives.ts'
import type { World } from '../../state/world.ts'
import { type MethodContext, type Methods, method, printLines } from '../common/context.ts'
import { type Part, parts, replayRecorder } from '../tracing/parts.ts'
import { newTraceWork, recordRun, type TraceWork } from '../tracing/recording.ts'
import { blockOrLatest } from '../wire/decodeblock.ts'
import { pair } from '../wire/decodeobject.ts'
import { overriddenBlock, overriddenState } from '../wire/decodeoverrides.ts'
import { raw, transaction, transactionRequest } from '../wire/decodetransaction.ts'
import { TRANSFER } from '../wire/examples.ts'
import { replayForm, repliesForm } from '../wire/traces/encodetrace.ts'

/** A message and the parts of its trace. */
const tracedMessage = pair('[transaction, types]', transactionRequest, parts)

export const traceCallMethods: Methods = [
  method('trace_call', {
    summary: 'Traces a call: call frames, state differences, operations.',
    params: [
      transaction,
      optional('types', parts, ['trace']),
      blockOrLatest,
      overriddenState,
      overriddenBlock,
    ],
    result: replayForm,
    onFork: 'here',
    handle: (context, request, wanted, reference, accounts, block) =>
      recordOne(context, wanted, (tracerFor) =>
        traceMessage(
          context.chain,
          {
            request,
            reference,
            stateOverrides: accounts,
            blockOverrides: block,
            cancellation: context.caller,
          },
          tracerFor,
        ),
      ),
  }),
  method('trace_callMany', {
    summary: 'Traces a list of [transaction, types], each on the state after the last.',
    params: [param('calls', list(tracedMessage)), blockOrLatest],
    result: repliesForm,
    example: { params: [[[TRANSFER, ['trace']]], 'latest'] },
    onFork: 'here',
    handle: async (context, calls, reference) => {
      const work = newTraceWork(context)
      let world: World | undefined
      work.writer.write('[')
      for (const [index, [request, wanted]] of calls.entries()) {
        if (index > 0) work.writer.write(',')
        const run = await recordInto(work, wanted, (tracerFor) =>
          traceMessage(
            context.chain,
            { request, reference, world, cancellation: work.cancellation },
            tracerFor,
          ),
        )
        printLines(context, run.outcome)
        world = run.outcome.world
      }
      work.writer.write(']')
      return work.writer.end()
    },
  }),
  method('trace_rawTransaction', {
    summary: 'Traces a signed transaction in the next block without sending it.',
    params: [raw, optional('types', parts, ['trace'])],
    result: replayForm,
    handle: (context, raw, wanted) => {
      const { transaction } = decodeSent(raw)
      return recordOne(context, wanted, (tracerFor) =>
        traceUnsent(context.chain, transaction, tracerFor),
      )
    },
  }),
]

/** Records a run outside any block. */
async function recordOne(
  context: MethodContext,
  wanted: readonly Part[],
  trace: (tracerFor: TracerFor) => Promise<TracedRun>,
): Promise<JsonText> {
  const work = newTraceWork(context)
  printLines(context, (await recordInto(work, wanted, trace)).outcome)
  return work.writer.end()
}

function recordInto(
  work: TraceWork,
  wanted: readonly Part[],
  trace: (tracerFor: TracerFor) => Promise<TracedRun>,
): Promise<TracedRun> {
  return recordRun(work, replayRecorder(wanted, false), trace)
}
