// How other nodes answer where answers differ: what `--compat` chooses. Methods look here, and nowhere else.
import { quantityFromBigint } from '../../core/hex.ts'
import type { ErrorObject } from '../../rpc/errors.ts'
import type { Encoder, Json } from '../../rpc/schema.ts'
import { ANVIL_ERRORS, GANACHE_ERRORS, GETH_ERRORS, HARDHAT_ERRORS } from './errors.ts'
import type { FailedExecution } from './failure.ts'

/** The nodes whose ways can be taken. */
export type CompatNode = 'geth' | 'anvil' | 'hardhat' | 'ganache'

/** The ways of one node. */
export interface Habits {
  /** What `web3_clientVersion` begins with; undefined: this program's own name. */
  readonly clientName: string | undefined
  /** What commands answer that have nothing to say. */
  readonly acknowledgement: true | null
  /** Milliseconds of one unit of `evm_setIntervalMining`. */
  readonly intervalUnitMs: 1 | 1000
  /** What `evm_increaseTime` answers: the sum of all increases, in seconds. */
  readonly secondsAhead: (seconds: bigint) => string | number
  /** What `evm_setNextBlockTimestamp` answers. */
  readonly nextTimestamp: (timestamp: bigint) => string | null
  /** How a failed execution is told; undefined: as it is (decisions on errors). */
  readonly executionError: ((failed: FailedExecution) => ErrorObject) | undefined
}

/** Without `--compat`. */
const OWN: Habits = {
  clientName: undefined,
  acknowledgement: null,
  intervalUnitMs: 1000,
  secondsAhead: quantityFromBigint,
  nextTimestamp: () => null,
  executionError: undefined,
}

const HABITS: Readonly<Record<CompatNode, Habits>> = {
  geth: { ...OWN, clientName: 'Geth', executionError: GETH_ERRORS },
  anvil: { ...OWN, clientName: 'anvil', secondsAhead: Number, executionError: ANVIL_ERRORS },
  hardhat: {
    clientName: 'HardhatNetwork',
    acknowledgement: true,
    intervalUnitMs: 1,
    secondsAhead: String,
    nextTimestamp: String,
    executionError: HARDHAT_ERRORS,
  },
  ganache: {
    ...OWN,
    clientName: 'Ganache/EthereumJS TestRPC',
    acknowledgement: true,
    secondsAhead: Number,
    executionError: GANACHE_ERRORS,
  },
}

/** The ways that `--compat` asks for. */
export function habitsOf(node: CompatNode | undefined): Habits {
  return node === undefined ? OWN : HABITS[node]
}

/** What commands answer that have nothing to say: null, or true where a node's users expect it. */
export const acknowledgement: Encoder<true | null> = {
  name: 'null or true',
  json: { enum: [null, true] },
  encode: (value): Json => value,
}
