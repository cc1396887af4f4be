// eth: transactions that are mined under terms of their senders.
import type { Hash } from '../../core/hex.ts'
import type { Terms } from '../../node/pool/conditions.ts'
import { sendConditional } from '../../node/sending/send.ts'
import { type Method, optional, param } from '../../rpc/method.ts'
import { address, data, hash, quantity } from '../../rpc/primitives.ts'
import type { Decoder } from '../../rpc/schema.ts'
import { type MethodContext, method } from '../common/context.ts'
import { keyed, members, refined } from '../wire/decodeobject.ts'

const slotWords: Decoder<ReadonlyMap<bigint, bigint>> = refined(
  keyed('words by slot', quantity),
  (words, path) =>
    new Map([...words].map(([slot, word]) => [quantity.decode(slot, `${path}.${slot}`), word])),
)

/** The root of an account's storage, or words by slot. */
const storageTerms: Decoder<Hash | ReadonlyMap<bigint, bigint>> = {
  name: 'storage root or words by slot',
  json: { anyOf: [hash.json, slotWords.json] },
  decode: (value, path) =>
    typeof value === 'string' ? hash.decode(value, path) : slotWords.decode(value, path),
}

const knownAccounts = refined(
  keyed('known accounts', storageTerms),
  (accounts, path) =>
    new Map([...accounts].map(([key, value]) => [address.decode(key, `${path}.${key}`), value])),
)

/** @see https://eips.ethereum.org/EIPS/eip-7796 */
const terms: Decoder<Terms> = refined(
  members('conditions', {
    knownAccounts,
    blockNumberMin: quantity,
    blockNumberMax: quantity,
    timestampMin: quantity,
    timestampMax: quantity,
  }),
  ({ knownAccounts: accounts, ...ranges }) => ({ accounts, ...ranges }),
)

const sendRawConditional = method({
  name: 'eth_sendRawTransactionConditional',
  summary:
    'As eth_sendRawTransaction, for a block of some number and time, and for storage as it is expected; refused or dropped otherwise.',
  params: [param('raw', data), optional('conditions', terms, {})],
  result: hash,
  example: { params: ['0x02f86521808080825208947099', { blockNumberMax: '0x64' }] },
  writes: 'transaction',
  handle: ({ chain, caller }, raw, conditions) =>
    sendConditional(chain, raw, conditions, caller.isWaiting),
})

export const conditionalMethods: readonly Method<MethodContext>[] = [sendRawConditional]
