// The interpreter: runs the code of one frame, operation by operation, each with its exact gas, until the frame ends,
// opens another, or something has to leave.
import {
  ACCOUNT_BALANCE, ACCOUNT_CODE, ACCOUNT_CODE_LENGTH, END_INVALID_JUMP, END_INVALID_OPCODE, END_OUT_OF_GAS, END_RETURN,
  END_REVERT, END_STATIC, END_STOP, ENV_BASE_FEE, ENV_BLOB_BASE_FEE, ENV_CHAIN_ID, ENV_COINBASE, ENV_GAS_LIMIT,
  ENV_GAS_PRICE, ENV_NUMBER, ENV_ORIGIN, ENV_RANDOM, ENV_TIMESTAMP, EXIT_CONTINUE, EXIT_HOT, EXIT_LEAVE, EXIT_NEXT,
  EXIT_RECORD, EXIT_YIELD, FIRST_END, FLAG_RECORD, FRAME_ACCOUNT, FRAME_ADDRESS, FRAME_CALLER, FRAME_CELLS, FRAME_CODE,
  FRAME_CODE_LENGTH, FRAME_FLAGS, FRAME_GAS, FRAME_INPUT, FRAME_INPUT_LENGTH, FRAME_JUMPS, FRAME_MEMORY, FRAME_MEMORY_SIZE,
  FRAME_OUTPUT, FRAME_OUTPUT_LENGTH, FRAME_PC, FRAME_STACK, FRAME_STACK_TOP, FRAME_VALUE, FLOOR, FUEL, GAS_MATTERS, HOT, LAST_CELL, OPERATIONS,
  RETURN_DATA, RETURN_LENGTH, TRACE,
} from '../layout'
import { accountAt, payAccess, readyCode } from './accounts'
import { call, create, destroy } from './calls'
import { addMod, div, mod, mulMod, signedDiv, signedMod } from './division'
import { copyIn, copyWithin, endOf, expand, expandFor, hashMemory, isStatic, loadInput, log, OUT_OF_GAS } from './memory'
import { blobHash, blockHash, codeHash, payExponent, pushLong, refuse } from './operations'
import { sload, sstore, tload, tstore } from './storage'
import {
  add, bitLength, byteAt, copyWord, exp, isBelow, isEqual, isIndex, isSignedBelow, isZero, mul, setShort, shiftLeft, shiftRight,
  shiftRightSigned, signExtend, sub, turnWord,
} from './words'

/** Writes back what the interpreter keeps in locals. */
@inline
function save(frame: usize, pc: usize, sp: usize, gas: i64): void {
  store<i64>(frame, gas, FRAME_GAS)
  store<u32>(frame, (pc - (load<u32>(frame, FRAME_CODE) as usize)) as u32, FRAME_PC)
  store<u32>(frame, sp as u32, FRAME_STACK_TOP)
}

/** Runs the trace of a cell, and those that it leads on to. @returns the last one's exit */
@inline
function runTraces(cell: u32, frame: usize): i32 {
  let exit = cell as i32
  while (exit < 0) exit = call_indirect<i32>((exit as u32) & ~TRACE, frame)
  return exit
}

/**
 * Runs a frame.
 * @returns an exit, or how the frame ended. The frame's pc is then at the operation that did not happen, or ended it;
 *   when another frame was opened it is behind.
 */
