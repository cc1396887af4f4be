// Accounts as a test wants them: balances, code, nonces and slots set without a transaction, and senders without keys.

import { MAX_UINT64 } from '../../core/bigints.ts'
import { keccakHash } from '../../core/crypto.ts'
import { DevchainError } from '../../core/errors.ts'
import { ether, listed, number, plural } from '../../core/format.ts'
import { type Address, quantityFromBigint } from '../../core/hex.ts'
import {
  type AccountBook,
  addKeyless,
  impersonateAccount,
  removeKeyless,
  stopImpersonating,
} from '../../node/accounts/accounts.ts'
import type { Chain } from '../../node/chain/chain.ts'
import { editAccount, editAccounts } from '../../node/cheats/edit.ts'
import { changeAccounts } from '../../node/commands/commands.ts'
import { headOf } from '../../node/ledger/blocktree.ts'
import type { ChainState } from '../../node/ledger/chainstate.ts'
import type { Change } from '../../node/ledger/change.ts'
import { type Method, param, secret } from '../../rpc/method.ts'
import { address, boolean, data, quantity, text } from '../../rpc/primitives.ts'
import type { Decoder, Encoder, Json } from '../../rpc/schema.ts'
import { type Account, nonceAt, withSlots } from '../../state/world.ts'
import { type MethodContext, method } from '../common/context.ts'
import { STRANGER } from '../common/examples.ts'
import { ack } from '../compat/profile.ts'
import { oneOrMore } from '../wire/decodeobject.ts'

const MAX_WORD = 2n ** 256n - 1n

const setBalance = method({
  name: 'hardhat_setBalance',
  aliases: ['anvil_setBalance', 'tenderly_setBalance', 'evm_setAccountBalance'],
  summary: 'Sets the balance of an account, or of each of several, in wei.',
  params: [param('account', oneOrMore(address)), param('balance', quantity)],
  result: ack,
  example: { params: [STRANGER, '0xde0b6b3a7640000'], result: null },
  writes: 'chain',
  tell: ([accounts, balance]) => `balance of ${listed(accounts)} ${ether(balance)}`,
  handle: async ({ chain, profile }, accounts, balance) => {
    await editEach(chain, accounts, (account) => ({ ...account, balance }))
    return profile.ack
  },
})

const addBalance = method({
  name: 'anvil_addBalance',
  aliases: ['hardhat_addBalance', 'tenderly_addBalance'],
  summary: 'Adds to the balance of an account, or of each of several, in wei.',
  params: [param('account', oneOrMore(address)), param('amount', quantity)],
  result: ack,
  example: { params: [STRANGER, '0xde0b6b3a7640000'], result: null },
  writes: 'chain',
  tell: ([accounts, amount]) => `${ether(amount)} more for ${listed(accounts)}`,
  handle: async ({ chain, profile }, accounts, amount) => {
    await editEach(chain, accounts, (account) => {
      const balance = account.balance + amount
      if (balance > MAX_WORD) throw tooMuch(account.address, amount)
      return { ...account, balance }
    })
    return profile.ack
  },
})

const setCode = method({
  name: 'hardhat_setCode',
  aliases: ['anvil_setCode', 'evm_setAccountCode'],
  summary: 'Sets the runtime code of an account; its storage, nonce and balance stay.',
  params: [param('account', address), param('code', data)],
  result: ack,
  example: { params: [STRANGER, '0x602a60005260206000f3'], result: null },
  writes: 'chain',
  tell: ([account, code]) => `code of ${account} ${plural(code.length, 'byte')}`,
  handle: async ({ chain, profile }, account, code) => {
    const codeHash = keccakHash(code)
    await edit(chain, account, (before) => ({ ...before, code, codeHash }))
    return profile.ack
  },
})

const setNonce = method({
  name: 'hardhat_setNonce',
  aliases: ['anvil_setNonce', 'evm_setAccountNonce'],
  summary: 'Sets how many transactions an account has sent; waiting ones that are used up go.',
  params: [param('account', address), param('nonce', quantity)],
  result: ack,
  example: { params: [STRANGER, '0x9'], result: null },
  writes: 'chain',
  tell: ([account, nonce]) => `nonce of ${account} ${number(nonce)}`,
  handle: async ({ chain, profile }, account, nonce) => {
    if (nonce > MAX_UINT64) {
      const message = `nonce: expected at most ${MAX_UINT64} (EIP-2681), got ${nonce}`
      throw new DevchainError('INVALID_PARAMS', message)
    }
    await chain.update((state) => {
      checkNonceChange(state, account, nonce)
      return editAccount(state, account, (before) => ({ ...before, nonce }))
    })
    return profile.ack
  },
})

/** Where nonces do not go back they are set upwards only, and while nothing waits. */
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

/** A storage slot or its value: 32 bytes, or any QUANTITY, as an integer. */
const word: Decoder<bigint> = { ...quantity, name: 'storage word' }

