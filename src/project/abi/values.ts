// Formats decoded values for people: amounts, named addresses, shortened data.
import { checksumAddress } from '../../core/crypto/crypto.ts'
import { amount, bytes, ether, number, seen, short } from '../../core/format.ts'
import type { Address } from '../../core/hex.ts'
import type { Argument, Parameter } from './decode.ts'

export interface TokenUnit {
  readonly symbol: string
  readonly decimals: number
}

export interface ValueStyle {
  /** The name of an address; undefined: its hex. */
  readonly nameOf: (address: string) => string | undefined
  readonly token: TokenUnit | undefined
  /** True: nothing is shortened. */
  readonly isWhole: boolean
  /** True: large numbers are ether, because one beside them is. */
  readonly isEther?: boolean
}

/** Items of a list and characters of a text before shortening. */
const LISTED = 3
const TEXT = 60

/** A number is formatted as wei if it is large with few digits, or stands beside such a number. */
const LEAST_ETHER = 10n ** 14n
const ROUND_ETHER = 10n ** 12n
const MOST_ETHER = 10n ** 30n

/** `have 1 ether, want 5 ether` */
export function namedArguments(list: readonly Argument[], style: ValueStyle): string {
  const alike = inOneUnit(list, style)
  return list
    .map((each) => [each.parameter.name, valueText(each, alike)].filter(Boolean).join(' '))
    .join(', ')
}

/** `0xf39F…2266, 5 ether` */
export function plainArguments(list: readonly Argument[], style: ValueStyle): string {
  const alike = inOneUnit(list, style)
  return list.map((each) => valueText(each, alike)).join(', ')
}

/** `0, "more", ["0xf39F…", true]`, nothing shortened: texts, addresses and bytes in quotes. */
export function jsonArguments(list: readonly Argument[]): string {
  return list.map(jsonText).join(', ')
}

function jsonText({ parameter, value }: Argument): string {
  if (Array.isArray(value)) {
    const items = value as readonly unknown[]
    const list = parameter.type === 'tuple' ? (items as Argument[]) : itemsOf(parameter, items)
    return `[${jsonArguments(list)}]`
  }
  if (parameter.type === 'address') return `"${checksumAddress(value as Address)}"`
  return typeof value === 'string' ? `"${value}"` : String(value)
}

function itemsOf(parameter: Parameter, items: readonly unknown[]): readonly Argument[] {
  const item: Parameter = { ...parameter, type: parameter.type.replace(/\[\d*\]$/, '') }
  return items.map((value) => ({ parameter: item, value }))
}

/** Uses one unit for values that people compare: `have 0.9999999999999999 ether, want 5 ether`. */
export function inOneUnit(list: readonly Argument[], style: ValueStyle): ValueStyle {
  const isEther = list.some(
    ({ parameter, value }) =>
      isAmountType(parameter) && typeof value === 'bigint' && isRoundEther(magnitude(value)),
  )
  return isEther ? { ...style, isEther } : style
}

export function valueText({ parameter, value }: Argument, style: ValueStyle): string {
  if (Array.isArray(value)) return itemsText(parameter, value as readonly unknown[], style)
  if (parameter.type === 'address') return addressText(String(value), style)
  if (typeof value === 'bigint' || typeof value === 'number') {
    return numberText(parameter, BigInt(value), style)
  }
  if (typeof value !== 'string') return String(value)
  if (parameter.type === 'string') {
    if (style.isWhole) return JSON.stringify(value)
    // quoted first, or the backslash of what turns or hides text would be doubled
    return seen(JSON.stringify(value.length > TEXT ? `${value.slice(0, TEXT - 1)}…` : value))
  }
  if (style.isWhole) return value
  return value.length === 66 ? short(value) : bytes(value)
}

function itemsText(parameter: Parameter, items: readonly unknown[], style: ValueStyle): string {
  if (parameter.type === 'tuple') return `(${namedArguments(items as readonly Argument[], style)})`
  const shown = style.isWhole ? items : items.slice(0, LISTED)
  const list = itemsOf(parameter, shown)
  const alike = inOneUnit(list, style)
  const texts = list.map((each) => valueText(each, alike))
  return listText(texts, items.length)
}

/** `[1, 2, … 5 more]` @param count of all items */
export function listText(texts: readonly string[], count: number): string {
  const more = count - texts.length
  return `[${[...texts, ...(more > 0 ? [`… ${number(more)} more`] : [])].join(', ')}]`
}

function addressText(address: string, { nameOf, isWhole }: ValueStyle): string {
  const name = nameOf(address)
  if (name !== undefined) return name
  const checksum = checksumAddress(address as Address)
  return isWhole ? checksum : short(checksum)
}

function numberText(parameter: Parameter, value: bigint, { token, isEther }: ValueStyle): string {
  if (!isAmountType(parameter)) return number(value)
  const size = magnitude(value)
  const sign = value < 0n ? '−' : ''
  if (token !== undefined) {
    const isAll = value === 2n ** 256n - 1n
    return `${isAll ? 'unlimited' : sign + amount(size, token.decimals)} ${token.symbol}`
  }
  const isAmount = isEther ? isEtherSized(size) : isRoundEther(size)
  return isAmount ? sign + ether(size) : number(value)
}

/** Pools report what they gave and got as signed numbers. */
function isAmountType({ type }: Parameter): boolean {
  return type === 'uint256' || type === 'int256'
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value
}

function isRoundEther(value: bigint): boolean {
  return isEtherSized(value) && value % ROUND_ETHER === 0n
}

function isEtherSized(value: bigint): boolean {
  return value >= LEAST_ETHER && value < MOST_ETHER
}
