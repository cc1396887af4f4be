// Making a chain: its genesis block, its settings, its accounts.
import { DevchainError } from '../core/errors.ts'
import {
  type Address,
  EMPTY_BYTES,
  paddedBytes,
  parseAddress,
  ZERO_ADDRESS,
  ZERO_HASH,
} from '../core/hex.ts'
import type { EvmChoice, Executor } from '../evm/executor.ts'
import { createExecutor } from '../evm/run/lazyexecutor.ts'
import { blobRulesAt, blobScheduleFromGenesisConfig } from '../protocol/blobschedule.ts'
import {
  EMPTY_REQUESTS_HASH,
  EMPTY_TRIE_ROOT,
  EMPTY_UNCLES_HASH,
  type Header,
  sealBlock,
} from '../protocol/block.ts'
import { bombDelayAt, glaciersOf } from '../protocol/difficulty.ts'
import { INITIAL_BASE_FEE } from '../protocol/fees.ts'
import { forkPointsOf } from '../protocol/forkid.ts'
import {
  alwaysFork,
  type ForkSchedule,
  type Hardfork,
  hardforkAt,
  isAtLeast,
  NEWEST_HARDFORK,
  scheduleFromGenesisConfig,
  terminalTotalDifficultyOf,
} from '../protocol/forks.ts'
import { bloomOf } from '../protocol/receipt.ts'
import { TRANSACTION_GAS_CAP } from '../protocol/validity.ts'
import { createDefaultAlloc, type Genesis, worldFromAlloc } from '../state/genesis.ts'
import { stateRoot, type World } from '../state/world.ts'
import { type AccountBook, addresses, bookOfKeys, deriveAccounts } from './accounts.ts'
import { type Behaviour, OWN_BEHAVIOUR } from './behaviour.ts'
import { type BlockRecord, headOf, treeFrom } from './blocktree.ts'
import { Chain, type Environment, systemEnvironment } from './chain.ts'
import type { ChainConfig, ChainState, MiningMode, Settings } from './chainstate.ts'
import { type ClockSource, type ClockState, newClock } from './clock.ts'
import { checkMode } from './commands.ts'
import { forkFields } from './forkfields.ts'
import { beginningOf, importBlocks } from './import.ts'
import { DEFAULT_PATH, TEST_MNEMONIC } from './mnemonic.ts'
import { DEFAULT_CHAIN } from './node.ts'
import { emptyPool } from './pool.ts'
import { scheduleMining } from './schedule.ts'

