// Makes a chain: from its options to its first state.
import { invalidParams } from '../core/errors.ts'
import { type Address, EMPTY_BYTES, paddedBytes, ZERO_HASH } from '../core/hex.ts'
import { lazy } from '../core/lrucache.ts'
import type { Executor } from '../evm/executor.ts'
import { createExecutor } from '../evm/run/lazyexecutor.ts'
import { chainParameters } from '../options/derived.ts'
import { OPTIONS } from '../options/table.ts'
import { type Block, sealBlock } from '../protocol/blocks/block.ts'
import { type Header, hashHeader, headerOf } from '../protocol/blocks/header.ts'
import { INITIAL_BASE_FEE } from '../protocol/fees.ts'
import { type ForkSchedule, type Hardfork, hardforkAt } from '../protocol/forks.ts'
import {
  allocOf,
  createDefaultAlloc,
  type Genesis,
  NO_PREDEPLOYS,
  withAlloc,
  worldFromAlloc,
} from '../state/genesis.ts'
import { CREATE2_DEPLOYER, systemContracts } from '../state/predeploys.ts'
import { accountAt, stateRoot, type World } from '../state/world.ts'
import { type AccountBook, addresses, bookOfKeys, deriveAccounts } from './accounts/accounts.ts'
import { bulkMining } from './bulk/bulk.ts'
import { Chain, type Environment, systemEnvironment } from './chain/chain.ts'
import {
  configOf,
  configOfFork,
  hardforkOfFork,
  scheduleOf,
  settingsOf,
  settingsOfFork,
} from './chainconfig.ts'
import type { ChainOptions, StateOptions } from './chainoptions.ts'
import { checkMode } from './commands/miningmode.ts'
import { beginningOf, importBlocks } from './import/importblocks.ts'
import type { BlockRecord } from './ledger/blockrecord.ts'
import { appendRun, emptyTree, headOf, treeFrom } from './ledger/blocktree.ts'
import {
  beginningWith,
  type ChainState,
  type ClockState,
  type MiningMode,
} from './ledger/chainstate.ts'
import { newClock } from './ledger/clock.ts'
import type { ForkBase } from './ledger/upstream.ts'
import { nonceAt } from './mining/environment.ts'
import { emptyPool } from './pool/pool.ts'
import { scheduleMining } from './sealing/intervalminer.ts'

/**
 * The mining timer runs if the chain has one.
 * @throws {DevchainError} `INVALID_PARAMS` for an invalid mnemonic, path, fork schedule or genesis, `INVALID_BLOCK` for
 *   invalid blocks
 */
export async function createChain(given: ChainOptions = {}): Promise<Chain> {
  const options = { ...given, ...chainParameters(given) }
  const environment = options.environment ?? systemEnvironment
  const { evm, memoryLimit } = options
  const onBug = (error: unknown): void => environment.onBug(error)
  const executor = options.executor ?? createExecutor({ evm, memoryLimit, onBug })
  const state = await startingState(executor, options, environment.now())
  const chain = chainWith(state, { ...options, executor, environment })
  // a given executor may serve other chains
  if (options.executor === undefined) chain.onClose(() => executor.close())
  return chain
}

export interface ChainParts extends Pick<ChainOptions, 'isPlain' | 'commit' | 'lazyState'> {
  readonly executor: Executor
  readonly environment: Environment
}

/** A state to which resets return, with the snapshots with which its chain began. */
export function branchOf(state: ChainState): ChainState {
  const { newestSnapshot, namedSnapshots, nextSnapshotId } = state.origin ?? state
  const own = { newestSnapshot, namedSnapshots, nextSnapshotId, left: [] }
  return originOf(beginningWith({ ...state, ...own }))
}

export function chainWith(state: ChainState, parts: ChainParts): Chain {
  const { executor, environment, isPlain, commit, lazyState } = parts
  const bulk = isPlain ? undefined : bulkMining
  const chain = new Chain({ state, executor, environment, bulk, commit })
  if (lazyState !== undefined) chain.execution.fetchWith(lazyState)
  chain.onClose(scheduleMining(chain))
  return chain
}

