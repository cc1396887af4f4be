// txpool: the pool by sender and nonce, in geth's form, which client libraries read: senders
// with 0x, one transaction per nonce, counts as QUANTITY. (The specification's node writes senders without 0x, a
// list per nonce, and counts as JSON numbers.)
import { headOf } from '../node/ledger/blocktree.ts'
import {
  type BySender,
  type PooledTransaction,
  pendingBySender,
  queuedBySender,
} from '../node/pool/pool.ts'
import type { Transaction } from '../protocol/transactions/transaction.ts'
import { type JsonText, JsonWriter } from '../rpc/jsontext.ts'
import { param } from '../rpc/method.ts'
import { address, asJson, text } from '../rpc/primitives.ts'
import type { Encoder, Json, JsonSchema } from '../rpc/schema.ts'
import { type MethodContext, type Methods, method } from './common/context.ts'
import { encodedAs, plainShape, quantityResult } from './wire/encodeobject.ts'
import { poolEntryShape } from './wire/encodetransaction.ts'

/** `<to>: <value> wei + <gas limit> gas × <gas price> wei`, in geth's words; for a creation they stand for `to`. */
const line: Encoder<Transaction> = encodedAs(
  text,
  ({ to, value, gasLimit, maxFeePerGas }) =>
    `${to ?? 'contract creation'}: ${value} wei + ${gasLimit} gas × ${maxFeePerGas} wei`,
)

export const txpoolMethods: Methods = [
  method('txpool_status', {
    summary: 'Returns the number of executable transactions, and of those behind a nonce gap.',
    result: plainShape('pool status', { pending: quantityResult, queued: quantityResult }),
    example: { result: { pending: '0x0', queued: '0x0' } },
    handle: (context) => {
      const { pending, queued } = contentOf(context)
      return { pending: countOf(pending), queued: countOf(queued) }
    },
  }),
  method('txpool_content', {
    summary: 'Returns all transactions of the pool, by sender and nonce.',
    result: poolContent(bySender(poolEntryShape.json)),
    example: { result: { pending: {}, queued: {} } },
    handle: (context) => writeContent(context, writeSenders(context, poolEntryShape)),
  }),
  method('txpool_contentFrom', {
    summary: "Returns the pool's transactions of one sender, by nonce.",
    params: [param('sender', address)],
    result: poolContent(byNonce(poolEntryShape.json)),
    example: { result: { pending: {}, queued: {} } },
    handle: (context, sender) =>
      writeContent(context, (writer, half) =>
        writeNonces(writer, half.get(sender) ?? [], poolEntryShape),
      ),
  }),
  method('txpool_inspect', {
    summary: 'Returns the transactions of the pool as text, by sender and nonce.',
    result: poolContent(bySender(line.json)),
    example: { result: { pending: {}, queued: {} } },
    handle: (context) => writeContent(context, writeSenders(context, line)),
  }),
]

/** `pending` can be mined now; `queued` waits for an earlier nonce of its sender. */
type PoolContent = Record<'pending' | 'queued', BySender>

function contentOf({ chain: { state } }: MethodContext): PoolContent {
  const { world } = headOf(state.tree)
  return {
    pending: pendingBySender(state.pool, world),
    queued: queuedBySender(state.pool, world),
  }
}

function countOf(half: BySender): number {
  let count = 0
  for (const entries of half.values()) count += entries.length
  return count
}

type WriteHalf = (writer: JsonWriter, half: BySender) => Promise<void>

/** In turns, as a pool may be large. */
async function writeContent(context: MethodContext, write: WriteHalf): Promise<JsonText> {
  const { pending, queued } = contentOf(context)
  const writer = new JsonWriter()
  writer.write('{"pending":')
  await write(writer, pending)
  writer.write(',"queued":')
  await write(writer, queued)
  writer.write('}')
  return writer.end()
}

function writeSenders({ profile }: MethodContext, leaf: Encoder<Transaction>): WriteHalf {
  return async (writer, half) => {
    let before = '{'
    for (const [sender, entries] of half) {
      writer.write(`${before}"${profile.poolSender(sender)}":`)
      await writeNonces(writer, entries, leaf)
      before = ','
    }
    writer.write(half.size === 0 ? '{}' : '}')
  }
}

async function writeNonces(
  writer: JsonWriter,
  entries: readonly PooledTransaction[],
  leaf: Encoder<Transaction>,
): Promise<void> {
  let before = '{'
  for (const { transaction } of entries) {
    writer.write(`${before}"${transaction.nonce}":${JSON.stringify(leaf.encode(transaction))}`)
    before = ','
    await writer.yieldIfDue()
  }
  writer.write(entries.length === 0 ? '{}' : '}')
}

function poolContent(json: JsonSchema): Encoder<Json> {
  const half = asJson('half', json)
  return asJson('pool content', plainShape('pool content', { pending: half, queued: half }).json)
}

function bySender(leaf: JsonSchema): JsonSchema {
  return {
    type: 'object',
    propertyNames: { pattern: '^0x[0-9a-fA-F]{40}$' },
    additionalProperties: byNonce(leaf),
  }
}

function byNonce(leaf: JsonSchema): JsonSchema {
  return {
    type: 'object',
    propertyNames: { pattern: '^[0-9]+$' },
    additionalProperties: leaf,
  }
}
