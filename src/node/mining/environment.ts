// The environment of a block: what contracts see, and the source of the header.
import { hashBytes, keccakHash } from '../../core/crypto/crypto.ts'
import { concatBytes, type Hash, paddedBytes, ZERO_HASH } from '../../core/hex.ts'
import type { BlockEnvironment, BlockStartJob } from '../../evm/executor.ts'
import { nextDifficulty } from '../../protocol/blocks/difficulty.ts'
import { type Header, NO_PROOF } from '../../protocol/blocks/header.ts'
import { ELASTICITY } from '../../protocol/blocks/headerrules.ts'
import {
  baseFeeAfter as baseFeeOfNetwork,
  blobBaseFee,
  nextExcessBlobGas,
} from '../../protocol/fees.ts'
import { type Hardfork, isAtLeast } from '../../protocol/forks.ts'
import type { World } from '../../state/world.ts'
import { signersOf } from '../accounts/accounts.ts'
import type { BlockRecord } from '../ledger/blockrecord.ts'
import { hashByNumber, headOf } from '../ledger/blocktree.ts'
import type { ChainConfig, ChainState, Settings } from '../ledger/chainstate.ts'
import { nextTimestamp, requireFits } from '../ledger/clock.ts'
import { ancestorHash } from '../ledger/leftblocks.ts'

export type NextRules = Pick<
  BlockEnvironment,
  'number' | 'timestamp' | 'hardfork' | 'blobRules' | 'baseFee'
>

/** The fields of a block that neither its parent nor the chain's rules give. */
interface BlockProposal
  extends Pick<
    BlockEnvironment,
    'number' | 'timestamp' | 'coinbase' | 'gasLimit' | 'difficulty' | 'prevRandao' | 'blockHash'
  > {
  /** Wei per gas; by default from the block before. */
  readonly baseFee?: bigint | undefined
}

/** The nonce of the main network's genesis, for headers without proof of work. */
const SOME_PROOF = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0x42)

export function nonceAt({ behaviour }: ChainConfig, hardfork: Hardfork): Uint8Array {
  return behaviour.noncesBeforeParis && !isAtLeast(hardfork, 'paris') ? SOME_PROOF : NO_PROOF
}

export function nextRules(
  state: ChainState,
  now: number,
  timestamp: bigint = nextTimestamp(state, now),
): NextRules {
  requireFits(timestamp)
  const number = headOf(state.tree).block.header.number + 1n
  const hardfork = state.config.hardforkAt(number, timestamp)
  const blobRules = state.config.blobRulesAt(number, timestamp)
  return { number, timestamp, hardfork, blobRules, baseFee: nextBaseFeeOf(state, hardfork) }
}

export function nextBlobFee(
  { tree }: ChainState,
  { hardfork, blobRules }: Pick<NextRules, 'hardfork' | 'blobRules'>,
): bigint {
  if (!isAtLeast(hardfork, 'cancun')) return 0n
  const excess = nextExcessBlobGas(headOf(tree).block.header, hardfork, blobRules)
  return blobBaseFee(excess, hardfork, blobRules)
}

/** Wei per blob gas in a block; 1 before cancun. */
export function blobFeeIn(
  { config }: Pick<ChainState, 'config'>,
  { number, timestamp, excessBlobGas = 0n }: Header,
): bigint {
  const hardfork = config.hardforkAt(number, timestamp)
  return blobBaseFee(excessBlobGas, hardfork, config.blobRulesAt(number, timestamp))
}

export function nextBlockEnvironment(
  state: ChainState,
  now: number,
  timestamp?: bigint,
): BlockEnvironment {
  const { settings, tree } = state
  const parent = headOf(tree).block
  const rules = nextRules(state, now, timestamp)
  const { number } = rules
  const hasNonce = nonceAt(state.config, rules.hardfork) !== NO_PROOF
  const set = settings.nextPrevRandao ?? settings.laterPrevRandao
  const prevRandao = set ?? derivedRandao(parent.hash, number, tree.abandoned)
  return environmentAfter(state, parent.header, {
    number,
    timestamp: rules.timestamp,
    baseFee: rules.baseFee,
    coinbase: settings.coinbase,
    gasLimit: nextGasLimit(state, parent.header, rules.hardfork),
    difficulty: nextDifficultyOf(state, rules),
    prevRandao: hasNonce ? ZERO_HASH : prevRandao,
    blockHash: (asked) => hashByNumber(tree, asked),
  })
}

/** Twice the limit in a network's first block of london, unless it was changed: then the target stays (EIP-1559). */
function nextGasLimit(
  { config, settings: { blockGasLimit } }: ChainState,
  { gasLimit, baseFeePerGas }: Header,
  hardfork: Hardfork,
): bigint {
  const isFirst = baseFeePerGas === undefined && isAtLeast(hardfork, 'london')
  const isDoubled = isFirst && config.ruleset === 'network' && blockGasLimit === gasLimit
  return isDoubled ? gasLimit * ELASTICITY : blockGasLimit
}

