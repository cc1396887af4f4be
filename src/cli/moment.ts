// Times as people write them in a shell: +1d, +1h30m, a date.
import { DevchainError, printValue } from '../core/errors.ts'

/** What a clock is told. */
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
 * Reads `+90` and `+90s` (seconds), `+5m`, `+2h`, `+1d`, `+1w`, several of them in a row (`+1d12h`), a date
 * (`2030-01-01`, `2030-01-01T12:00:00Z`), or seconds since 1970.
 * @throws {DevchainError} `INVALID_PARAMS` for anything else
 */
export function parseMove(text: string): Move {
  if (/^\+\d+$/.test(text)) return { kind: 'increase', seconds: BigInt(text.slice(1)) }
  if (/^\+(\d+[smhdw])+$/.test(text)) {
    const parts = [...text.matchAll(/(\d+)([smhdw])/g)]
    const seconds = parts.reduce(
      (sum, [, count = '0', unit = 's']) => sum + BigInt(count) * (SECONDS[unit] ?? 1n),
      0n,
    )
    return { kind: 'increase', seconds }
  }
  if (/^\d{1,20}$/.test(text)) return { kind: 'set', timestamp: BigInt(text) }
  const date = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(date) && date >= 0) {
    return { kind: 'set', timestamp: BigInt(Math.floor(date / 1000)) }
  }
  const why = text.startsWith('-') ? ': a chain’s time never goes back' : ''
  const message = `expected a moment such as +1d, +1h30m, 2030-01-01 or seconds since 1970, got ${printValue(text)}${why}`
  throw new DevchainError('INVALID_PARAMS', message)
}
