// Making a chain: its genesis block, its settings, its accounts.
import { DevchainError } from '../core/errors.ts'
import { type Address, EMPTY_BYTES, paddedBytes, parseAddress, ZERO_HASH } from '../core/hex.ts'
import type { Executor } from '../evm/executor.ts'
import { createExecutor } from '../evm/run/lazyexecutor.ts'
import { type ChainParameters, chainParameters, type Some } from '../options/derived.ts'
import { OPTIONS } from '../options/table.ts'
import { blobRulesAt, blobScheduleFromGenesisConfig } from '../protocol/blobschedule.ts'
import { EMPTY_REQUESTS_HASH, type Header, sealBlock } from '../protocol/block.ts'
import { bombDelayAt, glaciersOf } from '../protocol/difficulty.ts'
import { INITIAL_BASE_FEE } from '../protocol/fees.ts'
import { forkPointsOf } from '../protocol/forkid.ts'
import {
  alwaysFork,
  type ForkSchedule,
  type Hardfork,
  hardforkAt,
  isAtLeast,
  scheduleFromGenesisConfig,
  terminalTotalDifficultyOf,
} from '../protocol/forks.ts'
import { TRANSACTION_GAS_CAP } from '../protocol/validity.ts'
import { createDefaultAlloc, type Genesis, worldFromAlloc } from '../state/genesis.ts'
import { stateRoot, type World } from '../state/world.ts'
import { type AccountBook, addresses, bookOfKeys, deriveAccounts } from './accounts/accounts.ts'
import { bulkMining } from './bulk/bulk.ts'
import { Chain, type Environment, systemEnvironment } from './chain/chain.ts'
import { checkMode } from './commands/miningmode.ts'
import { beginningOf, importBlocks } from './import/importblocks.ts'
import { type Behaviour, OWN_BEHAVIOUR } from './ledger/behaviour.ts'
import type { BlockRecord } from './ledger/blockrecord.ts'
import { headOf, treeFrom } from './ledger/blocktree.ts'
import type {
  ChainConfig,
  ChainState,
  ClockState,
  MiningMode,
  Settings,
} from './ledger/chainstate.ts'
import { newClock } from './ledger/clock.ts'
import { headerOf } from './mining/environment.ts'
import { emptyPool } from './pool/pool.ts'
import { scheduleMining } from './sealing/intervalminer.ts'

/** What a chain is made from: its options, and what no user gives. What a genesis file says comes before a default. */
export interface ChainOptions extends Some<ChainParameters> {
  readonly genesis?: Genesis | undefined
  /** Concatenated RLP blocks that the chain begins with, after the genesis. */
  readonly blocks?: Uint8Array | undefined
  /** Private keys in place of those from the mnemonic. */
  readonly keys?: readonly Uint8Array[] | undefined
  readonly extraData?: Uint8Array | undefined
  /** Parameter N of scrypt for keys that the node encrypts: 8192 when left out. */
  readonly scryptCost?: number | undefined
  readonly environment?: Environment | undefined
  readonly executor?: Executor | undefined
  /** True: without accelerators, so that empty blocks are mined one by one. Tests hold the plain program to the whole. */
  readonly isPlain?: boolean | undefined
  /** What is done otherwise than by itself. */
  readonly behaviour?: Partial<Behaviour> | undefined
  /** Defaults in place of the usual ones, for what neither the options nor the genesis file say. */
  readonly unsaid?: Unsaid | undefined
}

/** What a genesis file may say. The difficulty is that of blocks from paris on. */
type Unsaid = Pick<
  ChainOptions,
  'chainId' | 'hardfork' | 'gasLimit' | 'baseFee' | 'coinbase' | 'difficulty'
>

/** The options with their defaults. */
type StateOptions = ChainOptions &
  ChainParameters & {
    /** Seconds since 1970 of the genesis where nothing else says when it was. */
    readonly genesisTime?: bigint | undefined
  }

/** 2020-01-01: the genesis of chains whose time must not depend on when they run. */
export const FIXED_GENESIS_TIMESTAMP = 1_577_836_800n

/**
 * Makes a chain that is ready to use, with its mining timer running if it has one.
 * @throws {DevchainError} `INVALID_PARAMS` for a mnemonic, path, fork schedule or genesis that cannot be,
 *   `INVALID_BLOCK` for blocks that cannot be
 */
export async function createChain(given: ChainOptions = {}): Promise<Chain> {
  const options = { ...given, ...chainParameters(given) }
  const environment = options.environment ?? systemEnvironment
  const executor = options.executor ?? ownExecutor(options, environment)
  const state = await startingState(executor, options, environment.now())
  const bulk = options.isPlain ? undefined : bulkMining
  const chain = new Chain({ state, executor, environment, bulk })
  chain.onClose(scheduleMining(chain))
  // another's executor may serve other chains
  if (options.executor === undefined) chain.onClose(() => executor.close())
  return chain
}

function ownExecutor({ evm, memoryLimit }: StateOptions, environment: Environment): Executor {
  return createExecutor({ evm, memoryLimit, onBug: (error) => environment.onBug(error) })
}

/** The state of the genesis, or with blocks after it. */
async function startingState(
  executor: Executor,
  options: StateOptions,
  now: number,
): Promise<ChainState> {
  const { blocks } = options
  if (blocks === undefined) return firstState(options, now)
  const state = await importBlocks(executor, await stateBefore(blocks, options, now), blocks)
  const { gasLimit, difficulty } = options
  const settings = {
    ...state.settings,
    ...(gasLimit === undefined ? {} : { blockGasLimit: gasLimit }),
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
  options: StateOptions,
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
  { genesis, accounts, unsaid }: StateOptions,
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
  const mode = miningMode(options)
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
    accounts: { ...accounts, autoImpersonate: options.autoImpersonate },
    parentChainHeight: 0,
    newestSnapshot: undefined,
    namedSnapshots: new Map(),
    nextSnapshotId: 1,
    resets: 0,
    origin: undefined,
  }
  return { ...origin, origin }
}

