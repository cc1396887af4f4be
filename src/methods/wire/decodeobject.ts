// Objects that requests carry: transactions, overrides, filters.
import { DevchainError, printValue } from '../../core/errors.ts'
import { equalBytes, type Hash, wordFromBigint } from '../../core/hex.ts'
import type { AccountOverride, BlockOverrides, StateOverrides } from '../../node/calls/overrides.ts'
import type { BlobRequest, TransactionRequest } from '../../node/calls/request.ts'
import type { LogQuery, TopicFilter } from '../../node/events/logs.ts'
import { blobHash, CELLS } from '../../protocol/sidecar.ts'
import type { AccessListEntry, Authorization, TransactionType } from '../../protocol/transaction.ts'
import { address, data, hash, list, quantity } from '../../rpc/primitives.ts'
import { type Decoder, type Notes, remark, remarkMisspelling } from '../../rpc/schema.ts'
import { blockReference } from './decodeblock.ts'

/** What the members of an object decode to; any may be left out, or be null. */
type Decoded<M extends Readonly<Record<string, Decoder<unknown>>>> = {
  readonly [K in keyof M]?: M[K] extends Decoder<infer T> ? T | undefined : never
}

/**
 * An object of optional members. Others are ignored, as clients send much along; one that is probably a known member
 * misspelt is remarked upon. `ignored` are those that are not, though they look like one.
 */
export function members<M extends Readonly<Record<string, Decoder<unknown>>>>(
  name: string,
  known: M,
  ignored: readonly string[] = [],
): Decoder<Decoded<M>> {
  const decoders = new Map(Object.entries(known))
  const properties = [...decoders].map(([key, { json }]) => [key, json])
  return {
    name,
    json: { title: name, type: 'object', properties: Object.fromEntries(properties) },
    decode: (value, path, notes) => {
      const decoded: Record<string, unknown> = {}
      for (const [key, part] of entriesOf(value, path, name)) {
        const member = decoders.get(key)
        if (member === undefined) {
          if (notes !== undefined && !ignored.includes(key)) {
            remarkMisspelling(notes, path, key, [...decoders.keys()])
          }
        } else if (part !== null && part !== undefined) {
          decoded[key] = member.decode(part, `${path}.${key}`, notes)
        }
      }
      return decoded as Decoded<M>
    },
  }
}

const accessListEntry: Decoder<AccessListEntry> = refined(
  members('access list entry', { address, storageKeys: list(hash) }),
  (entry, path) => ({
    address: required(entry.address, `${path}.address`, 'a 20-byte address'),
    storageKeys: entry.storageKeys ?? [],
  }),
)

const authorization: Decoder<Authorization> = refined(
  members('authorization', {
    chainId: quantity,
    address,
    nonce: quantity,
    yParity: quantity,
    v: quantity,
    r: quantity,
    s: quantity,
  }),
  (given, path) => ({
    chainId: required(given.chainId, `${path}.chainId`, 'a chain id'),
    address: required(given.address, `${path}.address`, 'a 20-byte address'),
    nonce: required(given.nonce, `${path}.nonce`, 'a nonce'),
    yParity: parityOf(given.yParity, given.v, path),
    r: required(given.r, `${path}.r`, 'an integer'),
    s: required(given.s, `${path}.s`, 'an integer'),
  }),
)

/** What a request says of blobs, in geth's names; proofs of cells have one of their own in alloy's requests. */
const blobMembers = {
  maxFeePerBlobGas: quantity,
  blobVersionedHashes: list(hash),
  blobs: list(data),
  commitments: list(data),
  proofs: list(data),
  cellProofs: list(data),
}

type GivenBlobs = Decoded<typeof blobMembers>

/** Members of a transaction as nodes answer it, which callers send back; they say nothing about a new one. */
const ANSWERED = ['hash', 'blockHash', 'blockNumber', 'transactionIndex', 'v', 'r', 's', 'yParity']