const setStorageAt = method({
  name: 'hardhat_setStorageAt',
  aliases: ['anvil_setStorageAt', 'evm_setAccountStorageAt'],
  summary: 'Sets a storage slot of an account.',
  params: [param('account', address), param('slot', word), param('value', word)],
  result: boolean,
  example: { params: [STRANGER, '0x0', `0x${'00'.repeat(31)}07`], result: true },
  writes: 'chain',
  tell: ([account, slot, value]) =>
    `storage of ${account} slot ${quantityFromBigint(slot)} = ${quantityFromBigint(value)}`,
  handle: async ({ chain }, account, slot, value) => {
    await edit(chain, account, (before) => ({
      ...before,
      storage: withSlots(before.storage, new Map([[slot, value]])),
    }))
    return true
  },
})

const impersonate = method({
  name: 'hardhat_impersonateAccount',
  aliases: ['anvil_impersonateAccount'],
  summary: 'Lets this node send transactions of an account without its key, contracts included.',
  params: [param('account', address)],
  result: ack,
  example: { params: [STRANGER], result: null },
  writes: 'chain',
  tell: ([account]) => `impersonating ${account}`,
  handle: async ({ chain, profile }, account) => {
    await chain.update((state) =>
      changeAccounts(state, impersonateAccount(state.accounts, account)),
    )
    return profile.ack
  },
})

/** Whether there was something to end, where a node's users are told. */
const ended: Encoder<boolean | null> = {
  name: 'null or boolean',
  json: { enum: [null, true, false] },
  encode: (value): Json => value,
}

const stopImpersonatingAccount = method({
  name: 'hardhat_stopImpersonatingAccount',
  aliases: ['anvil_stopImpersonatingAccount'],
  summary: 'Ends what hardhat_impersonateAccount began.',
  params: [param('account', address)],
  result: ended,
  example: { params: [STRANGER], result: null },
  writes: 'chain',
  tell: ([account]) => `no longer impersonating ${account}`,
  handle: async ({ chain, profile }, account) => {
    const wasThere = await chain.update((state) => ({
      ...changeAccounts(state, stopImpersonating(state.accounts, account)),
      value: state.accounts.impersonated.has(account),
    }))
    return profile.ack === null ? null : wasThere
  },
})

const autoImpersonate = method({
  name: 'anvil_autoImpersonateAccount',
  aliases: ['hardhat_autoImpersonateAccount'],
  summary: 'Lets this node send transactions of anybody without keys (true), or ends that (false).',
  params: [param('enabled', boolean)],
  result: ack,
  example: { params: [true], result: null },
  writes: 'chain',
  tell: ([enabled]) => `${enabled ? '' : 'no longer '}impersonating everybody`,
  handle: async ({ chain, profile }, enabled) => {
    await chain.update((state) =>
      changeAccounts(state, { ...state.accounts, autoImpersonate: enabled }),
    )
    return profile.ack
  },
})

const addAccount = method({
  name: 'evm_addAccount',
  summary:
    'Takes in an account without its key; personal_unlockAccount lets it send. False when it is there already.',
  params: [param('account', address), secret(param('passphrase', text))],
  result: boolean,
  example: { params: [STRANGER, 'secret'], result: true },
  writes: 'chain',
  tell: ([account]) => `account ${account} without its key`,
  handle: ({ chain }, account, passphrase) =>
    chain.update((state) => exchanged(state, addKeyless(state.accounts, account, passphrase))),
})

const removeAccount = method({
  name: 'evm_removeAccount',
  summary: 'Takes away what evm_addAccount took in; false when there is no such account.',
  params: [param('account', address), secret(param('passphrase', text))],
  result: boolean,
  example: { params: [STRANGER, 'secret'], result: false },
  writes: 'chain',
  tell: ([account]) => `account ${account} removed`,
  handle: ({ chain }, account, passphrase) =>
    chain.update((state) => exchanged(state, removeKeyless(state.accounts, account, passphrase))),
})

/** Another book, if there is one. */
function exchanged(state: ChainState, book: AccountBook | undefined): Change<boolean> {
  return book === undefined
    ? { state, value: false }
    : { ...changeAccounts(state, book), value: true }
}

function edit(chain: Chain, account: Address, change: (before: Account) => Account): Promise<void> {
  return editEach(chain, [account], change)
}

/** All in one step, so that nobody sees some of them changed. */
function editEach(
  chain: Chain,
  accounts: readonly Address[],
  change: (before: Account) => Account,
): Promise<void> {
  return chain.update((state) => editAccounts(state, accounts, change))
}

function tooMuch(account: Address, amount: bigint): DevchainError {
  const message = `amount: ${account} would have more than ${MAX_WORD} wei with ${amount} more`
  return new DevchainError('INVALID_PARAMS', message)
}

export const testingAccountMethods: readonly Method<MethodContext>[] = [
  setBalance,
  addBalance,
  setCode,
  setNonce,
  setStorageAt,
  impersonate,
  stopImpersonatingAccount,
  autoImpersonate,
  addAccount,
  removeAccount,
]
