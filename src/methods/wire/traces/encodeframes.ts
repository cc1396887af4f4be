// Encodes a run's frames: geth's call tree, and OpenEthereum's flat list.
import { type Hash, hexFromBytes, quantityFromBigint } from '../../../core/hex.ts'
import {
  type CallFrame,
  type FlatFrame,
  type FlatOptions,
  type FrameLog,
  flatten,
} from '../../../evm/tracers/calls.ts'
import type { TracedRun } from '../../../node/calls/replay.ts'
import type { TransactionPlace } from '../../../node/ledger/blocktree.ts'
import type { JsonWriter } from '../../../rpc/jsontext.ts'
import type { Json } from '../../../rpc/schema.ts'

/** The transaction of a list of frames. */
export interface FramePlace extends TransactionPlace {
  readonly transactionHash: Hash
  /** Logs of the block before the transaction's. */
  readonly logsBefore: number
}

export interface FlatForm extends FlatOptions {
  /** Failures in OpenEthereum's words, without revert data. */
  readonly withParityErrors: boolean
  /** Undefined: frames have no position. */
  readonly place: FramePlace | undefined
}

/** Of a transaction since amsterdam, before refunds (EIP-7778, EIP-8037); as in execution-apis #852. */
export interface GasDimensions {
  readonly executionGasUsed: bigint
  readonly stateGasUsed: bigint
  readonly gasRefund: bigint
}

/** Undefined before amsterdam. */
export function dimensionsOf({ outcome }: TracedRun): GasDimensions | undefined {
  const { blockGas, gasRefund } = outcome
  if (blockGas === undefined) return undefined
  return { executionGasUsed: blockGas.execution, stateGasUsed: blockGas.state, gasRefund }
}

/** A call tree's outermost frame. */
export interface WholeFrame extends CallFrame {
  readonly dimensions?: GasDimensions | undefined
}

/** Members that the user's project adds to a tree of frames. */
export interface FrameNames {
  readonly nameOf: (frame: CallFrame) => string | undefined
  /** The reason and Solidity stack of a failure, one line each. */
  readonly solidityStack: readonly string[] | undefined
}

/**
 * Writes a tree of frames in the form of geth's callTracer: `{type, from, to?, gas, gasUsed, input, output?, error?,
 * revertReason?, value?, calls?, logs?}`; since amsterdam with `stateGasUsed`, and the outermost with `executionGasUsed` and
 * `gasRefund`.
 * @param names add `name` to frames, and `solidityStack` to a failed outermost frame
 */
export async function writeCallTree(
  writer: JsonWriter,
  top: WholeFrame,
  names?: FrameNames,
): Promise<void> {
  for (const text of callTexts(top, names?.nameOf, names?.solidityStack)) {
    writer.write(text)
    const due = writer.yieldIfDue()
    if (due !== undefined) await due
  }
}

function* callTexts(
  frame: WholeFrame,
  nameOf: FrameNames['nameOf'] | undefined,
  solidityStack?: readonly string[],
): IterableIterator<string> {
  const name = nameOf?.(frame)
  const named = name === undefined ? '' : `,"name":${JSON.stringify(name)}`
  const stack = solidityStack && `,"solidityStack":${JSON.stringify(solidityStack)}`
  const members = `${callText(frame, frame.dimensions)}${named}${stack ?? ''}`
  if (frame.calls.length === 0) {
    yield `${members}}`
    return
  }
  yield `${members},"calls":[`
  for (const [index, call] of frame.calls.entries()) {
    if (index > 0) yield ','
    yield* callTexts(call, nameOf)
  }
  yield ']}'
}

/** As `writeCallTree`, of an outermost frame without inner ones. */
export function aloneText(frame: CallFrame, dimensions: GasDimensions | undefined): string {
  return `${callText(frame, dimensions)}}`
}

/** The outermost frame with the transaction's gas limit and gas used. */
export function wholeFrame(top: CallFrame, run: TracedRun): WholeFrame {
  const { target, outcome } = run
  return { ...top, gas: target.gasLimit, gasUsed: outcome.gasUsed, dimensions: dimensionsOf(run) }
}

/** Writes frames as a list, without the enclosing brackets. */
export async function writeFlatFrames(
  writer: JsonWriter,
  top: CallFrame,
  form: FlatForm,
): Promise<void> {
  let isFirst = true
  for (const flat of flatten(top, form)) {
    await writer.yieldIfDue()
    writer.write(`${isFirst ? '' : ','}${JSON.stringify(flatFrame(flat, form))}`)
    isFirst = false
  }
}

/**
 * A list entry: `{action, result, error?, subtraces, traceAddress, type}` and its position. `result` is null
 * after a failure; since amsterdam it has the state gas too, as frames of a tree do.
 */
export function flatFrame({ frame, traceAddress, subtraces }: FlatFrame, form: FlatForm): Json {
  return {
    action: actionOf(frame),
    ...placeMembers(form.place),
    ...(frame.failure === undefined ? {} : { error: errorOf(frame, form) }),
    result: resultOf(frame, form),
    subtraces,
    traceAddress: traceAddress as readonly Json[],
    type: typeOf(frame),
  }
}

