// What lists of chains say about a chain.
import type { Hash } from '../core/hex.ts'
import type { ChainInfo } from '../methods/common/chains.ts'
import type { BlockRecord } from '../node/ledger/blockrecord.ts'
import { headOf } from '../node/ledger/blocktree.ts'
import type { ChainState } from '../node/ledger/chainstate.ts'
import { PROGRAM } from '../program.ts'
import { encodeReceipt } from '../protocol/blocks/receipt.ts'
import type { Json } from '../rpc/schema.ts'

/** Blocks that are measured; the rest are taken to be like them. */
const SAMPLE = 64

/** Of a chain that is there. */
export interface ChainFacts {
  readonly chainId: bigint
  readonly blockNumber: bigint
  readonly blockHash: Hash
  readonly memory: number
}

/** Of one that is being opened. */
export const NO_FACTS: Pick<ChainInfo, keyof ChainFacts> = {
  chainId: undefined,
  blockNumber: undefined,
  blockHash: undefined,
  memory: 0,
}

export function factsOf(state: ChainState): ChainFacts {
  const { config, tree } = state
  const { header, hash } = headOf(tree).block
  const { chainId } = config
  return { chainId, blockNumber: header.number, blockHash: hash, memory: ownBytes(state) }
}

/** For browsers and readiness probes. */
export function healthOf({
  chainId,
  blockNumber,
}: Pick<ChainFacts, 'chainId' | 'blockNumber'>): Json {
  return { ...PROGRAM, chainId: Number(chainId), blockNumber: Number(blockNumber) }
}

/** Encoded bytes of its own blocks and receipts. What they changed in the state is not counted. */
function ownBytes({ tree, origin }: ChainState): number {
  const { canonical } = tree
  const shared = origin?.tree.canonical.length ?? 1
  const own = Math.max(0, canonical.length - shared)
  if (own === 0) return 0
  const measured = Math.min(own, SAMPLE)
  let bytes = 0
  for (let i = 0; i < measured; i++) {
    const record = canonical.at(shared + Math.floor((i * own) / measured))
    if (record !== undefined) bytes += bytesOf(record)
  }
  return Math.round((bytes * own) / measured)
}

function bytesOf({ block, executed }: BlockRecord): number {
  return executed.reduce((sum, { receipt }) => sum + encodeReceipt(receipt).length, block.size)
}
