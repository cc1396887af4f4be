// The contract of all that runs transactions and messages: one job in, one outcome out. It has types alone, which is all
// that the layers above know, so that a faster machine can replace another without their noticing.
import type { Address, Hash, Hex } from '../core/hex.ts'
import type { PersistentMap } from '../core/persistent.ts'
import type { MaybePromise } from '../core/promises.ts'
import type { ChainSettings, Some } from '../options/derived.ts'
import type { HeaderEnvironment, LaterFields } from '../protocol/blocks/header.ts'
import type { Log } from '../protocol/blocks/receipt.ts'
import type { BlobRules } from '../protocol/fees.ts'
import type { ExtraPrecompiles } from '../protocol/precompiles.ts'
import type { BlobSidecar } from '../protocol/transactions/sidecar.ts'
import type {
  AccessListEntry,
  Authorization,
  BlobFields,
  Transaction,
} from '../protocol/transactions/transaction.ts'
import type { World } from '../state/world.ts'

/** What contracts can learn about the block they run in. */
export interface BlockEnvironment extends HeaderEnvironment {
  readonly chainId: bigint
  /** Wei per blob gas, where an override or a free call has another than the excess makes. */
  readonly blobBaseFee?: bigint | undefined
  /** Undefined: the main network's of the hardfork. */
  readonly blobRules?: BlobRules | undefined
  /** Whose logs are deposits (EIP-6110); undefined: the main network's. */
  readonly depositContract?: Address | undefined
  /** Hash of a past block, for BLOCKHASH; asked only for the 256 blocks before `number`. */
  readonly blockHash: (number: bigint) => Hash | undefined
  /** Whose some signatures count as, whoever made them. Undefined: those of nobody but who made them. */
  readonly signers?: Signers | undefined
}

/**
 * What ecrecover answers for a signature, whatever was signed. The signature as text: 65 bytes r ‖ s ‖ v, with v 27 or 28.
 */
export type Signers = PersistentMap<Hex, Address>

/** What a chain may have otherwise than its fork. Undefined means as the fork has it. */
export interface ExecutionLimits extends ExtraPrecompiles {
  /** Bytes of deployed code (EIP-170); init code may have twice as many (EIP-3860). */
  readonly codeSize?: number | undefined
  /** `gas`: memory is bounded by what gas buys, as the protocol has it. Undefined: also by the executor's limit. */
  readonly memory?: 'gas' | undefined
}

/** A call as `eth_call` means it: no signature, nonce and balance of the sender unchecked unless there is a price. */
export interface Message {
  readonly from: Address
  readonly to: Address | null
  readonly value: bigint
  readonly data: Uint8Array
  readonly gasLimit: bigint
  /** Wei per gas, 0n for a free call; when above zero the sender must be able to pay. */
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  readonly accessList: readonly AccessListEntry[]
  readonly authorizationList: readonly Authorization[]
  /** Undefined: the account's own nonce. */
  readonly nonce?: bigint | undefined
  /** What BLOBHASH tells. They are free where they offer nothing. */
  readonly blobs?: BlobFields | undefined
}

/**
 * Observes a run, step by step and frame by frame. Every member is optional; none may change anything. What one throws
 * ends the run and comes out of it.
 *
 * To use it: any job takes one (`executor.call({ ...job, tracer })`), for a mined transaction `replayOne` of
 * node/calls/replay.ts hands it on, `combineTracers` makes one of several. Each hook costs what it tells: frames little, what was
 * reached or touched nothing until the end, steps most. Who reads steps says what of them (`stepParts`), best of which operations
 * alone. Both machines tell the same, which the fuzzer holds.
 */
export interface Tracer {
  /** Now and then, with how many operations ran or were tried since: for who counts. */
  readonly onTick?: ((operations: number) => void) | undefined
  /** Each operation, in order, also one that cannot run. */
  readonly onStep?: ((step: Step) => void) | undefined
  /** Stacks alone when left out. */
  readonly stepParts?: StepParts | undefined
  readonly onEnter?: ((frame: FrameStart) => void) | undefined
  readonly onExit?: ((frame: FrameEnd) => void) | undefined
  /** A log was written; it is void when its frame or one around it fails in the end. */
  readonly onLog?: ((log: Log) => void) | undefined
  /** A contract gave its balance away and ended its frame (SELFDESTRUCT). */
  readonly onDestroy?: ((destruction: Destruction) => void) | undefined
  /** After the outermost frame: what the run looked at or changed, in frames that failed too. */
  readonly onTouched?: ((touched: Touched) => void) | undefined
  /** After the outermost frame: which operations ran, in frames that failed too. */
  readonly onReached?: ((reached: readonly ReachedCode[]) => void) | undefined
  /** Now and then: the run goes on when it resolves. */
  readonly onPause?: (() => Promise<void>) | undefined
}

