// The chain's clock: what time the next block gets.

/** Where time comes from. Under `frozen` and `step` two runs of one script give identical blocks. */
export type ClockSource =
  | { readonly kind: 'wall' }
  | { readonly kind: 'frozen' }
  | { readonly kind: 'step'; readonly seconds: bigint }

export interface ClockState {
  readonly source: ClockSource
  /** Seconds by which the chain's time is ahead of its source: the sum of all evm_increaseTime. */
  readonly offset: bigint
  /** An exact timestamp for the next block, in seconds. */
  readonly nextTimestamp: bigint | undefined
  /** Seconds between blocks, in place of the source, when set. */
  readonly interval: bigint | undefined
}
