// Writes geth's struct logs as text: a run may have millions, so none is kept as a value.

import { wordFromBigint } from '../../../core/hex.ts'
import type { Step } from '../../../evm/executor.ts'
import type {
  StepDetails,
  StructLogOptions,
  StructLogSink,
} from '../../../evm/tracers/structlogs.ts'
import type { JsonWriter } from '../../../rpc/jsontext.ts'

export interface StructLogText extends StructLogSink {
  readonly end: () => void
}

/**
 * Begins a list: entries `{pc, op, gas, gasCost, stateGasCost?, stateGasReservoir?, depth, refund?, stack?, memory?, storage?, returnData?, error?}` with
 * numbers as JSON numbers, stack words as minimal hex, memory and storage words as 32 bytes. Empty memory
 * is omitted.
 * @see https://github.com/ethereum/execution-apis/pull/762
 */
export function writeStructLogs(
  writer: JsonWriter,
  { withStack }: Pick<StructLogOptions, 'withStack'>,
): StructLogText {
  const stacks: string[][] = []
  const memoryText = remembersMemory()
  let isFirst = true
  writer.write('[')
  const write = (step: Step, details: StepDetails | undefined): void => {
    const { pc, opName, gas, gasCost, depth, refund, state } = step
    // the next entry closes this one: whether it failed is known only then
    let text = `${isFirst ? '' : '},'}{"pc":${pc},"op":"${opName}","gas":${gas},"gasCost":${gasCost}`
    if (state !== undefined) text += stateText(state)
    text += `,"depth":${depth + 1}`
    isFirst = false
    if (refund > 0n) text += `,"refund":${refund}`
    if (withStack) {
      stacks[depth] ??= []
      text += `,"stack":[${stackText(stacks[depth], step)}]`
    }
    if (details !== undefined) text += detailsText(details, memoryText)
    writer.write(text)
  }
  return {
    write,
    fail: (reason) => writer.write(`,"error":${JSON.stringify(reason)}`),
    end: () => writer.write(isFirst ? ']' : '}]'),
  }
}

/** Named as in alloy and erigon, which omit zeros. */
function stateText({ cost, reservoir }: NonNullable<Step['state']>): string {
  const spent = cost === 0n ? '' : `,"stateGasCost":${cost}`
  return reservoir === 0n ? spent : `${spent},"stateGasReservoir":${reservoir}`
}

/** @param texts of the previous stack at this depth, up to each word; updated to this one */
function stackText(texts: string[], { stack, unchanged }: Step): string {
  texts.length = Math.min(unchanged, texts.length)
  for (let i = texts.length; i < stack.length; i++) {
    const word = `"0x${stack[i]!.toString(16)}"`
    texts.push(i === 0 ? word : copied(`${texts[i - 1]},${word}`))
  }
  return texts.at(-1) ?? ''
}

/** V8 keeps a concatenation as a tree until it is read, and would read this one again with each stack that begins with it. */
function copied(text: string): string {
  Number(text)
  return text
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

/** Caches the text of the previous memory, which is mostly unchanged. */
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
