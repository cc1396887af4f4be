// trace: frames, state differences and operations in the form of OpenEthereum, which client libraries read. Where the
// node of the specification is odd, the sane reading is taken: `input` and `output` are each frame's own, inner
// creations that failed are listed, `trace_get` takes a place in the transaction's tree of frames, and `trace_filter`
// looks at each frame's own sender and receiver. The outermost frame has, as every other, the gas that was left when it
// began and what it used itself: without the intrinsic gas of the transaction, and before refunds.

import { DevchainError, printValue } from '../../core/errors.ts'
import type { Hash } from '../../core/hex.ts'
import { type CallFrame, recordCalls } from '../../evm/tracers/calls.ts'
import { type FlatFrame, flatten } from '../../evm/tracers/flat.ts'
import {
  type TracedRun,
  type TracerFor,
  traceMessage,
  traceUnsent,
} from '../../node/calls/replay.ts'
import type { CallRequest } from '../../node/calls/request.ts'
import { findRecord, recordAt } from '../../node/chain/lookup.ts'
import type { BlockRecord } from '../../node/ledger/blockrecord.ts'
import { headOf, transactionPlace } from '../../node/ledger/blocktree.ts'
import type { BlockReference } from '../../node/ledger/references.ts'
import { decodeSent } from '../../protocol/sidecar.ts'
import type { JsonText } from '../../rpc/jsontext.ts'
import { type Method, optional, param } from '../../rpc/method.ts'
import { data, enumeration, hash, list, quantityNumber } from '../../rpc/primitives.ts'
import { type Decoder, type Json, remark } from '../../rpc/schema.ts'
import type { World } from '../../state/world.ts'
import { type MethodContext, method, printLines } from '../common/context.ts'
import { TRANSFER, UNKNOWN } from '../common/examples.ts'
import { PARTS, type Part, replayRecorder } from '../tracing/parts.ts'
import { begin, minedPlace, newWork, recordBlock, type Work } from '../tracing/recording.ts'
import type { Recording } from '../tracing/tracers.ts'
import { blockReference, LATEST } from '../wire/decodeblock.ts'
import { blockOverrides, stateOverrides, transactionRequest } from '../wire/decodeobject.ts'
import { type FramePlace, flatFrame, writeFlatFrames } from '../wire/traces/encodeframes.ts'
import { rewardEntries } from '../wire/traces/encoderewards.ts'
import {
  placedFrameForm,
  placedFrames,
  replayForm,
  replaysForm,
  repliesForm,
} from '../wire/traces/encodetrace.ts'
import { type FrameQuery, frameQuery, matchesFrame, matchesReward } from './framequery.ts'

const parts = list(enumeration(PARTS))

/** A pair of a message and what is wanted of it. */
const tracedMessage: Decoder<readonly [CallRequest, readonly Part[]]> = {
  name: '[transaction, types]',
  json: { type: 'array', prefixItems: [transactionRequest.json, parts.json], minItems: 2 },
  decode: (value, path, notes) => {
    if (!Array.isArray(value) || value.length !== 2) {
      const message = `${path}: expected a pair [transaction, types], got ${printValue(value)}`
      throw new DevchainError('INVALID_PARAMS', message)
    }
    const message = transactionRequest.decode(value[0], `${path}[0]`, notes)
    return [message, parts.decode(value[1], `${path}[1]`)]
  },
}

const transactionFrames = method({
  name: 'trace_transaction',
  summary:
    'The frames of a transaction, each before those it opened; null when it is not in the chain.',
  params: [param('hash', hash)],
  result: placedFrames,
  example: { params: [UNKNOWN], result: null },
  handle: (context, transactionHash) => {
    const place = transactionPlace(context.chain.state.tree, transactionHash)
    return place === undefined ? null : framesOf(context, place.record, place.index)
  },
})

const blockFrames = method({
  name: 'trace_block',
  summary:
    'The frames of all transactions of a block, then what it paid for work; null when there is no such block.',
  params: [param('block', blockReference)],
  result: placedFrames,
  example: { params: ['earliest'], result: [] },
  handle: async (context, block) => {
    const record = await findRecord(context.chain, block, context.caller.isWaiting)
    return record === undefined ? null : framesOf(context, record)
  },
})

const filteredFrames = method({
  name: 'trace_filter',
  summary:
    'Frames of a range of blocks, by {fromAddress} and {toAddress}; {after} skips, {count} bounds (10,000 at most).',
  params: [param('filter', frameQuery)],
  result: placedFrames,
  example: { params: [{ fromBlock: 'earliest', toBlock: 'latest', count: 10 }], result: [] },
  handle: filterFrames,
})

