// Parses times as written in a shell: +1d, +1h30m, a date.
import { invalidParams, printValue } from '../../core/errors.ts'
import { dateOf, duration } from '../../options/values.ts'

export type Move =
  | { readonly kind: 'increase'; readonly seconds: bigint }
  | { readonly kind: 'set'; readonly timestamp: bigint }

const SECONDS: Readonly<Record<string, bigint>> = {
  s: 1n,
  m: 60n,
  h: 3600n,
  d: 86_400n,
  w: 604_800n,
}

/**
 * Reads `+90` and `+90s` (seconds), `+5m`, `+2h`, `+1d`, `+1w`, several in a row (`+1d12h`), a date
 * (`2030-01-01`, `2030-01-01T12:00`, UTC unless it names a zone), or seconds since 1970.
 * @throws {DevchainError} `INVALID_PARAMS` for anything else
 */
export function parseMove(text: string): Move {
  const seconds = text.startsWith('+') ? durationOf(text.slice(1)) : undefined
  if (seconds !== undefined) return { kind: 'increase', seconds }
  if (/^\d{1,20}$/.test(text)) return { kind: 'set', timestamp: BigInt(text) }
  const timestamp = dateOf(text)
  if (timestamp !== undefined) return { kind: 'set', timestamp }
  const message = `expected a moment such as +1d, +1h30m, 2030-01-01 or seconds since 1970, got ${printValue(text)}${hintFor(text)}`
  throw invalidParams(message)
}

/** Seconds of `90` or `1d12h`; undefined for anything else. */
function durationOf(text: string): bigint | undefined {
  if (/^\d{1,20}$/.test(text)) return BigInt(text)
  if (!/^(\d{1,20}[smhdw]){1,5}$/.test(text)) return undefined
  return [...text.matchAll(/(\d+)([smhdw])/g)].reduce(
    (sum, [, count = '0', unit = 's']) => sum + BigInt(count) * (SECONDS[unit] ?? 1n),
    0n,
  )
}

function hintFor(text: string): string {
  if (text.startsWith('-')) return ': time cannot go back; use devchain revert'
  return durationOf(text) === undefined ? '' : `; did you mean +${text}?`
}

/**
 * Reads seconds, or a number with a unit, as options do.
 * @returns milliseconds
 * @throws {DevchainError} `INVALID_PARAMS` for anything else
 */
export function parseWait(text: string): number {
  const milliseconds = duration.read(text)
  if (milliseconds !== undefined) return milliseconds
  throw invalidParams(`expected ${duration.expected}, got ${printValue(text)}`)
}
