// The handshake: how a node introduces itself, and which peers it accepts.
import { equalBytes, hexFromBytes } from '../../core/hex.ts'
import { blockByNumber, headOf } from '../../node/ledger/blocktree.ts'
import type { ChainState } from '../../node/ledger/chainstate.ts'
import { forkIdAt } from '../../protocol/forkid.ts'
import { LinkError } from './linkerror.ts'
import { LINK_VERSION, type LinkMessages } from './messages.ts'

export type Hello = LinkMessages['hello']

export type NodeIdentity = Pick<Hello, 'nodeId' | 'name' | 'client'>

export function helloOf(state: ChainState, identity: NodeIdentity): Hello {
  const { config, tree } = state
  const { block, totalDifficulty } = headOf(tree)
  const genesis = blockByNumber(tree, 0n)!.block
  return {
    version: LINK_VERSION,
    networkId: config.networkId,
    chainId: config.chainId,
    genesis: genesis.hash,
    genesisTime: genesis.header.timestamp,
    isOpen: isOpen(state),
    forkId: forkIdAt(genesis.hash, config.forkPoints, block.header.timestamp),
    hardfork: config.hardforkAt(1n, genesis.header.timestamp),
    head: block.hash,
    number: block.header.number,
    totalDifficulty,
    ...identity,
  }
}

export function forkIdsOf({ config, tree }: ChainState): readonly Uint8Array[] {
  const genesis = blockByNumber(tree, 0n)!.block.hash
  return [0n, ...config.forkPoints.times].map((time) => forkIdAt(genesis, config.forkPoints, time))
}

/** True while the genesis time can still change: it was not set, and no block follows. */
export function isOpen(state: ChainState): boolean {
  const { options, source, hasOwnGenesis, ruleset } = state.config
  return (
    hasOwnGenesis &&
    source.genesis?.timestamp === undefined &&
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

export type Verdict =
  | 'take'
  /** This chain adopts the peer's genesis time, and sends a new hello. */
  | 'adopt'
  /** The peer adopts ours. */
  | 'wait'

/**
 * @param forkIds all past and future ones of this chain
 * @throws {LinkError} naming the difference
 */
export function judge(own: Hello, other: Hello, forkIds: readonly Uint8Array[]): Verdict {
  if (other.version !== LINK_VERSION) {
    throw differs('version of the protocol', own.version, other.version, 'failedHandshakes')
  }
  if (equalBytes(own.nodeId, other.nodeId)) throw new LinkError('that is this node itself')
  if (other.networkId !== own.networkId) throw differs('network id', own.networkId, other.networkId)
  if (other.chainId !== own.chainId) throw differs('chain id', own.chainId, other.chainId)
  if (other.hardfork !== own.hardfork) throw differs('hardfork', own.hardfork, other.hardfork)
  if (other.genesis !== own.genesis) return judgeGenesis(own, other)
  const theirs = hexFromBytes(other.forkId)
  // of two chains with the same schedule, one may be ahead
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

export function otherGenesis(own: Hello, other: Hello): LinkError {
  if (own.genesisTime === other.genesisTime) return differs('genesis', own.genesis, other.genesis)
  const print = ({ genesis, genesisTime }: Hello): string => `${genesis} at ${genesisTime}`
  return differs('genesis and its time', print(own), print(other))
}

function differs(
  what: string,
  own: string | bigint | number,
  other: string | bigint | number,
  event: 'invalidNetworks' | 'failedHandshakes' = 'invalidNetworks',
): LinkError {
  // the peer gets this text too
  return new LinkError(`${what}: ${own} and ${other} differ`, event)
}
