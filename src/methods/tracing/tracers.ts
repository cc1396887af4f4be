// The tracers of debug_trace… by name: each provides hooks for a run, and writes the result.
import { invalidParams, printValue } from '../../core/errors.ts'
import { hexFromBytes, quantityFromBigint } from '../../core/hex.ts'
import { isObject } from '../../core/objects.ts'
import type { Tracer } from '../../evm/executor.ts'
import { type CallFrame, recordCalls } from '../../evm/tracers/calls.ts'
import { combineTracers } from '../../evm/tracers/combine.ts'
import { recordSelectors, recordTouched, type TouchRecorder } from '../../evm/tracers/recorders.ts'
import { type StructLogOptions, traceStructLogs } from '../../evm/tracers/structlogs.ts'
import type { TraceBudget, TracedRun, TracedTarget } from '../../node/calls/replay.ts'
import type { ExecutedTransaction } from '../../node/ledger/blockrecord.ts'
import { outermostFrame } from '../../node/ledger/outermostframe.ts'
import type { Project } from '../../project/project.ts'
import type { JsonWriter } from '../../rpc/jsontext.ts'
import { boolean } from '../../rpc/primitives.ts'
import { type Decoder, invalid, type Notes } from '../../rpc/schema.ts'
import { members } from '../wire/decodeobject.ts'
import {
  aloneText,
  dimensionsOf,
  type FramePlace,
  wholeFrame,
  writeCallTree,
  writeFlatFrames,
} from '../wire/traces/encodeframes.ts'
import { prestateOf } from '../wire/traces/encodestate.ts'
import { writeStructLogs } from '../wire/traces/encodestructlogs.ts'
import { knownDimensions } from './aloneframe.ts'
import { MOST_EXPLAINED, stackOf } from './explain.ts'

/** The context of a recording. */
export interface Stage {
  readonly writer: JsonWriter
  readonly budget: TraceBudget
  readonly target: TracedTarget
  /** Undefined for a message outside any block. */
  readonly place: FramePlace | undefined
  readonly project: Project | undefined
}

export type AloneStage = Pick<Stage, 'writer' | 'place'>

/** A run that is being recorded. */
export interface TraceRecording {
  /** The request's limits provide the hooks left out here. */
  readonly tracer: Omit<Tracer, 'onTick' | 'onPause'>
  /** Writes one JSON value, or the rest of one begun with the recording. */
  readonly write: (run: TracedRun) => Promise<void>
}

export interface Recorder {
  (stage: Stage): TraceRecording
  /** Writes the result for a transaction with one known frame, without a run. */
  readonly ofAlone?: (stage: AloneStage, executed: ExecutedTransaction) => void
}

/** Struct logs: `{structLogs, gas, failed, returnValue}`, written while the run proceeds. */
export function structLogRecorder(options: StructLogOptions): Recorder {
  return ({ writer }) => {
    writer.write('{"structLogs":')
    const logs = writeStructLogs(writer, options)
    return {
      tracer: traceStructLogs(options, logs),
      write: async (run) => {
        logs.end()
        const { gasUsed, failure, output } = run.outcome
        const returnValue = failure?.kind === 'halt' ? '0x' : hexFromBytes(output)
        const parts = Object.entries(dimensionsOf(run) ?? {}).map(
          ([key, gas]) => `,"${key}":${gas}`,
        )
        writer.write(
          `,"gas":${gasUsed},"failed":${failure !== undefined},"returnValue":"${returnValue}"${parts.join('')}}`,
        )
      },
    }
  }
}

/** First the accounts that every run touches, then the run's own. */
export function touchRecorder({ from, to, coinbase, authorities }: TracedTarget): TouchRecorder {
  return recordTouched([from, ...(to === null ? [] : [to]), coinbase, ...authorities])
}

type Making = (config: unknown, path: string, notes?: Notes) => Recorder

function configured<T>(config: Decoder<T>, make: (config: T) => Recorder): Making {
  return (given, path, notes) => make(config.decode(given, path, notes))
}

const callConfig = members('callTracer config', {
  onlyTopCall: boolean,
  withLog: boolean,
  names: boolean,
})

