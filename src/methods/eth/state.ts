// eth: accounts at a block, and proofs of them.
import { invalidParams, limitExceeded } from '../../core/errors.ts'
import { type Address, type Hash, quantityFromBigint, wordFromBigint } from '../../core/hex.ts'
import { nextTurn } from '../../core/yield.ts'
import { readBlock, readState, stateAt } from '../../node/chain/lookup.ts'
import { headOf } from '../../node/ledger/blocktree.ts'
import {
  balanceAfter,
  codeAfter,
  nonceAfter,
  slotAfter,
} from '../../node/ledger/packing/oldstate.ts'
import { nextNonce } from '../../node/pool/pool.ts'
import { optional, param } from '../../rpc/method.ts'
import { address, asJson, data, hash, list, quantity } from '../../rpc/primitives.ts'
import type { Encoder, Schema } from '../../rpc/schema.ts'
import { addressKey, slotKey } from '../../state/keys.ts'
import {
  type Account,
  accountOrEmpty,
  slotValue,
  storageAt,
  storageRoot,
  type World,
} from '../../state/world.ts'
import { type Methods, method } from '../common/context.ts'
import { blockOrLatest, isPending } from '../wire/decodeblock.ts'
import { keyed } from '../wire/decodeobject.ts'
import {
  accountInfo,
  bytes32,
  field,
  mapOf,
  plain,
  quantityResult,
  shape,
  wei,
} from '../wire/encodeobject.ts'
import { ACCOUNT } from '../wire/examples.ts'

/** A slot as requested. */
interface StorageKey {
  readonly slot: bigint
  /** Its form in the reply: 32 bytes if requested so, else a QUANTITY (geth's rule). */
  readonly key: string
}

const storageKey: Schema<StorageKey> = {
  ...quantity,
  encode: ({ slot }) => wordFromBigint(slot),
  decode: (value, path) => {
    const slot = quantity.decode(value, path)
    const isWord = typeof value === 'string' && /^0x.{64}$/.test(value)
    return { slot, key: isWord ? wordFromBigint(slot) : quantityFromBigint(slot) }
  },
}

/** A slot with the trie nodes that lead to it, or to where it would be. */
interface SlotProof extends StorageKey {
  readonly value: bigint
  readonly nodes: readonly Uint8Array[]
}

const keyResult: Encoder<string> = asJson('storage key', {
  anyOf: [hash.json, quantityResult.json],
})

const slotProofShape = shape<SlotProof>('storage proof', {
  ...plain({ key: keyResult, value: quantityResult }),
  proof: field(list(data), ({ nodes }) => nodes),
})

/** The account proof of spec 2.8. */
const accountProofShape = shape<Awaited<ReturnType<typeof proofOf>>>('account proof', {
  address: field(address, ({ account }): Address => account.address),
  balance: field(quantityResult, ({ account }) => account.balance),
  codeHash: field(hash, ({ account }): Hash => account.codeHash),
  nonce: field(quantityResult, ({ account }) => account.nonce),
  storageHash: field(hash, ({ account }) => storageRoot(account)),
  accountProof: field(list(data), ({ nodes }) => nodes),
  storageProof: field(list(slotProofShape), ({ slots }) => slots),
})

