// The immutable state of a chain. A snapshot is a reference to it; a revert restores it.
import { hashBytes, keccakHash } from '../../core/crypto/crypto.ts'
import type { Address, Hash } from '../../core/hex.ts'
import type { ChainParameters, Some } from '../../options/derived.ts'
import type { ClockSource } from '../../options/values.ts'
import type { BlobRules } from '../../protocol/fees.ts'
import type { ForkPoints } from '../../protocol/forkid.ts'
import { type Hardfork, isAtLeast } from '../../protocol/forks.ts'
import type { Genesis } from '../../state/genesis.ts'
import type { AccountBook } from '../accounts/accounts.ts'
import type { CallBatches } from '../pool/batches.ts'
import type { BlobStore } from '../pool/blobstore.ts'
import type { Pool } from '../pool/pool.ts'
import type { Behaviour } from './behaviour.ts'
import type { BlockTree } from './blocktree.ts'
import type { Upstream } from './upstream.ts'

/**
 * The rules that a chain's blocks follow.
 *
 * `own`: this chain's. Blocks pay no reward; every fork allows difficulty, nonce and uncles; the settings give gas
 * limit and base fee; senders may be impersonated.
 *
 * `network`: Ethereum's. Before the merge blocks reward their miner (5, 3, then 2 ether) and their uncles'; after it
 * they have no difficulty, nonce or uncles. For imported chains, whose first block decides.
 */
export type Ruleset = 'own' | 'network'

/** Values that a genesis file may set. The difficulty is for blocks from paris on. */
export type Unsaid = Pick<
  Some<ChainParameters>,
  'chainId' | 'hardfork' | 'gasLimit' | 'baseFee' | 'coinbase' | 'difficulty'
>

/** What a configuration is made from, as plain values: stores keep it in place of the functions. */
export interface ConfigSource extends ChainParameters {
  readonly genesis?: Pick<Genesis, 'config' | 'timestamp' | 'baseFeePerGas'> | undefined
  /** Parameter N of scrypt for keys that the node encrypts: 8192 by default. */
  readonly scryptCost?: number | undefined
  readonly behaviour?: Partial<Behaviour> | undefined
  /** Defaults of an emulated node, for what neither options nor genesis file say. */
  readonly unsaid?: Unsaid | undefined
}

/** Fixed for a chain, but for the chain id, which wallet tests change. */
export interface ChainConfig {
  readonly source: ConfigSource
  readonly chainId: bigint
  readonly networkId: bigint
  readonly options: ChainParameters
  readonly hardforkAt: (number: bigint, timestamp: bigint) => Hardfork
  readonly blobRulesAt: (number: bigint, timestamp: bigint) => BlobRules
  /** Blocks by which the difficulty bomb is late; matters only under a network's rules. */
  readonly bombDelayAt: (number: bigint, timestamp: bigint) => bigint
  readonly forkPoints: ForkPoints
  readonly ruleset: Ruleset
  /** No file gave the genesis, or it has accounts of its own, so that hardly a network begins with it. */
  readonly hasOwnGenesis: boolean
  /** Imported blocks are paris once their parent reaches it, if no block number says when. */
  readonly terminalTotalDifficulty: bigint | undefined
  /** The number of the first paris block of an imported chain, whose difficulty decided it. */
  readonly mergedAt?: bigint | undefined
  /** The source of deposit logs (EIP-6110); undefined: the main network's. */
  readonly depositContract: Address | undefined
  readonly initialBaseFee: bigint
  /** Parameter N of scrypt, a power of two, for keys that the node encrypts (r = 8, p = 1). */
  readonly scryptCost: number
  readonly behaviour: Behaviour
  readonly upstream?: Upstream | undefined
}

export interface Settings {
  readonly coinbase: Address
  readonly blockGasLimit: bigint
  readonly difficulty: bigint
  readonly extraData: Uint8Array
  /** Gas of an `eth_sendTransaction` that names none; undefined: the hardfork decides. */
  readonly defaultGas: bigint | 'estimate' | undefined
  /** Wei per gas of an `eth_sendTransaction` without a price; also the least `eth_gasPrice`. */
  readonly gasPrice: bigint
  /** Wei per gas above the base fee, by default and as the least suggestion. */
  readonly tip: bigint
  /** The base fee stays where it is (0 by default) in place of EIP-1559. */
  readonly pinnedBaseFee: boolean
  /** Least wei per gas that enters the pool. */
  readonly minGasPrice: bigint
  readonly nextBaseFee: bigint | undefined
  readonly nextPrevRandao: Hash | undefined
  /** For the block after the next, where a set randomness continues; each later block has the hash of it. */
  readonly laterPrevRandao: Hash | undefined
}

/** `stopped` (evm_stopMining) pauses `mode` without losing it. */
export interface MiningState {
  readonly mode: MiningMode
  readonly stopped: boolean
}

/** With `longestMs` each interval has a random length between the two; `instant`: transactions are mined at once too. */
export type MiningMode =
  | { readonly kind: 'instant' }
  | {
      readonly kind: 'interval'
      readonly intervalMs: number
      readonly longestMs?: number
      readonly instant?: boolean
    }
  | { readonly kind: 'manual' }

export interface ClockState {
  readonly source: ClockSource
  readonly offset: bigint
  /** Seconds from all else: exact timestamps, a genesis in the past, blocks faster than one a second. */
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
  /** Height of the highest parent block of merge-mined work; 0 before the first. */
  readonly parentChainHeight: number
  /** Links to the older ones, so that taking a snapshot is O(1). */
  readonly newestSnapshot: Snapshot | undefined
  /** Survive reverts, but not a reset. Empty in stored states. */
  readonly namedSnapshots: ReadonlyMap<string, Snapshot>
  /** What reverts left, newest first, within bounds; without snapshots. Survives reverts; empty in stored states. */
  readonly left: readonly ChainState[]
  /** Never goes back. */
  readonly nextSnapshotId: number
  readonly resets: number
  /** The first state of the chain, for evm_reset; undefined in that state itself and in stored states. */
  readonly origin: ChainState | undefined
}

export interface Snapshot {
  readonly id: number
  readonly name: string | undefined
  readonly state: ChainState
}

/** The state as the first one of a chain, to which its resets return. */
export function beginningWith(state: ChainState): ChainState {
  return { ...state, resets: 0, origin: undefined }
}

/** Blocks are paris from `number` on, as the difficulty before it decided. */
export function mergedFrom(config: ChainConfig, number: bigint): ChainConfig {
  return {
    ...config,
    mergedAt: number,
    hardforkAt: (at, timestamp) => {
      const fork = config.hardforkAt(at, timestamp)
      return at >= number && !isAtLeast(fork, 'paris') ? 'paris' : fork
    },
  }
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
