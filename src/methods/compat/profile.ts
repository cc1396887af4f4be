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

export const GWEI: bigint = 10n ** 9n

/** The root of an empty trie: the RLP of an empty string. */
const EMPTY_NODE = Uint8Array.of(0x80)

/** The members' defaults are devchain's own, without `--compat`. */
export class Profile {
  readonly defaults: Defaults = {}
  readonly chain: Partial<Behaviour> = {}
  /** Methods that the node lacks: they are refused as unknown, whatever their parameters. */
  readonly absent: readonly string[] = []
  /** Throws a DevchainError for parameter formats that the node refuses. */
  readonly adaptForms: AdaptParams | undefined = undefined
  /** Whether `eth_mining` reports interval and automatic mining; else it is false. */
  readonly reportsMining: boolean = true
  /** Makes the result of `web3_clientVersion` from the program's name and version, and the profile's own parts. */
  readonly clientVersion: (
    program: { readonly name: string; readonly version: string },
    own: string,
  ) => string = (_, own) => own
  /** Whether setting an RPC URL without a fork is refused; else it is ignored. */
  readonly refusesUrlWithoutFork: boolean = true
  /** The result of commands without a result. */
  readonly ack: true | null = null
  /** Milliseconds of one unit of `evm_setIntervalMining`. */
  readonly intervalUnitMs: 1 | 1000 = 1000
  /** Whether interval mining and automine are set independently; else the one that is set last ends the other. */
  readonly intervalsKeepAutomine: boolean = false
  /** The result of `evm_increaseTime`: the sum of all increases, in seconds. */
  readonly secondsAhead: (seconds: bigint) => string | number = quantityFromBigint
  readonly nextTimestamp: (timestamp: bigint) => string | null = () => null
  /** Whether a minimum gas price can be set together with a base fee. */
  readonly hasLeastPriceWithBaseFee: boolean = true
  /** Whether values can be set that the next block lacks before london or paris, and fee histories work there. */
  readonly ignoresForks: boolean = true
  readonly leastGasLimit: bigint = MIN_GAS_LIMIT
  /** The `reward` of `eth_feeHistory` without percentiles; undefined: one empty list per block. */
  readonly emptyReward: 'absent' | 'empty' | undefined = undefined
  /** Members of transactions and receipts that are left out, by the hardfork of the block; undefined: none. */
  readonly omittedMembers:
    | ((transaction: Transaction, hardfork: Hardfork) => readonly string[])
    | undefined = undefined
  /** Whether receipts have their block's time and blob gas price. */
  readonly receiptsHaveBlockFields: boolean = false
  readonly mined: '0x0' | '0' = '0x0'
  /**
   * Lenient: unknown filters return null for changes, a block filter's first poll begins with the newest block at its
   * creation, and the parameter of pending transaction filters is ignored.
   */
  readonly filters: 'strict' | 'lenient' = 'strict'
  /** Whether a log filter's first poll includes stored logs: never, only with `fromBlock`, or always. */
  readonly filterHistory: 'none' | 'named' | 'all' = 'none'
  /** Whether a wildcard of a log query asks for a topic at its position; else it also matches none. */
  readonly wildcardsNeedTopics: boolean = false
  /** Whether subscriptions without a WebSocket work as filters; else they are refused. */
  readonly pollsSubscriptions: boolean = false
  /** `eth_pendingTransactions`: executable ones of the node's accounts, or all. */
  readonly pendingTransactions: 'own' | 'all' = 'own'
  readonly block: BlockForm = OWN_FORM
  /** The proof in `eth_getProof` for a slot of an account without storage. */
  readonly emptyTrieProof: readonly Uint8Array[] = [EMPTY_NODE]
  /** Whether debug_trace… returns an empty list for the genesis; else it is refused. */
  readonly tracesGenesis: boolean = true
  /** Whether frames of trace_filter match either address or both, if it names both and no mode. */
  readonly traceFilterMode: 'union' | 'intersection' = 'intersection'
  /** Whether eth_getLogs accepts ranges that lie, or end, after the newest block; else it is refused. */
  readonly logsBeyondHead: 'all' | 'end' | 'none' = 'all'
  /** Whether a failing message gets an access list with its error; else the error alone. */
  readonly returnsFailedAccessLists: boolean = true
  readonly poolSender: (sender: Address) => string = (sender) => sender
  readonly failure: ((failed: FailedExecution, method: string) => ErrorObject) | undefined =
    undefined
  /** Wording by error word; others are worded by devchain. */
  readonly errors: { readonly [Word in ErrorWord]?: Wording } = {}
  /** The code of errors whose wording has none. */
  readonly errorCode: number = SERVER_ERROR
  /** Whether the data of these errors is an object with the message. */
  readonly errorsRepeatMessage: boolean = false
}

export const OWN: Profile = new Profile()

/** The result of commands without a result: null, or true where the node named by `--compat` does. */
export const ack: Encoder<true | null> = asJson('null or true', { enum: [null, true] })
