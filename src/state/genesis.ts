// Reads and checks genesis JSON, and creates the initial accounts.
import { EMPTY_CODE_HASH, keccakHash } from '../core/crypto/crypto.ts'
import { DevchainError, printValue } from '../core/errors.ts'
import { type Address, bytesFromHex, EMPTY_BYTES, type Hash } from '../core/hex.ts'
import { memoizeByIdentity } from '../core/lrucache.ts'
import { isObject } from '../core/objects.ts'
import type { Hardfork } from '../protocol/forks.ts'
import { addressKey } from './keys.ts'
import { CREATE2_DEPLOYER, type Predeploy, systemContracts } from './predeploys.ts'
import {
  type Account,
  emptyStorage,
  type World,
  withAccounts,
  withSlots,
  worldOf,
} from './world.ts'

export interface GenesisAccount extends Pick<Account, 'nonce' | 'balance' | 'code'> {
  /** By slot; zero values count as absent. */
  readonly storage: ReadonlyMap<bigint, bigint>
}

export type GenesisAlloc = ReadonlyMap<Address, GenesisAccount>

/** A parsed genesis JSON file (geth's format). Missing fields are undefined. */
export interface Genesis {
  /** Chain id and hardforks as the file has them: `protocol/forks.ts` parses them. */
  readonly config: Readonly<Record<string, unknown>> | undefined
  readonly alloc: GenesisAlloc
  /** The accounts of a file, in place of `alloc`, which is empty then. */
  readonly world?: World
  readonly timestamp: bigint | undefined
  readonly gasLimit: bigint | undefined
  readonly gasUsed: bigint | undefined
  readonly difficulty: bigint | undefined
  readonly coinbase: Address | undefined
  readonly extraData: Uint8Array | undefined
  /** Below 2^64, as a header has 8 bytes for it. */
  readonly nonce: bigint | undefined
  readonly mixHash: Hash | undefined
  readonly parentHash: Hash | undefined
  readonly number: bigint | undefined
  readonly baseFeePerGas: bigint | undefined
  readonly excessBlobGas: bigint | undefined
  readonly blobGasUsed: bigint | undefined
}

export interface Predeploys {
  /** A fork keeps upstream code at these addresses. */
  readonly contracts: readonly Predeploy[]
  /** From files. They replace what is there. */
  readonly accounts: GenesisAlloc
}

export const NO_PREDEPLOYS: Predeploys = { contracts: [], accounts: new Map() }

/** Parses a JSON value or throws `Unexpected`. */
type Reader<T> = (value: unknown) => T

/** Readers throw it; the caller that knows the path catches it. */
class Unexpected extends Error {}

const namesOf = memoizeByIdentity((readers: Readonly<Record<string, unknown>>) => {
  const names = Object.keys(readers)
  return {
    /** By themselves, and in lower case. */
    names: new Map(
      names.flatMap((name) => [[name.toLowerCase(), name] as const, [name, name] as const]),
    ),
    none: Object.fromEntries(names.map((name) => [name, undefined])),
  }
})

const NO_STORAGE: ReadonlyMap<bigint, bigint> = new Map()

/** Further problems are counted, not listed. */
const LISTED_PROBLEMS = 10

/** Other tools write these fields. */
const IGNORED_ACCOUNT_FIELDS = new Set(['comment', 'privatekey', 'secretkey'])

const integer64 = integer(64)
const integer256 = integer(256)

/** All fields but `alloc`. Names are case-insensitive, as in geth. */
const HEADER_FIELDS = {
  config: record,
  timestamp: integer64,
  gasLimit: integer64,
  gasUsed: integer64,
  difficulty: integer256,
  coinbase: fixedHex<Address>(20),
  extraData: bytes,
  nonce: integer64,
  mixHash: fixedHex<Hash>(32),
  parentHash: fixedHex<Hash>(32),
  number: integer64,
  // other tools write null if the fork lacks the field
  baseFeePerGas: orNull(integer256),
  excessBlobGas: orNull(integer64),
  blobGasUsed: orNull(integer64),
} satisfies { [Name in keyof Omit<Genesis, 'alloc' | 'world'>]: Reader<unknown> }