/** A frame's members except calls, without the closing bracket. Built as text, because there may be very many. */
function callText(frame: CallFrame, dimensions: GasDimensions | undefined): string {
  const { kind, from, to, value, gas, gasUsed, input, output, failure, revertText, logs } = frame
  let text = `{"from":"${from}","gas":"${quantityFromBigint(gas)}","gasUsed":"${quantityFromBigint(gasUsed)}"`
  const parts = gasMembers(frame, dimensions)
  for (const name in parts) text += `,"${name}":"${parts[name]}"`
  if (to !== null) text += `,"to":"${to}"`
  text += `,"input":"${hexFromBytes(input)}"`
  const isGiven = failure === undefined || failure.kind === 'revert'
  if (output.length > 0 && isGiven) text += `,"output":"${hexFromBytes(output)}"`
  if (failure !== undefined) text += `,"error":${JSON.stringify(gethError(frame))}`
  if (revertText !== undefined) text += `,"revertReason":${JSON.stringify(revertText)}`
  if (logs.length > 0) text += `,"logs":${JSON.stringify(logs.map(logMembers))}`
  if (kind !== 'STATICCALL') text += `,"value":"${quantityFromBigint(value)}"`
  return `${text},"type":"${kind}"`
}

/** Since amsterdam; those of other nodes too: execution-apis #852 for call trees, erigon for flat frames. */
function gasMembers(
  { stateGasUsed }: CallFrame,
  dimensions: GasDimensions | undefined,
): Readonly<Record<string, string>> {
  if (dimensions === undefined) {
    return stateGasUsed === undefined ? {} : { stateGasUsed: signedQuantity(stateGasUsed) }
  }
  return {
    executionGasUsed: signedQuantity(dimensions.executionGasUsed),
    stateGasUsed: signedQuantity(dimensions.stateGasUsed),
    gasRefund: signedQuantity(dimensions.gasRefund),
  }
}

function signedQuantity(value: bigint): string {
  return value < 0n ? `-${quantityFromBigint(-value)}` : quantityFromBigint(value)
}

function logMembers({ log, position, index }: FrameLog): Json {
  return {
    address: log.address,
    topics: log.topics as readonly Json[],
    data: hexFromBytes(log.data),
    index: quantityFromBigint(BigInt(index)),
    position: quantityFromBigint(BigInt(position)),
  }
}

function typeOf({ kind }: CallFrame): string {
  if (kind === 'SELFDESTRUCT') return 'suicide'
  return kind === 'CREATE' || kind === 'CREATE2' ? 'create' : 'call'
}

function actionOf({ kind, from, to, value, gas, input }: CallFrame): Json {
  const amount = quantityFromBigint(value)
  switch (kind) {
    case 'SELFDESTRUCT':
      return { address: from, balance: amount, refundAddress: to }
    case 'CREATE':
    case 'CREATE2': {
      const creationMethod = kind.toLowerCase()
      const init = hexFromBytes(input)
      return { creationMethod, from, gas: quantityFromBigint(gas), init, value: amount }
    }
    default: {
      const callType = kind.toLowerCase()
      const given = { gas: quantityFromBigint(gas), input: hexFromBytes(input) }
      return { callType, from, ...given, to, value: amount }
    }
  }
}

function resultOf(frame: WholeFrame, { withParityErrors }: FlatForm): Json {
  const { kind, failure, to, output } = frame
  if (kind === 'SELFDESTRUCT') return null
  // a revert keeps its return data
  const isKept = failure === undefined || (failure.kind === 'revert' && !withParityErrors)
  if (!isKept) return null
  const gas = { gasUsed: quantityFromBigint(frame.gasUsed), ...gasMembers(frame, frame.dimensions) }
  const isCreation = kind === 'CREATE' || kind === 'CREATE2'
  if (!isCreation) return { ...gas, output: hexFromBytes(output) }
  return { address: to ?? undefined, code: hexFromBytes(output), ...gas }
}

function placeMembers(place: FramePlace | undefined): { readonly [key: string]: Json } {
  if (place === undefined) return {}
  const { hash: blockHash, header } = place.record.block
  return {
    blockHash,
    blockNumber: Number(header.number),
    transactionHash: place.transactionHash,
    transactionPosition: place.index,
  }
}

function errorOf(frame: CallFrame, { withParityErrors }: FlatForm): string {
  return withParityErrors ? parityError(frame) : gethError(frame)
}

function gethError({ failure }: CallFrame): string {
  return failure?.kind === 'revert' ? 'execution reverted' : (failure?.reason ?? '')
}

/** OpenEthereum's words for failures, by the beginning of devchain's. */
const PARITY_ERRORS: readonly (readonly [start: string, words: string])[] = [
  ['out of gas', 'Out of gas'],
  ['contract creation code storage out of gas', 'Out of gas'],
  ['max code size exceeded', 'Out of gas'],
  ['invalid opcode', 'Bad instruction'],
  ['invalid jump destination', 'Bad jump destination'],
  ['stack underflow', 'Stack underflow'],
  ['stack overflow', 'Out of stack'],
  ['return data out of bounds', 'Out of bounds'],
  ['write protection', 'Mutable Call In Static Context'],
]

function parityError({ failure, isPrecompile }: CallFrame): string {
  if (failure?.kind === 'revert') return 'Reverted'
  const reason = failure?.reason ?? ''
  const known = PARITY_ERRORS.find(([start]) => reason.startsWith(start))?.[1]
  return isPrecompile && known === undefined ? 'Built-in failed' : (known ?? reason)
}
