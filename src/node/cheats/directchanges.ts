// What was changed of an account after blocks, without a transaction: it is what the block itself did not do.
import { isInterruption } from '../../core/errors.ts'
import type { Address } from '../../core/hex.ts'
import { yielder } from '../../core/yield.ts'
import type { Cancellation } from '../../evm/cancellation.ts'
import type { Header } from '../../protocol/blocks/header.ts'
import { type Account, accountAt, isSameAccount, stateRoot, type World } from '../../state/world.ts'
import { runAgain } from '../calls/replay.ts'
import type { Chain } from '../chain/chain.ts'
import { recordAt } from '../chain/lookup.ts'
import type { BlockRecord } from '../ledger/blockrecord.ts'
import { blockByNumber, headOf } from '../ledger/blocktree.ts'
import { knownBlock } from '../ledger/leftblocks.ts'
import { withWorldReady } from '../ledger/packing/keptrecord.ts'
import type { BlockReference } from '../ledger/references.ts'

export interface DirectChange {
  /** The block after which it happened. */
  readonly record: BlockRecord
  /** As the block left it, and as it is before the next; undefined: there is no such account. */
  readonly before: Account | undefined
  readonly after: Account | undefined
}

/**
 * Newest first. Blocks that cannot be re-executed, such as those of dumps and of a fork's network, are left out.
 * @param newest the newest block that is searched
 * @param blocks how many are
 */
export async function directChanges(
  chain: Chain,
  address: Address,
  newest: BlockReference,
  blocks: number,
  cancellation?: Cancellation,
): Promise<readonly DirectChange[]> {
  const changes: DirectChange[] = []
  const yieldIfDue = yielder()
  const records = blocksUpTo(chain, await recordAt(chain, newest, cancellation), blocks)
  // oldest first: the worlds of old blocks are made from those before them
  for (const record of records.reverse()) {
    const made = await madeWorld(chain, record)
    if (made !== undefined) {
      const [before, after] = [accountAt(made, address), accountAt(record.world, address)]
      if (!isSameAccount(before, after)) changes.push({ record, before, after })
    }
    await yieldIfDue()
    if (cancellation?.aborted === true) break
  }
  return changes.reverse()
}

function blocksUpTo({ state }: Chain, newest: BlockRecord, blocks: number): BlockRecord[] {
  const first = BigInt(state.tree.network?.number ?? 0)
  const records: BlockRecord[] = []
  let each: BlockRecord | undefined = newest
  while (each !== undefined && records.length < blocks) {
    const { number, parentHash }: Header = each.block.header
    if (number < first) break
    records.push(each)
    const before = blockByNumber(state.tree, number - 1n)
    each = before?.block.hash === parentHash ? before : knownBlock(state, parentHash)
  }
  return records
}

/** The world as the block made it; undefined if that is the world after it, or is not known. */
async function madeWorld(chain: Chain, record: BlockRecord): Promise<World | undefined> {
  const { header } = record.block
  if (record.isStateless === true) return undefined
  await withWorldReady(record)
  if (stateRoot(record.world) === header.stateRoot) return undefined
  const made = firstWorld(chain, header.number) ?? (await ranAgain(chain, record))
  return made !== undefined && stateRoot(made) === header.stateRoot ? made : undefined
}

async function ranAgain(
  { state, executor }: Chain,
  record: BlockRecord,
): Promise<World | undefined> {
  if (record.isLoaded === true) return undefined
  try {
    return (await runAgain(executor, state, record)).world
  } catch (error) {
    if (isInterruption(error)) throw error
    // its rules were others, such as an edited balance that it was mined with
    return undefined
  }
}

/** For the block that the chain began with, which nothing here made. */
function firstWorld({ state: { origin } }: Chain, number: bigint): World | undefined {
  const first = origin && headOf(origin.tree)
  return first?.block.header.number === number ? first.world : undefined
}