/** The object of `eth_sendTransaction`, `eth_call` and their like (spec 4.5). */
export const transactionRequest: Decoder<TransactionRequest> = refined(
  members(
    'transaction',
    {
      from: address,
      to: address,
      gas: quantity,
      gasLimit: quantity,
      gasPrice: quantity,
      maxFeePerGas: quantity,
      maxPriorityFeePerGas: quantity,
      value: quantity,
      data,
      input: data,
      nonce: quantity,
      chainId: quantity,
      type: quantity,
      accessList: list(accessListEntry),
      authorizationList: list(authorization),
      ...blobMembers,
    },
    // web3.js describes the network besides
    [...ANSWERED, 'networkId', 'chain', 'hardfork', 'common'],
  ),
  // all members, written out: rest and spread took 2 µs of a call that takes 12, and the readers find one shape
  (given, path, notes) => {
    const type = given.type === undefined ? undefined : heededType(given.type, given, path, notes)
    return {
      from: given.from,
      to: given.to,
      gas: same(given.gas, given.gasLimit, isEqual, `${path}: gas and gasLimit`),
      gasPrice: given.gasPrice,
      maxFeePerGas: given.maxFeePerGas,
      maxPriorityFeePerGas: given.maxPriorityFeePerGas,
      value: given.value,
      data: same(given.data, given.input, equalBytes, `${path}: data and input`),
      nonce: given.nonce,
      // 0 is how some clients say: whichever it is
      chainId: given.chainId === 0n ? undefined : given.chainId,
      type,
      accessList: given.accessList,
      authorizationList: given.authorizationList,
      blobs: type === 3 || isOfBlobs(given) ? blobRequest(given, path) : undefined,
    }
  },
)

/** A storage slot or its value: QUANTITY or 32 bytes, both as an integer. */
const word: Decoder<bigint> = { ...quantity, name: 'storage word' }

const slots: Decoder<ReadonlyMap<bigint, bigint>> = refined(
  keyed('storage slots', word),
  (values, path) =>
    new Map([...values].map(([key, value]) => [word.decode(key, `${path}.${key}`), value])),
)

const accountOverride: Decoder<AccountOverride> = members('account override', {
  balance: quantity,
  nonce: quantity,
  code: data,
  state: slots,
  stateDiff: slots,
  movePrecompileToAddress: address,
})

/** Accounts as a call shall find them, by address: geth's state override set. */
export const stateOverrides: Decoder<StateOverrides> = refined(
  keyed('state overrides', accountOverride),
  (accounts, path) =>
    new Map([...accounts].map(([key, value]) => [address.decode(key, `${path}.${key}`), value])),
)

const blockHashes: Decoder<ReadonlyMap<bigint, Hash>> = refined(
  keyed('block hashes', hash),
  (hashes, path) =>
    new Map([...hashes].map(([key, value]) => [quantity.decode(key, `${path}.${key}`), value])),
)

/** 32 bytes; some clients write them as a number. */
const randomness: Decoder<Hash> = refined(quantity, wordFromBigint)

/** No chain here has withdrawals: an empty list says so, and changes nothing. */
const noWithdrawals: Decoder<null> = {
  name: 'withdrawals',
  json: { type: 'array', maxItems: 0 },
  decode: (value, path) => {
    if (Array.isArray(value) && value.length === 0) return null
    throw invalid(path, 'an empty list, as this chain has no withdrawals', value)
  },
}

/** The block as a call shall find it: geth's block overrides, in its names of today and of before. */
export const blockOverrides: Decoder<BlockOverrides> = refined(
  members('block overrides', {
    number: quantity,
    time: quantity,
    timestamp: quantity,
    gasLimit: quantity,
    feeRecipient: address,
    coinbase: address,
    prevRandao: randomness,
    random: randomness,
    baseFeePerGas: quantity,
    baseFee: quantity,
    blobBaseFee: quantity,
    difficulty: quantity,
    beaconRoot: hash,
    withdrawals: noWithdrawals,
    blockHash: blockHashes,
  }),
  (given) => ({
    number: given.number,
    timestamp: given.time ?? given.timestamp,
    gasLimit: given.gasLimit,
    coinbase: given.feeRecipient ?? given.coinbase,
    prevRandao: given.prevRandao ?? given.random,
    baseFee: given.baseFeePerGas ?? given.baseFee,
    blobBaseFee: given.blobBaseFee,
    difficulty: given.difficulty,
    beaconRoot: given.beaconRoot,
    blockHash: given.blockHash,
  }),
)

