// The parts of trace_replay… and trace_call: frames, state difference and operations, as requested.
import { hexFromBytes, quantityFromBigint, wordFromBigint } from '../../core/hex.ts'
import type { Tracer } from '../../evm/executor.ts'
import { recordCalls } from '../../evm/tracers/calls.ts'
import { combineTracers } from '../../evm/tracers/combine.ts'
import { type Effect, type OperationSink, traceOperations } from '../../evm/tracers/operations.ts'
import type { JsonWriter } from '../../rpc/jsontext.ts'
import { enumeration, list } from '../../rpc/primitives.ts'
import type { Decoder } from '../../rpc/schema.ts'
import { writeFlatFrames } from '../wire/traces/encodeframes.ts'
import { stateDiffOf } from '../wire/traces/encodestate.ts'
import { type Recorder, touchRecorder } from './tracers.ts'

export const PARTS = ['trace', 'stateDiff', 'vmTrace'] as const

export type Part = (typeof PARTS)[number]

/**
 * Writes `{vmTrace, trace, stateDiff, output, transactionHash?}`; omitted parts are null, or an empty list
 * of frames. Operations come first, because they are written as they run.
 * @param withHash whether to write the transaction hash
 */
export function replayRecorder(parts: readonly Part[], withHash: boolean): Recorder {
  return ({ writer, budget, target, place }) => {
    const calls = parts.includes('trace') ? recordCalls({ keep: budget.keep }) : undefined
    const touched = parts.includes('stateDiff') ? touchRecorder(target) : undefined
    writer.write('{"vmTrace":')
    const tracers: Tracer[] = []
    if (parts.includes('vmTrace')) tracers.push(traceOperations(writeOperations(writer)))
    else writer.write('null')
    if (calls !== undefined) tracers.push(calls.tracer)
    if (touched !== undefined) tracers.push(touched.tracer)
    return {
      tracer: combineTracers(tracers),
      write: async (run) => {
        writer.write(',"trace":[')
        if (calls !== undefined) {
          const form = { withParityErrors: true, place: undefined }
          await writeFlatFrames(writer, calls.top(), form)
        }
        writer.write('],"stateDiff":')
        writer.value(touched === undefined ? null : stateDiffOf(run, touched.touched))
        writer.write(`,"output":"${hexFromBytes(run.outcome.output)}"`)
        const hash = withHash ? place?.transactionHash : undefined
        writer.write(hash === undefined ? '}' : `,"transactionHash":"${hash}"}`)
      },
    }
  }
}

export const parts: Decoder<readonly Part[]> = { ...list(enumeration(PARTS)), example: ['trace'] }

interface OpenFrame {
  operations: number
  /** Whether the open operation has opened a frame. */
  hasSub: boolean
}

/**
 * Writes a run's outermost frame: `{code, ops: [{pc, cost, sub, ex}]}`; `sub` is the frame that the operation opened or
 * null, `ex` is `{used, push, mem, store}` with the gas left after it, or null after a failure.
 */
function writeOperations(writer: JsonWriter): OperationSink {
  const open: OpenFrame[] = []
  return {
    openFrame: (code) => {
      const outer = open.at(-1)
      if (outer !== undefined) outer.hasSub = true
      open.push({ operations: 0, hasSub: false })
      writer.write(`{"code":"${hexFromBytes(code)}","ops":[`)
    },
    closeFrame: () => {
      open.pop()
      writer.write(']}')
    },
    openOperation: (pc, cost) => {
      const frame = open.at(-1)
      if (frame === undefined) return
      writer.write(`${frame.operations === 0 ? '' : ','}{"pc":${pc},"cost":${cost},"sub":`)
      frame.operations += 1
      frame.hasSub = false
    },
    closeOperation: (effect) => {
      const sub = open.at(-1)?.hasSub === true ? '' : 'null'
      writer.write(`${sub},"ex":${effect === undefined ? 'null' : effectText(effect)}}`)
    },
  }
}

function effectText({ gas, push, memory, store }: Effect): string {
  const words = push.map((word) => `"${quantityFromBigint(word)}"`).join(',')
  const mem =
    memory === undefined ? 'null' : `{"off":${memory.offset},"data":"${hexFromBytes(memory.data)}"}`
  const stored =
    store === undefined
      ? 'null'
      : `{"key":"${wordFromBigint(store.slot)}","val":"${wordFromBigint(store.value)}"}`
  return `{"used":${gas},"push":[${words}],"mem":${mem},"store":${stored}}`
}
