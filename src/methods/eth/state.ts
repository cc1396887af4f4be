// eth: what an account has at a block: balance, nonce, code, storage.
import { type Address, wordFromBigint } from '../../core/hex.ts'
import { headOf } from '../../node/blocktree.ts'
import { recordAt } from '../../node/chain.ts'
import type { ChainState } from '../../node/chainstate.ts'
import { nextNonce } from '../../node/pool.ts'
import { type Method, optional, param } from '../../rpc/method.ts'
import { address, data, hash, quantity } from '../../rpc/primitives.ts'
import { balanceAt, codeAt, nonceAt, storageAt } from '../../state/world.ts'
import { blockReference, isPending, LATEST } from '../blockreference.ts'
import { type MethodContext, method } from '../context.ts'
import { quantityResult } from '../fields.ts'

const ACCOUNT = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'

const getBalance = method({
  name: 'eth_getBalance',
  summary: 'Balance of an account, in wei.',
  params: [param('address', address), optional('block', blockReference, LATEST)],
  result: quantityResult,
  example: { params: [ACCOUNT, 'latest'], result: '0x21e19e0c9bab2400000' },
  handle: async ({ chain }, account, block) =>
    balanceAt((await recordAt(chain, block)).world, account),
})

const getStorageAt = method({
  name: 'eth_getStorageAt',
  summary: 'The 32 bytes in a storage slot of a contract; zeros where nothing is stored.',
  params: [
    param('address', address),
    param('position', quantity),
    optional('block', blockReference, LATEST),
  ],
  result: hash,
  example: { params: [ACCOUNT, '0x0', 'latest'], result: `0x${'00'.repeat(32)}` },
  handle: async ({ chain }, account, position, block) =>
    wordFromBigint(storageAt((await recordAt(chain, block)).world, account, position)),
})

const getTransactionCount = method({
  name: 'eth_getTransactionCount',
  summary: 'Transactions sent from an account; `pending` counts those in the pool too.',
  params: [param('address', address), optional('block', blockReference, LATEST)],
  result: quantityResult,
  example: { params: [ACCOUNT, 'latest'], result: '0x0' },
  handle: async ({ chain }, account, block) => {
    if (isPending(block)) return poolNonce(chain.state, account)
    return nonceAt((await recordAt(chain, block)).world, account)
  },
})

const getCode = method({
  name: 'eth_getCode',
  summary: 'Code of a contract; 0x for an account without code.',
  params: [param('address', address), optional('block', blockReference, LATEST)],
  result: data,
  example: { params: [ACCOUNT, 'latest'], result: '0x' },
  handle: async ({ chain }, account, block) =>
    codeAt((await recordAt(chain, block)).world, account),
})

/** The nonce after all transactions of the account that wait, mineable in one block or not. */
function poolNonce({ pool, tree }: ChainState, account: Address): bigint {
  return nextNonce(pool, headOf(tree).world, account)
}

export const stateMethods: readonly Method<MethodContext>[] = [
  getBalance,
  getStorageAt,
  getTransactionCount,
  getCode,
]