/** One value, or a list of them. */
export function oneOrMore<T>(one: Decoder<T>): Decoder<readonly T[]> {
  const many = list(one)
  return {
    name: `${one.name} or list`,
    json: { anyOf: [one.json, many.json] },
    decode: (value, path, notes) =>
      Array.isArray(value) ? many.decode(value, path, notes) : [one.decode(value, path, notes)],
  }
}

/** A position of `topics`: null for anything, a topic, or a list of alternatives; null among those means anything, too. */
const topicFilter: Decoder<TopicFilter> = {
  name: 'topic',
  json: {
    anyOf: [
      { type: 'null' },
      hash.json,
      { type: 'array', items: { anyOf: [hash.json, { type: 'null' }] } },
    ],
  },
  decode: (value, path) => {
    if (value === null) return null
    if (!Array.isArray(value)) return [hash.decode(value, path)]
    const alternatives = value.map((each, i) =>
      each === null ? null : hash.decode(each, `${path}[${i}]`),
    )
    return alternatives.some((each) => each === null) ? null : (alternatives as Hash[])
  },
}

const topics: Decoder<readonly TopicFilter[]> = {
  name: 'topics',
  json: { anyOf: [hash.json, { type: 'array', items: topicFilter.json, maxItems: 4 }] },
  decode: (value, path) => {
    if (typeof value === 'string') return [topicFilter.decode(value, path)]
    if (!Array.isArray(value) || value.length > 4) {
      throw invalid(path, 'a list of at most 4 topics', value)
    }
    return value.map((each, i) => topicFilter.decode(each, `${path}[${i}]`))
  },
}

/** Which logs are wanted (spec 2.6). */
export const logQuery: Decoder<LogQuery> = refined(
  members('filter', {
    fromBlock: blockReference,
    toBlock: blockReference,
    blockHash: hash,
    blockhash: hash,
    address: oneOrMore(address),
    topics,
  }),
  (given, path) => ({
    from: given.fromBlock,
    to: given.toBlock,
    blockHash: same(
      given.blockHash,
      given.blockhash,
      (a, b) => a === b,
      `${path}: blockHash and blockhash`,
    ),
    addresses: given.address ?? [],
    topics: given.topics ?? [],
  }),
)

/** Decodes, then makes something else of it. */
export function refined<T, V>(
  decoder: Decoder<T>,
  refine: (value: T, path: string, notes?: Notes) => V,
): Decoder<V> {
  return {
    name: decoder.name,
    json: decoder.json,
    decode: (value, path, notes) => refine(decoder.decode(value, path, notes), path, notes),
  }
}

/** An object whose keys are data, as a map; no more than the request's own size bounds it. */
export function keyed<T>(name: string, member: Decoder<T>): Decoder<ReadonlyMap<string, T>> {
  return {
    name,
    json: { title: name, type: 'object', additionalProperties: member.json },
    decode: (value, path, notes) =>
      new Map(
        entriesOf(value, path, name).map(([key, part]) => [
          key,
          member.decode(part, `${path}.${key}`, notes),
        ]),
      ),
  }
}

function entriesOf(value: unknown, path: string, name: string): readonly [string, unknown][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(path, `an object (${name})`, value)
  }
  return Object.entries(value)
}

function isEqual(a: bigint, b: bigint): boolean {
  return a === b
}

