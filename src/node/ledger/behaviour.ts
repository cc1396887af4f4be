// What a chain does where nodes do different things. The maker of a chain chooses; the chain knows no names of nodes.

export interface Behaviour {
  /** Calls and estimates run whose price is below the base fee; else they are refused as a block would. */
  readonly callsBelowBaseFee: boolean
  /** A call of a sender that cannot pay value and gas is refused. */
  readonly callsAskForFunds: boolean
  readonly estimatesAskForFunds: boolean
  /** Gas of a call that names none, and the most that one gets; undefined: its block's gas limit, and no bound. */
  readonly callGas: bigint | undefined
  /** An estimate is the smallest gas that suffices; else up to 1.5 % more, found as geth finds it. */
  readonly estimatesAreExact: boolean
  /** An estimate of a transfer to an account without code is run; else it is what a transfer takes, whatever is said of it. */
  readonly estimatesRunTransfers: boolean
  /** A request to send without `from` is refused; else the first account sends. */
  readonly needsSender: boolean
  /** A request with `gasPrice` and fees of EIP-1559 is refused; else `gasPrice` is taken, and they are not. */
  readonly refusesBothPrices: boolean
  /** A type that has a `gasPrice` is taken though no price is named; else the fees are those of EIP-1559. */
  readonly keepsTypeWithoutPrice: boolean
  /** A fee cap below the next base fee is refused even where blocks come later, when the base fee may have fallen. */
  readonly poolAsksForBaseFee: boolean
  /** A replacement offers a tenth more in fee cap and tip; else a higher fee cap is enough. */
  readonly replacementsRaiseTip: boolean
  /** What a mined block could not take for its price leaves the pool, with all that its sender sent after it; else it waits. */
  readonly dropsPricedOut: boolean
  /** A transaction beyond its sender's next nonce waits for those before it, also where blocks come with transactions. */
  readonly gapsWait: boolean
  /** Automining that begins mines what waits; else it waits for the next transaction. */
  readonly automineMinesPool: boolean
  /** A send that gas has become too dear for is mined after empty blocks, which lower the base fee; else it waits. */
  readonly minesUntilIncluded: boolean
  /** Blocks that come with transactions have one each; else each has all that waits. */
  readonly oneTransactionABlock: boolean
  /** Where blocks get a lower gas limit, transactions that no block could hold leave the pool; else they wait. */
  readonly limitEmptiesPool: boolean
  /** A nonce may be set below the account's, and while transactions wait. */
  readonly noncesGoBack: boolean
  /** From osaka on a transaction has at most 2^24 gas (EIP-7825), where no other cap is set. */
  readonly capsTransactionGas: boolean
  /** The first block has the base fee of the genesis; else what EIP-1559 makes of it, seven eighths. */
  readonly firstBaseFeeStays: boolean
  /** Wei per gas that is offered at least where nobody set a price, nor a base fee of nothing. */
  readonly usualPrice: bigint
  /** The same before london, where only offers show what gas is worth. */
  readonly usualPriceBeforeLondon: bigint
  /** The price offered is one that the newest block takes too, and the next after a full one; else one for the next alone. */
  readonly offersPriceToLast: boolean
  /** The tip offered is what the cheapest of recent transactions paid, where that is more than the settings'. */
  readonly offersPaidTip: boolean
  /** A fee cap that the caller leaves open covers twice the base fee and the tip; else it is the price offered, whatever the tip. */
  readonly capCoversTip: boolean
  /** After a randomness that was set each block has the hash of the one before; else what follows from the chain. */
  readonly setRandomnessGoesOn: boolean
  /** Before paris a header has a nonce that is not zero, and no randomness; else randomness, and a nonce of zero. */
  readonly noncesBeforeParis: boolean
  /** Ids of snapshots go on after a reset; else they begin anew. */
  readonly snapshotIdsGoOn: boolean
  /** A call or an estimate that would create a contract of no code is refused. */
  readonly creationsNeedData: boolean
  /** Blocks at an interval move the clock; else they run ahead of it, and then come a second apart until it is there. */
  readonly intervalsMoveClock: boolean
  /** A transaction without gas whose estimate fails is refused; else it gets the block's gas limit, and fails in a block. */
  readonly refusesFailingEstimates: boolean
  /** Which calls see the block's base fee: all, those that offer a price, or none; the others see 0, as they pay none. */
  readonly callsSeeBaseFee: 'all' | 'priced' | 'none'
  /** Two precompiles may be moved to one address, where the later one answers; else that is refused. */
  readonly precompilesShareAddress: boolean
  /** A call with members of a transaction type that came with a later fork is refused. */
  readonly callsAskForType: boolean
  /** A price below the least keeps a transaction out of blocks; else out of the pool. Where blocks are mined at once it is refused. */
  readonly cheapOnesWait: boolean
  /** Logs of a range that ends before it begins are none; else it is refused. */
  readonly backwardRangesAreEmpty: boolean
  /** The tags `safe` and `finalized` name no block before paris. */
  readonly finalityNeedsParis: boolean
  /** Blocks by which `safe` is behind the newest, and `finalized` behind `safe`. */
  readonly blocksInEpoch: bigint
}

/** Twice the base fee, as geth offers, lasts for five full blocks. */
export const OWN_BEHAVIOUR: Behaviour = {
  callsBelowBaseFee: false,
  callsAskForFunds: true,
  estimatesAskForFunds: true,
  callGas: undefined,
  estimatesAreExact: true,
  estimatesRunTransfers: true,
  needsSender: true,
  refusesBothPrices: true,
  keepsTypeWithoutPrice: true,
  poolAsksForBaseFee: false,
  replacementsRaiseTip: true,
  dropsPricedOut: false,
  gapsWait: true,
  automineMinesPool: true,
  minesUntilIncluded: false,
  oneTransactionABlock: true,
  limitEmptiesPool: false,
  noncesGoBack: true,
  capsTransactionGas: false,
  firstBaseFeeStays: false,
  usualPrice: 0n,
  usualPriceBeforeLondon: 0n,
  offersPriceToLast: true,
  offersPaidTip: true,
  capCoversTip: true,
  setRandomnessGoesOn: false,
  noncesBeforeParis: false,
  snapshotIdsGoOn: true,
  creationsNeedData: false,
  intervalsMoveClock: true,
  refusesFailingEstimates: true,
  callsSeeBaseFee: 'priced',
  precompilesShareAddress: false,
  callsAskForType: false,
  cheapOnesWait: false,
  finalityNeedsParis: false,
  backwardRangesAreEmpty: false,
  blocksInEpoch: 0n,
}
