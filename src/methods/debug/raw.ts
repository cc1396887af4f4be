// debug: blocks, headers, receipts and transactions as the bytes that are hashed, and execution witnesses.

import type { Address } from '../../core/hex.ts'
import { combineTracers } from '../../evm/tracers/combine.ts'
import { recordBlockHashes } from '../../evm/tracers/recorders.ts'
import { accessListOfBlock } from '../../node/calls/blockaccesslist.ts'
import { type Sight, type Witness, witnessOf } from '../../node/calls/witness.ts'
import { recordAt } from '../../node/chain/lookup.ts'
import type { BlockRecord } from '../../node/ledger/blockrecord.ts'
import { latest } from '../../node/ledger/references.ts'
import { encodeAccessList } from '../../protocol/blocks/accesslist.ts'
import { encodeBlock } from '../../protocol/blocks/block.ts'
import { encodeHeader } from '../../protocol/blocks/header.ts'
import { optional, param } from '../../rpc/method.ts'
import { data, list } from '../../rpc/primitives.ts'
import { type MethodContext, type Methods, method } from '../common/context.ts'
import { newTraceWork, recordBlock } from '../tracing/recording.ts'
import { touchRecorder } from '../tracing/tracers.ts'
import { blockReference } from '../wire/decodeblock.ts'
import { field, shape } from '../wire/encodeobject.ts'
import { encodedReceipts } from '../wire/encodereceipt.ts'

/**
 * reth's form: lists without hashes, which the reader computes.
 * @see https://github.com/alloy-rs/alloy/blob/main/crates/rpc-types-debug/src/execution_witness.rs
 */
const witness = shape<Witness>('execution witness', {
  state: field(list(data), ({ state }) => state),
  codes: field(list(data), ({ codes }) => codes),
  keys: field(list(data), ({ keys }) => keys),
  headers: field(list(data), ({ headers }) => headers),
})

export const debugRawMethods: Methods = [
  method('debug_getRawBlock', {
    summary: 'Returns a block as RLP: header, transactions, uncles, withdrawals.',
    params: [optional('block', blockReference, latest)],
    result: data,
    example: { params: ['earliest'] },
    onFork: 'rawBlock',
    handle: async ({ chain, caller }, block) =>
      encodeBlock((await recordAt(chain, block, caller)).block),
  }),
  method('debug_getRawHeader', {
    summary: 'Returns a header as RLP; its Keccak-256 is the block hash.',
    params: [optional('block', blockReference, latest)],
    result: data,
    example: { params: ['earliest'] },
    onFork: 'rawHeader',
    handle: async ({ chain, caller }, block) =>
      encodeHeader((await recordAt(chain, block, caller)).block.header),
  }),
  method('debug_getRawReceipts', {
    summary: 'Returns the encoded receipts of a block.',
    params: [optional('block', blockReference, latest)],
    result: list(data, 'receipt'),
    example: { params: ['earliest'], result: [] },
    onFork: 'rawReceipts',
    handle: async ({ chain, caller }, block) =>
      encodedReceipts(await recordAt(chain, block, caller)),
  }),
  method('debug_getRawTransactions', {
    summary: 'Returns the encoded transactions of a block.',
    params: [optional('block', blockReference, latest)],
    result: list(data, 'transaction'),
    example: { params: ['earliest'], result: [] },
    onFork: 'rawTransactions',
    handle: async ({ chain, caller }, block) =>
      (await recordAt(chain, block, caller)).block.transactions.map(({ raw }) => raw),
  }),
  method('debug_getRawBlockAccessList', {
    aliases: ['debug_getBlockAccessList'],
    summary: 'Returns the access list of a block as RLP (EIP-7928).',
    params: [optional('block', blockReference, latest)],
    result: data,
    example: { params: ['latest'] },
    onFork: 'accessList',
    handle: async ({ chain, caller }, block) => {
      const record = await recordAt(chain, block, caller)
      return encodeAccessList(await accessListOfBlock(chain, record, caller))
    },
  }),
  method('debug_executionWitness', {
    summary: 'Returns the trie nodes, codes and headers that a block needs to run statelessly.',
    params: [param('block', blockReference)],
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
