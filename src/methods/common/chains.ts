// The chains of one program, as methods and sites see them.
import type { Hash } from '../../core/hex.ts'
import type { BlockReference } from '../../node/ledger/references.ts'

export interface ChainOrder {
  /** The path without its `/`; undefined: the next free `chain-N`. */
  readonly name?: string | undefined
  /** A chain, or a named snapshot of the default chain; undefined: what all chains begin with. */
  readonly from?: string | undefined
  /** The block of `from` after which it begins, of any branch that is still known; undefined: as `from` is now. */
  readonly block?: BlockReference | undefined
  /** Options of its own, as in `createDevchain`; then it has a genesis of its own. */
  readonly options?: Readonly<Record<string, unknown>> | undefined
}

/** The block after which a chain began, of the chain that it branched from. */
export interface ChainOrigin {
  readonly blockNumber: bigint
  readonly blockHash: Hash
}

export interface ChainInfo {
  /** Undefined for the default chain. */
  readonly name: string | undefined
  readonly path: string
  /** Undefined, as the next three, while the chain is being opened. */
  readonly chainId: bigint | undefined
  readonly blockNumber: bigint | undefined
  readonly blockHash: Hash | undefined
  readonly origin: ChainOrigin | undefined
  /** Seconds since it was made or restarted. */
  readonly age: number
  /** Requests since then, a batch counted once. */
  readonly requests: number
  /** Estimated bytes of what it does not share with the chain it began as: blocks, receipts, states. */
  readonly memory: number
}

export interface ChainsDoor {
  /** The default chain first, the others by age. */
  readonly list: () => Promise<readonly ChainInfo[]>
  /**
   * @throws {DevchainError} `INVALID_PARAMS` for an invalid or used name, an unknown `from` or invalid options,
   * `LIMIT_EXCEEDED` for too many chains
   */
  readonly create: (order: ChainOrder) => Promise<ChainInfo>
  /** @throws {DevchainError} `NOT_FOUND` for an unknown chain */
  readonly drop: (name: string) => Promise<void>
}
