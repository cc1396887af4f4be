// Every option once: flag, type, default, sentence. The command line, the environment, the config file, the options
// of createDevchain, `--help` and the README's table are derived from this list.
import { DevchainError, printValue } from './core/errors.ts'
import { type Address, parseAddress } from './core/hex.ts'
import { nearest } from './core/nearest.ts'
import { COMPAT_NODES, type CompatNode, profileOf } from './methods/compat/profiles.ts'
import { type Hardfork, NEWEST_HARDFORK, parseHardfork } from './protocol/forks.ts'
import { MAX_TIMESTAMP } from './protocol/timestamps.ts'

/** Where a chain's time comes from: `wall`, `frozen` at the genesis timestamp, or `step` seconds a block. */
export type ClockOption =
  | { readonly kind: 'wall' }
  | { readonly kind: 'frozen' }
  | { readonly kind: 'step'; readonly seconds: bigint }

/** A module or method answering to another name: `new_*` to `old_*`, or one name to one name. */
export interface AliasOption {
  readonly from: string
  readonly to: string
}

/** What makes a chain and its server: the options of `createDevchain`, read and checked. */
export interface ChainSettings {
  /** Undefined: that of the genesis file, or of `compat`, or 33. */
  readonly chainId: bigint | undefined
  /** Undefined: the chain id. */
  readonly networkId: bigint | undefined
  /** Undefined: those of the genesis file, or of `compat`, or the newest. */
  readonly hardfork: Hardfork | undefined
  /** Path of a genesis JSON file, or (in-process only) its content. */
  readonly genesis: string | object | undefined
  /** Path of a file of concatenated RLP blocks, or (in-process only) its content. */
  readonly import: string | Uint8Array | undefined
  /** Seconds since 1970 of the genesis block; undefined: the time of the start. */
  readonly timestamp: bigint | undefined
  readonly chainName: string
  readonly noCreate2: boolean
  /** Undefined: that of the genesis file, or the zero address. */
  readonly coinbase: Address | undefined
  /** Bytes; undefined: the hardfork's own limit. */
  readonly codeSizeLimit: number | undefined
  readonly accounts: number
  /** Wei. */
  readonly balance: bigint
  readonly mnemonic: string
  readonly derivationPath: string
  readonly autoImpersonate: boolean
  /** Undefined: that of the genesis file, or of `compat`, or 30,000,000. */
  readonly gasLimit: bigint | undefined
  /** Wei per gas. */
  readonly gasPrice: bigint
  /** Wei per gas; undefined: that of the genesis file, or of `compat`, or pinned at zero. */
  readonly baseFee: bigint | undefined
  /** Wei per gas. */
  readonly tip: bigint
  readonly defaultGas: bigint | 'estimate'
  readonly txGasCap: bigint | undefined
  readonly onRevert: 'hash' | 'throw'
  /** Whose defaults and answers to take; undefined: this program's own. */
  readonly compat: CompatNode | undefined
  readonly evm: 'reference' | 'interpreter' | 'auto'
  /** Bytes. */
  readonly memoryLimit: number
  /** Milliseconds between blocks; undefined: a block a transaction. */
  readonly blockTime: number | undefined
  readonly noMining: boolean
  /** Undefined: that of the genesis file, or of `compat`, or 1. */
  readonly difficulty: bigint | undefined
  readonly maxUncles: number
  readonly mergeMiningTag: string
  readonly clock: ClockOption
  readonly sameTimestamp: boolean
  readonly consumeSnapshots: boolean
  readonly host: string
  readonly port: number
  readonly allowHost: readonly string[]
  /** Bytes. */
  readonly bodyLimit: number
  /** Milliseconds. */
  readonly filterTimeout: number
  /** Steps. */
  readonly traceLimit: number
  readonly alias: readonly AliasOption[]
  readonly disable: readonly string[]
}

/** What concerns the command only: its terminal and its process. */
export interface CommandSettings {
  readonly quiet: boolean
  readonly verbose: boolean
  readonly noHints: boolean
  readonly log: 'pretty' | 'json'
  readonly logFile: string | undefined
  readonly noColor: boolean
  readonly config: string | undefined
  readonly readyFile: string | undefined
  readonly exitWithParent: boolean
}

