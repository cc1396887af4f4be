// eth: access lists of blocks (EIP-7928), under the names of execution-apis, reth and nethermind.
import { accessListOfBlock } from '../../node/calls/blockaccesslist.ts'
import { findRecord } from '../../node/chain/lookup.ts'
import type { BlockReference } from '../../node/ledger/references.ts'
import { type BlockAccessList, encodeAccessList } from '../../protocol/blocks/accesslist.ts'
import { data, nullable } from '../../rpc/primitives.ts'
import { byHashAndNumber } from '../common/byblock.ts'
import { type MethodContext, type Methods, method } from '../common/context.ts'
import { block, isPending } from '../wire/decodeblock.ts'
import { blockAccessList } from '../wire/encodeaccesslist.ts'

const summary =
  'Returns what the transactions of a block read and changed (EIP-7928); null if unknown.'

export const accessListMethods: Methods = [
  method('eth_getBlockAccessList', {
    summary,
    params: [block],
    result: nullable(blockAccessList),
    example: { params: ['0xffffff'], result: null },
    onFork: 'accessList',
    handle: listAt,
  }),
  ...byHashAndNumber('eth_getBlockAccessListByBlockHash', 'eth_getBlockAccessListByBlockNumber', {
    aliases: ['eth_getBlockAccessListByHash', 'eth_getBlockAccessListByNumber'],
    summary,
    params: [block],
    result: nullable(blockAccessList),
    example: { params: ['0xffffff'], result: null },
    onFork: 'accessList',
    handle: listAt,
  }),
  method('eth_getBlockAccessListRaw', {
    summary: 'Returns the access list of a block as RLP; null if unknown.',
    params: [block],
    result: nullable(data),
    example: { params: ['0xffffff'], result: null },
    onFork: 'accessList',
    handle: async (context, block) => {
      const found = await listAt(context, block)
      return found && encodeAccessList(found)
    },
  }),
]

async function listAt(
  { chain, caller }: MethodContext,
  block: BlockReference,
): Promise<BlockAccessList | null> {
  // as in execution-apis, a pending block has none
  const record = isPending(block) ? undefined : await findRecord(chain, block, caller)
  return record === undefined ? null : accessListOfBlock(chain, record, caller)
}