export const stateMethods: Methods = [
  method('eth_getBalance', {
    summary: 'Returns the balance of an account, in wei.',
    params: [param('address', address), blockOrLatest],
    result: wei,
    example: { result: '0x21e19e0c9bab2400000' },
    onFork: 'here',
    handle: ({ chain, caller }, account, block) =>
      readBlock(chain, block, (record) => balanceAfter(record, account), caller),
  }),
  method('eth_getStorageAt', {
    summary: 'Returns the 32 bytes in a storage slot; zero if it is unset.',
    params: [param('address', address), param('position', quantity), blockOrLatest],
    result: { ...bytes32, unit: 'bytes' },
    example: { params: [ACCOUNT, '0x0', 'latest'], result: `0x${'00'.repeat(32)}` },
    onFork: 'slot',
    handle: ({ chain, caller }, account, position, block) =>
      readBlock(chain, block, (record) => slotAfter(record, account, position), caller),
  }),
  method('eth_getTransactionCount', {
    summary: 'Returns the nonce of an account; `pending` counts transactions in the pool.',
    params: [param('address', address), blockOrLatest],
    result: quantityResult,
    example: { result: '0x0' },
    onFork: 'here',
    handle: ({ chain, caller }, account, block) => {
      if (isPending(block))
        return nextNonce(chain.state.pool, headOf(chain.state.tree).world, account)
      return readBlock(chain, block, (record) => nonceAfter(record, account), caller)
    },
  }),
  method('eth_getCode', {
    summary: 'Returns the code of an account; 0x if it has none.',
    params: [param('address', address), blockOrLatest],
    result: data,
    example: { result: '0x' },
    onFork: 'here',
    handle: ({ chain, caller }, account, block) =>
      readBlock(chain, block, (record) => codeAfter(record, account), caller),
  }),
  method('eth_getAccount', {
    summary: 'Returns nonce, balance, code hash and storage root of an account; empty if unknown.',
    params: [param('address', address), blockOrLatest],
    result: shape<Account>('account', {
      ...plain({ balance: quantityResult, codeHash: hash, nonce: quantityResult }),
      storageRoot: field(hash, storageRoot),
    }),
    onFork: 'account',
    handle: ({ chain, caller }, account, block) =>
      readState(chain, block, ({ world }) => accountOrEmpty(world, account), caller),
  }),
  method('eth_getAccountInfo', {
    summary: 'Returns balance, nonce and code of an account.',
    params: [param('address', address), blockOrLatest],
    result: accountInfo,
    example: { result: { balance: '0x21e19e0c9bab2400000', nonce: '0x0', code: '0x' } },
    onFork: 'here',
    handle: ({ chain, caller }, account, block) =>
      readState(chain, block, ({ world }) => accountOrEmpty(world, account), caller),
  }),
  method('eth_getStorageValues', {
    summary: 'Returns many storage slots of many accounts, in the requested order.',
    params: [param('slots', keyed('storage slots', address, list(quantity))), blockOrLatest],
    result: mapOf('storage values', list(bytes32)),
    example: {
      params: [{ [ACCOUNT]: ['0x0'] }, 'latest'],
      result: { [ACCOUNT]: [`0x${'00'.repeat(32)}`] },
    },
    onFork: 'here',
    handle: async ({ chain, caller }, slots, block) => {
      if (slots.size === 0) {
        throw invalidParams('slots: expected slots of one account at least, got none')
      }
      const { world } = await stateAt(chain, block, caller)
      const wordsOf = (account: Address, asked: readonly bigint[]): readonly bigint[] =>
        asked.map((slot) => storageAt(world, account, slot))
      return new Map([...slots].map(([account, asked]) => [account, wordsOf(account, asked)]))
    },
  }),
  method('eth_getProof', {
    summary: 'Returns an account and storage slots, with Merkle proofs to the state root.',
    params: [
      param('address', address),
      optional('storageKeys', list(storageKey), []),
      blockOrLatest,
    ],
    result: accountProofShape,
    example: { params: ['0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266', [], 'latest'] },
    onFork: 'proof',
    handle: async ({ chain, caller, profile }, account, keys, block) => {
      const { world } = await stateAt(chain, block, caller)
      return proofOf(world, account, keys, profile.emptyTrieProof)
    },
  }),
]

/** Limit per request, as in geth: a slot of a large contract has about 4 KB of nodes. */
const MAX_SLOTS = 1_024

/** Slots proven before other work gets a turn: in a large contract each takes long. */
const SLOTS_A_TURN = 30

/**
 * A missing account is proven absent, and has the members of an empty one (EIP-1186).
 * @param empty the proof for an empty trie
 * @throws {DevchainError} `LIMIT_EXCEEDED` for more than 1,024 slots
 */
async function proofOf(
  world: World,
  address: Address,
  keys: readonly StorageKey[],
  empty: readonly Uint8Array[],
) {
  if (keys.length > MAX_SLOTS) {
    throw limitExceeded(`storageKeys: expected at most ${MAX_SLOTS}, got ${keys.length}`)
  }
  const account = accountOrEmpty(world, address)
  const proofs: SlotProof[] = []
  for (const { slot, key } of keys) {
    const value = slotValue(account.storage, slot)
    const nodes = account.storage.proof(slotKey(slot), slot)
    proofs.push({ slot, key, value, nodes: nodes.length === 0 ? empty : nodes })
    if (proofs.length % SLOTS_A_TURN === 0) await nextTurn()
  }
  return { account, nodes: world.accounts.proof(addressKey(address), address), slots: proofs }
}
