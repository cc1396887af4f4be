// Decodes arguments, results and events by their ABI. Importing this file loads the decoding library.
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
  /** Of an event: the indexed parameters, one per topic, and the others in the data. */
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

/** Topics hold long values as hashes. */
function inTopic(parameter: Parameter): Parameter {
  const isValue = /^(u?int\d*|address|bool|bytes\d+)$/.test(parameter.type)
  return isValue ? parameter : { ...parameter, type: 'bytes32' }
}

/** Arguments of a call, error or constructor; undefined if the bytes do not fit. @param data without a selector */
export function decodeInputs(item: AbiItem, data: Uint8Array): readonly Argument[] | undefined {
  return decodeAs(parametersOf(item).inputs, data)
}

/**
 * Whether Solidity accepts bytes as arguments: none can be read, some have bits outside their type, or all are clean;
 * `decodable`
 * if it may check more than the types show.
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

/** True if no word has bits outside its type; undefined if a type takes several words or bytes are missing. */
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

/** Without names the library decodes tuples to lists. */
function nameless({ type, components }: Parameter): Parameter {
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
