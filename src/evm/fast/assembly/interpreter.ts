// Runs the code of one frame until it ends, opens another, or exits to the host.
import * as layout from '../layout'
import { accessGas, accountAt, payAccess, readyCode } from './state/accounts'
import { call, create, destroy } from './calls'
import { addMod, div, mod, signedDiv, signedMod } from './arithmetic/division'
import { mulMod } from './arithmetic/modular'
import { isEachWatched } from './events'
import { canCopy, copyIn, copyWithin, endOf, expand, expandFor, hashMemory, isStatic, loadInput, log, OUT_OF_GAS } from './memory'
import * as op from '../opcodes.generated'
import { blobHash, blockHash, codeHash, dupFar, exchange, payExponent, pushLong, reachedBy, refuse, swapFar } from './operations'
import { sload, sstore, tload, tstore } from './state/storage'
import { count, endStep, watch } from './steps'
import {
  add, byteAt, copyWord, exp, isBelow, isEqual, isIndex, isShort, isSignedBelow, isZero, leadingZeros, mul, setShort, shiftLeft,
  shiftRight, shiftRightSigned, signExtend, sub, turnWord,
} from './arithmetic/words'

@inline
function save(frame: usize, pc: usize, sp: usize, gas: i64): void {
  store<i64>(frame, gas, layout.FRAME_GAS)
  store<u32>(frame, (pc - (load<u32>(frame, layout.FRAME_CODE) as usize)) as u32, layout.FRAME_PC)
  store<u32>(frame, sp as u32, layout.FRAME_STACK_TOP)
}

@inline
function runTraces(cell: u32, frame: usize): i32 {
  let exit = cell as i32
  while (exit < 0) exit = call_indirect<i32>((exit as u32) & ~layout.TRACE, frame)
  return exit
}

/**
 * @returns an exit, or how the frame ended. The frame's pc is at the operation that did not run, or ended it; past it if
 * another frame opened.
 */
