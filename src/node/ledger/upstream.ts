// The network that a chain is a fork of, as a chain and its methods see it.
import type { Address, Hash } from '../../core/hex.ts'
import type { MaybePromise } from '../../core/promises.ts'
import type { CallJob, Executor, TransactionJob } from '../../evm/executor.ts'
import type { Header } from '../../protocol/blocks/header.ts'
import type { Hardfork } from '../../protocol/forks.ts'
import type { BlockRecord } from './blockrecord.ts'
import type { BlockRun } from './blockrun.ts'

export interface UpstreamFacts {
  /** Who is asked, without keys. */
  readonly name: string
  readonly requests: number
  readonly asked: number
  /** Most that one request asks, as learned. */
  readonly batch: number
  /** True: accounts and slots are checked against the state root of the fork's block. */
  readonly isProven: boolean
  /** True: state roots of blocks mined here are those that the network would have. */
  readonly isRootKnown: boolean
}

export interface Upstream {
  readonly chainId: bigint
  readonly number: bigint
  readonly hash: Hash
  readonly facts: () => UpstreamFacts
  /** Undefined: contracts see the numbers of blocks. */
  readonly seenNumber?: SeenNumber | undefined
  /** Makes a job what the network would run. Undefined: it is that already. */
  readonly adapt?: (<Job extends TransactionJob | CallJob>(job: Job) => Job) | undefined
  /**
   * Asks for what follows from the blocks up to the fork, and so never changes.
   * @param block the one that it belongs to, where that is known
   * @param check throws for what is no answer: it is asked for again, and not kept. Without it, that is null of a known block
   * @throws {DevchainError} `UPSTREAM_FAILED` with the network's words
   */
  readonly ask: (
    method: string,
    params: readonly unknown[],
    block?: bigint,
    check?: (answer: unknown) => void,
  ) => Promise<unknown>
  /** As `ask`, for an answer that `make` puts together with `peek`: it is kept as one. */
  readonly askTogether: (
    method: string,
    params: readonly unknown[],
    block: bigint,
    make: () => Promise<unknown>,
  ) => Promise<unknown>
  /** Asks another node of the same network from now on: throws for one that has another block where the fork begins. */
  readonly moveTo: (url: string) => Promise<void>
  /** Has an old block's transactions here, to run it again: throws for one with transactions that only its network can run. */
  readonly recall: (block: bigint) => Promise<void>
  /** Takes what the network told of accounts after the fork's block, as a trace has them; where state is proven, nothing. */
  readonly take: (accounts: Readonly<Record<string, unknown>>) => void
  readonly peek: (
    method: string,
    params: readonly unknown[],
    check?: (answer: unknown) => void,
  ) => Promise<unknown>
}

/** The number that contracts see in a block, where that is not the block's own. */
export type SeenNumber = (block: {
  readonly number: bigint
  readonly timestamp: bigint
}) => bigint | undefined

/** The block of the network below that contracts saw in a block: undefined where networks have none below them. */
export function belowNumber(
  upstream: Upstream | undefined,
  block: Parameters<SeenNumber>[0],
): bigint | undefined {
  return upstream?.seenNumber?.(block)
}

export interface ForkBase {
  readonly upstream: Upstream
  /** All blocks up to the one that the fork goes on from, which is the last of them. */
  readonly ancestors: BlockRun
  readonly header: Header
  /** That block with the world that the fork begins with. */
  readonly head: (own: OwnState) => BlockRecord
  readonly hardforkAt: (number: bigint, timestamp: bigint) => Hardfork
  readonly takesChainId: boolean
  readonly takesBaseFee: boolean
}

export interface OwnState {
  /** Balances in wei of the accounts of this chain's users. */
  readonly balances: ReadonlyMap<Address, bigint>
  readonly code: ReadonlyMap<Address, Uint8Array>
}

export interface Piecemeal {
  /** An executor that does a job again once it is known what it needs. */
  readonly executor: (inner: Executor) => Executor
  /** Does work without effects until nothing that it needs is missing. */
  readonly complete: <T>(work: () => MaybePromise<T>) => MaybePromise<T>
}
