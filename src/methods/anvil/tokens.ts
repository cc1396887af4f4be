// anvil: balances and allowances of ERC-20 tokens, set without a transaction.

import { DevchainError } from '../../core/errors.ts'
import { ether, number } from '../../core/format.ts'
import type { Address } from '../../core/hex.ts'
import { editAccount } from '../../node/cheats/edit.ts'
import { setTokenAllowance, setTokenBalance } from '../../node/cheats/tokens.ts'
import { param } from '../../rpc/method.ts'
import { address, quantity } from '../../rpc/primitives.ts'
import type { Decoder } from '../../rpc/schema.ts'
import type { Account } from '../../state/world.ts'
import { command } from '../common/command.ts'
import type { Methods } from '../common/context.ts'
import { ACCOUNT, OTHER_ACCOUNT } from '../common/examples.ts'
import { members, refined } from '../wire/decodeobject.ts'

const TOKEN = '0x5fbdb2315678afecb367f032d93f642f64180aa3'

/** Who gets how much of what: of ether where no token is named. */
interface Deal {
  readonly account: Address
  readonly amount: bigint
  readonly erc20: Address | undefined
}

const deal: Decoder<Deal> = refined(
  members('deal', { account: address, amount: quantity, erc20: address }),
  ({ account, amount, erc20 }, path) => {
    if (account !== undefined && amount !== undefined) return { account, amount, erc20 }
    const name = account === undefined ? 'account' : 'amount'
    throw new DevchainError('INVALID_PARAMS', `${path}.${name}: expected one, got nothing`)
  },
)

export const anvilTokenMethods: Methods = [
  command({
    name: 'anvil_dealERC20',
    aliases: [
      'hardhat_dealERC20',
      'anvil_dealErc20',
      'hardhat_dealErc20',
      'anvil_setERC20Balance',
      'tenderly_setErc20Balance',
    ],
    summary: 'Sets how much of an ERC-20 token an account has; the total supply stays.',
    params: [param('holder', address), param('token', address), param('amount', quantity)],
    example: { params: [ACCOUNT, TOKEN, '0x3e8'] },
    tell: ([holder, token, amount]) => `${holder} has ${number(amount)} of token ${token}`,
    handle: ({ chain }, holder, token, amount) => setTokenBalance(chain, token, holder, amount),
  }),
  command({
    name: 'anvil_setERC20Allowance',
    aliases: ['hardhat_setERC20Allowance', 'anvil_setErc20Allowance', 'hardhat_setErc20Allowance'],
    summary: 'Sets how much of an owner’s ERC-20 tokens a spender may transfer.',
    params: [
      param('owner', address),
      param('spender', address),
      param('token', address),
      param('amount', quantity),
    ],
    example: { params: [ACCOUNT, OTHER_ACCOUNT, TOKEN, '0x3e8'] },
    tell: ([owner, spender, token, amount]) =>
      `${spender} may spend ${number(amount)} of token ${token} of ${owner}`,
    handle: ({ chain }, owner, spender, token, amount) =>
      setTokenAllowance(chain, token, { owner, spender }, amount),
  }),
  /** As tevm has it (packages/actions, anvilDealProcedure). */
  command({
    name: 'anvil_deal',
    aliases: ['hardhat_deal'],
    summary:
      'Sets how much an {account} has: {amount} of the token {erc20}, or wei where none is named.',
    params: [param('deal', deal)],
    example: { params: [{ account: ACCOUNT, amount: '0x3e8' }], result: null },
    tell: ([{ account, amount, erc20 }]) =>
      erc20 === undefined
        ? `balance of ${account} ${ether(amount)}`
        : `${account} has ${number(amount)} of token ${erc20}`,
    handle: async ({ chain }, { account, amount, erc20 }) => {
      if (erc20 !== undefined) await setTokenBalance(chain, erc20, account, amount)
      else {
        const paid = (before: Account): Account => ({ ...before, balance: amount })
        await chain.update((state) => editAccount(state, account, paid))
      }
    },
  }),
]
