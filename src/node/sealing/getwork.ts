// Work for miners: blocks without a proof, kept until one arrives.
import { larger } from '../../core/bigints.ts'
import { hashBytes } from '../../core/crypto/crypto.ts'
import { DevchainError, limitExceeded } from '../../core/errors.ts'
import { bigintFromBytes, equalBytes, type Hash } from '../../core/hex.ts'
import { dropOldest } from '../../core/lrucache.ts'
import type { Cancellation } from '../../evm/cancellation.ts'
import { sealBlock } from '../../protocol/blocks/block.ts'
import type { Header } from '../../protocol/blocks/header.ts'
import {
  displayedHash,
  doubleSha256,
  heightInCoinbase,
  type ParentProof,
  parentNonce,
  requireMerkleRoot,
  requireWork,
  workInCoinbase,
} from '../../protocol/work/parentchain.ts'
import { sealHash, seedHash, targetOf } from '../../protocol/work/sealing.ts'
import { stateRoot } from '../../state/world.ts'
import type { Chain } from '../chain/chain.ts'
import { type BlockRecord, tipsOf } from '../ledger/blockrecord.ts'
import { blockByHash, headOf } from '../ledger/blocktree.ts'
import { type ChainState, settingsAfterBlock } from '../ledger/chainstate.ts'
import type { Change } from '../ledger/change.ts'
import { clockAfterBlock } from '../ledger/clock.ts'
import { KeptRecord } from '../ledger/packing/keptrecord.ts'
import { adopt } from '../mining/reorganize.ts'
import { Ethash } from './ethash.ts'

export interface Work {
  readonly sealHash: Hash
  readonly record: BlockRecord
  readonly parent: BlockRecord
}

export interface EthashWork {
  readonly sealHash: Hash
  readonly seedHash: Hash
  /** The highest valid result, as an integer. */
  readonly target: bigint
}

export interface MergedWork {
  readonly sealHash: Hash
  /** The highest valid hash of a parent header, as an integer. */
  readonly target: bigint
  readonly fees: bigint
  /** The miner should drop its earlier work: the parent changed, or fees rose by 10 %. */
  readonly notify: boolean
  readonly parentHash: Hash
}

type Import = 'IMPORTED_BEST' | 'IMPORTED_NOT_BEST' | 'EXIST' | 'NO_PARENT'

export interface Imported {
  readonly result: Import
  readonly hash: Hash
  readonly number: bigint
}

type Seal = Pick<Header, 'mixHash' | 'nonce'>

/** Most works kept; the oldest is dropped first. */
const MAX_WORKS = 64

/** Most miners whose rates are kept; the longest silent is dropped first. */
const MAX_MINERS = 1000

const RATE_MS = 60_000

/** The main network left Ethash at 15,537,393. The cache grows with height: 94 MB here, terabytes at 10^12. */
const LAST_ETHASH_BLOCK = 18_000_000n

/** At difficulties 1 and 2 every header would do; two in three shall not. */
const LEAST_MERGED_DIFFICULTY = 3n

export class GetWork {
  readonly #chain: Chain
  readonly #ethash = new Ethash()
  readonly #works = new Map<Hash, Work>()
  readonly #rates = new Map<string, { readonly rate: bigint; readonly at: number }>()
  #lastWork: { readonly parentHash: Hash; readonly fees: bigint } | undefined

