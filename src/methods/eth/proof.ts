// eth: proofs of accounts and storage against a block's state root.
import type { Address, Hash } from '../../core/hex.ts'
import { recordAt } from '../../node/chain.ts'
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
import { blockReference, LATEST } from '../blockreference.ts'
import { type MethodContext, method } from '../context.ts'
import { field, quantityResult, shape } from '../fields.ts'

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
  handle: async ({ chain }, account, keys, block) =>
    proofOf((await recordAt(chain, block)).world, account, keys),
})

/** An account that is not there is proven absent, and has the members of an empty one (EIP-1186). */
function proofOf(world: World, address: Address, slots: readonly bigint[]): AccountProof {
  const account = accountAt(world, address) ?? emptyAccount(address)
  return {
    account,
    nodes: world.accounts.proof(addressKey(address)),
    slots: slots.map((slot) => ({
      slot,
      value: slotValue(account.storage, slot),
      nodes: account.storage.proof(slotKey(slot)),
    })),
  }
}

export const proofMethods: readonly Method<MethodContext>[] = [getProof]
