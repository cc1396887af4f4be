// trace: replays of mined transactions and their gas by opcode; messages and signed transactions that run without effects.

import { recordOpcodeGas } from '../../evm/tracers/recorders.ts'
import {
  type TracedRun,
  type TracerFor,
  traceMessage,
  traceUnsent,
} from '../../node/calls/replay.ts'
import { findRecord, recordAt } from '../../node/chain/lookup.ts'
import { transactionPlace } from '../../node/ledger/blocktree.ts'
import { decodeSent } from '../../protocol/transactions/sidecar.ts'
import type { JsonText } from '../../rpc/jsontext.ts'
import { optional, param } from '../../rpc/method.ts'
import { list } from '../../rpc/primitives.ts'
import type { World } from '../../state/world.ts'
import { type MethodContext, type Methods, method, printLines } from '../common/context.ts'
import { type Part, parts, replayRecorder } from '../tracing/parts.ts'
import {
  minedPlace,
  newTraceWork,
  recordList,
  recordRun,
  recordTransaction,
  type TraceWork,
} from '../tracing/recording.ts'
import type { Recorder } from '../tracing/tracers.ts'
import { block, blockOrLatest } from '../wire/decodeblock.ts'
import { pair } from '../wire/decodeobject.ts'
import { overriddenBlock, overriddenState } from '../wire/decodeoverrides.ts'
import { raw, transaction, transactionHash, transactionRequest } from '../wire/decodetransaction.ts'
import { TRANSFER } from '../wire/examples.ts'
import {
  blockOpcodeGas,
  replayForm,
  replaysForm,
  repliesForm,
  transactionOpcodeGas,
} from '../wire/traces/encodetrace.ts'

/** `{transactionHash, opcodeGas: [{opcode, count, gasUsed}]}`: alloy's TransactionOpcodeGas (rpc-types-trace). */
const opcodeGasRecorder: Recorder = ({ writer, place }) => {
  const { tracer, byOpcode } = recordOpcodeGas()
  return {
    tracer,
    write: async () => {
      const entries = [...byOpcode].map(([opcode, { count, gasUsed }]) => ({
        opcode,
        count,
        gasUsed: Number(gasUsed),
      }))
      writer.value({ transactionHash: place?.transactionHash ?? null, opcodeGas: entries })
    },
  }
}

/** A message and the parts of its trace. */
const tracedMessage = pair('[transaction, types]', transactionRequest, parts)

export const traceReplayMethods: Methods = [
  method('trace_replayTransaction', {
    summary: 'Replays a mined transaction: call frames, state differences, operations.',
    params: [transactionHash, optional('types', parts, ['trace'])],
    result: replayForm,
    onFork: 'replay',
    handle: (context, transactionHash, wanted) =>
      recordTransaction(
        context,
        minedPlace(context.chain, transactionHash),
        replayRecorder(wanted, false),
      ),
  }),
  method('trace_replayBlockTransactions', {
    summary: 'Replays all transactions of a block like trace_replayTransaction.',
    params: [block, optional('types', parts, ['trace'])],
    result: { ...replaysForm, noun: 'transaction' },
    example: { params: ['earliest', ['trace']], result: [] },
    onFork: 'replay',
    handle: async (context, reference, wanted) => {
      const record = await recordAt(context.chain, reference, context.caller)
      const work = newTraceWork(context)
      await recordList(context.chain, record, work, replayRecorder(wanted, true))
      return work.writer.end()
    },
  }),
  method('trace_transactionOpcodeGas', {
    summary: 'Returns count and own gas of each opcode of a transaction; null if unknown.',
    params: [transactionHash],
    result: transactionOpcodeGas,
    example: { result: null },
    onFork: 'replay',
    handle: (context, transactionHash) => {
      const place = transactionPlace(context.chain.state.tree, transactionHash)
      return place === undefined ? null : recordTransaction(context, place, opcodeGasRecorder)
    },
  }),
  method('trace_blockOpcodeGas', {
    summary: 'Returns trace_transactionOpcodeGas of each transaction of a block; null if unknown.',
    params: [block],
    result: blockOpcodeGas,
    example: { params: ['0xffffff'], result: null },
    onFork: 'replay',
    handle: async (context, block) => {
      const record = await findRecord(context.chain, block, context.caller)
      if (record === undefined) return null
      const { header, hash: blockHash } = record.block
      const work = newTraceWork(context)
      const { writer } = work
      writer.write(`{"blockHash":"${blockHash}","blockNumber":${header.number},"transactions":`)
      await recordList(context.chain, record, work, opcodeGasRecorder)
      writer.write('}')
      return writer.end()
    },
  }),
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
