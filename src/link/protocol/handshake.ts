// The first words of a link: how a node introduces itself, and which others it takes.
import { equalBytes, hexFromBytes } from '../../core/hex.ts'
import { blockByNumber, headOf } from '../../node/ledger/blocktree.ts'
import type { ChainState } from '../../node/ledger/chainstate.ts'
import { forkIdAt } from '../../protocol/forkid.ts'
import { LINK_VERSION, type Messages } from './messages.ts'
import { Refusal } from './refusal.ts'

export type Hello = Messages['hello']

/** What a node is, whatever its chain. */
export interface NodeIdentity {
  readonly nodeId: Uint8Array
  readonly name: string
  readonly client: string
}

export function helloOf(state: ChainState, { nodeId, name, client }: NodeIdentity): Hello {
  const { config, tree } = state
  const { block, totalDifficulty } = headOf(tree)
  const genesis = blockByNumber(tree, 0n)!.block
  const { timestamp } = block.header
  return {
    version: LINK_VERSION,
    networkId: config.networkId,
    chainId: config.chainId,
    genesis: genesis.hash,
    genesisTime: genesis.header.timestamp,
    isOpen: isOpen(state),
    forkId: forkIdAt(genesis.hash, config.forkPoints, timestamp),
    hardfork: config.hardforkAt(1n, genesis.header.timestamp),
    head: block.hash,
    number: block.header.number,
    totalDifficulty,
    nodeId,
    name,
    client,
  }
}

/** The fork ids of a chain, from its first block to beyond its last planned fork. */
export function forkIdsOf({ config, tree }: ChainState): readonly Uint8Array[] {
  const genesis = blockByNumber(tree, 0n)!.block.hash
  return [0n, ...config.forkPoints.times].map((time) => forkIdAt(genesis, config.forkPoints, time))
}

/** True while the genesis may still be of another time: nobody asked for the one it has, and nothing was built on it. */
export function isOpen(state: ChainState): boolean {
  const { options, hasOwnGenesis, ruleset } = state.config
  return (
    hasOwnGenesis &&
    ruleset === 'own' &&
    options.timestamp === undefined &&
    options.clock.kind === 'wall' &&
    state.tree.canonical.length === 1 &&
    state.pool.size === 0 &&
    state.clock.nextTimestamp === undefined &&
    state.newestSnapshot === undefined &&
    state.namedSnapshots.size === 0
  )
}

/** What a peer's introduction leads to. */
export type Verdict =
  | 'take'
  /** This chain takes over the time of the peer's genesis, and introduces itself anew. */
  | 'adopt'
  /** The peer does so. */
  | 'wait'

/**
 * Holds an introduction against one's own.
 * @param forkIds those that this chain has had and will have
 * @throws {Refusal} naming the difference
 */
export function judge(own: Hello, other: Hello, forkIds: readonly Uint8Array[]): Verdict {
  if (other.version !== LINK_VERSION) {
    throw differs('version of the protocol', own.version, other.version, 'failedHandshakes')
  }
  if (equalBytes(own.nodeId, other.nodeId)) throw new Refusal('that is this node itself')
  if (other.networkId !== own.networkId) throw differs('network id', own.networkId, other.networkId)
  if (other.chainId !== own.chainId) throw differs('chain id', own.chainId, other.chainId)
  if (other.hardfork !== own.hardfork) throw differs('hardfork', own.hardfork, other.hardfork)
  if (other.genesis !== own.genesis) return judgeGenesis(own, other)
  const theirs = hexFromBytes(other.forkId)
  // of two chains with the same plan of forks one may be ahead of the other
  if (forkIds.some((id) => hexFromBytes(id) === theirs)) return 'take'
  throw differs('fork id', hexFromBytes(own.forkId), theirs)
}

function judgeGenesis(own: Hello, other: Hello): Verdict {
  const isTimeDifferent = own.genesisTime !== other.genesisTime
  if (isTimeDifferent && own.isOpen && !(other.isOpen && other.genesisTime > own.genesisTime)) {
    return 'adopt'
  }
  if (isTimeDifferent && other.isOpen) return 'wait'
  throw otherGenesis(own, other)
}

/** The refusal of a peer whose chain begins otherwise. */
export function otherGenesis(own: Hello, other: Hello): Refusal {
  if (own.genesisTime === other.genesisTime) return differs('genesis', own.genesis, other.genesis)
  const print = ({ genesis, genesisTime }: Hello): string => `${genesis} at ${genesisTime}`
  return differs('genesis and its time', print(own), print(other))
}

function differs(
  what: string,
  own: string | bigint | number,
  other: string | bigint | number,
  deed: 'invalidNetworks' | 'failedHandshakes' = 'invalidNetworks',
): Refusal {
  // it is told to the other side as well
  return new Refusal(`${what}: ${own} and ${other} differ`, deed)
}