async function startingState(
  executor: Executor,
  options: StateOptions,
  now: number,
): Promise<ChainState> {
  const { blocks, kept } = options
  if (kept !== undefined) return kept.origin === undefined ? originOf(kept) : kept
  if (blocks === undefined) return firstState(options, now)
  const state = await importBlocks(executor, await stateBefore(blocks, options, now), blocks)
  const { gasLimit, difficulty } = options
  const settings = {
    ...state.settings,
    blockGasLimit: gasLimit ?? state.settings.blockGasLimit,
    difficulty: difficulty ?? state.settings.difficulty,
  }
  return { ...state, settings }
}

/** The state below imported blocks, which decide the genesis time and base fee if the options do not. */
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

/** Other possible geneses of the blocks: with general defaults, or those of other nodes. */
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

/** The first state of a chain with these options, for a reset to it. Throws as `createChain`. */
export function stateFrom(given: ChainOptions, now: number): Promise<ChainState> {
  return firstState({ ...given, ...chainParameters(given), runFirst: undefined }, now)
}

async function firstState(options: StateOptions, now: number): Promise<ChainState> {
  checkMode(miningMode(options))
  const schedule = scheduleOf(options)
  const accounts = await accountsOf(options)
  if (options.fork !== undefined) {
    return originOf(await beginningOfFork(options, options.fork, accounts, now))
  }
  const timestamp = genesisTimestamp(options, now)
  const hardfork = hardforkAt(schedule, 1n, timestamp)
  const settings = settingsOf(options, hardfork)
  const config = configOf(options, schedule)
  const world = genesisWorld(options, addresses(accounts), forkOfContracts(schedule, hardfork))
  const genesis = genesisRecord(options, { config, settings, timestamp, world })
  const clock = firstClock(options, now)
  return originOf(
    emptyState(options, { config, tree: treeFrom(genesis), clock, settings, accounts }),
  )
}

function originOf(origin: ChainState): ChainState {
  return { ...origin, origin }
}

function emptyState(
  options: StateOptions,
  parts: Pick<ChainState, 'config' | 'tree' | 'clock' | 'settings' | 'accounts'>,
): ChainState {
  return {
    ...parts,
    pool: emptyPool,
    blobs: [],
    batches: [],
    mining: { mode: miningMode(options), stopped: false },
    accounts: { ...parts.accounts, autoImpersonate: options.autoImpersonate },
    parentChainHeight: 0,
    newestSnapshot: undefined,
    namedSnapshots: new Map(),
    left: [],
    nextSnapshotId: 1,
    resets: 0,
    origin: undefined,
  }
}

async function beginningOfFork(
  options: StateOptions,
  fork: ForkBase,
  accounts: AccountBook,
  now: number,
): Promise<ChainState> {
  const state = stateOfFork(options, fork, accounts, now)
  const { runFirst, executor, lazyState } = options
  if (runFirst === undefined) return state
  if (executor === undefined) throw new Error('no executor to run transactions with')
  const world = await runFirst(state, lazyState?.executor(executor) ?? executor)
  return stateOfFork(options, fork, accounts, now, world)
}

