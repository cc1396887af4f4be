// Checks, encodes and hashes structured data as wallets sign it (EIP-712).
import { keccak256 } from './crypto/crypto.ts'
import { invalid, within } from './errors.ts'
import { concatBytes, paddedBytes, parseAddress, parseBytes } from './hex.ts'
import { getOrMake } from './lrucache.ts'
import { objectAt, type UnknownMembers } from './objects.ts'

export interface TypedMember {
  readonly name: string
  readonly type: string
}

/** The parameter of `eth_signTypedData_v4`. Its form is checked; encoding checks the values. */
export interface TypedData {
  readonly types: ReadonlyMap<string, readonly TypedMember[]>
  readonly primaryType: string
  readonly domain: UnknownMembers
  readonly message: UnknownMembers
}

/** Most nested structs or arrays in one message, so that none overflows the stack. */
const MAX_DEPTH = 64

const MAX_TYPE_LENGTH = 256

const DOMAIN_TYPES: readonly TypedMember[] = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
  { name: 'salt', type: 'bytes32' },
]

/**
 * Checks the form. If `EIP712Domain` is missing, it is derived from the domain's members, as client libraries do.
 * @throws {DevchainError} `INVALID_PARAMS` naming the member that is missing or wrong.
 */
export function parseTypedData(value: unknown): TypedData {
  const data = objectAt('typed data', value)
  const domain = objectAt('domain', data.domain)
  const types = new Map<string, readonly TypedMember[]>()
  for (const [name, members] of Object.entries(objectAt('types', data.types))) {
    types.set(name, parseMembers(name, members))
  }
  if (!types.has('EIP712Domain')) {
    types.set(
      'EIP712Domain',
      DOMAIN_TYPES.filter((member) => domain[member.name] !== undefined),
    )
  }
  const { primaryType } = data
  if (typeof primaryType !== 'string' || !types.has(primaryType)) {
    throw invalid('primaryType', `one of ${[...types.keys()].join(', ')}`, primaryType)
  }
  return { types, primaryType, domain, message: messageOf(data.message, types, primaryType) }
}

/** May be absent if its type has no members, or is the domain's. */
function messageOf(
  message: unknown,
  types: TypedData['types'],
  primaryType: string,
): TypedData['message'] {
  const isSilent = primaryType === 'EIP712Domain' || types.get(primaryType)?.length === 0
  const isAbsent = message === undefined || message === null
  return isSilent && isAbsent ? {} : objectAt('message', message)
}

/**
 * keccak256(0x1901 ‖ hashStruct(domain) ‖ hashStruct(message)), which a wallet signs.
 * @throws {DevchainError} `INVALID_PARAMS` naming the value that does not fit its type.
 */
export function typedDataDigest({ types, primaryType, domain, message }: TypedData): Uint8Array {
  const encoder: Encoding = { types, typeHashes: new Map() }
  const prefix = Uint8Array.of(0x19, 0x01)
  const domainHash = hashStruct(encoder, 'EIP712Domain', domain, 'domain', 0)
  if (primaryType === 'EIP712Domain') return keccak256(concatBytes(prefix, domainHash))
  return keccak256(
    concatBytes(prefix, domainHash, hashStruct(encoder, primaryType, message, 'message', 0)),
  )
}

interface Encoding {
  readonly types: TypedData['types']
  readonly typeHashes: Map<string, Uint8Array>
}

function parseMembers(name: string, members: unknown): readonly TypedMember[] {
  if (!Array.isArray(members)) throw invalid(`types.${name}`, 'a list of {name, type}', members)
  return members.map((item, i) => {
    const member = objectAt(`types.${name}[${i}]`, item)
    if (typeof member.name !== 'string' || typeof member.type !== 'string') {
      throw invalid(`types.${name}[${i}]`, 'name and type as text', item)
    }
    if (member.type.length > MAX_TYPE_LENGTH) {
      throw invalid(
        `types.${name}[${i}].type`,
        `at most ${MAX_TYPE_LENGTH} characters`,
        member.type,
      )
    }
    return { name: member.name, type: member.type }
  })
}

/** `Mail(Person from,Person to)Person(string name)`: the type, then all types it uses, by name. */
function encodeType(types: TypedData['types'], name: string): string {
  const found = new Set<string>()
  const waiting = [name]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (found.has(next)) continue
    found.add(next)
    for (const member of types.get(next) ?? []) {
      const base = member.type.replace(/(\[\d*\])+$/, '')
      if (types.has(base)) waiting.push(base)
    }
  }
  found.delete(name)
  return [name, ...[...found].sort()]
    .map((each) => {
      const members = (types.get(each) ?? []).map((member) => `${member.type} ${member.name}`)
      return `${each}(${members.join(',')})`
    })
    .join('')
}

