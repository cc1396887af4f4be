// eth: sending transactions, immediately or under conditions, with or without waiting for the receipt; and signing them,
// messages and structured data.
import { signatureBytes, signDigest } from '../../core/crypto/crypto.ts'
import { DevchainError } from '../../core/errors.ts'
import { type Hash, ZERO_ADDRESS } from '../../core/hex.ts'
import { parseTypedData, type TypedData, typedDataDigest } from '../../core/typeddata.ts'
import { estimateGas } from '../../node/calls/estimate.ts'
import { pendingReference } from '../../node/ledger/references.ts'
import type { Conditions } from '../../node/pool/conditions.ts'
import { fillTransaction } from '../../node/sending/fill.ts'
import { inclusionOf } from '../../node/sending/inclusion.ts'
import { resend } from '../../node/sending/replace.ts'
import { sendRawTransaction, sendTransaction } from '../../node/sending/send.ts'
import { signRequest } from '../../node/sending/sign.ts'
import { type Transaction, withoutSignature } from '../../protocol/transactions/transaction.ts'
import { optional, param } from '../../rpc/method.ts'
import { address, data, hash, quantity, quantityNumber } from '../../rpc/primitives.ts'
import { type Decoder, invalid } from '../../rpc/schema.ts'
import { type MethodContext, type Methods, method } from '../common/context.ts'
import { keyAt, signMessage } from '../common/sign.ts'
import { viewOfReceipt } from '../common/views.ts'
import { either, isText, keyed, members, refined } from '../wire/decodeobject.ts'
import { raw, transaction } from '../wire/decodetransaction.ts'
import { encodedAs, field, shape } from '../wire/encodeobject.ts'
import { type ReceiptView, receiptShape } from '../wire/encodereceipt.ts'
import { transactionShape, viewOfPooled } from '../wire/encodetransaction.ts'
import { ACCOUNT, MESSAGE, TRANSFER } from '../wire/examples.ts'

const slotWords = keyed('words by slot', quantity, quantity)

/** By account: its storage root, or values by slot. */
const knownAccounts = keyed(
  'known accounts',
  address,
  either('storage root or words by slot', isText, hash, slotWords),
)

/** @see https://eips.ethereum.org/EIPS/eip-7796 */
const conditions: Decoder<Conditions> = refined(
  members('conditions', {
    knownAccounts,
    blockNumberMin: quantity,
    blockNumberMax: quantity,
    timestampMin: quantity,
    timestampMax: quantity,
  }),
  ({ knownAccounts: accounts, ...ranges }) => ({ accounts, ...ranges }),
)

/** Milliseconds to wait for a receipt, as in geth. */
const USUAL_WAIT_MS = 20_000

const LONGEST_WAIT_MS = 60_000

const timeout: Decoder<number> = {
  name: 'milliseconds',
  json: quantityNumber.json,
  decode: (value, path) => {
    const milliseconds = quantityNumber.decode(value, path)
    if (milliseconds >= 1 && milliseconds <= LONGEST_WAIT_MS) return milliseconds
    throw invalid(path, `1 to ${LONGEST_WAIT_MS} milliseconds`, value)
  },
}

/** An object, or its JSON text, which some wallets send. */
const typedData: Decoder<TypedData> = {
  name: 'typed data',
  json: { anyOf: [{ type: 'object' }, { type: 'string' }] },
  decode: (value, path) => {
    try {
      return parseTypedData(typeof value === 'string' ? JSON.parse(value) : value)
    } catch (error) {
      if (error instanceof SyntaxError) throw invalid(path, 'typed data or its JSON text', value)
      if (!(error instanceof DevchainError)) throw error
      throw new DevchainError(error.word, `${path}: ${error.message}`)
    }
  },
}

