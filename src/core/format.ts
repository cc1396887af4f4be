// Amounts, durations and hashes as people read and write them.

/** `30000000n` becomes `30,000,000`; negative numbers get a real minus sign. */
export function number(value: bigint | number): string {
  const digits = value.toString()
  // most numbers are short, and the regular expression is slow
  if (digits.length <= 3 && value >= 0) return digits
  const grouped = digits.replace('-', '').replace(/\B(?=(\d{3})+$)/g, ',')
  return digits.startsWith('-') ? `−${grouped}` : grouped
}

export function signed(value: bigint): string {
  return value < 0n ? number(value) : `+${number(value)}`
}

export function plural(count: number | bigint, noun: string): string {
  return `${number(count)} ${noun}${BigInt(count) === 1n ? '' : 's'}`
}

/** Up to three items; of a longer list the first two and the number of the rest. */
export function listed(items: readonly string[]): string {
  if (items.length <= 3) return items.join(', ')
  return `${items.slice(0, 2).join(', ')} and ${number(items.length - 2)} more`
}

/** An amount in its smallest unit as exact decimal: `decimal(15n * 10n ** 17n, 18)` is `1.5`. */
export function decimal(value: bigint, power: number): string {
  if (value === 0n) return '0'
  const digits = value.toString().padStart(power + 1, '0')
  const fraction = digits.slice(digits.length - power).replace(/0+$/, '')
  const whole = digits.slice(0, digits.length - power)
  return fraction === '' ? whole : `${whole}.${fraction}`
}

export function amount(value: bigint, power: number): string {
  const [whole = '', fraction] = decimal(value, power).split('.')
  const grouped = number(BigInt(whole))
  return fraction === undefined ? grouped : `${grouped}.${fraction}`
}

/** Wei in the best unit, exact: `1.5 ether`, `2 gwei`, `7 wei`, `0 ether`. */
export function ether(wei: bigint): string {
  if (wei === 0n || wei >= 10n ** 14n) return `${amount(wei, 18)} ether`
  return fee(wei)
}

/** As `ether`, rounded to seven digits: `38,427.16 gwei`. */
export function roughEther(wei: bigint): string {
  const unit = 10n ** BigInt(Math.max(0, wei.toString().length - 7))
  return ether(((wei + unit / 2n) / unit) * unit)
}

/** A price per gas, exact: `2 gwei`, `7 wei`, `0 wei`. */
export function fee(wei: bigint): string {
  return wei >= 10n ** 6n ? `${amount(wei, 9)} gwei` : `${number(wei)} wei`
}

/** A word of a command line, quoted if a shell would change it. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./…-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

export function short(hex: string): string {
  return hex.length <= 18 ? hex : `${hex.slice(0, 6)}…${hex.slice(-4)}`
}

/** Bytes as hex, with the length if cut: `0x6080…0033 (1,240 bytes)`. */
export function bytes(hex: string): string {
  const length = (hex.length - 2) / 2
  if (length <= 20) return hex
  const significant = hex.slice(2).replace(/^0+/, '')
  if (length === 32) return significant.length <= 40 ? `0x…${significant || '0'}` : short(hex)
  return `${short(hex)} (${number(length)} bytes)`
}

/** A duration in at most four digits: `0.4 ms`, `12 ms`, `1.25 s`. */
export function milliseconds(time: number): string {
  if (time < 9.95) {
    // toFixed would take longer than the rest of the line
    const tenths = Math.round(time * 10)
    return `${Math.floor(tenths / 10)}.${tenths % 10} ms`
  }
  return time < 999.5 ? `${time.toFixed(0)} ms` : `${(time / 1000).toFixed(2)} s`
}

/** A duration in its two largest units: `8 s`, `3 m 20 s`, `2 h 5 m`, `4 d 0 h`. */
export function duration(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000)
  if (seconds < 60) return `${seconds} s`
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3600)]
  if (minutes < 60) return `${minutes} m ${seconds % 60} s`
  return hours < 24
    ? `${hours} h ${minutes % 60} m`
    : `${number(Math.floor(hours / 24))} d ${hours % 24} h`
}

/** A block time in UTC: `2026-11-21 02:05:11`; plain seconds beyond year 9999. */
export function time(seconds: bigint): string {
  if (seconds > 253_402_300_799n) return `${number(seconds)} s`
  return new Date(Number(seconds) * 1000).toISOString().slice(0, 19).replace('T', ' ')
}

/** The used part in percent; small but not zero is `<1 %`. */
export function percent(part: bigint, whole: bigint): string {
  if (whole === 0n || part === 0n) return '0 %'
  const share = (part * 100n) / whole
  return share === 0n ? '<1 %' : `${share} %`
}

/** One line of at most `limit` characters. Control characters would let callers write to the terminal. */
export function oneLine(text: string, limit: number): string {
  const clean = printable(text.slice(0, limit + 1)).replaceAll('\n', ' ')
  return clean.length > limit ? `${clean.slice(0, limit - 1)}…` : clean
}

/** Without control characters but line feeds, which would let foreign text control the terminal, and with all of it seen. */
export function printable(text: string): string {
  // nearly all texts are plain
  if (/^[\n -~]*$/.test(text)) return text
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  return seen(text.replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g, ' '))
}

/** Controls, and what turns or hides text: a name could look like another one, or like an address. */
const UNSEEN = /(?![\t\n\r])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]/gu

/** Text with such characters as their numbers: `\u202e`. */
export function seen(text: string): string {
  return text.replace(UNSEEN, (each) => `\\u${each.codePointAt(0)!.toString(16).padStart(4, '0')}`)
}

/** `21,000 gas`, `340 M gas`, `1.2 G gas`. */
export function gas(amount: bigint): string {
  const scale = [
    { unit: 'T', size: 10n ** 12n },
    { unit: 'G', size: 10n ** 9n },
    { unit: 'M', size: 10n ** 6n },
  ].find(({ size }) => amount >= size)
  if (scale === undefined) return `${number(amount)} gas`
  const tenths = (10n * amount) / scale.size
  const text = tenths < 100n ? `${tenths / 10n}.${tenths % 10n}` : number(tenths / 10n)
  return `${text} ${scale.unit} gas`
}

/** Digits behind the point that each unit of ether has, in wei. */
export const WEI_UNITS: Readonly<Record<string, number>> = {
  wei: 0,
  kwei: 3,
  mwei: 6,
  gwei: 9,
  ether: 18,
  eth: 18,
}

/**
 * Reads `<decimal> <unit>` or 0x hex, exactly: `1.5` of a unit with 18 digits is 15 × 10^17. Underscores may group digits.
 * @param units the digits of each; `''` of a number alone
 * @returns undefined for any other text, and where a fraction of the smallest unit would be lost
 */
export function parseAmount(
  text: string,
  units: Readonly<Record<string, number>>,
): bigint | undefined {
  if (/^0x[0-9a-fA-F]{1,64}$/.test(text)) return BigInt(text)
  const [, digits = '', unit = ''] = /^(\d[\d_]*(?:\.\d[\d_]*)?) ?([a-zA-Z]*)$/.exec(text) ?? []
  const power = units[unit.toLowerCase()]
  if (digits === '' || power === undefined) return undefined
  const [whole = '', fraction = ''] = digits.replaceAll('_', '').split('.')
  const kept = fraction.replace(/0+$/, '')
  return kept.length > power ? undefined : BigInt(whole + kept.padEnd(power, '0'))
}

/** `12.3 MB`. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}
