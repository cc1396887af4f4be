// The parts of trace_replay… and trace_call: frames, state difference and operations, as requested.

import { hexFromBytes } from '../../core/hex.ts'
import type { Tracer } from '../../evm/executor.ts'
import { recordCalls } from '../../evm/tracers/calls.ts'
import { combineTracers } from '../../evm/tracers/combine.ts'
import { traceOperations } from '../../evm/tracers/operations.ts'
import { enumeration, list } from '../../rpc/primitives.ts'
import type { Decoder } from '../../rpc/schema.ts'
import { writeFlatFrames } from '../wire/traces/encodeframes.ts'
import { writeOperations } from '../wire/traces/encodeoperations.ts'
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

export const parts: Decoder<readonly Part[]> = list(enumeration(PARTS))
