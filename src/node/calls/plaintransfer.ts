// Transfers whose gas is known without a run.
import type { Address } from '../../core/hex.ts'
import { codeAt, type World } from '../../state/world.ts'
import type { Chain } from '../chain/chain.ts'
import type { CallRequest } from './request.ts'

/** What a transaction takes that runs no code. */
const TRANSFER_GAS = 21_000n

/**
 * The estimate of a transfer that needs no run where the chain behaves so: whatever it says of funds, price and gas.
 * Undefined for all else.
 */
export function gasOfPlainTransfer(
  { chain, world }: { readonly chain: Chain; readonly world: World },
  request: CallRequest,
): bigint | undefined {
  if (chain.state.config.behaviour.estimatesRunTransfers) return undefined
  const { to, data, accessList, authorizationList, blobs } = request
  const isPlain =
    (data === undefined || data.length === 0) &&
    accessList === undefined &&
    authorizationList === undefined &&
    blobs?.versionedHashes === undefined
  return isPlain && hasNoCode(world, to) ? TRANSFER_GAS : undefined
}

function hasNoCode(world: World, to: Address | null | undefined): boolean {
  return to !== undefined && to !== null && codeAt(world, to).length === 0
}
