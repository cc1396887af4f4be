// The value types of options: each reads user input, and prints a value in the same form.
import { decimal, parseAmount, plural, WEI_UNITS } from '../core/format.ts'
import { type Address, parseAddress, ZERO_ADDRESS } from '../core/hex.ts'
import { isObject } from '../core/objects.ts'
import { type Hardfork, parseHardfork } from '../protocol/forks.ts'
import { MAX_TIMESTAMP } from '../protocol/timestamps.ts'

/** Reads one value type, from text or from a value of a config file or program. */
export interface Type<T> {
  /** Shown after the flag in `--help`; undefined for a flag without a value. */
  readonly placeholder: string | undefined
  /** The value of the flag alone, where its value is optional. */
  readonly alone?: string
  /** Completes "expected …". */
  readonly expected: string
  /** Undefined when `value` has the wrong type. May throw a DevchainError with more detail. */
  readonly read: (value: unknown) => T | undefined
  /** Text that reads back as the same value, where possible. */
  print(value: T): string
  /** Shows a refused value that may hold a key; by default it is shown in full. */
  readonly show?: (value: unknown) => string
  /** Repeated flags accumulate. */
  readonly repeatable?: boolean
}

/** Under `frozen` and `step` two runs of one script give identical blocks. */
export type ClockSource =
  | { readonly kind: 'wall' }
  | { readonly kind: 'frozen' }
  | { readonly kind: 'step'; readonly seconds: bigint }

/** Another name for a module (`new_*` for `old_*`) or a method. */
export interface Alias {
  readonly from: string
  readonly to: string
}

export const flag: Type<boolean> = {
  placeholder: undefined,
  expected: 'true or false (or yes, no, on, off, 1, 0)',
  read: (value) => {
    if (typeof value === 'boolean') return value
    const text = String(value).toLowerCase()
    if (['true', 'yes', 'on', '1'].includes(text)) return true
    return ['false', 'no', 'off', '0'].includes(text) ? false : undefined
  },
  print: (value) => (value ? 'on' : 'off'),
}

const asIs = (text: string): string => text

/** Reads text of a form, as it is or as `written` writes it. */
function form(
  pattern: RegExp,
  written: (text: string) => string = asIs,
): (text: string) => string | undefined {
  return (text) => (pattern.test(text) ? written(text) : undefined)
}

const lowerCase = (text: string): string => text.toLowerCase()

/** Numbers of a config file become decimal text. */
function textOf(value: unknown): string {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? BigInt(value).toString() : String(value)
  return typeof value === 'string' ? value.trim() : ''
}

const MILLION = 1_000_000n

export function integer(
  placeholder: string,
  min: bigint,
  max: bigint,
  expected: string = `a whole number from ${min} to ${max}`,
): Type<bigint> {
  return {
    placeholder,
    expected,
    read: (value) => {
      const number = parseAmount(textOf(value), { '': 0, k: 3, m: 6, g: 9 })
      return number === undefined || number < min || number > max ? undefined : number
    },
    print: (value) =>
      value > 0n && value % MILLION === 0n ? `${value / MILLION}M` : value.toString(),
  }
}

/** Bounded, because clients keep a chain id as a JavaScript number. */
export const chainIdentity: Type<bigint> = integer('ID', 1n, (1n << 53n) - 1n)

export function count(placeholder: string, min: number, max: number, given?: string): Type<number> {
  const { expected, read, print } = integer(placeholder, BigInt(min), BigInt(max), given)
  return {
    placeholder,
    expected,
    read: (value) => {
      const number = read(value)
      return number === undefined ? undefined : Number(number)
    },
    print: (value) => print(BigInt(value)),
  }
}

export const etherAmount: Type<bigint> = {
  placeholder: 'ETHER',
  expected: 'an amount of ether such as 10_000, 0.5 or "5 gwei"',
  read: (value) => {
    const wei = parseAmount(textOf(value), { ...WEI_UNITS, '': 18 })
    return wei === undefined || wei >= 1n << 255n ? undefined : wei
  },
  print: (wei) => decimal(wei, 18),
}

