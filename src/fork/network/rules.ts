// The hardforks of a forked network: its schedule if known, else the newest that its headers allow.
import { invalidParams } from '../../core/errors.ts'
import type { ForkBase } from '../../node/ledger/upstream.ts'
import { HEADER_FORKS, type Header, hasFieldsOf } from '../../protocol/blocks/header.ts'
import {
  ASSUMED_HARDFORK,
  type ForkSchedule,
  HARDFORKS,
  type Hardfork,
  hardforkAt,
  isAtLeast,
  scheduleFromGenesisConfig,
} from '../../protocol/forks.ts'
import type { RemoteBlock } from './header.ts'

/**
 * A hardfork includes all before it.
 * @see https://github.com/ethereum/go-ethereum/blob/master/params/config.go
 */
const CONFIGS: Readonly<Record<number, Readonly<Record<string, number>>>> = {
  1: {
    homesteadBlock: 1_150_000,
    eip150Block: 2_463_000,
    eip158Block: 2_675_000,
    byzantiumBlock: 4_370_000,
    constantinopleBlock: 7_280_000,
    petersburgBlock: 7_280_000,
    istanbulBlock: 9_069_000,
    berlinBlock: 12_244_000,
    londonBlock: 12_965_000,
    mergeNetsplitBlock: 15_537_394,
    shanghaiTime: 1_681_338_455,
    cancunTime: 1_710_338_135,
    pragueTime: 1_746_612_311,
    osakaTime: 1_764_798_551,
    bpo1Time: 1_765_290_071,
    bpo2Time: 1_767_747_671,
  },
  11155111: {
    londonBlock: 0,
    mergeNetsplitBlock: 1_450_409,
    shanghaiTime: 1_677_557_088,
    cancunTime: 1_706_655_072,
    pragueTime: 1_741_159_776,
    osakaTime: 1_760_427_360,
    bpo1Time: 1_761_017_184,
    bpo2Time: 1_761_607_008,
    amsterdamTime: 1_791_294_816,
  },
  560048: {
    cancunTime: 0,
    pragueTime: 1_742_999_832,
    osakaTime: 1_761_677_592,
    bpo1Time: 1_762_365_720,
    bpo2Time: 1_762_955_544,
  },
}

/**
 * Hardforks of Arbitrum by their first ArbOS version, newest first.
 * @see https://github.com/OffchainLabs/go-ethereum/blob/master/params/config.go
 */
const OF_ARBOS: readonly (readonly [version: bigint, hardfork: Hardfork])[] = [
  [50n, ASSUMED_HARDFORK],
  [40n, 'prague'],
  [20n, 'cancun'],
  [11n, 'shanghai'],
]

/** For blocks of Arbitrum without a version. */
const OF_UNKNOWN_ARBOS: Hardfork = 'prague'

/**
 * Networks that do not run EVM code: ZKsync Era and its relatives; unlisted ones are recognized by `l1BatchNumber`.
 * @see https://github.com/wevm/viem/tree/main/src/chains/definitions: those with the formats of ZKsync
 */
const OTHER_MACHINES: ReadonlyMap<bigint, string> = new Map([
  [324n, 'ZKsync Era'],
  [300n, 'ZKsync Sepolia'],
  [2_741n, 'Abstract'],
  [11_124n, 'Abstract Testnet'],
  [232n, 'Lens'],
  [37_111n, 'Lens Testnet'],
  [50_104n, 'Sophon'],
  [531_050_104n, 'Sophon Testnet'],
  [61_166n, 'Treasure'],
  [978_658n, 'Treasure Topaz'],
  [1_612_127n, 'PlayFi Albireo'],
  [626n, 'BattleChain'],
  [627n, 'BattleChain Testnet'],
  [260n, 'a test node of ZKsync'],
  [270n, 'a local node of ZKsync'],
  [272n, 'a local node of ZKsync'],
])

