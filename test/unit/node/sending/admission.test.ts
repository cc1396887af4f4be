// What the pool admits: each check, in its documented order, with its words.
import { describe, expect, it } from 'vitest'
import { impersonateAccount } from '../../../../src/node/accounts/accounts.ts'
import type { Chain } from '../../../../src/node/chain/chain.ts'
import type { ChainOptions } from '../../../../src/node/chainoptions.ts'
import { changeAccounts, changeSettings } from '../../../../src/node/commands/settings.ts'
import { headOf } from '../../../../src/node/ledger/blocktree.ts'
import type { ChainState } from '../../../../src/node/ledger/chainstate.ts'
import { POOL_LIMIT } from '../../../../src/node/pool/pool.ts'
import { admit } from '../../../../src/node/sending/admission.ts'
import { sendRawTransaction } from '../../../../src/node/sending/send.ts'
import type { UnsignedTransaction } from '../../../../src/protocol/transactions/transaction.ts'
import { parseGenesis } from '../../../../src/state/genesis.ts'
import { account, NOON, signed, testChain } from '../chains.ts'

const ETHER = 10n ** 18n

interface Refusal {
  readonly name: string
  readonly options?: ChainOptions
  readonly transaction: Partial<UnsignedTransaction>
  readonly word: string
  /** How the message begins. */
  readonly message: string
}

const fees = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint = maxFeePerGas) => ({
  maxFeePerGas,
  maxPriorityFeePerGas,
})

const REFUSALS: readonly Refusal[] = [
  {
    name: 'of another chain',
    transaction: { chainId: 1n },
    word: 'WRONG_CHAIN_ID',
    message: 'invalid chain id for signer: have 1 want 33',
  },
  {
    name: 'of type 2 before london',
    options: { hardfork: 'berlin' },
    transaction: { type: 2 },
    word: 'TYPE_NOT_SUPPORTED',
    message: 'transaction type not supported: type 2 needs hardfork london, the chain is at berlin',
  },
  {
    name: 'of type 4 without authorizations',
    transaction: { type: 4 },
    word: 'EMPTY_AUTHORIZATION_LIST',
    message: 'empty authorization list',
  },
  {
    name: 'with too much init code',
    transaction: { to: null, data: new Uint8Array(49_153), gasLimit: 10_000_000n },
    word: 'INIT_CODE_TOO_LARGE',
    message: 'max initcode size exceeded: code size 49153, limit 49152',
  },
  {
    name: 'with less gas than it takes to begin',
    transaction: { gasLimit: 20_999n },
    word: 'INTRINSIC_GAS_TOO_LOW',
    message: 'intrinsic gas too low: have 20999, want 21000',
  },
  {
    name: 'with less gas than its calldata costs at least',
    transaction: { data: new Uint8Array(1000).fill(1), gasLimit: 37_000n },
    word: 'GAS_BELOW_FLOOR',
    message: 'intrinsic gas too low: have 37000, want 61000, the floor',
  },
  {
    name: 'above the cap of one transaction',
    options: { txGasCap: 100_000n },
    transaction: { gasLimit: 100_001n },
    word: 'GAS_LIMIT_TOO_HIGH',
    message: 'transaction gas limit too high: have 100001, the cap is 100000',
  },
  {
    name: 'larger than a block',
    transaction: { gasLimit: 30_000_001n },
    word: 'EXCEEDS_BLOCK_GAS_LIMIT',
    message: "exceeds block gas limit: have 30000001, the block's limit is 30000000",
  },
  {
    name: 'with a tip above its fee cap',
    transaction: { type: 2, ...fees(1n, 2n) },
    word: 'TIP_ABOVE_FEE_CAP',
    message: 'max priority fee per gas higher than max fee per gas: tip 2, fee cap 1',
  },
  {
    name: 'that does not pay the base fee of a block mined at once',
    options: { baseFee: 100n },
    transaction: fees(87n),
    word: 'FEE_CAP_TOO_LOW',
    message: 'max fee per gas less than block base fee: fee cap 87, base fee 88',
  },
  {
    name: 'with a nonce that no account can have',
    transaction: { nonce: 2n ** 64n - 1n },
    word: 'NONCE_TOO_HIGH',
    message: 'nonce too high: have 18446744073709551615',
  },
  {
    name: 'that its sender cannot pay',
    transaction: { value: 10_000n * ETHER, ...fees(1n) },
    word: 'INSUFFICIENT_FUNDS',
    message: 'insufficient funds for gas * price + value: address 0x',
  },
]

function stateWithMinimum(chain: Chain): ChainState {
  return changeSettings(chain.state, { minGasPrice: 10n }).state
}