export interface AllSettings extends ChainSettings, CommandSettings {}

/** The forms in which a setting may be given: as text it is read as on the command line. */
type Given<T> = T extends boolean
  ? boolean
  : T extends bigint | number
    ? bigint | number | string
    : T extends readonly unknown[]
      ? readonly string[] | string
      : T extends ClockOption
        ? string
        : T extends Address
          ? string
          : T

/** The options of `createDevchain`; each has the meaning, unit and default of its flag. */
export type DevchainOptions = {
  readonly [Key in keyof ChainSettings]?: Given<ChainSettings[Key]> | undefined
}

/** How one kind of value is read: from text, or from what a config file or a program gives. */
interface Type<T> {
  /** What follows the flag in `--help`; undefined for a flag without a value. */
  readonly placeholder: string | undefined
  /** Completes "expected …". */
  readonly expected: string
  /** Undefined when `value` is not of the kind. May throw a DevchainError that says more. */
  readonly read: (value: unknown) => T | undefined
  /** Given more than once, the values add up. */
  readonly repeatable?: boolean
}

/** One option. Names derive from the key: `chainId` → `--chain-id`, `DEVCHAIN_CHAIN_ID`, config key `chainId`. */
export interface Option<T> {
  readonly type: Type<T>
  readonly group: Group
  /** One sentence, without a full stop. */
  readonly sentence: string
  readonly fallback: T
  /** The default in words, for tables. */
  readonly fallbackText: string
}

export const GROUPS = [
  'Chain',
  'Accounts',
  'Transactions',
  'Mining and time',
  'Server',
  'Terminal',
  'Process',
] as const

export type Group = (typeof GROUPS)[number]

const flag: Type<boolean> = {
  placeholder: undefined,
  expected: 'true or false (or yes, no, on, off, 1, 0)',
  read: (value) => {
    if (typeof value === 'boolean') return value
    const text = String(value).toLowerCase()
    if (['true', 'yes', 'on', '1'].includes(text)) return true
    return ['false', 'no', 'off', '0'].includes(text) ? false : undefined
  },
}

/** Text as given; a number of a config file becomes its digits. */
function textOf(value: unknown): string {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? BigInt(value).toString() : String(value)
  return typeof value === 'string' ? value.trim() : ''
}

/**
 * A decimal amount times its unit, exactly: `1.5` and 18 digits give 15 × 10^17.
 * Digits may be grouped by underscores. Undefined when a fraction of the smallest unit would be lost.
 */
function scaled(digits: string, power: number): bigint | undefined {
  const [whole = '', fraction = ''] = digits.replaceAll('_', '').split('.')
  const kept = fraction.replace(/0+$/, '')
  return kept.length > power ? undefined : BigInt(whole + kept.padEnd(power, '0'))
}

/** Reads `<decimal> <unit>`; `units` gives each unit's power of ten, `''` that of no unit. Also reads plain 0x hex. */
function amount(value: unknown, units: Readonly<Record<string, number>>): bigint | undefined {
  const text = textOf(value)
  if (/^0x[0-9a-fA-F]{1,64}$/.test(text)) return BigInt(text)
  const match = /^(\d[\d_]*(?:\.\d[\d_]*)?) ?([a-zA-Z]*)$/.exec(text)
  const power = units[match?.[2]?.toLowerCase() ?? ' ']
  return match === null || power === undefined ? undefined : scaled(match[1] ?? '', power)
}

const WEI_UNITS = { wei: 0, kwei: 3, mwei: 6, gwei: 9, ether: 18, eth: 18 }

function integer(placeholder: string, min: bigint, max: bigint, expected: string): Type<bigint> {
  return {
    placeholder,
    expected,
    read: (value) => {
      const number = amount(value, { '': 0, k: 3, m: 6, g: 9 })
      return number === undefined || number < min || number > max ? undefined : number
    },
  }
}

