// Merged mining: the parent chain's blocks (Bitcoin's format), and proofs that one was mined for a local block.
import { createHash } from 'node:crypto'
import { DevchainError, invalidParams } from '../../core/errors.ts'
import {
  bigintFromBytes,
  concatBytes,
  equalBytes,
  type Hash,
  hashFromBytes,
  hexFromBytes,
} from '../../core/hex.ts'

export interface ParentBlock {
  /** 80 bytes. */
  readonly header: Uint8Array
  /** The first transaction without its witness: its id is the hash of this. */
  readonly coinbase: Uint8Array
  /** Transaction ids in order, the coinbase's first; 32 bytes each, in hash order. */
  readonly ids: readonly Uint8Array[]
}

/** The Merkle branch of the coinbase, from the bottom up. */
export interface ParentProof {
  /** 80 bytes. */
  readonly header: Uint8Array
  readonly coinbase: Uint8Array
  readonly siblings: readonly Uint8Array[]
}

const HEADER_SIZE = 80

const ROOT_START = 36
const ROOT_END = 68

const NONCE_START = 76

const HASH_SIZE = 32

/** Bytes of an inner node of the tree; a longer coinbase cannot be taken for one. */
const NODE_SIZE = 64

/** Bytes that may follow tag and hash in the coinbase. */
const MAX_AFTER_HASH = 128

/** Hashes: 2^30 transactions are more than any block holds. */
const MAX_BRANCH = 30

export function doubleSha256(bytes: Uint8Array): Uint8Array {
  const once = createHash('sha256').update(bytes).digest()
  return new Uint8Array(createHash('sha256').update(once).digest())
}

/** The parent chain displays hashes with the last byte first. */
export function displayedHash(bytes: Uint8Array): Hash {
  return hashFromBytes(bytes.toReversed())
}

/** @throws {DevchainError} `INVALID_PARAMS` naming the byte where it is malformed */
export function decodeParentBlock(bytes: Uint8Array): ParentBlock {
  const reader = new Reader(bytes, 'parent block')
  const header = reader.take(HEADER_SIZE, 'the header')
  const count = reader.count('the number of transactions')
  const transactions: Uint8Array[] = []
  for (let i = 0; i < count; i += 1) transactions.push(readTransaction(reader))
  reader.end()
  const [coinbase] = transactions
  if (coinbase !== undefined) return { header, coinbase, ids: transactions.map(doubleSha256) }
  throw invalidParams('parent block: expected a coinbase, got no transactions')
}

/**
 * @returns its bytes without witnesses
 * @throws {DevchainError} `INVALID_PARAMS` naming the byte where it is malformed
 */
export function decodeParentTransaction(bytes: Uint8Array): Uint8Array {
  const reader = new Reader(bytes, 'coinbase')
  const transaction = readTransaction(reader)
  reader.end()
  return transaction
}

/** @throws {DevchainError} `INVALID_PARAMS` unless it has 80 bytes */
export function requireParentHeader(bytes: Uint8Array): Uint8Array {
  if (bytes.length === HEADER_SIZE) return bytes
  throw invalidParams(`parent header: expected ${HEADER_SIZE} bytes, got ${bytes.length}`)
}

/**
 * @param tag ASCII
 * @throws {DevchainError} `WORK_REJECTED` unless tag and hash occur once, near the end of over 64 bytes
 */
export function workInCoinbase(coinbase: Uint8Array, tag: string): Hash {
  const bytes = Buffer.from(coinbase.buffer, coinbase.byteOffset, coinbase.byteLength)
  if (bytes.length <= NODE_SIZE) {
    throw rejected(`the coinbase has ${bytes.length} bytes: expected more than ${NODE_SIZE}`)
  }
  const at = bytes.indexOf(tag, 0, 'latin1')
  if (at === -1) throw rejected(`the coinbase has no tag ${tag}`)
  if (bytes.lastIndexOf(tag, undefined, 'latin1') !== at) {
    throw rejected(`the coinbase has the tag ${tag} more than once`)
  }
  const start = at + tag.length
  const after = bytes.length - start - HASH_SIZE
  if (after < 0) {
    throw rejected(
      `the tag ${tag} comes too late in the coinbase: expected ${HASH_SIZE} bytes after it, got ${HASH_SIZE + after}`,
    )
  }
  if (after > MAX_AFTER_HASH) {
    throw rejected(
      `the tag ${tag} comes too early in the coinbase: expected at most ${MAX_AFTER_HASH} bytes after its hash, got ${after}`,
    )
  }
  return hashFromBytes(bytes.subarray(start, start + HASH_SIZE))
}

