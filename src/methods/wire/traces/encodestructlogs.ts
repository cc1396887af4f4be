// Struct logs as geth writes them, as text: a run may have millions, and none is kept as a value.

import { wordFromBigint } from '../../../core/hex.ts'
import type { Step } from '../../../evm/executor.ts'
import type {
  StepDetails,
  StructLogOptions,
  StructLogSink,
} from '../../../evm/tracers/structlogs.ts'
import type { JsonWriter } from '../../../rpc/jsontext.ts'
import { ascii, MOST_DIGITS, writeBigDecimal, writeBytes, writeDecimal, writeHex } from './ascii.ts'

export interface StructLogText extends StructLogSink {
  readonly end: () => void
}

/**
 * Begins a list: entries `{pc, op, gas, gasCost, depth, refund?, stack?, memory?, storage?, returnData?, error?}` with
 * numbers as JSON numbers, words of the stack as minimal hex, those of memory and storage as 32 bytes. Without memory,
 * there is no `memory` either.
 * @see https://github.com/ethereum/execution-apis/pull/762
 */
export function writeStructLogs(
  writer: JsonWriter,
  { withStack }: Pick<StructLogOptions, 'withStack'>,
): StructLogText {
  const stacks: StackText[] = []
  const heads = operationHeads()
  const memoryText = remembersMemory()
  let isFirst = true
  writer.write('[')
  const write = (step: Step, details: StepDetails | undefined): void => {
    let at = writer.room(MOST_FIXED + (withStack ? WORD_TEXT * step.stack.length : 0))
    const { bytes } = writer
    // an entry is closed by the next one: whether it failed is known only then
    at = writeBytes(bytes, at, isFirst ? FIRST : NEXT)
    isFirst = false
    at = writeDecimal(bytes, at, step.pc)
    at = writeBytes(bytes, at, heads(step))
    at = writeBigDecimal(bytes, at, step.gas)
    at = writeBytes(bytes, at, COST)
    at = writeBigDecimal(bytes, at, step.gasCost)
    at = writeBytes(bytes, at, DEPTH)
    at = writeDecimal(bytes, at, step.depth + 1)
    if (step.refund > 0n) {
      at = writeBytes(bytes, at, REFUND)
      at = writeBigDecimal(bytes, at, step.refund)
    }
    if (withStack) {
      stacks[step.depth] ??= new StackText()
      at = stacks[step.depth]!.write(bytes, at, step.stack, step.unchanged)
    }
    writer.fill(at)
    if (details !== undefined) writer.write(detailsText(details, memoryText))
  }
  return {
    write,
    fail: (reason) => writer.write(`,"error":${JSON.stringify(reason)}`),
    end: () => writer.write(isFirst ? ']' : '}]'),
  }
}

const FIRST = ascii('{"pc":')
const NEXT = ascii('},{"pc":')
const COST = ascii(',"gasCost":')
const DEPTH = ascii(',"depth":')
const REFUND = ascii(',"refund":')
const STACK = ascii(',"stack":[')

/** Bytes of an entry that has no words. */
const MOST_FIXED = 200 + 5 * MOST_DIGITS

/** What stands between place and gas: the operation by its name. Those of one run have one name each. */
function operationHeads(): (step: Step) => Uint8Array {
  const known: { readonly name: string; readonly head: Uint8Array }[] = []
  return ({ opcode, opName }) => {
    const found = known[opcode]
    if (found?.name === opName) return found.head
    const head = ascii(`,"op":"${opName}","gas":`)
    known[opcode] = { name: opName, head }
    return head
  }
}

/** A word as text, and the comma before it. */
const WORD_TEXT = 69

/** Text of the stacks of one depth, each of which differs from the one before in a few words. */
class StackText {
  readonly #words: bigint[] = []
  /** Where the text of each of its words ends, counted from its beginning. */
  readonly #ends: number[] = []
  /** Where that text stands. */
  #bytes: Uint8Array | undefined
  #start = 0

  /**
   * Writes a stack: what it has in common with the one before is copied.
   * @param unchanged words at the bottom that are those of the stack before
   * @returns the place behind it
   */
  write(bytes: Uint8Array, start: number, stack: readonly bigint[], unchanged: number): number {
    const words = this.#words
    let from = Math.min(unchanged, words.length)
    while (from < stack.length && words[from] === stack[from]) from += 1
    // what is above is no part of this stack
    while (words.length > from) words.pop()
    for (let i = from; i < stack.length; i++) words.push(stack[i] as bigint)
    const isNear = this.#bytes === bytes && from > 0
    const end = isNear ? this.#copy(bytes, start, from) : writeBytes(bytes, start, STACK)
    this.#bytes = bytes
    this.#start = start
    return this.#writeWords(bytes, end, isNear ? from : 0)
  }

  /** Copies the text of the words below `count`. */
  #copy(bytes: Uint8Array, start: number, count: number): number {
    const length = this.#ends[count - 1] as number
    bytes.copyWithin(start, this.#start, this.#start + length)
    return start + length
  }

  #writeWords(bytes: Uint8Array, place: number, from: number): number {
    let end = place
    for (let i = from; i < this.#words.length; i++) {
      if (i > 0) bytes[end++] = COMMA
      end = writeWord(bytes, end, this.#words[i] as bigint)
      this.#ends[i] = end - this.#start
    }
    bytes[end] = CLOSING
    return end + 1
  }
}

const COMMA = 0x2c
const QUOTE = 0x22
const CLOSING = 0x5d

function writeWord(bytes: Uint8Array, start: number, word: bigint): number {
  bytes[start] = QUOTE
  bytes[start + 1] = 0x30
  bytes[start + 2] = 0x78
  const end = writeHex(bytes, start + 3, word)
  bytes[end] = QUOTE
  return end + 1
}

function detailsText(
  { memory, storage, returnData }: StepDetails,
  memoryText: (memory: Uint8Array) => string,
): string {
  let text = ''
  if (memory !== undefined && memory.length > 0) text += `,"memory":[${memoryText(memory)}]`
  if (storage !== undefined) text += `,"storage":{${storageText(storage)}}`
  if (returnData !== undefined && returnData.length > 0) {
    text += `,"returnData":"0x${digitsOf(returnData)}"`
  }
  return text
}

/** Text of memories, most of which are the one before. */
function remembersMemory(): (memory: Uint8Array) => string {
  let last: Uint8Array = new Uint8Array(0)
  let text = ''
  return (memory) => {
    if (Buffer.compare(memory, last) === 0) return text
    last = memory
    const digits = digitsOf(memory)
    const words: string[] = []
    for (let i = 0; i < digits.length; i += 64) words.push(`"0x${digits.slice(i, i + 64)}"`)
    text = words.join(',')
    return text
  }
}

function storageText(storage: ReadonlyMap<bigint, bigint>): string {
  const entries: string[] = []
  for (const [slot, value] of storage)
    entries.push(`"${wordFromBigint(slot)}":"${wordFromBigint(value)}"`)
  return entries.join(',')
}

function digitsOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')
}
