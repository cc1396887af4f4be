// Fields of forms: what people type becomes parameters.
import { hex } from '../data/format.ts'
import {
  parseAddress,
  parseBytes,
  parseCount,
  parseDuration,
  parseEther,
  parseMoment,
  parseWord,
} from '../data/parse.ts'

/** What a field takes. Accounts and snapshots are offered from the chain. */
type Kind = 'account' | 'snapshot' | 'bytes' | 'word' | 'ether' | 'count' | 'duration' | 'moment'

const PARSERS: Readonly<Record<Kind, (text: string) => string>> = {
  account: parseAddress,
  snapshot: (text) => parseWord(text, 'take one first'),
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

export const VALUE: Field = {
  name: 'value',
  label: 'Value',
  kind: 'ether',
  hint: '1.5 ether',
  isOptional: true,
}
