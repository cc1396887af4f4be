// Compiles reads of message and block, and storage access.
import type { Hardfork } from '../../../../protocol/forks.ts'
import { OP } from '../../../opcodes.ts'
import * as layout from '../../layout.ts'
import type { Emitter, Limb } from '../wasm/emitter.ts'
import { I64_ADD, I64_EXTEND_I32_U } from '../wasm/instructions.ts'
import * as locals from '../wasm/locals.ts'
import { type Compile, called, callHelper, type Row } from './operation.ts'

const ADDRESS_LIMBS = 3

function environment(place: number, limbs = 4): Compile {
  return ({ emitter, stack }) => stack.push(emitter.takeWord(place, limbs))
}

/** At an offset in the frame, or from the address that the frame has at `pointer`. */
function wordOf(offset: number, limbs: number, pointer?: number): Compile {
  return ({ emitter, stack }) => {
    const limb = (i: number): Limb => {
      if (i >= limbs) return 0n
      emitter.get(locals.FRAME)
      if (pointer !== undefined) emitter.load32(pointer)
      emitter.load64(offset + 8 * i)
      return emitter.keep()
    }
    stack.push([limb(0), limb(1), limb(2), limb(3)])
  }
}

function numberBy(load: (emitter: Emitter) => void): Compile {
  return ({ emitter, stack }) => {
    load(emitter)
    emitter.op(I64_EXTEND_I32_U)
    stack.pushLimb(emitter.keep())
  }
}

function frameNumber(offset: number): Compile {
  return numberBy((emitter) => emitter.frame32(offset))
}

function setFlag(emitter: Emitter, place: number): void {
  emitter.i32(place)
  emitter.i32(1)
  emitter.store32(0)
}

const compileTimestamp: Compile = (trace, step) => {
  setFlag(trace.emitter, layout.DEPENDS_ON_TIME)
  environment(layout.ENV_TIMESTAMP)(trace, step)
}

/** GAS is what the whole trace leaves, plus the prepaid rest. */
const compileGas: Compile = (trace, step) => {
  const { emitter } = trace
  setFlag(emitter, layout.DEPENDS_ON_GAS)
  emitter.get(locals.GAS)
  emitter.i64(trace.ahead(step))
  emitter.op(I64_ADD)
  trace.stack.pushLimb(emitter.keep())
}

const compileStorageStore: Compile = (trace, step) => {
  const ahead = (): void => trace.emitter.i64(trace.ahead(step))
  callHelper(trace, 'sstoreOrLeave', { exit: trace.exit(step.pc), numbers: [ahead] })
}

export const CHAIN_OPERATIONS: readonly Row[] = [
  [OP.ADDRESS, wordOf(layout.FRAME_ADDRESS, ADDRESS_LIMBS)],
  [OP.ORIGIN, environment(layout.ENV_ORIGIN, ADDRESS_LIMBS)],
  [OP.CALLER, wordOf(layout.FRAME_CALLER, ADDRESS_LIMBS)],
  [OP.CALLVALUE, wordOf(layout.FRAME_VALUE, 4)],
  [OP.CALLDATASIZE, frameNumber(layout.FRAME_INPUT_LENGTH)],
  [OP.CODESIZE, frameNumber(layout.FRAME_CODE_LENGTH)],
  [OP.GASPRICE, environment(layout.ENV_GAS_PRICE)],
  [OP.RETURNDATASIZE, numberBy((emitter) => emitter.global32(layout.RETURN_LENGTH))],
  [OP.BLOCKHASH, called('blockHash')],
  [OP.COINBASE, environment(layout.ENV_COINBASE, ADDRESS_LIMBS)],
  [OP.TIMESTAMP, compileTimestamp],
  [OP.NUMBER, environment(layout.ENV_NUMBER)],
  [OP.PREVRANDAO, environment(layout.ENV_RANDOM)],
  [OP.GASLIMIT, environment(layout.ENV_GAS_LIMIT)],
  [OP.CHAINID, environment(layout.ENV_CHAIN_ID)],
  [OP.SELFBALANCE, wordOf(layout.ACCOUNT_BALANCE, 4, layout.FRAME_ACCOUNT)],
  [OP.BASEFEE, environment(layout.ENV_BASE_FEE)],
  [OP.BLOBHASH, called('blobHash')],
  [OP.BLOBBASEFEE, environment(layout.ENV_BLOB_BASE_FEE)],
  [OP.SLOTNUM, environment(layout.ENV_SLOT_NUMBER)],
  [OP.MSIZE, frameNumber(layout.FRAME_MEMORY_SIZE)],
  [OP.GAS, compileGas],
  [OP.TLOAD, called('tload')],
  [OP.TSTORE, called('tstore', { changes: true })],
]

/** Helpers know their gas since this fork; before, the interpreter runs them. */
export const ACCESS_OPERATIONS: readonly Row[] = [
  [OP.SLOAD, called('sloadOrLeave')],
  [OP.SSTORE, compileStorageStore],
]
export const ACCESS_FORK: Hardfork = 'berlin'