function count(placeholder: string, min: number, max: number, expected: string): Type<number> {
  const { read } = integer(placeholder, BigInt(min), BigInt(max), expected)
  return {
    placeholder,
    expected,
    read: (value) => {
      const number = read(value)
      return number === undefined ? undefined : Number(number)
    },
  }
}

const etherAmount: Type<bigint> = {
  placeholder: 'ETHER',
  expected: 'an amount of ether such as 10_000, 0.5 or "5 gwei"',
  read: (value) => {
    const wei = amount(value, { ...WEI_UNITS, '': 18 })
    return wei === undefined || wei >= 1n << 255n ? undefined : wei
  },
}

const gasFee: Type<bigint> = {
  placeholder: 'WEI',
  expected: 'a price per gas in wei such as 1_000_000_000 or "1 gwei"',
  read: (value) => {
    const wei = amount(value, { ...WEI_UNITS, '': 0 })
    return wei === undefined || wei >= 1n << 64n ? undefined : wei
  },
}

const gas: Type<bigint> = integer(
  'GAS',
  21_000n,
  (1n << 63n) - 1n,
  'an amount of gas, at least 21000, such as 30_000_000 or 30M',
)

/** Reads a duration as milliseconds: seconds, or with a unit. */
function milliseconds(value: unknown): number | undefined {
  const match = /^(\d[\d_]*(?:\.\d+)?) ?(ms|s|m|min|h)?$/.exec(textOf(value))
  const factors: Record<string, number> = { ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000 }
  if (match === null) return undefined
  const duration = Number(match[1]?.replaceAll('_', '')) * (factors[match[2] ?? 's'] ?? 1000)
  // setTimeout counts in 32 bits; a longer wait would fire at once.
  return Number.isInteger(duration) && duration >= 1 && duration < 2 ** 31 ? duration : undefined
}

const duration: Type<number> = {
  placeholder: 'SECONDS',
  expected: 'a duration in seconds above zero, such as 2, 0.5, 500ms or 5m (at most 24 days)',
  read: milliseconds,
}

const byteSize: Type<number> = {
  placeholder: 'SIZE',
  expected: 'a size in bytes from 1 kB to 1 GB, such as 5_000_000 or 5MB',
  read: (value) => {
    const bytes = amount(value, { '': 0, b: 0, k: 3, kb: 3, m: 6, mb: 6, g: 9, gb: 9 })
    return bytes === undefined || bytes < 1000n || bytes > 10n ** 9n ? undefined : Number(bytes)
  },
}

const moment: Type<bigint> = {
  placeholder: 'TIME',
  expected: `seconds since 1970 (at most ${MAX_TIMESTAMP}), or a date such as 2030-01-01T00:00:00Z`,
  read: (value) => {
    const text = textOf(value)
    if (!/^\d{4}-\d\d-\d\d/.test(text)) {
      const seconds = amount(text, { '': 0 })
      return seconds !== undefined && seconds <= MAX_TIMESTAMP ? seconds : undefined
    }
    const time = Date.parse(text)
    return Number.isNaN(time) || time < 0 ? undefined : BigInt(Math.floor(time / 1000))
  },
}

function text(placeholder: string, expected: string, pattern: RegExp): Type<string> {
  return {
    placeholder,
    expected,
    read: (value) => (typeof value === 'string' && pattern.test(value) ? value : undefined),
  }
}

const file: Type<string> = text('FILE', 'the path of a file', /\S/)

const genesisFile: Type<string | object> = {
  placeholder: 'FILE',
  expected: 'the path of a genesis JSON file',
  read: (value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value) ? value : file.read(value),
}

const blocksFile: Type<string | Uint8Array> = {
  placeholder: 'FILE',
  expected: 'the path of a file of RLP blocks',
  read: (value) => (value instanceof Uint8Array ? value : file.read(value)),
}

function choice<const T extends string>(...words: readonly T[]): Type<T> {
  return {
    placeholder: words.join('|'),
    expected: `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`,
    read: (value) => words.find((word) => word === textOf(value).toLowerCase()),
  }
}

