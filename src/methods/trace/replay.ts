// trace: replays of mined transactions, and their gas by opcode.

import { recordOpcodeGas } from '../../evm/tracers/recorders.ts'
import { findRecord, recordAt } from '../../node/chain/lookup.ts'
import { transactionPlace } from '../../node/ledger/blocktree.ts'
import { optional } from '../../rpc/method.ts'
import { type Methods, method } from '../common/context.ts'
import { parts, replayRecorder } from '../tracing/parts.ts'
import { minedPlace, newTraceWork, recordList, recordTransaction } from '../tracing/recording.ts'
import type { Recorder } from '../tracing/tracers.ts'
import { block } from '../wire/decodeblock.ts'
import { transactionHash } from '../wire/decodetransaction.ts'
import {
  blockOpcodeGas,
  replayForm,
  replaysForm,
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
]
