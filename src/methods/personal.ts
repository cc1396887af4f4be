// personal: accounts whose keys the node holds, encrypted in memory.
import { messageDigest, recoverAddress, signatureFromBytes } from '../core/crypto/crypto.ts'
import { DevchainError, invalidParams } from '../core/errors.ts'
import { number } from '../core/format.ts'
import { type Address, bytesFromHex } from '../core/hex.ts'
import type { MaybePromise } from '../core/promises.ts'
import {
  type AccountBook,
  addresses,
  importKey,
  keyWithPassphrase,
  lock,
  newAccountWithSeed,
  requireKey,
  unlock,
} from '../node/accounts/accounts.ts'
import type { EncryptionOptions } from '../node/accounts/keystore.ts'
import type { Chain } from '../node/chain/chain.ts'
import { sendWithPassphrase } from '../node/sending/send.ts'
import { signRequest } from '../node/sending/sign.ts'
import { optional, param, secret } from '../rpc/method.ts'
import { address, boolean, data, hash, list, text } from '../rpc/primitives.ts'
import { type Decoder, invalid } from '../rpc/schema.ts'
import { exchange } from './common/command.ts'
import { type Methods, method } from './common/context.ts'
import { keyAt, signMessage } from './common/sign.ts'
import { transaction } from './wire/decodetransaction.ts'
import { ACCOUNT, MESSAGE } from './wire/examples.ts'

/** Milliseconds that a new account, or one unlocked without a duration, stays unlocked. */
const DEFAULT_UNLOCK_MS = 30 * 60 * 1000

const KEY = `0x${'11'.repeat(32)}`

/** A private key, with or without 0x. Messages never show it. */
const privateKey: Decoder<Uint8Array> = {
  name: 'private key',
  json: { type: 'string', pattern: '^(0x)?[0-9a-fA-F]{64}$' },
  decode: (value, path) => {
    if (typeof value === 'string' && /^(0x)?[0-9a-fA-F]{64}$/.test(value)) {
      return bytesFromHex(value.startsWith('0x') ? value : `0x${value}`)
    }
    throw invalidParams(`${path}: expected a private key, 32 bytes of hex; got ${typeof value}`)
  },
}

/**
 * In milliseconds: a JSON number or decimal text is seconds, as in geth (0: no
 * end); 0x text is milliseconds, as in the specification's node; empty text is the default.
 */
const unlockDuration: Decoder<number> = {
  name: 'duration',
  json: { anyOf: [{ type: 'number', minimum: 0 }, { type: 'string' }] },
  decode: (value, path) => {
    if (value === '') return DEFAULT_UNLOCK_MS
    if (typeof value === 'string' && /^0x[0-9a-fA-F]{1,12}$/.test(value)) return Number(value)
    const isDecimal = typeof value === 'string' && /^\d{1,12}$/.test(value)
    const seconds = isDecimal ? Number(value) : value
    if (typeof seconds === 'number' && seconds >= 0 && seconds <= 1e12) {
      return seconds === 0 ? Number.POSITIVE_INFINITY : seconds * 1000
    }
    throw invalid(path, 'a duration: seconds as a number, or milliseconds as 0x hex', value)
  },
}

