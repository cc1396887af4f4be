// Numbers, amounts and times as people read them.

const ETHER = 10n ** 18n
const GWEI = 10n ** 9n

/** `0x7099…79c8`: the ends, which people compare; as in the terminal. */
export function short(hex: string, start = 6, end = 4): string {
  return hex.length <= start + end + 1 ? hex : `${hex.slice(0, start)}…${hex.slice(-end)}`
}

/** The beginning of a text; all of it goes into a title, or behind a disclosure. */
export function cut(text: string, most = 300): string {
  return text.length <= most ? text : `${text.slice(0, most)}…`
}

/** The name of an account; one that could be mistaken for an address or for markup has the address beside it. */
export function nameText(name: string, address: string): string {
  const isClear = /^[\p{L}\p{N} _.:$@#&+/()-]{1,64}$/u.test(name) && !/0x|[\da-f]{8}/i.test(name)
  return isClear ? name : `“${cut(name, 64)}” ${short(address)}`
}

export function count(value: number | bigint): string {
  return value.toLocaleString('en-US')
}

export function plural(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`
}

/** A fixed-point amount without zeros at its end, `1,234.5`; at most 18 digits behind the point. */
export function decimal(value: bigint, decimals: number): string {
  const sign = value < 0n ? '-' : ''
  const digits = (value < 0n ? -value : value).toString().padStart(decimals + 1, '0')
  const whole = BigInt(digits.slice(0, digits.length - decimals))
  const rest = decimals === 0 ? '' : digits.slice(-decimals).replace(/0+$/, '')
  return `${sign}${count(whole)}${rest && `.${rest}`}`
}

/** Wei in the unit in which the number is short: `1.5 ether`, `20 gwei`, `7 wei`. */
export function ether(wei: bigint): string {
  const size = wei < 0n ? -wei : wei
  if (size === 0n) return '0 ether'
  if (size >= ETHER / 10_000n) return `${decimal(wei, 18)} ether`
  return size >= GWEI / 1_000n ? `${decimal(wei, 9)} gwei` : `${count(wei)} wei`
}

/** Wei per gas. */
export function gasPrice(wei: bigint): string {
  return wei === 0n ? '0' : wei >= GWEI / 100n ? `${decimal(wei, 9)} gwei` : `${count(wei)} wei`
}

/** Of seconds since 1970, in UTC: `2026-11-26 20:51:52`. */
export function moment(seconds: number): string {
  const time = new Date(seconds * 1000)
  return Number.isNaN(time.getTime())
    ? `${count(seconds)} s`
    : time.toISOString().slice(0, 19).replace('T', ' ')
}

export function clockTime(seconds: number): string {
  return moment(seconds).slice(-8)
}

/** `1 h 5 min` between two moments. */
export function duration(seconds: number): string {
  const units = [
    ['d', 86_400],
    ['h', 3_600],
    ['min', 60],
    ['s', 1],
  ] as const
  const at = units.findIndex(([, size]) => seconds >= size)
  if (at === -1) return '0 s'
  const [name, size] = units[at]!
  const next = units[at + 1]
  const rest = next && Math.floor((seconds % size) / next[1])
  return `${Math.floor(seconds / size)} ${name}${rest ? ` ${rest} ${next[0]}` : ''}`
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
