// The fixed configuration of a chain and its first settings, from options and genesis file.
import { invalidParams, within } from '../core/errors.ts'
import { type Address, parseAddress } from '../core/hex.ts'
import { chainParameters, type Some } from '../options/derived.ts'
import { OPTIONS } from '../options/table.ts'
import { blobRulesAt, blobScheduleFromGenesisConfig } from '../protocol/blobschedule.ts'
import { bombDelayAt, glaciersOf } from '../protocol/blocks/difficulty.ts'
import type { Header } from '../protocol/blocks/header.ts'
import { forkPointsOf } from '../protocol/forkid.ts'
import {
  alwaysFork,
  type ForkSchedule,
  hardforkAt as forkInSchedule,
  type Hardfork,
  isAtLeast,
  scheduleFromGenesisConfig,
  terminalTotalDifficultyOf,
} from '../protocol/forks.ts'
import type { StateOptions } from './chainoptions.ts'
import { OWN_BEHAVIOUR } from './ledger/behaviour.ts'
import type { ChainConfig, ConfigSource, Settings } from './ledger/chainstate.ts'
import type { ForkBase } from './ledger/upstream.ts'

type Rules = Pick<Some<ConfigSource>, 'hardfork' | 'genesis' | 'unsaid' | 'baseFee'>

/** The configuration that was made from `source`. */
export function configFromSource(source: ConfigSource, fork: ForkBase | undefined): ChainConfig {
  if (fork === undefined) return configOf(source, scheduleOf(source))
  return configOfFork(source, fork, hardforkOfFork(source, fork))
}

/** The hardfork option wins; a genesis file without forks is ignored here. */
export function scheduleOf({ hardfork, genesis, unsaid }: Rules): ForkSchedule {
  if (hardfork !== undefined) return alwaysFork(hardfork)
  const config = genesis?.config
  const namesForks = Object.keys(config ?? {}).some((key) => /(Block|Time)$/.test(key))
  return config !== undefined && namesForks
    ? scheduleFromGenesisConfig(config)
    : alwaysFork(unsaid?.hardfork ?? OPTIONS.hardfork.default)
}

/** @param hardforkAt of the network, for a fork */
export function configOf(
  options: ConfigSource,
  schedule: ForkSchedule,
  hardforkAt: ChainConfig['hardforkAt'] = (number, timestamp) =>
    forkInSchedule(schedule, number, timestamp),
): ChainConfig {
  // a hardfork option always applies, with its own numbers
  const forkConfig = options.hardfork === undefined ? (options.genesis?.config ?? {}) : {}
  const blobs = blobScheduleFromGenesisConfig(forkConfig)
  const glaciers = glaciersOf(forkConfig)
  const ownChainId = options.unsaid?.chainId ?? OPTIONS.chainId.default
  const chainId = options.chainId ?? genesisChainId(options.genesis) ?? ownChainId
  return {
    source: sourceOf(options),
    chainId,
    networkId: options.networkId ?? chainId,
    options: chainParameters(options),
    hardforkAt,
    blobRulesAt: (number, timestamp) =>
      blobRulesAt(blobs, timestamp, hardforkAt(number, timestamp)),
    bombDelayAt: (number, timestamp) =>
      bombDelayAt(glaciers, number, hardforkAt(number, timestamp)),
    forkPoints: forkPointsOf(forkConfig, options.genesis?.timestamp ?? 0n),
    ruleset: 'own',
    hasOwnGenesis: options.genesis === undefined || options.accounts > 0,
    terminalTotalDifficulty: terminalTotalDifficultyOf(forkConfig),
    depositContract: depositContractOf(options.genesis),
    initialBaseFee: initialBaseFee(options) ?? 0n,
    scryptCost: options.scryptCost ?? 8192,
    behaviour: { ...OWN_BEHAVIOUR, ...options.behaviour },
  }
}

function sourceOf({
  genesis,
  scryptCost,
  behaviour,
  unsaid,
  ...given
}: ConfigSource): ConfigSource {
  const { config, timestamp, baseFeePerGas } = genesis ?? {}
  return {
    ...chainParameters(given),
    genesis: genesis && { config, timestamp, baseFeePerGas },
    scryptCost,
    behaviour,
    unsaid,
  }
}

