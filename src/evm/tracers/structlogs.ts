// geth's struct logs: every operation with gas, stack, memory and storage.
import type { Address } from '../../core/hex.ts'
import type { FrameEnd, Step, Tracer } from '../executor.ts'
import { OP } from '../opcodes.ts'

export interface StructLogOptions {
  readonly withStack: boolean
  readonly withMemory: boolean
  readonly withStorage: boolean
  readonly withReturnData: boolean
  readonly limit: number
}

/** Details besides step and stack; undefined if not requested or not applicable. */
export interface StepDetails {
  readonly memory: Uint8Array | undefined
  /** For storage operations: the account's slots accessed so far. */
  readonly storage: ReadonlyMap<bigint, bigint> | undefined
  readonly returnData: Uint8Array | undefined
}

/** Receives operations in order. Keeps none, as there may be millions. */
export interface StructLogSink {
  readonly write: (step: Step, details: StepDetails | undefined) => void
  readonly fail: (reason: string) => void
}

/** Failures by gas or stack; the operation itself shows the others. */
const FAULTS: ReadonlySet<string> = new Set(['out of gas', 'stack underflow', 'stack overflow'])

export function traceStructLogs(options: StructLogOptions, sink: StructLogSink): Tracer {
  const { withStack, withStorage, withMemory, withReturnData } = options
  const hasDetails = withStorage || withMemory || withReturnData
  const storages = new Map<Address, Map<bigint, bigint>>()
  let returned: (Uint8Array | undefined)[] = []
  let last: Step | undefined
  let count = 0
  const storageOf = (step: Step): ReadonlyMap<bigint, bigint> | undefined => {
    const { opcode, stack, address, loaded } = step
    const slot = stack.at(-1)
    if (slot === undefined || (opcode !== OP.SLOAD && opcode !== OP.SSTORE)) return undefined
    const slots = storages.get(address) ?? new Map<bigint, bigint>()
    storages.set(address, slots)
    const value = opcode === OP.SLOAD ? loaded : stack.at(-2)
    if (value !== undefined) slots.set(slot, value)
    return slots
  }
  const detailsOf = (step: Step): StepDetails => ({
    memory: withMemory ? step.memory : undefined,
    storage: withStorage ? storageOf(step) : undefined,
    returnData: withReturnData ? returned[step.depth] : undefined,
  })
  const onStep = (step: Step): void => {
    if (options.limit > 0 && count >= options.limit) {
      last = undefined
      return
    }
    count += 1
    last = step
    sink.write(step, hasDetails ? detailsOf(step) : undefined)
    // a call that opens no frame returns nothing
    const { opcode, depth } = step
    if (opcode >= OP.CREATE && opcode !== OP.RETURN) returned[depth] = undefined
  }
  const onExit = ({ depth, output, created, failure }: FrameEnd): void => {
    if (last?.depth === depth && failure !== undefined && isFault(last, failure.reason)) {
      sink.fail(failure.reason)
    }
    returned = returned.slice(0, depth)
    const isSilent = failure === undefined ? created !== undefined : failure.kind === 'halt'
    if (depth > 0) returned[depth - 1] = isSilent ? undefined : output
  }
  const stepParts = { stack: withStack || withStorage, memory: withMemory, end: true }
  return { onStep, stepParts, onExit }
}

/** False if the frame failed after its last operation, as a creation without gas for its code does. */
function isFault({ opcode, gas, gasCost }: Step, reason: string): boolean {
  return FAULTS.has(reason) && (opcode !== OP.RETURN || gasCost > gas)
}
