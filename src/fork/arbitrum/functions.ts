// The read-only functions of Arbitrum's own contracts, which are answered here by asking the network.
import { keccakHash } from '../../core/crypto/crypto.ts'
import type { Address } from '../../core/hex.ts'
import { ARBITRUM } from '../network/owncontracts.ts'

/**
 * Signatures by contract name. Each has no parameter, or one that fits 20 bytes.
 * @see https://github.com/OffchainLabs/nitro-precompile-interfaces
 */
const READING: Readonly<Record<string, string>> = {
  ArbSys: 'arbBlockNumber() arbBlockHash(uint256) arbChainID() arbOSVersion()',
  ArbAddressTable: 'addressExists(address) lookup(address) lookupIndex(uint256) size()',
  ArbOwnerPublic: `
    getAllChainOwners() getBrotliCompressionLevel() getInfraFeeAccount() getNetworkFeeAccount()
    getScheduledUpgrade() isChainOwner(address)`,
  ArbGasInfo: `
    getAmortizedCostCapBips() getCurrentTxL1GasFees() getGasAccountingParams() getGasBacklog()
    getGasBacklogTolerance() getL1BaseFeeEstimate() getL1BaseFeeEstimateInertia()
    getL1FeesAvailable() getL1GasPriceEstimate() getL1PricingEquilibrationUnits()
    getL1PricingFundsDueForRewards() getL1PricingSurplus() getL1PricingUnitsSinceUpdate()
    getL1RewardRate() getL1RewardRecipient() getLastL1PricingSurplus() getLastL1PricingUpdateTime()
    getMinimumGasPrice() getPerBatchGasCharge() getPricesInArbGas()
    getPricesInArbGasWithAggregator(address) getPricesInWei() getPricesInWeiWithAggregator(address)
    getPricingInertia()`,
  ArbAggregator: `
    getBatchPosters() getDefaultAggregator() getFeeCollector(address)
    getPreferredAggregator(address) getTxBaseFee(address)`,
  ArbRetryableTx: 'getLifetime() getSubmissionPrice(uint256)',
  ArbStatistics: 'getStats()',
  ArbWasm: `
    blockCacheSize() expiryDays() freePages() initCostScalar() inkPrice() keepaliveDays()
    maxStackDepth() minInitGas() pageGas() pageLimit() pageRamp() programInitGas(address)
    programMemoryFootprint(address) programTimeLeft(address) programVersion(address) stylusVersion()`,
  ArbWasmCache: 'allCacheManagers() isCacheManager(address)',
}

interface Reading {
  readonly name: string
  readonly functions: ReadonlyMap<number, string>
}

export const CONTRACTS: ReadonlyMap<Address, Reading> = new Map(
  Object.entries(ARBITRUM).flatMap(([digits, name]) => {
    const signatures = READING[name]
    if (signatures === undefined) return []
    const each = signatures.trim().split(/\s+/)
    const functions = new Map(each.map((signature) => [selectorOf(signature), signature]))
    return [[`0x${digits.padStart(40, '0')}` as Address, { name, functions }]]
  }),
)

export function selectorOf(signature: string): number {
  return Number(keccakHash(new TextEncoder().encode(signature)).slice(0, 10))
}
