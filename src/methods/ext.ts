// ext: headers and receipts as the bytes that are hashed, and receipt proofs.
import type { Hash } from '../core/hex.ts'
import type { BlockRecord } from '../node/ledger/blockrecord.ts'
import { transactionPlace } from '../node/ledger/blocktree.ts'
import { encodeHeader } from '../protocol/blocks/header.ts'
import { orderedTrieProof } from '../protocol/blocks/orderedtrie.ts'
import { param } from '../rpc/method.ts'
import { data, hashOfTransaction, list, nullable, text } from '../rpc/primitives.ts'
import { byHashAndNumber, ofBlock } from './common/byblock.ts'
import { type Methods, method } from './common/context.ts'
import { PROTOCOL_VERSION } from './common/version.ts'
import { block, blockHash } from './wire/decodeblock.ts'
import { transactionHash } from './wire/decodetransaction.ts'
import { encodedReceipts } from './wire/encodereceipt.ts'
import { UNKNOWN } from './wire/examples.ts'

export const extMethods: Methods = [
  method('ext_protocolVersion', {
    summary: 'Returns the protocol version, as eth_protocolVersion does.',
    result: text,
    example: { result: PROTOCOL_VERSION },
    handle: () => PROTOCOL_VERSION,
  }),
  method('ext_getRawTransactionReceiptByHash', {
    summary: 'Returns an encoded receipt; null if the transaction is not mined.',
    params: [transactionHash],
    result: nullable(data),
    example: { result: null },
    onFork: 'own',
    handle: ({ chain }, transactionHash) => {
      const place = transactionPlace(chain.state.tree, transactionHash)
      return place && encodedReceipts(place.record)[place.index]
    },
  }),
  method('ext_getTransactionReceiptNodesByHash', {
    summary: 'Returns the trie nodes from a receipt to the receipts root; null if unknown.',
    params: [param('blockHash', blockHash), param('transactionHash', hashOfTransaction)],
    result: nullable(list(data)),
    example: {
      params: ['0x4261349e4866c7680325425865b937d917f636ae7b5cbee38dbb5dcd2b164607', UNKNOWN],
    },
    onFork: 'here',
    handle: ofBlock((_, { record }, transactionHash) => receiptNodes(record, transactionHash)),
  }),
  ...byHashAndNumber('ext_getRawBlockHeaderByHash', 'ext_getRawBlockHeaderByNumber', {
    summary: 'Returns a header as RLP; null if unknown.',
    params: [block],
    result: nullable(data),
    example: { params: ['0xffffff'], result: null },
    onFork: 'here',
    handle: ofBlock((_, { record }) => encodeHeader(record.block.header)),
  }),
]

function receiptNodes(record: BlockRecord, transactionHash: Hash): readonly Uint8Array[] | null {
  const index = record.block.transactions.findIndex(({ hash: each }) => each === transactionHash)
  return index < 0 ? null : orderedTrieProof(encodedReceipts(record), index).reverse()
}
