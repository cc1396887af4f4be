// Changes of the world without a transaction: balances, code and slots.
import type { Address } from '../../core/hex.ts'
import { isAtLeast } from '../../protocol/forks.ts'
import {
  type Account,
  accountOrEmpty,
  isEmpty,
  type World,
  withAccount,
  withoutAccount,
} from '../../state/world.ts'
import { headOf, withHeadWorld } from '../ledger/blocktree.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import type { Change } from '../ledger/change.ts'
import { withoutStale } from '../pool/pool.ts'

/** The header stays as mined. Drops waiting transactions of `touched` whose nonces are now used. */
export function editWorld(
  state: ChainState,
  edit: (world: World) => World,
  touched: readonly Address[] = [],
): Change<undefined> {
  const before = headOf(state.tree).world
  const world = edit(before)
  if (world === before) return { state, value: undefined }
  const pool = withoutStale(state.pool, world, touched)
  return {
    state: { ...state, tree: withHeadWorld(state.tree, world), pool },
    value: undefined,
  }
}

export function editAccount(
  state: ChainState,
  address: Address,
  edit: (account: Account) => Account,
): Change<undefined> {
  return editAccounts(state, [address], edit)
}

/** Accounts need not exist before. An account left empty is deleted, except on forks before EIP-161. */
export function editAccounts(
  state: ChainState,
  addresses: readonly Address[],
  edit: (account: Account) => Account,
): Change<undefined> {
  const { header } = headOf(state.tree).block
  const hardfork = state.config.hardforkAt(header.number, header.timestamp)
  const change = (world: World, address: Address): World => {
    const account = edit(accountOrEmpty(world, address))
    // EIP-161, and without storage, which would be unreachable
    const isNothing = isEmpty(account) && account.storage.isEmpty
    const isGone = isNothing && isAtLeast(hardfork, 'spuriousDragon')
    return isGone ? withoutAccount(world, address) : withAccount(world, account)
  }
  return editWorld(state, (world) => addresses.reduce(change, world), addresses)
}