/**
 * Accounts that were called, created or asked for, each with the slots of its storage that were read or written; the sender may
 * be missing. Operations that could not be paid even where nothing is cold touch nothing.
 */
export type Touched = ReadonlyMap<Address, ReadonlySet<bigint>>

/**
 * What a run reached of a code: marks where control came together, where it parted, and where frames ended. What lies between
 * ran as often (tracers/reached.ts). A code may be told of several times.
 */
export interface ReachedCode {
  /** The code that an account has; of a creation the code that made one, with its arguments. */
  readonly code: Uint8Array
  readonly isCreation: boolean
  readonly starts: number
  /**
   * Three numbers for each mark: the place of an operation; how often a JUMPDEST was come to, or a JUMPI jumped; how often a frame
   * ended there.
   */
  readonly marks: Uint32Array
}

export interface Step {
  readonly pc: number
  readonly opcode: number
  readonly opName: string
  readonly gas: bigint
  /**
   * Of the operation, with the gas that a call passes on. Of one that fails what it costs at least; more than there is only where
   * that depends on what it names alone: an account, a slot, an exponent.
   */
  readonly gasCost: bigint
  /** To be given back at the end of the transaction, as far as it has come. */
  readonly refund: bigint
  readonly depth: number
  /** Whose storage it works on. */
  readonly address: Address
  /** From the bottom to the top. It changes as the run goes on: to be copied by who keeps it. */
  readonly stack: readonly bigint[]
  /** Words at its bottom that are as they were at the frame's operation before; 0 where that is not known. */
  readonly unchanged: number
  /** The tracer's to keep. */
  readonly memory: Uint8Array
  /** What SLOAD finds; 0n when it could not be paid even where nothing is cold. */
  readonly loaded: bigint | undefined
}

/** What of each step a tracer reads: what it leaves out may be empty. */
export interface StepParts {
  readonly stack: boolean
  readonly memory: boolean
  /**
   * The operations that it reads, besides those that cannot run: others may be left out. The stack may then have its top
   * word alone, and a step's cost is that of all until the next one that is told. Undefined: all.
   */
  readonly only?: ReadonlySet<number> | undefined
  /** With `only`: the operations whose stack it reads; at others it may be empty. Undefined: all. */
  readonly stackOf?: ReadonlySet<number> | undefined
  /** False: gas, costs and refunds may be 0. */
  readonly gas?: boolean | undefined
}

export interface FrameStart {
  readonly kind: 'CALL' | 'CALLCODE' | 'DELEGATECALL' | 'STATICCALL' | 'CREATE' | 'CREATE2'
  readonly depth: number
  readonly from: Address
  readonly to: Address | null
  readonly value: bigint
  readonly gas: bigint
  /** May change as the run goes on: to be copied by who keeps it. */
  readonly input: Uint8Array
  /** The code that it is to run, where steps are told too; a delegation is followed. To be asked for at once, and kept as it is. */
  readonly code: () => Uint8Array
  /** True for a call of a contract that is part of the machine. */
  readonly isPrecompile: boolean
}

export interface FrameEnd {
  readonly depth: number
  readonly gasUsed: bigint
  readonly output: Uint8Array
  readonly created: Address | undefined
  readonly failure: Failure | undefined
}

export interface Destruction {
  readonly address: Address
  readonly beneficiary: Address
  /** Wei. */
  readonly balance: bigint
}

/**
 * Asked now and then during a run, with the gas that it has used where the machine knows: false gives the run up.
 */
export type IsAwaited = (gasUsed?: bigint) => boolean

interface JobOptions {
  readonly limits?: ExecutionLimits | undefined
  readonly tracer?: Tracer | undefined
  /** A run that is given up throws a DevchainError `ABANDONED`. */
  readonly isAwaited?: IsAwaited | undefined
}

export interface TransactionJob extends JobOptions {
  readonly world: World
  readonly block: BlockEnvironment
  /** Its sender is trusted: signatures are checked above. */
  readonly transaction: Transaction
}

/** Precompiles that are not where they belong: from where, to where. Null: gone, as an account's code runs there. */
export type MovedPrecompiles = ReadonlyMap<Address, Address | null>

export interface CallJob extends JobOptions {
  readonly world: World
  readonly block: BlockEnvironment
  readonly message: Message
  readonly movedPrecompiles?: MovedPrecompiles | undefined
  /** True: a price below the base fee is as good as any. */
  readonly ignoresBaseFee?: boolean | undefined
  /** True: the outcome lists what was accessed. */
  readonly reportsAccess?: boolean | undefined
}