/** @throws {DevchainError} `WORK_REJECTED` unless the ids begin with the coinbase's */
export function proofOfBlock({ header, coinbase, ids }: ParentBlock): ParentProof {
  requireFirst(coinbase, ids)
  return { header, coinbase, siblings: siblingsOfFirst(ids) }
}

/**
 * @param branch the coinbase's id, then its siblings from the bottom up
 * @throws {DevchainError} `WORK_REJECTED` unless the branch begins with the coinbase's id
 */
export function proofOfBranch(
  header: Uint8Array,
  coinbase: Uint8Array,
  branch: readonly Uint8Array[],
): ParentProof {
  requireFirst(coinbase, branch)
  return { header, coinbase, siblings: branch.slice(1) }
}

/**
 * @param given in display order
 * @throws {DevchainError} `WORK_REJECTED` if the header has another hash
 */
export function requireParentHash(header: Uint8Array, given: Hash): Uint8Array {
  const hash = displayedHash(doubleSha256(header))
  if (given === hash) return header
  throw rejected(`the block hash given is ${given}: that of the header is ${hash}`)
}

/** @throws {DevchainError} `WORK_REJECTED` unless `length` fits a tree of `count` transactions */
export function requireBranchLength(length: number, count: bigint): void {
  const expected = count === 0n ? 0 : 1 + (count - 1n).toString(2).replace(/^0$/, '').length
  if (length === expected) return
  const what = expected === 1 ? '1 hash' : `${expected} hashes`
  throw rejected(`a block of ${count} transactions has a branch of ${what}, got ${length}`)
}

/** @throws {DevchainError} `WORK_REJECTED` unless coinbase and siblings hash to the header's root */
export function requireMerkleRoot({ header, coinbase, siblings }: ParentProof): void {
  if (siblings.length > MAX_BRANCH) {
    throw rejected(`the merkle proof has ${siblings.length} hashes: expected at most ${MAX_BRANCH}`)
  }
  // the coinbase comes first, so it is on the left at every level
  const root = siblings.reduce<Uint8Array>(
    (node, sibling) => doubleSha256(concatBytes(node, sibling)),
    doubleSha256(coinbase),
  )
  const expected = header.subarray(ROOT_START, ROOT_END)
  if (equalBytes(root, expected)) return
  throw rejected(
    `the merkle root of the transactions is ${displayedHash(root)}: the header has ${displayedHash(expected)}`,
  )
}

/** @throws {DevchainError} `WORK_REJECTED` if the header's double SHA-256, read little-endian, is above the target */
export function requireWork(header: Uint8Array, target: bigint): void {
  const result = bigintFromBytes(doubleSha256(header).toReversed())
  if (result <= target) return
  throw rejected(
    `the parent header's hash ${displayedHash(doubleSha256(header))} is above the target 0x${target.toString(16).padStart(64, '0')}`,
  )
}

/** As 8 bytes with leading zeros. */
export function parentNonce(header: Uint8Array): Uint8Array {
  return concatBytes(new Uint8Array(4), header.subarray(NONCE_START, HEADER_SIZE).toReversed())
}

/**
 * BIP 34; undefined: none.
 * @see https://github.com/bitcoin/bips/blob/master/bip-0034.mediawiki
 */
export function heightInCoinbase(coinbase: Uint8Array): number | undefined {
  const reader = new Reader(coinbase, 'coinbase')
  reader.take(4, 'the version')
  reader.count('the number of inputs')
  reader.take(36, 'the outpoint')
  const script = reader.take(reader.count('the length of the script'), 'the script')
  const [push] = script
  // OP_0 and OP_1 to OP_16 encode themselves
  if (push === 0) return 0
  if (push !== undefined && push > 0x50 && push <= 0x60) return push - 0x50
  if (push === undefined || push > 6 || script.length <= push) return undefined
  return Number(bigintFromBytes(script.subarray(1, 1 + push).toReversed()))
}