export const personalMethods: Methods = [
  method('personal_listAccounts', {
    summary: 'Returns the addresses that this node has keys for, locked ones included.',
    result: list(address, 'account'),
    handle: ({ chain }) => addresses(chain.state.accounts),
  }),
  method('personal_newAccount', {
    summary: 'Creates an account encrypted with the passphrase; unlocked for 30 minutes.',
    params: [secret(param('passphrase', text))],
    result: address,
    example: { params: ['secret'] },
    effects: 'chain',
    handle: ({ chain }, passphrase) =>
      adopt(chain, (book, until, encryption) =>
        importKey(book, encryption.random(32), passphrase, until, encryption),
      ),
  }),
  method('personal_newAccountWithSeed', {
    summary: 'Creates the account whose key is the Keccak-256 of the seed; unlocked.',
    params: [secret(param('seed', text))],
    result: address,
    example: { params: ['cow'], result: '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826' },
    effects: 'chain',
    handle: ({ chain }, seed) => adopt(chain, (book) => newAccountWithSeed(book, seed)),
  }),
  method('personal_importRawKey', {
    summary: 'Adds a private key, encrypted with the passphrase; unlocked for 30 minutes.',
    params: [secret(param('key', privateKey)), secret(param('passphrase', text))],
    result: address,
    example: { params: [KEY, 'secret'], result: '0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a' },
    effects: 'chain',
    handle: ({ chain }, key, passphrase) =>
      adopt(chain, (book, until, encryption) =>
        importKey(book, key, passphrase, until, encryption),
      ),
  }),
  method('personal_dumpRawKey', {
    summary: 'Returns the private key of an unlocked account.',
    params: [param('address', address)],
    result: data,
    isResultSecret: true,
    example: { result: '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80' },
    handle: ({ chain }, account) =>
      requireKey(chain.state.accounts, account, chain.environment.now()),
  }),
  method('personal_lockAccount', {
    summary: 'Locks an account; false if it is locked or unknown.',
    params: [param('address', address)],
    result: boolean,
    example: { result: true },
    effects: 'chain',
    describe: ([account]) => `locked ${account}`,
    handle: ({ chain }, account) =>
      exchange(chain, (book) => lock(book, account, chain.environment.now())),
  }),
  method('personal_unlockAccount', {
    summary: 'Unlocks an account for seconds (0x hex: milliseconds); default 30 min, 0 for good.',
    params: [
      param('address', address),
      secret(param('passphrase', text)),
      optional('duration', unlockDuration, DEFAULT_UNLOCK_MS),
    ],
    result: boolean,
    example: { params: [ACCOUNT, '', 60], result: true },
    effects: 'chain',
    describe: ([account, , duration]) =>
      `unlocked ${account} ${Number.isFinite(duration) ? `for ${number(duration / 1000)} s` : 'for good'}`,
    handle: ({ chain }, account, passphrase, duration) =>
      exchange(chain, (book) => {
        const until = chain.environment.now() + duration
        return book.held.has(account) ? unlock(book, account, passphrase, until) : undefined
      }),
  }),
  method('personal_sendTransaction', {
    aliases: ['personal_signAndSendTransaction'],
    summary: 'Signs with the passphrase and sends a transaction, even of a locked account.',
    params: [transaction, secret(param('passphrase', text))],
    result: hash,
    example: { params: [{ from: ACCOUNT, to: ACCOUNT }, ''] },
    effects: 'transaction',
    handle: ({ chain, caller }, request, passphrase) =>
      sendWithPassphrase(chain, request, passphrase, caller),
  }),
  method('personal_signTransaction', {
    summary: 'Fills in and signs a transaction with a passphrase; returns it without sending it.',
    params: [transaction, secret(param('passphrase', text))],
    result: data,
    example: { params: [{ from: ACCOUNT, to: ACCOUNT, gas: '0x5208', nonce: '0x0' }, ''] },
    handle: ({ chain }, request, passphrase) => signRequest(chain, request, passphrase),
  }),
  method('personal_sign', {
    summary: 'Signs like eth_sign, the message first; with a passphrase also for a locked account.',
    params: [
      param('message', data),
      param('address', address),
      secret(optional('passphrase', text)),
    ],
    result: data,
    example: { params: [MESSAGE, ACCOUNT] },
    handle: async ({ chain }, message, account, passphrase) => {
      const key =
        passphrase === undefined
          ? keyAt(chain, account)
          : await keyWithPassphrase(chain.state.accounts, account, passphrase)
      return signMessage(chain, key, message)
    },
  }),
  method('personal_ecRecover', {
    summary: 'Returns the address that signed a message with eth_sign or personal_sign.',
    params: [param('message', data), param('signature', data)],
    result: address,
    example: { params: [MESSAGE, `0x${'11'.repeat(64)}1b`] },
    handle: ({ chain }, message, signature) =>
      signerOf(messageDigest(message, chain.state.config.options.chainName), signature),
  }),
]

/** Adds an account; `until` is the end of its first unlocking, as wall time in milliseconds. */
function adopt(
  chain: Chain,
  make: (
    book: AccountBook,
    until: number,
    encryption: EncryptionOptions,
  ) => MaybePromise<{ readonly book: AccountBook; readonly address: Address }>,
): Promise<Address> {
  const { environment } = chain
  return chain.update(async (state) => {
    const random = (length: number): Uint8Array => environment.random(length)
    const encryption = { cost: state.config.scryptCost, random }
    const until = environment.now() + DEFAULT_UNLOCK_MS
    const { book, address: account } = await make(state.accounts, until, encryption)
    return { state: { ...state, accounts: book }, value: account }
  })
}

/** @throws {DevchainError} `INVALID_PARAMS` for a signature that no key made */
function signerOf(digest: Uint8Array, signature: Uint8Array): Address {
  const parts = signatureFromBytes(signature)
  try {
    return recoverAddress(digest, parts)
  } catch (error) {
    if (!(error instanceof DevchainError)) throw error
    throw invalidParams(`signature: ${error.message}`)
  }
}
