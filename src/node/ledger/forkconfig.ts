// The present and coming rules of a chain (EIP-7910).
import type { Address } from '../../core/hex.ts'
import type { BlobRules } from '../../protocol/fees.ts'
import { forkIdAt } from '../../protocol/forkid.ts'
import { type Hardfork, isAtLeast } from '../../protocol/forks.ts'
import { precompilesOf } from '../../protocol/precompiles.ts'
import {
  BEACON_ROOTS,
  BUILDER_DEPOSITS,
  BUILDER_EXITS,
  CONSOLIDATION_REQUESTS,
  DEPOSIT_CONTRACT,
  HISTORY_STORAGE,
  WITHDRAWAL_REQUESTS,
} from '../../state/predeploys.ts'
import { blockByNumber, headOf } from './blocktree.ts'
import type { ChainConfig, ChainState } from './chainstate.ts'

export interface ForkConfig {
  /** Seconds since 1970; 0n for rules from the genesis or from a block number. */
  readonly activationTime: bigint
  readonly blobRules: BlobRules | undefined
  readonly chainId: bigint
  /** 4 bytes (EIP-6122). */
  readonly forkId: Uint8Array
  readonly precompiles: ReadonlyMap<string, Address>
  readonly systemContracts: ReadonlyMap<string, Address>
}

export interface ForkConfigs {
  readonly current: ForkConfig
  readonly next: ForkConfig | undefined
  readonly last: ForkConfig | undefined
}

export function forkConfigsOf(state: ChainState): ForkConfigs {
  const { timestamp } = headOf(state.tree).block.header
  const { times } = state.config.forkPoints
  const next = times.find((time) => time > timestamp)
  const last = next === undefined ? undefined : times.at(-1)
  return {
    current: configFrom(state, times.findLast((time) => time <= timestamp) ?? 0n, timestamp),
    next: next === undefined ? undefined : configFrom(state, next, next),
    last: last === undefined ? undefined : configFrom(state, last, last),
  }
}

function configFrom(
  { config, tree }: ChainState,
  activationTime: bigint,
  timestamp: bigint,
): ForkConfig {
  const { number } = headOf(tree).block.header
  const hardfork = config.hardforkAt(number, timestamp)
  const genesis = blockByNumber(tree, 0n)!.block.hash
  return {
    activationTime,
    blobRules: isAtLeast(hardfork, 'cancun') ? config.blobRulesAt(number, timestamp) : undefined,
    chainId: config.chainId,
    forkId: forkIdAt(genesis, config.forkPoints, timestamp),
    precompiles: byName(precompilesOf(hardfork, config.options)),
    systemContracts: byName(systemContractsOf(config, hardfork)),
  }
}

interface Named {
  readonly name: string
  readonly address: Address
}

const SYSTEM_CONTRACTS = [
  ['cancun', 'BEACON_ROOTS_ADDRESS', BEACON_ROOTS],
  ['prague', 'CONSOLIDATION_REQUEST_PREDEPLOY_ADDRESS', CONSOLIDATION_REQUESTS],
  ['prague', 'DEPOSIT_CONTRACT_ADDRESS', { address: DEPOSIT_CONTRACT }],
  ['prague', 'HISTORY_STORAGE_ADDRESS', HISTORY_STORAGE],
  ['prague', 'WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS', WITHDRAWAL_REQUESTS],
  ['amsterdam', 'BUILDER_DEPOSIT_CONTRACT_ADDRESS', BUILDER_DEPOSITS],
  ['amsterdam', 'BUILDER_EXIT_CONTRACT_ADDRESS', BUILDER_EXITS],
] as const

function systemContractsOf({ depositContract }: ChainConfig, hardfork: Hardfork): Named[] {
  return SYSTEM_CONTRACTS.filter(([since]) => isAtLeast(hardfork, since)).map(
    ([, name, { address }]) => ({
      name,
      address: address === DEPOSIT_CONTRACT ? (depositContract ?? address) : address,
    }),
  )
}

function byName(contracts: readonly Named[]): ReadonlyMap<string, Address> {
  const ordered = contracts.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return new Map(ordered.map(({ name, address }) => [name, address]))
}
