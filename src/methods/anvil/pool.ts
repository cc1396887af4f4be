// anvil: dropping transactions that wait.

import { dropTransaction, dropTransactions } from '../../node/mining/drop.ts'
import { param } from '../../rpc/method.ts'
import { address, hash, hashOfTransaction, nullable } from '../../rpc/primitives.ts'
import { command } from '../common/command.ts'
import { type Methods, method } from '../common/context.ts'
import { ACCOUNT, UNKNOWN } from '../common/examples.ts'

export const anvilPoolMethods: Methods = [
  method({
    name: 'anvil_dropTransaction',
    summary:
      'As hardhat_dropTransaction, but answers the hash, or null when none of that hash waits.',
    params: [param('hash', hashOfTransaction)],
    result: nullable(hash),
    example: { params: [UNKNOWN], result: null },
    effects: 'chain',
    tell: ([wanted], result) => (result === null ? 'none of that hash waits' : `dropped ${wanted}`),
    handle: async ({ chain }, wanted) =>
      (await chain.update((state) => dropTransaction(state, wanted))) ? wanted : null,
  }),
  command({
    name: 'anvil_dropAllTransactions',
    aliases: ['hardhat_dropAllTransactions', 'debug_clearTxpool'],
    summary: 'Empties the pool.',
    params: [],
    example: { params: [], result: null },
    tell: () => 'dropped all that waited',
    handle: ({ chain }) => chain.update((state) => dropTransactions(state)),
  }),
  command({
    name: 'anvil_removePoolTransactions',
    aliases: ['hardhat_removePoolTransactions'],
    summary: 'Takes the transactions of a sender out of the pool.',
    params: [param('sender', address)],
    example: { params: [ACCOUNT], result: null },
    tell: ([sender]) => `dropped what waited of ${sender}`,
    handle: ({ chain }, sender) => chain.update((state) => dropTransactions(state, sender)),
  }),
]