const oneFrame = method({
  name: 'trace_get',
  summary:
    'The frame at a place in a transaction’s tree of frames, [] the outermost; null when there is none.',
  params: [param('hash', hash), param('positions', list(quantityNumber))],
  result: placedFrameForm,
  example: { params: [UNKNOWN, ['0x0']], result: null },
  handle: frameAt,
})

const traceCall = method({
  name: 'trace_call',
  summary: 'A message run as eth_call does: its frames, the differences of state, its operations.',
  params: [
    param('transaction', transactionRequest),
    optional('types', parts, ['trace']),
    optional('block', blockReference, LATEST),
    optional('stateOverrides', stateOverrides),
    optional('blockOverrides', blockOverrides),
  ],
  result: replayForm,
  example: { params: [TRANSFER, ['trace'], 'latest'] },
  handle: (context, request, wanted, reference, accounts, block) =>
    recordOne(context, wanted, (tracerFor) =>
      traceMessage(
        context.chain,
        {
          request,
          reference,
          stateOverrides: accounts,
          blockOverrides: block,
          isAwaited: context.caller.isWaiting,
        },
        tracerFor,
      ),
    ),
})

const traceCallMany = method({
  name: 'trace_callMany',
  summary:
    'Messages run one after the other, each on what those before it left: a list of [transaction, types].',
  params: [param('calls', list(tracedMessage)), optional('block', blockReference, LATEST)],
  result: repliesForm,
  example: { params: [[[TRANSFER, ['trace']]], 'latest'] },
  handle: async (context, calls, reference) => {
    const work = newWork(context)
    let world: World | undefined
    work.writer.write('[')
    for (const [index, [request, wanted]] of calls.entries()) {
      if (index > 0) work.writer.write(',')
      const run = await recordInto(work, wanted, (tracerFor) =>
        traceMessage(
          context.chain,
          { request, reference, world, isAwaited: work.isAwaited },
          tracerFor,
        ),
      )
      printLines(context, run.outcome)
      world = run.outcome.world
    }
    work.writer.write(']')
    return work.writer.end()
  },
})

const traceRaw = method({
  name: 'trace_rawTransaction',
  summary: 'A signed transaction run as it would be in the next block, without being sent.',
  params: [param('raw', data), optional('types', parts, ['trace'])],
  result: replayForm,
  example: { params: ['0x02f86521808080825208947099', ['trace']] },
  handle: (context, raw, wanted) => {
    const { transaction } = decodeSent(raw)
    return recordOne(context, wanted, (tracerFor) =>
      traceUnsent(context.chain, transaction, tracerFor),
    )
  },
})

const replayTransaction = method({
  name: 'trace_replayTransaction',
  summary: 'A mined transaction run again: its frames, the differences of state, its operations.',
  params: [param('hash', hash), optional('types', parts, ['trace'])],
  result: replayForm,
  example: { params: [UNKNOWN, ['trace']] },
  handle: async (context, transactionHash, wanted) => {
    const { record, index } = minedPlace(context.chain, transactionHash)
    const work = newWork(context)
    await recordBlock(context.chain, record, {
      work,
      recorder: replayRecorder(wanted, false),
      only: index,
      each: (recording, run) => recording.write(run),
    })
    return work.writer.end()
  },
})

const replayBlock = method({
  name: 'trace_replayBlockTransactions',
  summary: 'All transactions of a block run again, each as trace_replayTransaction does.',
  params: [param('block', blockReference), optional('types', parts, ['trace'])],
  result: replaysForm,
  example: { params: ['earliest', ['trace']], result: [] },
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
})

/** Writes the frames of a block's transactions, or of one. */
async function framesOf(
  context: MethodContext,
  record: BlockRecord,
  only?: number,
): Promise<JsonText> {
  const work = newWork(context)
  work.writer.write('[')
  let isFirst = true
  await eachTree(context, record, { work, only }, async (top, place) => {
    if (!isFirst) work.writer.write(',')
    isFirst = false
    await writeFlatFrames(work.writer, top, { withParityErrors: true, place })
  })
  const rewards = only === undefined ? rewardEntries(context.chain, record) : []
  for (const { entry } of rewards) {
    if (!isFirst) work.writer.write(',')
    isFirst = false
    work.writer.value(entry)
  }
  work.writer.write(']')
  return work.writer.end()
}