export function execute(frame: usize): i32 {
  let gas = load<i64>(frame, FRAME_GAS)
  let sp = load<u32>(frame, FRAME_STACK_TOP) as usize
  const stack = load<u32>(frame, FRAME_STACK) as usize
  const code = load<u32>(frame, FRAME_CODE) as usize
  const jumps = load<u32>(frame, FRAME_JUMPS) as usize
  const memoryBase = load<u32>(frame, FRAME_MEMORY) as usize
  const isRecording = (load<u32>(frame, FRAME_FLAGS) & FLAG_RECORD) != 0
  const cells = isRecording ? 0 : (load<u32>(frame, FRAME_CELLS) as usize)
  const hot = load<u32>(HOT)
  const floor = gas - load<i64>(FUEL)
  store<i64>(FLOOR, floor)
  let pc = code + (load<u32>(frame, FRAME_PC) as usize)
  if (cells) {
    const cell = cells + ((pc - code) << 2)
    const count = load<u32>(cell)
    if (count & TRACE) {
      const exit = runTraces(count, frame)
      if (exit != EXIT_CONTINUE) {
        store<i64>(FUEL, load<i64>(frame, FRAME_GAS) - floor)
        return exit
      }
      gas = load<i64>(frame, FRAME_GAS)
      sp = load<u32>(frame, FRAME_STACK_TOP) as usize
      pc = code + (load<u32>(frame, FRAME_PC) as usize)
    } else if (count < hot) {
      store<u32>(cell, count + 1)
      if (count + 1 == hot) {
        store<u32>(LAST_CELL, cell as u32)
        return EXIT_HOT
      }
    }
  }
  let size = load<u32>(frame, FRAME_MEMORY_SIZE) as u64
  let end: i32 = 0
  while (true) {
    const opcode = load<u8>(pc) as u32
    const info = load<u64>(OPERATIONS + (opcode << 3))
    const before = gas
    gas -= (info & 0xffff) as i64
    if (((((sp - stack) >> 5) as u32) - (((info >> 16) & 0xffff) as u32)) > ((info >> 32) as u32) || gas < 0) {
      end = refuse(opcode, ((sp - stack) >> 5) as u32)
      gas = before
      break
    }
    const a = sp - 32
    const b = sp - 64
    switch (opcode) {
      case 0x00: { end = END_STOP; break }
      case 0x01: { add(a, b); sp = a; pc++; continue }
      case 0x02: { mul(a, b); sp = a; pc++; continue }
      case 0x03: { sub(a, b); sp = a; pc++; continue }
      case 0x04: { div(a, b); sp = a; pc++; continue }
      case 0x05: { signedDiv(a, b); sp = a; pc++; continue }
      case 0x06: { mod(a, b); sp = a; pc++; continue }
      case 0x07: { signedMod(a, b); sp = a; pc++; continue }
      case 0x08: { addMod(a, b, sp - 96); sp = b; pc++; continue }
      case 0x09: { mulMod(a, b, sp - 96); sp = b; pc++; continue }
      case 0x0a: {
        gas = payExponent(b, gas)
        if (gas < 0) { end = END_OUT_OF_GAS; break }
        exp(a, b)
        sp = a; pc++; continue
      }
      case 0x0b: { signExtend(a, b); sp = a; pc++; continue }
      case 0x10: { setShort(b, u64(isBelow(a, b))); sp = a; pc++; continue }
      case 0x11: { setShort(b, u64(isBelow(b, a))); sp = a; pc++; continue }
      case 0x12: { setShort(b, u64(isSignedBelow(a, b))); sp = a; pc++; continue }
      case 0x13: { setShort(b, u64(isSignedBelow(b, a))); sp = a; pc++; continue }
      case 0x14: { setShort(b, u64(isEqual(a, b))); sp = a; pc++; continue }
      case 0x15: { setShort(a, u64(isZero(a))); pc++; continue }
      case 0x16: {
        v128.store(b, v128.and(v128.load(a), v128.load(b)))
        v128.store(b, v128.and(v128.load(a, 16), v128.load(b, 16)), 16)
        sp = a; pc++; continue
      }
      case 0x17: {
        v128.store(b, v128.or(v128.load(a), v128.load(b)))
        v128.store(b, v128.or(v128.load(a, 16), v128.load(b, 16)), 16)
        sp = a; pc++; continue
      }
      case 0x18: {
        v128.store(b, v128.xor(v128.load(a), v128.load(b)))
        v128.store(b, v128.xor(v128.load(a, 16), v128.load(b, 16)), 16)
        sp = a; pc++; continue
      }
      case 0x19: {
        v128.store(a, v128.not(v128.load(a)))
        v128.store(a, v128.not(v128.load(a, 16)), 16)
        pc++; continue
      }
      case 0x1a: { byteAt(a, b); sp = a; pc++; continue }
      case 0x1b: { shiftLeft(a, b); sp = a; pc++; continue }
      case 0x1c: { shiftRight(a, b); sp = a; pc++; continue }
      case 0x1d: { shiftRightSigned(a, b); sp = a; pc++; continue }
      case 0x1e: { setShort(a, (256 - bitLength(a)) as u64); pc++; continue }
      case 0x20: {
        if (before < floor) { gas = before; end = EXIT_YIELD; break }
        const left = hashMemory(frame, a, b, b, gas)
        if (left < 0) { end = endOf(left); break }
        gas = left
        size = load<u32>(frame, FRAME_MEMORY_SIZE) as u64
        sp = a; pc++; continue
      }
      case 0x30: { copyWord(sp, frame + FRAME_ADDRESS); sp += 32; pc++; continue }
      case 0x31: {
        const account = accountAt(a)
        gas = payAccess(account, gas)
        if (gas < 0) { end = END_OUT_OF_GAS; break }
        copyWord(a, account + ACCOUNT_BALANCE)
        pc++; continue
      }
      case 0x32: { copyWord(sp, ENV_ORIGIN); sp += 32; pc++; continue }
      case 0x33: { copyWord(sp, frame + FRAME_CALLER); sp += 32; pc++; continue }
      case 0x34: { copyWord(sp, frame + FRAME_VALUE); sp += 32; pc++; continue }
      case 0x35: { loadInput(frame, a); pc++; continue }
      case 0x36: { setShort(sp, load<u32>(frame, FRAME_INPUT_LENGTH)); sp += 32; pc++; continue }
      case 0x37: {
        if (before < floor) { gas = before; end = EXIT_YIELD; break }
        const left = copyIn(frame, a, b, sp - 96, load<u32>(frame, FRAME_INPUT), load<u32>(frame, FRAME_INPUT_LENGTH), gas)
        if (left < 0) { end = endOf(left); break }
        gas = left
        size = load<u32>(frame, FRAME_MEMORY_SIZE) as u64
        sp -= 96; pc++; continue
      }
      case 0x38: { setShort(sp, load<u32>(frame, FRAME_CODE_LENGTH)); sp += 32; pc++; continue }
      case 0x39: {
        if (before < floor) { gas = before; end = EXIT_YIELD; break }
        const left = copyIn(frame, a, b, sp - 96, code, load<u32>(frame, FRAME_CODE_LENGTH), gas)
        if (left < 0) { end = endOf(left); break }
        gas = left
        size = load<u32>(frame, FRAME_MEMORY_SIZE) as u64
        sp -= 96; pc++; continue
      }
      case 0x3a: { copyWord(sp, ENV_GAS_PRICE); sp += 32; pc++; continue }
      case 0x3b: {
        const account = accountAt(a)
        gas = payAccess(account, gas)
        if (gas < 0) { end = END_OUT_OF_GAS; break }
        setShort(a, load<u32>(account, ACCOUNT_CODE_LENGTH))
        pc++; continue
      }
      case 0x3c: {
        if (before < floor) { gas = before; end = EXIT_YIELD; break }
        const account = accountAt(a)
        let left = payAccess(account, gas)
        if (left < 0) {
          left = OUT_OF_GAS
        } else {
          const length = load<u32>(account, ACCOUNT_CODE_LENGTH)
          if (length) readyCode(account)
          left = copyIn(frame, b, sp - 96, sp - 128, load<u32>(account, ACCOUNT_CODE), length, left)
        }
        if (left < 0) { end = endOf(left); break }
        gas = left
        size = load<u32>(frame, FRAME_MEMORY_SIZE) as u64
        sp -= 128; pc++; continue
      }
      case 0x3d: { setShort(sp, load<u32>(RETURN_LENGTH)); sp += 32; pc++; continue }
      case 0x3e: {
        if (before < floor) { gas = before; end = EXIT_YIELD; break }
        const length = load<u32>(RETURN_LENGTH) as u64
        if (!isIndex(b) || !isIndex(sp - 96) || load<u64>(b) + load<u64>(sp - 96) > length) {
          end = END_OUT_OF_GAS
          break
        }
        const left = copyIn(frame, a, b, sp - 96, load<u32>(RETURN_DATA), length as u32, gas)
        if (left < 0) { end = endOf(left); break }
        gas = left
        size = load<u32>(frame, FRAME_MEMORY_SIZE) as u64
        sp -= 96; pc++; continue
      }
      case 0x3f: {
        const account = accountAt(a)
        gas = payAccess(account, gas)
        if (gas < 0) { end = END_OUT_OF_GAS; break }
        codeHash(account, a)
        pc++; continue
      }
      case 0x40: { blockHash(a); pc++; continue }
      case 0x41: { copyWord(sp, ENV_COINBASE); sp += 32; pc++; continue }
      case 0x42: { copyWord(sp, ENV_TIMESTAMP); sp += 32; pc++; continue }
      case 0x43: { copyWord(sp, ENV_NUMBER); sp += 32; pc++; continue }
      case 0x44: { copyWord(sp, ENV_RANDOM); sp += 32; pc++; continue }
      case 0x45: { copyWord(sp, ENV_GAS_LIMIT); sp += 32; pc++; continue }
      case 0x46: { copyWord(sp, ENV_CHAIN_ID); sp += 32; pc++; continue }
      case 0x47: {
        copyWord(sp, (load<u32>(frame, FRAME_ACCOUNT) as usize) + ACCOUNT_BALANCE)
        sp += 32; pc++; continue
      }
      case 0x48: { copyWord(sp, ENV_BASE_FEE); sp += 32; pc++; continue }
      case 0x49: { blobHash(a); pc++; continue }
      case 0x4a: { copyWord(sp, ENV_BLOB_BASE_FEE); sp += 32; pc++; continue }
      case 0x50: { sp = a; pc++; continue }
      case 0x51: {
        const offset = load<u64>(a)
        if (!isIndex(a) || offset + 32 > size) {
          const left = expandWord(frame, a, 32, gas)
          if (left < 0) { end = endOf(left); break }
          gas = left
          size = load<u32>(frame, FRAME_MEMORY_SIZE) as u64
        }
        turnWord(a, memoryBase + (offset as usize))
        pc++; continue
      }
      case 0x52: {
        const offset = load<u64>(a)
        if (!isIndex(a) || offset + 32 > size) {
          const left = expandWord(frame, a, 32, gas)
          if (left < 0) { end = endOf(left); break }
          gas = left
          size = load<u32>(frame, FRAME_MEMORY_SIZE) as u64
        }
        turnWord(memoryBase + (offset as usize), b)
        sp = b; pc++; continue
      }
      case 0x53: {
        const offset = load<u64>(a)
        if (!isIndex(a) || offset + 1 > size) {
          const left = expandWord(frame, a, 1, gas)
          if (left < 0) { end = endOf(left); break }
          gas = left
          size = load<u32>(frame, FRAME_MEMORY_SIZE) as u64
        }
        store<u8>(memoryBase + (offset as usize), load<u8>(b))
        sp = b; pc++; continue
      }
      case 0x54: {
        gas = sload(frame, a, a, gas)
        if (gas < 0) { end = END_OUT_OF_GAS; break }
        pc++; continue
      }
      case 0x55: {
        if (isStatic(frame)) { end = END_STATIC; break }
        gas = sstore(frame, a, b, gas)
        if (gas < 0) { end = END_OUT_OF_GAS; break }
        sp = b; pc++; continue
      }
      case 0x56: {
        const target = load<u32>(a) as usize
        if (!isIndex(a) || target >= (load<u32>(frame, FRAME_CODE_LENGTH) as usize) || load<u8>(jumps + target) == 0) {
          end = END_INVALID_JUMP
          break
        }
        sp = a
        pc = code + target
        if (isRecording) { end = EXIT_RECORD; break }
        continue
      }
      case 0x57: {
        if (isZero(b)) {
          pc++
        } else {
          const target = load<u32>(a) as usize
          if (!isIndex(a) || target >= (load<u32>(frame, FRAME_CODE_LENGTH) as usize) || load<u8>(jumps + target) == 0) {
            end = END_INVALID_JUMP
            break
          }
          pc = code + target
        }
        sp = b
        if (isRecording) { end = EXIT_RECORD; break }
        continue
      }
      case 0x58: { setShort(sp, (pc - code) as u64); sp += 32; pc++; continue }
      case 0x59: { setShort(sp, size); sp += 32; pc++; continue }
      case 0x5a: {
        store<u32>(GAS_MATTERS, 1)
        setShort(sp, gas as u64)
        sp += 32; pc++; continue
      }
      case 0x5b: {
        if (gas < floor) {
          gas = before
          end = EXIT_YIELD
          break
        }
        if (cells && load<u8>(jumps + (pc - code)) == 2) {
          const cell = cells + ((pc - code) << 2)
          const count = load<u32>(cell)
          if (count & TRACE) {
            save(frame, pc, sp, before)
            const exit = runTraces(count, frame)
            gas = load<i64>(frame, FRAME_GAS)
            if (exit != EXIT_CONTINUE) {
              store<i64>(FUEL, gas - floor)
              return exit
            }
            sp = load<u32>(frame, FRAME_STACK_TOP) as usize
            size = load<u32>(frame, FRAME_MEMORY_SIZE) as u64
            const next = code + (load<u32>(frame, FRAME_PC) as usize)
            if (next != pc) {
              pc = next
              continue
            }
            // the trace did not get over its head: this round is the interpreter's
            gas--
            if (gas < 0) {
              gas = 0
              end = END_OUT_OF_GAS
              break
            }
            pc++
            continue
          }
          if (count < hot) {
            store<u32>(cell, count + 1)
            if (count + 1 == hot) {
              store<u32>(LAST_CELL, cell as u32)
              gas = before
              end = EXIT_HOT
              break
            }
          }
        }
        pc++; continue
      }
      case 0x5c: { tload(frame, a); pc++; continue }
      case 0x5d: {
        if (isStatic(frame)) { end = END_STATIC; break }
        tstore(frame, a, b)
        sp = b; pc++; continue
      }
      case 0x5e: {
        if (before < floor) { gas = before; end = EXIT_YIELD; break }
        const left = copyWithin(frame, a, b, sp - 96, gas)
        if (left < 0) { end = endOf(left); break }
        gas = left
        size = load<u32>(frame, FRAME_MEMORY_SIZE) as u64
        sp -= 96; pc++; continue
      }
      case 0x5f: { setShort(sp, 0); sp += 32; pc++; continue }
      case 0x60: { setShort(sp, load<u8>(pc, 1)); sp += 32; pc += 2; continue }
      case 0x61: { setShort(sp, bswap<u16>(load<u16>(pc, 1)) as u64); sp += 32; pc += 3; continue }
      case 0x62: case 0x63: case 0x64: case 0x65: case 0x66:
      case 0x67: {
        setShort(sp, bswap<u64>(load<u64>(pc, 1)) >> (((0x67 - opcode) << 3) as u64))
        sp += 32
        pc += (opcode - 0x5e) as usize
        continue
      }
      case 0x68: case 0x69: case 0x6a: case 0x6b: case 0x6c: case 0x6d: case 0x6e: case 0x6f:
      case 0x70: case 0x71: case 0x72: case 0x73: case 0x74: case 0x75: case 0x76: case 0x77:
      case 0x78: case 0x79: case 0x7a: case 0x7b: case 0x7c: case 0x7d:
      case 0x7e: { pc += (opcode - 0x5e) as usize; pushLong(sp, pc, opcode - 0x5f); sp += 32; continue }
      case 0x7f: { turnWord(sp, pc + 1); sp += 32; pc += 33; continue }
      case 0x80: case 0x81: case 0x82: case 0x83: case 0x84: case 0x85: case 0x86: case 0x87:
      case 0x88: case 0x89: case 0x8a: case 0x8b: case 0x8c: case 0x8d: case 0x8e:
      case 0x8f: { copyWord(sp, sp - (((opcode - 0x7f) as usize) << 5)); sp += 32; pc++; continue }
      case 0x90: case 0x91: case 0x92: case 0x93: case 0x94: case 0x95: case 0x96: case 0x97:
      case 0x98: case 0x99: case 0x9a: case 0x9b: case 0x9c: case 0x9d: case 0x9e:
      case 0x9f: {
        const other = a - (((opcode - 0x8f) as usize) << 5)
        const low = v128.load(a)
        const high = v128.load(a, 16)
        v128.store(a, v128.load(other))
        v128.store(a, v128.load(other, 16), 16)
        v128.store(other, low)
        v128.store(other, high, 16)
        pc++; continue
      }
      case 0xa0: case 0xa1: case 0xa2: case 0xa3:
      case 0xa4: {
        if (before < floor) { gas = before; end = EXIT_YIELD; break }
        if (isStatic(frame)) { end = END_STATIC; break }
        const left = log(frame, opcode - 0xa0, a, b, sp - 96, gas)
        if (left < 0) { end = endOf(left); break }
        gas = left
        size = load<u32>(frame, FRAME_MEMORY_SIZE) as u64
        sp -= ((opcode - 0x9e) as usize) << 5; pc++; continue
      }
      case 0xf0: case 0xf1: case 0xf2: case 0xf4: case 0xf5:
      case 0xfa: {
        if (isRecording) { gas = before; end = EXIT_LEAVE; break }
        if (before < floor) { gas = before; end = EXIT_YIELD; break }
        save(frame, pc + 1, sp, gas)
        store<i64>(FUEL, before - floor)
        const isCreation = opcode == 0xf0 || opcode == 0xf5
        end = isCreation ? create(frame, opcode, sp, gas) : call(frame, opcode, sp, gas)
        if (end == EXIT_NEXT) {
          gas = load<i64>(frame, FRAME_GAS)
          sp = load<u32>(frame, FRAME_STACK_TOP) as usize
          size = load<u32>(frame, FRAME_MEMORY_SIZE) as u64
          pc++
          continue
        }
        if (end >= FIRST_END) save(frame, pc, sp, gas)
        return end
      }
      case 0xf3:
      case 0xfd: {
        if (isRecording) { gas = before; end = EXIT_LEAVE; break }
        const left = expandFor(frame, a, b, gas)
        if (left < 0) { end = endOf(left); break }
        gas = left
        const length = load<u32>(b)
        store<u32>(frame, length ? ((memoryBase + load<u32>(a)) as u32) : 0, FRAME_OUTPUT)
        store<u32>(frame, length, FRAME_OUTPUT_LENGTH)
        end = opcode == 0xf3 ? END_RETURN : END_REVERT
        break
      }
      case 0xff: {
        if (isRecording) { gas = before; end = EXIT_LEAVE; break }
        end = destroy(frame, a, gas)
        if (end == END_STOP) gas = load<i64>(frame, FRAME_GAS)
        break
      }
      default: { end = END_INVALID_OPCODE; break }
    }
    break
  }
  save(frame, pc, sp, gas)
  store<i64>(FUEL, gas - floor)
  return end
}

/** For MLOAD and its kin: memory up to an offset on the stack. */
function expandWord(frame: usize, offset: usize, length: u64, gas: i64): i64 {
  if (!isIndex(offset) && !isShortOffset(offset)) return -1
  return expand(frame, load<u64>(offset), length, gas)
}

@inline
function isShortOffset(offset: usize): bool {
  return (load<u64>(offset, 8) | load<u64>(offset, 16) | load<u64>(offset, 24)) == 0
}