/** What a chain is made from. Everything has a default; what a genesis file says comes before the default. */
export interface ChainOptions {
  readonly name?: string | undefined
  /** 33 when left out. */
  readonly chainId?: bigint | undefined
  /** The chain id when left out. */
  readonly networkId?: bigint | undefined
  /** `Ethereum` when left out: wallets verify `eth_sign` with that. */
  readonly chainName?: string | undefined
  /** Number of accounts from the mnemonic: 10 when left out. */
  readonly accounts?: number | undefined
  readonly mnemonic?: string | undefined
  readonly derivationPath?: string | undefined
  /** True: transactions of anybody are sent as if they were signed. */
  readonly autoImpersonate?: boolean | undefined
  /** Private keys in place of those from the mnemonic. */
  readonly keys?: readonly Uint8Array[] | undefined
  /** Wei of each account: 10,000 ether when left out. */
  readonly balance?: bigint | undefined
  readonly genesis?: Genesis | undefined
  /** Concatenated RLP blocks that the chain begins with, after the genesis. */
  readonly blocks?: Uint8Array | undefined
  /** The one hardfork of all blocks; left out: the genesis file's schedule, or the newest. */
  readonly hardfork?: Hardfork | undefined
  /** 30,000,000 when left out. */
  readonly blockGasLimit?: bigint | undefined
  /** Wei per gas: 0 when left out. */
  readonly gasPrice?: bigint | undefined
  /** Wei per gas: 0 when left out. */
  readonly tip?: bigint | undefined
  /** Wei per gas of the first block of an EIP-1559 market; left out: the base fee stays 0. */
  readonly baseFee?: bigint | undefined
  /** 1 when left out. */
  readonly difficulty?: bigint | undefined
  readonly coinbase?: Address | undefined
  readonly extraData?: Uint8Array | undefined
  /** A block a transaction when left out. */
  readonly mining?: MiningMode | undefined
  /** The wall clock when left out. */
  readonly clock?: ClockSource | undefined
  /** Seconds since 1970 of the genesis; the clock starts there. */
  readonly timestamp?: bigint | undefined
  /** 90,000 when left out. */
  readonly defaultGas?: bigint | 'estimate' | undefined
  /** None when left out. */
  readonly transactionGasCap?: bigint | undefined
  /** Bytes; the hardfork's when left out. */
  readonly codeSizeLimit?: number | undefined
  /** `auto` when left out. */
  readonly evm?: EvmChoice | undefined
  /** Bytes of memory of one run; 128,000,000 when left out. */
  readonly memoryLimit?: number | undefined
  /** False: without the deterministic create2 deployer. */
  readonly create2?: boolean | undefined
  readonly consumeSnapshots?: boolean | undefined
  /** Uncles that one block includes at most: 2 when left out. */
  readonly maxUncles?: number | undefined
  /** `DEVBLOCK:` when left out; ASCII. */
  readonly mergeMiningTag?: string | undefined
  readonly onRevert?: 'hash' | 'throw' | undefined
  /** Five minutes when left out. */
  readonly filterTimeoutMs?: number | undefined
  /** Parameter N of scrypt for keys that the node encrypts: 8192 when left out. */
  readonly scryptCost?: number | undefined
  readonly environment?: Environment | undefined
  readonly executor?: Executor | undefined
  /** What is done otherwise than by itself. */
  readonly behaviour?: Partial<Behaviour> | undefined
  readonly unsaid?: Unsaid | undefined
}

/** Defaults in place of those above, for what neither the options nor the genesis file say. */
export interface Unsaid {
  readonly chainId?: bigint | undefined
  readonly hardfork?: Hardfork | undefined
  readonly blockGasLimit?: bigint | undefined
  readonly baseFee?: bigint | undefined
  readonly coinbase?: Address | undefined
  /** From paris on. */
  readonly difficulty?: bigint | undefined
}

interface StateOptions extends ChainOptions {
  /** Seconds since 1970 of the genesis where nothing else says when it was. */
  readonly genesisTime?: bigint | undefined
}

/** 2020-01-01: the genesis of chains whose time must not depend on when they run. */
export const FIXED_GENESIS_TIMESTAMP = 1_577_836_800n

const ETHER = 10n ** 18n

/**
 * Makes a chain that is ready to use, with its mining timer running if it has one.
 * @throws {DevchainError} `INVALID_PARAMS` for a mnemonic, path, fork schedule or genesis that cannot be,
 *   `INVALID_BLOCK` for blocks that cannot be
 */
export async function createChain(options: ChainOptions = {}): Promise<Chain> {
  const environment = options.environment ?? systemEnvironment
  const executor = options.executor ?? ownExecutor(options, environment)
  const state = await startingState(executor, options, environment.now())
  const { filterTimeoutMs } = options
  const chain = new Chain({
    name: options.name ?? DEFAULT_CHAIN,
    state,
    executor,
    environment,
    filterLimits: filterTimeoutMs === undefined ? {} : { timeoutMs: filterTimeoutMs },
  })
  chain.onClose(scheduleMining(chain))
  // another's executor may serve other chains
  if (options.executor === undefined) chain.onClose(() => executor.close())
  return chain
}

function ownExecutor({ evm, memoryLimit }: ChainOptions, environment: Environment): Executor {
  return createExecutor({ evm, memoryLimit, onBug: (error) => environment.onBug(error) })
}

/** The state of the genesis, or with blocks after it. */
async function startingState(
  executor: Executor,
  options: ChainOptions,
  now: number,
): Promise<ChainState> {
  const { blocks } = options
  if (blocks === undefined) return firstState(options, now)
  const state = await importBlocks(executor, await stateBefore(blocks, options, now), blocks)
  const { blockGasLimit, difficulty } = options
  const settings = {
    ...state.settings,
    ...(blockGasLimit === undefined ? {} : { blockGasLimit }),
    ...(difficulty === undefined ? {} : { difficulty }),
  }
  return { ...state, settings }
}

