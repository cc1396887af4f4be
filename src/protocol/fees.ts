// Gas and fees: effective prices, base fee, intrinsic gas, blob fees.
import type { Address } from '../core/hex.ts'
import { memoizeByIdentity } from '../core/lrucache.ts'
import { type Hardfork, isAtLeast } from './forks.ts'
import type { UnsignedTransaction } from './transactions/transaction.ts'

type Priced = Pick<UnsignedTransaction, 'maxFeePerGas' | 'maxPriorityFeePerGas'>

export interface GasRelevant
  extends Pick<UnsignedTransaction, 'to' | 'value' | 'data' | 'accessList' | 'authorizationList'> {
  readonly from: Address
}

/** Wei per gas that a sender pays: base fee and tip, up to the maximum (EIP-1559). */
export function effectiveGasPrice(transaction: Priced, baseFee: bigint): bigint {
  return baseFee + effectiveTip(transaction, baseFee)
}

/** Wei per gas for the miner; negative if the maximum is below the base fee. */
export function effectiveTip(
  { maxFeePerGas, maxPriorityFeePerGas }: Priced,
  baseFee: bigint,
): bigint {
  const room = maxFeePerGas - baseFee
  return room < maxPriorityFeePerGas ? room : maxPriorityFeePerGas
}

export interface ParentFees {
  /** Wei per gas. */
  readonly baseFee: bigint
  readonly gasUsed: bigint
  readonly gasLimit: bigint
}

/**
 * A rise is at least 1 wei, so that a fee of 0 can grow again.
 * @see https://eips.ethereum.org/EIPS/eip-1559
 */
export function nextBaseFee({ baseFee, gasUsed, gasLimit }: ParentFees): bigint {
  const target = gasLimit / 2n
  if (target === 0n || gasUsed === target) return baseFee
  if (gasUsed < target) return baseFee - (baseFee * (target - gasUsed)) / target / 8n
  const rise = (baseFee * (gasUsed - target)) / target / 8n
  return baseFee + (rise > 1n ? rise : 1n)
}

/** Wei per gas of the first block under EIP-1559. */
export const INITIAL_BASE_FEE = 1_000_000_000n

/** Wei per gas of the next block, from london on (EIP-1559). */
export function baseFeeAfter({
  baseFeePerGas,
  gasUsed,
  gasLimit,
}: Omit<ParentFees, 'baseFee'> & { readonly baseFeePerGas?: bigint | undefined }): bigint {
  if (baseFeePerGas === undefined) return INITIAL_BASE_FEE
  return nextBaseFee({ baseFee: baseFeePerGas, gasUsed, gasLimit })
}

/** Gas of a transfer, the cheapest transaction; before amsterdam. */
export const TRANSACTION_GAS = 21_000n

/** Of a transaction that only raises its sender's nonce. */
export function leastGas(hardfork: Hardfork): bigint {
  return isAtLeast(hardfork, 'amsterdam') ? BigInt(SENDER_GAS) : TRANSACTION_GAS
}

// numbers, as sums of bigints took a tenth of a transfer
const CREATION_GAS = 32_000
const ZERO_BYTE_GAS = 4
const INIT_CODE_WORD_GAS = 2
const FLOOR_TOKEN_GAS = 10

interface ListPrices {
  readonly address: number
  readonly key: number
  /** Of the access list, beside the others. */
  readonly byte: number
  readonly authorization: number
}

const LIST_PRICES: ListPrices = { address: 2_400, key: 1_900, byte: 0, authorization: 25_000 }

// from amsterdam on: EIP-2780 (sender, recipient, value), EIP-8038 (accesses), EIP-7976 and EIP-7981 (floor)
const SENDER_GAS = 12_000
const RECIPIENT_GAS = 3_000
const RECIPIENT_VALUE_GAS = 6_000
const CREATED_GAS = 12_000
const FLOOR_BYTE_GAS = 64
const COLD_LIST_PRICES: ListPrices = {
  address: 2_900,
  key: 2_000,
  byte: FLOOR_BYTE_GAS,
  authorization: 7_816,
}
const ADDRESS_BYTES = 20
const KEY_BYTES = 32

