// Access lists of blocks (EIP-7928), which blocks do not keep: running a block again gives its list.
import { DevchainError } from '../../core/errors.ts'
import type { Cancellation } from '../../evm/cancellation.ts'
import { type BlockAccessList, hashAccessList } from '../../protocol/blocks/accesslist.ts'
import { cancellable } from '../chain/cancellable.ts'
import type { Chain } from '../chain/chain.ts'
import type { BlockRecord } from '../ledger/blockrecord.ts'
import { runAgain } from './replay.ts'

/**
 * @throws {DevchainError} `NOT_FOUND` for a block before amsterdam, without a parent here, or of another node that made
 *   it by other rules
 */
export async function accessListOfBlock(
  { state, executor }: Pick<Chain, 'state' | 'executor'>,
  record: BlockRecord,
  cancellation: Cancellation,
): Promise<BlockAccessList> {
  const { header } = record.block
  const { number, timestamp, blockAccessListHash } = header
  if (blockAccessListHash === undefined) {
    const hardfork = state.config.hardforkAt(number, timestamp)
    throw notFound(record, `block access lists begin with amsterdam, the block is of ${hardfork}`)
  }
  if (number === 0n) return []
  const { accessList } = await runAgain(cancellable(executor, cancellation), state, record)
  if (accessList !== undefined && hashAccessList(accessList) === blockAccessListHash) {
    return accessList
  }
  const problem = 're-executing the block here gives a different list'
  if (record.isLoaded === true) throw notFound(record, problem)
  throw new Error(`block ${number}: ${problem}`)
}

function notFound({ block: { header, hash } }: BlockRecord, reason: string): DevchainError {
  const message = `access list of block ${header.number} (${hash}) not found: ${reason}`
  return new DevchainError('NOT_FOUND', message)
}
