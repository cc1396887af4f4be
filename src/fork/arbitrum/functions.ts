// Which functions of Arbitrum's own contracts are answered here: those that only read, and so can be asked of the network.
import { keccakHash } from '../../core/crypto/crypto.ts'
import type { Address } from '../../core/hex.ts'

/**
 * Signatures by the contract's address: each has no parameter, or one that 20 bytes hold.
 * @see https://github.com/OffchainLabs/nitro-precompile-interfaces
 */
const READING: Readonly<Record<string, readonly string[]>> = {
  // ArbSys
  '64': ['arbBlockNumber()', 'arbBlockHash(uint256)', 'arbChainID()', 'arbOSVersion()'],
  // ArbAddressTable
  '66': ['addressExists(address)', 'lookup(address)', 'lookupIndex(uint256)', 'size()'],
  // ArbOwnerPublic
  '6b': [
    'getAllChainOwners()',
    'getBrotliCompressionLevel()',
    'getInfraFeeAccount()',
    'getNetworkFeeAccount()',
    'getScheduledUpgrade()',
    'isChainOwner(address)',
  ],
  // ArbGasInfo
  '6c': [
    'getAmortizedCostCapBips()',
    'getCurrentTxL1GasFees()',
    'getGasAccountingParams()',
    'getGasBacklog()',
    'getGasBacklogTolerance()',
    'getL1BaseFeeEstimate()',
    'getL1BaseFeeEstimateInertia()',
    'getL1FeesAvailable()',
    'getL1GasPriceEstimate()',
    'getL1PricingEquilibrationUnits()',
    'getL1PricingFundsDueForRewards()',
    'getL1PricingSurplus()',
    'getL1PricingUnitsSinceUpdate()',
    'getL1RewardRate()',
    'getL1RewardRecipient()',
    'getLastL1PricingSurplus()',
    'getLastL1PricingUpdateTime()',
    'getMinimumGasPrice()',
    'getPerBatchGasCharge()',
    'getPricesInArbGas()',
    'getPricesInArbGasWithAggregator(address)',
    'getPricesInWei()',
    'getPricesInWeiWithAggregator(address)',
    'getPricingInertia()',
  ],
  // ArbAggregator
  '6d': [
    'getBatchPosters()',
    'getDefaultAggregator()',
    'getFeeCollector(address)',
    'getPreferredAggregator(address)',
    'getTxBaseFee(address)',
  ],
  // ArbRetryableTx
  '6e': ['getLifetime()', 'getSubmissionPrice(uint256)'],
  // ArbStatistics
  '6f': ['getStats()'],
  // ArbWasm
  '71': [
    'blockCacheSize()',
    'expiryDays()',
    'freePages()',
    'initCostScalar()',
    'inkPrice()',
    'keepaliveDays()',
    'maxStackDepth()',
    'minInitGas()',
    'pageGas()',
    'pageLimit()',
    'pageRamp()',
    'programInitGas(address)',
    'programMemoryFootprint(address)',
    'programTimeLeft(address)',
    'programVersion(address)',
    'stylusVersion()',
  ],
  // ArbWasmCache
  '72': ['allCacheManagers()', 'isCacheManager(address)'],
}

/** Functions by their selectors, of each contract that has a stand-in. */
export const FUNCTIONS: ReadonlyMap<Address, ReadonlyMap<number, string>> = new Map(
  Object.entries(READING).map(([digits, signatures]) => [
    `0x${digits.padStart(40, '0')}` as Address,
    new Map(signatures.map((signature) => [selectorOf(signature), signature])),
  ]),
)

/** The first four bytes of a signature's hash, as a number. */
export function selectorOf(signature: string): number {
  return Number(keccakHash(new TextEncoder().encode(signature)).slice(0, 10))
}
