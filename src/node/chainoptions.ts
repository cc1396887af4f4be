// What a chain is made from: its options, and what no user gives.
import type { Executor } from '../evm/executor.ts'
import type { ChainParameters, Some } from '../options/derived.ts'
import type { Genesis, Predeploys } from '../state/genesis.ts'
import type { World } from '../state/world.ts'
import type { Commit, Environment } from './chain/chain.ts'
import type { Behaviour } from './ledger/behaviour.ts'
import type { ChainState } from './ledger/chainstate.ts'
import type { ForkBase, Piecemeal } from './ledger/upstream.ts'

/** What a chain is made from: its options, and what no user gives. What a genesis file says comes before a default. */
export interface ChainOptions extends Some<ChainParameters> {
  readonly genesis?: Genesis | undefined
  readonly predeploys?: Predeploys | undefined
  /** Concatenated RLP blocks that the chain begins with, after the genesis. */
  readonly blocks?: Uint8Array | undefined
  /** Private keys in place of those from the mnemonic. */
  readonly keys?: readonly Uint8Array[] | undefined
  readonly extraData?: Uint8Array | undefined
  /** Parameter N of scrypt for keys that the node encrypts: 8192 when left out. */
  readonly scryptCost?: number | undefined
  readonly environment?: Environment | undefined
  readonly executor?: Executor | undefined
  /** Where its states are kept besides. */
  readonly commit?: Commit | undefined
  /** The other network's block that the chain goes on from, and what that takes. */
  readonly fork?: ForkBase | undefined
  readonly piecemeal?: Piecemeal | undefined
  /** What is run on the state of a fork before the chain begins: it makes the accounts after it. */
  readonly runFirst?: RunFirst | undefined
  /** True: without accelerators, so that empty blocks are mined one by one. Tests hold the plain program to the whole. */
  readonly isPlain?: boolean | undefined
  /** What is done otherwise than by itself. */
  readonly behaviour?: Partial<Behaviour> | undefined
  /** Defaults in place of the usual ones, for what neither the options nor the genesis file say. */
  readonly unsaid?: Unsaid | undefined
}

/** @param state with the forked block as its head */
export type RunFirst = (state: ChainState, executor: Executor) => Promise<World>

/** What a genesis file may say. The difficulty is that of blocks from paris on. */
type Unsaid = Pick<
  ChainOptions,
  'chainId' | 'hardfork' | 'gasLimit' | 'baseFee' | 'coinbase' | 'difficulty'
>

/** The options with their defaults. */
export type StateOptions = ChainOptions &
  ChainParameters & {
    /** Seconds since 1970 of the genesis where nothing else says when it was. */
    readonly genesisTime?: bigint | undefined
  }
