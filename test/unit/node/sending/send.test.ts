// Sending: defaults, nonces, signing, and mining before the reply.
import { describe, expect, it } from 'vitest'
import { keccakHash } from '../../../../src/core/crypto/crypto.ts'
import {
  type Address,
  bytesFromHex,
  type Hash,
  hexFromBytes,
  parseAddress,
} from '../../../../src/core/hex.ts'
import { impersonateAccount, lock } from '../../../../src/node/accounts/accounts.ts'
import type { Chain } from '../../../../src/node/chain/chain.ts'
import { mine } from '../../../../src/node/commands/mine.ts'
import { startMining, stopMining } from '../../../../src/node/commands/miningmode.ts'
import { changeAccounts } from '../../../../src/node/commands/settings.ts'
import { headOf, transactionPlace } from '../../../../src/node/ledger/blocktree.ts'
import { pendingOf, queuedBySender } from '../../../../src/node/pool/pool.ts'
import { fillTransaction } from '../../../../src/node/sending/fill.ts'
import { sendRawTransaction, sendTransaction } from '../../../../src/node/sending/send.ts'
import { signRequest } from '../../../../src/node/sending/sign.ts'
import { nonceAt } from '../../../../src/state/world.ts'
import { account, height, NOON, signed, testChain } from '../chains.ts'

/** Code that reverts with what it was called with. */
const REVERTER = bytesFromHex('0x366000600037366000fd')

/** Init code that deploys `code`, of at most 255 bytes. */
function initCode(code: Uint8Array): Uint8Array {
  const length = code.length.toString(16).padStart(2, '0')
  return bytesFromHex(`0x60${length}600c60003960${length}6000f3${hexFromBytes(code).slice(2)}`)
}

function executedOf(chain: Chain, hash: Hash) {
  const place = transactionPlace(chain.state.tree, hash)
  return place?.record.executed[place.index]
}

async function deployReverter(chain: Chain): Promise<Address> {
  const from = account(chain, 0)
  const hash = await sendTransaction(chain, { from, data: initCode(REVERTER), gas: 200_000n })
  return executedOf(chain, hash)!.receipt.contractAddress!
}