describe('the pool refuses a transaction', () => {
  it.each(REFUSALS)('$name: $word', async ({ options = {}, transaction, word, message }) => {
    const chain = await testChain(options)
    const before = chain.state
    const sending = sendRawTransaction(chain, signed(chain, transaction).raw)
    await expect(sending).rejects.toMatchObject({
      word,
      message: expect.stringContaining(message) as string,
    })
    await sending.catch((error: Error) => expect(error.message.startsWith(message)).toBe(true))
    expect(chain.state).toBe(before)
  })

  it('that already waits', async () => {
    const chain = await testChain({ noMining: true })
    const { raw, hash } = signed(chain)
    await sendRawTransaction(chain, raw)
    await expect(sendRawTransaction(chain, raw)).rejects.toThrow(
      `already known: ${hash} is in the pool`,
    )
  })

  it('that was already mined, before it reports a used nonce', async () => {
    const chain = await testChain()
    const { raw, hash } = signed(chain)
    await sendRawTransaction(chain, raw)
    await expect(sendRawTransaction(chain, raw)).rejects.toThrow(
      `already known: ${hash} is in block 1`,
    )
    const other = signed(chain, { value: 2n })
    await expect(sendRawTransaction(chain, other.raw)).rejects.toThrow(
      'nonce too low: next nonce 1, tx nonce 0',
    )
  })

  it('that offers less than the least price', async () => {
    const chain = await testChain()
    const state = stateWithMinimum(chain)
    expect(() => admit(state, signed(chain, fees(9n)), NOON)).toThrow(
      'transaction underpriced: offers 9',
    )
    expect(admit(state, signed(chain, fees(10n)), NOON).size).toBe(1)
  })

  it('of a contract, but not of an account that delegates or is impersonated', async () => {
    const keys = [1, 2, 3].map((last) => new Uint8Array(32).fill(last))
    const plain = await testChain({ keys })
    const [contract, delegate] = [account(plain, 0), account(plain, 1)]
    const genesis = parseGenesis({
      alloc: {
        [contract]: { balance: '0x1000', code: '0x00' },
        [delegate]: { balance: '0x1000', code: `0xef0100${'11'.repeat(20)}` },
      },
    })
    const chain = await testChain({ keys, genesis })
    const sending = sendRawTransaction(chain, signed(chain, { index: 0 }).raw)
    await expect(sending).rejects.toThrow(`sender not an eoa: ${contract} is a contract`)
    expect(admit(chain.state, signed(chain, { index: 1 }), NOON).size).toBe(1)
    const book = impersonateAccount(chain.state.accounts, contract)
    const { state } = changeAccounts(chain.state, book)
    expect(admit(state, signed(chain, { index: 0 }), NOON).size).toBe(1)
  })

  it('that replaces another for less than 10 % more of either fee', async () => {
    const chain = await testChain({ noMining: true })
    const replace = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint): Promise<unknown> =>
      sendRawTransaction(chain, signed(chain, { type: 2, maxFeePerGas, maxPriorityFeePerGas }).raw)
    await replace(1_001n, 100n)
    await expect(replace(1_101n, 110n)).rejects.toThrow(
      /^replacement transaction underpriced: the pending transaction with nonce 0 has fee 1001 and tip 100, its replacement needs at least 1102 and 110/,
    )
    await expect(replace(2_000n, 109n)).rejects.toMatchObject({ word: 'REPLACEMENT_UNDERPRICED' })
    await replace(1_102n, 110n)
    expect(chain.state.pool.size).toBe(1)
  })

  it('that replaces a free one for free, where any price is enough', async () => {
    const chain = await testChain({ noMining: true })
    await sendRawTransaction(chain, signed(chain, { value: 1n }).raw)
    const free = signed(chain, { value: 2n })
    await expect(sendRawTransaction(chain, free.raw)).rejects.toMatchObject({
      word: 'REPLACEMENT_UNDERPRICED',
    })
    const paid = signed(chain, { value: 2n, ...fees(1n) })
    expect(await sendRawTransaction(chain, paid.raw)).toBe(paid.hash)
  })

  it('that finds the pool full, unless it replaces another', async () => {
    const chain = await testChain({ noMining: true })
    await sendRawTransaction(chain, signed(chain).raw)
    const state = { ...chain.state, pool: { ...chain.state.pool, size: POOL_LIMIT } }
    expect(() => admit(state, signed(chain, { nonce: 1n }), NOON)).toThrow(
      'transaction pool is full: 100000',
    )
    expect(admit(state, signed(chain, fees(1n)), NOON).size).toBe(POOL_LIMIT)
  })
})

describe('the pool accepts a transaction', () => {
  it('without a chain id', async () => {
    const chain = await testChain()
    await sendRawTransaction(chain, signed(chain, { chainId: undefined }).raw)
    expect(headOf(chain.state.tree).block.transactions).toHaveLength(1)
  })

  it('below the base fee with mining on an interval', async () => {
    const chain = await testChain({ baseFee: 100n, noMining: true })
    await sendRawTransaction(chain, signed(chain, fees(1n)).raw)
    expect(chain.state.pool.size).toBe(1)
  })
})
