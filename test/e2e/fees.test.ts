// The fee market as users of client libraries meet it: they name no fee, and their transactions are mined.
import { JsonRpcProvider, Wallet } from 'ethers'
import { createPublicClient, createWalletClient, defineChain, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Web3 } from 'web3'
import { createDevchain, type Devchain } from '../../src/devchain.ts'

const KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const FROM = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const TO = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
/** As the code of a contract: a loop that ends when the gas does. */
const LOOP = '0x5b600056'

describe.each([
  ['a market that starts at 1 gwei', { baseFee: '1 gwei' }],
  ['a base fee pinned at zero', {}],
])('with %s', (_, options) => {
  let devchain: Devchain
  let url: string
  beforeAll(async () => {
    devchain = await createDevchain({ ...options, port: 0 })
    url = (await devchain.listen()).url
  })
  afterAll(() => devchain.close())

  test('viem sends without a fee, with its own key and with the node’s', async () => {
    const nativeCurrency = { name: 'Ether', symbol: 'ETH', decimals: 18 }
    const rpcUrls = { default: { http: [url] } }
    const chain = defineChain({ id: 33, name: 'devchain', nativeCurrency, rpcUrls })
    const reader = createPublicClient({ chain, transport: http() })
    for (const account of [privateKeyToAccount(KEY), FROM] as const) {
      const wallet = createWalletClient({ chain, transport: http(), account })
      const hash = await wallet.sendTransaction({ to: TO, value: 1n })
      expect((await reader.getTransactionReceipt({ hash })).status).toBe('success')
    }
  })

  test('ethers sends without a fee, with its own key and with the node’s', async () => {
    const provider = new JsonRpcProvider(url, undefined, { pollingInterval: 20, cacheTimeout: -1 })
    for (const signer of [new Wallet(KEY, provider), await provider.getSigner(0)]) {
      const sent = await signer.sendTransaction({ to: TO, value: 1n })
      expect((await sent.wait())?.status).toBe(1)
    }
    provider.destroy()
  })

  test('web3 sends without a fee, with its own key and with the node’s', async () => {
    const own = new Web3(url)
    own.eth.accounts.wallet.add(KEY)
    for (const web3 of [own, new Web3(url)]) {
      const receipt = await web3.eth.sendTransaction({ from: FROM, to: TO, value: '1' })
      expect(receipt.status).toBe(1n)
    }
  })
})

test('the base fee falls by an eighth after an empty block, and rises after a full one', async () => {
  await using devchain = await createDevchain({ baseFee: '1 gwei' })
  const baseFee = async (): Promise<bigint> => {
    const block = await devchain.request({
      method: 'eth_getBlockByNumber',
      params: ['latest', false],
    })
    return BigInt((block as { baseFeePerGas: string }).baseFeePerGas)
  }
  const first = await baseFee()
  await devchain.request({ method: 'evm_mine', params: [] })
  expect(await baseFee()).toBe(first - first / 8n)
  const full = { from: FROM, data: LOOP, gas: '0x1c9c380' }
  await devchain.request({ method: 'eth_sendTransaction', params: [full] })
  const before = await baseFee()
  await devchain.request({ method: 'evm_mine', params: [] })
  expect(await baseFee()).toBe(before + before / 8n)
})
