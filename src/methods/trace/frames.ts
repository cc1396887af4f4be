// trace: frames, state differences and operations in OpenEthereum's form, which client libraries read. Where the
// specification's node is odd, the sane reading is used: `input` and `output` are each frame's own, failed inner
// creations are listed, `trace_get` takes a position in the tree of frames, and `trace_filter`
// checks each frame's own sender and receiver. As every frame, the outermost has the gas left when it
// began and the gas it used itself: without intrinsic gas, and before refunds.
import { type Address, type Hash, quantityFromBigint } from '../../core/hex.ts'
import type { MaybePromise } from '../../core/promises.ts'
import { type CallFrame, flatten, recordCalls } from '../../evm/tracers/calls.ts'
import { recordOpcodeGas } from '../../evm/tracers/recorders.ts'
import { traceMessage, traceUnsent } from '../../node/calls/replay.ts'
import type { Chain } from '../../node/chain/chain.ts'
import { recordAt } from '../../node/chain/lookup.ts'
import type { BlockRecord } from '../../node/ledger/blockrecord.ts'
import { filledToRead, headOf, transactionPlace } from '../../node/ledger/blocktree.ts'
import { minedPlace } from '../../node/ledger/leftblocks.ts'
import { type BlockReference, latest } from '../../node/ledger/references.ts'
import { rewardsIn } from '../../node/mining/rewards.ts'
import { decodeSent } from '../../protocol/transactions/sidecar.ts'
import type { JsonText, JsonWriter } from '../../rpc/jsontext.ts'
import { optional, param } from '../../rpc/method.ts'
import { address, enumeration, list, quantityNumber } from '../../rpc/primitives.ts'
import { invalid, type Json, remark } from '../../rpc/schema.ts'
import type { World } from '../../state/world.ts'
import { ofBlock } from '../common/byblock.ts'
import { type MethodContext, type Methods, method, printLines } from '../common/context.ts'
import { parts, replayRecorder } from '../tracing/parts.ts'
import {
  newTraceWork,
  recordBlock,
  recordList,
  recordOne,
  recordRun,
  recordTransaction,
} from '../tracing/recording.ts'
import type { Recorder } from '../tracing/tracers.ts'
import { block, blockOrLatest, blockReference } from '../wire/decodeblock.ts'
import { members, oneOrMore, pair, refined } from '../wire/decodeobject.ts'
import { overriddenBlock, overriddenState } from '../wire/decodeoverrides.ts'
import { raw, transaction, transactionHash, transactionRequest } from '../wire/decodetransaction.ts'
import { TRANSFER, UNKNOWN } from '../wire/examples.ts'
import { type FramePlace, flatFrame, writeFlatFrames } from '../wire/traces/encodeframes.ts'
import {
  blockOpcodeGas,
  placedFrameForm,
  placedFrames,
  replayForm,
  replaysForm,
  repliesForm,
  transactionOpcodeGas,
} from '../wire/traces/encodetrace.ts'

/** Frames per reply. */
const MAX_COUNT = 10_000

const known = members('trace filter', {
  fromBlock: blockReference,
  toBlock: blockReference,
  fromAddress: oneOrMore(address),
  toAddress: oneOrMore(address),
  mode: enumeration(['union', 'intersection']),
  after: quantityNumber,
  count: quantityNumber,
})

/**
 * `{fromBlock = earliest, toBlock = latest, fromAddress, toAddress, mode, after = 0, count = 10000}`.
 * Blocks may be tags; addresses may be one or a list; an empty list means any.
 */
const frameQuery = refined(known, (given, path) => {
  const { count = MAX_COUNT } = given
  if (count > MAX_COUNT) throw invalid(`${path}.count`, `at most ${MAX_COUNT} frames`, count)
  return {
    fromBlock: given.fromBlock ?? ({ kind: 'tag', tag: 'earliest' } as const),
    toBlock: given.toBlock ?? latest,
    from: setOf(given.fromAddress),
    to: setOf(given.toAddress),
    mode: given.mode,
    // frames to skip
    after: given.after ?? 0,
    count,
    isCountGiven: given.count !== undefined,
  }
})

type FrameQuery = ReturnType<typeof frameQuery.decode>

/** A creation's recipient is the new contract, a destruction's is the beneficiary. A reward has no sender. */
function matches(
  { from, to, mode }: FrameQuery,
  sender: Address | null,
  recipient: Address | null,
): boolean {
  const isFrom = from && sender !== null && from.has(sender)
  const isTo = to && recipient !== null && to.has(recipient)
  if (isFrom === undefined) return isTo ?? true
  if (isTo === undefined) return isFrom
  return mode === 'union' ? isFrom || isTo : isFrom && isTo
}

