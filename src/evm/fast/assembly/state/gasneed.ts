// The least gas that a frame has to begin with to come as far as it is.
import { FRAME_GAS_NEED } from '../../layout'

/** Counts that a frame has to begin with at least so much gas. */
@inline
export function raiseNeed(frame: usize, gas: i64): void {
  if (gas > load<i64>(frame, FRAME_GAS_NEED)) store<i64>(frame, gas, FRAME_GAS_NEED)
}
