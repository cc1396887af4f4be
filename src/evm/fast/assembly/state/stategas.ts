// State gas (EIP-8037): all open frames share the reservoir; each frame counts what it paid with execution gas instead.
import { FRAME_GAS, FRAME_GAS_LIMIT, FRAME_STATE_BASELINE, FRAME_STATE_SPILLED, OPEN_SPILLED, STATE_GAS } from '../../layout'
import { raiseNeed } from './gasneed'

const BYTE_GAS: i64 = 1530
export const NEW_ACCOUNT_STATE_GAS: i64 = 120 * BYTE_GAS
export const NEW_SLOT_STATE_GAS: i64 = 64 * BYTE_GAS

@inline
export function codeStateGas(length: u32): i64 {
  return (length as i64) * BYTE_GAS
}

@inline
function spill(frame: usize, gas: i64): void {
  store<i64>(frame, load<i64>(frame, FRAME_STATE_SPILLED) + gas, FRAME_STATE_SPILLED)
}

/** Takes from the reservoir, then from execution gas. @returns execution gas left; below 0 nothing was taken */
export function payState(frame: usize, amount: i64, gas: i64): i64 {
  const missing = amount - load<i64>(STATE_GAS)
  if (missing <= 0) {
    store<i64>(STATE_GAS, -missing)
    return gas
  }
  gas -= missing
  if (gas < 0) {
    // a traced operation shows what it lacks as state gas
    store<i64>(OPEN_SPILLED, load<i64>(OPEN_SPILLED) - missing)
    return gas
  }
  store<i64>(STATE_GAS, 0)
  spill(frame, missing)
  return gas
}

/** The reverse: execution gas first. @returns execution gas left */
export function returnState(frame: usize, amount: i64, gas: i64): i64 {
  raiseNeed(frame, load<i64>(frame, FRAME_GAS_LIMIT) - gas)
  const back = min<i64>(amount, load<i64>(frame, FRAME_STATE_SPILLED))
  spill(frame, -back)
  store<i64>(STATE_GAS, load<i64>(STATE_GAS) + amount - back)
  return gas + back
}

/** Of a frame that fails. */
export function restoreState(frame: usize): void {
  const gas = load<i64>(frame, FRAME_GAS)
  // after a halt it may be below 0
  if (gas > 0) raiseNeed(frame, load<i64>(frame, FRAME_GAS_LIMIT) - gas)
  store<i64>(frame, gas + load<i64>(frame, FRAME_STATE_SPILLED), FRAME_GAS)
  store<i64>(frame, 0, FRAME_STATE_SPILLED)
  store<i64>(STATE_GAS, load<i64>(frame, FRAME_STATE_BASELINE))
}
