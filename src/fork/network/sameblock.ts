// Checks that a network still has a block: nodes fall behind, reorgs happen, URLs change.
import { DevchainError } from '../../core/errors.ts'
import { type Hash, quantityFromBigint } from '../../core/hex.ts'
import type { Json } from '../../rpc/schema.ts'
import type { Client } from '../client/client.ts'
import { quantity, unexpected } from './answers.ts'

/** @throws {DevchainError} `UPSTREAM_FAILED` if the block has changed */
export async function requireBlock(
  asker: Pick<Client, 'request' | 'name'>,
  chainId: bigint,
  { number, hash }: { readonly number: bigint; readonly hash: Hash },
): Promise<void> {
  const params = [quantityFromBigint(number), false]
  const first = await asker.request('eth_getBlockByNumber', params)
  if (hashIn(first) === hash) return
  // one of several nodes may have fallen behind
  const again = asker.request('eth_getBlockByNumber', params, (block) => {
    if (hashIn(block) === undefined) throw unexpected(`block ${number}`, block)
  })
  // a failure that nobody awaits any more is ignored
  again.catch(() => undefined)
  const found = quantity(await asker.request('eth_chainId', [], quantity))
  if (found !== chainId) {
    const message = `${asker.name} is another network now: its chain id is ${found}, expected ${chainId}`
    throw new DevchainError('UPSTREAM_FAILED', message)
  }
  const second = hashIn(await again)
  if (second === hash) return
  const message =
    second === undefined
      ? `the forked network no longer has block ${number} (${hash}): its node lags behind, or the block was reorged; use another node, or start a new fork`
      : `block ${number} of the forked network was ${hash} and is ${second}: a reorg below the fork; start a new fork, at a deeper block`
  throw new DevchainError('UPSTREAM_FAILED', message)
}

function hashIn(block: Json): Hash | undefined {
  const { hash } = (block ?? {}) as { readonly hash?: unknown }
  return typeof hash === 'string' ? (hash.toLowerCase() as Hash) : undefined
}