/** @throws {DevchainError} `INVALID_PARAMS` for a network that does not run EVM code */
export function requireEvm(chainId: bigint, { isOfZksync }: Pick<RemoteBlock, 'isOfZksync'>): void {
  const unnamed = isOfZksync ? 'a network made of ZKsync' : undefined
  const name = OTHER_MACHINES.get(chainId) ?? unnamed
  if (name === undefined) return
  const message = `fork: ${name} (chain ${chainId}) cannot be forked: it runs bytecode of its own virtual machine, not of the EVM`
  throw invalidParams(message)
}

/**
 * @param named the hardfork that the network names, or that probing its EVM shows
 * @param headerAt without a schedule, the headers of older blocks decide their hardforks
 */
export function rulesOf(
  chainId: bigint,
  { header, parentNumber }: Pick<RemoteBlock, 'header' | 'parentNumber'>,
  named: Hardfork | undefined,
  headerAt: (number: bigint) => Header | undefined = () => undefined,
): ForkBase['hardforkAt'] {
  const config = CONFIGS[Number(chainId)]
  if (config !== undefined) {
    const schedule: ForkSchedule = scheduleFromGenesisConfig(config)
    return (number, timestamp) => hardforkAt(schedule, number, timestamp)
  }
  const isArbitrum = parentNumber !== undefined
  const now = named ?? (isArbitrum ? byArbos(header) : admittedBy(header))
  return (number) => {
    const older = number < header.number ? headerAt(number) : undefined
    if (older === undefined) return now
    const then = isArbitrum ? byArbos(older) : newestThen(header, older)
    return then === undefined || isAtLeast(then, now) ? now : then
  }
}

/** Undefined: the older header has all members of the later one. */
function newestThen(later: Header, older: Header): Hardfork | undefined {
  const first = HEADER_FORKS.find((fork) => hasFieldsOf(fork, later) && !hasFieldsOf(fork, older))
  return first && before(first, older)
}

/** The newest hardfork before `fork`, for a header without its fields. */
function before(fork: Hardfork, { difficulty }: Header): Hardfork {
  const previous = HARDFORKS[HARDFORKS.indexOf(fork) - 1]!
  return previous === 'paris' && difficulty !== 0n ? 'london' : previous
}

export function isScheduled(chainId: bigint): boolean {
  return Number(chainId) in CONFIGS
}

/**
 * Arbitrum writes the ArbOS version into `mixHash`.
 * @see https://github.com/OffchainLabs/go-ethereum/blob/master/core/types/arb_types.go
 */
function byArbos({ mixHash }: Header): Hardfork {
  const version = BigInt(`0x${mixHash.slice(34, 50)}`)
  if (version === 0n) return OF_UNKNOWN_ARBOS
  return OF_ARBOS.find(([first]) => version >= first)?.[1] ?? 'london'
}

export function notBefore(header: Header, machine: Hardfork | undefined): Hardfork | undefined {
  return machine === undefined || isAtLeast(machine, lowestOf(header)) ? machine : lowestOf(header)
}

/** The newest hardfork with such headers that a live network may have. */
export function admittedBy(header: Header): Hardfork {
  const lowest = lowestOf(header)
  const next = HEADER_FORKS[HEADER_FORKS.indexOf(lowest) + 1]
  if (next === undefined) return lowest
  const newest = before(next, header)
  return isAtLeast(newest, ASSUMED_HARDFORK) ? ASSUMED_HARDFORK : newest
}

/** Parses a hardfork as other nodes write it; undefined: unknown here. */
export function namedHardfork(name: unknown, header: Header): Hardfork | undefined {
  if (typeof name !== 'string') return undefined
  const wanted = name.toLowerCase().replace(/[^a-z0-9]/g, '')
  const found = HARDFORKS.find((fork) => fork.toLowerCase() === wanted)
  // a hardfork whose headers have fewer members cannot be right
  return found !== undefined && isAtLeast(found, lowestOf(header)) ? found : undefined
}

/** The oldest hardfork whose headers have these members. */
function lowestOf(header: Header): Hardfork {
  return HEADER_FORKS.findLast((fork) => hasFieldsOf(fork, header)) ?? 'frontier'
}
