// anvil: balances of ether and tokens, impersonation, and signatures that ecrecover maps to a chosen account.
import { MAX_UINT256 } from '../../core/bigints.ts'
import {
  type Signature,
  signatureFromBytes,
  signatureFromCompact,
} from '../../core/crypto/crypto.ts'
import { invalidParams } from '../../core/errors.ts'
import { ether, listed, number } from '../../core/format.ts'
import type { Address } from '../../core/hex.ts'
import { impersonateSignature } from '../../node/accounts/accounts.ts'
import { setTokenAllowance, setTokenBalance } from '../../node/cheats/tokens.ts'
import { optional, param } from '../../rpc/method.ts'
import { address, boolean, data, quantity } from '../../rpc/primitives.ts'
import type { Decoder } from '../../rpc/schema.ts'
import { command, edit, exchange } from '../common/command.ts'
import type { Methods } from '../common/context.ts'
import { members, oneOrMore, refined, required } from '../wire/decodeobject.ts'
import { ACCOUNT, OTHER_ACCOUNT, STRANGER } from '../wire/examples.ts'

/** The last byte of a signature. */
const VALUES_OF_V: readonly unknown[] = [0, 1, 27, 28]

/** 65 bytes r ‖ s ‖ v, or the 64 of EIP-2098. */
const signature: Decoder<Signature> = {
  name: 'signature',
  json: { title: 'signature', type: 'string', pattern: '^0x[0-9a-fA-F]{128}([0-9a-fA-F]{2})?$' },
  decode: (value, path) => {
    const bytes = data.decode(value, path)
    if (bytes.length === 64) return signatureFromCompact(bytes)
    const v = bytes[64]
    if (bytes.length === 65 && VALUES_OF_V.includes(v)) return signatureFromBytes(bytes)
    const got = bytes.length === 65 ? `65 bytes ending in ${v}` : `${bytes.length} bytes`
    const message = `${path}: expected 65 bytes ending in v (0, 1, 27 or 28), or the 64 of a compact signature, got ${got}`
    throw invalidParams(message)
  },
}

/** A signature, or a list of one and its address: anvil takes both as one parameter. */
const signatureOrPair: Decoder<readonly [Signature, Address | undefined]> = {
  name: 'signature, or list of signature and address',
  json: {
    anyOf: [
      signature.json,
      { type: 'array', prefixItems: [signature.json, address.json], minItems: 2, maxItems: 2 },
    ],
  },
  decode: (value, path) => {
    if (!Array.isArray(value)) return [signature.decode(value, path), undefined]
    if (value.length === 2) {
      return [signature.decode(value[0], `${path}[0]`), address.decode(value[1], `${path}[1]`)]
    }
    const message = `${path}: expected a signature, or a list of one and an address, got a list of ${value.length}`
    throw invalidParams(message)
  },
}

const TOKEN = '0x5fbdb2315678afecb367f032d93f642f64180aa3'

/** Ether where no token is named. */
const deal = refined(
  members('deal', { account: address, amount: quantity, erc20: address }),
  ({ account, amount, erc20 }, path) => ({
    account: required(account, `${path}.account`, 'a 20-byte address'),
    amount: required(amount, `${path}.amount`, 'a quantity'),
    erc20,
  }),
)

export const anvilAccountMethods: Methods = [
  command('anvil_addBalance', {
    aliases: ['hardhat_addBalance', 'tenderly_addBalance'],
    summary: 'Adds wei to the balance of one account or of several.',
    params: [param('account', oneOrMore(address)), param('amount', quantity)],
    example: { params: [STRANGER, '0xde0b6b3a7640000'], result: null },
    describe: ([accounts, amount]) => `${ether(amount)} more for ${listed(accounts)}`,
    handle: ({ chain }, accounts, amount) =>
      edit(chain, accounts, (account) => {
        const balance = account.balance + amount
        if (balance <= MAX_UINT256) return { ...account, balance }
        const message = `amount: ${account.address} would have more than ${MAX_UINT256} wei with ${amount} more`
        throw invalidParams(message)
      }),
  }),
  command('anvil_autoImpersonateAccount', {
    aliases: ['hardhat_autoImpersonateAccount'],
    summary: 'Turns on or off sending from any account without its key.',
    params: [param('enabled', boolean)],
    example: { params: [true], result: null },
    describe: ([enabled]) => `${enabled ? '' : 'no longer '}impersonating everybody`,
    handle: ({ chain }, autoImpersonate) =>
      exchange(chain, (book) => ({ ...book, autoImpersonate })),
  }),
  command('anvil_impersonateSignature', {
    aliases: ['hardhat_impersonateSignature'],
    summary: 'Makes ecrecover return this account for the signature.',
    params: [param('signature', signatureOrPair), optional('account', address)],
    example: { params: [`0x${'11'.repeat(64)}1b`, STRANGER], result: null },
    describe: ([[, paired], given]) => `signature counts as of ${paired ?? given}`,
    handle: async ({ chain }, [made, paired], given) => {
      const signer = paired ?? given
      if (signer === undefined || (paired !== undefined && given !== undefined)) {
        const got = signer === undefined ? 'none' : 'two'
        const message = `account: expected one 20-byte address, in the list or after the signature, got ${got}`
        throw invalidParams(message)
      }
      await exchange(chain, (book) => impersonateSignature(book, made, signer))
    },
  }),
  command('anvil_dealERC20', {
    aliases: [
      'hardhat_dealERC20',
      'anvil_dealErc20',
      'hardhat_dealErc20',
      'anvil_setERC20Balance',
      'tenderly_setErc20Balance',
    ],
    summary: 'Sets the ERC-20 balance of an account; the total supply does not change.',
    params: [param('holder', address), param('token', address), param('amount', quantity)],
    example: { params: [ACCOUNT, TOKEN, '0x3e8'] },
    describe: ([holder, token, amount]) => `${holder} has ${number(amount)} of token ${token}`,
    handle: ({ chain }, holder, token, amount) => setTokenBalance(chain, token, holder, amount),
  }),
  command('anvil_setERC20Allowance', {
    aliases: ['hardhat_setERC20Allowance', 'anvil_setErc20Allowance', 'hardhat_setErc20Allowance'],
    summary: "Sets how much of an owner's ERC-20 tokens a spender may transfer.",
    params: [
      param('owner', address),
      param('spender', address),
      param('token', address),
      param('amount', quantity),
    ],
    example: { params: [ACCOUNT, OTHER_ACCOUNT, TOKEN, '0x3e8'] },
    describe: ([owner, spender, token, amount]) =>
      `${spender} may spend ${number(amount)} of token ${token} of ${owner}`,
    handle: ({ chain }, owner, spender, token, amount) =>
      setTokenAllowance(chain, token, { owner, spender }, amount),
  }),
  /** As in tevm (packages/actions, anvilDealProcedure). */
  command('anvil_deal', {
    aliases: ['hardhat_deal'],
    summary: 'Sets the balance of {account} to {amount} of {erc20}, or of wei without it.',
    params: [param('deal', deal)],
    example: { params: [{ account: ACCOUNT, amount: '0x3e8' }], result: null },
    describe: ([{ account, amount, erc20 }]) =>
      erc20 === undefined
        ? `balance of ${account} ${ether(amount)}`
        : `${account} has ${number(amount)} of token ${erc20}`,
    handle: async ({ chain }, { account, amount, erc20 }) => {
      if (erc20 !== undefined) await setTokenBalance(chain, erc20, account, amount)
      else await edit(chain, [account], (before) => ({ ...before, balance: amount }))
    },
  }),
]