/**
 * The state that blocks are built on. What options and genesis file leave open (when the genesis was; whether its base
 * fee is 0, as here, or what other nodes take) is as the blocks say.
 */
async function stateBefore(
  blocks: Uint8Array,
  options: ChainOptions,
  now: number,
): Promise<ChainState> {
  const beginning = beginningOf(blocks)
  const genesisTime = beginning?.timestamp
  const begins = ({ tree }: ChainState): boolean => headOf(tree).block.hash === beginning?.hash
  const here = await firstState({ ...options, genesisTime }, now)
  if (begins(here)) return here
  for (const other of otherBeginnings(options, genesisTime)) {
    const there = await firstState({ ...options, genesisTime, ...other }, now)
    if (begins(there)) return there
  }
  return here
}

/** What the genesis may have been made with instead: the general defaults, or those of other nodes. */
function otherBeginnings(
  { genesis, accounts, unsaid }: ChainOptions,
  genesisTime: bigint | undefined,
): readonly Pick<ChainOptions, 'genesis' | 'unsaid'>[] {
  const general = unsaid === undefined ? [] : [{ unsaid: undefined }]
  if (genesis === undefined || accounts !== 0) return general
  const baseFeePerGas = genesis.baseFeePerGas ?? INITIAL_BASE_FEE
  const timestamp = genesis.timestamp ?? genesisTime ?? 0n
  return [...general, { genesis: { ...genesis, baseFeePerGas, timestamp } }]
}

/** The state that a chain begins with. */
async function firstState(options: StateOptions, now: number): Promise<ChainState> {
  const mode: MiningMode = options.mining ?? { kind: 'instant' }
  checkMode(mode)
  const schedule = scheduleOf(options)
  const accounts = await accountsOf(options)
  const timestamp = genesisTimestamp(options, now)
  const hardfork = hardforkAt(schedule, 1n, timestamp)
  const settings = settingsOf(options, hardfork)
  const config = configOf(options, schedule)
  const world = genesisWorld(options, addresses(accounts), hardfork)
  const genesis = genesisRecord(options, { config, settings, timestamp, world })
  const origin: ChainState = {
    config,
    tree: treeFrom(genesis),
    pool: emptyPool,
    blobs: [],
    clock: firstClock(options, now),
    settings,
    mining: { mode, stopped: false },
    accounts: { ...accounts, autoImpersonate: options.autoImpersonate ?? false },
    parentChainHeight: 0,
    newestSnapshot: undefined,
    namedSnapshots: new Map(),
    nextSnapshotId: 1,
    resets: 0,
    origin: undefined,
  }
  return { ...origin, origin }
}

function accountsOf(options: ChainOptions): AccountBook | Promise<AccountBook> {
  if (options.keys !== undefined) return bookOfKeys(options.keys)
  return deriveAccounts({
    mnemonic: options.mnemonic ?? TEST_MNEMONIC,
    path: options.derivationPath ?? DEFAULT_PATH,
    count: options.accounts ?? 10,
  })
}

/** A fork that is asked for rules always; a genesis file without any fork in it says nothing of forks. */
function scheduleOf({ hardfork, genesis, unsaid }: ChainOptions): ForkSchedule {
  if (hardfork !== undefined) return alwaysFork(hardfork)
  const config = genesis?.config
  const namesForks = Object.keys(config ?? {}).some((key) => /(Block|Time)$/.test(key))
  return config !== undefined && namesForks
    ? scheduleFromGenesisConfig(config)
    : alwaysFork(unsaid?.hardfork ?? NEWEST_HARDFORK)
}

