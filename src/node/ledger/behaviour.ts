// What a chain does where nodes differ. The creator of a chain chooses; no names of nodes occur here.

/** The values follow specification and protocol. Twice the base fee, geth's offer, lasts for five full blocks. */
export const OWN_BEHAVIOUR = {
  /** Calls and estimates may offer less than the base fee; else they fail as in a block. */
  callsBelowBaseFee: false,
  /** A call fails if its sender cannot pay value and gas. */
  callsAskForFunds: true,
  estimatesAskForFunds: true,
  /** Default and most gas of a call; undefined: the block's gas limit by default, and no bound. */
  callGas: undefined as bigint | undefined,
  /** An estimate is the smallest gas that suffices; else up to 1.5 % more, found as geth finds it. */
  estimatesAreExact: true,
  /** Estimates run a transfer to an account without code; else they return 21,000, whatever else the request says. */
  estimatesRunTransfers: true,
  /** A send without `from` fails; else the first account sends. */
  needsSender: true,
  /** A call without `from` comes from the first account; else from the zero address. */
  callsComeFromFirst: false,
  /** A request with `gasPrice` and EIP-1559 fees fails; else `gasPrice` wins. */
  refusesBothPrices: true,
  /** A type with `gasPrice` stays without a price; else the fees become those of EIP-1559. */
  keepsTypeWithoutPrice: true,
  /** A fee cap below the next base fee fails even if blocks come later, when the base fee may have fallen. */
  poolAsksForBaseFee: false,
  /** A replacement must raise fee cap and tip by a tenth; else a higher fee cap suffices. */
  replacementsRaiseTip: true,
  /** Mining drops transactions with too low a price, and their sender's later ones; else they wait. */
  dropsPricedOut: false,
  /** A transaction with a nonce gap waits, also under instant mining. */
  gapsWait: true,
  /** Starting automine mines the pool; else the pool waits for the next transaction. */
  automineMinesPool: true,
  /** A send below the base fee is mined after empty blocks, which lower the fee; else it waits. */
  minesUntilIncluded: false,
  /** Instant mining makes one block a transaction; else each block takes the whole pool. */
  oneTransactionABlock: true,
  /** Lowering the gas limit drops transactions above it; else they wait. */
  limitEmptiesPool: false,
  /** A nonce may be set below the account's, and while transactions wait. */
  noncesGoBack: true,
  /** Limits transactions to 2^24 gas from osaka on (EIP-7825), unless another cap is set. */
  capsTransactionGas: false,
  /** The first block has the base fee of the genesis; else EIP-1559 lowers it to seven eighths. */
  firstBaseFeeStays: false,
  /** Least suggested price in wei per gas, unless a price or a zero base fee is set. */
  usualPrice: 0n,
  /** The same before london, where only offers show what gas is worth. */
  usualPriceBeforeLondon: 0n,
  /** The suggested price also fits the newest block, and the next after a full one; else only the next block. */
  offersPriceToLast: true,
  /** Whose tip is suggested if they paid more than the settings': the cheapest of recent blocks, or of the newest. */
  offersTipOf: 'recent' as 'recent' | 'newest' | 'nobody',
  /** A default fee cap covers twice the base fee and the tip; else it is the suggested price, whatever the tip. */
  capCoversTip: true,
  /** After a set randomness each block has the hash of the previous one; else the chain's derived randomness. */
  setRandomnessGoesOn: false,
  /** Before paris headers have a nonzero nonce and no randomness; else randomness, and a zero nonce. */
  noncesBeforeParis: false,
  /** Snapshot ids continue after a reset; else they restart. */
  snapshotIdsGoOn: true,
  /** Creations need data, also calls, estimates and raw transactions. */
  creationsNeedData: false,
  /** An increase of the time moves the time that was set for the next block too; else that stays. */
  increasesMoveSetTime: true,
  /** Interval blocks move the clock; else they run ahead of it, one second apart, until it catches up. */
  intervalsMoveClock: true,
  /** A send without gas fails if its estimate fails; else it gets the block's gas limit, and fails in a block. */
  refusesFailingEstimates: true,
  /** Which calls see the block's base fee: all, those with a price, or none. The others see 0. */
  callsSeeBaseFee: 'priced' as 'all' | 'priced' | 'none',
  /** Two precompiles may move to one address, where the later one wins; else that fails. */
  precompilesShareAddress: false,
  /** A call with members of a later fork's transaction type fails. */
  callsAskForType: false,
  /** Transactions below the least price wait outside blocks; else the pool refuses them, as always under instant mining. */
  cheapOnesWait: false,
  /** A log range that ends before it begins is empty; else it fails. */
  backwardRangesAreEmpty: false,
  /** The tags `safe` and `finalized` fail before paris. */
  finalityNeedsParis: false,
  /** Blocks from `latest` to `safe`, and from `safe` to `finalized`. */
  blocksInEpoch: 0n,
}

export type Behaviour = Readonly<typeof OWN_BEHAVIOUR>
