// eth: the parts of sending one by one: filling in what was left out, and waiting for the receipt.

import { DevchainError, printValue } from '../../core/errors.ts'
import { type Hash, ZERO_ADDRESS } from '../../core/hex.ts'
import { estimateGas } from '../../node/calls/call.ts'
import { pendingReference } from '../../node/ledger/references.ts'
import { inclusionOf } from '../../node/sending/inclusion.ts'
import { fillTransaction, sendRawTransaction, sendTransaction } from '../../node/sending/send.ts'
import { type Transaction, withoutSignature } from '../../protocol/transaction.ts'
import { type Method, optional, param } from '../../rpc/method.ts'
import { data, quantityNumber } from '../../rpc/primitives.ts'
import type { Decoder } from '../../rpc/schema.ts'
import { type MethodContext, method } from '../common/context.ts'
import { TRANSFER } from '../common/examples.ts'
import { viewOfReceipt } from '../common/views.ts'
import { transactionRequest } from '../wire/decodeobject.ts'
import {
  type ReceiptView,
  receiptShape,
  transactionShape,
  viewOfPooled,
} from '../wire/encodeblock.ts'
import { encodedAs, field, shape } from '../wire/encodeobject.ts'

/** How long a receipt is waited for: geth's numbers. */
const USUAL_WAIT_MS = 20_000
const LONGEST_WAIT_MS = 60_000

const timeout: Decoder<number> = {
  name: 'milliseconds',
  json: quantityNumber.json,
  decode: (value, path) => {
    const milliseconds = quantityNumber.decode(value, path)
    if (milliseconds >= 1 && milliseconds <= LONGEST_WAIT_MS) return milliseconds
    const message = `${path}: expected 1 to ${LONGEST_WAIT_MS} milliseconds, got ${printValue(value)}`
    throw new DevchainError('INVALID_PARAMS', message)
  },
}

/**
 * Gas that is not given is estimated, whatever `eth_sendTransaction` would take, so that what would fail is not filled
 * in but refused with the reason.
 */
const fill = method({
  name: 'eth_fillTransaction',
  summary:
    'A transaction with nonce, gas, fees and type filled in, unsigned; one that would fail is refused.',
  params: [param('transaction', transactionRequest)],
  result: shape<Transaction>('filled transaction', {
    raw: field(data, ({ raw }) => raw),
    tx: field(encodedAs(transactionShape, viewOfPooled), (transaction) => transaction),
  }),
  example: { params: [TRANSFER] },
  handle: async ({ chain, caller }, given) => {
    const isAwaited = caller.isWaiting
    const request = { ...given, from: given.from ?? ZERO_ADDRESS }
    const gas = request.gas ?? (await estimateGas(chain, request, pendingReference, { isAwaited }))
    return withoutSignature(await fillTransaction(chain, { ...request, gas }), request.from)
  },
})

const sendRawSync = method({
  name: 'eth_sendRawTransactionSync',
  summary:
    'Sends a signed transaction and answers its receipt; error 4 with the hash when it is not mined in time (EIP-7966).',
  params: [param('raw', data), optional('timeout', timeout, USUAL_WAIT_MS)],
  result: receiptShape,
  example: { params: ['0x02f86521808080825208947099'] },
  writes: 'transaction',
  handle: async (context, raw, milliseconds) =>
    receiptOf(
      context,
      await sendRawTransaction(context.chain, raw, context.caller.isWaiting),
      milliseconds,
    ),
})

const sendSync = method({
  name: 'eth_sendTransactionSync',
  summary:
    'Signs a transaction with an unlocked account, sends it and answers its receipt; error 4 when it is not mined in time.',
  params: [param('transaction', transactionRequest), optional('timeout', timeout, USUAL_WAIT_MS)],
  result: receiptShape,
  example: { params: [TRANSFER] },
  writes: 'transaction',
  handle: async (context, request, milliseconds) =>
    receiptOf(
      context,
      await sendTransaction(context.chain, request, context.caller.isWaiting),
      milliseconds,
    ),
})

async function receiptOf(
  context: MethodContext,
  hash: Hash,
  milliseconds: number,
): Promise<ReceiptView> {
  return viewOfReceipt(context, await inclusionOf(context.chain, hash, milliseconds))
}

export const fillMethods: readonly Method<MethodContext>[] = [fill, sendRawSync, sendSync]
