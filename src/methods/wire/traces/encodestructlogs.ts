// Writes geth's struct logs as text: a run may have millions, so none is kept as a value.
import { wordFromBigint } from '../../../core/hex.ts'
import type { Step } from '../../../evm/executor.ts'
import type {
  StepDetails,
  StructLogOptions,
  StructLogSink,
} from '../../../evm/tracers/structlogs.ts'
import type { JsonWriter } from '../../../rpc/jsontext.ts'
import { StepText } from './steptext.ts'

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
  const text = new StepText(writer)
  const memoryText = remembersMemory()
  let isFirst = true
  text.add('[')
  const write = (step: Step, details: StepDetails | undefined): void => {
    const { pc, opName, gas, gasCost, depth, refund, state } = step
    text.reserve(step.stack.length)
    // the next entry closes this one: whether it failed is known only then
    text.add(isFirst ? '{"pc":' : '},{"pc":')
    isFirst = false
    text.number(pc)
    text.add(',"op":"')
    text.add(opName)
    text.add('","gas":')
    text.bigint(gas)
    text.add(',"gasCost":')
    text.bigint(gasCost)
    if (state !== undefined) text.add(stateText(state))
    text.add(',"depth":')
    text.number(depth + 1)
    if (refund > 0n) text.add(`,"refund":${refund}`)
    if (withStack) text.stack(step)
    if (details !== undefined) text.addLong(detailsText(details, memoryText))
  }
  return {
    write,
    fail: (reason) => text.addLong(`,"error":${JSON.stringify(reason)}`),
    end: () => {
      text.add(isFirst ? ']' : '}]')
      text.end()
    },
  }
}

/** Named as in alloy and erigon, which omit zeros. */
function stateText({ cost, reservoir }: NonNullable<Step['state']>): string {
  const spent = cost === 0n ? '' : `,"stateGasCost":${cost}`
  return reservoir === 0n ? spent : `${spent},"stateGasReservoir":${reservoir}`
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
