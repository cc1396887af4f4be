// Profiles of other nodes for `--compat`. Each is one declaration in its own file; methods look only here
// for differences between nodes.

import type { ErrorWord } from '../../core/errors.ts'
import { type Address, quantityFromBigint } from '../../core/hex.ts'
import type { Behaviour } from '../../node/ledger/behaviour.ts'
import type { ChainParameters, DevchainSettings, Some } from '../../options/derived.ts'
import { MIN_GAS_LIMIT } from '../../protocol/blocks/headerrules.ts'
import type { Hardfork } from '../../protocol/forks.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import type { AdaptParams } from '../../rpc/dispatch.ts'
import type { ErrorObject } from '../../rpc/errors.ts'
import { asJson } from '../../rpc/primitives.ts'
import type { Encoder } from '../../rpc/schema.ts'
import { type BlockForm, OWN_FORM } from '../wire/encodeblock.ts'
import type { FailedExecution } from './failure.ts'
import { SERVER_ERROR, type Wording } from './wording.ts'

/** Different defaults. Given options and the genesis file win. */
export type Defaults = Some<Omit<DevchainSettings, keyof ChainParameters>> & Some<ChainParameters>

export interface Profile {
  readonly defaults: Defaults
  readonly chain: Partial<Behaviour>
  /** Methods that the node lacks: they are refused as unknown, whatever their parameters. */
  readonly absent: readonly string[]
  /** Throws a DevchainError for parameter formats that the node refuses. */
  readonly adaptForms: AdaptParams | undefined
  /** Whether `eth_mining` reports interval and automatic mining; else it is false. */
  readonly reportsMining: boolean
  /** Makes the result of `web3_clientVersion` from the program's name and version, and the profile's own parts. */
  readonly clientVersion: (
    program: { readonly name: string; readonly version: string },
    own: string,
  ) => string
  /** Whether setting an RPC URL without a fork is refused; else it is ignored. */
  readonly refusesUrlWithoutFork: boolean
  /** The result of commands without a result. */
  readonly ack: true | null
  /** Milliseconds of one unit of `evm_setIntervalMining`. */
  readonly intervalUnitMs: 1 | 1000
  /** The result of `evm_increaseTime`: the sum of all increases, in seconds. */
  readonly secondsAhead: (seconds: bigint) => string | number
  readonly nextTimestamp: (timestamp: bigint) => string | null
  /** Whether a minimum gas price can be set together with a base fee. */
  readonly hasLeastPriceWithBaseFee: boolean
  /** Whether values can be set that the next block lacks before london or paris, and fee histories work there. */
  readonly ignoresForks: boolean
  readonly leastGasLimit: bigint
  /** The `reward` of `eth_feeHistory` without percentiles; undefined: one empty list per block. */
  readonly emptyReward: 'absent' | 'empty' | undefined
  /** Members of transactions and receipts that are left out, by the hardfork of the block; undefined: none. */
  readonly omittedMembers:
    | ((transaction: Transaction, hardfork: Hardfork) => readonly string[])
    | undefined
  /** Whether receipts have their block's time and blob gas price. */
  readonly receiptsHaveBlockFields: boolean
  readonly mined: '0x0' | '0'
  /**
   * Lenient: unknown filters return null for changes, a block filter's first poll begins with the newest block at its
   * creation, and the parameter of pending transaction filters is ignored.
   */
  readonly filters: 'strict' | 'lenient'
  /** Whether a log filter's first poll includes stored logs: never, only with `fromBlock`, or always. */
  readonly filterHistory: 'none' | 'named' | 'all'
  /** Whether subscriptions without a WebSocket work as filters; else they are refused. */
  readonly pollsSubscriptions: boolean
  /** `eth_pendingTransactions`: executable ones of the node's accounts, or all. */
  readonly pendingTransactions: 'own' | 'all'
  readonly block: BlockForm
  /** The proof in `eth_getProof` for a slot of an account without storage. */
  readonly emptyTrieProof: readonly Uint8Array[]
  /** Whether debug_trace… returns an empty list for the genesis; else it is refused. */
  readonly tracesGenesis: boolean
  /** Whether eth_getLogs accepts ranges that lie, or end, after the newest block; else it is refused. */
  readonly logsBeyondHead: 'all' | 'end' | 'none'
  /** Whether a failing message gets an access list with its error; else the error alone. */
  readonly returnsFailedAccessLists: boolean
  readonly poolSender: (sender: Address) => string
  readonly failure: ((failed: FailedExecution, method: string) => ErrorObject) | undefined
  /** Wording by error word; others are worded by devchain. */
  readonly errors: { readonly [Word in ErrorWord]?: Wording }
  /** The code of errors whose wording has none. */
  readonly errorCode: number
  /** Whether the data of these errors is an object with the message. */
  readonly errorsRepeatMessage: boolean
}

/** The root of an empty trie: the RLP of an empty string. */
const EMPTY_NODE = Uint8Array.of(0x80)

/** Without `--compat`. */
export const OWN: Profile = {
  defaults: {},
  chain: {},
  absent: [],
  adaptForms: undefined,
  reportsMining: true,
  clientVersion: (_, own) => own,
  refusesUrlWithoutFork: true,
  ack: null,
  intervalUnitMs: 1000,
  secondsAhead: quantityFromBigint,
  nextTimestamp: () => null,
  hasLeastPriceWithBaseFee: true,
  ignoresForks: true,
  leastGasLimit: MIN_GAS_LIMIT,
  emptyReward: undefined,
  omittedMembers: undefined,
  receiptsHaveBlockFields: false,
  mined: '0x0',
  filters: 'strict',
  filterHistory: 'none',
  pollsSubscriptions: false,
  pendingTransactions: 'own',
  block: OWN_FORM,
  emptyTrieProof: [EMPTY_NODE],
  tracesGenesis: true,
  logsBeyondHead: 'all',
  returnsFailedAccessLists: true,
  poolSender: (sender) => sender,
  failure: undefined,
  errors: {},
  errorCode: SERVER_ERROR,
  errorsRepeatMessage: false,
}

/** The result of commands without a result: null, or true where the node named by `--compat` does. */
export const ack: Encoder<true | null> = asJson('null or true', { enum: [null, true] })
