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
    `${JSON.stringify({ time: new Date(now()).toISOString(), ...fact }, plainNumbers)}\n`
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

/** A bigint as a decimal string. */
function plainNumbers(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}

function callObject(call: CallFact, isVerbose: boolean): object {
  const { event, method, durationMs, params, result, error } = call
  const outcome = error === undefined ? outcomeOf(call) : undefined
  return {
    event,
    method,
    durationMs: Math.round(durationMs * 1000) / 1000,
    ok: error === undefined,
    outcome,
    error: error && { ...error, data: error.data === undefined ? undefined : bounded(error.data) },
    ...(isVerbose ? { params: bounded(params), result: result && bounded(result) } : {}),
  }
}

function bounded(value: Json): Json {
  const text = JSON.stringify(value)
  return text.length <= VALUE_LIMIT ? value : `${text.slice(0, VALUE_LIMIT)}…`
}

/** Block numbers and times as numbers, which programs compare. */
function factObject(fact: ChainFact): object {
  switch (fact.event) {
    case 'block':
      return {
        ...fact,
        first: Number(fact.first),
        number: Number(fact.number),
        timestamp: Number(fact.timestamp),
      }
    case 'transaction':
    case 'snapshot':
      return { ...fact, block: Number(fact.block) }
    case 'revert':
    case 'reset':
    case 'reorganization':
      return {
        ...fact,
        fromBlock: Number(fact.fromBlock),
        toBlock: Number(fact.toBlock),
        clockSeconds: Number(fact.clockSeconds),
      }
    case 'clock':
      return {
        ...fact,
        clockSeconds: Number(fact.clockSeconds),
        offsetSeconds: Number(fact.offsetSeconds),
      }
    default:
      return fact
  }
}
