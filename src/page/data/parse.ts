// What people type into forms: amounts, counts, times and addresses.
import { parseAmount, WEI_UNITS } from '../../core/format.ts'
import { isAddress } from './format.ts'

/** Wei of `1.5`, `1.5 ether`, `20 gwei` or `7 wei`; a number alone is ether. */
export function parseEther(text: string): bigint {
  return amountOf(text, { ...WEI_UNITS, '': 18 }, 'an amount such as 1.5 ether')
}

export function parseCount(text: string): bigint {
  return amountOf(text, { '': 0 }, 'a number')
}

/** Commas may group digits, as the page shows them. */
function amountOf(text: string, units: Readonly<Record<string, number>>, expected: string): bigint {
  const amount = parseAmount(text.trim().replaceAll(',', '_'), units)
  if (amount === undefined) throw new Error(`expected ${expected}, got ${text || 'nothing'}`)
  return amount
}

const SECONDS: Readonly<Record<string, bigint>> = {
  '': 1n,
  s: 1n,
  min: 60n,
  h: 3_600n,
  d: 86_400n,
  w: 604_800n,
}

/** Seconds of `90`, `5 min`, `2 h 30 min`, `1 d`. */
export function parseDuration(text: string): bigint {
  const parts = [...text.trim().matchAll(/(\d+)\s*([a-z]*)\s*/gi)]
  const isWhole = parts.length > 0 && parts.map(([part]) => part).join('') === text.trim()
  const sizes = parts.map(([, , unit = '']) => SECONDS[unit.toLowerCase()])
  if (!isWhole || sizes.includes(undefined))
    throw new Error(`expected a time such as 90, 5 min or 1 d, got ${text || 'nothing'}`)
  return parts.reduce((sum, [, count = '0'], i) => sum + BigInt(count) * sizes[i]!, 0n)
}

/** Seconds since 1970 of `2030-01-01 12:00`, in UTC, or of seconds. */
export function parseMoment(text: string): bigint {
  const trimmed = text.trim()
  if (/^\d{5,}$/.test(trimmed)) return BigInt(trimmed)
  const ms = Date.parse(`${trimmed.replace(' ', 'T')}${trimmed.length > 10 ? 'Z' : ''}`)
  if (Number.isNaN(ms))
    throw new Error(`expected a time such as 2030-01-01 12:00, got ${text || 'nothing'}`)
  return BigInt(Math.floor(ms / 1000))
}

export function parseAddress(text: string): string {
  const trimmed = text.trim()
  if (!isAddress(trimmed)) throw new Error(`expected an address, got ${text || 'nothing'}`)
  return trimmed.toLowerCase()
}

export function parseBytes(text: string): string {
  const trimmed = text.trim()
  if (!/^0x([0-9a-f]{2})*$/i.test(trimmed))
    throw new Error(`expected bytes such as 0x1234, got ${text || 'nothing'}`)
  return trimmed
}

export function parseWord(text: string, problem = 'expected a word, got nothing'): string {
  if (text.trim() === '') throw new Error(problem)
  return text.trim()
}