function setOf(addresses: readonly Address[] | undefined): ReadonlySet<Address> | undefined {
  return addresses === undefined || addresses.length === 0 ? undefined : new Set(addresses)
}

/** Writes a transaction's frames as a list. */
const listRecorder = treeRecorder(async (top, place, writer) => {
  writer.write('[')
  await writeFlatFrames(writer, top, { withParityErrors: true, place })
  writer.write(']')
})

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

const types = optional('types', parts, ['trace'])

export const traceMethods: Methods = [
  method('trace_transaction', {
    summary: 'Returns the call frames of a transaction, callers first; null if it is not mined.',
    params: [transactionHash],
    result: placedFrames,
    example: { result: null },
    onFork: 'replay',
    handle: (context, hash) => recordIfMined(context, hash, listRecorder),
  }),
  method('trace_block', {
    summary: 'Returns the call frames and rewards of a block; null if unknown.',
    params: [block],
    result: placedFrames,
    example: { params: ['earliest'], result: [] },
    onFork: 'replay',
    handle: ofBlock((context, { record }) => blockFramesOf(context, record)),
  }),
  method('trace_filter', {
    summary:
      'Returns call frames by {fromAddress} and {toAddress}: {count} at most, after {after}.',
    params: [param('filter', frameQuery)],
    result: placedFrames,
    example: { params: [{ fromBlock: 'earliest', toBlock: 'latest', count: 10 }], result: [] },
    onFork: 'frames',
    handle: filterFrames,
  }),
  method('trace_get', {
    summary: "Returns a transaction's call frame at a position ([]: the root); null if none.",
    params: [transactionHash, param('positions', list(quantityNumber))],
    result: placedFrameForm,
    example: { params: [UNKNOWN, ['0x0']], result: null },
    onFork: 'replay',
    handle: frameAt,
  }),
  method('trace_replayTransaction', {
    summary: 'Replays a mined transaction: call frames, state differences, operations.',
    params: [transactionHash, types],
    result: replayForm,
    onFork: 'replay',
    handle: (context, transactionHash, wanted) =>
      recordTransaction(
        context,
        minedPlace(context.chain.state, transactionHash),
        replayRecorder(wanted, false),
      ),
  }),
  method('trace_replayBlockTransactions', {
    summary: 'Replays all transactions of a block like trace_replayTransaction.',
    params: [block, types],
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
    handle: (context, hash) => recordIfMined(context, hash, opcodeGasRecorder),
  }),
  method('trace_blockOpcodeGas', {
    summary: 'Returns trace_transactionOpcodeGas of each transaction of a block; null if unknown.',
    params: [block],
    result: blockOpcodeGas,
    example: { params: ['0xffffff'], result: null },
    onFork: 'replay',
    handle: ofBlock(async (context, { record }) => {
      const { header, hash: blockHash } = record.block
      const work = newTraceWork(context)
      const { writer } = work
      writer.write(`{"blockHash":"${blockHash}","blockNumber":${header.number},"transactions":`)
      await recordList(context.chain, record, work, opcodeGasRecorder)
      writer.write('}')
      return writer.end()
    }),
  }),
  method('trace_call', {
    summary: 'Traces a call: call frames, state differences, operations.',
    params: [transaction, types, blockOrLatest, overriddenState, overriddenBlock],
    result: replayForm,
    onFork: 'here',
    handle: (context, request, wanted, reference, stateOverrides, blockOverrides) => {
      const scene = { stateOverrides, blockOverrides, cancellation: context.caller }
      return recordOne(context, replayRecorder(wanted, false), (tracerFor) =>
        traceMessage(context.chain, { request, reference, ...scene }, tracerFor),
      )
    },
  }),
  method('trace_callMany', {
    summary: 'Traces a list of [transaction, types], each on the state after the last.',
    params: [
      param('calls', list(pair('[transaction, types]', transactionRequest, parts))),
      blockOrLatest,
    ],
    result: repliesForm,
    example: { params: [[[TRANSFER, ['trace']]], 'latest'] },
    onFork: 'here',
    handle: async (context, calls, reference) => {
      const work = newTraceWork(context)
      let world: World | undefined
      work.writer.write('[')
      for (const [index, [request, wanted]] of calls.entries()) {
        if (index > 0) work.writer.write(',')
        const message = { request, reference, world, cancellation: work.cancellation }
        const run = await recordRun(work, replayRecorder(wanted, false), (tracerFor) =>
          traceMessage(context.chain, message, tracerFor),
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
    params: [raw, types],
    result: replayForm,
    handle: (context, raw, wanted) => {
      const { transaction } = decodeSent(raw)
      return recordOne(context, replayRecorder(wanted, false), (tracerFor) =>
        traceUnsent(context.chain, transaction, tracerFor),
      )
    },
  }),
]

function recordIfMined(
  context: MethodContext,
  hash: Hash,
  recorder: Recorder,
): MaybePromise<JsonText> | null {
  const place = transactionPlace(context.chain.state.tree, hash)
  return place === undefined ? null : recordTransaction(context, place, recorder)
}

type TakeFrames = (top: CallFrame, place: FramePlace, writer: JsonWriter) => Promise<void>

/** Passes a transaction's frames to `take`. */
function treeRecorder(take: TakeFrames): Recorder {
  return ({ budget, place, writer }) => {
    const { tracer, top } = recordCalls({ keep: budget.keep })
    const write = async (): Promise<void> => {
      if (place !== undefined) await take(top(), place, writer)
    }
    return { tracer, write }
  }
}

/** Writes the frames of a block's transactions, and its rewards. */
async function blockFramesOf(context: MethodContext, record: BlockRecord): Promise<JsonText> {
  const work = newTraceWork(context)
  work.writer.write('[')
  let isFirst = true
  const take: TakeFrames = async (top, place) => {
    if (!isFirst) work.writer.write(',')
    isFirst = false
    await writeFlatFrames(work.writer, top, { withParityErrors: true, place })
  }
  await recordBlock(context.chain, record, work, treeRecorder(take))
  for (const entry of rewardEntries(context.chain, record)) {
    if (!isFirst) work.writer.write(',')
    isFirst = false
    work.writer.value(entry)
  }
  work.writer.write(']')
  return work.writer.end()
}

/** The frame at a position in a transaction's tree. */
function frameAt(
  context: MethodContext,
  transactionHash: Hash,
  positions: readonly number[],
): MaybePromise<JsonText> | null {
  const wanted = positions.join()
  const recorder = treeRecorder(async (top, at, writer) => {
    const found = [...flatten(top)].find(({ traceAddress }) => traceAddress.join() === wanted)
    const form = { withParityErrors: true, place: at }
    writer.value(found === undefined ? null : flatFrame(found, form))
  })
  return recordIfMined(context, transactionHash, recorder)
}

/** Searches blocks until there are enough frames. */
async function filterFrames(context: MethodContext, asked: FrameQuery): Promise<JsonText> {
  const { chain } = context
  const query = { ...asked, mode: asked.mode ?? context.profile.traceFilterMode }
  const work = newTraceWork(context)
  const { from, to } = await rangeOf(context, query)
  let skipped = 0
  let count = 0
  const offer = (isWanted: boolean, entryOf: () => Json): void => {
    if (count >= query.count || !isWanted || skipped++ < query.after) return
    if (count++ > 0) work.writer.write(',')
    work.writer.value(entryOf())
  }
  work.writer.write('[')
  for (const record of filledToRead(chain.state.tree, Number(from), Number(to) + 1)) {
    if (count >= query.count) break
    await work.writer.yieldIfDue()
    const take: TakeFrames = async (top, place) => {
      const form = { withParityErrors: true, place }
      for (const flat of flatten(top)) {
        await work.writer.yieldIfDue()
        offer(matches(query, flat.frame.from, flat.frame.to), () => flatFrame(flat, form))
      }
    }
    await recordBlock(chain, record, work, treeRecorder(take))
    for (const entry of rewardEntries(chain, record)) {
      offer(matches(query, null, entry.action.author), () => entry)
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
    // the pending block is not in the chain
    if (reference.kind === 'tag' && reference.tag === 'pending') return head
    return (await recordAt(chain, reference)).block.header.number
  }
  const [from, to] = [await numberOf(fromBlock), await numberOf(toBlock)]
  if (from <= to) return { from, to: to < head ? to : head }
  throw invalid('fromBlock', `a block up to toBlock, ${to}`, from)
}

/** The miner's reward first; empty for the genesis and on chains without rewards. */
function rewardEntries(
  { state }: Chain,
  { block }: BlockRecord,
): readonly (Json & { readonly action: { readonly author: Address } })[] {
  const { header, uncles, hash } = block
  if (header.number === 0n) return []
  const hardfork = state.config.hardforkAt(header.number, header.timestamp)
  const rewards = rewardsIn(state.config, hardfork, header, uncles)
  return [...rewards.slice(-1), ...rewards.slice(0, -1)].map(({ address, amount }, index) => ({
    action: {
      author: address,
      rewardType: index === 0 ? 'block' : 'uncle',
      value: quantityFromBigint(amount),
    },
    blockHash: hash,
    blockNumber: Number(header.number),
    result: null,
    subtraces: 0,
    traceAddress: [],
    type: 'reward',
  }))
}
