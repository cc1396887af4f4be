// debug: accounts that blocks changed.

import { DevchainError } from '../../core/errors.ts'
import type { Address, Hash } from '../../core/hex.ts'
import { yielding } from '../../core/yield.ts'
import { replay } from '../../node/calls/replay.ts'
import type { Chain } from '../../node/chain/chain.ts'
import { recordAt } from '../../node/chain/lookup.ts'
import type { BlockRecord } from '../../node/ledger/blockrecord.ts'
import { blockByNumber } from '../../node/ledger/blocktree.ts'
import { knownBlock } from '../../node/ledger/leftblocks.ts'
import { withWorldReady } from '../../node/ledger/packing/keptrecord.ts'
import type { BlockReference } from '../../node/ledger/references.ts'
import { optional, param } from '../../rpc/method.ts'
import { address, hash, list } from '../../rpc/primitives.ts'
import { invalid } from '../../rpc/schema.ts'
import { accountAt, accountsOf, isSameAccount, stateRoot, type World } from '../../state/world.ts'
import { type MethodContext, type Methods, method } from '../common/context.ts'
import { block, blockHash, blockReference } from '../wire/decodeblock.ts'

export const debugChangesMethods: Methods = [
  method('debug_getModifiedAccountsByNumber', {
    summary: 'Returns the accounts that one block or a range changed, by block number.',
    params: [block, optional('end', blockReference)],
    result: list(address),
    example: { params: ['0x1'] },
    onFork: 'modifiedAccounts',
    handle: modified,
  }),
  method('debug_getModifiedAccountsByHash', {
    summary: 'Returns the accounts that one block or a range changed, by block hash.',
    params: [param('hash', blockHash), optional('end', blockHash)],
    result: list(address),
    example: { params: [blockHash.example!] },
    onFork: 'modifiedAccounts',
    handle: modified,
  }),
  method('debug_intermediateRoots', {
    summary: 'Returns the state root after each transaction of a block.',
    params: [param('hash', blockHash)],
    result: list(hash),
    onFork: 'network',
    handle: async ({ chain }, block) => {
      const roots: Hash[] = []
      const record = await recordAt(chain, block)
      for await (const { outcome } of replay(chain, record, () => undefined)) {
        roots.push(stateRoot(outcome.world))
      }
      return roots
    },
  }),
]

/**
 * Accounts that differ between two blocks, or before and after one block.
 * @throws {DevchainError} `NOT_FOUND` for unknown blocks, `INVALID_PARAMS` if the end is not after the start
 */
async function modified(
  { chain, caller }: MethodContext,
  first: BlockReference,
  last: BlockReference | undefined,
): Promise<Address[]> {
  const start = await recordAt(chain, first, caller)
  const end = last === undefined ? start : await recordAt(chain, last, caller)
  const before = last === undefined ? parentOf(chain, start) : start
  const [from, to] = [before.block.header.number, end.block.header.number]
  if (from >= to) throw invalid('end', `a block after ${from}`, to)
  await withWorldReady(before)
  await withWorldReady(end)
  return differences(before.world, end.world)
}

function parentOf({ state }: Chain, { block: { header } }: BlockRecord): BlockRecord {
  const parent =
    knownBlock(state, header.parentHash) ?? blockByNumber(state.tree, header.number - 1n)
  if (parent !== undefined) return parent
  const message = `block ${header.number} has no parent here to compare it with`
  throw new DevchainError('NOT_FOUND', message)
}

async function differences(before: World, after: World): Promise<Address[]> {
  const addresses: Address[] = []
  for await (const account of yielding(accountsOf(after))) {
    if (!isSameAccount(accountAt(before, account.address), account)) addresses.push(account.address)
  }
  for await (const { address: gone } of yielding(accountsOf(before))) {
    if (accountAt(after, gone) === undefined) addresses.push(gone)
  }
  return addresses
}