const clock: Type<ClockOption> = {
  placeholder: 'wall|frozen|step:N',
  expected: 'wall, frozen, or step:N with N seconds a block (at least 1)',
  read: (value) => {
    const word = textOf(value).toLowerCase()
    if (word === 'wall' || word === 'frozen') return { kind: word }
    const seconds = /^step:([1-9]\d{0,9})$/.exec(word)?.[1]
    return seconds === undefined ? undefined : { kind: 'step', seconds: BigInt(seconds) }
  },
}

/** Several values: a list, or text with commas. */
function list<T>(
  placeholder: string,
  item: string,
  read: (text: string) => T | undefined,
): Type<readonly T[]> {
  return {
    placeholder,
    expected: item,
    repeatable: true,
    read: (value) => {
      const parts = (Array.isArray(value) ? value : [value]).flatMap((part: unknown) =>
        typeof part === 'string' ? part.split(',') : [''],
      )
      const items = parts.map((part) => read(part.trim()))
      return items.every((part) => part !== undefined) ? items : undefined
    },
  }
}

const names: Type<readonly string[]> = list(
  'NAMES',
  'module names such as personal,txpool',
  (name) => (/^[a-zA-Z][a-zA-Z0-9]*$/.test(name) ? name : undefined),
)

const hosts: Type<readonly string[]> = list(
  'NAME',
  'a host name such as devchain.local, or * for any',
  (name) => (/^([a-zA-Z0-9:[\]._-]+|\*)$/.test(name) ? name.toLowerCase() : undefined),
)

const aliases: Type<readonly AliasOption[]> = list(
  'NEW=OLD',
  'NEW=OLD with two method names, or new_*=old_* for a whole module',
  (pair) => {
    const match = /^([a-zA-Z][\w.]*\*?)=([a-zA-Z][\w.]*\*?)$/.exec(pair)
    const [, from = '', to = ''] = match ?? []
    return match === null || from.endsWith('*') !== to.endsWith('*') ? undefined : { from, to }
  },
)

const hardfork: Type<Hardfork> = {
  placeholder: 'NAME',
  expected: 'the name of a hardfork such as cancun',
  read: (value) => (typeof value === 'string' ? parseHardfork(value) : undefined),
}

const address: Type<Address> = {
  placeholder: 'ADDRESS',
  expected: 'a 20-byte address',
  read: (value) => (typeof value === 'string' ? parseAddress(value) : undefined),
}

const gasOrEstimate: Type<bigint | 'estimate'> = {
  placeholder: 'GAS|estimate',
  expected: `${gas.expected}, or estimate`,
  read: (value) => (textOf(value).toLowerCase() === 'estimate' ? 'estimate' : gas.read(value)),
}

const codeSizeBytes: Type<number> = count(
  'BYTES|off',
  1,
  2 ** 31,
  'a whole number of bytes from 1 to 2147483648, or off',
)

/** `off` is a size that no code has. */
const codeSize: Type<number> = {
  ...codeSizeBytes,
  read: (value) =>
    textOf(value).toLowerCase() === 'off' ? Number.MAX_SAFE_INTEGER : codeSizeBytes.read(value),
}

const chainIdentity: Type<bigint> = integer(
  'ID',
  1n,
  (1n << 53n) - 1n,
  'a whole number from 1 to 9007199254740991',
)

const TEST_MNEMONIC = 'test test test test test test test test test test test junk'

