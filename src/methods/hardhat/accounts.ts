// hardhat: setting balances, code, nonces and slots, and impersonation.

import { MAX_UINT64 } from '../../core/bigints.ts'
import { keccakHash } from '../../core/crypto/crypto.ts'
import { DevchainError } from '../../core/errors.ts'
import { ether, listed, number, plural } from '../../core/format.ts'
import { type Address, quantityFromBigint } from '../../core/hex.ts'
import { impersonateAccount, stopImpersonating } from '../../node/accounts/accounts.ts'
import { editAccount } from '../../node/cheats/edit.ts'
import { changeAccounts } from '../../node/commands/settings.ts'
import { headOf } from '../../node/ledger/blocktree.ts'
import type { ChainState } from '../../node/ledger/chainstate.ts'
import { param } from '../../rpc/method.ts'
import { address, asJson, data, quantity } from '../../rpc/primitives.ts'
import { type Encoder, invalid } from '../../rpc/schema.ts'
import { nonceAt, withSlots } from '../../state/world.ts'
import { command, edit, trueCommand } from '../common/command.ts'
import { type Methods, method } from '../common/context.ts'
import { oneOrMore } from '../wire/decodeobject.ts'
import { word } from '../wire/decodeoverrides.ts'
import { STRANGER } from '../wire/examples.ts'

/** Whether there was something to stop; null where the profile's node does not say. */
const ended: Encoder<boolean | null> = asJson('null or boolean', { enum: [null, true, false] })

export const hardhatAccountMethods: Methods = [
  command('hardhat_setBalance', {
    aliases: ['anvil_setBalance', 'tenderly_setBalance', 'evm_setAccountBalance'],
    summary: 'Sets the balance of one account or of several, in wei.',
    params: [param('account', oneOrMore(address)), param('balance', quantity)],
    example: { params: [STRANGER, '0xde0b6b3a7640000'], result: null },
    describe: ([accounts, balance]) => `balance of ${listed(accounts)} ${ether(balance)}`,
    handle: ({ chain }, accounts, balance) =>
      edit(chain, accounts, (account) => ({ ...account, balance })),
  }),
  command('hardhat_setCode', {
    aliases: ['anvil_setCode', 'evm_setAccountCode'],
    summary: 'Sets the code of an account; storage, nonce and balance stay.',
    params: [param('account', address), param('code', data)],
    example: { params: [STRANGER, '0x602a60005260206000f3'], result: null },
    describe: ([account, code]) => `code of ${account} ${plural(code.length, 'byte')}`,
    handle: async ({ chain }, account, code) => {
      const codeHash = keccakHash(code)
      await edit(chain, [account], (before) => ({ ...before, code, codeHash }))
    },
  }),
  command('hardhat_setNonce', {
    aliases: ['anvil_setNonce', 'evm_setAccountNonce'],
    summary: 'Sets the nonce of an account; pending transactions below it are dropped.',
    params: [param('account', address), param('nonce', quantity)],
    example: { params: [STRANGER, '0x9'], result: null },
    describe: ([account, nonce]) => `nonce of ${account} ${number(nonce)}`,
    handle: async ({ chain }, account, nonce) => {
      if (nonce > MAX_UINT64) throw invalid('nonce', `at most ${MAX_UINT64} (EIP-2681)`, nonce)
      await chain.update((state) => {
        checkNonceChange(state, account, nonce)
        return editAccount(state, account, (before) => ({ ...before, nonce }))
      })
    },
  }),
  trueCommand('hardhat_setStorageAt', {
    aliases: ['anvil_setStorageAt', 'evm_setAccountStorageAt'],
    summary: 'Sets a storage slot of an account.',
    params: [param('account', address), param('slot', word), param('value', word)],
    example: { params: [STRANGER, '0x0', `0x${'00'.repeat(31)}07`], result: true },
    describe: ([account, slot, value]) =>
      `storage of ${account} slot ${quantityFromBigint(slot)} = ${quantityFromBigint(value)}`,
    handle: ({ chain }, account, slot, value) =>
      edit(chain, [account], (before) => ({
        ...before,
        storage: withSlots(before.storage, new Map([[slot, value]])),
      })),
  }),
  command('hardhat_impersonateAccount', {
    aliases: ['anvil_impersonateAccount'],
    summary: 'Allows sending from an account without its key, contracts included.',
    params: [param('account', address)],
    example: { params: [STRANGER], result: null },
    describe: ([account]) => `impersonating ${account}`,
    handle: ({ chain }, account) =>
      chain.update((state) => changeAccounts(state, impersonateAccount(state.accounts, account))),
  }),
  method('hardhat_stopImpersonatingAccount', {
    aliases: ['anvil_stopImpersonatingAccount'],
    summary: 'Ends hardhat_impersonateAccount for an account.',
    params: [param('account', address)],
    result: ended,
    example: { params: [STRANGER], result: null },
    effects: 'chain',
    describe: ([account]) => `no longer impersonating ${account}`,
    handle: async ({ chain, profile }, account) => {
      const wasThere = await chain.update((state) => ({
        ...changeAccounts(state, stopImpersonating(state.accounts, account)),
        value: state.accounts.impersonated.has(account),
      }))
      return profile.ack === null ? null : wasThere
    },
  }),
]

/** Where nonces cannot go back, they can only be raised, and only without pending transactions. */
function checkNonceChange(
  { config, pool, tree }: ChainState,
  account: Address,
  nonce: bigint,
): void {
  if (config.behaviour.noncesGoBack) return
  if (pool.size > 0) {
    const message = `nonces cannot be set while transactions wait: there are ${pool.size}`
    throw new DevchainError('INVALID_PARAMS', message, undefined, { waiting: pool.size })
  }
  const existing = nonceAt(headOf(tree).world, account)
  if (nonce >= existing) return
  const message = `nonce: expected at least ${existing}, that of ${account}, got ${nonce}`
  throw new DevchainError('INVALID_PARAMS', message, undefined, { nonce, existing })
}
