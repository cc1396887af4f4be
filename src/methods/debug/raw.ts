// debug: blocks, headers, receipts and transactions as the bytes that are hashed, and execution witnesses.

import type { Address } from '../../core/hex.ts'
import { combineTracers } from '../../evm/tracers/combine.ts'
import { recordBlockHashes } from '../../evm/tracers/recorders.ts'
import { accessListOfBlock } from '../../node/calls/blockaccesslist.ts'
import { type Sight, witnessOf } from '../../node/calls/witness.ts'
import { recordAt } from '../../node/chain/lookup.ts'
import type { BlockRecord } from '../../node/ledger/blockrecord.ts'
import { encodeAccessList } from '../../protocol/blocks/accesslist.ts'
import { encodeBlock } from '../../protocol/blocks/block.ts'
import { encodeHeader } from '../../protocol/blocks/header.ts'
import { data, list } from '../../rpc/primitives.ts'
import { type MethodContext, type Methods, method } from '../common/context.ts'
import { newTraceWork, recordBlock } from '../tracing/recording.ts'
import { touchRecorder } from '../tracing/tracers.ts'
import { block, blockOrLatest } from '../wire/decodeblock.ts'
import { plainShape } from '../wire/encodeobject.ts'
import { encodedReceipts } from '../wire/encodereceipt.ts'

/**
 * reth's form: lists without hashes, which the reader computes.
 * @see https://github.com/alloy-rs/alloy/blob/main/crates/rpc-types-debug/src/execution_witness.rs
 */
const witness = plainShape('execution witness', {
  state: list(data),
  codes: list(data),
  keys: list(data),
  headers: list(data),
})

export const debugRawMethods: Methods = [
  method('debug_getRawBlock', {
    summary: 'Returns a block as RLP: header, transactions, uncles, withdrawals.',
    params: [blockOrLatest],
    result: data,
    example: { params: ['earliest'] },
    onFork: 'rawBlock',
    handle: async ({ chain, caller }, block) =>
      encodeBlock((await recordAt(chain, block, caller)).block),
  }),
  method('debug_getRawHeader', {
    summary: 'Returns a header as RLP; its Keccak-256 is the block hash.',
    params: [blockOrLatest],
    result: data,
    example: { params: ['earliest'] },
    onFork: 'rawHeader',
    handle: async ({ chain, caller }, block) =>
      encodeHeader((await recordAt(chain, block, caller)).block.header),
  }),
  method('debug_getRawReceipts', {
    summary: 'Returns the encoded receipts of a block.',
    params: [blockOrLatest],
    result: list(data, 'receipt'),
    example: { params: ['earliest'], result: [] },
    onFork: 'rawReceipts',
    handle: async ({ chain, caller }, block) =>
      encodedReceipts(await recordAt(chain, block, caller)),
  }),
  method('debug_getRawTransactions', {
    summary: 'Returns the encoded transactions of a block.',
    params: [blockOrLatest],
    result: list(data, 'transaction'),
    example: { params: ['earliest'], result: [] },
    onFork: 'rawTransactions',
    handle: async ({ chain, caller }, block) =>
      (await recordAt(chain, block, caller)).block.transactions.map(({ raw }) => raw),
  }),
  method('debug_getRawBlockAccessList', {
    aliases: ['debug_getBlockAccessList'],
    summary: 'Returns the access list of a block as RLP (EIP-7928).',
    params: [blockOrLatest],
    result: data,
    onFork: 'accessList',
    handle: async ({ chain, caller }, block) => {
      const record = await recordAt(chain, block, caller)
      return encodeAccessList(await accessListOfBlock(chain, record, caller))
    },
  }),
  method('debug_executionWitness', {
    summary: 'Returns the trie nodes, codes and headers that a block needs to run statelessly.',
    params: [block],
    result: witness,
    example: { params: ['0x1'] },
    onFork: 'network',
    handle: async (context, block) => {
      const record = await recordAt(context.chain, block, context.caller)
      return witnessOf(context.chain, record, await sightOf(context, record))
    },
  }),
]

/** Re-executes the block's transactions and records what they read. */
async function sightOf(context: MethodContext, record: BlockRecord): Promise<Sight> {
  const touched = new Map<Address, Set<bigint>>()
  const hashes = recordBlockHashes(record.block.header.number)
  await recordBlock(context.chain, record, newTraceWork(context), ({ target }) => {
    const touches = touchRecorder(target)
    const write = async (): Promise<void> => {
      for (const [address, slots] of touches.touched) {
        touched.set(address, new Set([...(touched.get(address) ?? []), ...slots]))
      }
    }
    return { tracer: combineTracers([touches.tracer, hashes.tracer]), write }
  })
  return { touched, oldest: hashes.oldest() }
}
