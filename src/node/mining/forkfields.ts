// What the forks added to the headers of blocks that are made here.
import { type Hash, ZERO_HASH } from '../../core/hex.ts'
import type { BlockEnvironment } from '../../evm/executor.ts'
import { EMPTY_TRIE_ROOT, type Header } from '../../protocol/block.ts'
import { isAtLeast } from '../../protocol/forks.ts'

type ForkField =
  | 'baseFeePerGas'
  | 'withdrawalsRoot'
  | 'blobGasUsed'
  | 'excessBlobGas'
  | 'parentBeaconBlockRoot'
  | 'requestsHash'

/** The header fields that a fork brought, undefined before it. */
export function forkFields(
  environment: Pick<BlockEnvironment, 'hardfork' | 'baseFee' | 'excessBlobGas'>,
  requestsHash: Hash | undefined,
): Pick<Header, ForkField> {
  const { hardfork, baseFee, excessBlobGas } = environment
  const hasBlobs = isAtLeast(hardfork, 'cancun')
  return {
    baseFeePerGas: isAtLeast(hardfork, 'london') ? baseFee : undefined,
    withdrawalsRoot: isAtLeast(hardfork, 'shanghai') ? EMPTY_TRIE_ROOT : undefined,
    blobGasUsed: hasBlobs ? 0n : undefined,
    excessBlobGas: hasBlobs ? excessBlobGas : undefined,
    parentBeaconBlockRoot: hasBlobs ? ZERO_HASH : undefined,
    requestsHash: isAtLeast(hardfork, 'prague') ? requestsHash : undefined,
  }
}
