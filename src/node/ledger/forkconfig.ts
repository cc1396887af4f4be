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

function systemContractsOf({ depositContract }: ChainConfig, hardfork: Hardfork): Named[] {
  const contracts: Named[] = []
  if (isAtLeast(hardfork, 'cancun')) {
    contracts.push({ name: 'BEACON_ROOTS_ADDRESS', address: BEACON_ROOTS.address })
  }
  if (isAtLeast(hardfork, 'prague')) {
    contracts.push(
      {
        name: 'CONSOLIDATION_REQUEST_PREDEPLOY_ADDRESS',
        address: CONSOLIDATION_REQUESTS.address,
      },
      { name: 'DEPOSIT_CONTRACT_ADDRESS', address: depositContract ?? DEPOSIT_CONTRACT },
      { name: 'HISTORY_STORAGE_ADDRESS', address: HISTORY_STORAGE.address },
      { name: 'WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS', address: WITHDRAWAL_REQUESTS.address },
    )
  }
  if (isAtLeast(hardfork, 'amsterdam')) {
    contracts.push(
      { name: 'BUILDER_DEPOSIT_CONTRACT_ADDRESS', address: BUILDER_DEPOSITS.address },
      { name: 'BUILDER_EXIT_CONTRACT_ADDRESS', address: BUILDER_EXITS.address },
    )
  }
  return contracts
}

function byName(contracts: readonly Named[]): ReadonlyMap<string, Address> {
  const ordered = contracts.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return new Map(ordered.map(({ name, address }) => [name, address]))
}
