// Bounds and steps of block times.

/** Mainnet's slot time. */
export const BLOCK_SECONDS = 12n

/** Seconds since 1970; later times do not fit the 64 bits of headers. */
export const MAX_TIMESTAMP: bigint = 2n ** 64n - 1n
