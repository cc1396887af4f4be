// debug: accounts and storage of a block in pages, in the order of their hashes.
import { limitExceeded } from '../../core/errors.ts'
import { type Address, hashFromBytes, hexFromBytes, wordFromBigint } from '../../core/hex.ts'
import { worldBefore } from '../../node/calls/replay.ts'
import { stateAt } from '../../node/chain/lookup.ts'
import { optional, param } from '../../rpc/method.ts'
import { address, asJson, boolean, data, hash, jsonNumber, nullable } from '../../rpc/primitives.ts'
import { type Encoder, invalid, type Json, type Schema } from '../../rpc/schema.ts'
import { addressKey, slotKey } from '../../state/keys.ts'
import {
  type Account,
  accountAt,
  accountsOf,
  emptyStorage,
  type StorageSlot,
  stateRoot,
  storageRoot,
  type World,
} from '../../state/world.ts'
import { type Methods, method } from '../common/context.ts'
import { block } from '../wire/decodeblock.ts'
import { bytes32, field, fieldIfAny, mapOf, shape } from '../wire/encodeobject.ts'
import { ACCOUNT } from '../wire/examples.ts'

/** Accounts per page. */
const MAX_ACCOUNTS = 256

/** Slots per page, including those of accounts. */
const MAX_SLOTS = 100_000

/** The start of a page: a hash or its first bytes; empty for the first page, for which some tools send `0x0`. */
const start: Schema<Uint8Array> = {
  ...data,
  name: 'first bytes of a hash',
  json: { title: 'start', type: 'string', pattern: '^0x(0|([0-9a-fA-F]{2})*)$' },
  decode: (value, path) => (value === '0x0' ? new Uint8Array(0) : data.decode(value, path)),
}

type AccountPage = ReturnType<typeof pageOf>

/** In geth's dump format. */
const accountForm: Encoder<Json> = asJson('account', { type: 'object' })

const accountPage = shape<AccountPage>('accounts', {
  root: field(hash, ({ root }) => root),
  accounts: field(
    mapOf('accounts by address', accountForm),
    (page) =>
      new Map(page.accounts.map((account) => [account.address, accountMembers(account, page)])),
  ),
  next: fieldIfAny(hash, ({ next }) => next),
})

const slotForm = shape<StorageSlot>('slot', {
  key: field(bytes32, ({ slot }) => slot),
  value: field(bytes32, ({ value }) => value),
})

const storagePage = shape<ReturnType<typeof slotsOf>>('storage', {
  storage: field(
    mapOf('slots by hash', slotForm),
    ({ slots }) => new Map(slots.map((each) => [hashFromBytes(slotKey(each.slot)), each])),
  ),
  nextKey: field(nullable(hash), ({ next }) => next),
})

export const debugStateMethods: Methods = [
  method('debug_accountRange', {
    summary: 'Returns up to 256 accounts after a block by hash; {next} starts the next page.',
    params: [
      block,
      optional('start', start, new Uint8Array(0)),
      optional('maxResults', jsonNumber, MAX_ACCOUNTS),
      optional('nocode', boolean, false),
      optional('nostorage', boolean, false),
      // geth lists accounts with unknown addresses only if asked; here there are none
      optional('incompletes', boolean, false),
    ],
    result: accountPage,
    example: { params: ['latest', '0x', 1, true, true, false] },
    onFork: 'state',
    handle: async ({ chain, caller }, block, first, maxResults, withoutCode, withoutStorage) => {
      const { world } = await stateAt(chain, block, caller)
      return pageOf(world, first, maxResults, !withoutCode, !withoutStorage)
    },
  }),
  method('debug_dumpBlock', {
    summary: 'Returns the first 256 accounts after a block, with code and storage.',
    params: [block],
    result: accountPage,
    onFork: 'state',
    handle: async ({ chain, caller }, block) =>
      pageOf((await stateAt(chain, block, caller)).world, new Uint8Array(0), 0, true, true),
  }),
  method('debug_storageRangeAt', {
    summary: 'Returns slots before the transaction at an index; {nextKey} starts the next page.',
    params: [
      block,
      param('index', jsonNumber),
      param('address', address),
      optional('start', start, new Uint8Array(0)),
      optional('limit', jsonNumber, 1024),
    ],
    result: storagePage,
    example: {
      params: ['latest', '0x0', ACCOUNT, '0x', 10],
      result: { storage: {}, nextKey: null },
    },
    onFork: 'network',
    handle: async ({ chain, caller }, block, index, contract, first, limit) =>
      slotsOf(await worldBefore(chain, block, index, caller), contract, first, limit),
  }),
]

/** The first that does not fit begins the next page. */
function pageOf(
  world: World,
  first: Uint8Array,
  maxResults: number,
  withCode: boolean,
  withStorage: boolean,
) {
  // geth's way to ask for the maximum
  const count = maxResults === 0 || maxResults > MAX_ACCOUNTS ? MAX_ACCOUNTS : maxResults
  const [accounts, following] = firstOf(accountsOf(world, keyFrom(first)), count)
  const next = following && hashFromBytes(addressKey(following.address))
  return { root: stateRoot(world), accounts, next, withCode, withStorage }
}

function slotsOf(world: World, contract: Address, first: Uint8Array, limit: number) {
  const storage = accountAt(world, contract)?.storage ?? emptyStorage
  const [slots, following] = firstOf(storage.values(keyFrom(first)), Math.min(limit, MAX_SLOTS))
  return { slots, next: following && hashFromBytes(slotKey(following.slot)) }
}

/** So many items, and the one after them. */
function firstOf<T>(items: Iterable<T>, count: number): readonly [readonly T[], T | undefined] {
  const taken: T[] = []
  for (const item of items) {
    if (taken.length === count) return [taken, item]
    taken.push(item)
  }
  return [taken, undefined]
}

/** In geth's dump format: the balance decimal, storage words as digits. */
function accountMembers(account: Account, { withCode, withStorage }: AccountPage): Json {
  const { balance, nonce, codeHash, code } = account
  return {
    balance: balance.toString(),
    nonce: Number(nonce),
    root: storageRoot(account),
    codeHash,
    code: withCode && code.length > 0 ? hexFromBytes(code) : undefined,
    storage: withStorage && !account.storage.isEmpty ? storageMembers(account) : undefined,
    address: account.address,
    key: hashFromBytes(addressKey(account.address)),
  }
}

function storageMembers(account: Account): Json {
  const members: Record<string, Json> = {}
  let count = 0
  for (const { slot, value } of account.storage.values()) {
    count += 1
    if (count > MAX_SLOTS) {
      const message = `${account.address} has more than ${MAX_SLOTS} slots: ask with nostorage, and for its slots with debug_storageRangeAt`
      throw limitExceeded(message)
    }
    members[wordFromBigint(slot)] = value.toString(16).padStart(2, '0')
  }
  return members
}

/** Pads the given bytes to a key of 32 bytes. */
function keyFrom(first: Uint8Array): Uint8Array {
  if (first.length > 32) throw invalid('start', 'up to 32 bytes', first.length)
  const key = new Uint8Array(32)
  key.set(first)
  return key
}
