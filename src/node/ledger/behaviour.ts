// What a chain does where nodes do different things. The maker of a chain chooses; the chain knows no names of nodes.

/**
 * Each member says what is done; the values are what the specification and the protocol ask for. Twice the base fee, as
 * geth offers, lasts for five full blocks.
 */
export const OWN_BEHAVIOUR = {
  /** Calls and estimates run whose price is below the base fee; else they are refused as a block would. */
  callsBelowBaseFee: false,
  /** A call of a sender that cannot pay value and gas is refused. */
  callsAskForFunds: true,
  estimatesAskForFunds: true,
  /** Gas of a call that names none, and the most that one gets; undefined: its block's gas limit, and no bound. */
  callGas: undefined as bigint | undefined,
  /** An estimate is the smallest gas that suffices; else up to 1.5 % more, found as geth finds it. */
  estimatesAreExact: true,
  /** An estimate of a transfer to an account without code is run; else it is what a transfer takes, whatever is said of it. */
  estimatesRunTransfers: true,
  /** A request to send without `from` is refused; else the first account sends. */
  needsSender: true,
  /** A request with `gasPrice` and fees of EIP-1559 is refused; else `gasPrice` is taken, and they are not. */
  refusesBothPrices: true,
  /** A type that has a `gasPrice` is taken though no price is named; else the fees are those of EIP-1559. */
  keepsTypeWithoutPrice: true,
  /** A fee cap below the next base fee is refused even where blocks come later, when the base fee may have fallen. */
  poolAsksForBaseFee: false,
  /** A replacement offers a tenth more in fee cap and tip; else a higher fee cap is enough. */
  replacementsRaiseTip: true,
  /** What a mined block could not take for its price leaves the pool, with all that its sender sent after it; else it waits. */
  dropsPricedOut: false,
  /** A transaction beyond its sender's next nonce waits for those before it, also where blocks come with transactions. */
  gapsWait: true,
  /** Automining that begins mines what waits; else it waits for the next transaction. */
  automineMinesPool: true,
  /** A send that gas has become too dear for is mined after empty blocks, which lower the base fee; else it waits. */
  minesUntilIncluded: false,
  /** Blocks that come with transactions have one each; else each has all that waits. */
  oneTransactionABlock: true,
  /** Where blocks get a lower gas limit, transactions that no block could hold leave the pool; else they wait. */
  limitEmptiesPool: false,
  /** A nonce may be set below the account's, and while transactions wait. */
  noncesGoBack: true,
  /** From osaka on a transaction has at most 2^24 gas (EIP-7825), where no other cap is set. */
  capsTransactionGas: false,
  /** The first block has the base fee of the genesis; else what EIP-1559 makes of it, seven eighths. */
  firstBaseFeeStays: false,
  /** Wei per gas that is offered at least where nobody set a price, nor a base fee of nothing. */
  usualPrice: 0n,
  /** The same before london, where only offers show what gas is worth. */
  usualPriceBeforeLondon: 0n,
  /** The price offered is one that the newest block takes too, and the next after a full one; else one for the next alone. */
  offersPriceToLast: true,
  /** The tip offered is what the cheapest of recent transactions paid, where that is more than the settings'. */
  offersPaidTip: true,
  /** A fee cap that the caller leaves open covers twice the base fee and the tip; else it is the price offered, whatever the tip. */
  capCoversTip: true,
  /** After a randomness that was set each block has the hash of the one before; else what follows from the chain. */
  setRandomnessGoesOn: false,
  /** Before paris a header has a nonce that is not zero, and no randomness; else randomness, and a nonce of zero. */
  noncesBeforeParis: false,
  /** Ids of snapshots go on after a reset; else they begin anew. */
  snapshotIdsGoOn: true,
  /** A call or an estimate that would create a contract of no code is refused. */
  creationsNeedData: false,
  /** Blocks at an interval move the clock; else they run ahead of it, and then come a second apart until it is there. */
  intervalsMoveClock: true,
  /** A transaction without gas whose estimate fails is refused; else it gets the block's gas limit, and fails in a block. */
  refusesFailingEstimates: true,
  /** Which calls see the block's base fee: all, those that offer a price, or none; the others see 0, as they pay none. */
  callsSeeBaseFee: 'priced' as 'all' | 'priced' | 'none',
  /** Two precompiles may be moved to one address, where the later one answers; else that is refused. */
  precompilesShareAddress: false,
  /** A call with members of a transaction type that came with a later fork is refused. */
  callsAskForType: false,
  /** A price below the least keeps a transaction out of blocks; else out of the pool. Where blocks are mined at once it is refused. */
  cheapOnesWait: false,
  /** Logs of a range that ends before it begins are none; else it is refused. */
  backwardRangesAreEmpty: false,
  /** The tags `safe` and `finalized` name no block before paris. */
  finalityNeedsParis: false,
  /** Blocks by which `safe` is behind the newest, and `finalized` behind `safe`. */
  blocksInEpoch: 0n,
}

export type Behaviour = Readonly<typeof OWN_BEHAVIOUR>
