// The accounts that the node holds keys for, and those it impersonates.

/** To be written: immutable. */
export interface AccountBook {
  readonly autoImpersonate: boolean
}
