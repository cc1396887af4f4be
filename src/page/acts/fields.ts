// Fields of forms: what people type, such as amounts, times and addresses, becomes parameters.
import { parseAmount, WEI_UNITS } from '../../core/format.ts'
import { hex, isAddress } from '../data/format.ts'

/** @throws Error that says what was expected */
type Parser<T> = (text: string) => T

/** @param read gives undefined for what is not expected */
function parser<T>(expected: string, read: (text: string) => T | undefined): Parser<T> {
  return (typed) => {
    const text = typed.trim()
    const value = read(text)
    if (value === undefined) throw new Error(`expected ${expected}, got ${text || 'nothing'}`)
    return value
  }
}

/** Commas may group digits, as the page shows them. */
function amountIn(text: string, units: Readonly<Record<string, number>>): bigint | undefined {
  return parseAmount(text.replaceAll(',', '_'), units)
}

/** Wei of `1.5`, `1.5 ether`, `20 gwei` or `7 wei`; a number alone is ether. */
export const parseEther: Parser<bigint> = parser('an amount such as 1.5 ether', (text) =>
  amountIn(text, { ...WEI_UNITS, '': 18 }),
)

export const parseCount: Parser<bigint> = parser('a number', (text) => amountIn(text, { '': 0 }))

const SECONDS: Readonly<Record<string, bigint>> = {
  ...{ '': 1n, s: 1n, min: 60n, h: 3_600n, d: 86_400n, w: 604_800n },
}

const TIME_PART = /(\d+)\s*(min|[shdw]|)(?![a-z])\s*/gi

/** Seconds of `90`, `5 min`, `2 h 30 min`, `1 d`. */
const parseDuration: Parser<bigint> = parser('a time such as 90, 5 min or 1 d', (text) => {
  if (text === '' || text.replace(TIME_PART, '') !== '') return undefined
  const parts = [...text.matchAll(TIME_PART)]
  return parts.reduce(
    (sum, [, count = '0', unit = '']) => sum + BigInt(count) * SECONDS[unit.toLowerCase()]!,
    0n,
  )
})

/** Seconds since 1970 of `2030-01-01 12:00`, in UTC, or of seconds. */
const parseMoment: Parser<bigint> = parser('a time such as 2030-01-01 12:00', (text) => {
  if (/^\d{5,}$/.test(text)) return BigInt(text)
  const [, day, hour = '00:00'] =
    /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d)?))?( ?UTC|Z)?$/.exec(text) ?? []
  const ms = Date.parse(`${day}T${hour}Z`)
  return Number.isNaN(ms) ? undefined : BigInt(ms / 1000)
})

export const parseAddress: Parser<string> = parser('an address', (text) =>
  isAddress(text) ? text.toLowerCase() : undefined,
)

export const parseBytes: Parser<string> = parser('bytes such as 0x1234', (text) =>
  /^0x([0-9a-f]{2})*$/i.test(text) ? text : undefined,
)

const parseWord: Parser<string> = parser('a word', (text) => text || undefined)

/** What a field takes. Accounts and snapshots are offered from the chain. */
type Kind = 'account' | 'snapshot' | 'bytes' | 'word' | 'ether' | 'count' | 'duration' | 'moment'

const PARSERS: Readonly<Record<Kind, (text: string) => string>> = {
  account: parseAddress,
  snapshot: (text) => {
    if (text === '') throw new Error('take one first')
    return text
  },
  bytes: parseBytes,
  word: parseWord,
  ether: (text) => hex(parseEther(text)),
  count: (text) => hex(parseCount(text)),
  duration: (text) => hex(parseDuration(text)),
  moment: (text) => hex(parseMoment(text)),
}

export interface Field {
  readonly name: string
  readonly label: string
  readonly kind: Kind
  readonly hint?: string
  readonly isOptional?: boolean
  /** In place of what the kind takes. @throws Error that says what was expected */
  readonly parse?: (text: string) => unknown
}

export type Texts = Readonly<Record<string, string>>

/** Undefined for an optional field that is empty. */
export type FormValues = Readonly<Record<string, unknown>>

/** @throws Error that says which field is wrong */
export function valuesOf(fields: readonly Field[], texts: Texts): FormValues {
  const parsed = ({ name, label, kind, isOptional, parse = PARSERS[kind] }: Field): unknown => {
    const text = texts[name] ?? ''
    if (isOptional && text.trim() === '') return undefined
    try {
      return parse(text)
    } catch (error) {
      throw new Error(`${label}: ${(error as Error).message}`)
    }
  }
  return Object.fromEntries(fields.map((field) => [field.name, parsed(field)]))
}

export const FROM: Field = { name: 'from', label: 'From', kind: 'account' }

const OF_VALUE = { hint: '1.5 ether', isOptional: true }
export const VALUE: Field = { name: 'value', label: 'Value', kind: 'ether', ...OF_VALUE }