export function execute(frame: usize): i32 {
  let gas = load<i64>(frame, layout.FRAME_GAS)
  let sp = load<u32>(frame, layout.FRAME_STACK_TOP) as usize
  const stack = load<u32>(frame, layout.FRAME_STACK) as usize
  const code = load<u32>(frame, layout.FRAME_CODE) as usize
  const jumps = load<u32>(frame, layout.FRAME_JUMPS) as usize
  const memoryBase = load<u32>(frame, layout.FRAME_MEMORY) as usize
  const isRecording = (load<u32>(frame, layout.FRAME_FLAGS) & layout.FLAG_RECORD) != 0
  const cells = isRecording || isEachWatched() ? 0 : (load<u32>(frame, layout.FRAME_CELLS) as usize)
  const hot = load<u32>(layout.HOT)
  const floor = gas - load<i64>(layout.GAS_UNTIL_YIELD)
  store<i64>(layout.YIELD_BELOW, floor)
  let pc = code + (load<u32>(frame, layout.FRAME_PC) as usize)
  if (cells) {
    const cell = cells + ((pc - code) << 2)
    const rounds = load<u32>(cell)
    if (rounds & layout.TRACE) {
      const exit = runTraces(rounds, frame)
      if (exit != layout.EXIT_CONTINUE) {
        store<i64>(layout.GAS_UNTIL_YIELD, load<i64>(frame, layout.FRAME_GAS) - floor)
        return exit
      }
      gas = load<i64>(frame, layout.FRAME_GAS)
      sp = load<u32>(frame, layout.FRAME_STACK_TOP) as usize
      pc = code + (load<u32>(frame, layout.FRAME_PC) as usize)
    } else if (rounds < hot) {
      store<u32>(cell, rounds + 1)
      if (rounds + 1 == hot) {
        store<u32>(layout.LAST_CELL, cell as u32)
        return layout.EXIT_HOT
      }
    }
  }
  let end: i32 = 0
  while (true) {
    const opcode = load<u8>(pc) as u32
    const info = load<u64>(layout.OPERATIONS + (opcode << 3))
    const before = gas
    gas -= (info & 0xffff) as i64
    if (((((sp - stack) >> 5) as u32) - (((info >> 16) & 0xffff) as u32)) > ((info >> 32) as u32) || gas < 0) {
      // invalid operations get here, and all operations while they are counted
      const rule = load<u64>(layout.RULES + (opcode << 3))
      gas = before - ((rule & 0xffff) as i64)
      if (((((sp - stack) >> 5) as u32) - (((rule >> 16) & 0xffff) as u32)) > ((rule >> 32) as u32) || gas < 0) {
        end = refuse(opcode, ((sp - stack) >> 5) as u32)
        gas = before
        watch(frame, pc - code, opcode, sp, before, false)
        break
      }
      if (before <= load<i64>(layout.YIELD_BELOW)) { gas = before; end = layout.EXIT_YIELD; break }
      watch(frame, pc - code, opcode, sp, before, true)
    }
    const a = sp - 32
    const b = sp - 64
    switch (opcode) {
      case op.STOP: { end = layout.END_STOP; break }
      case op.ADD: { add(a, b); sp = a; pc++; continue }
      case op.MUL: { mul(a, b); sp = a; pc++; continue }
      case op.SUB: { sub(a, b); sp = a; pc++; continue }
      case op.DIV: { div(a, b); sp = a; pc++; continue }
      case op.SDIV: { signedDiv(a, b); sp = a; pc++; continue }
      case op.MOD: { mod(a, b); sp = a; pc++; continue }
      case op.SMOD: { signedMod(a, b); sp = a; pc++; continue }
      case op.ADDMOD: { addMod(a, b, sp - 96); sp = b; pc++; continue }
      case op.MULMOD: { mulMod(a, b, sp - 96); sp = b; pc++; continue }
      case op.EXP: {
        gas = payExponent(b, gas)
        if (gas < 0) { end = layout.END_OUT_OF_GAS; break }
        exp(a, b)
        sp = a; pc++; continue
      }
      case op.SIGNEXTEND: { signExtend(a, b); sp = a; pc++; continue }
      case op.LT: { setShort(b, u64(isBelow(a, b))); sp = a; pc++; continue }
      case op.GT: { setShort(b, u64(isBelow(b, a))); sp = a; pc++; continue }
      case op.SLT: { setShort(b, u64(isSignedBelow(a, b))); sp = a; pc++; continue }
      case op.SGT: { setShort(b, u64(isSignedBelow(b, a))); sp = a; pc++; continue }
      case op.EQ: { setShort(b, u64(isEqual(a, b))); sp = a; pc++; continue }
      case op.ISZERO: { setShort(a, u64(isZero(a))); pc++; continue }
      case op.AND: {
        v128.store(b, v128.and(v128.load(a), v128.load(b)))
        v128.store(b, v128.and(v128.load(a, 16), v128.load(b, 16)), 16)
        sp = a; pc++; continue
      }
      case op.OR: {
        v128.store(b, v128.or(v128.load(a), v128.load(b)))
        v128.store(b, v128.or(v128.load(a, 16), v128.load(b, 16)), 16)
        sp = a; pc++; continue
      }
      case op.XOR: {
        v128.store(b, v128.xor(v128.load(a), v128.load(b)))
        v128.store(b, v128.xor(v128.load(a, 16), v128.load(b, 16)), 16)
        sp = a; pc++; continue
      }
      case op.NOT: {
        v128.store(a, v128.not(v128.load(a)))
        v128.store(a, v128.not(v128.load(a, 16)), 16)
        pc++; continue
      }
      case op.BYTE: { byteAt(a, b); sp = a; pc++; continue }
      case op.SHL: { shiftLeft(a, b); sp = a; pc++; continue }
      case op.SHR: { shiftRight(a, b); sp = a; pc++; continue }
      case op.SAR: { shiftRightSigned(a, b); sp = a; pc++; continue }
      case op.CLZ: { leadingZeros(a); pc++; continue }
      case op.KECCAK256: {
        if (before < floor) { gas = before; end = layout.EXIT_YIELD; break }
        gas = hashMemory(frame, a, b, b, gas)
        if (gas < 0) { end = endOf(gas); break }
        sp = a; pc++; continue
      }
      case op.ADDRESS: { copyWord(sp, frame + layout.FRAME_ADDRESS); sp += 32; pc++; continue }
      case op.BALANCE: case op.EXTCODESIZE:
      case op.EXTCODEHASH: {
        const account = accountAt(a)
        gas = payAccess(account, gas)
        if (gas < 0) { end = layout.END_OUT_OF_GAS; break }
        if (opcode == op.BALANCE) copyWord(a, account + layout.ACCOUNT_BALANCE)
        else if (opcode == op.EXTCODESIZE) setShort(a, load<u32>(account, layout.ACCOUNT_CODE_LENGTH))
        else codeHash(account, a)
        pc++; continue
      }
      case op.ORIGIN: { copyWord(sp, layout.ENV_ORIGIN); sp += 32; pc++; continue }
      case op.CALLER: { copyWord(sp, frame + layout.FRAME_CALLER); sp += 32; pc++; continue }
      case op.CALLVALUE: { copyWord(sp, frame + layout.FRAME_VALUE); sp += 32; pc++; continue }
      case op.CALLDATALOAD: { loadInput(frame, a); pc++; continue }
      case op.CALLDATASIZE: { setShort(sp, load<u32>(frame, layout.FRAME_INPUT_LENGTH)); sp += 32; pc++; continue }
      case op.CALLDATACOPY: {
        if (before < floor) { gas = before; end = layout.EXIT_YIELD; break }
        const input = load<u32>(frame, layout.FRAME_INPUT)
        gas = copyIn(frame, a, b, sp - 96, input, load<u32>(frame, layout.FRAME_INPUT_LENGTH), gas)
        if (gas < 0) { end = endOf(gas); break }
        sp -= 96; pc++; continue
      }
      case op.CODESIZE: { setShort(sp, load<u32>(frame, layout.FRAME_CODE_LENGTH)); sp += 32; pc++; continue }
      case op.CODECOPY: {
        if (before < floor) { gas = before; end = layout.EXIT_YIELD; break }
        gas = copyIn(frame, a, b, sp - 96, code, load<u32>(frame, layout.FRAME_CODE_LENGTH), gas)
        if (gas < 0) { end = endOf(gas); break }
        sp -= 96; pc++; continue
      }
      case op.GASPRICE: { copyWord(sp, layout.ENV_GAS_PRICE); sp += 32; pc++; continue }
      case op.EXTCODECOPY: {
        if (before < floor) { gas = before; end = layout.EXIT_YIELD; break }
        const account = accountAt(a)
        // since amsterdam an operation that lacks gas reads nothing
        const isShort = load<u32>(layout.FORK) >= layout.AMSTERDAM && !canCopy(frame, b, sp - 128, gas - accessGas(account))
        gas = isShort ? OUT_OF_GAS : payAccess(account, gas)
        if (gas < 0) { end = layout.END_OUT_OF_GAS; break }
        const length = load<u32>(account, layout.ACCOUNT_CODE_LENGTH)
        if (length) readyCode(account)
        gas = copyIn(frame, b, sp - 96, sp - 128, load<u32>(account, layout.ACCOUNT_CODE), length, gas)
        if (gas < 0) { end = endOf(gas); break }
        sp -= 128; pc++; continue
      }
      case op.RETURNDATASIZE: { setShort(sp, load<u32>(layout.RETURN_LENGTH)); sp += 32; pc++; continue }
      case op.RETURNDATACOPY: {
        if (before < floor) { gas = before; end = layout.EXIT_YIELD; break }
        const length = load<u32>(layout.RETURN_LENGTH) as u64
        if (!isIndex(b) || !isIndex(sp - 96) || load<u64>(b) + load<u64>(sp - 96) > length) {
          end = layout.END_OUT_OF_GAS
          break
        }
        gas = copyIn(frame, a, b, sp - 96, load<u32>(layout.RETURN_DATA), length as u32, gas)
        if (gas < 0) { end = endOf(gas); break }
        sp -= 96; pc++; continue
      }
      case op.BLOCKHASH: { blockHash(a); pc++; continue }
      case op.COINBASE: { copyWord(sp, layout.ENV_COINBASE); sp += 32; pc++; continue }
      case op.TIMESTAMP: {
        store<u32>(layout.DEPENDS_ON_TIME, 1)
        copyWord(sp, layout.ENV_TIMESTAMP)
        sp += 32; pc++; continue
      }
      case op.NUMBER: { copyWord(sp, layout.ENV_NUMBER); sp += 32; pc++; continue }
      case op.PREVRANDAO: { copyWord(sp, layout.ENV_RANDOM); sp += 32; pc++; continue }
      case op.GASLIMIT: { copyWord(sp, layout.ENV_GAS_LIMIT); sp += 32; pc++; continue }
      case op.CHAINID: { copyWord(sp, layout.ENV_CHAIN_ID); sp += 32; pc++; continue }
      case op.SELFBALANCE: {
        copyWord(sp, (load<u32>(frame, layout.FRAME_ACCOUNT) as usize) + layout.ACCOUNT_BALANCE)
        sp += 32; pc++; continue
      }
      case op.BASEFEE: { copyWord(sp, layout.ENV_BASE_FEE); sp += 32; pc++; continue }
      case op.BLOBHASH: { blobHash(a); pc++; continue }
      case op.BLOBBASEFEE: { copyWord(sp, layout.ENV_BLOB_BASE_FEE); sp += 32; pc++; continue }
      case op.SLOTNUM: { copyWord(sp, layout.ENV_SLOT_NUMBER); sp += 32; pc++; continue }
      case op.POP: { sp = a; pc++; continue }
      case op.MLOAD: {
        gas = expandWord(frame, a, 32, gas)
        if (gas < 0) { end = endOf(gas); break }
        turnWord(a, memoryBase + load<u32>(a))
        pc++; continue
      }
      case op.MSTORE: {
        gas = expandWord(frame, a, 32, gas)
        if (gas < 0) { end = endOf(gas); break }
        turnWord(memoryBase + load<u32>(a), b)
        sp = b; pc++; continue
      }
      case op.MSTORE8: {
        gas = expandWord(frame, a, 1, gas)
        if (gas < 0) { end = endOf(gas); break }
        store<u8>(memoryBase + load<u32>(a), load<u8>(b))
        sp = b; pc++; continue
      }
      case op.SLOAD: {
        gas = sload(frame, a, a, gas)
        if (gas < 0) { end = layout.END_OUT_OF_GAS; break }
        pc++; continue
      }
      case op.SSTORE: {
        if (isStatic(frame)) { end = layout.END_STATIC; break }
        gas = sstore(frame, a, b, gas)
        if (gas < 0) { end = layout.END_OUT_OF_GAS; break }
        sp = b; pc++; continue
      }
      case op.JUMP: {
        if (!isDestination(frame, jumps, a)) { end = layout.END_INVALID_JUMP; break }
        pc = code + load<u32>(a)
        sp = a
        if (isRecording) { end = layout.EXIT_RECORD; break }
        continue
      }
      case op.JUMPI: {
        if (isZero(b)) {
          pc++
        } else {
          if (!isDestination(frame, jumps, a)) { end = layout.END_INVALID_JUMP; break }
          pc = code + load<u32>(a)
        }
        sp = b
        if (isRecording) { end = layout.EXIT_RECORD; break }
        continue
      }
      case op.PC: { setShort(sp, (pc - code) as u64); sp += 32; pc++; continue }
      case op.MSIZE: { setShort(sp, load<u32>(frame, layout.FRAME_MEMORY_SIZE)); sp += 32; pc++; continue }
      case op.GAS: {
        store<u32>(layout.DEPENDS_ON_GAS, 1)
        setShort(sp, gas as u64)
        sp += 32; pc++; continue
      }
      case op.JUMPDEST: {
        if (gas < floor) { gas = before; end = layout.EXIT_YIELD; break }
        if (cells && load<u8>(jumps + (pc - code)) == layout.LOOP_HEAD) {
          const cell = cells + ((pc - code) << 2)
          const rounds = load<u32>(cell)
          if (rounds & layout.TRACE) {
            count(-1)
            save(frame, pc, sp, before)
            const exit = runTraces(rounds, frame)
            gas = load<i64>(frame, layout.FRAME_GAS)
            if (exit != layout.EXIT_CONTINUE) {
              store<i64>(layout.GAS_UNTIL_YIELD, gas - floor)
              return exit
            }
            sp = load<u32>(frame, layout.FRAME_STACK_TOP) as usize
            const next = code + (load<u32>(frame, layout.FRAME_PC) as usize)
            if (next != pc) {
              pc = next
              continue
            }
            // the trace left at its head: the interpreter runs this round
            count(1)
            gas--
            if (gas < 0) { end = layout.END_OUT_OF_GAS; break }
            pc++; continue
          }
          if (rounds < hot) {
            store<u32>(cell, rounds + 1)
            if (rounds + 1 == hot) {
              store<u32>(layout.LAST_CELL, cell as u32)
              count(-1)
              gas = before
              end = layout.EXIT_HOT
              break
            }
          }
        }
        pc++; continue
      }
      case op.TLOAD: { tload(frame, a); pc++; continue }
      case op.TSTORE: {
        if (isStatic(frame)) { end = layout.END_STATIC; break }
        tstore(frame, a, b)
        sp = b; pc++; continue
      }
      case op.MCOPY: {
        if (before < floor) { gas = before; end = layout.EXIT_YIELD; break }
        gas = copyWithin(frame, a, b, sp - 96, gas)
        if (gas < 0) { end = endOf(gas); break }
        sp -= 96; pc++; continue
      }
      case op.PUSH0: { setShort(sp, 0); sp += 32; pc++; continue }
      case op.PUSH1: { setShort(sp, load<u8>(pc, 1)); sp += 32; pc += 2; continue }
      case op.PUSH2: { setShort(sp, bswap<u16>(load<u16>(pc, 1)) as u64); sp += 32; pc += 3; continue }
      case op.PUSH3: case op.PUSH4: case op.PUSH5: case op.PUSH6: case op.PUSH7:
      case op.PUSH8: {
        setShort(sp, bswap<u64>(load<u64>(pc, 1)) >> (((op.PUSH8 - opcode) << 3) as u64))
        sp += 32
        pc += (opcode - op.PUSH1 + 2) as usize
        continue
      }
      case op.PUSH9: case op.PUSH10: case op.PUSH11: case op.PUSH12: case op.PUSH13: case op.PUSH14: case op.PUSH15: case op.PUSH16:
      case op.PUSH17: case op.PUSH18: case op.PUSH19: case op.PUSH20: case op.PUSH21: case op.PUSH22: case op.PUSH23: case op.PUSH24:
      case op.PUSH25: case op.PUSH26: case op.PUSH27: case op.PUSH28: case op.PUSH29: case op.PUSH30:
      case op.PUSH31: { pc += (opcode - op.PUSH1 + 2) as usize; pushLong(sp, pc, opcode - op.PUSH0); sp += 32; continue }
      case op.PUSH32: { turnWord(sp, pc + 1); sp += 32; pc += 33; continue }
      case op.DUP1: case op.DUP2: case op.DUP3: case op.DUP4: case op.DUP5: case op.DUP6: case op.DUP7: case op.DUP8:
      case op.DUP9: case op.DUP10: case op.DUP11: case op.DUP12: case op.DUP13: case op.DUP14: case op.DUP15:
      case op.DUP16: { copyWord(sp, sp - (((opcode - op.DUP1 + 1) as usize) << 5)); sp += 32; pc++; continue }
      case op.SWAP1: case op.SWAP2: case op.SWAP3: case op.SWAP4: case op.SWAP5: case op.SWAP6: case op.SWAP7: case op.SWAP8:
      case op.SWAP9: case op.SWAP10: case op.SWAP11: case op.SWAP12: case op.SWAP13: case op.SWAP14: case op.SWAP15:
      case op.SWAP16: {
        const other = a - (((opcode - op.SWAP1 + 1) as usize) << 5)
        const low = v128.load(a)
        const high = v128.load(a, 16)
        v128.store(a, v128.load(other))
        v128.store(a, v128.load(other, 16), 16)
        v128.store(other, low)
        v128.store(other, high, 16)
        pc++; continue
      }
      case op.DUPN: case op.SWAPN:
      case op.EXCHANGE: {
        end = reachedBy(opcode, load<u8>(pc, 1), ((sp - stack) >> 5) as u32)
        if (end) break
        if (opcode == op.DUPN) { dupFar(sp, load<u8>(pc, 1)); sp += 32 }
        else if (opcode == op.SWAPN) swapFar(a, load<u8>(pc, 1))
        else exchange(a, load<u8>(pc, 1))
        pc += 2; continue
      }
      case op.LOG0: case op.LOG1: case op.LOG2: case op.LOG3:
      case op.LOG4: {
        if (before < floor) { gas = before; end = layout.EXIT_YIELD; break }
        if (isStatic(frame)) { end = layout.END_STATIC; break }
        gas = log(frame, opcode - op.LOG0, a, b, sp - 96, gas)
        if (gas < 0) { end = endOf(gas); break }
        sp -= ((opcode - op.LOG0 + 2) as usize) << 5; pc++; continue
      }
      case op.CREATE: case op.CALL: case op.CALLCODE: case op.DELEGATECALL: case op.CREATE2:
      case op.STATICCALL: {
        if (isRecording) { count(-1); gas = before; end = layout.EXIT_LEAVE; break }
        if (before < floor) { gas = before; end = layout.EXIT_YIELD; break }
        save(frame, pc + 1, sp, gas)
        store<i64>(layout.GAS_UNTIL_YIELD, before - floor)
        const isCreation = opcode == op.CREATE || opcode == op.CREATE2
        end = isCreation ? create(frame, opcode, sp, gas) : call(frame, opcode, sp, gas)
        if (end == layout.EXIT_NEXT) {
          gas = load<i64>(frame, layout.FRAME_GAS)
          sp = load<u32>(frame, layout.FRAME_STACK_TOP) as usize
          pc++
          continue
        }
        if (end >= layout.FIRST_END) {
          if (load<u32>(layout.OPEN_STEP)) endStep(frame, end, gas, sp)
          save(frame, pc, sp, gas)
        }
        return end
      }
      case op.RETURN:
      case op.REVERT: {
        if (isRecording) { count(-1); gas = before; end = layout.EXIT_LEAVE; break }
        gas = expandFor(frame, a, b, gas)
        if (gas < 0) { end = endOf(gas); break }
        const length = load<u32>(b)
        store<u32>(frame, length ? ((memoryBase + load<u32>(a)) as u32) : 0, layout.FRAME_OUTPUT)
        store<u32>(frame, length, layout.FRAME_OUTPUT_LENGTH)
        end = opcode == op.RETURN ? layout.END_RETURN : layout.END_REVERT
        break
      }
      case op.SELFDESTRUCT: {
        if (isRecording) { count(-1); gas = before; end = layout.EXIT_LEAVE; break }
        end = destroy(frame, a, gas)
        if (end == layout.END_STOP) gas = load<i64>(frame, layout.FRAME_GAS)
        break
      }
      default: { end = layout.END_INVALID_OPCODE; break }
    }
    break
  }
  if (load<u32>(layout.OPEN_STEP)) endStep(frame, end, gas, sp)
  // what is below 0 says why, and a halt takes all
  gas = max<i64>(gas, 0)
  save(frame, pc, sp, gas)
  store<i64>(layout.GAS_UNTIL_YIELD, gas - floor)
  return end
}

@inline
function isDestination(frame: usize, jumps: usize, word: usize): bool {
  const target = load<u32>(word)
  return isIndex(word) && target < load<u32>(frame, layout.FRAME_CODE_LENGTH) && load<u8>(jumps + target) != 0
}

@inline
function expandWord(frame: usize, offset: usize, length: u64, gas: i64): i64 {
  return isShort(offset) ? expand(frame, load<u64>(offset), length, gas) : OUT_OF_GAS
}
