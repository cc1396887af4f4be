// trace: mined transactions run again.

import { recordAt } from '../../node/chain/lookup.ts'
import { optional, param } from '../../rpc/method.ts'
import { hashOfTransaction } from '../../rpc/primitives.ts'
import { type Methods, method } from '../common/context.ts'
import { UNKNOWN } from '../common/examples.ts'
import { parts, replayRecorder } from '../tracing/parts.ts'
import { minedPlace, newWork, recordBlock, recordTransaction } from '../tracing/recording.ts'
import { blockReference } from '../wire/decodeblock.ts'
import { replayForm, replaysForm } from '../wire/traces/encodetrace.ts'

export const traceReplayMethods: Methods = [
  method({
    name: 'trace_replayTransaction',
    summary: 'A mined transaction run again: its frames, the differences of state, its operations.',
    params: [param('hash', hashOfTransaction), optional('types', parts, ['trace'])],
    result: replayForm,
    example: { params: [UNKNOWN, ['trace']] },
    onFork: 'replay',
    handle: (context, transactionHash, wanted) =>
      recordTransaction(
        context,
        minedPlace(context.chain, transactionHash),
        replayRecorder(wanted, false),
      ),
  }),
  method({
    name: 'trace_replayBlockTransactions',
    summary: 'All transactions of a block run again, each as trace_replayTransaction does.',
    params: [param('block', blockReference), optional('types', parts, ['trace'])],
    result: { ...replaysForm, noun: 'transaction' },
    example: { params: ['earliest', ['trace']], result: [] },
    onFork: 'replay',
    handle: async (context, reference, wanted) => {
      const record = await recordAt(context.chain, reference, context.caller.isWaiting)
      const work = newWork(context)
      const recorder = replayRecorder(wanted, true)
      work.writer.write('[')
      await recordBlock(context.chain, record, {
        work,
        recorder: (stage) => {
          if (stage.place?.index !== 0) work.writer.write(',')
          return recorder(stage)
        },
        each: (recording, run) => recording.write(run),
      })
      work.writer.write(']')
      return work.writer.end()
    },
  }),
]
