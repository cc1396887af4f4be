// The executor interface: runs transactions and messages, one job in, one outcome out. Types only, so that machines are
// interchangeable.
import type { Address, Hash, Hex } from '../core/hex.ts'
import type { PersistentMap } from '../core/persistent.ts'
import type { MaybePromise } from '../core/promises.ts'
import type { ChainSettings, Some } from '../options/derived.ts'
import type { AccountAccess } from '../protocol/blocks/accesslist.ts'
import type { HeaderEnvironment, LaterFields } from '../protocol/blocks/header.ts'
import type { BlockGas, Log } from '../protocol/blocks/receipt.ts'
import type { BlobRules, GasRelevant } from '../protocol/fees.ts'
import type { ExtraPrecompiles } from '../protocol/precompiles.ts'
import type { BlobSidecar } from '../protocol/transactions/sidecar.ts'
import type {
  AccessListEntry,
  BlobFields,
  Transaction,
} from '../protocol/transactions/transaction.ts'
import type { Overlay, OverlayChanges } from '../state/overlay.ts'
import type { World } from '../state/world.ts'
import type { Cancellation } from './cancellation.ts'

export interface BlockEnvironment extends HeaderEnvironment {
  readonly chainId: bigint
  /** Wei per blob gas if it differs from the result of the excess: in overrides and free calls. */
  readonly blobBaseFee?: bigint | undefined
  /** Default: mainnet's for the hardfork. */
  readonly blobRules?: BlobRules | undefined
  /** Its logs are deposits (EIP-6110). Default: mainnet's. */
  readonly depositContract?: Address | undefined
  /** For BLOCKHASH: called only for the 256 blocks before `number`. */
  readonly blockHash: (number: bigint) => Hash | undefined
  readonly signers?: Signers | undefined
}

/** Address that ecrecover returns by signature, for any digest. The key is r ‖ s ‖ v, with v 27 or 28. */
export type Signers = PersistentMap<Hex, Address>

/** Overrides of the hardfork's limits. */
export interface ExecutionLimits extends ExtraPrecompiles {
  /** Bytes of deployed code (EIP-170); init code may have twice as many (EIP-3860). */
  readonly codeSize?: number | undefined
  /** `gas`: only gas limits memory, as in the protocol. Default: the executor's limit applies too. */
  readonly memory?: 'gas' | undefined
}

/** An unsigned call, as in `eth_call`. The balance is checked only if there is a price. */
export interface Message extends GasRelevant {
  readonly gasLimit: bigint
  /** Wei per gas. If above 0n, the sender must be able to pay. */
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  readonly nonce?: bigint | undefined
  /** For BLOBHASH. Free if they offer no price. */
  readonly blobs?: BlobFields | undefined
}

/**
 * Observes a run by steps and frames. All members are optional; an exception ends the run and propagates.
 * Pass it in a job, e.g. `executor.call({ ...job, tracer })`. For a mined transaction use `replayOne` of node/calls/replay.ts;
 * `combineTracers` merges several. Frames cost little, steps most: limit them with `stepParts`. Both machines report the same,
 * which the fuzzer checks.
 */
export interface Tracer {
  /** Called now and then with the number of operations since the last call. */
  readonly onTick?: ((operations: number) => void) | undefined
  readonly onStep?: ((step: Step) => void) | undefined
  /** Default: stacks only. */
  readonly stepParts?: StepParts | undefined
  readonly onEnter?: ((frame: FrameStart) => void) | undefined
  readonly onExit?: ((frame: FrameEnd) => void) | undefined
  /** The log is void if its frame or an outer one fails later. */
  readonly onLog?: ((log: Log) => void) | undefined
  readonly onDestroy?: ((destruction: Destruction) => void) | undefined
  /** After the outermost frame: everything read or changed, in failed frames too. */
  readonly onTouched?: ((touched: Touched) => void) | undefined
  /** After the outermost frame: operations that ran, in failed frames too. */
  readonly onReached?: ((reached: readonly ReachedCode[]) => void) | undefined
  /** Called now and then; the run continues when the promise resolves. */
  readonly onPause?: (() => Promise<void>) | undefined
}

/**
 * Accounts that were called, created or read, with the storage slots read or written. The sender may be missing. An operation
 * touches nothing if its gas does not cover even the warm cost, nor does a cold SLOAD without the gas.
 */
export type Touched = ReadonlyMap<Address, readonly bigint[]>

/**
 * The parts of a code that ran: counts at jumps, jump targets and frame ends. What lies between ran equally often
 * (tracers/reached.ts). A code may be reported several times.
 */
