// anvil: dropping pending transactions, and the blobs of transactions.
import { dropTransaction, dropTransactions } from '../../node/mining/drop.ts'
import { blobByHash, blobsOfTransaction } from '../../node/sending/blobs.ts'
import { param } from '../../rpc/method.ts'
import { address, data, hash, list, nullable } from '../../rpc/primitives.ts'
import { command } from '../common/command.ts'
import { type Methods, method } from '../common/context.ts'
import { transactionHash } from '../wire/decodetransaction.ts'

const UNKNOWN = `0x01${'ab'.repeat(31)}`

export const anvilPoolMethods: Methods = [
  method('anvil_dropTransaction', {
    summary: 'Removes a transaction from the pool; returns its hash, or null if unknown.',
    params: [transactionHash],
    result: nullable(hash),
    example: { params: [UNKNOWN], result: null },
    effects: 'chain',
    describe: ([wanted], result) =>
      result === null ? 'none of that hash waits' : `dropped ${wanted}`,
    handle: async ({ chain }, wanted) =>
      (await chain.update((state) => dropTransaction(state, wanted))) ? wanted : null,
  }),
  command('anvil_dropAllTransactions', {
    aliases: ['hardhat_dropAllTransactions', 'debug_clearTxpool'],
    summary: 'Removes all transactions from the pool.',
    describe: () => 'dropped all that waited',
    handle: ({ chain }) => chain.update((state) => dropTransactions(state)),
  }),
  command('anvil_removePoolTransactions', {
    aliases: ['hardhat_removePoolTransactions'],
    summary: 'Removes all transactions of a sender from the pool.',
    params: [param('sender', address)],
    example: { result: null },
    describe: ([sender]) => `dropped what waited of ${sender}`,
    handle: ({ chain }, sender) => chain.update((state) => dropTransactions(state, sender)),
  }),
  method('anvil_getBlobByHash', {
    summary: 'Returns a blob by its versioned hash, among the 512 last sent; null if unknown.',
    params: [param('versionedHash', hash)],
    result: nullable(data),
    example: { params: [UNKNOWN], result: null },
    handle: ({ chain }, versionedHash) => blobByHash(chain.state, versionedHash) ?? null,
  }),
  method('anvil_getBlobsByTransactionHash', {
    summary: 'Returns the blobs of a mined or pending transaction; null if it has none.',
    params: [transactionHash],
    result: nullable(list(data)),
    example: { params: [UNKNOWN], result: null },
    onFork: 'here',
    handle: ({ chain }, transaction) => blobsOfTransaction(chain.state, transaction) ?? null,
  }),
]
