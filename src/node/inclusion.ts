// Where transactions are, and waiting until one is in a block.
import { DevchainError } from '../core/errors.ts'
import type { Address, Hash } from '../core/hex.ts'
import type { Transaction } from '../protocol/transaction.ts'
import { nonceAt } from '../state/world.ts'
import { type TransactionPlace, transactionPlace } from './blocktree.ts'
import type { Chain } from './chain.ts'
import type { ChainState } from './chainstate.ts'
import { pooledByNonce } from './pool.ts'

/**
 * Waits until a transaction is in the canonical chain.
 * @throws {DevchainError} `NOT_MINED_IN_TIME` after `timeoutMs`, with the hash as data; the pool's reason when the
 *   transaction is dropped
 */
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

/** A transaction that was sent with a nonce: where it is in the chain, or itself while it waits. */
export type Sent =
  | { readonly place: TransactionPlace; readonly waiting?: undefined }
  | { readonly place?: undefined; readonly waiting: Transaction }

/**
 * The transaction of a sender and a nonce. Nonces only rise from block to block, so that a few looks at old worlds
 * find the block; where somebody set one back by hand, what was sent before is not found.
 * @returns undefined when there is none: authorizations and creations by contracts use nonces up as well
 */
export function sentWithNonce(
  { tree, pool }: ChainState,
  sender: Address,
  nonce: bigint,
): Sent | undefined {
  const { canonical } = tree
  const isUsedAt = (index: number): boolean => nonceAt(canonical.at(index)!.world, sender) > nonce
  let [low, high] = [0, canonical.length]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (isUsedAt(middle)) high = middle
    else low = middle + 1
  }
  if (low === canonical.length) {
    const waiting = pooledByNonce(pool, sender, nonce)?.transaction
    return waiting && { waiting }
  }
  const record = canonical.at(low)!
  const index = record.block.transactions.findIndex(
    (each) => each.from === sender && each.nonce === nonce,
  )
  return index < 0 ? undefined : { place: { record, index } }
}
