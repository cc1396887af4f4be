// Finds transactions in blocks, and waits for inclusion.
import { DevchainError } from '../../core/errors.ts'
import type { Address, Hash } from '../../core/hex.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import { nonceAt } from '../../state/world.ts'
import type { Chain } from '../chain/chain.ts'
import type { BlockRecord } from '../ledger/blockrecord.ts'
import {
  type BlockTree,
  headOf,
  recordToRead,
  type TransactionPlace,
  transactionPlace,
} from '../ledger/blocktree.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import { pooledByNonce } from '../pool/pool.ts'

/** Rejects with `NOT_MINED_IN_TIME` after `timeoutMs`, the hash as data, or with the pool's reason when it is dropped. */
export async function inclusionOf(
  chain: Chain,
  hash: Hash,
  timeoutMs: number,
): Promise<TransactionPlace> {
  const known = transactionPlace(chain.state.tree, hash)
  if (known !== undefined) return known
  return new Promise((resolve, reject) => {
    const end = (): void => {
      stop()
      clearTimeout(timer)
    }
    const stop = chain.onChange(({ after, dropped }) => {
      const place = transactionPlace(after.tree, hash)
      const refusal = dropped.find(({ transaction }) => transaction.hash === hash)
      if (place === undefined && refusal === undefined) return
      end()
      if (place === undefined) reject(refusal?.error)
      else resolve(place)
    })
    const timer = setTimeout(() => {
      end()
      const message = `transaction ${hash} is in the pool, but was not mined within ${timeoutMs} milliseconds`
      reject(new DevchainError('NOT_MINED_IN_TIME', message, hash))
    }, timeoutMs)
  })
}

export type TransactionWithNonce =
  | { readonly place: TransactionPlace; readonly waiting?: undefined }
  | { readonly place?: undefined; readonly waiting: Transaction }

/** Binary search, as nonces only rise. Undefined if an authorization or creation used the nonce, or a cheat reset it. */
export function sentWithNonce(
  { tree, pool }: ChainState,
  sender: Address,
  nonce: bigint,
): TransactionWithNonce | undefined {
  if (nonceAt(headOf(tree).world, sender) <= nonce) {
    const waiting = pooledByNonce(pool, sender, nonce)?.transaction
    return waiting && { waiting }
  }
  const place = placeOf(tree, sender, nonce)
  return place && { place }
}

function placeOf(tree: BlockTree, sender: Address, nonce: bigint): TransactionPlace | undefined {
  const { canonical } = tree
  let [low, high] = [0, canonical.length - 1]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const record = canonical.at(middle)!
    // a loaded chain may lack its older states: then only a scan helps
    if (record.isStateless === true) return placeAmong(canonical.filled(), sender, nonce)
    if (nonceAt(record.world, sender) > nonce) high = middle
    else low = middle + 1
  }
  return placeAmong([recordToRead(tree, canonical.at(low)!)], sender, nonce)
}

function placeAmong(
  records: Iterable<BlockRecord>,
  sender: Address,
  nonce: bigint,
): TransactionPlace | undefined {
  for (const record of records) {
    const { transactions } = record.block
    const index = transactions.findIndex((each) => each.from === sender && each.nonce === nonce)
    if (index >= 0) return { record, index }
  }
  return undefined
}
