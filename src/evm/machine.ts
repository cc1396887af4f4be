// The machine interface: runs one message with all inner messages over an overlay. `transition.ts` does the rest of a
// transaction (gas, authorizations, refunds, fees) for any machine.
import type { Address, Hash } from '../core/hex.ts'
import type { MaybePromise } from '../core/promises.ts'
import type { AccessListEntry } from '../protocol/transactions/transaction.ts'
import type { Overlay } from '../state/overlay.ts'
import type {
  BlockEnvironment,
  ExecutionLimits,
  Failure,
  GasNeed,
  Message,
  MovedPrecompiles,
  Outcome,
  Touched,
  Tracer,
} from './executor.ts'

export interface MachineJob {
  /** On failure the machine reverts its changes itself. */
  readonly overlay: Overlay
  readonly block: BlockEnvironment
  /** The transition has raised the sender's nonce and charged gas. */
  readonly message: Pick<Message, 'from' | 'to' | 'value' | 'data' | 'accessList' | 'blobs'>
  /** Without the intrinsic gas. */
  readonly gas: bigint
  /** From amsterdam on: the reservoir of state gas. */
  readonly stateGas: bigint
  readonly gasPrice: bigint
  /** The sender's nonce before it was raised, for the address of a creation. */
  readonly creatorNonce: bigint
  /**
   * Addresses that start warm besides the fork's precompiles: sender, target, miner, authorities, and the access list
   * (EIP-2930). Ignored before berlin.
   */
  readonly warm: readonly Address[]
  readonly limits: ExecutionLimits | undefined
  readonly movedPrecompiles: MovedPrecompiles | undefined
  /** Limits the memory of all open frames together, in bytes. */
  readonly memoryLimit: number
  readonly reportsAccess: boolean
  /** From amsterdam on: the result has what was read. */
  readonly reportsRead: boolean
  /** For steps and frames. Some machines ignore it. */
  readonly tracer: Tracer | undefined
  /** Called for console messages with the caller and the input, which may change later. */
  readonly onConsole: (from: Address, data: Uint8Array) => void
  /** The machine awaits it now and then, with the gas used if known; its exceptions end the run. Undefined: no pauses. */
  readonly pause: ((gasUsed?: bigint) => Promise<void>) | undefined
  /** Reports a bug that the machine works around, as the caller does not see it. */
  readonly onBug: (error: unknown) => void
}

export interface MachineResult
  extends Pick<Outcome, 'output' | 'logs' | 'isAlone' | 'dependsOnTime'> {
  /** Undefined also in frontier if gas for deployed code is short. */
  readonly failure: Failure | undefined
  /** Of the job's gas, before refunds; all of it after a halt. */
  readonly gasUsed: bigint
  /** Of a successful run, if the machine measures it. */
  readonly gasNeed: GasNeed | undefined
  readonly refund: bigint
  /** Of a creation, even if it failed. */
  readonly created: Address | undefined
  /** To delete at the end of the transaction; since cancun only contracts it created (EIP-6780). */
  readonly destroyed: readonly Address[]
  /**
   * Accounts touched in successful frames, and precompile 0x03 even in failed ones: empty ones are deleted (EIP-161). Accounts
   * that cannot be empty may be missing.
   */
  readonly touched: Iterable<Address>
  /** If requested, since berlin: the access list, then what turned warm, in failed frames too. Else empty. */
  readonly accessed: readonly AccessListEntry[]
  /** From amsterdam on. */
  readonly state?: StateResult | undefined
}

/** State gas, and what was read, even in failed frames (EIP-8037, EIP-7928). */
export interface StateResult {
  /** Left in the reservoir. */
  readonly reservoir: bigint
  /** The part of `gasUsed` that paid for state. */
  readonly spilled: bigint
  /** True: the gas was too little before the first operation, so that authorizations are void too. */
  readonly isUnprepared: boolean
  /** Empty unless requested. */
  readonly read: Touched
}

/** The result depends on the job alone. Runs may overlap while one is paused. */
export interface Machine {
  /**
   * @returns a promise only if it has to wait
   * @throws errors of `pause`, and Unrepeatable for errors of the tracer. Any other error is a bug of the machine and leaves
   * the overlay unusable.
   */
  readonly run: (job: MachineJob) => MachineResult | Promise<MachineResult>
}

/** Ends a run that no other machine may repeat, as its tracer was called. Has the cause. */
export class Unrepeatable extends Error {
  override readonly name = 'Unrepeatable'

  constructor(cause: unknown) {
    super('a tracer has already seen this run', { cause })
  }
}

/** A frame that exceeds the memory limit halts, as without gas. */
export const MEMORY_LIMIT_REASON = 'memory limit exceeded'

/** A precompile that is the target of a message and rejects its input. */
export const PRECOMPILE_REASON = 'precompile failed'

/** WebAssembly addresses 4 GiB, which code and state share. */
const MEMORY_CEILING = 3 * 2 ** 30

export const MAX_CALL_DEPTH = 1024

const OPEN_FRAMES = MAX_CALL_DEPTH + 1

/**
 * The most bytes of memory that gas can buy, at 3 a word plus the square of the words over 512. Equal frames get most. The
 * result is a power of two, so that runs with similar gas share it.
 */
export function memoryForGas(gas: bigint): number {
  const gasOfEach = Number(gas) / OPEN_FRAMES
  const wordsOfEach = (Math.sqrt(9 + gasOfEach / 128) - 3) * 256
  const most = 32 * OPEN_FRAMES * (Math.ceil(wordsOfEach) + 1)
  return Math.min(2 ** Math.ceil(Math.log2(most)), MEMORY_CEILING)
}

export interface Machines {
  /**
   * Runs `work` on the fastest machine. After a bug, `work` starts again on the next one.
   * @param codeHash the hash of the outermost code; called only if some code has failed
   * @returns a promise only if it has to wait
   * @throws {DevchainError} errors of the work; and any error of the last machine
   */
  run<T>(codeHash: () => Hash, work: (machine: Machine) => MaybePromise<T>): MaybePromise<T>
}

export interface RunContext {
  readonly machines: Machines
  /** For jobs with a tracer, if others than `machines`. */
  readonly tracing?: Machines | undefined
  /** Limits the memory of all open frames of a run, in bytes. */
  readonly memoryLimit: number
  readonly isClosed: () => boolean
  readonly onBug: MachineJob['onBug']
}