export interface ReachedCode {
  /** An account's code, or init code with its arguments. */
  readonly code: Uint8Array
  readonly isCreation: boolean
  readonly starts: number
  /**
   * Triples: the position of an operation; how often a JUMPDEST was reached or a JUMPI jumped; how often a frame ended there.
   */
  readonly marks: Uint32Array
}

export interface Step {
  readonly pc: number
  readonly opcode: number
  readonly opName: string
  readonly gas: bigint
  /**
   * Includes gas passed to a call. For an operation that fails, the minimum; it exceeds the gas left only if it depends on its
   * operands: an account, a slot, an exponent.
   */
  readonly gasCost: bigint
  /** The refund counter so far. */
  readonly refund: bigint
  readonly depth: number
  readonly address: Address
  /** From bottom to top. It is mutable: copy it to keep it. */
  readonly stack: readonly bigint[]
  /** Words at the bottom that did not change since the frame's last operation; 0 if unknown. */
  readonly unchanged: number
  /** A copy, which the tracer may keep. */
  readonly memory: Uint8Array
  /** The result of SLOAD; 0n if the gas does not cover even a warm read. */
  readonly loaded: bigint | undefined
  /** From amsterdam on: the reservoir before, and the cost beside `gasCost`, below 0 if state gas comes back. */
  readonly state?: { readonly reservoir: bigint; readonly cost: bigint } | undefined
}

/** The parts of steps that a tracer needs; others may be empty. */
export interface StepParts {
  readonly stack: boolean
  readonly memory: boolean
  /**
   * Operations to report, besides those that fail. The stack may then have its top word only, and a step's cost includes all
   * until the next reported step. Default: all.
   */
  readonly only?: ReadonlySet<number> | undefined
  /** With `only`: operations that need their stack. Default: all. */
  readonly stackOf?: ReadonlySet<number> | undefined
  /** False: gas, costs and refunds may be 0. */
  readonly gas?: boolean | undefined
  /** Also report the STOP behind the end of the code. */
  readonly end?: boolean | undefined
}

export interface FrameStart {
  readonly kind: 'CALL' | 'CALLCODE' | 'DELEGATECALL' | 'STATICCALL' | 'CREATE' | 'CREATE2'
  readonly depth: number
  readonly from: Address
  readonly to: Address | null
  readonly value: bigint
  readonly gas: bigint
  readonly input: Uint8Array
  /** The code to run, with delegation resolved, if steps are traced. Call it at once; the result may be kept. */
  readonly code: () => Uint8Array
  readonly isPrecompile: boolean
}

export interface FrameEnd {
  readonly depth: number
  readonly gasUsed: bigint
  readonly output: Uint8Array
  readonly created: Address | undefined
  readonly failure: Failure | undefined
  /** From amsterdam on. */
  readonly state?: FrameState | undefined
}

/** State gas of a frame with its inner frames. */
export interface FrameState {
  /** Below 0 if more came back than was paid. */
  readonly used: bigint
  /** The part that execution gas paid, which `gasUsed` includes. */
  readonly spilled: bigint
}

export interface Destruction {
  readonly address: Address
  readonly beneficiary: Address
  readonly balance: bigint
}

interface JobOptions {
  readonly limits?: ExecutionLimits | undefined
  readonly tracer?: Tracer | undefined
  /** A cancelled run throws a DevchainError `CANCELLED`. */
  readonly cancellation?: Cancellation | undefined
}

export interface TransactionJob extends JobOptions {
  readonly world: World
  /** Of the block's earlier transactions, over `world`. The run does not change it: see `Outcome.changes`. */
  readonly draft?: Overlay | undefined
  readonly block: BlockEnvironment
  /** Its signature must be checked already. */
  readonly transaction: Transaction
}

/** Moved precompiles, from old to new address. Null: removed, so that the account's own code runs. */
export type MovedPrecompiles = ReadonlyMap<Address, Address | null>

export interface CallJob extends JobOptions {
  readonly world: World
  readonly block: BlockEnvironment
  readonly message: Message
  readonly movedPrecompiles?: MovedPrecompiles | undefined
  readonly ignoresBaseFee?: boolean | undefined
  readonly reportsAccess?: boolean | undefined
  /** From amsterdam on: the outcome has accesses, as after a transaction. */
  readonly isOfBlock?: boolean | undefined
}

export interface Failure {
  readonly kind: 'revert' | 'halt'
  /**
   * For people: the decoded revert reason ("revert too small", "revert panic 0x11 (arithmetic overflow)", "revert custom error
   * 0x2202f1fa") or the halt ("out of gas", "invalid opcode 0xfe").
   */
  readonly reason: string
}

