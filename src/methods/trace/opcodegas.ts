// trace: what the gas of transactions went into, operation by operation.

import { findRecord } from '../../node/chain/lookup.ts'
import { transactionPlace } from '../../node/ledger/blocktree.ts'
import { param } from '../../rpc/method.ts'
import { hashOfTransaction } from '../../rpc/primitives.ts'
import { type Methods, method } from '../common/context.ts'
import { UNKNOWN } from '../common/examples.ts'
import { opcodeGasRecorder } from '../tracing/opcodegas.ts'
import { newWork, recordBlock, recordTransaction } from '../tracing/recording.ts'
import { blockReference } from '../wire/decodeblock.ts'
import { blockOpcodeGas, transactionOpcodeGas } from '../wire/traces/encodetrace.ts'

export const traceOpcodeGasMethods: Methods = [
  method({
    name: 'trace_transactionOpcodeGas',
    summary:
      'How often each operation ran in a transaction, and the gas it used, without what it passed on; null when unknown.',
    params: [param('hash', hashOfTransaction)],
    result: transactionOpcodeGas,
    example: { params: [UNKNOWN], result: null },
    onFork: 'replay',
    handle: (context, transactionHash) => {
      const place = transactionPlace(context.chain.state.tree, transactionHash)
      return place === undefined ? null : recordTransaction(context, place, opcodeGasRecorder)
    },
  }),
  method({
    name: 'trace_blockOpcodeGas',
    summary:
      'As trace_transactionOpcodeGas, of all transactions of a block; null when there is no such block.',
    params: [param('block', blockReference)],
    result: blockOpcodeGas,
    example: { params: ['0xffffff'], result: null },
    onFork: 'replay',
    handle: async (context, block) => {
      const record = await findRecord(context.chain, block, context.caller.isWaiting)
      if (record === undefined) return null
      const { header, hash: blockHash } = record.block
      const work = newWork(context)
      const { writer } = work
      let separator = ''
      writer.write(`{"blockHash":"${blockHash}","blockNumber":${header.number},"transactions":[`)
      await recordBlock(context.chain, record, {
        work,
        recorder: opcodeGasRecorder,
        each: async (recording, run) => {
          writer.write(separator)
          separator = ','
          await recording.write(run)
        },
      })
      writer.write(']}')
      return writer.end()
    },
  }),
]
