// The state before a transaction of the network: replays the start of its block.
import { DevchainError, isInterruption } from '../../core/errors.ts'
import type { BlockEnvironment, Executor } from '../../evm/executor.ts'
import { headOf } from '../../node/ledger/blocktree.ts'
import type { ChainState } from '../../node/ledger/chainstate.ts'
import { blockEnvironment } from '../../node/mining/environment.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import type { World } from '../../state/world.ts'
import { readBlock, recordOf } from '../network/header.ts'
import type { BlockPoint, ForkedNetwork } from '../network/network.ts'
import { type Prefix, transactionsIn } from '../store/recordingfile.ts'
import { afterFailure, readDeposit } from './deposits.ts'
import { effectsOf, withEffects } from './effects.ts'
import { prefetchListed } from './listed.ts'
import { readTransaction } from './transactions.ts'

/** @param onNotice warns about transactions that cannot run here and are left out */
export async function worldAfter(
  { network, point }: { readonly network: ForkedNetwork; readonly point: BlockPoint },
  prefix: Prefix,
  state: ChainState,
  executor: Executor,
  onNotice: (text: string) => void,
): Promise<World> {
  const { block: json, index } = prefix
  const remote = readBlock(json)
  const { world: parent } = headOf(state.tree)
  const transactions = transactionsIn(prefix)
  const then = blockEnvironment(
    state,
    recordOf(remote, () => parent),
  )
  const block = { ...then, chainId: state.config.upstream?.chainId ?? then.chainId }
  const { parentHash, parentBeaconBlockRoot } = remote.header
  const plain = transactions.slice(0, index).map(readTransaction)
  const before = plain.map((each, at) => each ?? readDeposit(transactions[at]!))
  const begun = { world: parent, block, parentHash, parentBeaconBlockRoot }
  const [{ world: beginning }, effects] = await Promise.all([
    executor.beginBlock(begun),
    effectsOf(network, point, prefix, plain.includes(undefined)),
  ])
  if (effects !== undefined) return await withEffects(beginning, effects)
  if (index > 0) await prefetchListed(network, point, remote, () => beginning)
  let world = beginning
  let left = 0
  for (const each of before) {
    const after = await worldOf(executor, world, block, each)
    if (after === undefined) left += 1
    world = after ?? world
  }
  if (left > 0) {
    onNotice(
      `skipped ${left} of the ${index} transactions before the forked one: they cannot run here`,
    )
  }
  return world
}

/** Undefined: the transaction is invalid by the rules here. */
async function worldOf(
  executor: Executor,
  world: World,
  block: BlockEnvironment,
  transaction: Transaction | undefined,
): Promise<World | undefined> {
  if (transaction === undefined) return undefined
  try {
    return (await executor.transact({ world, block, transaction })).world
  } catch (error) {
    const isRefused = error instanceof DevchainError && error.word !== 'UPSTREAM_FAILED'
    if (!isRefused || isInterruption(error)) throw error
    return afterFailure(world, transaction)
  }
}
