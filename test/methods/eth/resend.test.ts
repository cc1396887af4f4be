// eth_resend: what waits is replaced by the same for another price, whatever its type, and nothing else is.
import { mnemonicToAccount, privateKeyToAccount } from 'viem/accounts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { hexFromBytes, ZERO_HASH } from '../../../src/core/hex.ts'
import { createDevchain, type Devchain } from '../../../src/devchain.ts'
import { sidecarOf } from '../../support/evm/blobs.ts'

const alice = mnemonicToAccount('test test test test test test test test test test test junk')
const ALICE = alice.address.toLowerCase()
const BOB = '0x0000000000000000000000000000000000000b0b'
const GWEI = 1_000_000_000n

interface Answered {
  readonly hash: string
  readonly from: string
  readonly nonce: string
  readonly [member: string]: unknown
}

let devchain: Devchain
const ask = <T>(method: string, ...params: unknown[]): Promise<T> =>
  devchain.request({ method, params }) as Promise<T>
const hex = (value: bigint): string => `0x${value.toString(16)}`
const waiting = (hash: string): Promise<Answered> => ask('eth_getTransactionByHash', hash)

beforeEach(async () => {
  devchain = await createDevchain({ clock: 'frozen', noMining: true })
})
afterEach(() => devchain.close())

/** Members that say nothing about what a transaction does. */
const MARKS = ['hash', 'v', 'r', 's', 'yParity', 'gas', 'gasPrice']
const FEES = ['maxFeePerGas', 'maxPriorityFeePerGas']

function actOf(transaction: Answered): Record<string, unknown> {
  const kept = Object.entries(transaction).filter(([name]) => ![...MARKS, ...FEES].includes(name))
  return Object.fromEntries(kept)
}

const list = [{ address: BOB, storageKeys: [ZERO_HASH] }]

describe('eth_resend', () => {
  test.each([
    { what: 'legacy', sent: { to: BOB, value: '0x1', gasPrice: hex(GWEI) } },
    { what: 'a creation', sent: { data: '0x00', gasPrice: hex(GWEI) } },
    {
      what: 'with an access list',
      sent: { to: BOB, data: '0x1234', gasPrice: hex(GWEI), accessList: list },
    },
    {
      what: 'with two fees',
      sent: {
        to: BOB,
        maxFeePerGas: hex(2n * GWEI),
        maxPriorityFeePerGas: hex(GWEI),
        accessList: list,
      },
    },
  ])('replaces a transaction as nodes return it: $what', async ({ sent }) => {
    const hash = await ask<string>('eth_sendTransaction', { from: ALICE, gas: '0x20000', ...sent })
    const before = await waiting(hash)
    const price = hex(3n * GWEI)
    const replacement = await ask<string>('eth_resend', before, price, '0x30000')
    expect(replacement).not.toBe(hash)
    const after = await waiting(replacement)
    expect(actOf(after)).toEqual(actOf(before))
    expect(after).toMatchObject({ gas: '0x30000', gasPrice: price })
    for (const fee of FEES) expect(after[fee]).toBe(before[fee] && price)
    expect(await waiting(hash)).toBeNull()
    expect(await ask('txpool_status')).toEqual({ pending: '0x1', queued: '0x0' })
    await ask('evm_mine')
    expect(await ask('eth_getTransactionReceipt', replacement)).toMatchObject({ status: '0x1' })
  })

  test('keeps authorizations', async () => {
    const given = await privateKeyToAccount(`0x${'42'.repeat(32)}`).signAuthorization({
      address: BOB,
      chainId: 33,
      nonce: 0,
    })
    const raw = await alice.signTransaction({
      type: 'eip7702',
      chainId: 33,
      nonce: 0,
      gas: 100_000n,
      to: BOB,
      maxFeePerGas: GWEI,
      maxPriorityFeePerGas: 1n,
      authorizationList: [given],
    })
    const before = await waiting(await ask('eth_sendRawTransaction', raw))
    const after = await waiting(await ask('eth_resend', before, hex(2n * GWEI)))
    expect(actOf(after)).toEqual(actOf(before))
    expect(after.authorizationList).toHaveLength(1)
  })
})

test('eth_resend needs only sender and nonce, and ignores a price or gas limit of zero', async () => {
  const hash = await ask('eth_sendTransaction', { from: ALICE, to: BOB, gasPrice: '0x64' })
  const known = { from: ALICE, nonce: '0x0' }
  const second = await ask<string>('eth_resend', known, '0x6e', '0x0')
  expect(await waiting(second)).toMatchObject({ gas: '0x15f90', gasPrice: '0x6e' })
  expect(second).not.toBe(hash)
  await expect(ask('eth_resend', known, '0x0', '0x5208')).rejects.toMatchObject({
    code: -32003,
    message: expect.stringMatching(
      /^replacement transaction underpriced: the pending transaction with nonce 0 has/,
    ),
  })
  expect(await waiting(second)).not.toBeNull()
})