describe('sending under instant mining', () => {
  it('mines a block with the transaction before the hash is returned', async () => {
    const chain = await testChain()
    const hash = await sendTransaction(chain, {
      from: account(chain, 0),
      to: account(chain, 1),
      value: 3n,
    })
    expect(height(chain)).toBe(1n)
    expect(executedOf(chain, hash)?.receipt).toMatchObject({ status: true, gasUsed: 21_000n })
  })

  it('gives parallel sends of one account consecutive nonces, each in its own block', async () => {
    const chain = await testChain()
    const from = account(chain, 0)
    const hashes = await Promise.all(
      Array.from({ length: 100 }, () => sendTransaction(chain, { from, to: from })),
    )
    expect(new Set(hashes).size).toBe(100)
    expect(height(chain)).toBe(100n)
    expect(nonceAt(headOf(chain.state.tree).world, from)).toBe(100n)
  })

  it('allows parallel sends with given nonces among others and ahead of them', async () => {
    const chain = await testChain()
    const from = account(chain, 0)
    const hashes = await Promise.all(
      Array.from({ length: 60 }, (_, i) => {
        // every third names the nonce that is its turn; the last ten come in reverse
        const nonce = i >= 50 ? BigInt(109 - i) : i % 3 === 0 ? BigInt(i) : undefined
        return sendTransaction(chain, { from, to: from, nonce })
      }),
    )
    expect(new Set(hashes).size).toBe(60)
    expect(height(chain)).toBe(60n)
    expect(chain.state.pool.size).toBe(0)
    expect(nonceAt(headOf(chain.state.tree).world, from)).toBe(60n)
  })

  it('keeps a transaction with a nonce gap, and mines all that fit once it is filled', async () => {
    const chain = await testChain()
    const ahead = await Promise.all(
      [1n, 2n].map((nonce) => sendRawTransaction(chain, signed(chain, { nonce }).raw)),
    )
    expect(height(chain)).toBe(0n)
    const { pool, tree } = chain.state
    const queued = queuedBySender(pool, headOf(tree).world)
    expect([...queued.values()].flat()).toHaveLength(2)
    await sendRawTransaction(chain, signed(chain, { nonce: 0n }).raw)
    expect(height(chain)).toBe(3n)
    expect(
      ahead.map((hash) => transactionPlace(chain.state.tree, hash)?.record.block.header.number),
    ).toEqual([2n, 3n])
    expect(chain.state.pool.size).toBe(0)
  })

  it('mines a transaction that reverts and returns its hash', async () => {
    const chain = await testChain()
    const to = await deployReverter(chain)
    const hash = await sendTransaction(chain, {
      from: account(chain, 0),
      to,
      data: Uint8Array.of(1, 2, 3, 4),
    })
    const executed = executedOf(chain, hash)
    expect(executed?.receipt.status).toBe(false)
    expect(executed?.failure?.kind).toBe('revert')
    expect(executed?.output).toEqual(Uint8Array.of(1, 2, 3, 4))
  })

  it('throws the revert with hash and data under onRevert: throw, and the block stays', async () => {
    const chain = await testChain({ onRevert: 'throw' })
    const to = await deployReverter(chain)
    const sending = sendTransaction(chain, {
      from: account(chain, 0),
      to,
      data: Uint8Array.of(1, 2, 3, 4),
    })
    const error = await sending.catch((reason: unknown) => reason)
    const [transaction] = headOf(chain.state.tree).block.transactions
    expect(error).toMatchObject({
      word: 'EXECUTION_REVERTED',
      message: expect.stringMatching(
        /^VM Exception while processing transaction: revert/,
      ) as string,
      data: { hash: transaction?.hash, data: '0x01020304' },
    })
    expect(height(chain)).toBe(2n)
  })

  it('waits while mining is stopped, and mines waiting transactions when it restarts', async () => {
    const chain = await testChain()
    await chain.update(stopMining)
    const from = account(chain, 0)
    await Promise.all([1, 2, 3].map(() => sendTransaction(chain, { from, to: from })))
    expect(height(chain)).toBe(0n)
    expect(pendingOf(chain.state.pool, headOf(chain.state.tree).world)).toHaveLength(3)
    await chain.update((state) => startMining(chain.executor, state, NOON))
    expect(height(chain)).toBe(3n)
  })
})