/** @param world the first world, if it is not the one after the forked block */
function stateOfFork(
  options: StateOptions,
  fork: ForkBase,
  accounts: AccountBook,
  now: number,
  world?: World,
): ChainState {
  const hardforkAt = hardforkOfFork(options, fork)
  const { header: base } = fork
  const hardfork = hardforkAt(base.number + 1n, base.timestamp)
  const balances = new Map(addresses(accounts).map((address) => [address, options.balance]))
  const predeploys = options.predeploys ?? NO_PREDEPLOYS
  const contracts = [
    ...systemContracts(hardfork),
    ...(options.noCreate2 ? [] : [CREATE2_DEPLOYER]),
    ...predeploys.contracts,
  ]
  const code = new Map(contracts.map((each) => [each.address, each.code]))
  const there = fork.head({ balances, code })
  const { block, executed, totalDifficulty } = there
  const begun =
    world ??
    (predeploys.accounts.size > 0 ? withAlloc(there.world, predeploys.accounts) : undefined)
  // an unchanged world is made on read
  const head = begun === undefined ? there : { block, executed, totalDifficulty, world: begun }
  return emptyState(options, {
    config: configOfFork(options, fork, hardforkAt),
    tree: {
      ...appendRun(emptyTree, fork.ancestors, head),
      network: { run: fork.ancestors, number: Number(base.number) },
    },
    clock: firstClockOfFork(options, base.timestamp, now),
    settings: settingsOfFork(options, fork, base, hardfork),
    accounts,
  })
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

/** A wall clock starts at the requested timestamp and runs from there; the other sources start there anyway. */
function firstClock(
  { clock, timestamp }: Pick<StateOptions, 'clock' | 'timestamp'>,
  now: number,
): ClockState {
  if (clock.kind !== 'wall' || timestamp === undefined) return newClock(clock)
  return newClock(clock, timestamp - BigInt(Math.floor(now / 1000)))
}

/** A clock starts at `base`, the fork block's time, or at the requested timestamp. */
function firstClockOfFork(
  { clock, timestamp }: StateOptions,
  base: bigint,
  now: number,
): ClockState {
  // a reset may go to a block later than the requested timestamp
  const start = timestamp !== undefined && timestamp > base ? timestamp : base
  if (clock.kind === 'wall') return firstClock({ clock, timestamp: start }, now)
  return newClock(clock, start - base)
}

/** 2020-01-01: the genesis of chains whose time must not depend on when they run. */
export const FIXED_GENESIS_TIMESTAMP = 1_577_836_800n

/** Seconds since 1970. */
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

/** Networks deploy the queues of amsterdam (EIP-8282) before it begins. Older schedules keep the genesis that they had. */
function forkOfContracts({ activations }: ForkSchedule, first: Hardfork): Hardfork {
  return activations.some(({ fork }) => fork === 'amsterdam') ? 'amsterdam' : first
}

/** A genesis file without dev accounts is used as is, so that the genesis has the hash that other nodes give it. */
function genesisWorld(
  { balance, noCreate2, genesis, predeploys }: StateOptions,
  accounts: readonly Address[],
  hardfork: Hardfork,
): World {
  const { contracts, accounts: replacing } = predeploys ?? NO_PREDEPLOYS
  const predeployed = new Map([...allocOf(contracts), ...replacing])
  const given = genesis?.world ?? worldFromAlloc(genesis?.alloc ?? new Map())
  if (genesis !== undefined && accounts.length === 0) return withAlloc(given, predeployed)
  const alloc = createDefaultAlloc({
    accounts,
    balance,
    create2: !noCreate2,
    hardfork,
  })
  const added = [...alloc].filter(([address]) => accountAt(given, address) === undefined)
  return withAlloc(given, new Map([...added, ...predeployed]))
}

function genesisRecord(
  { genesis, coinbase = OPTIONS.coinbase.default }: StateOptions,
  {
    config,
    settings,
    timestamp,
    world,
  }: Pick<ChainState, 'config' | 'settings'> & {
    readonly timestamp: bigint
    readonly world: World
  },
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
    slotNumber: 0n,
  }
  const empty = headerOf(environment, genesis?.parentHash ?? ZERO_HASH, {
    transactions: [],
    receipts: [],
    stateRoot: ZERO_HASH,
    extraData: genesis?.extraData ?? (genesis === undefined ? settings.extraData : EMPTY_BYTES),
  })
  const unhashed: Header = {
    ...empty,
    gasUsed: genesis?.gasUsed ?? 0n,
    blobGasUsed: empty.blobGasUsed === undefined ? undefined : (genesis?.blobGasUsed ?? 0n),
    nonce: genesis === undefined ? nonceAt(config, hardfork) : paddedBytes(genesis.nonce ?? 0n, 8),
  }
  // on read, as hashing a large genesis takes as long as the rest of a start; the size is that of any root
  const header: Header = {
    ...unhashed,
    get stateRoot() {
      return stateRoot(world)
    },
  }
  const hash = lazy(() => hashHeader(header))
  const block: Block = {
    ...sealBlock(unhashed, []),
    header,
    get hash() {
      return hash()
    },
  }
  return { block, executed: [], world, totalDifficulty: header.difficulty }
}

function checkGenesis(genesis: Genesis | undefined): void {
  if (genesis?.number === undefined || genesis.number === 0n) return
  const message = `genesis: number: expected 0, got ${genesis.number}: a chain begins with block 0`
  throw invalidParams(message)
}