export const sendMethods: Methods = [
  method('eth_sendRawTransactionConditional', {
    summary: 'Sends a signed transaction under conditions on block number, time and storage.',
    params: [raw, optional('conditions', conditions, {})],
    result: hash,
    example: { params: ['0x02f86521808080825208947099', { blockNumberMax: '0x64' }] },
    effects: 'transaction',
    handle: ({ chain, caller }, raw, conditions) =>
      sendRawTransaction(chain, raw, caller, conditions),
  }),
  method('eth_sendTransaction', {
    summary: 'Signs and sends a transaction; instant mining mines it before the response.',
    params: [transaction],
    result: hash,
    effects: 'transaction',
    handle: ({ chain, caller }, request) => sendTransaction(chain, request, caller),
  }),
  method('eth_sendUnsignedTransaction', {
    summary: 'Sends a transaction of any account, unsigned, as if impersonated.',
    params: [transaction],
    result: hash,
    effects: 'transaction',
    handle: ({ chain, caller }, request) => sendTransaction(chain, request, caller, 'nobody'),
  }),
  method('eth_sendRawTransaction', {
    summary: 'Sends a signed transaction and, under instant mining, mines it before the response.',
    params: [raw],
    result: hash,
    effects: 'transaction',
    handle: ({ chain, caller }, raw) => sendRawTransaction(chain, raw, caller),
  }),
  method('eth_resend', {
    summary: 'Replaces a pending transaction with another gas price or gas limit.',
    params: [transaction, optional('gasPrice', quantity), optional('gasLimit', quantity)],
    result: hash,
    example: { params: [{ ...TRANSFER, nonce: '0x0' }, '0x3b9aca00'] },
    effects: 'transaction',
    handle: ({ chain, caller }, request, gasPrice, gasLimit) =>
      resend(chain, request, { gasPrice, gasLimit }, caller),
  }),
  /**
   * Missing gas is always estimated, even if `eth_sendTransaction` would use a default, so that a failing transaction is
   * refused with its reason.
   */
  method('eth_fillTransaction', {
    summary: 'Fills in nonce, gas, fees and type of a transaction; returns it unsigned.',
    params: [transaction],
    result: shape<Transaction>('filled transaction', {
      raw: field(data, ({ raw }) => raw),
      tx: field(encodedAs(transactionShape, viewOfPooled), (transaction) => transaction),
    }),
    handle: async ({ chain, caller }, given) => {
      const cancellation = caller
      const request = { ...given, from: given.from ?? ZERO_ADDRESS }
      const gas =
        request.gas ?? (await estimateGas(chain, request, pendingReference, { cancellation }))
      return withoutSignature(await fillTransaction(chain, { ...request, gas }), request.from)
    },
  }),
  method('eth_sendRawTransactionSync', {
    summary:
      'Sends a signed transaction and returns its receipt, or error 4 on timeout (EIP-7966).',
    params: [raw, optional('timeout', timeout, USUAL_WAIT_MS)],
    result: receiptShape,
    effects: 'transaction',
    handle: async (context, raw, milliseconds) =>
      receiptOf(context, sendRawTransaction(context.chain, raw, context.caller), milliseconds),
  }),
  method('eth_sendTransactionSync', {
    summary: 'Signs and sends a transaction; returns its receipt, or error 4 on timeout.',
    params: [transaction, optional('timeout', timeout, USUAL_WAIT_MS)],
    result: receiptShape,
    effects: 'transaction',
    handle: async (context, request, milliseconds) =>
      receiptOf(context, sendTransaction(context.chain, request, context.caller), milliseconds),
  }),
  method('eth_sign', {
    summary: "Signs a message with an unlocked account, after the chain's prefix.",
    params: [param('address', address), param('message', data)],
    result: data,
    example: { params: [ACCOUNT, MESSAGE] },
    handle: ({ chain }, account, message) => signMessage(chain, keyAt(chain, account), message),
  }),
  method('eth_signTypedData_v4', {
    aliases: ['eth_signTypedData', 'eth_signTypedData_v3'],
    summary: 'Signs typed data (EIP-712) with an unlocked account.',
    params: [param('address', address), param('typedData', typedData)],
    result: data,
    example: {
      params: [
        ACCOUNT,
        {
          types: { Note: [{ name: 'text', type: 'string' }] },
          primaryType: 'Note',
          domain: { name: 'Example', chainId: 33 },
          message: { text: 'hello' },
        },
      ],
    },
    handle: ({ chain }, account, typed) =>
      signatureBytes(signDigest(typedDataDigest(typed), keyAt(chain, account))),
  }),
  method('eth_signTransaction', {
    summary: 'Fills in and signs a transaction with an unlocked account, without sending it.',
    params: [transaction],
    result: data,
    example: { params: [{ from: ACCOUNT, to: ACCOUNT, gas: '0x5208', nonce: '0x0' }] },
    handle: ({ chain }, request) => signRequest(chain, request),
  }),
]

async function receiptOf(
  context: MethodContext,
  sent: Promise<Hash>,
  milliseconds: number,
): Promise<ReceiptView> {
  return viewOfReceipt(context, await inclusionOf(context.chain, await sent, milliseconds))
}
