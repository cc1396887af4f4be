// The one immutable value that a chain holds. A snapshot is a kept reference to it; a revert puts it back.

import { hashBytes, keccakHash } from '../../core/crypto/crypto.ts'
import type { Address, Hash } from '../../core/hex.ts'
import type { ChainParameters } from '../../options/derived.ts'
import type { ClockSource } from '../../options/values.ts'
import type { BlobRules } from '../../protocol/fees.ts'
import type { ForkPoints } from '../../protocol/forkid.ts'
import type { Hardfork } from '../../protocol/forks.ts'
import type { AccountBook } from '../accounts/accounts.ts'
import type { CallBatches } from '../pool/batches.ts'
import type { BlobStore } from '../pool/blobstore.ts'
import type { Pool } from '../pool/pool.ts'
import type { Behaviour } from './behaviour.ts'
import type { BlockTree } from './blocktree.ts'
import type { Upstream } from './upstream.ts'

/**
 * Whose rules the blocks of a chain follow.
 *
 * `own`: those of the blocks that are mined here. Nobody is paid for a block, blocks keep difficulty, nonce and uncles
 * on every fork, gas limit and base fee are what the settings say, and senders may be impersonated.
 *
 * `network`: those of Ethereum. Before the merge a block pays its miner (5, 3, then 2 ether) and those of its uncles;
 * after it there is neither difficulty, nonce nor uncle. Chains that were imported have it, as their first block shows.
 */
export type Ruleset = 'own' | 'network'

/** What is settled when a chain is made; only the chain id may be changed later, as a test of wallets may want. */
export interface ChainConfig {
  readonly chainId: bigint
  readonly networkId: bigint
  readonly options: ChainParameters
  readonly hardforkAt: (number: bigint, timestamp: bigint) => Hardfork
  readonly blobRulesAt: (number: bigint, timestamp: bigint) => BlobRules
  /** Blocks by which the difficulty bomb is late at a block; matters under the rules of a network only. */
  readonly bombDelayAt: (number: bigint, timestamp: bigint) => bigint
  readonly forkPoints: ForkPoints
  readonly ruleset: Ruleset
  /** True: no file gave the genesis, so that no network can begin with it. */
  readonly hasOwnGenesis: boolean
  /** Imported blocks are paris from the one on whose parent has reached it, where no block number says when. */
  readonly terminalTotalDifficulty: bigint | undefined
  /** Whose logs are deposits (EIP-6110); undefined: the main network's. */
  readonly depositContract: Address | undefined
  /** Highest gas limit of one transaction (EIP-7825), undefined for none: that of the options, or of the fork. */
  readonly transactionGasCap: bigint | undefined
  readonly initialBaseFee: bigint
  /** Cost parameter N of scrypt, a power of two, for keys encrypted by the node (r = 8, p = 1). */
  readonly scryptCost: number
  readonly behaviour: Behaviour
  readonly upstream?: Upstream | undefined
}

export interface Settings {
  readonly coinbase: Address
  readonly blockGasLimit: bigint
  readonly difficulty: bigint
  readonly extraData: Uint8Array
  /** Gas of an `eth_sendTransaction` that names none. */
  readonly defaultGas: bigint | 'estimate'
  /** Wei per gas, of an `eth_sendTransaction` that names none; also what `eth_gasPrice` answers at least. */
  readonly gasPrice: bigint
  /** Wei per gas above the base fee, of an `eth_sendTransaction` that names none; also what is suggested at least. */
  readonly tip: bigint
  /** True: the base fee stays where it is (0 by default). False: it follows EIP-1559. */
  readonly pinnedBaseFee: boolean
  /** Wei per gas that a transaction must offer to enter the pool. */
  readonly minGasPrice: bigint
  readonly nextBaseFee: bigint | undefined
  readonly nextPrevRandao: Hash | undefined
  /** For the block after that one, where randomness that was set goes on; each further block has the hash of it. */
  readonly laterPrevRandao: Hash | undefined
}

/** When blocks are mined. `stopped` (evm_stopMining) holds `mode` back without forgetting it. */
export interface MiningState {
  readonly mode: MiningMode
  readonly stopped: boolean
}

/** An interval has as long as `intervalMs`, or where `longestMs` is given each time a length between the two. */
export type MiningMode =
  | { readonly kind: 'instant' }
  | { readonly kind: 'interval'; readonly intervalMs: number; readonly longestMs?: number }
  | { readonly kind: 'manual' }

export interface ClockState {
  readonly source: ClockSource
  readonly offset: bigint
  /** Seconds by which anything else moved the clock: exact timestamps, a genesis in the past, blocks faster than one a second. */
  readonly adjustment: bigint
  readonly nextTimestamp: bigint | undefined
  readonly interval: bigint | undefined
}

export interface ChainState {
  readonly config: ChainConfig
  readonly tree: BlockTree
  readonly pool: Pool
  readonly blobs: BlobStore
  readonly batches: CallBatches
  readonly clock: ClockState
  readonly settings: Settings
  readonly mining: MiningState
  readonly accounts: AccountBook
  /** Height of the highest parent block that work was merged with; 0 before the first. */
  readonly parentChainHeight: number
  /** The older ones are reached through it: taking a snapshot is O(1), however many there are. */
  readonly newestSnapshot: Snapshot | undefined
  /** Snapshots with names, by name: they outlive every revert, and go with a reset. Empty in states that are kept. */
  readonly namedSnapshots: ReadonlyMap<string, Snapshot>
  /** The id that the next snapshot gets; never goes back. */
  readonly nextSnapshotId: number
  readonly resets: number
  /** The state that the chain began with, which evm_reset goes back to; undefined in that state itself. */
  readonly origin: ChainState | undefined
}

export interface Snapshot {
  readonly id: number
  readonly name: string | undefined
  readonly state: ChainState
}

export function settingsAfterBlock(settings: Settings): Settings {
  const { nextBaseFee, nextPrevRandao, laterPrevRandao: later } = settings
  if ([nextBaseFee, nextPrevRandao, later].every((each) => each === undefined)) return settings
  const isUsed = nextPrevRandao === undefined && later !== undefined
  const laterPrevRandao = isUsed ? hashAfter(later) : later
  return { ...settings, nextBaseFee: undefined, nextPrevRandao: undefined, laterPrevRandao }
}

export function hashAfter(prevRandao: Hash): Hash {
  return keccakHash(hashBytes(prevRandao))
}
