// Changing accounts without a transaction: the body of hardhat_set…, anvil_…Balance and their like.

import type { Address } from '../../core/hex.ts'
import type { Chain } from '../../node/chain/chain.ts'
import { editAccounts } from '../../node/cheats/edit.ts'
import type { Account } from '../../state/world.ts'

export function edit(
  chain: Chain,
  account: Address,
  change: (before: Account) => Account,
): Promise<void> {
  return editEach(chain, [account], change)
}

/** All in one step, so that nobody sees some of them changed. */
export function editEach(
  chain: Chain,
  accounts: readonly Address[],
  change: (before: Account) => Account,
): Promise<void> {
  return chain.update((state) => editAccounts(state, accounts, change))
}
