// Creates the jump map of a code: valid jump targets, and which of them are loop heads.
import { JUMP_TARGET, LOOP_HEAD } from '../../layout'
import { JUMP, JUMPDEST, JUMPI, PUSH1, PUSH3, PUSH32 } from '../../opcodes.generated'

/** Used while building the map: marks places that are pushed but not jumped to next, as return addresses are. */
const RETURN_MARK: u32 = 4

/**
 * Fills the map, one byte per byte of code. A loop head is the target of a backward jump that was pushed right before. A call
 * of an earlier internal function looks the same, but has pushed the place behind the jump as return address.
 */
export function analyze(code: usize, length: usize, map: usize): void {
  memory.fill(map, 0, length + 1)
  markDestinations(code, length, map)
  markLoops(code, length, map)
}

function markDestinations(code: usize, length: usize, map: usize): void {
  for (let i: usize = 0; i < length; i++) {
    const opcode = load<u8>(code + i) as u32
    if (opcode == JUMPDEST) {
      store<u8>(map + i, load<u8>(map + i) | JUMP_TARGET)
    } else if (opcode >= PUSH1 && opcode <= PUSH32) {
      const size = (opcode - PUSH1 + 1) as usize
      const next = load<u8>(code + i + size + 1) as u32
      if (opcode <= PUSH3 && next != JUMP && next != JUMPI) {
        const place = pushed(code + i, opcode)
        if (place < length) store<u8>(map + place, load<u8>(map + place) | RETURN_MARK)
      }
      i += size
    }
  }
}

function markLoops(code: usize, length: usize, map: usize): void {
  let target: usize = length
  for (let i: usize = 0; i < length; i++) {
    const opcode = load<u8>(code + i) as u32
    if (opcode >= PUSH1 && opcode <= PUSH32) {
      target = opcode <= PUSH3 ? pushed(code + i, opcode) : length
      i += (opcode - PUSH1 + 1) as usize
      continue
    }
    if ((opcode == JUMP || opcode == JUMPI) && target < i && load<u8>(map + target) & JUMP_TARGET) {
      const isCall = opcode == JUMP && (load<u8>(map + i + 1) & RETURN_MARK) != 0
      if (!isCall) store<u8>(map + target, load<u8>(map + target) | LOOP_HEAD)
    }
    target = length
  }
  for (let i: usize = 0; i < length; i++) {
    const mark = load<u8>(map + i)
    if (mark == 0) continue
    const isHead = (mark & LOOP_HEAD) != 0
    store<u8>(map + i, isHead ? LOOP_HEAD : mark & JUMP_TARGET)
  }
}

@inline
function pushed(place: usize, opcode: u32): usize {
  return (bswap<u32>(load<u32>(place, 1)) >> (8 * (PUSH3 + 1 - opcode))) as usize
}