/** The options, in the order of `--help`. */
export const OPTIONS: { readonly [Key in keyof AllSettings]: Option<AllSettings[Key]> } = {
  chainId: {
    type: chainIdentity,
    group: 'Chain',
    sentence: 'Chain id that transactions are signed for',
    fallback: undefined,
    fallbackText: '33',
  },
  networkId: {
    type: chainIdentity,
    group: 'Chain',
    sentence: 'Network id that net_version answers',
    fallback: undefined,
    fallbackText: 'the chain id',
  },
  hardfork: {
    type: hardfork,
    group: 'Chain',
    sentence: 'Rules of the chain, from frontier to the newest',
    fallback: undefined,
    fallbackText: NEWEST_HARDFORK,
  },
  genesis: {
    type: genesisFile,
    group: 'Chain',
    sentence: 'Genesis JSON with config, alloc, timestamp, gasLimit, …',
    fallback: undefined,
    fallbackText: 'none',
  },
  import: {
    type: blocksFile,
    group: 'Chain',
    sentence: 'Begin with the RLP blocks of a file, each validated in full',
    fallback: undefined,
    fallbackText: 'none',
  },
  timestamp: {
    type: moment,
    group: 'Chain',
    sentence: 'Time of the genesis block: seconds since 1970, or a date',
    fallback: undefined,
    fallbackText: 'now',
  },
  chainName: {
    type: text('NAME', 'one line of up to 64 characters', /^[^\r\n]{1,64}$/),
    group: 'Chain',
    sentence: 'Name in the prefix that eth_sign puts before a message',
    fallback: 'Ethereum',
    fallbackText: 'Ethereum',
  },
  noCreate2: {
    type: flag,
    group: 'Chain',
    sentence: 'Leave out the deterministic create2 deployer',
    fallback: false,
    fallbackText: 'off',
  },
  coinbase: {
    type: address,
    group: 'Chain',
    sentence: 'Address that gets the fees of blocks',
    fallback: undefined,
    fallbackText: 'the zero address',
  },
  codeSizeLimit: {
    type: codeSize,
    group: 'Chain',
    sentence: 'Largest size of deployed code; off for none',
    fallback: undefined,
    fallbackText: "the hardfork's",
  },
  accounts: {
    type: count('NUMBER', 0, 10_000, 'a whole number from 0 to 10000'),
    group: 'Accounts',
    sentence: 'Number of unlocked, funded accounts',
    fallback: 10,
    fallbackText: '10',
  },
  balance: {
    type: etherAmount,
    group: 'Accounts',
    sentence: 'Balance of each account, in ether',
    fallback: 10_000n * 10n ** 18n,
    fallbackText: '10000',
  },
  mnemonic: {
    type: text('WORDS', 'a mnemonic phrase of 12 to 24 words', /^\s*\S+(\s+\S+){11,23}\s*$/),
    group: 'Accounts',
    sentence: 'Phrase that the accounts are derived from',
    fallback: TEST_MNEMONIC,
    fallbackText: TEST_MNEMONIC,
  },
  derivationPath: {
    type: text(
      'PATH',
      "a derivation path such as m/44'/60'/0'/0, to which /0, /1, … are added",
      /^m(\/\d{1,10}'?)*$/,
    ),
    group: 'Accounts',
    sentence: 'Path of the accounts; /0, /1, … are added to it',
    fallback: "m/44'/60'/0'/0",
    fallbackText: "m/44'/60'/0'/0",
  },
  autoImpersonate: {
    type: flag,
    group: 'Accounts',
    sentence: 'Send for whatever account, without its key',
    fallback: false,
    fallbackText: 'off',
  },
  gasLimit: {
    type: gas,
    group: 'Transactions',
    sentence: 'Gas limit of a block',
    fallback: undefined,
    fallbackText: '30000000',
  },
  gasPrice: {
    type: gasFee,
    group: 'Transactions',
    sentence: 'Gas price of eth_sendTransaction when it names none',
    fallback: 0n,
    fallbackText: '0',
  },
  baseFee: {
    type: gasFee,
    group: 'Transactions',
    sentence: 'Start the EIP-1559 fee market at this base fee',
    fallback: undefined,
    fallbackText: 'pinned at 0',
  },
  tip: {
    type: gasFee,
    group: 'Transactions',
    sentence: 'Tip per gas of eth_sendTransaction when it names none',
    fallback: 0n,
    fallbackText: '0',
  },
  defaultGas: {
    type: gasOrEstimate,
    group: 'Transactions',
    sentence: 'Gas of eth_sendTransaction when it names none',
    fallback: 90_000n,
    fallbackText: '90000',
  },
  txGasCap: {
    type: gas,
    group: 'Transactions',
    sentence: 'Highest gas limit of one transaction (EIP-7825)',
    fallback: undefined,
    fallbackText: 'none',
  },
  onRevert: {
    type: choice('hash', 'throw'),
    group: 'Transactions',
    sentence: 'What a send answers when its transaction reverts',
    fallback: 'hash',
    fallbackText: 'hash',
  },
  compat: {
    type: choice(...COMPAT_NODES),
    group: 'Transactions',
    sentence: 'Take the defaults of that node, and answer as it does',
    fallback: undefined,
    fallbackText: 'none',
  },
  evm: {
    type: choice('reference', 'interpreter', 'auto'),
    group: 'Transactions',
    sentence: 'Engine that runs contracts; auto compiles hot code',
    fallback: 'auto',
    fallbackText: 'auto',
  },
  memoryLimit: {
    type: byteSize,
    group: 'Transactions',
    sentence: 'Memory that one transaction or call may use',
    fallback: 128_000_000,
    fallbackText: '128MB',
  },
  blockTime: {
    type: duration,
    group: 'Mining and time',
    sentence: 'Mine on an interval instead of a block a transaction',
    fallback: undefined,
    fallbackText: 'instant',
  },
  noMining: {
    type: flag,
    group: 'Mining and time',
    sentence: 'Mine by hand only (evm_mine)',
    fallback: false,
    fallbackText: 'off',
  },
  difficulty: {
    type: integer('NUMBER', 0n, (1n << 256n) - 1n, 'a whole number'),
    group: 'Mining and time',
    sentence: 'Difficulty of a block',
    fallback: undefined,
    fallbackText: '1',
  },
  maxUncles: {
    type: count('NUMBER', 0, 10, 'a whole number from 0 to 10'),
    group: 'Mining and time',
    sentence: 'Uncles that a block includes at most; the main network allows 2',
    fallback: 2,
    fallbackText: '2',
  },
  mergeMiningTag: {
    type: text('TEXT', '1 to 64 printable ASCII characters', /^[!-~]{1,64}$/),
    group: 'Mining and time',
    sentence: 'What marks a block hash in the coinbase of a parent block (mnr)',
    fallback: 'DEVBLOCK:',
    fallbackText: 'DEVBLOCK:',
  },
  clock: {
    type: clock,
    group: 'Mining and time',
    sentence: 'Source of time; frozen and step give equal blocks each run',
    fallback: { kind: 'wall' },
    fallbackText: 'wall',
  },
  sameTimestamp: {
    type: flag,
    group: 'Mining and time',
    sentence: 'A block may have the time of its parent',
    fallback: false,
    fallbackText: 'off',
  },
  consumeSnapshots: {
    type: flag,
    group: 'Mining and time',
    sentence: 'A snapshot can be reverted to once only',
    fallback: false,
    fallbackText: 'off',
  },
  host: {
    type: text('HOST', 'a host name or IP address', /^[a-zA-Z0-9:._-]+$/),
    group: 'Server',
    sentence: 'Address to listen on',
    fallback: '127.0.0.1',
    fallbackText: '127.0.0.1',
  },
  port: {
    type: count('PORT', 0, 65_535, 'a port number from 0 to 65535'),
    group: 'Server',
    sentence: 'Port of HTTP and WebSocket; 0 picks a free one',
    fallback: 8545,
    fallbackText: '8545',
  },
  allowHost: {
    type: hosts,
    group: 'Server',
    sentence: 'Host name that browsers may use besides loopback names; * for any',
    fallback: [],
    fallbackText: 'none',
  },
  bodyLimit: {
    type: byteSize,
    group: 'Server',
    sentence: 'Largest request body',
    fallback: 5_000_000,
    fallbackText: '5MB',
  },
  filterTimeout: {
    type: duration,
    group: 'Server',
    sentence: 'Drop a filter that was not polled for so long',
    fallback: 300_000,
    fallbackText: '5m',
  },
  traceLimit: {
    type: count('STEPS', 1, 10 ** 12, 'a number of steps, such as 10_000_000 or 10M'),
    group: 'Server',
    sentence: 'Operations that one request for traces may run through',
    fallback: 10_000_000,
    fallbackText: '10M',
  },
  alias: {
    type: aliases,
    group: 'Server',
    sentence: 'Answer to another name too; new_*=ext_* for a whole module',
    fallback: [],
    fallbackText: 'none',
  },
  disable: {
    type: names,
    group: 'Server',
    sentence: 'Modules to turn off',
    fallback: [],
    fallbackText: 'none',
  },
  quiet: {
    type: flag,
    group: 'Terminal',
    sentence: 'Print nothing but errors',
    fallback: false,
    fallbackText: 'off',
  },
  noHints: {
    type: flag,
    group: 'Terminal',
    sentence: 'Give no hints on flags when something fails for the first time',
    fallback: false,
    fallbackText: 'off',
  },
  verbose: {
    type: flag,
    group: 'Terminal',
    sentence: 'Print parameters and results of calls',
    fallback: false,
    fallbackText: 'off',
  },
  log: {
    type: choice('pretty', 'json'),
    group: 'Terminal',
    sentence: 'Form of the log: for people, or one JSON object a line',
    fallback: 'pretty',
    fallbackText: 'pretty',
  },
  logFile: {
    type: file,
    group: 'Terminal',
    sentence: 'Append the log to a file instead of the terminal',
    fallback: undefined,
    fallbackText: 'none',
  },
  noColor: {
    type: flag,
    group: 'Terminal',
    sentence: 'No colors; NO_COLOR and FORCE_COLOR are obeyed too',
    fallback: false,
    fallbackText: 'off',
  },
  config: {
    type: file,
    group: 'Process',
    sentence: 'JSON file with options, named as in createDevchain',
    fallback: undefined,
    fallbackText: 'none',
  },
  readyFile: {
    type: file,
    group: 'Process',
    sentence: 'Write URL, accounts and keys there once the port answers',
    fallback: undefined,
    fallbackText: 'none',
  },
  exitWithParent: {
    type: flag,
    group: 'Process',
    sentence: 'Stop when the process that started this one is gone',
    fallback: false,
    fallbackText: 'off',
  },
}

export type OptionKey = keyof AllSettings

export const OPTION_KEYS: readonly OptionKey[] = Object.keys(OPTIONS) as OptionKey[]

/** What a genesis file may say: the defaults come after it, and are chosen where a chain is made (node/create.ts). */
const FROM_GENESIS: ReadonlySet<OptionKey> = new Set([
  'chainId',
  'hardfork',
  'gasLimit',
  'baseFee',
  'difficulty',
  'coinbase',
])

/** Options that cannot both be given. */
const CONTRADICTIONS: readonly (readonly [OptionKey, OptionKey, why: string])[] = [
  ['blockTime', 'noMining', 'one mines on an interval, the other never by itself'],
  ['quiet', 'verbose', 'one silences the log, the other lengthens it'],
]

/** `--chain-id` of `chainId`. */
export function flagOf(key: OptionKey): string {
  return `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

/** `DEVCHAIN_CHAIN_ID` of `chainId`. */
export function environmentNameOf(key: OptionKey): string {
  return `DEVCHAIN_${flagOf(key).slice(2).toUpperCase().replaceAll('-', '_')}`
}

/** Where values come from, in falling precedence, with the values as they were given. */
export interface OptionSource {
  readonly kind: 'flag' | 'environment' | 'file' | 'program'
  readonly values: { readonly [Key in OptionKey]?: unknown }
  /** Path of the config file, for messages. */
  readonly path?: string
}

/** The name under which a source gives an option. */
function nameIn(source: OptionSource, key: OptionKey): string {
  if (source.kind === 'flag') return flagOf(key)
  if (source.kind === 'environment') return environmentNameOf(key)
  return source.kind === 'file' ? `"${key}" in ${source.path}` : key
}

/** The values of an environment that are options; an empty variable counts as unset. */
export function environmentSource(
  environment: Readonly<Record<string, string | undefined>>,
): OptionSource {
  const entries = OPTION_KEYS.map((key) => [key, environment[environmentNameOf(key)]] as const)
  return { kind: 'environment', values: Object.fromEntries(entries.filter(([, value]) => value)) }
}

/**
 * The values of a config file.
 * @throws {DevchainError} `INVALID_PARAMS` when it is no JSON object or has an unknown key; names the nearest one.
 */
export function fileSource(path: string, content: string): OptionSource {
  let json: unknown
  try {
    json = JSON.parse(content)
  } catch (error) {
    throw new DevchainError(
      'INVALID_PARAMS',
      `${path} is no valid JSON: ${(error as Error).message}`,
    )
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new DevchainError(
      'INVALID_PARAMS',
      `${path}: expected a JSON object with options, got ${printValue(json)}`,
    )
  }
  return checkedSource({ kind: 'file', path, values: json })
}

/**
 * The values a program gives.
 * @throws {DevchainError} `INVALID_PARAMS` for an unknown option; names the nearest one.
 */
export function programSource(values: object): OptionSource {
  return checkedSource({ kind: 'program', values })
}

function checkedSource(source: OptionSource): OptionSource {
  for (const key of Object.keys(source.values)) {
    if (Object.hasOwn(OPTIONS, key) && !(key === 'config' && source.kind === 'file')) continue
    const where = source.kind === 'file' ? ` in ${source.path}` : ''
    throw new DevchainError(
      'INVALID_PARAMS',
      `unknown option "${key}"${where}; did you mean "${nearest(key, OPTION_KEYS, Infinity)}"?`,
    )
  }
  return source
}

/**
 * Reads all options: the first source that gives one has precedence; what no source gives has the default of the node
 * that `compat` names, or else its own.
 * @throws {DevchainError} `INVALID_PARAMS` naming the option, the value and what was expected, or the two options
 * of one source that contradict each other. (Of two in different sources the one of higher precedence stands.)
 */
export function resolveOptions(sources: readonly OptionSource[]): AllSettings {
  const given = new Map<OptionKey, OptionSource>()
  for (const source of sources) {
    for (const key of OPTION_KEYS) {
      if (source.values[key] !== undefined && !given.has(key)) given.set(key, source)
    }
  }
  const values = new Map<OptionKey, unknown>()
  for (const [key, source] of given) values.set(key, readOption(source, key))
  for (const [one, other, why] of CONTRADICTIONS) {
    settleContradiction({ one, other, why, given, values, sources })
  }
  const settings = OPTION_KEYS.map((key) => [
    key,
    values.has(key) ? values.get(key) : defaultOf(key, values.get('compat') as CompatNode),
  ])
  return Object.fromEntries(settings) as AllSettings
}

/** The value of an option that nobody gave. */
function defaultOf(key: OptionKey, compat: CompatNode | undefined): unknown {
  const ofNode: Partial<AllSettings> = FROM_GENESIS.has(key) ? {} : profileOf(compat).defaults
  return ofNode[key] ?? OPTIONS[key].fallback
}

function readOption(source: OptionSource, key: OptionKey): unknown {
  const { type } = OPTIONS[key]
  const value = source.values[key]
  const name = nameIn(source, key)
  let read: unknown
  try {
    read = type.read(value)
  } catch (error) {
    if (!(error instanceof DevchainError)) throw error
    throw new DevchainError('INVALID_PARAMS', `${name}: ${error.message}`)
  }
  if (read !== undefined) return read
  throw new DevchainError(
    'INVALID_PARAMS',
    `${name}: expected ${type.expected}, got ${printValue(value)}`,
  )
}

function settleContradiction(question: {
  readonly one: OptionKey
  readonly other: OptionKey
  readonly why: string
  readonly given: ReadonlyMap<OptionKey, OptionSource>
  readonly values: Map<OptionKey, unknown>
  readonly sources: readonly OptionSource[]
}): void {
  const { one, other, why, given, values, sources } = question
  const isSet = (key: OptionKey): boolean => values.has(key) && values.get(key) !== false
  const [first, second] = [given.get(one), given.get(other)]
  if (!(first && second && isSet(one) && isSet(other))) return
  if (first === second) {
    throw new DevchainError(
      'INVALID_PARAMS',
      `${nameIn(first, one)} contradicts ${nameIn(second, other)}: ${why}`,
    )
  }
  values.delete(sources.indexOf(first) < sources.indexOf(second) ? other : one)
}

/** The options of `createDevchain`, checked, with defaults. */
export function readDevchainOptions(options: DevchainOptions): ChainSettings {
  return resolveOptions([programSource(options)])
}
