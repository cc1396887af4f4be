// Compiles operations that read the message, the block and accounts, and those that read and write storage.

import type { Hardfork } from '../../../../protocol/forks.ts'
import { OP } from '../../../opcodes.ts'
import * as layout from '../../layout.ts'
import type { Trace } from '../trace/trace.ts'
import { FRAME_LOCAL, GAS_LOCAL, type Limb } from '../wasm/emitter.ts'
import type { Helper } from '../wasm/helpers.ts'
import { I64_ADD, I64_EXTEND_I32_U } from '../wasm/instructions.ts'
import { needChangeable } from './memory.ts'
import { type Compile, operand, type Row } from './operation.ts'

/** Addresses have three limbs. */
const ADDRESS_LIMBS = 3

function environment(place: number, limbs = 4): Compile {
  return ({ emitter, stack }) => stack.push(emitter.takeWord(place, limbs))
}

/** A word within the frame, or within what a number of the frame points to. */
function wordOf(offset: number, limbs: number, pointer?: number): Compile {
  return ({ emitter, stack }) => {
    const limb = (i: number): Limb => {
      if (i >= limbs) return 0n
      emitter.get(FRAME_LOCAL)
      if (pointer !== undefined) emitter.load32(pointer)
      emitter.load64(offset + 8 * i)
      return emitter.keep()
    }
    stack.push([limb(0), limb(1), limb(2), limb(3)])
  }
}

function frameNumber(offset: number): Compile {
  return (trace) => trace.pushFrameNumber(offset)
}

const compileReturnSize: Compile = ({ emitter, stack }) => {
  emitter.i32(0)
  emitter.load32(layout.RETURN_LENGTH)
  emitter.op(I64_EXTEND_I32_U)
  stack.pushLimb(emitter.keep())
}

/** GAS: what is left when the whole trace is paid, and what of it lies ahead. */
const compileGas: Compile = (trace, step) => {
  const { emitter } = trace
  emitter.i32(layout.DEPENDS_ON_GAS)
  emitter.i32(1)
  emitter.store32(0)
  emitter.get(GAS_LOCAL)
  emitter.i64(trace.ahead(step))
  emitter.op(I64_ADD)
  trace.stack.pushLimb(emitter.keep())
}

/** Replaces a word by what a helper makes of it, free of further gas. */
function replaced(helper: 'blockHash' | 'blobHash'): Compile {
  return (trace) => {
    const { emitter, stack } = trace
    emitter.putWord(stack.pop(), operand(0))
    emitter.i32(operand(0))
    trace.call(helper)
    stack.push(emitter.takeWord(operand(0)))
  }
}

/** BALANCE, EXTCODESIZE, EXTCODEHASH: an account may be cold. */
function ofAccount(helper: Helper): Compile {
  return (trace, step) => {
    const exit = trace.exit(step.pc)
    const { emitter, stack } = trace
    emitter.putWord(stack.pop(), operand(0))
    emitter.i32(operand(0))
    emitter.get(GAS_LOCAL)
    trace.call(helper)
    trace.payOrLeave(exit)
    stack.push(emitter.takeWord(operand(0)))
  }
}

/** Hands a helper the frame and so many words of the stack. */
function handOver({ emitter, stack }: Trace, count: number): void {
  for (let n = 0; n < count; n++) emitter.putWord(stack.pop(), operand(n))
  emitter.get(FRAME_LOCAL)
  for (let n = 0; n < count; n++) emitter.i32(operand(n))
}

const compileStorageLoad: Compile = (trace, step) => {
  const exit = trace.exit(step.pc)
  const { emitter, stack } = trace
  handOver(trace, 1)
  emitter.i32(operand(1))
  emitter.get(GAS_LOCAL)
  trace.call('sloadOrLeave')
  trace.payOrLeave(exit)
  stack.push(emitter.takeWord(operand(1)))
}

const compileStorageStore: Compile = (trace, step) => {
  const exit = trace.exit(step.pc)
  const { emitter } = trace
  handOver(trace, 2)
  emitter.get(GAS_LOCAL)
  emitter.i64(trace.ahead(step))
  trace.call('sstoreOrLeave')
  trace.payOrLeave(exit)
}

const compileTransientLoad: Compile = (trace) => {
  handOver(trace, 1)
  trace.call('tload')
  trace.stack.push(trace.emitter.takeWord(operand(0)))
}

const compileTransientStore: Compile = (trace, step) => {
  needChangeable(trace, trace.exit(step.pc))
  handOver(trace, 2)
  trace.call('tstore')
}

/** All that any fork has. */
export const CHAIN_OPERATIONS: readonly Row[] = [
  [OP.ADDRESS, wordOf(layout.FRAME_ADDRESS, ADDRESS_LIMBS)],
  [OP.ORIGIN, environment(layout.ENV_ORIGIN, ADDRESS_LIMBS)],
  [OP.CALLER, wordOf(layout.FRAME_CALLER, ADDRESS_LIMBS)],
  [OP.CALLVALUE, wordOf(layout.FRAME_VALUE, 4)],
  [OP.CALLDATASIZE, frameNumber(layout.FRAME_INPUT_LENGTH)],
  [OP.CODESIZE, frameNumber(layout.FRAME_CODE_LENGTH)],
  [OP.GASPRICE, environment(layout.ENV_GAS_PRICE)],
  [OP.RETURNDATASIZE, compileReturnSize],
  [OP.BLOCKHASH, replaced('blockHash')],
  [OP.COINBASE, environment(layout.ENV_COINBASE, ADDRESS_LIMBS)],
  [OP.TIMESTAMP, environment(layout.ENV_TIMESTAMP)],
  [OP.NUMBER, environment(layout.ENV_NUMBER)],
  [OP.PREVRANDAO, environment(layout.ENV_RANDOM)],
  [OP.GASLIMIT, environment(layout.ENV_GAS_LIMIT)],
  [OP.CHAINID, environment(layout.ENV_CHAIN_ID)],
  [OP.SELFBALANCE, wordOf(layout.ACCOUNT_BALANCE, 4, layout.FRAME_ACCOUNT)],
  [OP.BASEFEE, environment(layout.ENV_BASE_FEE)],
  [OP.BLOBHASH, replaced('blobHash')],
  [OP.BLOBBASEFEE, environment(layout.ENV_BLOB_BASE_FEE)],
  [OP.MSIZE, frameNumber(layout.FRAME_MEMORY_SIZE)],
  [OP.GAS, compileGas],
  [OP.TLOAD, compileTransientLoad],
  [OP.TSTORE, compileTransientStore],
]

/** Those whose gas the helpers know from this fork on; before, they are the interpreter's. */
export const ACCESS_OPERATIONS: readonly Row[] = [
  [OP.BALANCE, ofAccount('balanceOrLeave')],
  [OP.EXTCODESIZE, ofAccount('codeSizeOrLeave')],
  [OP.EXTCODEHASH, ofAccount('codeHashOrLeave')],
  [OP.SLOAD, compileStorageLoad],
  [OP.SSTORE, compileStorageStore],
]
export const ACCESS_FORK: Hardfork = 'berlin'
