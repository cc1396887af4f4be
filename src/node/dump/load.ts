// Loads a dump in one command, which a revert undoes.
import { yielder } from '../../core/yield.ts'
import { cumulativeDifficulty } from '../../protocol/blocks/block.ts'
import { editWorld } from '../cheats/edit.ts'
import {
  appendBlock,
  type BlockTree,
  blockByNumber,
  emptyTree,
  hashByNumber,
  headOf,
  truncateTo,
  withHeadWorld,
} from '../ledger/blocktree.ts'
import { type ChainState, type Settings, settingsAfterBlock } from '../ledger/chainstate.ts'
import type { Change } from '../ledger/change.ts'
import { increasedTime } from '../ledger/clock.ts'
import { LoadedRecord } from '../ledger/packing/keptrecord.ts'
import { withoutStale } from '../pool/pool.ts'
import { type Dump, type DumpSource, readDump } from './read.ts'

/**
 * A dump with blocks replaces the chain: common blocks stay, and time continues from the dump's newest block. Accounts
 * missing in the dump are those of the genesis here. Waiting transactions stay if they can. A dump without blocks, or with
 * those of another fork, only replaces its accounts.
 * @returns a notice for the log if only accounts are loaded
 * @throws {DevchainError} as `readDump`; then nothing changes
 */
export async function loadState(
  before: ChainState,
  source: DumpSource,
  now: number,
): Promise<Change<string | undefined>> {
  const dump = await readDump(source, before)
  const senders = [...before.pool.bySender.entries()].map(([sender]) => sender)
  if (dump.withoutBlocks !== undefined) {
    const { state } = editWorld(before, () => dump.world, senders)
    const { number } = headOf(state.tree).block.header
    return { state, value: `only accounts are loaded, into block ${number}: ${dump.withoutBlocks}` }
  }
  const tree = await treeOf(before.tree, dump)
  const pool = withoutStale(before.pool, dump.world, senders)
  const config: ChainState['config'] = { ...before.config, ruleset: 'own' }
  const settings = settingsOnTop(before.settings, tree)
  const clock = { ...before.clock, nextTimestamp: undefined }
  const loaded: ChainState = { ...before, config, tree, pool, settings, clock }
  return { state: { ...loaded, clock: increasedTime(loaded, 0n, now) }, value: undefined }
}

async function treeOf(before: BlockTree, dump: Dump): Promise<BlockTree> {
  const { first, hashes, world, older } = dump
  const common = commonLength(before, dump)
  let tree = treeBelow(before, first + common)
  let weight = first + common === 0 ? 0n : headOf(tree).totalDifficulty
  let place = 0
  const yieldIfDue = yielder()
  for (const { block, executed } of dump.readBlocks()) {
    if (place >= common) {
      weight += cumulativeDifficulty(block)
      const own = place === hashes.length - 1 ? world : older.get(block.hash)
      const record = new LoadedRecord({ block, executed, world: own, totalDifficulty: weight })
      tree = appendBlock(tree, record)
    }
    place += 1
    const pause = yieldIfDue()
    if (pause !== undefined) await pause
  }
  return withHeadWorld(tree, world)
}

function treeBelow(before: BlockTree, end: number): BlockTree {
  if (end > 0) return truncateTo(before, BigInt(end - 1))
  return { ...emptyTree, abandoned: before.abandoned + before.canonical.length }
}

/** Excludes a block whose state only the dump has. */
function commonLength(tree: BlockTree, { first, hashes, older }: Dump): number {
  const differs = hashes.findIndex((hash, index) => {
    const number = BigInt(first + index)
    if (hashByNumber(tree, number) !== hash) return true
    return older.has(hash) && blockByNumber(tree, number)?.isStateless === true
  })
  return differs < 0 ? hashes.length : differs
}

/** The base fee continues by EIP-1559 if the blocks have one; settings for the next block alone are cleared. */
function settingsOnTop(settings: Settings, tree: BlockTree): Settings {
  const { baseFeePerGas = 0n } = headOf(tree).block.header
  const pinnedBaseFee = settings.pinnedBaseFee && baseFeePerGas === 0n
  return { ...settingsAfterBlock(settings), pinnedBaseFee }
}