/** Sender and recipient; since amsterdam the floor includes it. */
function baseGas({ from, to, value }: GasRelevant, hardfork: Hardfork): number {
  if (!isAtLeast(hardfork, 'amsterdam')) {
    const isPaid = to === null && isAtLeast(hardfork, 'homestead')
    return Number(TRANSACTION_GAS) + (isPaid ? CREATION_GAS : 0)
  }
  if (to === null) return SENDER_GAS + CREATED_GAS
  if (to === from) return SENDER_GAS
  return SENDER_GAS + RECIPIENT_GAS + (value > 0n ? RECIPIENT_VALUE_GAS : 0)
}

function bytesOfAccessList(accessList: GasRelevant['accessList']): number {
  return ADDRESS_BYTES * accessList.length + KEY_BYTES * countKeys(accessList)
}

function countKeys(accessList: GasRelevant['accessList']): number {
  return accessList.reduce((sum, entry) => sum + entry.storageKeys.length, 0)
}

/**
 * EIP-2 (creation), EIP-2028 (data), EIP-2930 (access list), EIP-3860 (init code), EIP-7702 (authorizations). Since amsterdam the
 * execution gas of all that does not depend on the state.
 */
export function intrinsicGas(transaction: GasRelevant, hardfork: Hardfork): bigint {
  const { to, data, accessList, authorizationList } = transaction
  const prices = isAtLeast(hardfork, 'amsterdam') ? COLD_LIST_PRICES : LIST_PRICES
  const zeros = zeroBytes(data)
  const nonZeroByteGas = isAtLeast(hardfork, 'istanbul') ? 16 : 68
  const isMetered = to === null && isAtLeast(hardfork, 'shanghai')
  return BigInt(
    baseGas(transaction, hardfork) +
      (isMetered ? INIT_CODE_WORD_GAS * Math.ceil(data.length / 32) : 0) +
      ZERO_BYTE_GAS * zeros +
      nonZeroByteGas * (data.length - zeros) +
      prices.address * accessList.length +
      prices.key * countKeys(accessList) +
      prices.byte * bytesOfAccessList(accessList) +
      prices.authorization * authorizationList.length,
  )
}

/** Minimum gas for the calldata (EIP-7623), since amsterdam with the access list; 0 before prague. */
export function floorDataGas(transaction: GasRelevant, hardfork: Hardfork): bigint {
  if (!isAtLeast(hardfork, 'prague')) return 0n
  const { data, accessList } = transaction
  if (isAtLeast(hardfork, 'amsterdam')) {
    const bytes = data.length + bytesOfAccessList(accessList)
    return BigInt(baseGas(transaction, hardfork) + FLOOR_BYTE_GAS * bytes)
  }
  const zeros = zeroBytes(data)
  return TRANSACTION_GAS + BigInt(FLOOR_TOKEN_GAS * (zeros + 4 * (data.length - zeros)))
}

/** Refunds are limited to half of the gas used, from london on a fifth (EIP-3529). */
export function maxRefund(gasUsed: bigint, hardfork: Hardfork): bigint {
  return gasUsed / (isAtLeast(hardfork, 'london') ? 5n : 2n)
}

/** Bytes. Longer data cache their zero count: six checks ask for it, a third of a deployment's time. */
const LONG = 256

const knownZeros = memoizeByIdentity(countZeros)

function zeroBytes(data: Uint8Array): number {
  return data.length < LONG ? countZeros(data) : knownZeros(data)
}

/** By index, as an iterator takes four times as long. */
function countZeros(data: Uint8Array): number {
  let zeros = 0
  for (let i = 0; i < data.length; i++) if (data[i] === 0) zeros++
  return zeros
}

/** EIP-4844. */
export const GAS_PER_BLOB = 131_072n
const MIN_BLOB_BASE_FEE = 1n
const BLOB_BASE_COST = 8_192n

export interface BlobRules {
  /** Blobs a block aims at, and may have at most. */
  readonly target: bigint
  readonly max: bigint
  /** How slowly the price follows the excess. */
  readonly updateFraction: bigint
}

