// The locals of a trace's function with a fixed meaning. The first is its parameter.

export const FRAME = 0
/** The address of the lowest stack slot in use. */
export const BASE = 1
export const MEMORY = 2
export const ADDRESS = 3
/** In exits: the value of their counter cell. */
export const COUNT = 4
export const VECTOR = 5
export const GAS = 6
/** A word may be read at lower offsets: memory size less 31, at least 0. */
export const LIMIT = 7
/** A loop exits at its head if gas is below this. */
export const YIELD = 8
export const LEFT = 9
export const FIRST_LIMB = 10
