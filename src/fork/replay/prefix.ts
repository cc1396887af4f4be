// What surrounds a transaction of the network: replays the start of its block, and queues the rest.
import { DevchainError, isInterruption, unlessRefused } from '../../core/errors.ts'
import type { BlockEnvironment, Executor } from '../../evm/executor.ts'
import type { Chain } from '../../node/chain/chain.ts'
import { headOf } from '../../node/ledger/blocktree.ts'
import type { ChainState } from '../../node/ledger/chainstate.ts'
import { blockEnvironment } from '../../node/mining/environment.ts'
import { admit } from '../../node/sending/admission.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import type { World } from '../../state/world.ts'
import { readBlock, recordOf } from '../network/header.ts'
import type { BlockPoint, ForkedNetwork } from '../network/network.ts'
import { type Prefix, transactionsIn } from '../store/recordingfile.ts'
import { afterFailure, readDeposit } from './deposits.ts'
import { effectsOf, withEffects } from './effects.ts'
import { prefetchListed } from './listed.ts'
import { asMined, readTransaction } from './transactions.ts'

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
  const record = recordOf(remote, () => parent)
  const then = blockEnvironment(state, record)
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
    return (await executor.transact({ world, block, transaction: asMined(transaction) })).world
  } catch (error) {
    const isRefused = error instanceof DevchainError && error.word !== 'UPSTREAM_FAILED'
    if (!isRefused || isInterruption(error)) throw error
    return afterFailure(world, transaction)
  }
}

/** Queues the rest of the block of the forked transaction in the pool. */
export async function sendLater(
  chain: Chain,
  prefix: Prefix,
  onNotice: (text: string) => void,
): Promise<void> {
  const later = transactionsIn(prefix)
    .slice(prefix.index + 1)
    .map(readTransaction)
  const now = chain.environment.now()
  const refused = await chain.update((state) => {
    let [after, value] = [state, 0]
    for (const each of later) {
      const pool = each && unlessRefused(() => admit(after, each, now))
      if (pool === undefined) value += 1
      else after = { ...after, pool }
    }
    return { state: after, value }
  })
  if (refused > 0) {
    onNotice(`cannot queue ${refused} of the ${later.length} transactions after the forked one`)
  }
}
