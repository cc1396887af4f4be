// Estimates what a chain keeps in memory besides what it shares with the chain it began as.
import type { BlockRecord } from '../node/ledger/blockrecord.ts'
import type { ChainState } from '../node/ledger/chainstate.ts'
import { encodeReceipt } from '../protocol/blocks/receipt.ts'

/** Blocks that are measured; the rest are taken to be like them. */
const SAMPLE = 64

/** Encoded bytes of its own blocks and receipts. What they changed in the state is not counted. */
export function ownBytes({ tree, origin }: ChainState): number {
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
