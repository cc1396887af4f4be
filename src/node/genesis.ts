// The genesis block of a chain: time, accounts, header.
import { DevchainError } from '../core/errors.ts'
import { type Address, EMPTY_BYTES, paddedBytes, ZERO_HASH } from '../core/hex.ts'
import { OPTIONS } from '../options/table.ts'
import { sealBlock } from '../protocol/blocks/block.ts'
import { type Header, headerOf } from '../protocol/blocks/header.ts'
import type { Hardfork } from '../protocol/forks.ts'
import {
  allocOf,
  createDefaultAlloc,
  type Genesis,
  NO_PREDEPLOYS,
  withAlloc,
  worldFromAlloc,
} from '../state/genesis.ts'
import { stateRoot, type World } from '../state/world.ts'
import type { StateOptions } from './chainoptions.ts'
import type { BlockRecord } from './ledger/blockrecord.ts'
import type { ChainConfig, Settings } from './ledger/chainstate.ts'
import { nonceAt } from './mining/environment.ts'

/** 2020-01-01: the genesis of chains whose time must not depend on when they run. */
export const FIXED_GENESIS_TIMESTAMP = 1_577_836_800n

/** Seconds since 1970. */
export function genesisTimestamp(options: StateOptions, now: number): bigint {
  const { timestamp, genesis, genesisTime, clock } = options
  const isWall = clock.kind === 'wall'
  return (
    timestamp ??
    genesis?.timestamp ??
    genesisTime ??
    (isWall ? BigInt(Math.floor(now / 1000)) : FIXED_GENESIS_TIMESTAMP)
  )
}

/** A genesis file without dev accounts is used as is, so that the genesis has the hash that other nodes give it. */
export function genesisWorld(
  { balance, noCreate2, genesis, predeploys }: StateOptions,
  accounts: readonly Address[],
  hardfork: Hardfork,
): World {
  const { contracts, accounts: replacing } = predeploys ?? NO_PREDEPLOYS
  const predeployed = new Map([...allocOf(contracts), ...replacing])
  if (genesis !== undefined && accounts.length === 0) {
    return withAlloc(worldFromAlloc(genesis.alloc), predeployed)
  }
  const alloc = createDefaultAlloc({
    accounts,
    balance,
    create2: !noCreate2,
    hardfork,
  })
  if (genesis === undefined) return worldFromAlloc(new Map([...alloc, ...predeployed]))
  const added = [...alloc].filter(([address]) => !genesis.alloc.has(address))
  return withAlloc(worldFromAlloc(genesis.alloc), new Map([...added, ...predeployed]))
}

interface GenesisParts {
  readonly config: ChainConfig
  readonly settings: Settings
  readonly timestamp: bigint
  readonly world: World
}

export function genesisRecord(
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
    extraData: genesis?.extraData ?? (genesis === undefined ? settings.extraData : EMPTY_BYTES),
  })
  const header: Header = {
    ...empty,
    gasUsed: genesis?.gasUsed ?? 0n,
    blobGasUsed: empty.blobGasUsed === undefined ? undefined : (genesis?.blobGasUsed ?? 0n),
    nonce: genesis === undefined ? nonceAt(config, hardfork) : paddedBytes(genesis.nonce ?? 0n, 8),
  }
  const block = sealBlock(header, [], [])
  return { block, executed: [], world, totalDifficulty: header.difficulty }
}

function checkGenesis(genesis: Genesis | undefined): void {
  if (genesis?.number === undefined || genesis.number === 0n) return
  const message = `genesis: number: expected 0, got ${genesis.number}: a chain begins with block 0`
  throw new DevchainError('INVALID_PARAMS', message)
}