/** Two names of one member: given both ways, they must agree. */
function same<T>(
  one: T | undefined,
  other: T | undefined,
  equal: (a: T, b: T) => boolean,
  names: string,
): T | undefined {
  if (one !== undefined && other !== undefined && !equal(one, other)) {
    throw new DevchainError(
      'INVALID_PARAMS',
      `${names} differ: expected one of them, or both equal`,
    )
  }
  return one ?? other
}

export function required<T>(value: T | undefined, path: string, expected: string): T {
  if (value === undefined) throw invalid(path, expected, undefined)
  return value
}

/** 0 or 1, or `v` of old signatures: 27 or 28. */
function parityOf(yParity: bigint | undefined, v: bigint | undefined, path: string): 0 | 1 {
  const value = yParity ?? v
  if (value === 0n || value === 27n) return 0
  if (value === 1n || value === 28n) return 1
  throw invalid(`${path}.yParity`, '0 or 1', value)
}

/** What of a transaction decides which types it may have. */
type Typed = GivenBlobs &
  Pick<
    TransactionRequest,
    'gasPrice' | 'maxFeePerGas' | 'maxPriorityFeePerGas' | 'accessList' | 'authorizationList'
  >

/** The type that is asked for, unless the other members say otherwise: geth, anvil and hardhat look at those alone. */
function heededType(
  type: bigint,
  given: Typed,
  path: string,
  notes: Notes | undefined,
): TransactionType | undefined {
  const types = typesOf(given)
  const heeded = types.find((each) => BigInt(each) === type)
  if (heeded === undefined && notes !== undefined) {
    const made = `the other members make it one of type ${types.join(', ')}`
    remark(notes, `${path}.type: ${type} is ignored; ${made}`)
  }
  return heeded
}

/** The types that can have all that is given. One for blobs or authorizations, of which none are given, is refused later. */
function typesOf(given: Typed): readonly TransactionType[] {
  const { gasPrice, maxFeePerGas, maxPriorityFeePerGas, accessList = [] } = given
  if (given.authorizationList !== undefined) return [4]
  if (isOfBlobs(given)) return [3]
  if (maxFeePerGas !== undefined || maxPriorityFeePerGas !== undefined) return [2, 3, 4]
  const listed: readonly TransactionType[] = accessList.length > 0 ? [1] : [0, 1]
  return gasPrice === undefined ? [...listed, 2, 3, 4] : listed
}

function isOfBlobs(given: GivenBlobs): boolean {
  return (
    given.blobVersionedHashes !== undefined ||
    given.blobs !== undefined ||
    given.commitments !== undefined ||
    given.proofs !== undefined ||
    given.cellProofs !== undefined ||
    given.maxFeePerBlobGas !== undefined
  )
}

/** Hashes that are not given follow from the commitments. Blobs without commitments or proofs are of no use. */
function blobRequest(given: GivenBlobs, path: string): BlobRequest {
  const { maxFeePerBlobGas, blobVersionedHashes, blobs, commitments } = given
  const proofs = same(given.proofs, given.cellProofs, () => false, `${path}: proofs and cellProofs`)
  if (blobs !== undefined && blobVersionedHashes === undefined && commitments === undefined) {
    const expected = 'the commitments of the blobs, which this node does not compute'
    throw invalid(`${path}.commitments`, expected, undefined)
  }
  const versionedHashes = blobVersionedHashes ?? commitments?.map(blobHash)
  if (blobs === undefined || commitments === undefined || proofs === undefined) {
    return { versionedHashes, maxFeePerBlobGas }
  }
  // geth, too, tells the versions by the number of proofs
  const version = blobs.length > 0 && proofs.length === blobs.length * CELLS ? 1 : 0
  return { versionedHashes, maxFeePerBlobGas, sidecar: { version, blobs, commitments, proofs } }
}

function invalid(path: string, expected: string, value: unknown): DevchainError {
  return new DevchainError(
    'INVALID_PARAMS',
    `${path}: expected ${expected}, got ${printValue(value)}`,
  )
}
