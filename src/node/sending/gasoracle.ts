// Fee suggestions and fee history.
import { larger } from '../../core/bigints.ts'
import { DevchainError, invalidParams } from '../../core/errors.ts'
import { yielder } from '../../core/yield.ts'
import type { BlockEnvironment } from '../../evm/executor.ts'
import type { Header } from '../../protocol/blocks/header.ts'
import { blobBaseFee, maxBlobGas, nextBaseFee } from '../../protocol/fees.ts'
import { isAtLeast } from '../../protocol/forks.ts'
import { MAX_TIMESTAMP } from '../../protocol/timestamps.ts'
import type { BlockRecord } from '../ledger/blockrecord.ts'
import { appendBlock, type BlockTree, blockByNumber, headOf } from '../ledger/blocktree.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import { blobFeeIn, nextBlockEnvironment } from '../mining/environment.ts'

/** Blocks sampled for a suggestion, and tips per block: geth's numbers. */
const SAMPLE_BLOCKS = 20
const SAMPLES_PER_BLOCK = 3
const SAMPLE_PERCENTILE = 60

/** Most blocks of one `eth_feeHistory` (execution-apis), and most percentiles. */
const MAX_HISTORY = 1024n
const MAX_PERCENTILES = 100

/** Each list begins with the oldest block. */
export interface FeeHistory {
  readonly oldestBlock: bigint
  /** Wei per gas, with one more entry for the block after the newest. */
  readonly baseFeePerGas: readonly bigint[]
  readonly gasUsedRatio: readonly number[]
  readonly baseFeePerBlobGas: readonly bigint[]
  readonly blobGasUsedRatio: readonly number[]
  /** Tips in wei per gas, by block and percentile of the gas used; only if percentiles were requested. */
  readonly reward: readonly (readonly bigint[])[] | undefined
}

/** Wei per gas; 0n before london. */
export function upcomingBaseFee(state: ChainState): bigint {
  return environmentAfterHead(state).baseFee
}

/**
 * A price in wei per gas that is mined now: the next base fee, plus the suggested tip under EIP-1559. Its lower bounds
 * are the settings (or the chain's usual price), the pool's minimum, and the newest block's base fee, for calls on that
 * block. Under EIP-1559 it also covers the base fee after a full block.
 */
export function gasPrice(state: ChainState): bigint {
  const { baseFee, gasLimit, hardfork } = environmentAfterHead(state)
  const { usualPrice, usualPriceBeforeLondon, offersPriceToLast } = state.config.behaviour
  if (!offersPriceToLast && baseFee > 0n) return baseFee + maxPriorityFeePerGas(state)
  const newest = headOf(state.tree).block.header.baseFeePerGas ?? 0n
  const isMarket = baseFee > 0n && !state.settings.pinnedBaseFee
  const risen = isMarket ? nextBaseFee({ baseFee, gasLimit, gasUsed: gasLimit }) : baseFee
  const hasBaseFee = isAtLeast(hardfork, 'london')
  const isFree = hasBaseFee && baseFee === 0n
  const isOpen = state.settings.gasPrice === 0n && !isFree
  const early = hasBaseFee ? 0n : usualPriceBeforeLondon
  const usual = isOpen ? larger(usualPrice, early) : 0n
  return [baseFee + maxPriorityFeePerGas(state), newest, risen, usual].reduce(larger)
}

/** The tip of recent blocks or of the settings, or as much as their price requires. */
export function maxPriorityFeePerGas(state: ChainState): bigint {
  const { gasPrice: least, minGasPrice, tip } = state.settings
  const baseFee = upcomingBaseFee(state)
  return [least - baseFee, minGasPrice - baseFee, suggestedTip(state), tip].reduce(larger)
}

/**
 * Geth's suggestion: the 60th percentile of the three lowest tips of each of the last 20 blocks; or the lowest tip of the
 * newest block, or none, by behaviour. 0n with a pinned base
 * fee, where nobody competes. A fork counts only local blocks: fetching the network's would be slow, and their senders
 * do not compete here.
 */
function suggestedTip({ tree, settings, config }: ChainState): bigint {
  const { offersTipOf } = config.behaviour
  if (settings.pinnedBaseFee || offersTipOf === 'nobody') return 0n
  const head = headOf(tree)
  const own = Number(head.block.header.number) - (tree.network?.number ?? -1)
  if (own === 0) return 0n
  if (offersTipOf === 'newest') return lowestTips(head)[0] ?? 0n
  const records = recordsUpTo(tree, head, Math.min(SAMPLE_BLOCKS, own))
  const tips = records.flatMap(lowestTips).sort((a, b) => Number(a - b))
  return tips[Math.floor(((tips.length - 1) * SAMPLE_PERCENTILE) / 100)] ?? 0n
}

function lowestTips(record: BlockRecord): readonly bigint[] {
  const tips = paidTips(record).map(({ tip }) => tip)
  return tips.sort((a, b) => Number(a - b)).slice(0, SAMPLES_PER_BLOCK)
}

function recordsUpTo(tree: BlockTree, newest: BlockRecord, count: number): BlockRecord[] {
  const number = Number(newest.block.header.number)
  return [...tree.canonical.values(number + 1 - count, number), newest]
}

function paidTips({ block, executed }: BlockRecord): { tip: bigint; gasUsed: bigint }[] {
  const baseFee = block.header.baseFeePerGas ?? 0n
  return executed.map(({ receipt }) => ({
    tip: receipt.effectiveGasPrice - baseFee,
    gasUsed: receipt.gasUsed,
  }))
}