/** The smallest gas limit that would do, learned from a run with more. */
export interface GasNeed {
  /**
   * The least gas for the same execution. It may exceed the gas used: inner calls leave a 64th (EIP-150), and SSTORE requires
   * 2,300.
   */
  readonly gas: bigint
  /** False if other gas could lead to another successful execution: it read its gas, or made a call that may fail. */
  readonly isCertain: boolean
}

export interface ConsoleLine {
  readonly address: Address
  readonly text: string
}

export interface Outcome {
  readonly failure: Failure | undefined
  /** After refunds. */
  readonly gasUsed: bigint
  /** Includes the intrinsic gas. Undefined after a failure, and if the machine does not measure it. */
  readonly gasNeed: GasNeed | undefined
  /** Already subtracted from `gasUsed`. */
  readonly gasRefund: bigint
  /** From amsterdam on: what the block counts. */
  readonly blockGas: BlockGas | undefined
  readonly output: Uint8Array
  readonly logs: readonly Log[]
  readonly created: Address | undefined
  /** With fees paid and the nonce raised. Read it before the job's draft changes. */
  readonly world: World
  /** The same as a difference to the job's world, or draft, which may absorb it. */
  readonly changes: OverlayChanges
  readonly consoleLines: readonly ConsoleLine[]
  /** If requested: accessed accounts and slots (EIP-2930), as in `eth_createAccessList`. */
  readonly accessed: readonly AccessListEntry[]
  /** True if there was only one frame, no precompile call and no SELFDESTRUCT. False also if unknown. */
  readonly isAlone: boolean
  /** True if another time of the block might change the result. True also if unknown. */
  readonly dependsOnTime: boolean
  /** From amsterdam on, of transactions and calls of a block: for its access list. Read it before the job's draft changes. */
  readonly accesses: readonly AccountAccess[] | undefined
}

/** The system calls at the start of a block (EIP-4788, EIP-2935). */
export interface BlockStartJob {
  readonly world: World
  readonly block: BlockEnvironment
  readonly parentHash: Hash
  readonly parentBeaconBlockRoot: Hash | undefined
}

export interface BlockStart {
  readonly world: World
  /** From amsterdam on. */
  readonly accesses: readonly AccountAccess[]
}

/** The end of a block: requests of system contracts (EIP-7002, EIP-7251) and deposits (EIP-6110). */
export interface BlockEnd extends BlockStart {
  readonly fields: LaterFields
  /** Per type that occurs: the type byte, then its requests. */
  readonly requests: readonly Uint8Array[]
  /** Why the block is invalid: an unreadable request, or a system contract that fails or is missing. */
  readonly failure: string | undefined
}

/** A run is a pure function of its job. */
export interface Jobs {
  /**
   * Applies a signed transaction.
   * @returns a promise only if it has to wait
   * @throws {DevchainError} synchronously or by rejection, if the block cannot include the transaction (errors as in the pool)
   */
  readonly transact: (job: TransactionJob) => MaybePromise<Outcome>
  /**
   * Runs an unsigned message, as `eth_call` and `eth_estimateGas` do.
   * @throws {DevchainError} as `transact`: too little gas to start, or a price that the sender cannot pay.
   */
  readonly call: (job: CallJob) => MaybePromise<Outcome>
  readonly beginBlock: (job: BlockStartJob) => Promise<BlockStart>
  readonly endBlock: (job: {
    readonly world: World
    readonly block: BlockEnvironment
    readonly logs: readonly Log[]
  }) => Promise<BlockEnd>
  /**
   * The index of the first blob with a wrong commitment or proof; undefined if there is none. Sizes and scalars must be checked
   * already.
   */
  readonly findWrongBlob: (sidecar: BlobSidecar) => Promise<number | undefined>
  /**
   * Yields to timers and sockets between two jobs of long work.
   * @throws {DevchainError} `CANCELLED`, by rejection, if the work is cancelled
   */
  readonly rest: (cancellation?: Cancellation) => Promise<void>
}

export interface Executor extends Jobs {
  readonly close: () => void
}

/** The library only, an interpreter in WebAssembly, or that plus a compiler of hot code. */
export type EvmChoice = ChainSettings['evm']

/** The memory limit covers all open frames of a run together. */
export interface ExecutorOptions extends Some<Pick<ChainSettings, 'evm' | 'memoryLimit'>> {
  /** Reports bugs that a fallback hides from the caller. Default: standard error. */
  readonly onBug?: ((error: unknown) => void) | undefined
}