export interface Failure {
  readonly kind: 'revert' | 'halt'
  /**
   * In words, for people: the decoded reason of a revert ("revert too small",
   * "revert panic 0x11 (arithmetic overflow)", "revert custom error 0x2202f1fa"), or the halt ("out of gas", "invalid opcode 0xfe").
   */
  readonly reason: string
}

/** How little gas would have been enough for a run that had more. */
export interface GasNeed {
  /**
   * Least gas with which it would have gone the same way. That may be more than it uses: an inner call may have all but a
   * 64th (EIP-150), and SSTORE wants 2,300 left.
   */
  readonly gas: bigint
  /** False: with other gas it might go another way, to an end as good. It asked for its gas, or called what may fail. */
  readonly isCertain: boolean
}

export interface ConsoleLine {
  readonly address: Address
  readonly text: string
}

/** What came of a run. Nothing is changed anywhere else: `world` is a new value. */
export interface Outcome {
  readonly failure: Failure | undefined
  /** Gas the sender pays for: after refunds. */
  readonly gasUsed: bigint
  /** Undefined after a failure, and where the machine does not tell. With the transaction's intrinsic gas. */
  readonly gasNeed: GasNeed | undefined
  /** Gas given back at the end, already taken off `gasUsed`. */
  readonly gasRefund: bigint
  readonly output: Uint8Array
  readonly logs: readonly Log[]
  readonly created: Address | undefined
  /** The world after the run; fees paid, nonce raised. */
  readonly world: World
  readonly consoleLines: readonly ConsoleLine[]
  /** When asked for: accounts and slots the run touched, in EIP-2930's form. What `eth_createAccessList` answers. */
  readonly accessed: readonly AccessListEntry[]
  /**
   * True: the outermost frame was the only one; none was tried within it, no precompile called, no contract destroyed. False also
   * where the machine does not tell.
   */
  readonly isAlone: boolean
}

/** The system calls before the first transaction of a block (EIP-4788, EIP-2935). */
export interface BlockStartJob {
  readonly world: World
  readonly block: BlockEnvironment
  readonly parentHash: Hash
  readonly parentBeaconBlockRoot: Hash | undefined
}

/** What a block's end adds: requests of the system contracts (EIP-7002, EIP-7251) and of deposits (EIP-6110). */
export interface BlockEnd {
  readonly world: World
  /** What the header says of it. */
  readonly fields: LaterFields
  /** Of each type that there are any of: the type's number, and the requests one after another. */
  readonly requests: readonly Uint8Array[]
  /** Why no other node would take the block: a request that cannot be read, a system contract that fails or is missing. */
  readonly failure: string | undefined
}

/** The jobs that there are. A run is a function of its job: the same job gives the same outcome. */
export interface Jobs {
  /**
   * Applies a signed transaction in full.
   * @returns a promise only when something has to wait
   * @throws {DevchainError} at once or as the promise's rejection, when the transaction may not be in this block at all (the words of the pool's rejections).
   */
  readonly transact: (job: TransactionJob) => MaybePromise<Outcome>
  /**
   * Runs a message without a signature, as `eth_call` and `eth_estimateGas` do.
   * @throws {DevchainError} as `transact`: too little gas to begin, or a price that the sender cannot pay.
   */
  readonly call: (job: CallJob) => MaybePromise<Outcome>
  readonly beginBlock: (job: BlockStartJob) => Promise<World>
  readonly endBlock: (job: {
    readonly world: World
    readonly block: BlockEnvironment
    readonly logs: readonly Log[]
  }) => Promise<BlockEnd>
  /**
   * The index of the first blob that its commitment and proofs do not prove; undefined where all are proven. Their sizes
   * and scalars are checked above.
   */
  readonly findWrongBlob: (sidecar: BlobSidecar) => Promise<number | undefined>
  /**
   * Lets timers and sockets have their turn between two jobs of a long piece of work.
   * @throws {DevchainError} `ABANDONED`, as the promise's rejection, when nobody waits for the work any more
   */
  readonly rest: (isAwaited?: IsAwaited) => Promise<void>
}

export interface Executor extends Jobs {
  /** Gives up what still runs; it throws a DevchainError `ABANDONED`. */
  readonly close: () => void
}

/** Which machines run jobs: the library's alone, an interpreter in WebAssembly, or that and what compiles hot code. */
export type EvmChoice = ChainSettings['evm']

/** The memory limit bounds what the open frames of one run have together. */
export interface ExecutorOptions extends Some<Pick<ChainSettings, 'evm' | 'memoryLimit'>> {
  /** Told of bugs that a caller does not hear of, as the job was run in another way. Standard error when left out. */
  readonly onBug?: ((error: unknown) => void) | undefined
}