  constructor(chain: Chain) {
    this.#chain = chain
    chain.onClose(() => this.#ethash.close())
  }

  /** @throws {DevchainError} `LIMIT_EXCEEDED` for a block above the Ethash limit */
  async ethashWork(cancellation?: Cancellation): Promise<EthashWork> {
    const { sealHash: hash, record } = await this.#offer(cancellation)
    const { number, difficulty } = record.block.header
    checkEthash(number)
    // the cache is ready when the miner returns
    this.#ethash.prepare(number)
    return { sealHash: hash, seedHash: seedHash(number), target: targetOf(difficulty) }
  }

  /**
   * A proof makes the next block, or a side block when it is late.
   * @returns false for unknown work, a wrong proof, or a block whose parent is gone
   * @throws {DevchainError} `LIMIT_EXCEEDED` as `ethashWork`, and when too many proofs wait
   */
  async submitEthash(nonce: Uint8Array, hash: Hash, mixDigest: Hash): Promise<boolean> {
    const work = this.#works.get(hash)
    if (work === undefined) return false
    const { number, difficulty } = work.record.block.header
    checkEthash(number)
    const outcome = await this.#ethash.run(number, hashBytes(hash), nonce)
    if (!equalBytes(outcome.mixDigest, hashBytes(mixDigest))) return false
    if (bigintFromBytes(outcome.result) > targetOf(difficulty)) return false
    const { result } = await this.#import(work, { mixHash: mixDigest, nonce })
    return result !== 'NO_PARENT'
  }

  async mergedWork(cancellation?: Cancellation): Promise<MergedWork> {
    const { sealHash: hash, record } = await this.#offer(cancellation)
    const { parentHash } = record.block.header
    const fees = tipsOf(record.executed, record.block.header)
    const last = this.#lastWork
    const notify = last?.parentHash !== parentHash || fees * 10n > last.fees * 11n
    if (notify) this.#lastWork = { parentHash, fees }
    return { sealHash: hash, target: mergedTarget(record), fees, notify, parentHash }
  }

  /** Throws `WORK_REJECTED`: the coinbase names no known work or is not in the block, or the hash exceeds the target. */
  async submitMerged(proof: ParentProof): Promise<Imported> {
    const hash = workInCoinbase(proof.coinbase, this.#chain.state.config.options.mergeMiningTag)
    const work = this.#works.get(hash)
    if (work === undefined) {
      const message = `Cannot publish block, could not find hash ${hash} in the cache`
      throw new DevchainError('WORK_REJECTED', message)
    }
    requireMerkleRoot(proof)
    requireWork(proof.header, mergedTarget(work.record))
    const seal = {
      mixHash: displayedHash(doubleSha256(proof.header)),
      nonce: parentNonce(proof.header),
    }
    const height = heightInCoinbase(proof.coinbase) ?? 0
    return this.#import(work, seal, height)
  }

  reportRate(miner: string, rate: bigint): void {
    // moves the miner to the newest end
    this.#rates.delete(miner)
    this.#rates.set(miner, { rate, at: this.#chain.environment.now() })
    dropOldest(this.#rates, MAX_MINERS)
  }

  hashrate(): bigint {
    const since = this.#chain.environment.now() - RATE_MS
    let sum = 0n
    for (const { rate, at } of this.#rates.values()) if (at > since) sum += rate
    return sum
  }

  async #offer(cancellation: Cancellation | undefined): Promise<Work> {
    const parent = headOf(this.#chain.state.tree)
    const record = await this.#chain.pending(cancellation)
    const hash = sealHash(record.block.header)
    const work = this.#works.get(hash) ?? { sealHash: hash, record, parent }
    this.#works.delete(hash)
    this.#works.set(hash, work)
    dropOldest(this.#works, MAX_WORKS)
    return work
  }

  #import(work: Work, seal: Seal, parentHeight = 0): Promise<Imported> {
    const record = withSeal(work.record, seal)
    const { hash, header } = record.block
    return this.#chain.update((state) => {
      const change = imported(state, work, record, this.#chain.environment.now())
      const isSeen = change.value !== 'NO_PARENT' && parentHeight > state.parentChainHeight
      return {
        ...change,
        state: isSeen ? { ...change.state, parentChainHeight: parentHeight } : change.state,
        value: { result: change.value, hash, number: header.number },
      }
    })
  }
}

function imported(
  state: ChainState,
  { parent }: Work,
  record: BlockRecord,
  now: number,
): Change<Import> {
  const { block } = record
  if (blockByHash(state.tree, block.hash) !== undefined) return { state, value: 'EXIST' }
  const known = blockByHash(state.tree, parent.block.hash)
  // the parent's world was edited, so a block on it is another one
  if (known === undefined || stateRoot(known.world) !== stateRoot(parent.world)) {
    return { state, value: 'NO_PARENT' }
  }
  const isNext = headOf(state.tree) === known
  const { state: after, dropped } = adopt(state, [record])
  const value = headOf(after.tree) === record ? 'IMPORTED_BEST' : 'IMPORTED_NOT_BEST'
  if (!isNext) return { state: after, value, dropped }
  const clock = clockAfterBlock(state, block.header.timestamp, now, false)
  return {
    state: { ...after, clock, settings: settingsAfterBlock(after.settings) },
    value,
    dropped,
  }
}

/** Keeps the PREVRANDAO of the block's run beside the proof. */
function withSeal(record: BlockRecord, seal: Seal): BlockRecord {
  const { block, executed, world, totalDifficulty, signers } = record
  const { header, transactions, uncles } = block
  const sealed = sealBlock({ ...header, ...seal }, transactions, uncles)
  const { mixHash: prevRandao } = header
  const parent = record instanceof KeptRecord ? record.parent : undefined
  return new KeptRecord(
    { block: sealed, executed, world, totalDifficulty, prevRandao, signers },
    parent,
  )
}

function mergedTarget({ block }: BlockRecord): bigint {
  return targetOf(larger(block.header.difficulty, LEAST_MERGED_DIFFICULTY))
}

function checkEthash(number: bigint): void {
  if (number <= LAST_ETHASH_BLOCK) return
  const message = `no Ethash for block ${number}: above block ${LAST_ETHASH_BLOCK} its cache is too large`
  throw limitExceeded(message)
}
