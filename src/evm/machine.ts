// A machine runs one message, with all the messages that it brings, over an overlay. What a transaction does around
// that (buying gas, authorizations, refunds, fees) is `transition.ts`, which does not know which machine it has.
import type { Address } from '../core/hex.ts'
import type { Log } from '../protocol/blocks/receipt.ts'
import type { AccessListEntry } from '../protocol/transactions/transaction.ts'
import type { Overlay } from '../state/overlay.ts'
import type {
  BlockEnvironment,
  ExecutionLimits,
  Failure,
  GasNeed,
  Message,
  MovedPrecompiles,
  Tracer,
} from './executor.ts'

export interface MachineJob {
  /** What the run changes; on a failure the machine takes its changes back itself. */
  readonly overlay: Overlay
  readonly block: BlockEnvironment
  /** Its sender's nonce in the overlay is counted already, its gas is paid. */
  readonly message: Pick<Message, 'from' | 'to' | 'value' | 'data' | 'accessList' | 'blobs'>
  /** What the code may use: without the intrinsic gas. */
  readonly gas: bigint
  readonly gasPrice: bigint
  /** Nonce of the sender before it was counted: the address of a creation comes from it. */
  readonly creatorNonce: bigint
  /**
   * Warm from the start besides the fork's precompiles, which are so wherever they were moved: sender, target, miner,
   * authorities, and the message's access list (EIP-2930). Without effect before berlin.
   */
  readonly warm: readonly Address[]
  readonly limits: ExecutionLimits | undefined
  readonly movedPrecompiles: MovedPrecompiles | undefined
  /** Bytes of memory that all open frames may have together. */
  readonly memoryLimit: number
  readonly reportsAccess: boolean
  /** For steps and frames. Not every machine takes one. */
  readonly tracer: Tracer | undefined
  /** Told of every message to the console that opens a frame: from whom (CALLER), and the input, which may change later. */
  readonly onConsole: (from: Address, data: Uint8Array) => void
  /**
   * The machine awaits it now and then, with the gas used so far where it knows that. What `pause` throws ends the run and
   * comes out of it. Undefined: no pauses.
   */
  readonly pause: ((gasUsed?: bigint) => Promise<void>) | undefined
}

export interface MachineResult {
  /** A contract of frontier whose code could not be paid for is no failure. */
  readonly failure: Failure | undefined
  /** Of the job's gas, before refunds; all of it when the run halted. */
  readonly gasUsed: bigint
  /** Of a run that did not fail: what it would have needed of the job's gas, if the machine knows. */
  readonly gasNeed: GasNeed | undefined
  /** Refunds that the run earned, unbounded; 0 when it failed. */
  readonly refund: bigint
  readonly output: Uint8Array
  /** None when it failed. */
  readonly logs: readonly Log[]
  /** The address of a creation, also of one that failed. */
  readonly created: Address | undefined
  /** To be deleted at the end of the transaction: those of this very transaction only, from cancun on (EIP-6780). */
  readonly destroyed: readonly Address[]
  /**
   * Accounts that were called, paid, created or destroyed in frames that held, and the precompile 0x03 even in one that
   * did not: they go when they are empty (EIP-161). Those that cannot be empty may be missing.
   */
  readonly touched: Iterable<Address>
  /**
   * When wanted and from berlin on: the accounts of the access list and those that turned from cold to warm, in that
   * order, each with such slots; in frames that failed too. Else none.
   */
  readonly accessed: readonly AccessListEntry[]
  readonly isAlone: boolean
}

/** Runs messages. What it comes to depends on the job alone. Runs may overlap while one of them pauses. */
export interface Machine {
  /**
   * @returns a promise only when something has to wait
   * @throws whatever `pause` throws, and an Unrepeatable of what the tracer throws. Anything else that is thrown is a bug
   *   of the machine; the overlay is then in no state to go on with.
   */
  readonly run: (job: MachineJob) => MachineResult | Promise<MachineResult>
}

/** What ends a run that may not begin anew on another machine, as its tracer has been told of it: the cause comes out. */
export class Unrepeatable extends Error {
  override readonly name = 'Unrepeatable'

  constructor(cause: unknown) {
    super('the run has been told of', { cause })
  }
}

/** Why a frame halts that wants more memory than the limit leaves; it costs all its gas, as want of gas does. */
export const MEMORY_LIMIT_REASON = 'memory limit exceeded'

/** Why a precompile halts that cannot read its input, when it is what a message calls. */
export const PRECOMPILE_REASON = 'precompile failed'

/** Bytes of memory that any run may have: WebAssembly addresses 4 GiB, and keeps code and state there too. */
const MEMORY_CEILING = 3 * 2 ** 30

/** Frames within the outermost one, at most. */
export const MAX_CALL_DEPTH = 1024

const OPEN_FRAMES = MAX_CALL_DEPTH + 1

/**
 * Bytes of memory that so much gas buys at most, at 3 a word and the square of the words over 512. Frames of equal size get
 * most for it. The result is a power of two, so that runs with similar gas have the same.
 */
export function memoryForGas(gas: bigint): number {
  const gasOfEach = Number(gas) / OPEN_FRAMES
  const wordsOfEach = (Math.sqrt(9 + gasOfEach / 128) - 3) * 256
  const most = 32 * OPEN_FRAMES * (Math.ceil(wordsOfEach) + 1)
  return Math.min(2 ** Math.ceil(Math.log2(most)), MEMORY_CEILING)
}
