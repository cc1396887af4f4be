// Sending in one request: what viem fills in and waits for, over a real socket.
import {
  createPublicClient,
  createWalletClient,
  type Hex,
  http,
  type PublicClient,
  type WalletClient,
} from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDevchain, type Devchain } from '../../src/devchain.ts'

const alice = mnemonicToAccount('test test test test test test test test test test test junk')
const BOB: Hex = `0x${'b0'.repeat(20)}`

let devchain: Devchain
let client: PublicClient
let wallet: WalletClient

beforeAll(async () => {
  devchain = await createDevchain({ port: 0 })
  const { url } = await devchain.listen()
  client = createPublicClient({ transport: http(url) })
  wallet = createWalletClient({ account: alice, transport: http(url) })
})
afterAll(async () => {
  await devchain.close()
})

test('viem’s sendRawTransactionSync returns the receipt', async () => {
  const serializedTransaction = await alice.signTransaction({
    type: 'eip1559',
    chainId: 33,
    nonce: await client.getTransactionCount({ address: alice.address }),
    to: BOB,
    value: 5n,
    gas: 21_000n,
    maxFeePerGas: 0n,
    maxPriorityFeePerGas: 0n,
  })
  const receipt = await client.request({
    method: 'eth_sendRawTransactionSync',
    params: [serializedTransaction, 30_000],
  } as never)
  expect(receipt).toMatchObject({ status: '0x1', to: BOB, gasUsed: '0x5208' })
})

test('viem’s sendTransactionSync signs, sends and returns the receipt', async () => {
  const receipt = await wallet.sendTransactionSync({
    account: alice,
    chain: null,
    to: BOB,
    value: 2n,
    timeout: 30_000,
  })
  expect(receipt).toMatchObject({ status: 'success', to: BOB })
  expect(await client.getBalance({ address: BOB })).toBe(7n)
})

test('viem’s fillTransaction returns a transaction that can be signed and sent', async () => {
  // its types want the members of every type of transaction
  const fill = (request: object): ReturnType<typeof client.fillTransaction> =>
    client.fillTransaction(request as never)
  const { transaction } = await fill({ account: alice.address, to: BOB, value: 1n })
  expect(transaction).toMatchObject({ nonce: 2, gas: 21_000n, value: 1n, to: BOB })
  const nobody = fill({ account: BOB, to: alice.address, value: 10n ** 18n })
  await expect(nobody).rejects.toThrow(/insufficient funds|exceeds the balance/)
})
