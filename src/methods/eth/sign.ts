// eth: signing messages, structured data and transactions, without sending.

import { signatureBytes, signDigest } from '../../core/crypto/crypto.ts'
import { DevchainError } from '../../core/errors.ts'
import { parseTypedData, type TypedData, typedDataDigest } from '../../core/typeddata.ts'
import { signRequest } from '../../node/sending/sign.ts'
import { param } from '../../rpc/method.ts'
import { address, data } from '../../rpc/primitives.ts'
import { type Decoder, invalid } from '../../rpc/schema.ts'
import { type Methods, method } from '../common/context.ts'
import { keyAt, signMessage } from '../common/sign.ts'
import { transaction } from '../wire/decodetransaction.ts'
import { ACCOUNT, MESSAGE } from '../wire/examples.ts'

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

export const signMethods: Methods = [
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
