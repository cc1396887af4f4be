// The options object of debug_trace….
import type { BlockOverrides, StateOverrides } from '../../node/calls/overrides.ts'
import { anything, boolean, quantityNumber, text } from '../../rpc/primitives.ts'
import type { Decoder, Notes } from '../../rpc/schema.ts'
import { members, refined } from '../wire/decodeobject.ts'
import { blockOverrides, stateOverrides } from '../wire/decodeoverrides.ts'
import { type Recorder, recorderNamed, structLogRecorder } from './tracers.ts'

const traceMembers = {
  enableMemory: boolean,
  disableMemory: boolean,
  disableStack: boolean,
  disableStorage: boolean,
  enableReturnData: boolean,
  disableReturnData: boolean,
  limit: quantityNumber,
  tracer: text,
  tracerConfig: anything,
  // callTracer's own option, which some clients write beside the others
  onlyTopCall: boolean,
  withLog: boolean,
}

/** Traces here have no timeout, and need no old state. */
const IGNORED = ['timeout', 'reexec', 'debug', 'overrides']

const known = members('trace options', traceMembers, IGNORED)

const knownOfCalls = members(
  'trace options',
  { ...traceMembers, stateOverrides, blockOverrides, txIndex: quantityNumber },
  IGNORED,
)

type Known = ReturnType<typeof known.decode>

/**
 * `{tracer?, tracerConfig?, enableMemory?, disableStack?, disableStorage?, enableReturnData?, limit?}`: without a tracer,
 * struct logs. Memory is left out unless requested by `enableMemory` or `disableMemory: false`.
 */
export const traceOptions: Decoder<Recorder> = refined(known, recorderOf)

/** Struct logs with stack and storage. */
export const DEFAULT_TRACE: Recorder = structLogRecorder(structLogOptions({}))

/** A traced call's recorder and overrides. */
export interface TraceCallOptions {
  readonly recorder: Recorder
  readonly stateOverrides?: StateOverrides | undefined
  readonly blockOverrides?: BlockOverrides | undefined
  /** It runs before the block's transaction of this index; by default after all. */
  readonly index?: number | undefined
}

/** As `traceOptions`, with `stateOverrides`, `blockOverrides` and `txIndex`. */
export const traceCallOptions: Decoder<TraceCallOptions> = refined(
  knownOfCalls,
  (given, path, notes) => ({
    recorder: recorderOf(given, path, notes),
    stateOverrides: given.stateOverrides,
    blockOverrides: given.blockOverrides,
    index: given.txIndex,
  }),
)

function recorderOf(given: Known, path: string, notes?: Notes): Recorder {
  const { tracer, tracerConfig, onlyTopCall, withLog } = given
  if (tracer === undefined || tracer === '') return structLogRecorder(structLogOptions(given))
  const isPlain = typeof tracerConfig === 'object' && !Array.isArray(tracerConfig)
  const isJoined = tracer === 'callTracer' && (isPlain || tracerConfig === undefined)
  const config = isJoined ? { onlyTopCall, withLog, ...tracerConfig } : tracerConfig
  return recorderNamed(tracer, config, `${path}.tracerConfig`, notes)
}

function structLogOptions(given: Known): Parameters<typeof structLogRecorder>[0] {
  return {
    withStack: given.disableStack !== true,
    withMemory: given.enableMemory ?? given.disableMemory === false,
    withStorage: given.disableStorage !== true,
    withReturnData: given.enableReturnData ?? given.disableReturnData === false,
    limit: given.limit ?? 0,
  }
}
