// What a chain is made from.
import type { Executor } from '../evm/executor.ts'
import type { ChainParameters, Some } from '../options/derived.ts'
import type { Genesis, Predeploys } from '../state/genesis.ts'
import type { World } from '../state/world.ts'
import type { Chain, Commit, Environment } from './chain/chain.ts'
import type { ChainState, ConfigSource } from './ledger/chainstate.ts'
import type { ForkBase, LazyState } from './ledger/upstream.ts'

/** User options and internal ones. A genesis file takes precedence over defaults. */
export interface ChainOptions
  extends Some<ChainParameters>,
    Pick<ConfigSource, 'scryptCost' | 'behaviour' | 'unsaid'> {
  readonly genesis?: Genesis | undefined
  readonly predeploys?: Predeploys | undefined
  readonly blocks?: Uint8Array | undefined
  readonly keys?: readonly Uint8Array[] | undefined
  readonly extraData?: Uint8Array | undefined
  readonly environment?: Environment | undefined
  readonly executor?: Executor | undefined
  readonly commit?: Commit | undefined
  /** The chain begins with it, whatever the other options say. */
  readonly kept?: ChainState | undefined
  readonly fork?: ForkBase | undefined
  readonly lazyState?: LazyState | undefined
  /** Runs on the forked state before the chain begins, and makes its accounts. */
  readonly runFirst?: RunFirst | undefined
  /** Disables accelerators, so that empty blocks are mined one by one; for tests that compare the two. */
  readonly isPlain?: boolean | undefined
}

export type RunFirst = (state: ChainState, executor: Executor) => Promise<World>

/** A fork with what its first chain needs. */
export interface OpenFork {
  readonly base: ForkBase
  readonly runFirst: RunFirst | undefined
  readonly fill: (chain: Chain) => Promise<void>
  readonly close: () => void
}

export type StateOptions = ChainOptions &
  ChainParameters & {
    /** Default time of the genesis, in seconds since 1970. */
    readonly genesisTime?: bigint | undefined
  }
