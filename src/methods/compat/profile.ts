// What makes another node of this one: what `--compat` chooses. One declaration for each node, each in a file of its own;
// methods look here, and nowhere else, where nodes answer differently.

import type { ErrorWord } from '../../core/errors.ts'
import { type Address, quantityFromBigint } from '../../core/hex.ts'
import type { Behaviour } from '../../node/ledger/behaviour.ts'
import type { ChainParameters, DevchainSettings, Some } from '../../options/derived.ts'
import { MIN_GAS_LIMIT } from '../../protocol/blocks/headerrules.ts'
import type { Hardfork } from '../../protocol/forks.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import type { AdaptParams } from '../../rpc/dispatch.ts'
import type { ErrorObject } from '../../rpc/errors.ts'
import type { Encoder, Json } from '../../rpc/schema.ts'
import { type BlockForm, OWN_FORM } from '../wire/encodeblock.ts'
import type { FailedExecution } from './failure.ts'
import type { Refusal } from './refusal.ts'

/** Options that have another default than here. What is given, or a genesis file says, wins. */
export type Defaults = Some<Omit<DevchainSettings, keyof ChainParameters>> & Some<ChainParameters>

export interface Profile {
  readonly defaults: Defaults
  readonly chain: Partial<Behaviour>
  /** Methods that the node does not have: they are refused as unknown ones, whatever their parameters. */
  readonly absent: readonly string[]
  /** Throws a DevchainError for parameters in a form that the node does not take. */
  readonly adaptForms: AdaptParams | undefined
  /** Whether `eth_mining` tells of blocks that come by themselves; else it is false. */
  readonly tellsMining: boolean
  /** What `web3_clientVersion` answers, made of the program's name and version, and of what it says of itself. */
  readonly clientVersion: (
    program: { readonly name: string; readonly version: string },
    own: string,
  ) => string
  /** Whether a URL for forks is refused where there is none; else nothing happens. */
  readonly refusesUrlWithoutFork: boolean
  /** What commands answer that have nothing to say. */
  readonly ack: true | null
  /** Milliseconds of one unit of `evm_setIntervalMining`. */
  readonly intervalUnitMs: 1 | 1000
  /** What `evm_increaseTime` answers: the sum of all increases, in seconds. */
  readonly secondsAhead: (seconds: bigint) => string | number
  readonly nextTimestamp: (timestamp: bigint) => string | null
  /** Whether a least gas price can be set where there is a base fee. */
  readonly hasLeastPriceWithBaseFee: boolean
  /** Whether what the next block cannot have before london or paris is set nonetheless, and fee histories are answered. */
  readonly ignoresForks: boolean
  readonly leastGasLimit: bigint
  /** The `reward` of `eth_feeHistory` where no percentile is asked; undefined: a list for each, each without any. */
  readonly emptyReward: 'absent' | 'empty' | undefined
  /** Members of a transaction and its receipt that are left out, by the fork of the block; undefined: none. */
  readonly omittedMembers:
    | ((transaction: Transaction, hardfork: Hardfork) => readonly string[])
    | undefined
  /** Whether each receipt tells its block's time, and what blobs cost there. */
  readonly receiptsTellBlock: boolean
  readonly mined: '0x0' | '0'
  /**
   * Lenient: a filter that nobody knows has null for changes, and a block filter's first poll begins with the block that
   * was the newest; a filter that is given for pending transactions is no matter.
   */
  readonly filters: 'strict' | 'lenient'
  /** Whether the first poll of a log filter begins with stored logs: never, where a beginning is named, or always. */
  readonly filterHistory: 'none' | 'named' | 'all'
  /** Whether what is subscribed to without a WebSocket is polled as a filter is; else it is refused. */
  readonly pollsSubscriptions: boolean
  /** Which transactions `eth_pendingTransactions` lists: those of the node's accounts that can be mined, or all. */
  readonly pendingTransactions: 'own' | 'all'
  readonly block: BlockForm
  /** The nodes that `eth_getProof` answers for a slot of an account without storage. */
  readonly emptyTrieProof: readonly Uint8Array[]
  /** Whether the genesis has traces, none, for debug_trace…; else it is refused. */
  readonly tracesGenesis: boolean
  /** Whether eth_getLogs takes a range all of which, or whose end, is after the newest block; else it is refused. */
  readonly logsBeyondHead: 'all' | 'end' | 'none'
  /** Whether a message that fails has an access list, with the failure beside it; else it is answered as a call's. */
  readonly tellsFailedAccessLists: boolean
  readonly poolSender: (sender: Address) => string
  readonly failure: ((failed: FailedExecution, method: string) => ErrorObject) | undefined
  /** How refusals are worded, by their word; the others are worded as devchain does. */
  readonly refusals: { readonly [Word in ErrorWord]?: Refusal }
}

/** The root of an empty trie: the RLP of an empty text. */
const EMPTY_NODE = Uint8Array.of(0x80)

/** Without `--compat`. */
export const OWN: Profile = {
  defaults: {},
  chain: {},
  absent: [],
  adaptForms: undefined,
  tellsMining: true,
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
  receiptsTellBlock: false,
  mined: '0x0',
  filters: 'strict',
  filterHistory: 'none',
  pollsSubscriptions: false,
  pendingTransactions: 'own',
  block: OWN_FORM,
  emptyTrieProof: [EMPTY_NODE],
  tracesGenesis: true,
  logsBeyondHead: 'all',
  tellsFailedAccessLists: true,
  poolSender: (sender) => sender,
  failure: undefined,
  refusals: {},
}

/** What commands answer that have nothing to say: null, or true where a node's users expect it. */
export const ack: Encoder<true | null> = {
  name: 'null or true',
  json: { enum: [null, true] },
  encode: (value): Json => value,
}