const ACCOUNT_FIELDS = {
  balance: integer256,
  nonce: integer64,
  code: bytes,
  storage: record,
}

/** Compilers write `deployedBytecode` for code. */
const PREDEPLOY_FIELDS = { ...ACCOUNT_FIELDS, deployedBytecode: compiledCode }

/**
 * Checks a parsed genesis file. Integers are 0x hex, decimal text or JSON numbers; hex data may lack 0x. Fields that start with
 * `_` or `/` are comments. An empty object means defaults.
 * @throws {DevchainError} `INVALID_PARAMS` naming each wrong or unknown field, its value and the expected form.
 */
export function parseGenesis(json: unknown): Genesis {
  const problems = new Problems('genesis')
  const file = problems.read('genesis', record, json) ?? {}
  const fields = problems.fields('', file, GENESIS_FIELDS, new Set())
  const alloc = new Map<Address, GenesisAccount>()
  const accounts = fields.alloc ?? {}
  for (const [path, address, account] of accountsIn(problems, 'alloc.', accounts, alloc)) {
    alloc.set(address, parseAccount(problems, path, account))
  }
  problems.throwIfAny()
  return { ...fields, alloc }
}

/**
 * Checks a parsed JSON file of accounts by address, as in `alloc` of a genesis file. Code may be called `deployedBytecode`. An
 * account with code has nonce 1 by default.
 * @throws {DevchainError} `INVALID_PARAMS` naming each wrong or unknown field, its value and the expected form.
 */
export function parsePredeploys(json: unknown): GenesisAlloc {
  const problems = new Problems('accounts')
  const file = problems.read('accounts', record, json) ?? {}
  const alloc = new Map<Address, GenesisAccount>()
  for (const [path, address, object] of accountsIn(problems, '', file, alloc)) {
    const { deployedBytecode, ...fields } = problems.fields(
      `${path}.`,
      object,
      PREDEPLOY_FIELDS,
      IGNORED_ACCOUNT_FIELDS,
    )
    if (deployedBytecode !== undefined && fields.code !== undefined) {
      problems.add(path, 'either code or deployedBytecode', object)
    }
    const code = fields.code ?? deployedBytecode ?? EMPTY_BYTES
    const nonce = fields.nonce ?? (code.length > 0 ? 1n : 0n)
    const storage = parseStorage(problems, path, fields.storage)
    const balance = fields.balance ?? 0n
    const isNothing = nonce === 0n && balance === 0n && code.length === 0 && storage.size === 0
    if (isNothing) problems.add(path, 'code, a balance, a nonce or storage', object)
    alloc.set(address, { nonce, balance, code, storage })
  }
  problems.throwIfAny()
  return alloc
}

export function worldFromAlloc(alloc: GenesisAlloc): World {
  return worldOf(Array.from(alloc, ([address, account]) => accountFrom(address, account)))
}

export function withAlloc(world: World, alloc: GenesisAlloc): World {
  const changes = Array.from(alloc, ([address, account]) => ({
    key: addressKey(address),
    value: accountFrom(address, account),
  }))
  return withAccounts(world, changes)
}

export function accountFrom(
  address: Address,
  { nonce, balance, code, storage }: GenesisAccount,
): Account {
  return {
    address,
    nonce,
    balance,
    codeHash: code.length === 0 ? EMPTY_CODE_HASH : keccakHash(code),
    code,
    storage: withSlots(emptyStorage, storage),
  }
}

export interface DefaultAllocOptions {
  readonly accounts: readonly Address[]
  /** In wei, of each dev account. */
  readonly balance: bigint
  readonly create2: boolean
  readonly hardfork: Hardfork
}

