// Writes JSON values of any size as bounded text, reading no more of them than it writes.
import type { Json } from '../../rpc/schema.ts'

export interface Bounded {
  readonly value: Json
  readonly isCut: boolean
}

/** The value if its JSON has at most `limit` characters; else the beginning of its JSON, as text. */
export function bounded(value: Json, limit: number): Bounded {
  const text = written(value, limit)
  if (text.length <= limit) return { value, isCut: false }
  return { value: `${text.slice(0, limit)}…`, isCut: true }
}

export function beginning(value: Json, limit: number): string {
  return written(value, limit).slice(0, limit)
}

/** At least the first `limit` characters of the JSON, and few more. */
function written(value: Json, limit: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, limit + 1))
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const isList = Array.isArray(value)
  let text = isList ? '[' : '{'
  let separator = ''
  for (const key in value) {
    if (text.length > limit) return text
    const item = (value as { readonly [key: string]: Json | undefined })[key] ?? null
    const name = isList ? '' : `${JSON.stringify(key)}:`
    text += separator + name + written(item, limit - text.length)
    separator = ','
  }
  return text + (isList ? ']' : '}')
}