function rejected(reason: string): DevchainError {
  return new DevchainError('WORK_REJECTED', `Invalid block supplied by miner: ${reason}`)
}

function requireFirst(coinbase: Uint8Array, [first]: readonly Uint8Array[]): void {
  const id = doubleSha256(coinbase)
  if (first !== undefined && equalBytes(first, id)) return
  const got = first === undefined ? 'nothing' : displayedHash(first)
  throw rejected(
    `the first transaction id is ${got}: expected ${displayedHash(id)}, the coinbase's`,
  )
}

/** The coinbase's sibling on each level. A level of odd length repeats its last hash. */
function siblingsOfFirst(ids: readonly Uint8Array[]): Uint8Array[] {
  const siblings: Uint8Array[] = []
  let level = ids
  while (level.length > 1) {
    const right = (i: number): Uint8Array => level[i + 1] ?? level[i]!
    siblings.push(right(0))
    level = level.flatMap((left, i) =>
      i % 2 === 0 ? [doubleSha256(concatBytes(left, right(i)))] : [],
    )
  }
  return siblings
}

function readTransaction(reader: Reader): Uint8Array {
  const version = reader.take(4, 'a version')
  // zero inputs and flag 1 announce witnesses (BIP 144)
  const hasWitness = reader.peek(0) === 0 && reader.peek(1) === 1
  if (hasWitness) reader.take(2, 'marker and flag')
  const start = reader.at
  const inputs = reader.count('the number of inputs')
  for (let i = 0; i < inputs; i += 1) {
    reader.take(36, 'an outpoint')
    reader.bytes('an input script')
    reader.take(4, 'a sequence')
  }
  const outputs = reader.count('the number of outputs')
  for (let i = 0; i < outputs; i += 1) {
    reader.take(8, 'a value')
    reader.bytes('an output script')
  }
  const body = reader.since(start)
  for (let i = 0; hasWitness && i < inputs; i += 1) {
    const items = reader.count('the number of witness items')
    for (let item = 0; item < items; item += 1) reader.bytes('a witness item')
  }
  return concatBytes(version, body, reader.take(4, 'a lock time'))
}

class Reader {
  at = 0
  readonly #bytes: Uint8Array
  readonly #name: string

  constructor(bytes: Uint8Array, name: string) {
    this.#bytes = bytes
    this.#name = name
  }

  take(length: number, what: string): Uint8Array {
    const left = this.#bytes.length - this.at
    if (length > left) {
      throw this.#invalid(`expected ${what} of ${length} bytes at byte ${this.at}, got ${left}`)
    }
    this.at += length
    return this.#bytes.subarray(this.at - length, this.at)
  }

  since(start: number): Uint8Array {
    return this.#bytes.subarray(start, this.at)
  }

  peek(ahead: number): number | undefined {
    return this.#bytes[this.at + ahead]
  }

  bytes(what: string): Uint8Array {
    return this.take(this.count(`the length of ${what}`), what)
  }

  /** A variable-length integer of 1, 3, 5 or 9 bytes, in its shortest form. */
  count(what: string): number {
    const [first = 0] = this.take(1, what)
    if (first < 0xfd) return first
    const length = 2 ** (first - 0xfc)
    const value = Number(bigintFromBytes(this.take(length, what).toReversed()))
    const least = { 2: 0xfd, 4: 2 ** 16, 8: 2 ** 32 }[length] ?? 0
    if (value >= least) return value
    throw this.#invalid(`expected ${what} in as few bytes as it needs, got ${value} in ${length}`)
  }

  end(): void {
    if (this.at === this.#bytes.length) return
    const surplus = this.#bytes.subarray(this.at, this.at + 8)
    throw this.#invalid(
      `expected nothing after byte ${this.at}, got ${hexFromBytes(surplus)}${this.#bytes.length - this.at > 8 ? '...' : ''}`,
    )
  }

  #invalid(problem: string): DevchainError {
    return invalidParams(`${this.#name}: ${problem}`)
  }
}