/**
 * In turns: old blocks are decoded.
 * @param newest a canonical block, or the pending one
 * @param percentiles each 0 to 100, ascending; undefined leaves `reward` out
 * @throws {DevchainError} `INVALID_PARAMS` for a count outside 1 to 1024 or invalid percentiles
 */
export async function feeHistory(
  state: ChainState,
  count: bigint,
  newest: BlockRecord,
  percentiles?: readonly number[],
): Promise<FeeHistory> {
  if (count < 1n || count > MAX_HISTORY) {
    const message = `block count: expected 1 to ${MAX_HISTORY}, got ${count}`
    throw new DevchainError('INVALID_PARAMS', message, undefined, { blockCount: count })
  }
  checkPercentiles(percentiles ?? [])
  const records = recordsUpTo(state.tree, newest, Number(count))
  const yieldIfDue = yielder()
  const fees: ReturnType<typeof feesOf>[] = []
  for (const record of records) {
    fees.push(feesOf(state, record, percentiles))
    await yieldIfDue()
  }
  const next = feesAfter(state, newest)
  return {
    oldestBlock: records[0]?.block.header.number ?? 0n,
    baseFeePerGas: [...fees.map(({ baseFee }) => baseFee), next.baseFee],
    gasUsedRatio: fees.map(({ gasRatio }) => gasRatio),
    baseFeePerBlobGas: [...fees.map(({ blobFee }) => blobFee), next.blobFee],
    blobGasUsedRatio: fees.map(({ blobGasRatio }) => blobGasRatio),
    reward: percentiles && fees.map(({ reward }) => reward),
  }
}

function feesOf(state: ChainState, record: BlockRecord, percentiles: readonly number[] = []) {
  const { header } = record.block
  return {
    baseFee: header.baseFeePerGas ?? 0n,
    gasRatio: ratio(header.gasUsed, header.gasLimit),
    blobFee: blobFeeOf(state, header),
    blobGasRatio: blobRatio(state, header),
    reward: percentiles.length === 0 ? [] : rewards(record, percentiles),
  }
}

function feesAfter(state: ChainState, newest: BlockRecord): { baseFee: bigint; blobFee: bigint } {
  const { tree, settings } = state
  const { number, parentHash } = newest.block.header
  const next = blockByNumber(tree, number + 1n)?.block.header
  if (next !== undefined) {
    return { baseFee: next.baseFeePerGas ?? 0n, blobFee: blobFeeOf(state, next) }
  }
  // only the pending block uses a base fee set for the next block
  const isPending = parentHash === headOf(tree).block.hash
  const afterPending = { ...settings, nextBaseFee: undefined }
  const end = isPending
    ? { ...state, tree: appendBlock(tree, newest), settings: afterPending }
    : state
  const { baseFee, excessBlobGas, hardfork, blobRules } = environmentAfterHead(end)
  const hasBlobs = isAtLeast(hardfork, 'cancun')
  const blobFee = hasBlobs ? blobBaseFee(excessBlobGas, hardfork, blobRules) : 0n
  return { baseFee, blobFee }
}

function environmentAfterHead(state: ChainState): BlockEnvironment {
  // any time after the head gives the same fees: only the hardfork could depend on it
  const { timestamp } = headOf(state.tree).block.header
  const after = timestamp < MAX_TIMESTAMP ? timestamp + 1n : timestamp
  return nextBlockEnvironment(state, Number(after) * 1000, after)
}

/** Wei per blob gas; 0n before cancun. */
export function blobFeeOf(state: ChainState, header: Header): bigint {
  return header.excessBlobGas === undefined ? 0n : blobFeeIn(state, header)
}

function blobRatio({ config }: ChainState, { number, timestamp, blobGasUsed }: Header): number {
  if (blobGasUsed === undefined) return 0
  const rules = config.blobRulesAt(number, timestamp)
  return ratio(blobGasUsed, maxBlobGas(config.hardforkAt(number, timestamp), rules))
}

function checkPercentiles(percentiles: readonly number[]): void {
  if (percentiles.length > MAX_PERCENTILES) {
    const message = `reward percentiles: expected at most ${MAX_PERCENTILES}, got ${percentiles.length}`
    throw invalidParams(message)
  }
  percentiles.forEach((percentile, i) => {
    const previous = percentiles[i - 1] ?? 0
    if (percentile >= previous && percentile <= 100) return
    const expected = i === 0 ? '0 to 100' : `${previous} (the one before it) to 100`
    const message = `reward percentile ${i}: expected ${expected}, got ${percentile}`
    const facts = { percentile, position: i + 1 }
    throw new DevchainError('INVALID_PARAMS', message, undefined, facts)
  })
}

/** The tip at each percentile of the block's gas, cheapest first; zeros for an empty block. */
function rewards(record: BlockRecord, percentiles: readonly number[]): bigint[] {
  const tips = paidTips(record).sort((a, b) => Number(a.tip - b.tip))
  return percentiles.map((percentile) => {
    const threshold = (Number(record.block.header.gasUsed) * percentile) / 100
    let bought = 0
    for (const { tip, gasUsed } of tips) {
      bought += Number(gasUsed)
      if (bought >= threshold) return tip
    }
    return tips.at(-1)?.tip ?? 0n
  })
}

function ratio(part: bigint, whole: bigint): number {
  return whole === 0n ? 0 : Number(part) / Number(whole)
}
