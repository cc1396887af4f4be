// Checks the network's answers against the schema of a method's result: only members that this chain uses.
import type { Json, JsonSchema } from '../../rpc/schema.ts'
import { RefusedByUpstream } from '../client/client.ts'
import { NullAnswer } from '../client/provider.ts'
import { isObject, something, unexpected } from '../network/answers.ts'
import type { BoundaryRequest } from './places.ts'

/** Parameters that name something in a block, which may lack it. */
const WITHIN_BLOCKS = new Set(['index', 'positions'])

/** Longer strings are not matched. */
const MOST_MATCHED = 1_000

/**
 * @param number of the block, if known: then null is no answer, and is retried
 * @throws {NoAnswer} if the answer does not fit the method's result
 */
export async function askNetwork(
  { method, upstream }: Pick<BoundaryRequest, 'method' | 'upstream'>,
  params: readonly unknown[],
  number?: bigint,
): Promise<Json> {
  const mayBeNone =
    number === undefined || method.params.some(({ name }) => WITHIN_BLOCKS.has(name))
  const read = (answer: unknown): Json => {
    const json = mayBeNone ? (answer as Json) : something(answer as Json)
    if (isTracerIgnored(params, json)) {
      const ask = { method: method.name, params: params as readonly Json[] }
      const message = 'it ignores the tracer'
      throw new RefusedByUpstream({ code: -32_000, message }, ask, upstream.facts().name)
    }
    if (isTracedByCode(params) || fits(method.result.json, json, 1)) return json
    throw unexpected(`what ${method.name} answers`, json)
  }
  try {
    return await upstream.ask(method.name, params, number, read)
  } catch (error) {
    // all nodes lag behind the block: for now it is unknown
    if (error instanceof NullAnswer && fits(method.result.json, null, 1)) return null
    throw error
  }
}

/** The result of a JavaScript tracer has any shape. */
function isTracedByCode(params: readonly unknown[]): boolean {
  return tracerIn(params).includes('{')
}

/** Some test nodes return the steps of the EVM for every tracer. */
function isTracerIgnored(params: readonly unknown[], answer: Json): boolean {
  const isNamed = tracerIn(params) !== '' && !isTracedByCode(params)
  return isNamed && isObject(answer) && 'structLogs' in answer
}

/** Empty: none. */
function tracerIn(params: readonly unknown[]): string {
  const tracers = params.map((param) => (isObject(param) ? param.tracer : undefined))
  return String(tracers.find((tracer) => typeof tracer === 'string') ?? '')
}

type Fit = (schema: JsonSchema, value: unknown, depth: number) => boolean

const FITS: Readonly<Record<string, Fit>> = {
  null: (_, value) => value === null,
  boolean: (_, value) => typeof value === 'boolean',
  number: (_, value) => typeof value === 'number',
  integer: (_, value) => Number.isSafeInteger(value),
  // some networks write numbers with leading zeros
  string: ({ pattern }, value) =>
    typeof value === 'string' &&
    (!String(pattern).startsWith('^0x') || value.length > MOST_MATCHED || HEX.test(value)),
  object: ({ required }, value) => isObject(value) && hasMost(value, required),
  array: ({ items }, value, depth) =>
    Array.isArray(value) &&
    (depth === 0 || value.every((each) => fits((items ?? {}) as JsonSchema, each, depth - 1))),
}

/** Networks leave out some members of blocks and receipts; a value with few of them is something else. */
function hasMost(value: object, required: Json | undefined): boolean {
  const names = Array.isArray(required) ? (required as readonly string[]) : []
  return names.length === 0 || names.filter((name) => name in value).length * 2 > names.length
}

const HEX = /^0x[0-9a-fA-F]*$/

/** Checks types only, and array items up to `depth` arrays deep. */
function fits(schema: JsonSchema, value: unknown, depth: number): boolean {
  const either = (schema.anyOf ?? schema.oneOf) as readonly JsonSchema[] | undefined
  if (either !== undefined) return either.some((each) => fits(each, value, depth))
  if ('const' in schema) return value === schema.const
  return FITS[String(schema.type)]?.(schema, value, depth) ?? value !== undefined
}
