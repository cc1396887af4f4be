// ABIs: what people type becomes arguments, and bytes become values to read.
import type { Abi, AbiEvent, AbiFunction, AbiParameter, Hex } from 'viem'
import {
  decodeEventLog,
  decodeFunctionData,
  decodeFunctionResult,
  toFunctionSelector,
} from 'viem/utils'
import { attempt } from '../../core/errors.ts'
import { amount, number as count } from '../../core/format.ts'
import { jsonIn } from '../../core/objects.ts'
import { type Field, parseAddress, parseBytes, parseCount, parseEther } from '../acts/fields.ts'
import type { RpcLog } from './shapes.ts'

export type { AbiFunction }

/** From this on, a number is also shown as with 18 decimals. */
const LARGE = 10n ** 14n

export function functionsOf(abi: readonly unknown[]): readonly AbiFunction[] {
  const functions = (abi as Abi).filter((item) => item.type === 'function')
  // what is written by hand may lack them
  return functions.map((item) => ({
    ...item,
    inputs: item.inputs ?? [],
    outputs: item.outputs ?? [],
  }))
}

export function isRead({ stateMutability }: AbiFunction): boolean {
  return stateMutability === 'view' || stateMutability === 'pure'
}

/** `transfer(address to, uint256 amount)` */
export function signatureOf({ name, inputs }: AbiFunction): string {
  return `${name}(${inputs.map((each) => [each.type, each.name].filter(Boolean).join(' ')).join(', ')})`
}

function labelOf({ name }: AbiParameter, index: number): string {
  return name || `argument ${index + 1}`
}

export function fieldOf(input: AbiParameter, index: number): Field {
  return {
    name: `${index}`,
    label: labelOf(input, index),
    kind: input.type === 'address' ? 'account' : 'word',
    hint: [input.type, hintOf(input)].filter(Boolean).join(': '),
    parse: (text) => argumentOf(input, text),
  }
}

/** What is expected in the field of an argument. */
function hintOf(input: AbiParameter): string {
  const { type } = input
  const members = 'components' in input ? input.components : []
  const tuple = `{${members.map((each) => `"${each.name}": ${each.type}`).join(', ')}}`
  if (type.endsWith(']')) return members.length > 0 ? `[${tuple}, …]` : '["first", "second"]'
  if (type === 'tuple') return tuple
  if (/^u?int/.test(type)) return '0, 1.5 ether'
  return type === 'bool' ? 'true or false' : type.startsWith('bytes') ? '0x' : ''
}

/**
 * Arrays and structs are JSON, whose items are as in fields of their own.
 * @throws Error that says what was expected
 */
function argumentOf(input: AbiParameter, given: unknown): unknown {
  const { type } = input
  const [, itemType, length = ''] = /^(.*)\[(\d*)\]$/.exec(type) ?? []
  const value = typeof given === 'string' ? jsonIn(exactIn(given)) : given
  if (itemType !== undefined) {
    if (!Array.isArray(value)) throw new Error('expected a list such as ["0x12", 5]')
    if (length !== '' && value.length !== Number(length))
      throw new Error(`expected ${length} items, got ${value.length}`)
    return value.map((each) => argumentOf({ ...input, type: itemType }, each))
  }
  if (type === 'tuple' && 'components' in input) {
    const { components } = input
    if (typeof value !== 'object' || value === null)
      throw new Error('expected an object of members')
    const values = components.map((each, i) => {
      const member = (value as Readonly<Record<string, unknown>>)[
        Array.isArray(value) ? i : (each.name ?? '')
      ]
      if (member === undefined) throw new Error(`expected ${each.name || `member ${i + 1}`}`)
      return argumentOf(each, member)
    })
    // viem takes a struct without names as a list
    if (!components.every(({ name }) => name)) return values
    return Object.fromEntries(components.map(({ name }, i) => [name, values[i]]))
  }
  const text = String(given)
  if (type === 'address') return parseAddress(text)
  if (type === 'bool') {
    if (text !== 'true' && text !== 'false') throw new Error('expected true or false')
    return text === 'true'
  }
  if (/^u?int/.test(type)) return integerOf(type, text)
  return type.startsWith('bytes') ? bytesOf(type, text) : text
}

/** JSON whose large numbers are strings: as numbers they would lose digits. */
function exactIn(json: string): string {
  const large = /"(?:[^"\\]|\\.)*"|(?<![\d.])-?\d{16,}(?![\d.e])/gi
  return json.replace(large, (each) => (each.startsWith('"') ? each : `"${each}"`))
}

function integerOf(type: string, text: string): bigint {
  const [, minus, size = ''] = /^\s*([-−]?)\s*(.*?)\s*$/.exec(text) ?? []
  const amount =
    /[a-z]$/i.test(size) && !size.startsWith('0x') ? parseEther(size) : parseCount(size)
  const value = minus ? -amount : amount
  const bits = Number(type.replace(/\D/g, '') || 256)
  const kept = type.startsWith('u') ? BigInt.asUintN(bits, value) : BigInt.asIntN(bits, value)
  if (kept !== value) throw new Error(`expected a number that fits ${type}, got ${count(value)}`)
  return value
}

function bytesOf(type: string, text: string): string {
  const bytes = parseBytes(text)
  const size = Number(type.slice(5))
  if (size > 0 && bytes.length !== 2 + 2 * size) throw new Error(`expected ${size} bytes`)
  return bytes
}

/** Names and texts. */
export type NamedValues = readonly (readonly [name: string, text: string])[]

/** The results of a call; undefined if they are not what the ABI says. */
export function resultsOf(item: AbiFunction, data: string): NamedValues | undefined {
  const { name: functionName, outputs } = item
  if (outputs.length === 0) return []
  return attempt(() => {
    const result = decodeFunctionResult({ abi: [item], functionName, data: data as Hex })
    const values = outputs.length === 1 ? [result] : (result as readonly unknown[])
    return outputs.map((each, i) => [each.name || each.type, valueText(values[i])])
  })
}

export function valueText(value: unknown): string {
  if (typeof value === 'bigint') {
    const size = value < 0n ? -value : value
    return size >= LARGE && size < LARGE ** 3n
      ? `${count(value)} (${value < 0n ? '−' : ''}${amount(size, 18)} with 18 decimals)`
      : count(value)
  }
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([name, each]) => `${name}: ${valueText(each)}`)
    return `{ ${members.join(', ')} }`
  }
  return typeof value === 'number' ? count(value) : String(value)
}

/** Undefined if the ABI has no such event. */
export function eventIn(
  abi: readonly unknown[],
  { topics, data }: RpcLog,
): { readonly name: string; readonly values: NamedValues } | undefined {
  return attempt(() => {
    const events = abi as readonly AbiEvent[]
    const { eventName, args = {} } = decodeEventLog({ abi: events, topics, data, strict: false })
    const values = Object.entries(args as Readonly<Record<string, unknown>>)
    return { name: eventName ?? '', values: values.map(([name, each]) => [name, valueText(each)]) }
  })
}

/** The arguments of a call; undefined if the ABI has no such function. */
export function argumentsIn(abi: readonly unknown[], input: string): NamedValues | undefined {
  return attempt(() => {
    const { args = [] } = decodeFunctionData({ abi: abi as Abi, data: input as Hex })
    const item = functionsOf(abi).find((each) => input.startsWith(toFunctionSelector(each)))
    return args.map((each, i) => [labelOf(item?.inputs[i] ?? { type: '' }, i), valueText(each)])
  })
}