export function environmentAfter(
  state: ChainState,
  parent: Header,
  given: BlockProposal,
): BlockEnvironment {
  const { config, accounts } = state
  const { number, timestamp } = given
  const hardfork = config.hardforkAt(number, timestamp)
  const blobRules = config.blobRulesAt(number, timestamp)
  // written out: a large spread is slow, and each block has one
  return {
    chainId: config.chainId,
    hardfork,
    number,
    timestamp,
    coinbase: given.coinbase,
    gasLimit: given.gasLimit,
    difficulty: given.difficulty,
    prevRandao: given.prevRandao,
    baseFee: given.baseFee ?? baseFeeAfter(state, parent, hardfork),
    excessBlobGas: nextExcessBlobGas(parent, hardfork, blobRules),
    // there is a block in each slot, as there is no beacon chain here
    slotNumber: (parent.slotNumber ?? parent.number) + 1n,
    blobRules,
    depositContract: config.depositContract,
    blockHash: given.blockHash,
    signers: signersOf(accounts),
  }
}

/** The randomness (PREVRANDAO) of a chain without stakers. Deterministic: from the parent, the number and the count of abandoned blocks, so that a replacement block differs. */
export function derivedRandao(parentHash: Hash, number: bigint, abandoned: number): Hash {
  return keccakHash(randaoSeed(hashBytes(parentHash), number, abandoned))
}

export function randaoSeed(parentHash: Uint8Array, number: bigint, abandoned: number): Uint8Array {
  const seed = concatBytes(parentHash, paddedBytes(number, 32))
  return abandoned === 0 ? seed : concatBytes(seed, paddedBytes(BigInt(abandoned), 32))
}

/**
 * The environment of an existing block. Its members are in the order of `environmentAfter`, so that both share machine
 * code.
 * @param chainId undefined: the chain's present one
 */
export function blockEnvironment(
  state: ChainState,
  record: BlockRecord,
  chainId: bigint = state.config.chainId,
): BlockEnvironment {
  const { header } = record.block
  const { config } = state
  return {
    chainId,
    hardfork: config.hardforkAt(header.number, header.timestamp),
    number: header.number,
    timestamp: header.timestamp,
    coinbase: header.miner,
    gasLimit: header.gasLimit,
    difficulty: header.difficulty,
    prevRandao: record.prevRandao ?? header.mixHash,
    baseFee: header.baseFeePerGas ?? 0n,
    excessBlobGas: header.excessBlobGas ?? 0n,
    slotNumber: header.slotNumber ?? 0n,
    blobRules: config.blobRulesAt(header.number, header.timestamp),
    depositContract: config.depositContract,
    blockHash: (asked) => ancestorHash(state, record, asked),
    signers: record.signers,
  }
}

/** The system calls before the first transaction of a block that is made here. */
export function blockStart(
  block: BlockEnvironment,
  parent: { readonly world: World; readonly block: { readonly hash: Hash } },
  beaconRoot: Hash = ZERO_HASH,
): BlockStartJob {
  const parentBeaconBlockRoot = isAtLeast(block.hardfork, 'cancun') ? beaconRoot : undefined
  return { world: parent.world, block, parentHash: parent.block.hash, parentBeaconBlockRoot }
}

function nextDifficultyOf({ config, settings, tree }: ChainState, rules: NextRules): bigint {
  const { number, timestamp, hardfork } = rules
  if (config.ruleset === 'own') return settings.difficulty
  if (isAtLeast(hardfork, 'paris')) return 0n
  const { header } = headOf(tree).block
  return nextDifficulty(header, timestamp, hardfork, config.bombDelayAt(number, timestamp))
}

function nextBaseFeeOf(state: ChainState, hardfork: Hardfork): bigint {
  const { nextBaseFee: set } = state.settings
  if (set !== undefined && isAtLeast(hardfork, 'london')) return set
  return baseFeeAfter(state, headOf(state.tree).block.header, hardfork)
}

function baseFeeAfter(
  { config, settings }: Pick<ChainState, 'config' | 'settings'>,
  parent: Header,
  hardfork: Hardfork,
): bigint {
  if (!isAtLeast(hardfork, 'london')) return 0n
  return ownBaseFee(config, settings, parent) ?? baseFeeOfNetwork(parent)
}

/** Wei per gas after `parent` where the chain deviates from EIP-1559. */
export function ownBaseFee(
  { initialBaseFee, behaviour }: ChainConfig,
  { pinnedBaseFee }: Settings,
  { number, baseFeePerGas }: Header,
): bigint | undefined {
  if (baseFeePerGas === undefined) return initialBaseFee
  const isFirst = number === 0n && behaviour.firstBaseFeeStays
  return pinnedBaseFee || isFirst ? baseFeePerGas : undefined
}
