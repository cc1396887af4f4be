// Decodes arguments, results and events by their ABI. Importing this file loads the decoding library.
import { type AbiParameters, decode, encode } from 'ox/AbiParameters'
import { attempt } from '../../core/errors.ts'
import { hexFromBytes } from '../../core/hex.ts'
import { memoizeByIdentity } from '../../core/lrucache.ts'
import { isObject, type JsonObject } from '../reading/formats.ts'
import type { AbiItem } from '../reading/summary.ts'

export interface Parameter {
  readonly name?: string
  readonly type: string
  readonly components?: readonly Parameter[]
  readonly indexed?: boolean
}

export interface Argument {
  readonly parameter: Parameter
  /** Numbers, bigints, booleans, texts; lists for arrays, lists of arguments for tuples. */
  readonly value: unknown
}

const LONGEST = 1_000_000

const parametersOf = memoizeByIdentity((item: AbiItem) => {
  const json = JSON.parse(item.json) as JsonObject
  const [inputs, outputs] = [listOf(json.inputs), listOf(json.outputs)]
  const isIndexed = (each: Parameter): boolean => each.indexed === true
  return {
    inputs,
    outputs,
    // of an event: one per topic, which holds a long value as its hash, and those in the data
    indexed: inputs
      .filter(isIndexed)
      .map((each) => [isWord(each) ? each : { ...each, type: 'bytes32' }]),
    others: inputs.filter((each) => !isIndexed(each)),
  }
})

/** Files may have anything in these places. */
function listOf(parameters: unknown): readonly Parameter[] {
  return Array.isArray(parameters) ? (parameters.filter(isObject) as unknown as Parameter[]) : []
}

/** True if values of the type take one word. */
function isWord({ type }: Parameter): boolean {
  return /^(u?int\d*|address|bool|bytes\d+|function)$/.test(type)
}

/** Arguments of a call, error or constructor; undefined if the bytes do not fit. @param data without a selector */
export function decodeInputs(item: AbiItem, data: Uint8Array): readonly Argument[] | undefined {
  return decodeAs(parametersOf(item).inputs, data)
}

/**
 * Whether Solidity accepts bytes as arguments: none can be read, some have bits outside their type, or all are clean;
 * `decodable` if it may check more than the types show.
 */
export function inputsFit(
  item: AbiItem,
  data: Uint8Array,
): 'undecodable' | 'unclean' | 'clean' | 'decodable' {
  const { inputs } = parametersOf(item)
  const words = data.subarray(0, WORD * inputs.length)
  const areWords = inputs.every(isWord) && words.length === WORD * inputs.length
  if (areWords && !areClean(inputs, words)) return 'unclean'
  if (decodeInputs(item, data) === undefined) return 'undecodable'
  // an enumeration is a uint8
  return !areWords || inputs.some(({ type }) => type === 'uint8') ? 'decodable' : 'clean'
}

const WORD = 32

/** True if no word has bits outside its type. */
function areClean(parameters: readonly Parameter[], words: Uint8Array): boolean {
  const types = bareOf(parameters)
  const again = attempt(() => encode(types, decode(types, words) as never))
  return again === hexFromBytes(words)
}

export function decodeOutputs(item: AbiItem, data: Uint8Array): readonly Argument[] | undefined {
  return decodeAs(parametersOf(item).outputs, data)
}

/** Topics hold long indexed arguments only as hashes. */
export function decodeEvent(
  item: AbiItem,
  topics: readonly Uint8Array[],
  data: Uint8Array,
): readonly Argument[] | undefined {
  const { inputs, indexed, others } = parametersOf(item)
  if (indexed.length !== topics.length - 1) return undefined
  const values = decodeAs(others, data)
  if (values === undefined) return undefined
  const inTopics = indexed.map((only, i) => decodeAs(only, topics[i + 1]!)?.[0])
  const [ofTopics, ofData] = [inTopics.values(), values.values()]
  const all = inputs.map((each) => (each.indexed === true ? ofTopics : ofData).next().value)
  return all.every((each) => each !== undefined) ? (all as Argument[]) : undefined
}

/** One value of a type; undefined if the bytes do not fit. */
export function decodeValue(type: string, data: Uint8Array): unknown {
  return decodeAs([{ type }], data)?.[0]?.value
}

function decodeAs(
  parameters: readonly Parameter[],
  data: Uint8Array,
): readonly Argument[] | undefined {
  if (parameters.length === 0) return []
  if (data.length > LONGEST) return undefined
  return attempt(() => {
    const values: readonly unknown[] = decode(bareOf(parameters), data, { checksumAddress: false })
    return parameters.map((parameter, i) => argument(parameter, values[i]))
  })
}

const bareOf = memoizeByIdentity(
  (parameters: readonly Parameter[]) => parameters.map(nameless) as AbiParameters,
)

/** Without names the library decodes tuples to lists. A function is an address and a selector. */
function nameless({ type: given, components }: Parameter): Parameter {
  const type = given.replace(/^function/, 'bytes24')
  return components === undefined ? { type } : { type, components: components.map(nameless) }
}

function argument(parameter: Parameter, value: unknown): Argument {
  const { type, components = [] } = parameter
  const array = /^(.*)\[\d*\]$/.exec(type)
  if (array !== null && Array.isArray(value)) {
    const item: Parameter = { ...parameter, type: array[1] ?? '' }
    return { parameter, value: value.map((each) => argument(item, each).value) }
  }
  if (type === 'tuple' && Array.isArray(value)) {
    return { parameter, value: components.map((each, i) => argument(each, value[i])) }
  }
  return { parameter, value }
}
