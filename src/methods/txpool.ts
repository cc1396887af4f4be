// txpool: the pool by sender and nonce, in geth's form, which client libraries read: senders
// with 0x, one transaction per nonce, counts as QUANTITY. (The specification's node writes senders without 0x, a
// list per nonce, and counts as JSON numbers.)
import type { Address } from '../core/hex.ts'
import { headOf } from '../node/ledger/blocktree.ts'
import { pendingOf, queuedOf } from '../node/pool/pool.ts'
import type { Transaction } from '../protocol/transactions/transaction.ts'
import { param } from '../rpc/method.ts'
import { address, text } from '../rpc/primitives.ts'
import type { Encoder, Json, JsonSchema } from '../rpc/schema.ts'
import { type MethodContext, type Methods, method } from './common/context.ts'
import { encodedAs, field, quantityResult, type ShapeField, shape } from './wire/encodeobject.ts'
import { poolEntryShape } from './wire/encodetransaction.ts'

/** `pending` can be mined now; `queued` waits for an earlier nonce of its sender. */
interface PoolContent {
  readonly pending: readonly Transaction[]
  readonly queued: readonly Transaction[]
  readonly nameOf: (sender: Address) => string
}

export const txpoolMethods: Methods = [
  method('txpool_status', {
    summary: 'Returns the number of executable transactions, and of those behind a nonce gap.',
    result: shape<PoolContent>('pool status', {
      pending: field(quantityResult, ({ pending }) => pending.length),
      queued: field(quantityResult, ({ queued }) => queued.length),
    }),
    example: { result: { pending: '0x0', queued: '0x0' } },
    handle: contentOf,
  }),
  method('txpool_content', {
    summary: 'Returns all transactions of the pool, by sender and nonce.',
    result: bySenderAndNonce(poolEntryShape),
    example: { result: { pending: {}, queued: {} } },
    handle: contentOf,
  }),
  method('txpool_contentFrom', {
    summary: "Returns the pool's transactions of one sender, by nonce.",
    params: [param('sender', address)],
    result: byNonce(poolEntryShape),
    example: { result: { pending: {}, queued: {} } },
    handle: (context, sender) => {
      const { pending, queued, nameOf } = contentOf(context)
      const isFrom = ({ from }: Transaction): boolean => from === sender
      return { pending: pending.filter(isFrom), queued: queued.filter(isFrom), nameOf }
    },
  }),
  method('txpool_inspect', {
    summary: 'Returns the transactions of the pool as text, by sender and nonce.',
    result: bySenderAndNonce(encodedAs(text, lineOf)),
    example: { result: { pending: {}, queued: {} } },
    handle: contentOf,
  }),
]

function contentOf({ chain, profile }: MethodContext): PoolContent {
  const { pool, tree } = chain.state
  const { world } = headOf(tree)
  return {
    pending: pendingOf(pool, world).map(({ transaction }) => transaction),
    queued: queuedOf(pool, world).map(({ transaction }) => transaction),
    nameOf: profile.poolSender,
  }
}

/** `<to>: <value> wei + <gas limit> gas × <gas price> wei`, in geth's words; for a creation they stand for `to`. */
function lineOf({ to, value, gasLimit, maxFeePerGas }: Transaction): string {
  return `${to ?? 'contract creation'}: ${value} wei + ${gasLimit} gas × ${maxFeePerGas} wei`
}

function bySenderAndNonce(leaf: Encoder<Transaction>): Encoder<PoolContent> {
  return bothLists(
    {
      type: 'object',
      propertyNames: { pattern: '^0x[0-9a-fA-F]{40}$' },
      additionalProperties: nonces(leaf.json),
    },
    (transactions, nameOf) => {
      const senders: Record<string, Record<string, Json>> = {}
      for (const transaction of transactions) {
        const sender = nameOf(transaction.from)
        senders[sender] ??= {}
        senders[sender][transaction.nonce.toString()] = leaf.encode(transaction)
      }
      return senders
    },
  )
}

/** For a single sender. */
function byNonce(leaf: Encoder<Transaction>): Encoder<PoolContent> {
  return bothLists(nonces(leaf.json), (transactions) =>
    Object.fromEntries(transactions.map((each) => [each.nonce.toString(), leaf.encode(each)])),
  )
}

function nonces(leaf: JsonSchema): JsonSchema {
  return {
    type: 'object',
    propertyNames: { pattern: '^[0-9]+$' },
    additionalProperties: leaf,
  }
}

function bothLists(
  json: JsonSchema,
  encode: (transactions: readonly Transaction[], nameOf: PoolContent['nameOf']) => Json,
): Encoder<PoolContent> {
  const half = (of: 'pending' | 'queued'): ShapeField<PoolContent> => ({
    json,
    required: true,
    encode: (content) => encode(content[of], content.nameOf),
  })
  return shape('pool content', { pending: half('pending'), queued: half('queued') })
}
