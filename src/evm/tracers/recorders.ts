// Small recorders: touched accounts and slots, called selectors, read block hashes, gas by opcode, and transfers of ether.
import { type Address, hexFromBytes } from '../../core/hex.ts'
import type { Log } from '../../protocol/blocks/receipt.ts'
import type { Destruction, FrameEnd, FrameStart, Step, Touched, Tracer } from '../executor.ts'
import { OP } from '../opcodes.ts'
import { transferLog } from '../transferlog.ts'

export interface TouchRecorder {
  readonly tracer: Tracer
  readonly touched: Touched
}

/** @param known accounts that each run touches: sender, recipient, miner, authorities */
export function recordTouched(known: Iterable<Address>): TouchRecorder {
  const touched = new Map<Address, readonly bigint[]>()
  for (const address of known) touched.set(address, [])
  const tracer: Tracer = {
    onTouched: (found) => {
      for (const [address, slots] of found) touched.set(address, slots)
    },
  }
  return { tracer, touched }
}

/** Counts by key, e.g. `0xa9059cbb-64`: selector and the number of bytes after it. Ignores creations and precompile calls. */
export function recordSelectors(): {
  readonly tracer: Tracer
  readonly counts: ReadonlyMap<string, number>
} {
  const counts = new Map<string, number>()
  const tracer: Tracer = {
    onEnter: ({ to, input, isPrecompile }) => {
      if (to === null || isPrecompile || input.length < 4) return
      const key = `${hexFromBytes(input.subarray(0, 4))}-${input.length - 4}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    },
  }
  return { tracer, counts }
}

/** Blocks that BLOCKHASH can read (Yellow Paper, appendix H). */
const REACH = 256n

/**
 * Finds the oldest block whose hash was read successfully, if any. `number` is the block of the runs; the tracer may be reused
 * for several.
 */
export function recordBlockHashes(number: bigint): {
  readonly tracer: Tracer
  readonly oldest: () => bigint | undefined
} {
  let oldest: bigint | undefined
  const tracer: Tracer = {
    onStep: ({ opcode, stack }) => {
      // includes operations that fail
      if (opcode !== OP.BLOCKHASH) return
      const asked = stack.at(-1)
      if (asked === undefined || asked >= number || asked + REACH < number) return
      if (oldest === undefined || asked < oldest) oldest = asked
    },
    stepParts: { stack: true, memory: false, only: new Set([OP.BLOCKHASH]) },
  }
  return { tracer, oldest: () => oldest }
}

interface OpcodeGas {
  count: number
  gasUsed: bigint
}

type GasByOpcode = ReadonlyMap<string, OpcodeGas>

/**
 * Gas passed to a frame counts for the operations in it; gas of a precompile counts for the call. The sum is the gas used,
 * without intrinsic gas, refunds, and what failing frames lose.
 */
export function recordOpcodeGas(): { readonly tracer: Tracer; readonly byOpcode: GasByOpcode } {
  const byOpcode = new Map<string, OpcodeGas>()
  /** The operation that opened each frame, outermost first; undefined for the run itself. */
  const openers: (OpcodeGas | undefined)[] = []
  const isPrecompile: boolean[] = []
  let latest: OpcodeGas | undefined
  const count = ({ opName, gas, gasCost, state }: Step): void => {
    const entry = byOpcode.get(opName) ?? { count: 0, gasUsed: 0n }
    byOpcode.set(opName, entry)
    entry.count += 1
    // an operation cannot use more gas than is left
    entry.gasUsed += (gasCost < gas ? gasCost : gas) + (state?.cost ?? 0n)
    latest = entry
  }
  const tracer: Tracer = {
    onStep: count,
    stepParts: { stack: false, memory: false },
    onEnter: (frame) => {
      const opener = openers.length === 0 ? undefined : latest
      openers.push(opener)
      isPrecompile.push(frame.isPrecompile)
      // includes the stipend, of which the unused part comes back
      if (opener !== undefined) opener.gasUsed -= frame.gas
    },
    onExit: ({ gasUsed }) => {
      const opener = openers.pop()
      if (isPrecompile.pop() === true && opener !== undefined) opener.gasUsed += gasUsed
    },
  }
  return { tracer, byOpcode }
}

/** Stands for ether where a token's address is expected (ERC-7528). */
export const ETHER_ADDRESS: Address = `0x${'ee'.repeat(20)}` as Address

interface OpenFrame {
  readonly logs: Log[]
  /** Ether for the contract that it creates, whose address is known at the end. */
  readonly endowment: { readonly from: Address; readonly value: bigint } | undefined
}

/** Collects logs and ether transfers as logs, self-destructs included. Fees are no transfers; a failed frame drops its own. */
export function watchTransfers(): {
  readonly tracer: Tracer
  readonly logs: () => readonly Log[]
} {
  const frames: OpenFrame[] = []
  let whole: readonly Log[] = []
  const record = (log: Log): void => {
    frames.at(-1)?.logs.push(log)
  }
  const onEnter = ({ kind, from, to, value }: FrameStart): void => {
    const isMoved = value > 0n && kind !== 'DELEGATECALL' && kind !== 'CALLCODE'
    frames.push({ logs: [], endowment: isMoved && to === null ? { from, value } : undefined })
    if (isMoved && to !== null) record(transfer(from, to, value))
  }
  const onExit = ({ created, failure }: FrameEnd): void => {
    const frame = frames.pop()
    if (frame === undefined) return
    const { logs, endowment } = frame
    if (endowment !== undefined && created !== undefined) {
      logs.unshift(transfer(endowment.from, created, endowment.value))
    }
    const kept = failure === undefined ? logs : []
    const outer = frames.at(-1)
    if (outer === undefined) whole = kept
    else outer.logs.push(...kept)
  }
  const onDestroy = ({ address, beneficiary, balance }: Destruction): void => {
    if (balance > 0n) record(transfer(address, beneficiary, balance))
  }
  return { tracer: { onEnter, onExit, onDestroy, onLog: record }, logs: () => whole }
}

function transfer(from: Address, to: Address, value: bigint): Log {
  return transferLog(from, to, value, ETHER_ADDRESS)
}