function miningMode({ noMining, blockTime }: StateOptions): MiningMode {
  if (noMining) return { kind: 'manual' }
  return blockTime === undefined ? { kind: 'instant' } : { kind: 'interval', intervalMs: blockTime }
}

function accountsOf(options: StateOptions): AccountBook | Promise<AccountBook> {
  const { keys, mnemonic, derivationPath, accounts } = options
  if (keys !== undefined) return bookOfKeys(keys)
  return deriveAccounts({ mnemonic, path: derivationPath, count: accounts })
}

/** A fork that is asked for rules always; a genesis file without any fork in it says nothing of forks. */
function scheduleOf({ hardfork, genesis, unsaid }: ChainOptions): ForkSchedule {
  if (hardfork !== undefined) return alwaysFork(hardfork)
  const config = genesis?.config
  const namesForks = Object.keys(config ?? {}).some((key) => /(Block|Time)$/.test(key))
  return config !== undefined && namesForks
    ? scheduleFromGenesisConfig(config)
    : alwaysFork(unsaid?.hardfork ?? OPTIONS.hardfork.default)
}

function configOf(options: StateOptions, schedule: ForkSchedule): ChainConfig {
  // a fork that is asked for rules always, with its own numbers
  const forkConfig = options.hardfork === undefined ? (options.genesis?.config ?? {}) : {}
  const blobs = blobScheduleFromGenesisConfig(forkConfig)
  const glaciers = glaciersOf(forkConfig)
  const ownChainId = options.unsaid?.chainId ?? OPTIONS.chainId.default
  const chainId = options.chainId ?? genesisChainId(options.genesis) ?? ownChainId
  return {
    chainId,
    networkId: options.networkId ?? chainId,
    options: chainParameters(options),
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
    transactionGasCap: options.txGasCap ?? usualGasCap(options, schedule),
    initialBaseFee: initialBaseFee(options) ?? 0n,
    scryptCost: options.scryptCost ?? 8192,
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
function settingsOf(options: StateOptions, hardfork: Hardfork): Settings {
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
  }
}

function initialBaseFee({ baseFee, genesis, unsaid }: ChainOptions): bigint | undefined {
  return baseFee ?? genesis?.baseFeePerGas ?? unsaid?.baseFee
}

function genesisTimestamp(options: StateOptions, now: number): bigint {
  const { timestamp, genesis, genesisTime, clock } = options
  const isWall = clock.kind === 'wall'
  return (
    timestamp ??
    genesis?.timestamp ??
    genesisTime ??
    (isWall ? BigInt(Math.floor(now / 1000)) : FIXED_GENESIS_TIMESTAMP)
  )
}

/** A wall clock starts at a timestamp that was asked for and runs on from it. The other sources start there anyway. */
function firstClock({ clock, timestamp }: StateOptions, now: number): ClockState {
  if (clock.kind !== 'wall' || timestamp === undefined) return newClock(clock)
  return newClock(clock, timestamp - BigInt(Math.floor(now / 1000)))
}

/**
 * The dev accounts and contracts, and over them what the genesis file allocates. A file without dev accounts is taken as
 * it stands, so that the chain begins with the very block that other nodes make of it.
 */
function genesisWorld(
  { balance, noCreate2, genesis }: StateOptions,
  accounts: readonly Address[],
  hardfork: Hardfork,
): World {
  if (genesis !== undefined && accounts.length === 0) return worldFromAlloc(genesis.alloc)
  const alloc = createDefaultAlloc({
    accounts,
    balance,
    create2: !noCreate2,
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
  { genesis, coinbase = OPTIONS.coinbase.default }: StateOptions,
  { config, settings, timestamp, world }: GenesisParts,
): BlockRecord {
  checkGenesis(genesis)
  const hardfork = config.hardforkAt(0n, timestamp)
  const environment = {
    hardfork,
    number: 0n,
    timestamp,
    coinbase: genesis?.coinbase ?? coinbase,
    gasLimit: genesis?.gasLimit ?? settings.blockGasLimit,
    difficulty: genesis?.difficulty ?? settings.difficulty,
    prevRandao: genesis?.mixHash ?? ZERO_HASH,
    baseFee: config.initialBaseFee,
    excessBlobGas: genesis?.excessBlobGas ?? 0n,
  }
  const empty = headerOf(environment, genesis?.parentHash ?? ZERO_HASH, {
    transactions: [],
    receipts: [],
    stateRoot: stateRoot(world),
    requestsHash: EMPTY_REQUESTS_HASH,
    extraData: genesis?.extraData ?? (genesis === undefined ? settings.extraData : EMPTY_BYTES),
  })
  const header: Header = {
    ...empty,
    gasUsed: genesis?.gasUsed ?? 0n,
    blobGasUsed: empty.blobGasUsed === undefined ? undefined : (genesis?.blobGasUsed ?? 0n),
    nonce: paddedBytes(genesis?.nonce ?? 0n, 8),
  }
  const block = sealBlock(header, [], [])
  return { block, executed: [], world, totalDifficulty: header.difficulty }
}

function checkGenesis(genesis: Genesis | undefined): void {
  if (genesis?.number === undefined || genesis.number === 0n) return
  const message = `genesis: number: expected 0, got ${genesis.number}: a chain begins with block 0`
  throw new DevchainError('INVALID_PARAMS', message)
}
