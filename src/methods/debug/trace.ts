// debug: traces in geth's formats. Struct logs follow the format that clients agreed on in 2026
// (execution-apis, pull request 762): words of memory and storage have 0x, which geth omitted before. (The specification's
// node has a default tracer that no client library reads, and null for unknown hashes, which are errors here.)
import { DevchainError } from '../../core/errors.ts'
import { quantityFromBigint } from '../../core/hex.ts'
import { traceMessage } from '../../node/calls/replay.ts'
import type { Chain } from '../../node/chain/chain.ts'
import { recordAt } from '../../node/chain/lookup.ts'
import type { BlockRecord, ExecutedTransaction } from '../../node/ledger/blockrecord.ts'
import { minedPlace } from '../../node/ledger/leftblocks.ts'
import type { BlockReference } from '../../node/ledger/references.ts'
import { decodeBlock } from '../../protocol/blocks/blockdecoding.ts'
import type { JsonText } from '../../rpc/jsontext.ts'
import { optional, param } from '../../rpc/method.ts'
import { anything, boolean, data, quantityNumber, text } from '../../rpc/primitives.ts'
import { type Decoder, invalid, type Notes } from '../../rpc/schema.ts'
import { type MethodContext, type Methods, method } from '../common/context.ts'
import { newTraceWork, recordList, recordOne, recordTransaction } from '../tracing/recording.ts'
import {
  type AloneStage,
  type Recorder,
  recorderNamed,
  structLogRecorder,
} from '../tracing/tracers.ts'
import { block, blockHash, blockOrLatest, blockReference, byHash } from '../wire/decodeblock.ts'
import { members, refined } from '../wire/decodeobject.ts'
import { blockOverrides, stateOverrides } from '../wire/decodeoverrides.ts'
import { transaction, transactionHash } from '../wire/decodetransaction.ts'
import { TRANSFER } from '../wire/examples.ts'
import { blockTraces, chainTraces, transactionTrace } from '../wire/traces/encodetrace.ts'

const traceMembers = {
  enableMemory: boolean,
  disableMemory: boolean,
  disableStack: boolean,
  disableStorage: boolean,
  enableReturnData: boolean,
  disableReturnData: boolean,
  limit: quantityNumber,
  tracer: text,
  tracerConfig: anything,
  // callTracer's own option, which some clients write beside the others
  onlyTopCall: boolean,
  withLog: boolean,
}

/** Traces here have no timeout, and need no old state. */
const IGNORED = ['timeout', 'reexec', 'debug', 'overrides']

const known = members('trace options', traceMembers, IGNORED)

const knownOfCalls = members(
  'trace options',
  { ...traceMembers, stateOverrides, blockOverrides, txIndex: quantityNumber },
  IGNORED,
)

type Known = ReturnType<typeof known.decode>

/**
 * `{tracer?, tracerConfig?, enableMemory?, disableStack?, disableStorage?, enableReturnData?, limit?}`: without a tracer,
 * struct logs. Memory is left out unless requested by `enableMemory` or `disableMemory: false`.
 */
const traceOptions: Decoder<Recorder> = {
  ...refined(known, recorderOf),
  example: { tracer: 'callTracer' },
}

/** By default struct logs with stack and storage. */
const options = optional('options', traceOptions, traceOptions.decode({}, ''))

/**
 * As `traceOptions`, with `stateOverrides`, `blockOverrides` and `txIndex`: the call runs before the block's transaction of
 * this index, by default after all.
 */
const traceCallOptions = refined(knownOfCalls, (given, path, notes) => ({
  recorder: recorderOf(given, path, notes),
  stateOverrides: given.stateOverrides,
  blockOverrides: given.blockOverrides,
  index: given.txIndex,
}))

function recorderOf(given: Known, path: string, notes?: Notes): Recorder {
  const { tracer, tracerConfig, onlyTopCall, withLog } = given
  if (tracer === undefined || tracer === '') return structLogRecorder(structLogOptions(given))
  const isPlain = typeof tracerConfig === 'object' && !Array.isArray(tracerConfig)
  const isJoined = tracer === 'callTracer' && (isPlain || tracerConfig === undefined)
  const config = isJoined ? { onlyTopCall, withLog, ...tracerConfig } : tracerConfig
  return recorderNamed(tracer, config, `${path}.tracerConfig`, notes)
}

function structLogOptions(given: Known): Parameters<typeof structLogRecorder>[0] {
  return {
    withStack: given.disableStack !== true,
    withMemory: given.enableMemory ?? given.disableMemory === false,
    withStorage: given.disableStorage !== true,
    withReturnData: given.enableReturnData ?? given.disableReturnData === false,
    limit: given.limit ?? 0,
  }
}