export const gasFee: Type<bigint> = {
  placeholder: 'WEI',
  expected: 'a price per gas in wei such as 1_000_000_000 or "1 gwei"',
  read: (value) => {
    const wei = parseAmount(textOf(value), { ...WEI_UNITS, '': 0 })
    return wei === undefined || wei >= 1n << 64n ? undefined : wei
  },
  print: (wei) => (wei >= MILLION ? `${decimal(wei, 9)}gwei` : wei.toString()),
}

export const gas: Type<bigint> = integer(
  'GAS',
  21_000n,
  (1n << 63n) - 1n,
  'an amount of gas, at least 21000, such as 30_000_000 or 30M',
)

/** Reads seconds, or a number with a unit. */
function milliseconds(value: unknown): number | undefined {
  const match = /^(\d[\d_]*(?:\.\d+)?) ?(ms|s|m|min|h)?$/.exec(textOf(value))
  const factors: Record<string, number> = { ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000 }
  if (match === null) return undefined
  const duration = Number(match[1]?.replaceAll('_', '')) * (factors[match[2] ?? 's'] ?? 1000)
  // setTimeout counts in 32 bits; a longer delay fires at once.
  return Number.isInteger(duration) && duration >= 1 && duration < 2 ** 31 ? duration : undefined
}

/** @param where the word may stand, after it */
export function orWord<T, const W extends string>(
  { placeholder, expected, read, print }: Type<T>,
  word: W,
  where = '',
): Type<T | W> {
  return {
    placeholder: `${placeholder}|${word}`,
    expected: `${expected}, or ${word}${where}`,
    read: (value) => (textOf(value).toLowerCase() === word ? word : read(value)),
    print: (value) => (value === word ? word : print(value as T)),
  }
}

export const duration: Type<number> = {
  placeholder: 'SECONDS',
  expected: 'a duration in seconds above zero, such as 2, 0.5, 500ms or 5m (at most 24 days)',
  read: milliseconds,
  print: (duration) => {
    if (duration % 60_000 === 0) return `${duration / 60_000}m`
    return duration % 1000 === 0 ? `${duration / 1000}` : `${duration}ms`
  },
}

export const percent: Type<number> = {
  placeholder: 'PERCENT',
  expected: 'a percentage from 0 to 100, such as 80 or 92.5',
  read: (value) => {
    const digits = /^(\d{1,3}(?:\.\d{1,6})?) ?%?$/.exec(textOf(value))?.[1]
    return digits === undefined || Number(digits) > 100 ? undefined : Number(digits)
  },
  print: (value) => `${value}`,
}

export const byteSize: Type<number> = {
  placeholder: 'SIZE',
  expected: 'a size in bytes from 1 kB to 1 GB, such as 5_000_000 or 5MB',
  read: (value) => {
    const bytes = parseAmount(textOf(value), { '': 0, b: 0, k: 3, kb: 3, m: 6, mb: 6, g: 9, gb: 9 })
    return bytes === undefined || bytes < 1000n || bytes > 10n ** 9n ? undefined : Number(bytes)
  },
  print: (bytes) => (bytes % 1_000_000 === 0 ? `${bytes / 1_000_000}MB` : `${bytes}`),
}

export const moment: Type<bigint> = {
  placeholder: 'TIME',
  expected: `seconds since 1970 (at most ${MAX_TIMESTAMP}), or a date such as 2030-01-01T00:00:00Z`,
  read: (value) => {
    const text = textOf(value)
    const seconds = parseAmount(text, { '': 0 }) ?? dateOf(text)
    return seconds !== undefined && seconds <= MAX_TIMESTAMP ? seconds : undefined
  },
  print: (seconds) => seconds.toString(),
}

