// The JSON log: one object a line, with the same events as the pretty log.
import type { ObservedCall } from '../../app/observer.ts'
import type { Json } from '../../rpc/schema.ts'
import { beginning } from './bounded.ts'
import {
  describeCall,
  describeError,
  describeEvents,
  describeTransaction,
  type LogContext,
  type LogRecord,
  plainDescription,
} from './context.ts'
import type { ChainEvent, RunningEvent, TransactionEvent } from './events.ts'
import type { Renderer } from './folding.ts'
import { builtInName, selectorOf } from './names.ts'
import { outcomeOf } from './outcome.ts'
import { askedBy, isDeployer } from './request.ts'

/** Characters of JSON above which parameters, a result or error data are truncated to text. */
const VALUE_LIMIT = 10_000
/** The same with `--verbose`. */
const VERBOSE_LIMIT = 1_000_000

/**
 * Each line has `time` (ISO 8601, the wall clock) and `event`. Wei, gas and seconds are decimal strings if they may
 * exceed 2^53; block numbers are numbers. A call has an `id`, which its changes repeat as `call`.
 * @param now milliseconds since 1970
 * @param isVerbose truncates values only above the verbose limit
 */
export function createJsonRenderer(now: () => number, isVerbose: boolean): Renderer {
  const line = (event: object): string =>
    `${JSON.stringify({ time: new Date(now()).toISOString(), ...event })}\n`
  const limit = isVerbose ? VERBOSE_LIMIT : VALUE_LIMIT
  return {
    folds: 'nothing',
    boot: (boot) => line({ event: 'boot', ...boot }),
    entry: (entry: LogRecord) => {
      const { chain, call, id, events } = entry
      const calls = call === undefined ? '' : line({ ...callObject(entry, call, limit), chain })
      const changes = events.map((event) => line({ ...eventObject(entry, event), call: id, chain }))
      return calls + changes.join('')
    },
    line: (event) => line(event.event === 'running' ? plainRunning(event) : event),
  }
}

function plainRunning({ durationMs, gasUsed, ...event }: RunningEvent): object {
  return { ...event, durationMs: Math.round(durationMs), gasUsed: gasUsed?.toString() }
}

function callObject(
  { id, context, callTrace }: LogRecord,
  call: ObservedCall,
  limit: number,
): object {
  const { method, durationMs, error, console: printed, notes } = call
  const cut: string[] = []
  const within = (name: string, value: Json | undefined): Json | undefined => {
    const text = value === undefined ? '' : beginning(value, limit + 1)
    if (text.length <= limit) return value
    cut.push(name)
    return `${text.slice(0, limit)}…`
  }
  const asked = askedBy(call)
  const described = describeCall(context, call)
  const custom = call.failure && describeError(context, asked?.to ?? null, call.failure.data)
  return {
    event: 'call',
    id,
    method,
    durationMs: Math.round(durationMs * 1000) / 1000,
    ok: error === undefined,
    ...(asked && { to: asked.to, ...functionOf(asked.to, asked.input) }),
    called: described && plainDescription(described),
    params: within('params', call.params),
    result: within('result', call.result),
    error: error && { ...error, data: within('error.data', error.data) },
    customError: custom && plainDescription(custom),
    outcome: error === undefined ? (call.description ?? outcomeOf(call)) : undefined,
    ...(cut.length > 0 ? { cut } : {}),
    ...(printed.length > 0 ? { console: printed } : {}),
    ...(notes.length > 0 ? { notes } : {}),
    trace: callTrace,
  }
}

function functionOf(
  to: string | null,
  input: string,
): { readonly selector?: string; readonly function?: string | undefined } {
  const selector = selectorOf(input)
  if (to === null || selector === '' || isDeployer(to)) return {}
  return { selector, function: builtInName(to, input) }
}

/** Flattens nested members. */
function plainEvent(event: ChainEvent): object {
  if (event.event === 'mining') {
    const { mode, stopped } = event.mining
    const { kind, ...interval } = mode
    return { event: event.event, mining: kind, ...interval, stopped }
  }
  if (event.event !== 'waiting') return event
  const { count, hashes } = event.added
  return { ...event, added: count, hashes }
}

/** Bounded fields, written as JSON numbers so that programs can compare them. */
const SMALL = new Set(
  `first number block fromBlock toBlock timestamp clockSeconds offsetSeconds nonce nextNonce`.split(
    ' ',
  ),
)

/** Converts bigints. (A replacer for `JSON.stringify` would run for every field of every line.) */
function eventObject({ context, stacks, traces }: LogRecord, event: ChainEvent): object {
  const fields = Object.entries(plainEvent(event)).map(([name, value]) => {
    if (name === 'executed') return [name, undefined]
    if (typeof value !== 'bigint') return [name, value]
    return [name, SMALL.has(name) ? Number(value) : value.toString()]
  })
  const object = Object.fromEntries(fields)
  if (event.event !== 'transaction') return object
  const called = functionOf(event.to, event.input)
  const named = context && namesOf(context, event)
  const solidityStack = stacks?.get(event.hash)
  const trace = traces?.get(event.hash)
  const ok = event.failure === undefined
  return { ...object, ...called, ...named, solidityStack, trace, input: undefined, ok }
}

function namesOf(context: LogContext, event: TransactionEvent): object {
  const { to, failure } = event
  const called = describeTransaction(context, event)
  const custom = failure && describeError(context, to, failure.data)
  const { described } = describeEvents(context, event)
  return {
    called: called && plainDescription(called),
    customError: custom && plainDescription(custom),
    ...(described.length > 0 ? { events: described.map(plainDescription) } : {}),
  }
}
