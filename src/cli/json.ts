// The log for programs: one JSON object a line, with the same facts as the log for people.
import type { Json } from '../rpc/schema.ts'
import type { BugFact, CallFact, ChainFact } from './facts.ts'
import type { Entry, Renderer } from './log.ts'
import { outcomeOf } from './outcome.ts'

/** Characters of a parameter list or a result, as JSON, above which only its beginning is given, as text. */
const VALUE_LIMIT = 10_000

/**
 * Makes the renderer for programs. Each line has `time` (ISO 8601, the wall clock) and `event`; amounts of wei, gas
 * and seconds are decimal strings where they may pass 2^53, block numbers are numbers.
 * @param now milliseconds since 1970
 */
export function createJsonRenderer(now: () => number, isVerbose: boolean): Renderer {
  const line = (fact: object): string =>
    `${JSON.stringify({ time: new Date(now()).toISOString(), ...fact })}\n`
  return {
    collapses: false,
    boot: (facts) => line({ event: 'boot', ...facts }),
    entry: ({ call, facts }: Entry) => {
      const calls = call === undefined ? '' : line(callObject(call, isVerbose))
      return calls + facts.map((fact) => line(factObject(fact))).join('')
    },
    bug: (fact: BugFact) => line(fact),
    dropped: (lines) => line({ event: 'overflow', lines }),
  }
}

function callObject(call: CallFact, isVerbose: boolean): object {
  const { event, method, durationMs, params, result, error, console: printed, notes } = call
  const outcome = error === undefined ? outcomeOf(call) : undefined
  return {
    event,
    method,
    durationMs: Math.round(durationMs * 1000) / 1000,
    ok: error === undefined,
    outcome,
    error: error && { ...error, data: error.data === undefined ? undefined : bounded(error.data) },
    ...(printed.length > 0 ? { console: printed } : {}),
    ...(notes.length > 0 ? { notes } : {}),
    ...(isVerbose ? { params: bounded(params), result: result && bounded(result) } : {}),
  }
}

function bounded(value: Json): Json {
  const text = JSON.stringify(value)
  return text.length <= VALUE_LIMIT ? value : `${text.slice(0, VALUE_LIMIT)}…`
}

/** The fact with what it has inside brought to its surface. */
function plainFact(fact: ChainFact): object {
  if (fact.event === 'mining') {
    const { mode, stopped } = fact.mining
    const { kind, ...interval } = mode
    return { event: fact.event, mining: kind, ...interval, stopped }
  }
  if (fact.event !== 'waiting') return fact
  const { count, hashes } = fact.added
  return { ...fact, added: count, hashes }
}

/** Fields that are small enough for a JSON number, which programs can compare. */
const SMALL = new Set([
  'first',
  'number',
  'block',
  'fromBlock',
  'toBlock',
  'timestamp',
  'clockSeconds',
  'offsetSeconds',
  'nonce',
])

/** The fact without bigints. (A replacer for `JSON.stringify` would be asked about every field of every line.) */
function factObject(fact: ChainFact): object {
  const fields = Object.entries(plainFact(fact)).map(([name, value]) => {
    if (typeof value !== 'bigint') return [name, value]
    return [name, SMALL.has(name) ? Number(value) : value.toString()]
  })
  const object = Object.fromEntries(fields)
  return fact.event === 'transaction' ? { ...object, ok: fact.failure === undefined } : object
}