describe('filling in a transaction', () => {
  it('uses the defaults: a legacy transaction, 90,000 gas, free', async () => {
    const chain = await testChain()
    const from = account(chain, 0)
    expect(await fillTransaction(chain, { from, to: from })).toMatchObject({
      type: 0,
      gasLimit: 90_000n,
      maxFeePerGas: 0n,
      nonce: 0n,
      chainId: 33n,
    })
  })

  it('counts the nonce after waiting transactions', async () => {
    const chain = await testChain({ noMining: true })
    const from = account(chain, 0)
    await sendTransaction(chain, { from, to: from })
    await sendTransaction(chain, { from, to: from })
    expect((await fillTransaction(chain, { from, to: from })).nonce).toBe(2n)
  })

  it.each([
    { request: { gasPrice: 5n }, type: 0 },
    { request: { gasPrice: 5n, accessList: [] }, type: 1 },
    { request: { maxFeePerGas: 5n }, type: 2 },
    { request: { maxPriorityFeePerGas: 0n }, type: 2 },
    { request: { type: 2 }, type: 2 },
    { request: { authorizationList: [] }, type: 4 },
  ])('turns $request into a transaction of type $type', async ({ request, type }) => {
    const chain = await testChain()
    const from = account(chain, 0)
    expect((await fillTransaction(chain, { from, to: from, ...request })).type).toBe(type)
  })

  it('offers enough to be mined if the base fee is above the default price', async () => {
    const chain = await testChain({ baseFee: 1_000_000_000n })
    const from = account(chain, 0)
    const hash = await sendTransaction(chain, { from, to: from })
    expect(executedOf(chain, hash)?.transaction.type).toBe(2)
    expect(executedOf(chain, hash)?.receipt.effectiveGasPrice).toBeLessThan(1_000_000_000n)
  })

  it('estimates gas if that is the default', async () => {
    const chain = await testChain({ defaultGas: 'estimate' })
    const from = account(chain, 0)
    const hash = await sendTransaction(chain, { from, to: account(chain, 1) })
    expect(executedOf(chain, hash)?.transaction.gasLimit).toBe(21_000n)
  })

  it.each([
    [{ gasPrice: 1n, maxFeePerGas: 1n }, 'INVALID_PARAMS', /either gasPrice, or maxFeePerGas/],
    [{ type: 0, maxFeePerGas: 1n }, 'INVALID_PARAMS', /type 0 has no maxFeePerGas/],
    [{ type: 1, authorizationList: [] }, 'INVALID_PARAMS', /type 1 has no authorizationList/],
    [{ type: 5 }, 'TYPE_NOT_SUPPORTED', /expected 0 to 4, got 5/],
    [{ type: 3 }, 'INVALID_BLOBS', /^blob transaction missing blob hashes/],
    [{ type: 3, to: null, data: REVERTER }, 'INVALID_BLOBS', /^blob transaction of type create/],
    [
      { type: 2, blobs: { versionedHashes: [] } },
      'INVALID_PARAMS',
      /type 2 has no blobVersionedHashes/,
    ],
    [
      { blobs: { versionedHashes: [] }, authorizationList: [] },
      'INVALID_PARAMS',
      /type 4 has no blobVersionedHashes/,
    ],
    [{ chainId: 1n }, 'WRONG_CHAIN_ID', /have 1 want 33/],
    [{ to: null }, 'INVALID_PARAMS', /got neither/],
    [{ from: undefined }, 'INVALID_PARAMS', /^from: expected/],
  ])('refuses %o with %s', async (changes, word, message) => {
    const chain = await testChain()
    const from = account(chain, 0)
    const sending = sendTransaction(chain, { from, to: from, ...changes })
    await expect(sending).rejects.toMatchObject({
      word,
      message: expect.stringMatching(message) as string,
    })
  })
})

describe('signing a transaction', () => {
  it('is refused for locked and unknown accounts', async () => {
    const chain = await testChain()
    const from = account(chain, 0)
    await chain.update((state) => changeAccounts(state, lock(state.accounts, from, NOON)!))
    await expect(sendTransaction(chain, { from, to: from })).rejects.toMatchObject({
      word: 'ACCOUNT_LOCKED',
    })
    const stranger = parseAddress(`0x${'77'.repeat(20)}`)
    await expect(sendTransaction(chain, { from: stranger, to: from })).rejects.toMatchObject({
      word: 'UNKNOWN_ACCOUNT',
    })
    await expect(signRequest(chain, { from: stranger, to: from })).rejects.toMatchObject({
      word: 'UNKNOWN_ACCOUNT',
    })
  })

  it('is not needed for impersonated accounts, whose transactions have different hashes', async () => {
    const chain = await testChain()
    const strangers = ['77', '78'].map((digits) => parseAddress(`0x${digits.repeat(20)}`))
    const hashes = []
    for (const from of strangers) {
      await chain.update((state) => changeAccounts(state, impersonateAccount(state.accounts, from)))
      hashes.push(await sendTransaction(chain, { from, to: account(chain, 0), gasPrice: 0n }))
    }
    expect(new Set(hashes).size).toBe(2)
    expect(hashes.map((hash) => executedOf(chain, hash)?.transaction.from)).toEqual(strangers)
  })

  it('makes a transaction that can be sent raw', async () => {
    const chain = await testChain({ noMining: true })
    const from = account(chain, 3)
    const raw = await signRequest(chain, { from, to: from, type: 2 })
    const hash = await sendRawTransaction(chain, raw)
    expect(hash).toBe(keccakHash(raw))
    await chain.update((state) => mine(chain.executor, state, { now: NOON }))
    expect(executedOf(chain, hash)?.transaction.from).toBe(from)
  })
})