export function createDefaultAlloc(options: DefaultAllocOptions): GenesisAlloc {
  const contracts = [...systemContracts(options.hardfork)]
  if (options.create2) contracts.push(CREATE2_DEPLOYER)
  const alloc = new Map<Address, GenesisAccount>(allocOf(contracts))
  for (const address of options.accounts) {
    const { balance } = options
    alloc.set(address, { nonce: 0n, balance, code: EMPTY_BYTES, storage: new Map() })
  }
  return alloc
}

/** Gives them nonce 1 (EIP-161). */
export function allocOf(contracts: readonly Predeploy[]): GenesisAlloc {
  return new Map(
    contracts.map(({ address, code }) => [
      address,
      { nonce: 1n, balance: 0n, code, storage: new Map() },
    ]),
  )
}

const GENESIS_FIELDS = { ...HEADER_FIELDS, alloc: record }

/** Collects the problems of a file, so that one error lists all of them. */
class Problems {
  readonly #what: string
  readonly #problems: string[] = []
  #count = 0

  constructor(what: string) {
    this.#what = what
  }

  add(path: string, expected: string, value: unknown): void {
    this.#count += 1
    if (this.#problems.length >= LISTED_PROBLEMS) return
    this.#problems.push(`${path}: expected ${expected}, got ${printValue(value)}`)
  }

  read<T>(path: string, reader: Reader<T>, value: unknown): T | undefined {
    try {
      return reader(value)
    } catch (error) {
      if (!(error instanceof Unexpected)) throw error
      this.add(path, error.message, value)
      return undefined
    }
  }

  /** Missing and wrong fields are undefined. */
  fields<Readers extends Readonly<Record<string, Reader<unknown>>>>(
    path: string,
    object: Readonly<Record<string, unknown>>,
    readers: Readers,
    ignored: ReadonlySet<string>,
  ): { [Name in keyof Readers]: ReturnType<Readers[Name]> | undefined } {
    const { names, none } = namesOf(readers)
    const read: Record<string, unknown> = { ...none }
    for (const key of Object.keys(object)) {
      const value = object[key]
      const name = names.get(key) ?? names.get(key.toLowerCase())
      const isComment = key.startsWith('_') || key.startsWith('/')
      if (name !== undefined) read[name] = this.read(path + key, readers[name]!, value)
      else if (!isComment && !ignored.has(key.toLowerCase())) {
        this.add(`${path}${printKey(key)}`, `one of ${Object.keys(readers).join(', ')}`, value)
      }
    }
    return read as { [Name in keyof Readers]: ReturnType<Readers[Name]> | undefined }
  }

  get isEmpty(): boolean {
    return this.#count === 0
  }

  throwIfAny(): void {
    if (this.isEmpty) return
    const more = this.#count - this.#problems.length
    throw new DevchainError(
      'INVALID_PARAMS',
      `invalid ${this.#what}: ${this.#problems.join('; ')}${more > 0 ? `; and ${more} more` : ''}`,
      { problems: this.#problems, count: this.#count },
    )
  }
}

/** One account of `alloc`; undefined if something is wrong with it. */
export function parseAllocAccount(json: unknown): GenesisAccount | undefined {
  const problems = new Problems('genesis')
  const object = problems.read('', record, json)
  const account = object && parseAccount(problems, '', object)
  return problems.isEmpty ? account : undefined
}

function* accountsIn(
  problems: Problems,
  prefix: string,
  object: Readonly<Record<string, unknown>>,
  known: GenesisAlloc,
): Iterable<readonly [path: string, Address, Readonly<Record<string, unknown>>]> {
  for (const key of Object.keys(object)) {
    const value = object[key]
    const path = `${prefix}${printKey(key)}`
    const address = problems.read(path, addressOf, key)
    const account = problems.read(path, record, value)
    if (address === undefined || account === undefined) continue
    if (known.has(address)) problems.add(path, 'each address once', key)
    yield [path, address, account]
  }
}

function parseAccount(
  problems: Problems,
  path: string,
  object: Readonly<Record<string, unknown>>,
): GenesisAccount {
  const fields = problems.fields(`${path}.`, object, ACCOUNT_FIELDS, IGNORED_ACCOUNT_FIELDS)
  return {
    balance: fields.balance ?? 0n,
    nonce: fields.nonce ?? 0n,
    code: fields.code ?? EMPTY_BYTES,
    storage: parseStorage(problems, path, fields.storage),
  }
}

function parseStorage(
  problems: Problems,
  path: string,
  object: Readonly<Record<string, unknown>> | undefined,
): ReadonlyMap<bigint, bigint> {
  if (object === undefined) return NO_STORAGE
  const storage = new Map<bigint, bigint>()
  for (const [key, value] of Object.entries(object)) {
    const slotPath = `${path}.storage.${printKey(key)}`
    const slot = problems.read(slotPath, word, key)
    const content = problems.read(slotPath, word, value)
    if (slot === undefined || content === undefined) continue
    if (storage.has(slot)) problems.add(slotPath, 'each slot once', key)
    storage.set(slot, content)
  }
  return storage
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  if (isObject(value)) return value
  throw new Unexpected('an object')
}

/** 0x hex, decimal text, or a JSON number without lost digits. */
function integer(bits: number): Reader<bigint> {
  const expected = `an integer of at most ${bits} bits: 0x hex, decimal text or a number`
  return (value) => {
    const number = unsigned(value)
    if (number === undefined || number >= 1n << BigInt(bits)) throw new Unexpected(expected)
    return number
  }
}

function orNull<T>(reader: Reader<T>): Reader<T | undefined> {
  return (value) => (value === null ? undefined : reader(value))
}

function unsigned(value: unknown): bigint | undefined {
  if (typeof value === 'number') {
    if (value > Number.MAX_SAFE_INTEGER) {
      throw new Unexpected('an integer above 2^53 as text, since as a number it loses digits')
    }
    return Number.isInteger(value) && value >= 0 ? BigInt(value) : undefined
  }
  // 160 characters hold any 256-bit integer and leading zeros
  if (typeof value !== 'string' || value.length > 160) return undefined
  return /^(0x[\da-f]+|\d+)$/i.test(value) ? BigInt(value.toLowerCase()) : undefined
}

/** Up to 32 bytes of hex, with or without leading zeros. */
function word(value: unknown): bigint {
  const digits = hexDigits(value)
  if (digits === undefined || digits.length === 0 || digits.length > 64) {
    throw new Unexpected('1 to 64 hex digits')
  }
  return BigInt(`0x${digits}`)
}

function bytes(value: unknown): Uint8Array {
  const digits = hexDigits(value)
  if (digits === undefined || digits.length % 2 === 1) {
    throw new Unexpected('bytes as an even number of hex digits')
  }
  return bytesFromHex(`0x${digits}`)
}

/** Compilers write text, or an object with the text as `object`. */
function compiledCode(value: unknown): Uint8Array {
  const isObject = typeof value === 'object' && value !== null && 'object' in value
  return bytes(isObject ? value.object : value)
}

function fixedHex<T extends Address | Hash>(size: number): Reader<T> {
  return (value) => {
    const digits = hexDigits(value)
    if (digits?.length !== 2 * size) throw new Unexpected(`${size} bytes as ${2 * size} hex digits`)
    return `0x${digits}` as T
  }
}

/** Lower-case digits without 0x; undefined if the value is not hex. */
function hexDigits(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  return /^(?:0x)?([\da-f]*)$/i.exec(value)?.[1]?.toLowerCase()
}

const addressOf = fixedHex<Address>(20)

function printKey(key: string): string {
  return /^\w{1,66}$/.test(key) ? key : printValue(key)
}
