// Writes JSON values of any size as bounded text, reading no more of them than it writes.
import type { Json } from '../../rpc/schema.ts'

export interface Bounded {
  readonly value: Json
  readonly isCut: boolean
}

/** The value if its JSON has at most about `limit` characters; else the beginning of its JSON, as text. */
export function bounded(value: Json, limit: number): Bounded {
  if (roomAfter(value, limit) >= 0) return { value, isCut: false }
  return { value: `${beginning(value, limit)}…`, isCut: true }
}

export function beginning(value: Json, limit: number): string {
  return written(value, limit).slice(0, limit)
}

/** Remaining characters; any negative number if the value does not fit. */
function roomAfter(value: Json, room: number): number {
  if (typeof value === 'string') return room - value.length - 2
  if (typeof value !== 'object' || value === null) return room - 4
  let rest = room - 2
  const isList = Array.isArray(value)
  for (const key in value) {
    if (rest < 0) return rest
    const item = (value as { readonly [key: string]: Json | undefined })[key]
    rest = roomAfter(item ?? null, rest - 1 - (isList ? 0 : key.length + 3))
  }
  return rest
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