export const debugTraceMethods: Methods = [
  method('debug_traceTransaction', {
    summary: 'Replays a mined transaction; returns struct logs, or the result of {tracer}.',
    params: [transactionHash, options],
    result: transactionTrace,
    onFork: 'replay',
    handle: (context, transactionHash, recorder) =>
      recordTransaction(context, minedPlace(context.chain.state, transactionHash), recorder),
  }),
  method('debug_traceBlockByHash', {
    summary: 'Traces all transactions of a block, by hash; returns a list of {txHash, result}.',
    params: [param('hash', blockHash), options],
    result: blockTraces,
    onFork: 'replay',
    handle: traceBlock,
  }),
  method('debug_traceBlockByNumber', {
    summary: 'Traces all transactions of a block, by number; returns a list of {txHash, result}.',
    params: [block, options],
    result: blockTraces,
    example: { params: ['pending', { tracer: 'callTracer' }], result: [] },
    onFork: 'replay',
    handle: traceBlock,
  }),
  method('debug_traceBlock', {
    summary: 'Traces all transactions of a known block, given as RLP.',
    params: [param('block', data), options],
    result: blockTraces,
    example: { params: ['0xc0', { tracer: 'callTracer' }] },
    onFork: 'encodedBlock',
    handle: (context, encoded, recorder) =>
      traceBlock(context, byHash(decodeBlock(encoded).hash), recorder),
  }),
  method('debug_traceChain', {
    summary: 'Traces the blocks after {start} up to {end}; returns {block, hash, traces} of each.',
    params: [param('start', blockReference), param('end', blockReference), options],
    result: chainTraces,
    example: { params: ['0x0', '0x1', { tracer: 'callTracer' }] },
    onFork: 'chainTraces',
    handle: traceBlocks,
  }),
  method('debug_traceCall', {
    summary: 'Traces a call, with {stateOverrides}, {blockOverrides} and {txIndex}.',
    params: [
      transaction,
      blockOrLatest,
      optional('options', traceCallOptions, traceCallOptions.decode({}, '')),
    ],
    result: transactionTrace,
    example: { params: [TRANSFER, 'latest', { tracer: 'noopTracer' }], result: {} },
    onFork: 'here',
    handle: (context, request, reference, { recorder, ...scene }) => {
      const message = { request, reference, cancellation: context.caller, ...scene }
      return recordOne(context, recorder, (tracerFor) =>
        traceMessage(context.chain, message, tracerFor),
      )
    },
  }),
]

async function traceBlock(
  context: MethodContext,
  reference: BlockReference,
  recorder: Recorder,
): Promise<JsonText> {
  const record = await recordAt(context.chain, reference, context.caller)
  // nothing ran in the genesis: indexers that begin there retry forever if it is refused
  if (record.block.header.number === 0n && !context.profile.tracesGenesis) {
    throw new DevchainError('NOT_FOUND', 'genesis is not traceable')
  }
  const work = newTraceWork(context)
  await recordList(context.chain, record, work, withHash(recorder))
  return work.writer.end()
}

/** As a list entry: `{txHash, result}`. */
function withHash(recorder: Recorder): Recorder {
  const begin = ({ writer, place }: AloneStage): void =>
    writer.write(`{"txHash":"${place?.transactionHash}","result":`)
  const entry: Recorder = (stage) => {
    begin(stage)
    const { tracer, write } = recorder(stage)
    return {
      tracer,
      write: async (run) => {
        await write(run)
        stage.writer.write('}')
      },
    }
  }
  const { ofAlone } = recorder
  if (ofAlone === undefined) return entry
  return Object.assign(entry, {
    ofAlone: (stage: AloneStage, executed: ExecutedTransaction) => {
      begin(stage)
      ofAlone(stage, executed)
      stage.writer.write('}')
    },
  })
}

async function traceBlocks(
  context: MethodContext,
  first: BlockReference,
  last: BlockReference,
  recorder: Recorder,
): Promise<JsonText> {
  const start = await recordAt(context.chain, first, context.caller)
  const end = await recordAt(context.chain, last, context.caller)
  const work = newTraceWork(context)
  const { writer } = work
  let separator = ''
  writer.write('[')
  for (const record of blocksAfter(context.chain, start, end)) {
    const { header, hash } = record.block
    const number = quantityFromBigint(header.number)
    writer.write(`${separator}{"block":"${number}","hash":"${hash}","traces":`)
    await recordList(context.chain, record, work, withHash(recorder))
    writer.write('}')
    separator = ','
  }
  writer.write(']')
  return writer.end()
}

/** Blocks with transactions, and the last, as geth sends them. */
function* blocksAfter(
  { state: { tree } }: Chain,
  start: BlockRecord,
  end: BlockRecord,
): IterableIterator<BlockRecord> {
  const [from, to] = [start.block.header.number, end.block.header.number]
  if (from >= to) throw invalid('end', `a block after ${from}`, to)
  for (const record of tree.canonical.filled(Number(from) + 1, Number(to))) {
    if (record.block.transactions.length > 0) yield record
  }
  yield end
}