/** Mainnet's: EIP-4844, EIP-7691 (prague), EIP-7892 (bpo1, bpo2). */
export function blobRulesOf(hardfork: Hardfork): BlobRules {
  if (isAtLeast(hardfork, 'bpo2')) return { target: 14n, max: 21n, updateFraction: 11_684_671n }
  if (isAtLeast(hardfork, 'bpo1')) return { target: 10n, max: 15n, updateFraction: 8_346_193n }
  if (isAtLeast(hardfork, 'prague')) return { target: 6n, max: 9n, updateFraction: 5_007_716n }
  return { target: 3n, max: 6n, updateFraction: 3_338_477n }
}

export function maxBlobGas(hardfork: Hardfork, { max }: BlobRules = blobRulesOf(hardfork)): bigint {
  return max * GAS_PER_BLOB
}

/** Wei per blob gas, from the header's excess (EIP-4844). */
export function blobBaseFee(
  excessBlobGas: bigint,
  hardfork: Hardfork,
  { updateFraction }: BlobRules = blobRulesOf(hardfork),
): bigint {
  return fakeExponential(MIN_BLOB_BASE_FEE, excessBlobGas, updateFraction)
}

export interface BlobMarket {
  readonly excessBlobGas: bigint
  readonly hardfork: Hardfork
  readonly blobRules?: BlobRules | undefined
  /** Wei per blob gas, overriding the one from the excess. */
  readonly blobBaseFee?: bigint | undefined
}

export function blobBaseFeeIn(block: BlobMarket): bigint {
  return block.blobBaseFee ?? blobBaseFee(block.excessBlobGas, block.hardfork, block.blobRules)
}

export interface ParentBlobs {
  readonly excessBlobGas?: bigint | undefined
  readonly blobGasUsed?: bigint | undefined
  /** Wei per gas. */
  readonly baseFeePerGas?: bigint | undefined
}

/** EIP-4844, from osaka on EIP-7918; 0n before cancun. */
export function nextExcessBlobGas(
  { excessBlobGas: excess = 0n, blobGasUsed: used = 0n, baseFeePerGas = 0n }: ParentBlobs,
  hardfork: Hardfork,
  rules: BlobRules = blobRulesOf(hardfork),
): bigint {
  const { target, max } = rules
  const sum = excess + used
  if (!isAtLeast(hardfork, 'cancun') || sum < target * GAS_PER_BLOB) return 0n
  const reserve = BLOB_BASE_COST * baseFeePerGas
  const price = GAS_PER_BLOB * blobBaseFee(excess, hardfork, rules)
  if (isAtLeast(hardfork, 'osaka') && reserve > price) return excess + (used * (max - target)) / max
  return sum - target * GAS_PER_BLOB
}

export function blobGasOf({ blobs }: Pick<UnsignedTransaction, 'blobs'>): bigint {
  return blobs === undefined ? 0n : GAS_PER_BLOB * BigInt(blobs.versionedHashes.length)
}

/** In wei. */
export function highestBlobCost({ blobs }: Pick<UnsignedTransaction, 'blobs'>): bigint {
  return blobGasOf({ blobs }) * (blobs?.maxFeePerBlobGas ?? 0n)
}

export function blobGasOfAll(transactions: readonly Pick<UnsignedTransaction, 'blobs'>[]): bigint {
  return transactions.reduce((sum, transaction) => sum + blobGasOf(transaction), 0n)
}

/** A call without a price: it pays no gas, and need not offer the base fee. */
export function isFree({ maxFeePerGas, maxPriorityFeePerGas }: Priced): boolean {
  return maxFeePerGas === 0n && maxPriorityFeePerGas === 0n
}

export function areBlobsFree({ blobs }: Pick<UnsignedTransaction, 'blobs'>): boolean {
  return blobs === undefined || blobs.maxFeePerBlobGas === 0n
}

/** factor · e^(numerator / denominator), by its Taylor series in integers (EIP-4844). */
function fakeExponential(factor: bigint, numerator: bigint, denominator: bigint): bigint {
  let sum = 0n
  let term = factor * denominator
  for (let i = 1n; term > 0n; i++) {
    sum += term
    term = (term * numerator) / (denominator * i)
  }
  return sum / denominator
}