const DATE =
  /^\d{4}-\d\d-\d\d(?<time>[T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(?<zone>Z|[+-]\d\d:?\d\d)?)?$/i

/** Seconds since 1970 of `2030-01-01` or `2030-01-01T12:00`, of UTC unless it names a zone: JavaScript would take the machine's. */
export function dateOf(text: string): bigint | undefined {
  const groups = DATE.exec(text)?.groups
  if (groups === undefined) return undefined
  const { time, zone } = groups
  const date = Date.parse(
    `${text.replace(' ', 'T')}${time !== undefined && zone === undefined ? 'Z' : ''}`,
  )
  return Number.isNaN(date) || date < 0 ? undefined : BigInt(Math.floor(date / 1000))
}

export function text(
  placeholder: string,
  expected: string,
  pattern: RegExp,
  written?: (text: string) => string,
): Type<string> {
  const read = form(pattern, written)
  return {
    placeholder,
    expected,
    read: (value) => (typeof value === 'string' ? read(value) : undefined),
    print: asIs,
  }
}

/** A mnemonic. Messages show the count of its words, never the words. */
export const phrase: Type<string> = {
  ...text('WORDS', 'a mnemonic phrase of 12 to 24 words', /^\s*\S+(\s+\S+){11,23}\s*$/),
  show: (value) => plural(textOf(value).split(/\s+/).filter(Boolean).length, 'word'),
}

export const file: Type<string> = text('FILE', 'the path of a file', /\S/)

export const genesisFile: Type<string | object> = {
  ...file,
  expected: 'the path of a genesis JSON file',
  read: (value) => (isObject(value) ? value : file.read(value)),
  print: (value) => (typeof value === 'string' ? value : JSON.stringify(value)),
}

function bytesFile(expected: string): Type<string | Uint8Array> {
  return {
    ...file,
    expected,
    read: (value) => (value instanceof Uint8Array ? value : file.read(value)),
    print: (value) => (typeof value === 'string' ? value : `${value.length} bytes`),
  }
}

export const blocksFile: Type<string | Uint8Array> = bytesFile('the path of a file of RLP blocks')

export const packFile: Type<string | Uint8Array> = bytesFile('the path of a pack of devchain save')

export function choice<const T extends string>(...words: readonly T[]): Type<T> {
  return {
    placeholder: words.join('|'),
    expected: `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`,
    read: (value) => words.find((word) => word === textOf(value).toLowerCase()),
    print: asIs,
  }
}

export const clock: Type<ClockSource> = {
  placeholder: 'wall|frozen|step:N',
  expected: 'wall, frozen, or step:N with N seconds a block (at least 1)',
  read: (value) => {
    const word = textOf(value).toLowerCase()
    if (word === 'wall' || word === 'frozen') return { kind: word }
    const seconds = /^step:([1-9]\d{0,9})$/.exec(word)?.[1]
    return seconds === undefined ? undefined : { kind: 'step', seconds: BigInt(seconds) }
  },
  print: (source) => (source.kind === 'step' ? `step:${source.seconds}` : source.kind),
}

/** A list, or text with commas. @param split one text of it */
function list<T>(
  placeholder: string,
  item: string,
  read: (text: string) => T | undefined,
  print: (item: T) => string = String,
  split: (text: string) => readonly string[] = (text) => text.split(','),
): Type<readonly T[]> {
  return {
    placeholder,
    expected: item,
    repeatable: true,
    read: (value) => {
      const parts = (Array.isArray(value) ? value : [value]).flatMap((part: unknown) =>
        typeof part === 'string' ? split(part) : [''],
      )
      const items = parts.map((part) => read(part.trim()))
      return items.every((part) => part !== undefined) ? items : undefined
    },
    print: (items) => items.map(print).join(',') || 'none',
  }
}

/** A list of items that may have commas. */
export function wholes(
  placeholder: string,
  item: string,
  pattern: RegExp,
): Type<readonly string[]> {
  return list(placeholder, item, form(pattern), String, (text) => [text])
}

export const paths: Type<readonly string[]> = wholes('PATH', 'a path, or a list of paths', /\S/)

export const PREDEPLOY_NAMES = ['multicall3'] as const

export type PredeployName = (typeof PREDEPLOY_NAMES)[number]

/** A known name; any other text is a path. */
export function isPredeployName(text: string): text is PredeployName {
  return PREDEPLOY_NAMES.some((name) => name === text)
}

export const predeploys: Type<readonly string[]> = list(
  'NAME|FILE',
  `${PREDEPLOY_NAMES.join(', ')}, or the path of a JSON file of accounts, such as ./accounts.json`,
  (text) => (isPredeployName(text) || /[./\\]/.test(text) ? text : undefined),
)

export const names: Type<readonly string[]> = list(
  'NAMES',
  'module names such as personal,txpool',
  form(/^[a-zA-Z][a-zA-Z0-9]*$/),
)

/** Methods by name or pattern: `eth_call`, `eth_get*`. */
export const methodPatterns: Type<readonly string[]> = list(
  'METHODS',
  'methods such as eth_call or eth_get*',
  form(/^[\w.*]+$/),
)

export const hosts: Type<readonly string[]> = list(
  'NAME',
  'a host name such as devchain.local, or * for any',
  form(/^([a-zA-Z0-9:[\]._-]+|\*)$/, lowerCase),
)

export const origins: Type<readonly string[]> = list(
  'ORIGIN',
  'an origin such as https://app.example, a host name, or * for any',
  form(/^([a-z][a-z0-9+.-]*:\/\/[^\s/@?#*]+\/?|[a-z0-9[\].:_-]+|\*)$/i, (origin) =>
    origin.toLowerCase().replace(/\/$/, ''),
  ),
)

/** `ws://127.0.0.1:8546` or `wss`; also `http`, a host and port, or a port alone. */
export const peerUrls: Type<readonly string[]> = list(
  'URL',
  'the WebSocket URL of another devchain, such as ws://127.0.0.1:8546',
  readPeerUrl,
)

/** Returns the URL with scheme and port; undefined for invalid text. */
export function readPeerUrl(given: string): string | undefined {
  const text = /^\d+$/.test(given) ? `127.0.0.1:${given}` : given
  const match = /^(?:(wss?|https?):\/\/)?([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?\/?$/i.exec(
    text,
  )
  if (match === null || !URL.canParse(`ws://${match[2]}`)) return undefined
  const [, scheme = 'ws', host = '', port] = match
  const isSecure = /s$/i.test(scheme.replace(/^ws$/i, ''))
  const number = port ?? (match[1] === undefined ? '8545' : isSecure ? '443' : '80')
  if (Number(number) < 1 || Number(number) > 65_535) return undefined
  return `${isSecure ? 'wss' : 'ws'}://${host.toLowerCase()}:${Number(number)}`
}

export const linkHosts: Type<readonly string[]> = list(
  'ADDRESS',
  'an IP address, a block such as 10.0.0.0/8, or * for any',
  form(/^([0-9a-f:.]+(\/\d{1,3})?|\*)$/i, lowerCase),
)

export const aliases: Type<readonly Alias[]> = list(
  'NEW=OLD',
  'NEW=OLD with two method names, or new_*=old_* for a whole module',
  (pair) => {
    const match = /^([a-zA-Z][\w.]*\*?)=([a-zA-Z][\w.]*\*?)$/.exec(pair)
    const [, from = '', to = ''] = match ?? []
    return match === null || from.endsWith('*') !== to.endsWith('*') ? undefined : { from, to }
  },
  ({ from, to }) => `${from}=${to}`,
)

export const hardfork: Type<Hardfork> = {
  placeholder: 'NAME',
  expected: 'the name of a hardfork such as cancun',
  read: (value) => (typeof value === 'string' ? parseHardfork(value) : undefined),
  print: asIs,
}

export const address: Type<Address> = {
  placeholder: 'ADDRESS',
  expected: 'a 20-byte address',
  read: (value) => (typeof value === 'string' ? parseAddress(value) : undefined),
  print: (value) => (value === ZERO_ADDRESS ? 'the zero address' : value),
}

const sizeOrOff = orWord(
  count('BYTES', 1, 2 ** 31, 'a whole number of bytes from 1 to 2147483648'),
  'off',
)

/** `off`: no limit. */
const ANY_SIZE = Number.MAX_SAFE_INTEGER

export const codeSize: Type<number> = {
  ...sizeOrOff,
  read: (value) => {
    const size = sizeOrOff.read(value)
    return size === 'off' ? ANY_SIZE : size
  },
  print: (value) => sizeOrOff.print(value === ANY_SIZE ? 'off' : value),
}
