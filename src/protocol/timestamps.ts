// What times blocks have.

/** Seconds from block to block on the main network. */
export const BLOCK_SECONDS = 12n

/** The latest time there is, in seconds since 1970: further on, block headers would not fit 64 bits. */
export const MAX_TIMESTAMP: bigint = 2n ** 64n - 1n