function configOf(options: ChainOptions, schedule: ForkSchedule): ChainConfig {
  // a fork that is asked for rules always, with its own numbers
  const forkConfig = options.hardfork === undefined ? (options.genesis?.config ?? {}) : {}
  const blobs = blobScheduleFromGenesisConfig(forkConfig)
  const glaciers = glaciersOf(forkConfig)
  const chainId =
    options.chainId ?? genesisChainId(options.genesis) ?? options.unsaid?.chainId ?? 33n
  return {
    chainId,
    networkId: options.networkId ?? chainId,
    chainName: options.chainName ?? 'Ethereum',
    hardforkAt: (number, timestamp) => hardforkAt(schedule, number, timestamp),
    blobRulesAt: (number, timestamp) =>
      blobRulesAt(blobs, timestamp, hardforkAt(schedule, number, timestamp)),
    bombDelayAt: (number, timestamp) =>
      bombDelayAt(glaciers, number, hardforkAt(schedule, number, timestamp)),
    forkPoints: forkPointsOf(forkConfig, options.genesis?.timestamp ?? 0n),
    ruleset: 'own',
    hasOwnGenesis: options.genesis === undefined,
    terminalTotalDifficulty: terminalTotalDifficultyOf(forkConfig),
    depositContract: depositContractOf(options.genesis),
    transactionGasCap: options.transactionGasCap ?? usualGasCap(options, schedule),
    codeSizeLimit: options.codeSizeLimit,
    initialBaseFee: initialBaseFee(options) ?? 0n,
    scryptCost: options.scryptCost ?? 8192,
    consumeSnapshots: options.consumeSnapshots ?? false,
    maxUncles: options.maxUncles ?? 2,
    mergeMiningTag: options.mergeMiningTag ?? 'DEVBLOCK:',
    onRevert: options.onRevert ?? 'hash',
    behaviour: { ...OWN_BEHAVIOUR, ...options.behaviour },
  }
}

/** The cap of EIP-7825, where a chain behaves so and begins with a fork that has it. */
function usualGasCap(
  { behaviour, genesis }: ChainOptions,
  schedule: ForkSchedule,
): bigint | undefined {
  if (behaviour?.capsTransactionGas !== true) return undefined
  const hardfork = hardforkAt(schedule, 1n, BigInt(genesis?.timestamp ?? 0))
  return isAtLeast(hardfork, 'osaka') ? TRANSACTION_GAS_CAP : undefined
}

function depositContractOf(genesis: Genesis | undefined): Address | undefined {
  const address = genesis?.config?.depositContractAddress
  if (address === undefined || address === null) return undefined
  try {
    return parseAddress(String(address))
  } catch (error) {
    if (!(error instanceof DevchainError)) throw error
    const message = `genesis: config.depositContractAddress: ${error.message}`
    throw new DevchainError('INVALID_PARAMS', message)
  }
}

function genesisChainId(genesis: Genesis | undefined): bigint | undefined {
  const chainId = genesis?.config?.chainId
  if (chainId === undefined) return undefined
  if (typeof chainId === 'bigint') return chainId
  if (typeof chainId === 'number' && Number.isSafeInteger(chainId) && chainId > 0) {
    return BigInt(chainId)
  }
  if (typeof chainId === 'string' && /^(0x[0-9a-fA-F]+|[0-9]+)$/.test(chainId)) {
    return BigInt(chainId)
  }
  const message = `genesis: config.chainId: expected a chain id, got ${String(chainId)}`
  throw new DevchainError('INVALID_PARAMS', message)
}

/** @param hardfork of the first block */
function settingsOf(options: ChainOptions, hardfork: Hardfork): Settings {
  const { genesis, unsaid } = options
  const difficulty = isAtLeast(hardfork, 'paris') ? unsaid?.difficulty : undefined
  return {
    coinbase: options.coinbase ?? unsaid?.coinbase ?? ZERO_ADDRESS,
    blockGasLimit:
      options.blockGasLimit ?? genesis?.gasLimit ?? unsaid?.blockGasLimit ?? 30_000_000n,
    difficulty: options.difficulty ?? genesis?.difficulty ?? difficulty ?? 1n,
    extraData: options.extraData ?? new TextEncoder().encode('devchain'),
    defaultGas: options.defaultGas ?? 90_000n,
    gasPrice: options.gasPrice ?? 0n,
    tip: options.tip ?? 0n,
    pinnedBaseFee: initialBaseFee(options) === undefined,
    minGasPrice: 0n,
    nextBaseFee: undefined,
    nextPrevRandao: undefined,
  }
}

