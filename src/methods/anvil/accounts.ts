// anvil: balances, and senders without keys.

import { MAX_UINT256 } from '../../core/bigints.ts'
import { DevchainError } from '../../core/errors.ts'
import { ether, listed } from '../../core/format.ts'
import type { Address } from '../../core/hex.ts'
import { changeAccounts } from '../../node/commands/settings.ts'
import { param } from '../../rpc/method.ts'
import { address, boolean, quantity } from '../../rpc/primitives.ts'
import { editEach } from '../common/accounts.ts'
import { command } from '../common/command.ts'
import type { Methods } from '../common/context.ts'
import { STRANGER } from '../common/examples.ts'
import { oneOrMore } from '../wire/decodeobject.ts'

export const anvilAccountMethods: Methods = [
  command({
    name: 'anvil_addBalance',
    aliases: ['hardhat_addBalance', 'tenderly_addBalance'],
    summary: 'Adds to the balance of an account, or of each of several, in wei.',
    params: [param('account', oneOrMore(address)), param('amount', quantity)],
    example: { params: [STRANGER, '0xde0b6b3a7640000'], result: null },
    tell: ([accounts, amount]) => `${ether(amount)} more for ${listed(accounts)}`,
    handle: ({ chain }, accounts, amount) =>
      editEach(chain, accounts, (account) => {
        const balance = account.balance + amount
        if (balance > MAX_UINT256) throw tooMuch(account.address, amount)
        return { ...account, balance }
      }),
  }),
  command({
    name: 'anvil_autoImpersonateAccount',
    aliases: ['hardhat_autoImpersonateAccount'],
    summary:
      'Lets this node send transactions of anybody without keys (true), or ends that (false).',
    params: [param('enabled', boolean)],
    example: { params: [true], result: null },
    tell: ([enabled]) => `${enabled ? '' : 'no longer '}impersonating everybody`,
    handle: ({ chain }, enabled) =>
      chain.update((state) =>
        changeAccounts(state, { ...state.accounts, autoImpersonate: enabled }),
      ),
  }),
]

function tooMuch(account: Address, amount: bigint): DevchainError {
  const message = `amount: ${account} would have more than ${MAX_UINT256} wei with ${amount} more`
  return new DevchainError('INVALID_PARAMS', message)
}
