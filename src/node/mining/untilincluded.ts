// Instant mining of a transaction below the base fee: empty blocks lower the fee first.
import type { Executor } from '../../evm/executor.ts'
import { effectiveTip } from '../../protocol/fees.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import { nonceAt } from '../../state/world.ts'
import { headOf } from '../ledger/blocktree.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import { paysBlobs, pooledByHash, pooledByNonce } from '../pool/pool.ts'
import { nextBlockEnvironment } from './environment.ts'
import { type Mined, mineBlock, mineWaiting } from './miner.ts'

/** Most empty blocks of one send. At an eighth less a block, a 256-bit base fee reaches 0 in 1,400. */
const MAX_EMPTY = 2_000

/** Adds empty blocks until the base fee admits `sent` and its sender's earlier transactions, if that helps. */
export async function mineUntilIncluded(
  executor: Executor,
  state: ChainState,
  sent: Transaction,
  now: number,
): Promise<Mined> {
  let mined = await mineWaiting(executor, state, now)
  for (let empty = 0; empty < MAX_EMPTY && isPricedOut(mined.state, sent, now); empty += 1) {
    const before = nextBlockEnvironment(mined.state, now)
    const next = await mineBlock(executor, mined.state, { now })
    const after = nextBlockEnvironment(next.state, now)
    const isCheaper = after.baseFee < before.baseFee || after.excessBlobGas < before.excessBlobGas
    if (!isCheaper) break
    const last = await mineWaiting(executor, next.state, now)
    mined = { ...last, dropped: [...mined.dropped, ...next.dropped, ...last.dropped] }
  }
  return mined
}

/** Whether only its prices keep a sender's first transaction out of the next block. */
function isPricedOut(state: ChainState, { hash, from }: Transaction, now: number): boolean {
  const { pool, tree } = state
  if (pooledByHash(pool, hash) === undefined) return false
  const first = pooledByNonce(pool, from, nonceAt(headOf(tree).world, from))?.transaction
  if (first === undefined) return false
  const block = nextBlockEnvironment(state, now)
  return effectiveTip(first, block.baseFee) < 0n || !paysBlobs(first, block)
}
