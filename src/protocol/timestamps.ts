// What times blocks may have.

/** The latest time there is, in seconds since 1970: further on, block headers would not fit 64 bits. */
export const MAX_TIMESTAMP: bigint = 2n ** 64n - 1n