function typeHash({ types, typeHashes }: Encoding, name: string): Uint8Array {
  return getOrMake(typeHashes, name, () =>
    keccak256(new TextEncoder().encode(encodeType(types, name))),
  )
}

function hashStruct(
  encoding: Encoding,
  name: string,
  value: unknown,
  path: string,
  depth: number,
): Uint8Array {
  if (depth > MAX_DEPTH) throw invalid(path, `at most ${MAX_DEPTH} structs within each other`, name)
  const struct = objectAt(path, value)
  const parts = (encoding.types.get(name) ?? []).map((member) =>
    encodeValue(encoding, member.type, struct[member.name], `${path}.${member.name}`, depth + 1),
  )
  return keccak256(concatBytes(typeHash(encoding, name), ...parts))
}

function encodeValue(
  encoding: Encoding,
  type: string,
  value: unknown,
  path: string,
  depth: number,
): Uint8Array {
  const array = /^(.*)\[(\d*)\]$/.exec(type)
  if (array !== null) return hashArray(encoding, array[1] ?? '', array[2] ?? '', value, path, depth)
  if (encoding.types.has(type)) {
    // a missing struct is 32 zero bytes, which ends recursive types
    if (value === null || value === undefined) return new Uint8Array(32)
    return hashStruct(encoding, type, value, path, depth)
  }
  return encodeAtom(type, value, path)
}

function hashArray(
  encoding: Encoding,
  itemType: string,
  length: string,
  value: unknown,
  path: string,
  depth: number,
): Uint8Array {
  if (depth > MAX_DEPTH) throw invalid(path, `at most ${MAX_DEPTH} levels`, itemType)
  if (!Array.isArray(value)) throw invalid(path, `a list of ${itemType}`, value)
  if (length !== '' && value.length !== Number(length)) {
    throw invalid(path, `${length} items`, value)
  }
  // concatBytes would pass a long list as arguments and overflow the stack
  const words = new Uint8Array(32 * value.length)
  value.forEach((item, i) => {
    words.set(encodeValue(encoding, itemType, item, `${path}[${i}]`, depth + 1), 32 * i)
  })
  return keccak256(words)
}

function encodeAtom(type: string, value: unknown, path: string): Uint8Array {
  if (type === 'string') {
    if (typeof value !== 'string') throw invalid(path, 'text', value)
    return keccak256(new TextEncoder().encode(value))
  }
  if (type === 'bool') {
    if (typeof value !== 'boolean') throw invalid(path, 'true or false', value)
    return paddedBytes(value ? 1n : 0n, 32)
  }
  if (type === 'address') {
    if (typeof value !== 'string') throw invalid(path, 'a 20-byte address', value)
    return within(path, () => paddedBytes(BigInt(parseAddress(value)), 32))
  }
  if (type === 'bytes') return keccak256(bytesAt(value, path))
  const fixed = /^bytes([1-9]|[12]\d|3[0-2])$/.exec(type)
  if (fixed !== null) return encodeFixedBytes(Number(fixed[1]), value, path)
  const integer = /^(u?)int(\d*)$/.exec(type)
  if (integer !== null) return encodeInteger(type, integer[1] === 'u', integer[2], value, path)
  throw invalid(path, 'a type of Solidity or one of `types`', type)
}

function encodeFixedBytes(size: number, value: unknown, path: string): Uint8Array {
  const bytes = bytesAt(value, path)
  if (bytes.length !== size) throw invalid(path, `${size} bytes`, value)
  return concatBytes(bytes, new Uint8Array(32 - size))
}

function encodeInteger(
  type: string,
  unsigned: boolean,
  digits: string | undefined,
  value: unknown,
  path: string,
): Uint8Array {
  const bits = digits === '' ? 256 : Number(digits)
  if (bits === 0 || bits > 256 || bits % 8 !== 0) {
    throw invalid(path, 'an integer type of 8 to 256 bits, in steps of 8', type)
  }
  const number = integerAt(value, path, type)
  const low = unsigned ? 0n : -(1n << BigInt(bits - 1))
  const high = unsigned ? (1n << BigInt(bits)) - 1n : (1n << BigInt(bits - 1)) - 1n
  if (number < low || number > high) throw invalid(path, `an integer that fits ${type}`, value)
  return paddedBytes(number, 32)
}

function integerAt(value: unknown, path: string, type: string): bigint {
  if (typeof value === 'bigint') return value
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value)
  // 80 characters hold every 256-bit integer
  if (typeof value === 'string' && value.length <= 80 && /^(-?\d+|0x[\da-fA-F]+)$/.test(value)) {
    return BigInt(value)
  }
  throw invalid(path, `an integer for ${type}: decimal or 0x text, or a safe number`, value)
}

function bytesAt(value: unknown, path: string): Uint8Array {
  if (typeof value !== 'string') throw invalid(path, '0x-prefixed bytes', value)
  return within(path, () => parseBytes(value))
}
