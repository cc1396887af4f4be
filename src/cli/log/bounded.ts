// Writes JSON values of any size as bounded text, reading no more of them than it writes.
import type { Json } from '../../rpc/schema.ts'

/** The first `limit` characters of the JSON. */
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
