// OpenEthereum's vmTrace: every operation with its effect on stack, memory and storage, by frame.
import { NEWEST_HARDFORK } from '../../protocol/forks.ts'
import type { FrameEnd, FrameStart, Step, Tracer } from '../executor.ts'
import { OP, operationsAt } from '../opcodes.ts'

export interface Effect {
  readonly gas: bigint
  /** Words pushed or moved, lowest first. */
  readonly push: readonly bigint[]
  readonly memory: { readonly offset: number; readonly data: Uint8Array } | undefined
  readonly store: { readonly slot: bigint; readonly value: bigint } | undefined
}

/** Receives frames and operations in order, and keeps none. An operation opens at most one frame. */
export interface OperationSink {
  readonly openFrame: (code: Uint8Array) => void
  readonly closeFrame: () => void
  readonly openOperation: (pc: number, cost: bigint) => void
  readonly closeOperation: (effect: Effect | undefined) => void
}

/** Stack effects are the same in all forks. */
const OPERATIONS = operationsAt(NEWEST_HARDFORK)

/** Reports every operation and its effect. Precompile calls open no frame. */
export function traceOperations(sink: OperationSink): Tracer {
  /** For each open frame, its open operation; precompile frames are not reported. */
  const open: (Begun | undefined)[] = []
  const precompiles: boolean[] = []
  const onEnter = (start: FrameStart): void => {
    open.push(undefined)
    precompiles.push(start.isPrecompile && start.depth > 0)
    if (precompiles.at(-1) !== true) sink.openFrame(start.code())
  }
  const onStep = (step: Step): void => {
    const before = open.at(-1)
    if (before !== undefined) sink.closeOperation(effectOf(before, step))
    open[open.length - 1] = begun(step)
    sink.openOperation(step.pc, step.gasCost)
  }
  const onExit = ({ failure }: FrameEnd): void => {
    const step = open.pop()
    if (step !== undefined) {
      sink.closeOperation(failure?.kind !== 'halt' ? lastEffect(step) : undefined)
    }
    if (precompiles.pop() !== true) sink.closeFrame()
  }
  return { onEnter, onStep, stepParts: { stack: true, memory: true }, onExit }
}

/** `stack` has the words that it may take, the topmost last. */
type Begun = Pick<Step, 'opcode' | 'gas' | 'gasCost' | 'stack'>

const MOST_WORDS = 7

function begun({ opcode, gas, gasCost, stack }: Step): Begun {
  const hasEffect = opcode === OP.SSTORE || WINDOWS.has(opcode)
  return { opcode, gas, gasCost, stack: hasEffect ? stack.slice(-MOST_WORDS) : [] }
}

function effectOf(step: Begun, next: Step): Effect {
  // for DUP and SWAP this includes the words that they reach over
  const count = OPERATIONS.get(step.opcode)?.leaves ?? 0
  return {
    gas: next.gas,
    push: count === 0 ? [] : next.stack.slice(-count),
    memory: memoryOf(step, next.memory),
    store: storeOf(step),
  }
}

function lastEffect(step: Begun): Effect {
  return { gas: step.gas - step.gasCost, push: [], memory: undefined, store: storeOf(step) }
}

function storeOf({ opcode, stack }: Begun): Effect['store'] {
  if (opcode !== OP.SSTORE) return undefined
  return { slot: stack.at(-1) ?? 0n, value: stack.at(-2) ?? 0n }
}

/** The memory range written, or read by MLOAD. */
function memoryOf({ opcode, stack }: Begun, memory: Uint8Array): Effect['memory'] {
  const window = WINDOWS.get(opcode)
  if (window === undefined) return undefined
  const offset = Number(stack.at(-1 - window.offset) ?? 0n)
  const length =
    typeof window.length === 'number'
      ? window.length
      : Number(stack.at(-1 - window.length.at) ?? 0n)
  if (length === 0) return undefined
  return { offset, data: memory.slice(offset, offset + length) }
}

interface Window {
  /** The stack position of the offset, from the top. */
  readonly offset: number
  readonly length: number | { readonly at: number }
}

const WORD: Window = { offset: 0, length: 32 }
const COPIED: Window = { offset: 0, length: { at: 2 } }
const RETURNED: Window = { offset: 5, length: { at: 6 } }
/** For calls without value. */
const RETURNED_FREE: Window = { offset: 4, length: { at: 5 } }

const WINDOWS: ReadonlyMap<number, Window> = new Map([
  [OP.MLOAD, WORD],
  [OP.MSTORE, WORD],
  [OP.MSTORE8, { offset: 0, length: 1 }],
  [OP.CALLDATACOPY, COPIED],
  [OP.CODECOPY, COPIED],
  [OP.RETURNDATACOPY, COPIED],
  [OP.MCOPY, COPIED],
  [OP.EXTCODECOPY, { offset: 1, length: { at: 3 } }],
  [OP.CALL, RETURNED],
  [OP.CALLCODE, RETURNED],
  [OP.DELEGATECALL, RETURNED_FREE],
  [OP.STATICCALL, RETURNED_FREE],
])