function initialBaseFee({ baseFee, genesis, unsaid }: ChainOptions): bigint | undefined {
  return baseFee ?? genesis?.baseFeePerGas ?? unsaid?.baseFee
}

function genesisTimestamp(options: StateOptions, now: number): bigint {
  const { timestamp, genesis, genesisTime, clock } = options
  const isWall = clock === undefined || clock.kind === 'wall'
  return (
    timestamp ??
    genesis?.timestamp ??
    genesisTime ??
    (isWall ? BigInt(Math.floor(now / 1000)) : FIXED_GENESIS_TIMESTAMP)
  )
}

/** A wall clock starts at a timestamp that was asked for and runs on from it. The other sources start there anyway. */
function firstClock({ clock, timestamp }: ChainOptions, now: number): ClockState {
  const source: ClockSource = clock ?? { kind: 'wall' }
  if (source.kind !== 'wall' || timestamp === undefined) return newClock(source)
  return newClock(source, timestamp - BigInt(Math.floor(now / 1000)))
}

/**
 * The dev accounts and contracts, and over them what the genesis file allocates. A file without dev accounts is taken as
 * it stands, so that the chain begins with the very block that other nodes make of it.
 */
function genesisWorld(
  { balance, create2, genesis }: ChainOptions,
  accounts: readonly Address[],
  hardfork: Hardfork,
): World {
  if (genesis !== undefined && accounts.length === 0) return worldFromAlloc(genesis.alloc)
  const alloc = createDefaultAlloc({
    accounts,
    balance: balance ?? 10_000n * ETHER,
    create2: create2 ?? true,
    hardfork,
  })
  return worldFromAlloc(new Map([...alloc, ...(genesis?.alloc ?? [])]))
}

interface GenesisParts {
  readonly config: ChainConfig
  readonly settings: Settings
  readonly timestamp: bigint
  readonly world: World
}

function genesisRecord(
  { genesis, coinbase = ZERO_ADDRESS }: ChainOptions,
  { config, settings, timestamp, world }: GenesisParts,
): BlockRecord {
  checkGenesis(genesis)
  const hardfork = config.hardforkAt(0n, timestamp)
  const excessBlobGas = genesis?.excessBlobGas ?? 0n
  const fields = forkFields(
    { hardfork, baseFee: config.initialBaseFee, excessBlobGas },
    EMPTY_REQUESTS_HASH,
  )
  const header: Header = {
    parentHash: genesis?.parentHash ?? ZERO_HASH,
    sha3Uncles: EMPTY_UNCLES_HASH,
    miner: genesis?.coinbase ?? coinbase,
    stateRoot: stateRoot(world),
    transactionsRoot: EMPTY_TRIE_ROOT,
    receiptsRoot: EMPTY_TRIE_ROOT,
    logsBloom: bloomOf([]),
    difficulty: genesis?.difficulty ?? settings.difficulty,
    number: 0n,
    gasLimit: genesis?.gasLimit ?? settings.blockGasLimit,
    gasUsed: genesis?.gasUsed ?? 0n,
    timestamp,
    extraData: genesis?.extraData ?? (genesis === undefined ? settings.extraData : EMPTY_BYTES),
    mixHash: genesis?.mixHash ?? ZERO_HASH,
    nonce: paddedBytes(genesis?.nonce ?? 0n, 8),
    ...fields,
    blobGasUsed: isAtLeast(hardfork, 'cancun') ? (genesis?.blobGasUsed ?? 0n) : undefined,
  }
  const block = sealBlock(header, [], [])
  return { block, executed: [], world, totalDifficulty: header.difficulty }
}

function checkGenesis(genesis: Genesis | undefined): void {
  if (genesis?.number === undefined || genesis.number === 0n) return
  const message = `genesis: number: expected 0, got ${genesis.number}: a chain begins with block 0`
  throw new DevchainError('INVALID_PARAMS', message)
}
