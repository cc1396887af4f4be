// Encodes old blocks from their JSON where the network has no raw form, and checks the hashes.
import { DevchainError } from '../../core/errors.ts'
import { bytesFromHex, type Hash, hexFromBytes, quantityFromBigint } from '../../core/hex.ts'
import { withdrawalOf } from '../../node/dump/members.ts'
import { encodeBlock } from '../../protocol/blocks/block.ts'
import { encodeHeader, type Header, hashHeader, unclesHash } from '../../protocol/blocks/header.ts'
import { orderedTrieRoot } from '../../protocol/blocks/orderedtrie.ts'
import { withdrawalsRoot } from '../../protocol/blocks/withdrawal.ts'
import type { Json } from '../../rpc/schema.ts'
import { type JsonObject, listIn, reading } from '../network/answers.ts'
import { type RemoteBlock, readBlock } from '../network/header.ts'
import { transactionsOf } from '../replay/whole.ts'
import type { Fallback, RefusedRequest } from './retrace.ts'

export const rawBlock: Fallback = async (refused) => {
  const { header, json } = await blockIn(refused)
  const transactions = transactionsOf(json as Json, header.number)
  const uncles = await unclesIn(refused, json)
  const withdrawals = listIn(json.withdrawals).map((each) =>
    reading('a withdrawal', each, () => withdrawalOf(each, 'withdrawal')),
  )
  const raws = transactions.map(({ raw }) => raw)
  requireSame(refused, 'the transactions', orderedTrieRoot(raws), header.transactionsRoot)
  requireSame(refused, 'the uncles', unclesHash(uncles), header.sha3Uncles)
  if (header.withdrawalsRoot !== undefined) {
    requireSame(refused, 'the withdrawals', withdrawalsRoot(withdrawals), header.withdrawalsRoot)
  }
  return hexFromBytes(encodeBlock({ header, transactions, uncles, withdrawals }))
}

export const rawHeader: Fallback = async (refused) =>
  hexFromBytes(encodeHeader((await blockIn(refused)).header))

export const rawReceipts: Fallback = (refused) =>
  listOf(refused, 'the receipts', ({ receiptsRoot }) => receiptsRoot)

export const rawTransactions: Fallback = (refused) =>
  listOf(refused, 'the transactions', ({ transactionsRoot }) => transactionsRoot)

/** Checks that the header has the hash the network gives. */
async function blockIn(refused: RefusedRequest): Promise<{ header: Header; json: JsonObject }> {
  const { upstream, number } = refused
  const params = [quantityFromBigint(number), true]
  const read = (json: unknown): RemoteBlock & { readonly json: JsonObject } => ({
    ...readBlock(json as Json),
    json: json as JsonObject,
  })
  const block = await upstream.ask('eth_getBlockByNumber', params, number, read)
  requireSame(refused, 'the header', hashHeader(block.header), block.hash)
  return block
}

async function listOf(
  refused: RefusedRequest,
  what: string,
  rootIn: (header: Header) => Hash,
): Promise<Json> {
  const list = (await refused.make()) as readonly string[]
  const { header } = await blockIn(refused)
  requireSame(refused, what, orderedTrieRoot(list.map(bytesFromHex)), rootIn(header))
  return list
}

function unclesIn(
  { upstream, number }: RefusedRequest,
  { hash, uncles }: JsonObject,
): Promise<Header[]> {
  return Promise.all(
    listIn(uncles).map((_, index) => {
      const params = [hash, quantityFromBigint(BigInt(index))]
      const read = (uncle: unknown): Header => readBlock(uncle as Json).header
      return upstream.ask('eth_getUncleByBlockHashAndIndex', params, number, read)
    }),
  )
}

/** @throws {DevchainError} `UPSTREAM_FAILED` if the hash differs, e.g. for unknown transaction types */
function requireSame(
  { number, refusal }: RefusedRequest,
  what: string,
  made: Hash,
  there: Hash,
): void {
  if (made === there) return
  const message = `${refusal.message}; encoding ${what} of block ${number} here gives hash ${made}, expected ${there}`
  throw new DevchainError('UPSTREAM_FAILED', message)
}
