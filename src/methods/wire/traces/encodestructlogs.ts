// Struct logs as geth writes them, as text: a run may have millions, and none is kept as a value.
import { wordFromBigint } from '../../../core/hex.ts'
import type { StructLog, StructLogSink } from '../../../evm/tracers/structlogs.ts'
import type { JsonWriter } from '../../../rpc/jsontext.ts'

/** A list of struct logs that is being written. */
export interface StructLogText extends StructLogSink {
  /** Ends the list. */
  readonly end: () => void
}

/**
 * Begins a list: entries `{pc, op, gas, gasCost, depth, refund?, stack?, memory?, storage?, returnData?, error?}` with
 * numbers as JSON numbers, words of the stack as minimal hex, those of memory and storage as 32 bytes. Without memory,
 * there is no `memory` either.
 * @see https://github.com/ethereum/execution-apis/pull/762
 */
export function writeStructLogs(writer: JsonWriter): StructLogText {
  const stacks: StackText[] = []
  const memoryText = remembersMemory()
  let isFirst = true
  writer.write('[')
  const write = (log: StructLog): void => {
    const { pc, opName, gas, gasCost, depth, refund, stack, unchanged } = log
    const { memory, storage, returnData } = log
    // an entry is closed by the next one: whether it failed is known only then
    let text = `${isFirst ? '' : '},'}{"pc":${pc},"op":"${opName}","gas":${gas},"gasCost":${gasCost},"depth":${depth}`
    if (refund > 0n) text += `,"refund":${refund}`
    if (stack !== undefined) {
      writer.write(`${text},"stack":[`)
      stacks[depth] ??= new StackText()
      stacks[depth].write(writer, stack, unchanged)
      text = ']'
    }
    if (memory !== undefined && memory.length > 0) text += `,"memory":[${memoryText(memory)}]`
    if (storage !== undefined) text += `,"storage":{${storageText(storage)}}`
    if (returnData !== undefined && returnData.length > 0) {
      text += `,"returnData":"0x${digitsOf(returnData)}"`
    }
    writer.write(text)
    isFirst = false
  }
  return {
    write,
    fail: (reason) => writer.write(`,"error":${JSON.stringify(reason)}`),
    end: () => writer.write(isFirst ? ']' : '}]'),
  }
}

/** A word as text, and the comma before it. */
const WORD_TEXT = 69

/** Text of the stacks of one depth, each of which differs from the one before in a few words. */
class StackText {
  readonly #words: bigint[] = []
  /** Where the text of each word ends. */
  readonly #ends: number[] = []
  #bytes = Buffer.allocUnsafe(32 * WORD_TEXT)

  /** @param unchanged words at the bottom that are those of the stack before */
  write(writer: JsonWriter, stack: readonly bigint[], unchanged: number): void {
    let from = Math.min(unchanged, this.#words.length)
    while (from < stack.length && this.#words[from] === stack[from]) from += 1
    if (WORD_TEXT * stack.length > this.#bytes.length) {
      this.#bytes = Buffer.concat([this.#bytes], 2 * WORD_TEXT * stack.length)
    }
    // what is above is no part of this stack
    this.#words.length = from
    let end = from === 0 ? 0 : (this.#ends[from - 1] as number)
    for (let i = from; i < stack.length; i++) {
      const word = stack[i] as bigint
      const text = `${i === 0 ? '' : ','}"0x${word.toString(16)}"`
      end += this.#bytes.write(text, end, 'latin1')
      this.#words[i] = word
      this.#ends[i] = end
    }
    writer.copy(this.#bytes, end)
  }
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
