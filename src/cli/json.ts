// The log for programs: one JSON object a line, with the same facts as the log for people.
import type { Json } from '../rpc/schema.ts'
import { bounded } from './bounded.ts'
import type { BugFact, CallFact, ChainFact, RunningFact } from './facts.ts'
import type { Entry, Renderer } from './log.ts'
import { builtInName, type NameSource, selectorOf } from './names.ts'
import { outcomeOf } from './outcome.ts'
import { askedBy } from './request.ts'

/** Characters of a parameter list, a result or an error's data, as JSON, above which only its beginning is given, as text. */
const VALUE_LIMIT = 10_000
/** The same with `--verbose`. */
const VERBOSE_LIMIT = 1_000_000

/**
 * Makes the renderer for programs. Each line has `time` (ISO 8601, the wall clock) and `event`; amounts of wei, gas
 * and seconds are decimal strings where they may pass 2^53, block numbers are numbers. A call has an `id`, which what it
 * changed names as `call`.
 * @param now milliseconds since 1970
 * @param isVerbose cuts values only where they are very long
 * @param nameOf knows what functions are called
 */
export function createJsonRenderer(
  now: () => number,
  isVerbose: boolean,
  nameOf: NameSource = builtInName,
): Renderer {
  const line = (fact: object): string =>
    `${JSON.stringify({ time: new Date(now()).toISOString(), ...fact })}\n`
  const look: Look = { nameOf, limit: isVerbose ? VERBOSE_LIMIT : VALUE_LIMIT }
  return {
    collapses: false,
    boot: (facts) => line({ event: 'boot', ...facts }),
    entry: ({ call, id, facts }: Entry) => {
      const calls = call === undefined ? '' : line(callObject(look, call, id))
      return calls + facts.map((fact) => line({ ...factObject(look, fact), call: id })).join('')
    },
    hint: (fact) => line(fact),
    running: ({ durationMs, gasUsed, ...fact }: RunningFact) =>
      line({ ...fact, durationMs: Math.round(durationMs), gasUsed: gasUsed?.toString() }),
    bug: (fact: BugFact) => line(fact),
    end: (fact) => line(fact),
    dropped: (lines) => line({ event: 'overflow', lines }),
  }
}

interface Look {
  readonly nameOf: NameSource
  readonly limit: number
}

function callObject({ nameOf, limit }: Look, call: CallFact, id: number | undefined): object {
  const { event, method, durationMs, error, console: printed, notes, told } = call
  const cut: string[] = []
  const within = (name: string, value: Json | undefined): Json | undefined => {
    if (value === undefined) return undefined
    const { value: fitting, isCut } = bounded(value, limit)
    if (isCut) cut.push(name)
    return fitting
  }
  const asked = askedBy(call)
  return {
    event,
    id,
    method,
    durationMs: Math.round(durationMs * 1000) / 1000,
    ok: error === undefined,
    ...(asked && { to: asked.to, ...functionOf(nameOf, asked.to, asked.input) }),
    params: within('params', call.params),
    result: within('result', call.result),
    error: error && { ...error, data: within('error.data', error.data) },
    outcome: error === undefined ? (told ?? outcomeOf(call)) : undefined,
    ...(cut.length > 0 ? { cut } : {}),
    ...(printed.length > 0 ? { console: printed } : {}),
    ...(notes.length > 0 ? { notes } : {}),
  }
}

/** Which function a message calls; nothing where it calls none. */
function functionOf(
  nameOf: NameSource,
  to: string | null,
  input: string,
): { readonly selector?: string; readonly function?: string | undefined } {
  const selector = selectorOf(input)
  if (to === null || selector === '') return {}
  return { selector, function: nameOf(to, input) }
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
function factObject({ nameOf }: Look, fact: ChainFact): object {
  const fields = Object.entries(plainFact(fact)).map(([name, value]) => {
    if (typeof value !== 'bigint') return [name, value]
    return [name, SMALL.has(name) ? Number(value) : value.toString()]
  })
  const object = Object.fromEntries(fields)
  if (fact.event !== 'transaction') return object
  const called = functionOf(nameOf, fact.to, fact.input)
  return { ...object, ...called, input: undefined, ok: fact.failure === undefined }
}
