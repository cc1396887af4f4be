// eth and personal: signatures over messages and structured data, and signed transactions that are not sent.

import {
  messageDigest,
  recoverAddress,
  signatureBytes,
  signatureFromBytes,
  signDigest,
} from '../../core/crypto.ts'
import { DevchainError, printValue } from '../../core/errors.ts'
import type { Address } from '../../core/hex.ts'
import { parseTypedData, type TypedData, typedDataDigest } from '../../core/typeddata.ts'
import { keyWithPassphrase, requireKey } from '../../node/accounts/accounts.ts'
import type { Chain } from '../../node/chain/chain.ts'
import { signRequest } from '../../node/sending/send.ts'
import { type Method, optional, param, secret } from '../../rpc/method.ts'
import { address, data, text } from '../../rpc/primitives.ts'
import type { Decoder } from '../../rpc/schema.ts'
import { type MethodContext, method } from '../common/context.ts'
import { ACCOUNT } from '../common/examples.ts'
import { transactionRequest } from '../wire/decodeobject.ts'

const MESSAGE = '0xdeadbeef'

/** Structured data as an object, or as the JSON text of one, which is what some wallets send. */
const typedData: Decoder<TypedData> = {
  name: 'typed data',
  json: { anyOf: [{ type: 'object' }, { type: 'string' }] },
  decode: (value, path) => {
    try {
      return parseTypedData(typeof value === 'string' ? JSON.parse(value) : value)
    } catch (error) {
      if (error instanceof SyntaxError) {
        const message = `${path}: expected typed data or its JSON text, got ${printValue(value)}`
        throw new DevchainError('INVALID_PARAMS', message)
      }
      if (!(error instanceof DevchainError)) throw error
      throw new DevchainError(error.word, `${path}: ${error.message}`)
    }
  },
}

const sign = method({
  name: 'eth_sign',
  summary: 'Signs a message, with the prefix of the chain’s name, by an unlocked account.',
  params: [param('address', address), param('message', data)],
  result: data,
  example: { params: [ACCOUNT, MESSAGE] },
  handle: ({ chain }, account, message) => signMessage(chain, keyAt(chain, account), message),
})

const personalSign = method({
  name: 'personal_sign',
  summary: 'As eth_sign, the message first; with a passphrase the account may be locked.',
  params: [param('message', data), param('address', address), secret(optional('passphrase', text))],
  result: data,
  example: { params: [MESSAGE, ACCOUNT] },
  handle: async ({ chain }, message, account, passphrase) => {
    const key =
      passphrase === undefined
        ? keyAt(chain, account)
        : await keyWithPassphrase(chain.state.accounts, account, passphrase)
    return signMessage(chain, key, message)
  },
})

const recover = method({
  name: 'personal_ecRecover',
  summary: 'The address that signed a message with eth_sign or personal_sign.',
  params: [param('message', data), param('signature', data)],
  result: address,
  example: { params: [MESSAGE, `0x${'11'.repeat(64)}1b`] },
  handle: ({ chain }, message, signature) =>
    signerOf(messageDigest(message, chain.state.config.options.chainName), signature),
})

const signTypedData = method({
  name: 'eth_signTypedData_v4',
  aliases: ['eth_signTypedData', 'eth_signTypedData_v3'],
  summary: 'Signs structured data (EIP-712) by an unlocked account.',
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
})

const signTransaction = method({
  name: 'eth_signTransaction',
  summary: 'Fills in and signs a transaction by an unlocked account; answers its encoding, unsent.',
  params: [param('transaction', transactionRequest)],
  result: data,
  example: { params: [{ from: ACCOUNT, to: ACCOUNT, gas: '0x5208', nonce: '0x0' }] },
  handle: ({ chain }, request) => signRequest(chain, request),
})

/** @throws {DevchainError} `INVALID_PARAMS` when no key made the signature */
function signerOf(digest: Uint8Array, signature: Uint8Array): Address {
  const parts = signatureFromBytes(signature)
  try {
    return recoverAddress(digest, parts)
  } catch (error) {
    if (!(error instanceof DevchainError)) throw error
    throw new DevchainError('INVALID_PARAMS', `signature: ${error.message}`)
  }
}

function keyAt({ state, environment }: Chain, account: Address): Uint8Array {
  return requireKey(state.accounts, account, environment.now())
}

function signMessage({ state }: Chain, key: Uint8Array, message: Uint8Array): Uint8Array {
  return signatureBytes(signDigest(messageDigest(message, state.config.options.chainName), key))
}

export const signMethods: readonly Method<MethodContext>[] = [
  sign,
  personalSign,
  recover,
  signTypedData,
  signTransaction,
]
