// Loads a dump in one command, which a revert undoes.

import { yielder } from '../../core/yield.ts'
import type { Block } from '../../protocol/blocks/block.ts'
import { cumulativeDifficulty } from '../../protocol/blocks/block.ts'
import type { World } from '../../state/world.ts'
import { editWorld } from '../cheats/edit.ts'
import { type BlockRecord, type ExecutedTransaction, noWorldOf } from '../ledger/blockrecord.ts'
import {
  appendBlock,
  type BlockTree,
  blockByNumber,
  hashByNumber,
  headOf,
  treeFrom,
  truncateTo,
  withHeadWorld,
} from '../ledger/blocktree.ts'
import { type ChainState, type Settings, settingsAfterBlock } from '../ledger/chainstate.ts'
import type { Change } from '../ledger/change.ts'
import { increasedTime } from '../ledger/clock.ts'
import { withoutStale } from '../pool/pool.ts'
import { type Dump, type DumpSource, readDump } from './read.ts'

class LoadedRecord implements BlockRecord {
  readonly block: Block
  readonly executed: readonly ExecutedTransaction[]
  readonly totalDifficulty: bigint
  readonly isLoaded = true
  readonly #world: World | undefined

  constructor(
    { block, executed }: Pick<BlockRecord, 'block' | 'executed'>,
    totalDifficulty: bigint,
    world: World | undefined,
  ) {
    this.block = block
    this.executed = executed
    this.totalDifficulty = totalDifficulty
    this.#world = world
  }

  get isStateless(): boolean {
    return this.#world === undefined
  }

  get world(): World {
    if (this.#world !== undefined) return this.#world
    throw noWorldOf(this.block)
  }
}

/**
 * A dump with blocks replaces the chain: common blocks stay, and time continues from the dump's newest block. Accounts
 * missing in the dump are those of the genesis here. Waiting transactions stay if they can. A dump without blocks only
 * replaces its accounts.
 * @throws {DevchainError} as `readDump`; then nothing changes
 */
export async function loadState(
  before: ChainState,
  source: DumpSource,
  now: number,
): Promise<Change<undefined>> {
  const dump = await readDump(source, before)
  const senders = [...before.pool.bySender.entries()].map(([sender]) => sender)
  if (dump.blocks.length === 0) return editWorld(before, () => dump.world, senders)
  const tree = await treeOf(before.tree, dump)
  const pool = withoutStale(before.pool, dump.world, senders)
  const config: ChainState['config'] = { ...before.config, ruleset: 'own' }
  const settings = settingsOnTop(before.settings, tree)
  const clock = { ...before.clock, nextTimestamp: undefined }
  const loaded: ChainState = { ...before, config, tree, pool, settings, clock }
  const state = { ...loaded, clock: increasedTime(loaded, 0n, now) }
  return { state, value: undefined }
}

async function treeOf(before: BlockTree, { blocks, world, older }: Dump): Promise<BlockTree> {
  const common = commonLength(before, { blocks, older })
  const yieldIfDue = yielder()
  let tree = common === 0 ? undefined : truncateTo(before, BigInt(common - 1))
  for (const [index, read] of blocks.entries()) {
    if (index < common) continue
    const isNewest = index === blocks.length - 1
    const own = isNewest ? world : older.get(read.block.hash)
    const weight = tree === undefined ? 0n : headOf(tree).totalDifficulty
    const record = new LoadedRecord(read, weight + cumulativeDifficulty(read.block), own)
    tree =
      tree === undefined
        ? { ...treeFrom(record), abandoned: before.abandoned + before.canonical.length }
        : appendBlock(tree, record)
    await yieldIfDue()
  }
  return withHeadWorld(tree!, world)
}

/** Excludes a block whose state only the dump has. */
function commonLength(tree: BlockTree, { blocks, older }: Pick<Dump, 'blocks' | 'older'>): number {
  const differs = blocks.findIndex(({ block: { hash } }, index) => {
    const number = BigInt(index)
    if (hashByNumber(tree, number) !== hash) return true
    return older.has(hash) && blockByNumber(tree, number)?.isStateless === true
  })
  return differs < 0 ? blocks.length : differs
}

/** The base fee continues by EIP-1559 if the blocks have one; settings for the next block alone are cleared. */
function settingsOnTop(settings: Settings, tree: BlockTree): Settings {
  const { baseFeePerGas = 0n } = headOf(tree).block.header
  const pinnedBaseFee = settings.pinnedBaseFee && baseFeePerGas === 0n
  return { ...settingsAfterBlock(settings), pinnedBaseFee }
}
