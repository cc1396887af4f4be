// evm: accounts without keys.

import { type AccountBook, addKeyless, removeKeyless } from '../../node/accounts/accounts.ts'
import { changeAccounts } from '../../node/commands/settings.ts'
import type { ChainState } from '../../node/ledger/chainstate.ts'
import type { Change } from '../../node/ledger/change.ts'
import { param, secret } from '../../rpc/method.ts'
import { address, boolean, text } from '../../rpc/primitives.ts'
import { type Methods, method } from '../common/context.ts'
import { STRANGER } from '../common/examples.ts'

export const evmAccountMethods: Methods = [
  method({
    name: 'evm_addAccount',
    summary:
      'Takes in an account without its key; personal_unlockAccount lets it send. False when it is there already.',
    params: [param('account', address), secret(param('passphrase', text))],
    result: boolean,
    example: { params: [STRANGER, 'secret'], result: true },
    effects: 'chain',
    tell: ([account]) => `account ${account} without its key`,
    handle: ({ chain }, account, passphrase) =>
      chain.update((state) => exchanged(state, addKeyless(state.accounts, account, passphrase))),
  }),
  method({
    name: 'evm_removeAccount',
    summary: 'Takes away what evm_addAccount took in; false when there is no such account.',
    params: [param('account', address), secret(param('passphrase', text))],
    result: boolean,
    example: { params: [STRANGER, 'secret'], result: false },
    effects: 'chain',
    tell: ([account]) => `account ${account} removed`,
    handle: ({ chain }, account, passphrase) =>
      chain.update((state) => exchanged(state, removeKeyless(state.accounts, account, passphrase))),
  }),
]

/** Another book, if there is one. */
function exchanged(state: ChainState, book: AccountBook | undefined): Change<boolean> {
  return book === undefined
    ? { state, value: false }
    : { ...changeAccounts(state, book), value: true }
}