/** The hardfork option applies to all blocks that are mined here. */
export function hardforkOfFork(
  { hardfork }: Rules,
  { hardforkAt: remote, upstream }: ForkBase,
): ChainConfig['hardforkAt'] {
  return (number, timestamp) =>
    hardfork !== undefined && number > upstream.number ? hardfork : remote(number, timestamp)
}

export function configOfFork(
  options: ConfigSource,
  { upstream }: ForkBase,
  hardforkAt: ChainConfig['hardforkAt'],
): ChainConfig {
  const schedule = alwaysFork(options.hardfork ?? OPTIONS.hardfork.default)
  const { takesChainId } = upstream.source
  const given = takesChainId ? { ...options, chainId: upstream.chainId } : options
  const config = configOf({ ...given, genesis: undefined }, schedule, hardforkAt)
  return { ...config, hasOwnGenesis: false, upstream }
}

/** Blocks are as large as the network's, but fees follow the options. */
export function settingsOfFork(
  options: StateOptions,
  { upstream }: ForkBase,
  { gasLimit, baseFeePerGas }: Header,
  hardfork: Hardfork,
): Settings {
  const { takesBaseFee } = upstream.source
  const settings = settingsOf({ ...options, genesis: undefined }, hardfork)
  const usual = gasLimit > 0n && gasLimit < UNLIMITED_GAS ? gasLimit : settings.blockGasLimit
  const hasFee = isAtLeast(hardfork, 'london') && baseFeePerGas !== undefined
  return {
    ...settings,
    blockGasLimit: options.gasLimit ?? usual,
    pinnedBaseFee: settings.pinnedBaseFee && !takesBaseFee,
    // without the network's fees the first block takes this chain's
    nextBaseFee: takesBaseFee || !hasFee ? undefined : (initialBaseFee(options) ?? 0n),
  }
}

/** Gas limits from here on mean no limit, as on Arbitrum. */
const UNLIMITED_GAS = 1n << 40n

function depositContractOf(genesis: Rules['genesis']): Address | undefined {
  const address = genesis?.config?.depositContractAddress
  if (address === undefined || address === null) return undefined
  return within('genesis: config.depositContractAddress', () => parseAddress(String(address)))
}

function genesisChainId(genesis: Rules['genesis']): bigint | undefined {
  const chainId = genesis?.config?.chainId
  if (chainId === undefined) return undefined
  if (typeof chainId === 'bigint') return chainId
  if (typeof chainId === 'number' && Number.isSafeInteger(chainId) && chainId > 0) {
    return BigInt(chainId)
  }
  if (typeof chainId === 'string' && /^(0x[0-9a-fA-F]+|[0-9]+)$/.test(chainId)) {
    return BigInt(chainId)
  }
  throw invalidParams(`genesis: config.chainId: expected a chain id, got ${String(chainId)}`)
}

/** @param hardfork of the first block */
export function settingsOf(options: StateOptions, hardfork: Hardfork): Settings {
  const { genesis, unsaid } = options
  const { coinbase, gasLimit, difficulty: ownDifficulty } = OPTIONS
  const difficulty = isAtLeast(hardfork, 'paris') ? unsaid?.difficulty : undefined
  return {
    coinbase: options.coinbase ?? unsaid?.coinbase ?? coinbase.default,
    blockGasLimit: options.gasLimit ?? genesis?.gasLimit ?? unsaid?.gasLimit ?? gasLimit.default,
    difficulty: options.difficulty ?? genesis?.difficulty ?? difficulty ?? ownDifficulty.default,
    extraData: options.extraData ?? new TextEncoder().encode('devchain'),
    defaultGas: options.defaultGas,
    gasPrice: options.gasPrice,
    tip: options.tip,
    pinnedBaseFee: initialBaseFee(options) === undefined,
    minGasPrice: 0n,
    nextBaseFee: undefined,
    nextPrevRandao: undefined,
    laterPrevRandao: undefined,
  }
}

function initialBaseFee({ baseFee, genesis, unsaid }: Rules): bigint | undefined {
  return baseFee ?? genesis?.baseFeePerGas ?? unsaid?.baseFee
}