test('eth_resend replaces one of several transactions in its place', async () => {
  for (const nonce of ['0x0', '0x1', '0x2']) {
    await ask('eth_sendTransaction', { from: ALICE, to: BOB, gasPrice: '0x64', nonce })
  }
  const hash = await ask('eth_resend', { from: ALICE, nonce: '0x1' }, '0xc8')
  await ask('evm_mine')
  const { transactions } = await ask<{ transactions: string[] }>(
    'eth_getBlockByNumber',
    'latest',
    false,
  )
  expect(transactions).toHaveLength(3)
  expect(transactions[1]).toBe(hash)
})

test('eth_resend finds a waiting transaction under instant mining too', async () => {
  await ask('evm_setAutomine', true)
  const known = { from: ALICE, nonce: '0x1' }
  await ask('eth_sendTransaction', { ...known, to: BOB, gasPrice: '0x64' })
  const hash = await ask<string>('eth_resend', known, '0xc8')
  await ask('eth_sendTransaction', { from: ALICE, to: BOB })
  expect(await ask('eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1' })
})

test('eth_resend replaces one of an impersonated sender, but not of a stranger', async () => {
  await ask('hardhat_setBalance', BOB, hex(10n ** 18n))
  await ask('eth_sendUnsignedTransaction', { from: BOB, to: ALICE, gasPrice: '0x64' })
  const known = { from: BOB, nonce: '0x0' }
  await expect(ask('eth_resend', known, '0xc8')).rejects.toThrow(`unknown account ${BOB}`)
  await ask('hardhat_impersonateAccount', BOB)
  expect(await waiting(await ask('eth_resend', known, '0xc8'))).toMatchObject({ from: BOB })
})

test.each([
  { member: 'to', given: ALICE, expected: `"${BOB}"` },
  { member: 'value', given: '0x2', expected: '1' },
  { member: 'data', given: '0x12', expected: '"0x"' },
  { member: 'gas', given: '0x5209', expected: '90000' },
  { member: 'gasPrice', given: '0x65', expected: '100' },
  { member: 'maxFeePerGas', given: '0x65', expected: '100' },
  { member: 'maxPriorityFeePerGas', given: '0x65', expected: '100' },
  { member: 'type', given: '0x2', expected: '0' },
  { member: 'chainId', given: '0x1', expected: '33' },
  { member: 'accessList', given: list, expected: '[]' },
])('eth_resend refuses another $member', async ({ member, given, expected }) => {
  const sent = { from: ALICE, to: BOB, value: '0x1', gasPrice: '0x64' }
  const hash = await ask<string>('eth_sendTransaction', sent)
  const request = { from: ALICE, nonce: '0x0', [member]: given }
  await expect(ask('eth_resend', request, '0xc8')).rejects.toMatchObject({
    code: -32602,
    message: expect.stringContaining(
      `transaction.${member}: expected ${expected}, as in the pending transaction ${hash}`,
    ),
  })
})

describe('eth_resend of a blob transaction', () => {
  const sidecar = sidecarOf(0, [1, 3])
  const inHex = (list: readonly Uint8Array[]): string[] => list.map(hexFromBytes)
  const blobs = inHex(sidecar.blobs)
  const send = (): Promise<string> =>
    ask('eth_sendTransaction', {
      from: ALICE,
      to: BOB,
      gas: '0x5208',
      maxFeePerGas: hex(GWEI),
      maxFeePerBlobGas: '0x65',
      blobs,
      commitments: inHex(sidecar.commitments),
      proofs: inHex(sidecar.proofs),
    })

  test('keeps its blobs, and offers a tenth more for them', async () => {
    const before = await waiting(await send())
    const replacement = await ask<string>('eth_resend', before, hex(2n * GWEI))
    const after = await waiting(replacement)
    expect(after.maxFeePerBlobGas).toBe('0x70')
    expect({ ...actOf(after), maxFeePerBlobGas: '0x65' }).toEqual(actOf(before))
    expect(await ask('anvil_getBlobsByTransactionHash', replacement)).toEqual(blobs)
    expect(await ask('anvil_getBlobsByTransactionHash', before.hash)).toBeNull()
    await ask('evm_mine')
    expect(await ask('eth_getTransactionReceipt', replacement)).toMatchObject({
      status: '0x1',
      blobGasUsed: '0x40000',
    })
  })

  test.each([
    { member: 'maxFeePerBlobGas', given: '0x66', expected: '101' },
    { member: 'blobVersionedHashes', given: [`0x01${'00'.repeat(31)}`], expected: '["0x01' },
  ])('refuses another $member', async ({ member, given, expected }) => {
    const before = await waiting(await send())
    await expect(
      ask('eth_resend', { ...before, [member]: given }, hex(2n * GWEI)),
    ).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining(`transaction.${member}: expected ${expected}`),
    })
  })
})
