// Blocks of another network as headers of ours: what of them the chain itself needs. Their JSON is passed on untouched.
import {
  type Address,
  bytesFromHex,
  type Hash,
  paddedBytes,
  parseAddress,
  parseBytes,
  parseHash,
  ZERO_ADDRESS,
  ZERO_HASH,
} from '../../core/hex.ts'
import type { BlockRecord } from '../../node/ledger/blockrecord.ts'
import type { Header } from '../../protocol/blocks/block.ts'
import type { Json } from '../../rpc/schema.ts'
import type { World } from '../../state/world.ts'
import { NoAnswer } from '../client/provider.ts'

/** The header of a block, its hash, and what some networks add. */
export interface RemoteBlock {
  readonly header: Header
  readonly hash: Hash
  readonly totalDifficulty: bigint
  /** The block of the network below that contracts see as the number: Arbitrum. */
  readonly parentNumber: bigint | undefined
  /** True: a batch of it is told of, as nodes of ZKsync do. */
  readonly isOfZksync: boolean
  /** True: it has what no hardfork that is known here has, the hash of an access list (EIP-7928). */
  readonly isNewer: boolean
}

type Members = Readonly<Record<string, Json | undefined>>

/**
 * Reads a block as nodes answer it. Members that a network does not have are as though nothing was in them.
 * @throws {DevchainError} `UPSTREAM_FAILED` for what is no block
 */
export function readBlock(json: Json): RemoteBlock {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw noBlock(json)
  const block = json as Members
  try {
    return {
      header: headerOf(block),
      hash: parseHash(String(block.hash)),
      totalDifficulty: integer(block.totalDifficulty ?? block.difficulty),
      parentNumber: optional(block.l1BlockNumber, integer),
      isOfZksync: block.l1BatchNumber !== undefined,
      isNewer: typeof block.blockAccessListHash === 'string',
    }
  } catch (error) {
    throw noBlock(json, error)
  }
}

function headerOf(block: Members): Header {
  return {
    parentHash: parseHash(String(block.parentHash)),
    sha3Uncles: hashOr(block.sha3Uncles),
    miner: minerOf(block),
    stateRoot: hashOr(block.stateRoot),
    transactionsRoot: hashOr(block.transactionsRoot),
    receiptsRoot: hashOr(block.receiptsRoot),
    logsBloom: bloomOf(block.logsBloom),
    difficulty: integer(block.difficulty),
    number: integer(String(block.number)),
    gasLimit: integer(block.gasLimit),
    gasUsed: integer(block.gasUsed),
    timestamp: integer(String(block.timestamp)),
    extraData: parseBytes(String(block.extraData ?? '0x')),
    mixHash: hashOr(block.mixHash ?? block.prevRandao),
    nonce: paddedBytes(integer(block.nonce), 8),
    baseFeePerGas: optional(block.baseFeePerGas, integer),
    withdrawalsRoot: optional(block.withdrawalsRoot, hashOr),
    blobGasUsed: optional(block.blobGasUsed, integer),
    excessBlobGas: optional(block.excessBlobGas, integer),
    parentBeaconBlockRoot: optional(block.parentBeaconBlockRoot, hashOr),
    requestsHash: optional(block.requestsHash, hashOr),
  }
}

/** The record of a block whose transactions nobody here has run: they are the network's to tell of. */
export function recordOf(
  { header, hash, totalDifficulty }: Pick<RemoteBlock, 'header' | 'hash' | 'totalDifficulty'>,
  size: number,
  worldOf: () => World,
): BlockRecord {
  const block = { header, hash, transactions: [], uncles: [], withdrawals: [], size }
  let world: World | undefined
  return {
    block,
    executed: [],
    get world() {
      world ??= worldOf()
      return world
    },
    totalDifficulty,
  }
}

function optional<T>(value: Json | undefined, read: (value: Json) => T): T | undefined {
  return value === undefined || value === null ? undefined : read(value)
}

function integer(value: Json | undefined): bigint {
  if (value === undefined || value === null || value === '0x') return 0n
  return BigInt(String(value))
}

function hashOr(value: Json | undefined): Hash {
  return value === undefined || value === null ? ZERO_HASH : parseHash(String(value))
}

function minerOf({ miner, author }: Members): Address {
  const found = miner ?? author
  return found === undefined || found === null ? ZERO_ADDRESS : parseAddress(String(found))
}

/** Bytes of a bloom. */
const BLOOM = 256

function bloomOf(value: Json | undefined): Uint8Array {
  const bytes = bytesFromHex(String(value ?? '0x'))
  return bytes.length === BLOOM ? bytes : new Uint8Array(BLOOM)
}

function noBlock(json: Json, cause?: unknown): NoAnswer {
  const why = cause instanceof Error ? ` (${cause.message})` : ''
  const got = JSON.stringify(json)?.slice(0, 100)
  return new NoAnswer(`the forked network answered no block${why}: ${got}`)
}