/** Replays a block and hands over each transaction's frames. */
async function eachTree(
  { chain }: MethodContext,
  record: BlockRecord,
  { work, only }: { readonly work: Work; readonly only?: number | undefined },
  take: (top: CallFrame, place: FramePlace) => Promise<void>,
): Promise<void> {
  await recordBlock(chain, record, {
    work,
    only,
    recorder: ({ budget, place }) => {
      const { tracer, top } = recordCalls({ keep: budget.keep })
      const write = async (): Promise<void> => {
        if (place !== undefined) await take(top(), place)
      }
      return { tracer, write }
    },
    each: (recording, run) => recording.write(run),
  })
}

async function frameAt(
  context: MethodContext,
  transactionHash: Hash,
  positions: readonly number[],
): Promise<JsonText | null> {
  const place = transactionPlace(context.chain.state.tree, transactionHash)
  if (place === undefined) return null
  const { record, index } = place
  const work = newWork(context)
  const wanted = positions.join()
  await eachTree(context, record, { work, only: index }, async (top, at) => {
    let found: FlatFrame | undefined
    for (const flat of flatten(top)) {
      if (flat.traceAddress.join() === wanted) found = flat
    }
    const form = { withParityErrors: true, place: at }
    work.writer.value(found === undefined ? null : flatFrame(found, form))
  })
  return work.writer.end()
}

/** Walks through the blocks until there are frames enough. */
async function filterFrames(context: MethodContext, query: FrameQuery): Promise<JsonText> {
  const { chain } = context
  const work = newWork(context)
  const { from, to } = await rangeOf(context, query)
  const { tree } = chain.state
  let skipped = 0
  let count = 0
  const offer = (isWanted: boolean, entryOf: () => Json): void => {
    if (count >= query.count || !isWanted || skipped++ < query.after) return
    if (count++ > 0) work.writer.write(',')
    work.writer.value(entryOf())
  }
  work.writer.write('[')
  for (const record of tree.canonical.filled(Number(from), Number(to) + 1)) {
    if (count >= query.count) break
    await work.writer.yieldIfDue()
    await eachTree(context, record, { work }, async (top, place) => {
      const form = { withParityErrors: true, place }
      for (const flat of flatten(top)) {
        await work.writer.yieldIfDue()
        offer(matchesFrame(query, flat.frame), () => flatFrame(flat, form))
      }
    })
    for (const { author, entry } of rewardEntries(chain, record)) {
      offer(matchesReward(query, author), () => entry)
    }
  }
  work.writer.write(']')
  if (count >= query.count && !query.isCountGiven) {
    const text = `answered with the first ${count} frames, the most one request gets; ask for others with {after: ${query.after + count}}`
    remark(context.notes, text)
  }
  return work.writer.end()
}

/** @throws {DevchainError} `INVALID_PARAMS` for a range that ends before it begins */
async function rangeOf(
  { chain }: MethodContext,
  { fromBlock, toBlock }: FrameQuery,
): Promise<{ readonly from: bigint; readonly to: bigint }> {
  const head = headOf(chain.state.tree).block.header.number
  const numberOf = async (reference: BlockReference): Promise<bigint> => {
    if (reference.kind === 'number') return reference.number
    // what is not mined yet is in no block of the chain
    if (reference.kind === 'tag' && reference.tag === 'pending') return head
    return (await recordAt(chain, reference)).block.header.number
  }
  const [from, to] = [await numberOf(fromBlock), await numberOf(toBlock)]
  if (from <= to) return { from, to: to < head ? to : head }
  const message = `fromBlock: expected a block up to toBlock, ${to}, got ${from}`
  throw new DevchainError('INVALID_PARAMS', message)
}

/** Records a run that is in no block. */
async function recordOne(
  context: MethodContext,
  wanted: readonly Part[],
  trace: (tracerFor: TracerFor) => Promise<TracedRun>,
): Promise<JsonText> {
  const work = newWork(context)
  printLines(context, (await recordInto(work, wanted, trace)).outcome)
  return work.writer.end()
}

async function recordInto(
  work: Work,
  wanted: readonly Part[],
  trace: (tracerFor: TracerFor) => Promise<TracedRun>,
): Promise<TracedRun> {
  let recording: Recording | undefined
  const run = await trace((subject) => {
    recording = begin(work, replayRecorder(wanted, false), subject, undefined)
    return recording.tracer
  })
  await recording?.write(run)
  work.budget.release()
  return run
}

export const traceMethods: readonly Method<MethodContext>[] = [
  transactionFrames,
  blockFrames,
  filteredFrames,
  oneFrame,
  traceCall,
  traceCallMany,
  traceRaw,
  replayTransaction,
  replayBlock,
]