const callTracer = configured(callConfig, ({ onlyTopCall, withLog, names: wantsNames }) => {
  let explained = 0
  const recorder: Recorder = ({ writer, budget, place, project }) => {
    const { tracer, top } = recordCalls({
      onlyTop: onlyTopCall,
      withLogs: withLog,
      logsBefore: place?.logsBefore,
      keep: budget.keep,
    })
    return {
      tracer,
      write: async (run) => {
        const whole = wholeFrame(top(), run)
        if (wantsNames !== true || project === undefined) return writeCallTree(writer, whole)
        const { outcome, transaction } = run
        const { failure, world } = outcome
        if (failure !== undefined) explained += 1
        const isExplained = failure !== undefined && explained <= MOST_EXPLAINED
        const solidityStack = isExplained
          ? await stackOf(project, outcome, transaction?.hash)
          : undefined
        const nameOf = (frame: CallFrame): string | undefined =>
          project.names.frame(world, frame)?.text
        return writeCallTree(writer, whole, { nameOf, solidityStack })
      },
    }
  }
  // names are those of contracts after the run
  if (wantsNames === true) return recorder
  return Object.assign(recorder, {
    ofAlone: ({ writer, place }: AloneStage, executed: ExecutedTransaction) => {
      const frame = outermostFrame(executed, withLog ? (place?.logsBefore ?? 0) : undefined)
      writer.write(aloneText(frame, knownDimensions(executed)))
    },
  })
})

const flatConfig = members('flatCallTracer config', {
  convertParityErrors: boolean,
  includePrecompiles: boolean,
})

const flatCallTracer = configured(flatConfig, ({ convertParityErrors, includePrecompiles }) => {
  return ({ writer, budget, place }) => {
    const { tracer, top } = recordCalls({ keep: budget.keep })
    const form = { withParityErrors: convertParityErrors === true, includePrecompiles, place }
    return {
      tracer,
      write: async (run) => {
        writer.write('[')
        await writeFlatFrames(writer, wholeFrame(top(), run), form)
        writer.write(']')
      },
    }
  }
})

const prestateConfig = members('prestateTracer config', {
  diffMode: boolean,
  disableCode: boolean,
  disableStorage: boolean,
  includeEmpty: boolean,
})

const prestateTracer = configured(prestateConfig, (options) => ({ writer, target }) => {
  const { tracer, touched } = touchRecorder(target)
  return { tracer, write: async (run) => writer.value(prestateOf(run, touched, options)) }
})

const emptyConfig = members('config', {})

const selectorTracer = configured(emptyConfig, () => ({ writer }) => {
  const { tracer, counts } = recordSelectors()
  return { tracer, write: async () => writer.value(Object.fromEntries(counts)) }
})

/** A transaction's gas in both dimensions; before amsterdam there is no state gas. */
const stateGasTracer = configured(emptyConfig, () => ({ writer }) => ({
  tracer: {},
  write: async (run) => {
    const { gasUsed, gasRefund } = run.outcome
    const before = { executionGasUsed: gasUsed + gasRefund, stateGasUsed: 0n, gasRefund }
    const parts = { gasUsed, ...(dimensionsOf(run) ?? before) }
    const members = Object.entries(parts).map(([key, gas]) => [key, quantityFromBigint(gas)])
    writer.value(Object.fromEntries(members))
  },
}))

const noopTracer = configured(emptyConfig, () => ({ writer }) => ({
  tracer: {},
  write: async () => writer.write('{}'),
}))

/** Several tracers in one run: configs and results are keyed by tracer name. */
function muxTracer(config: unknown, path: string, notes?: Notes): Recorder {
  if (!isObject(config) || Object.keys(config).length === 0) {
    throw invalid(path, '{tracer: its config, ...}', config)
  }
  const recorders = Object.entries(config).map(
    ([name, inner]) => [name, recorderNamed(name, inner, `${path}.${name}`, notes)] as const,
  )
  return (stage) => {
    const recordings = recorders.map(([name, begin]) => [name, begin(stage)] as const)
    return {
      tracer: combineTracers(recordings.map(([, { tracer }]) => tracer)),
      write: async (run) => {
        stage.writer.write('{')
        for (const [index, [name, { write }]] of recordings.entries()) {
          stage.writer.write(`${index === 0 ? '' : ','}${JSON.stringify(name)}:`)
          await write(run)
        }
        stage.writer.write('}')
      },
    }
  }
}

const TRACERS: ReadonlyMap<string, Making> = new Map([
  ['callTracer', callTracer],
  ['prestateTracer', prestateTracer],
  ['4byteTracer', selectorTracer],
  ['flatCallTracer', flatCallTracer],
  ['muxTracer', muxTracer],
  ['stateGasTracer', stateGasTracer],
  ['noopTracer', noopTracer],
])

/**
 * @param path of the config in the request
 * @throws {DevchainError} `INVALID_PARAMS` for an unknown name, listing the known ones, or an invalid config
 */
export function recorderNamed(
  name: string,
  config: unknown,
  path: string,
  notes: Notes | undefined,
): Recorder {
  const make = TRACERS.get(name)
  if (make !== undefined) return make(config ?? {}, path, notes)
  const known = [...TRACERS.keys()].join(', ')
  const message = `there is no tracer ${printValue(name)}: expected ${known}, or none for struct logs`
  throw invalidParams(message)
}
