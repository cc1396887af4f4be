// What the page shows of texts and numbers, beside what the terminal does with them too.
import { short } from '../../core/format.ts'

/** The beginning of a text; all of it goes into a title, or behind a disclosure. */
export function cut(text: string, most = 300): string {
  return text.length <= most ? text : `${text.slice(0, most)}…`
}

/** The name of an account; one that could be mistaken for an address or for markup has the address beside it. */
export function nameText(name: string, address: string): string {
  const isClear = /^[\p{L}\p{N} _.:$@#&+/()-]{1,64}$/u.test(name) && !/0x|[\da-f]{8}/i.test(name)
  return isClear ? name : `“${cut(name, 64)}” ${short(address)}`
}

export function hex(value: number | bigint): string {
  return `0x${value.toString(16)}`
}

export function isAddress(text: string): boolean {
  return /^0x[0-9a-f]{40}$/i.test(text)
}

export function isHash(text: string): boolean {
  return /^0x[0-9a-f]{64}$/i.test(text)
}
