// Tracks the least gas that a frame must start with to get as far as it did.
import { FRAME_GAS_NEED } from '../../layout'

@inline
export function raiseNeed(frame: usize, gas: i64): void {
  if (gas > load<i64>(frame, FRAME_GAS_NEED)) store<i64>(frame, gas, FRAME_GAS_NEED)
}
