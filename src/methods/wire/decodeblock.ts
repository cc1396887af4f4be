// Decodes block parameters: number, tag, hash, or an object with one of them (EIP-1898).
import { type Hash, parseHash } from '../../core/hex.ts'
import { type BlockReference, latest } from '../../node/ledger/references.ts'
import { optional, type Param, param } from '../../rpc/method.ts'
import { boolean, hash } from '../../rpc/primitives.ts'
import {
  type Decoder,
  invalid,
  type Notes,
  remarkMisspelling,
  type Schema,
} from '../../rpc/schema.ts'

const TAGS = ['latest', 'earliest', 'pending', 'safe', 'finalized'] as const

const EXPECTED =
  'a block: a number (0x hex or decimal), latest, earliest, pending, safe, finalized, a 32-byte hash, ' +
  'or {blockNumber} or {blockHash, requireCanonical}'

type HashReference = Extract<BlockReference, { readonly kind: 'hash' }>

/** On any branch. */
export function byHash(hash: Hash): HashReference {
  return { kind: 'hash', hash, requireCanonical: false }
}

export function isPending(reference: BlockReference): boolean {
  return reference.kind === 'tag' && reference.tag === 'pending'
}

/** The hash of a block on any branch. Forks encode it for the network. */
export const blockHash: Schema<HashReference> = {
  name: hash.name,
  names: 'block',
  json: hash.json,
  example: hash.example!,
  decode: (value, path) => byHash(hash.decode(value, path)),
  encode: (reference) => reference.hash,
}

/** A block parameter: QUANTITY, TAG, hash or MAP (spec 2.1). */
export const blockReference: Decoder<BlockReference> = {
  name: 'block',
  names: 'block',
  example: 'latest',
  json: {
    title: 'block',
    oneOf: [
      { type: 'string', description: 'in any letter case', enum: TAGS },
      { type: 'string', pattern: '^(0x[0-9a-fA-F]{1,64}|[0-9]{1,78})$' },
      { type: 'integer', minimum: 0 },
      {
        type: 'object',
        properties: {
          blockHash: { type: 'string', pattern: '^0x[0-9a-fA-F]{64}$' },
          blockNumber: { type: ['string', 'integer'] },
          requireCanonical: { type: ['boolean', 'string'] },
        },
      },
    ],
  },
  decode: (value, path, notes) => {
    if (typeof value === 'object' && value !== null) return fromMap(value, path, notes)
    if (typeof value === 'string' && /^0x[0-9a-fA-F]{64}$/.test(value)) {
      return { kind: 'hash', hash: parseHash(value), requireCanonical: false }
    }
    return fromScalar(value, path)
  },
}

export const block: Param<BlockReference> = param('block', blockReference)

export const blockOrLatest: Param<BlockReference> = optional('block', blockReference, latest)

function fromScalar(value: unknown, path: string): BlockReference {
  const tag = tagOf(value)
  if (tag !== undefined) return { kind: 'tag', tag }
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) {
    return { kind: 'number', number: BigInt(value) }
  }
  if (typeof value === 'string' && /^(0x[0-9a-fA-F]{1,63}|[0-9]{1,78})$/.test(value)) {
    return { kind: 'number', number: BigInt(value) }
  }
  throw invalid(path, EXPECTED, value)
}

/** In any letter case, as the reference node accepts. */
function tagOf(value: unknown): (typeof TAGS)[number] | undefined {
  if (typeof value !== 'string') return undefined
  // nearly all are in lower case; longer text is no tag
  const word = TAGS.find((each) => each === value)
  if (word !== undefined || value.length > 9) return word
  const lower = value.toLowerCase()
  return TAGS.find((each) => each === lower)
}

function fromMap(map: object, path: string, notes: Notes | undefined): BlockReference {
  const known = ['blockHash', 'blockNumber', 'requireCanonical']
  for (const key of Object.keys(map)) {
    if (!known.includes(key)) remarkMisspelling(notes, path, key, known)
  }
  const { blockHash, blockNumber, requireCanonical } = map as Record<string, unknown>
  const hasHash = blockHash !== undefined && blockHash !== null
  const hasNumber = blockNumber !== undefined && blockNumber !== null
  if (hasHash === hasNumber) throw invalid(path, 'either blockHash or blockNumber', map)
  const isCanonical = boolean.decode(requireCanonical ?? false, `${path}.requireCanonical`)
  if (hasNumber) return fromScalar(blockNumber, `${path}.blockNumber`)
  if (typeof blockHash !== 'string' || !/^0x[0-9a-fA-F]{64}$/.test(blockHash)) {
    throw invalid(`${path}.blockHash`, 'a 32-byte hash', blockHash)
  }
  return { kind: 'hash', hash: parseHash(blockHash), requireCanonical: isCanonical }
}
