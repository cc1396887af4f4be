// What a network answers in place of a method here, held against the form that the declaration gives its result. What is passed on
// stays as it is: only what work here goes on with is looked at, as networks have members and transactions of their own.
import type { MethodContext } from '../../methods/common/context.ts'
import type { Method } from '../../rpc/method.ts'
import type { Json, JsonSchema } from '../../rpc/schema.ts'
import { isObject, unexpected } from '../network/answers.ts'
import type { Question } from './places.ts'

/** Parameters that name something in a block, which need not be there though the block is. */
const WITHIN_BLOCKS = new Set(['index', 'positions'])

/** Longer texts are not looked through. */
const MOST_MATCHED = 1_000

/**
 * The network's answer to a method.
 * @param number of the block that it is about, where that is known: then there is an answer, and none is asked for again
 * @throws {NoAnswer} for what has another form than the method's results
 */
export async function askNetwork(
  { method, upstream }: Pick<Question, 'method' | 'upstream'>,
  params: readonly unknown[],
  number?: bigint,
): Promise<Json> {
  const mayBeNone =
    number === undefined || method.params.some(({ name }) => WITHIN_BLOCKS.has(name))
  const answer = (await upstream.ask(method.name, params, number, (each) => {
    if (each !== null || !mayBeNone) requireForm(method, params, each as Json)
    if (each === null && !mayBeNone) throw unexpected('what is in a block', each)
  })) as Json
  requireForm(method, params, answer)
  return answer
}

/** @throws {NoAnswer} for what has another form than the method's results */
function requireForm(
  method: Method<MethodContext>,
  params: readonly unknown[],
  answer: Json,
): void {
  if (isTracedByCode(params) || fits(method.result.json, answer, 1)) return
  throw unexpected(`what ${method.name} answers`, answer)
}

/** A tracer in JavaScript gives whatever it likes. */
function isTracedByCode(params: readonly unknown[]): boolean {
  return params.some((param) => {
    const { tracer } = (param ?? {}) as { readonly tracer?: unknown }
    return typeof tracer === 'string' && tracer.includes('{')
  })
}

type Fit = (schema: JsonSchema, value: unknown, depth: number) => boolean

const FITS: Readonly<Record<string, Fit>> = {
  null: (_, value) => value === null,
  boolean: (_, value) => typeof value === 'boolean',
  number: (_, value) => typeof value === 'number',
  integer: (_, value) => Number.isSafeInteger(value),
  string: ({ pattern }, value) =>
    typeof value === 'string' &&
    (!isOfHex(pattern) || value.length > MOST_MATCHED || HEX.test(value)),
  object: ({ required }, value) => isObject(value) && hasMost(value, required),
  array: ({ items }, value, depth) =>
    Array.isArray(value) &&
    (depth === 0 || value.every((each) => fits((items ?? {}) as JsonSchema, each, depth - 1))),
}

/** Networks leave some members of blocks and receipts out; what has few of them is something else. */
function hasMost(value: object, required: Json | undefined): boolean {
  const names = Array.isArray(required) ? (required as readonly string[]) : []
  return names.length === 0 || names.filter((name) => name in value).length * 2 > names.length
}

const HEX = /^0x[0-9a-fA-F]*$/

/** Some networks write numbers with leading zeros. */
function isOfHex(pattern: Json | undefined): boolean {
  return typeof pattern === 'string' && pattern.startsWith('^0x')
}

/** True where a value is of the type that a schema names, and the items of an array too, so many arrays deep. */
function fits(schema: JsonSchema, value: unknown, depth: number): boolean {
  const either = (schema.anyOf ?? schema.oneOf) as readonly JsonSchema[] | undefined
  if (either !== undefined) return either.some((each) => fits(each, value, depth))
  if ('const' in schema) return value === schema.const
  return FITS[String(schema.type)]?.(schema, value, depth) ?? value !== undefined
}
