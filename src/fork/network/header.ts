// Converts blocks of another network to headers; their JSON is passed on unchanged.
import {
  type Hash,
  paddedBytes,
  parseAddress,
  parseBytes,
  parseHash,
  ZERO_ADDRESS,
  ZERO_HASH,
} from '../../core/hex.ts'
import type { BlockRecord, ExecutedTransaction } from '../../node/ledger/blockrecord.ts'
import { type Header, type HeaderName, headerFrom } from '../../protocol/blocks/header.ts'
import type { FieldKind, FieldValues } from '../../protocol/fields.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import type { Json } from '../../rpc/schema.ts'
import type { World } from '../../state/world.ts'
import { NoAnswer } from '../client/provider.ts'
import { isObject, type JsonObject } from './answers.ts'

export interface RemoteBlock {
  readonly header: Header
  readonly hash: Hash
  readonly totalDifficulty: bigint
  /** The L1 block that contracts see as NUMBER: Arbitrum. */
  readonly parentNumber: bigint | undefined
  /** True: the block names its batch, as nodes of ZKsync do. */
  readonly isOfZksync: boolean
}

/**
 * Members that a network lacks get empty values.
 * @throws {DevchainError} `UPSTREAM_FAILED` for what is no block
 */
export function readBlock(json: Json): RemoteBlock {
  if (!isObject(json)) throw noBlock(json)
  try {
    return {
      header: headerOf(json),
      hash: parseHash(String(json.hash)),
      totalDifficulty: integer(json.totalDifficulty ?? json.difficulty),
      parentNumber: isNone(json.l1BlockNumber) ? undefined : integer(json.l1BlockNumber),
      isOfZksync: json.l1BatchNumber !== undefined,
    }
  } catch (error) {
    throw noBlock(json, error)
  }
}

const SYNONYMS: Readonly<Partial<Record<HeaderName, string>>> = {
  miner: 'author',
  mixHash: 'prevRandao',
}

const NEEDED: readonly HeaderName[] = ['parentHash', 'number', 'timestamp']

function headerOf(block: JsonObject): Header {
  return headerFrom((name, { kind, size, since }) => {
    const value = block[name] ?? block[SYNONYMS[name] ?? name]
    if (isNone(value) && since !== undefined) return undefined
    if (isNone(value) && NEEDED.includes(name)) throw new Error(`it has no ${name}`)
    return READERS[kind](value, size)
  })
}

type Value = Json | undefined

const READERS: {
  readonly [Kind in FieldKind]: (value: Value, size?: number) => FieldValues[Kind]
} = {
  hash: (value) => (isNone(value) ? ZERO_HASH : parseHash(String(value))),
  address: (value) => (isNone(value) ? ZERO_ADDRESS : parseAddress(String(value))),
  integer,
  bytes: (value, size) =>
    size === undefined ? parseBytes(String(value ?? '0x')) : sizedBytes(value, size),
}

function integer(value: Value): bigint {
  return isNone(value) || value === '0x' ? 0n : BigInt(String(value))
}

/** Some networks write fewer digits; what is too long counts as empty. */
function sizedBytes(value: Value, size: number): Uint8Array {
  const number = integer(value)
  return number >> BigInt(8 * size) === 0n ? paddedBytes(number, size) : new Uint8Array(size)
}

function isNone(value: Value): value is null | undefined {
  return value === undefined || value === null
}

export interface BlockBody {
  readonly transactions: readonly Transaction[]
  readonly executed: readonly ExecutedTransaction[]
}

const NO_BODY: BlockBody = { transactions: [], executed: [] }

/** @param body is read lazily, as most readers need only the header */
export function recordOf(
  { header, hash, totalDifficulty }: Pick<RemoteBlock, 'header' | 'hash' | 'totalDifficulty'>,
  worldOf: () => World,
  body?: () => BlockBody,
): BlockRecord {
  const block = { header, hash, uncles: [], withdrawals: [], size: 0 }
  const bodyOf = body ?? (() => NO_BODY)
  let world: World | undefined
  return {
    block: {
      ...block,
      get transactions() {
        return bodyOf().transactions
      },
    },
    get executed() {
      return bodyOf().executed
    },
    get world() {
      world ??= worldOf()
      return world
    },
    isLoaded: body !== undefined,
    totalDifficulty,
  }
}

function noBlock(json: Json, cause?: unknown): NoAnswer {
  const why = cause instanceof Error ? ` (${cause.message})` : ''
  const got = JSON.stringify(json)?.slice(0, 100)
  return new NoAnswer(`the forked network answered no block${why}: ${got}`)
}
