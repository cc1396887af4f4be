// eth: proofs of accounts and storage against a block's state root.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { DevchainError } from '../../core/errors.ts'
import type { Address, Hash } from '../../core/hex.ts'
import { recordAt } from '../../node/chain/lookup.ts'
import { type Method, optional, param } from '../../rpc/method.ts'
import { address, data, hash, list, quantity } from '../../rpc/primitives.ts'
import { addressKey, slotKey } from '../../state/keys.ts'
import {
  type Account,
  accountAt,
  emptyAccount,
  slotValue,
  storageRoot,
  type World,
} from '../../state/world.ts'
import { type MethodContext, method } from '../common/context.ts'
import { blockReference, LATEST } from '../wire/decodeblock.ts'
import { field, quantityResult, shape } from '../wire/encodeobject.ts'

/** A slot and the nodes that lead to it, or to where it would be. */
interface SlotProof {
  readonly slot: bigint
  readonly value: bigint
  readonly nodes: readonly Uint8Array[]
}

interface AccountProof {
  readonly account: Account
  readonly nodes: readonly Uint8Array[]
  readonly slots: readonly SlotProof[]
}

const slotProofShape = shape<SlotProof>('storage proof', {
  key: field(quantityResult, ({ slot }) => slot),
  value: field(quantityResult, ({ value }) => value),
  proof: field(list(data), ({ nodes }) => nodes),
})

/** The account proof of spec 2.8. */
const accountProofShape = shape<AccountProof>('account proof', {
  address: field(address, ({ account }): Address => account.address),
  balance: field(quantityResult, ({ account }) => account.balance),
  codeHash: field(hash, ({ account }): Hash => account.codeHash),
  nonce: field(quantityResult, ({ account }) => account.nonce),
  storageHash: field(hash, ({ account }) => storageRoot(account)),
  accountProof: field(list(data), ({ nodes }) => nodes),
  storageProof: field(list(slotProofShape), ({ slots }) => slots),
})

const getProof = method({
  name: 'eth_getProof',
  summary: 'An account and storage slots of it, with Merkle proofs against the block’s state root.',
  params: [
    param('address', address),
    optional('storageKeys', list(quantity), []),
    optional('block', blockReference, LATEST),
  ],
  result: accountProofShape,
  example: { params: ['0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266', [], 'latest'] },
  handle: async ({ chain, caller }, account, keys, block) =>
    proofOf((await recordAt(chain, block, caller.isWaiting)).world, account, keys),
})

/** Slots that one request may name, as in geth: a slot of a large contract has some 4 KB of nodes. */
const MAX_SLOTS = 1_024

/** Slots proven before others have their turn: 30 take some 5 ms in a large contract. */
const SLOTS_A_TURN = 30

/**
 * An account that is not there is proven absent, and has the members of an empty one (EIP-1186).
 * @throws {DevchainError} `LIMIT_EXCEEDED` for more than 1,024 slots
 */
async function proofOf(
  world: World,
  address: Address,
  slots: readonly bigint[],
): Promise<AccountProof> {
  if (slots.length > MAX_SLOTS) {
    const message = `storageKeys: expected at most ${MAX_SLOTS}, got ${slots.length}`
    throw new DevchainError('LIMIT_EXCEEDED', message)
  }
  const account = accountAt(world, address) ?? emptyAccount(address)
  const proofs: SlotProof[] = []
  for (const slot of slots) {
    const value = slotValue(account.storage, slot)
    proofs.push({ slot, value, nodes: account.storage.proof(slotKey(slot)) })
    if (proofs.length % SLOTS_A_TURN === 0) await nextTurn()
  }
  return { account, nodes: world.accounts.proof(addressKey(address)), slots: proofs }
}

export const proofMethods: readonly Method<MethodContext>[] = [getProof]
