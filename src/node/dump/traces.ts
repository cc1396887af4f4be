// Call frames of a transaction in anvil's format: one node a frame, with indexes of its parent and children.
import { DevchainError } from '../../core/errors.ts'
import { ZERO_ADDRESS } from '../../core/hex.ts'
import type { CallFrame } from '../../evm/tracers/calls.ts'
import type { Header } from '../../protocol/blocks/header.ts'
import { TRANSACTION_GAS } from '../../protocol/fees.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import { type Replayed, replayFrames } from '../calls/replay.ts'
import type { BlockRecord, ExecutedTransaction } from '../ledger/blockrecord.ts'
import { outermostFrame } from '../ledger/outermostframe.ts'
import type { BlockParts } from '../ledger/packing/blockbytes.ts'
import { createdBy, type DumpedJson, exitOf } from './anvil.ts'

/** Replays a block's transactions. Undefined for blocks of unknown state or other rules. */
export async function tracesOf(
  chain: Replayed,
  record: BlockRecord,
  { block, executed }: BlockParts,
): Promise<readonly (DumpedJson[] | undefined)[]> {
  if (record.isStateless === true) return []
  const plain = executed.map((each) => plainTransfer(each, block.header))
  if (plain.every((each) => each !== undefined)) return plain
  const traces: DumpedJson[][] = []
  try {
    for await (const top of replayFrames(chain, record, { withLogs: true })) {
      traces.push(nodesOf(top, block.transactions[traces.length]!))
    }
  } catch (error) {
    if (!(error instanceof DevchainError && error.word === 'NOT_FOUND')) throw error
  }
  return executed.map((_, index) => traces[index])
}

export function outermostOf(executed: ExecutedTransaction): DumpedJson[] {
  return nodesOf(outermostFrame(executed, 0), executed.transaction)
}

/** Undefined if it may be something else, whose gas only a replay knows. Before london, refunds may cancel costs. */
function plainTransfer(
  executed: ExecutedTransaction,
  { baseFeePerGas }: Header,
): DumpedJson[] | undefined {
  const { transaction, receipt, isAlone } = executed
  const { to, data, gasLimit } = transaction
  const isPlain = isAlone === true && to !== null && data.length === 0 && receipt.status
  const isFree = receipt.gasUsed === TRANSACTION_GAS && baseFeePerGas !== undefined
  if (!isPlain || !isFree || receipt.blockGas !== undefined) return undefined
  const frame = { ...outermostFrame(executed, 0), gas: gasLimit - TRANSACTION_GAS, gasUsed: 0n }
  return nodesOf(frame, transaction)
}

function nodesOf(top: CallFrame, transaction: Transaction): DumpedJson[] {
  const nodes: DumpedJson[] = []
  addNode(nodes, { ...top, to: transaction.to ?? createdBy(transaction) }, undefined, 0)
  return nodes
}

function addNode(
  nodes: DumpedJson[],
  frame: CallFrame,
  parent: number | undefined,
  depth: number,
): void {
  const index = nodes.length
  const children: number[] = []
  nodes.push({
    parent: parent ?? null,
    children,
    idx: index,
    trace: traceOf(frame, depth),
    logs: frame.logs.map(dumpedLog),
    ordering: orderingOf(frame),
  })
  for (const call of frame.calls) {
    if (call.kind === 'SELFDESTRUCT') continue
    children.push(nodes.length)
    addNode(nodes, call, index, depth + 1)
  }
}

function traceOf(frame: CallFrame, depth: number): DumpedJson {
  const { kind, from, to, value, gas, gasUsed, input, output, failure } = frame
  const exit = exitOf(failure, output, kind === 'CREATE' || kind === 'CREATE2')
  const destruction = frame.calls.findLast((call) => call.kind === 'SELFDESTRUCT')
  return {
    depth,
    success: failure === undefined,
    caller: from,
    address: to ?? ZERO_ADDRESS,
    // anvil hides frames with true from trace_transaction, but never writes it
    maybe_precompile: null,
    selfdestruct_address: destruction?.from ?? null,
    selfdestruct_refund_target: destruction?.to ?? null,
    selfdestruct_transferred_value: destruction?.value ?? null,
    kind,
    value,
    data: input,
    output,
    gas_used: Number(gasUsed),
    gas_limit: Number(gas),
    gas_refund_counter: 0,
    status: frame.isPrecompile && exit === 'OutOfGas' ? 'PrecompileOOG' : exit,
    steps: [],
    decoded: null,
  }
}

function dumpedLog({ log, position, index }: CallFrame['logs'][number]): DumpedJson {
  const { address, topics, data } = log
  return { address, raw_log: { topics, data }, decoded: null, position, index }
}

function orderingOf({ calls, logs }: CallFrame): DumpedJson[] {
  const ordering: DumpedJson[] = []
  let [log, call] = [0, 0]
  for (const [at, { kind }] of calls.entries()) {
    while (log < logs.length && logs[log]!.position <= at) ordering.push({ Log: log++ })
    if (kind !== 'SELFDESTRUCT') ordering.push({ Call: call++ })
  }
  while (log < logs.length) ordering.push({ Log: log++ })
  return ordering
}
