// The forked network, as a chain and its methods see it.
import type { Address, Hash } from '../../core/hex.ts'
import type { MaybePromise } from '../../core/promises.ts'
import type { CallJob, Executor, TransactionJob } from '../../evm/executor.ts'
import type { Header } from '../../protocol/blocks/header.ts'
import type { Hardfork } from '../../protocol/forks.ts'
import type { BackedState } from '../../state/backing.ts'
import type { Trie } from '../../state/trie.ts'
import type { StorageSlot, World } from '../../state/world.ts'
import type { BlockRecord, BlockRun } from './blockrecord.ts'

export interface UpstreamFacts {
  /** The URL without keys. */
  readonly name: string
  readonly requests: number
  readonly asked: number
  /** Most calls of one batch request, as learned from errors. */
  readonly batch: number
  /** Accounts and slots are verified against the state root of the fork's block. */
  readonly isProven: boolean
  /** State roots of blocks mined here are the network's. */
  readonly isRootKnown: boolean
}

/** What a fork is opened from again, as plain values. */
export interface ForkSource {
  /** The same for forks of the same block that are read in the same way. */
  readonly name: string
  readonly urls: readonly string[]
  /** The network, the block and its rules. */
  readonly head: unknown
  readonly takesChainId: boolean
  readonly takesBaseFee: boolean
}

export interface Upstream {
  readonly source: ForkSource
  readonly chainId: bigint
  readonly number: bigint
  readonly hash: Hash
  readonly facts: () => UpstreamFacts
  /** Undefined: contracts see the block's own number. */
  readonly seenNumber?: SeenNumber | undefined
  /** Adapts a job to the network's rules; undefined where they do not differ. */
  readonly adapt?: (<Job extends TransactionJob | CallJob>(job: Job) => Job) | undefined
  /**
   * Requests data that depends only on blocks up to the fork, and so never changes.
   * @param block the block of the data, if known
   * @param read throws for an invalid result, which is requested again and not cached
   * @param make combines the result from several requests
   * @throws {DevchainError} `UPSTREAM_FAILED` with the network's error
   */
  readonly ask: <T>(
    method: string,
    params: readonly unknown[],
    block: bigint | undefined,
    read: (answer: unknown) => T,
    make?: () => Promise<unknown>,
  ) => Promise<T>
  /** Changes the RPC URL: throws if the new node has another block at the fork point. */
  readonly moveTo: (url: string) => Promise<void>
  /** Loads an old block's transactions for a replay: throws for types that only its network can run. */
  readonly recall: (block: bigint) => Promise<void>
  /** Caches accounts from a trace; does nothing where state is proven. */
  readonly take: (accounts: Readonly<Record<string, unknown>>) => void
  /** As `ask`, for a result that is not cached. */
  readonly peek: <T>(
    method: string,
    params: readonly unknown[],
    read: (answer: unknown) => T,
  ) => Promise<T>
}

/** The NUMBER that contracts see, where it is not the block's own but that of an L1. */
export type SeenNumber = (block: {
  readonly number: bigint
  readonly timestamp: bigint
}) => bigint | undefined

export interface ForkBase {
  readonly upstream: Upstream
  readonly ancestors: BlockRun
  readonly header: Header
  /** The forked block with the first world of the fork. */
  readonly head: (own: OwnState) => BlockRecord
  readonly hardforkAt: (number: bigint, timestamp: bigint) => Hardfork
  /** The state that `BackedState.source` describes. */
  readonly stateOf: (source: unknown) => UpstreamState
}

/** Its tries without local changes. */
export interface UpstreamState extends BackedState {
  readonly world: World
  readonly storageOf: (address: Address) => Trie<StorageSlot>
}

interface OwnState {
  /** Balances in wei of this chain's user accounts. */
  readonly balances: ReadonlyMap<Address, bigint>
  readonly code: ReadonlyMap<Address, Uint8Array>
}

export interface LazyState {
  /** Wraps an executor, which repeats a job once its missing state is fetched. */
  readonly executor: (inner: Executor) => Executor
  /** Repeats work without side effects until no state is missing. */
  readonly complete: <T>(work: () => MaybePromise<T>) => MaybePromise<T>
}
