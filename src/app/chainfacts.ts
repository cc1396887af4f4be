// What lists of chains say about a chain.
import type { Hash } from '../core/hex.ts'
import type { ChainInfo, ChainOrigin } from '../methods/common/chains.ts'
import type { BlockRecord } from '../node/ledger/blockrecord.ts'
import { headOf } from '../node/ledger/blocktree.ts'
import type { ChainState } from '../node/ledger/chainstate.ts'
import { packedOf } from '../node/ledger/packing/keptrecord.ts'
import { sizeOfChanges } from '../node/ledger/packing/worldchanges.ts'
import { PROGRAM } from '../program.ts'
import { encodeReceipt } from '../protocol/blocks/receipt.ts'
import type { Json } from '../rpc/schema.ts'

/** Blocks that are measured; the rest are assumed to be like them. */
const SAMPLE = 64

/** A changed account or slot is a leaf and new branches above it, with hashes. */
const BYTES_PER_VALUE = 1_100

/** Of a chain that is there. */
export interface ChainFacts {
  readonly chainId: bigint
  readonly blockNumber: bigint
  readonly blockHash: Hash
  readonly origin: ChainOrigin
  readonly memory: number
}

/** Of one that is being opened. */
export const NO_FACTS: Pick<ChainInfo, keyof ChainFacts> = {
  chainId: undefined,
  blockNumber: undefined,
  blockHash: undefined,
  origin: undefined,
  memory: 0,
}

export function factsOf(state: ChainState): ChainFacts {
  const { header, hash } = headOf(state.tree).block
  const first = headOf((state.origin ?? state).tree).block
  return {
    chainId: state.config.chainId,
    blockNumber: header.number,
    blockHash: hash,
    origin: { blockNumber: first.header.number, blockHash: first.hash },
    memory: ownBytes(state),
  }
}

/** For browsers and readiness probes. */
export function healthOf({
  chainId,
  blockNumber,
}: Pick<ChainFacts, 'chainId' | 'blockNumber'>): Json {
  return { ...PROGRAM, chainId: Number(chainId), blockNumber: Number(blockNumber) }
}

/** Of its own blocks and receipts, and of the states after the newest: the older ones are little more than their blocks. */
function ownBytes({ tree, origin }: ChainState): number {
  const { canonical } = tree
  const shared = origin?.tree.canonical.length ?? 1
  const own = Math.max(0, canonical.length - shared)
  const fresh = own - packedOf(own)
  const recordAt = (at: number): BlockRecord | undefined => canonical.at(at)
  const blocks = sampled(shared, own, (at) => bytesOf(recordAt(at)))
  const states = sampled(shared + own - fresh, fresh, (at) =>
    stateBytes(recordAt(at - 1), recordAt(at)),
  )
  return Math.round(blocks + states)
}

/** The sum of `measure` from `first` on, of which some are measured. */
function sampled(first: number, count: number, measure: (at: number) => number): number {
  const measured = Math.min(count, SAMPLE)
  let sum = 0
  for (let i = 0; i < measured; i++) sum += measure(first + Math.floor((i * count) / measured))
  return measured === 0 ? 0 : (sum * count) / measured
}

function bytesOf(record: BlockRecord | undefined): number {
  if (record === undefined) return 0
  const { block, executed } = record
  return executed.reduce((sum, { receipt }) => sum + encodeReceipt(receipt).length, block.size)
}

function stateBytes(before: BlockRecord | undefined, after: BlockRecord | undefined): number {
  // states between empty blocks are made when they are read
  if (before === undefined || after === undefined || after.executed.length === 0) return 0
  const size = sizeOfChanges(before.world, after.world)
  return size === undefined ? 0 : size.values * BYTES_PER_VALUE + size.codeBytes
}
