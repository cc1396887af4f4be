// The locals of a trace's function that have a given meaning. The first is its parameter.

export const FRAME = 0
/** The stack's place of the lowest slot that the trace knows of. */
export const BASE = 1
/** Where the frame's memory begins. */
export const MEMORY = 2
export const ADDRESS = 3
/** Of the exits: what the cell holds that they count in. */
export const COUNT = 4
export const VECTOR = 5
/** Gas left when the whole trace is paid. */
export const GAS = 6
/** A word may be read at offsets below: the memory's size less 31, at least 0. */
export const LIMIT = 7
/** Below so much gas a loop leaves at its head. */
export const YIELD = 8
export const LEFT = 9
/** From here on locals hold limbs. */
export const FIRST_LIMB = 10
