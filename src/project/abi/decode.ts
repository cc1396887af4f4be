// Values out of what contracts are given and give back, by their ABI. The library that decodes them is loaded with this file.
import { type AbiParameters, decode } from 'ox/AbiParameters'
import { bigintFromBytes } from '../../core/hex.ts'
import { memoizeByIdentity } from '../../core/lrucache.ts'
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

interface ParsedItem {
  readonly inputs: readonly Parameter[]
  readonly outputs: readonly Parameter[]
  /** Of an event: each that is in a topic of its own, and those that are in the data. */
  readonly indexed: readonly (readonly [Parameter])[]
  readonly others: readonly Parameter[]
}

const parametersOf = memoizeByIdentity((item: AbiItem): ParsedItem => {
  const { inputs = [], outputs = [] } = JSON.parse(item.json) as Partial<ParsedItem>
  const isIndexed = (each: Parameter): boolean => each.indexed === true
  return {
    inputs,
    outputs,
    indexed: inputs.filter(isIndexed).map((each) => [inTopic(each)]),
    others: inputs.filter((each) => !isIndexed(each)),
  }
})

/** What is long is in a topic as a hash. */
function inTopic(parameter: Parameter): Parameter {
  const isValue = /^(u?int\d*|address|bool|bytes\d+)$/.test(parameter.type)
  return isValue ? parameter : { ...parameter, type: 'bytes32' }
}

/** The arguments of a call, an error or a constructor; undefined where the bytes do not fit. @param data without a selector */
export function decodeInputs(item: AbiItem, data: Uint8Array): readonly Argument[] | undefined {
  return decodeAs(parametersOf(item).inputs, data)
}

/**
 * Whether Solidity takes bytes for the arguments of a call or a constructor: it can read none, some has bits that its type
 * has not, or all are as they should be; `decodable` where it may check more than is known of the types.
 */
export function inputsFit(
  item: AbiItem,
  data: Uint8Array,
): 'undecodable' | 'unclean' | 'clean' | 'decodable' {
  const types = parametersOf(item).inputs.map(({ type }) => type)
  const areClean = areCleanWords(types, data)
  if (areClean === false) return 'unclean'
  if (decodeInputs(item, data) === undefined) return 'undecodable'
  // an enumeration is a uint8
  return areClean === undefined || types.includes('uint8') ? 'decodable' : 'clean'
}

const WORD = 32

/** True where words have no bits beyond those of their types; undefined where not all types are of one word, or bytes lack. */
function areCleanWords(types: readonly string[], data: Uint8Array): boolean | undefined {
  if (data.length < WORD * types.length) return undefined
  const found = types.map((type, i) => isClean(type, data.subarray(WORD * i, WORD * (i + 1))))
  return found.includes(undefined) ? undefined : !found.includes(false)
}

function isClean(type: string, word: Uint8Array): boolean | undefined {
  const value = bigintFromBytes(word)
  if (type === 'address') return value >> 160n === 0n
  if (type === 'bool') return value <= 1n
  const [, kind, digits = ''] = /^(u?int|bytes)(\d*)$/.exec(type) ?? []
  const bits = Number(digits || 256)
  switch (kind) {
    case 'uint':
      return BigInt.asUintN(bits, value) === value
    case 'int':
      return BigInt.asUintN(256, BigInt.asIntN(bits, value)) === value
    case 'bytes':
      return digits === '' ? undefined : BigInt.asUintN(256 - 8 * bits, value) === 0n
    default:
      return undefined
  }
}

export function decodeOutputs(item: AbiItem, data: Uint8Array): readonly Argument[] | undefined {
  return decodeAs(parametersOf(item).outputs, data)
}

/** The arguments of an event: indexed ones are in its topics, long ones of those as hashes alone. */
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

function decodeAs(
  parameters: readonly Parameter[],
  data: Uint8Array,
): readonly Argument[] | undefined {
  if (parameters.length === 0) return []
  if (data.length > LONGEST) return undefined
  try {
    const values: readonly unknown[] = decode(bareOf(parameters), data, { checksumAddress: false })
    return parameters.map((parameter, i) => argument(parameter, values[i]))
  } catch {
    return undefined
  }
}

const bareOf = memoizeByIdentity(
  (parameters: readonly Parameter[]) => parameters.map(nameless) as AbiParameters,
)

/** Names decide what the library makes of a tuple: without them it makes a list. */
function nameless({ type, components }: Parameter): Parameter {
  return components === undefined ? { type } : { type, components: components.map(nameless) }
}

/** A decoded value, with the arguments of tuples in place of plain lists. */
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
