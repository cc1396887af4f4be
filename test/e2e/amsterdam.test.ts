// What users of viem and ethers see of a chain with the rules of amsterdam, over a real socket.
import { ContractFactory, JsonRpcProvider } from 'ethers'
import { createPublicClient, createWalletClient, http, type PublicClient } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { createDevchain, type Devchain } from '../../src/devchain.ts'
import type { Contract as Artifact } from '../support/solidity/contracts.ts'

const STRANGER = `0x${'57'.repeat(20)}` as const
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const account = mnemonicToAccount('test test test test test test test test test test test junk')
const contracts = inject('contracts')

let devchain: Devchain
let url: string
let client: PublicClient
beforeAll(async () => {
  devchain = await createDevchain({ port: 0, hardfork: 'amsterdam', clock: 'step:12' })
  url = (await devchain.listen()).url
  client = createPublicClient({ transport: http(url), pollingInterval: 20, cacheTime: 0 })
})
afterAll(() => devchain.close())

test('viem deploys, transfers and reads blocks, with gas that it estimates', async () => {
  const chain = {
    id: 33,
    name: 'devchain',
    nativeCurrency: { name: 'ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  }
  const wallet = createWalletClient({ account, chain, transport: http(url) })
  const { abi, bytecode } = contracts.Token as Artifact
  const hash = await wallet.deployContract({
    abi: abi as never,
    bytecode: bytecode as `0x${string}`,
    args: [1_000n] as never,
  })
  const deployed = await client.waitForTransactionReceipt({ hash })
  expect(deployed.status).toBe('success')
  // each byte of code is 1,530 gas of state
  const code = await client.getCode({ address: deployed.contractAddress! })
  expect(deployed.gasUsed).toBeGreaterThan(1_530n * BigInt((code!.length - 2) / 2))

  const sent = await wallet.sendTransaction({ to: STRANGER, value: 1n })
  const receipt = await client.waitForTransactionReceipt({ hash: sent })
  expect([receipt.status, receipt.gasUsed]).toEqual(['success', 204_600n])
  expect(receipt.logs.map(({ topics }) => topics[0])).toEqual([TRANSFER])
  for (const includeTransactions of [true, false]) {
    const block = await client.getBlock({ includeTransactions })
    expect(block).toMatchObject({
      number: receipt.blockNumber,
      gasUsed: 183_600n,
      slotNumber: '0x2',
      blockAccessListHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    })
  }
  const [simulated] = await client.simulateBlocks({
    blocks: [{ calls: [{ account, to: `0x${'58'.repeat(20)}`, value: 1n }] }],
  })
  expect(simulated!.calls[0]).toMatchObject({ status: 'success', gasUsed: 204_600n })
})

test('ethers deploys, transfers and reads blocks, with gas that it estimates', async () => {
  const provider = new JsonRpcProvider(url, undefined, { pollingInterval: 20, cacheTimeout: -1 })
  const signer = await provider.getSigner(0)
  const { abi, bytecode } = contracts.Token as Artifact
  const token = await new ContractFactory(abi as never, bytecode, signer).deploy(1_000n)
  const deployed = await token.deploymentTransaction()!.wait()
  expect(deployed!.status).toBe(1)
  const to = `0x${'59'.repeat(20)}`
  const sent = await signer.sendTransaction({ to, value: 1n })
  const receipt = await sent.wait()
  expect([receipt!.status, receipt!.gasUsed]).toEqual([1, 204_600n])
  expect(receipt!.logs.map(({ topics }) => topics[0])).toEqual([TRANSFER])
  const block = await provider.getBlock('latest', true)
  expect(block!.number).toBe(receipt!.blockNumber)
  expect(block!.gasUsed).toBe(183_600n)
  expect(block!.prefetchedTransactions.map(({ hash }) => hash)).toEqual([sent.hash])
  provider.destroy()
})

test('a list of a block names what both of them changed', async () => {
  const list = (await devchain.request({
    method: 'eth_getBlockAccessList',
    params: ['latest'],
  })) as readonly { address: string; balanceChanges: readonly { value: string }[] }[]
  const paid = list.find(({ address }) => address === `0x${'59'.repeat(20)}`)
  expect(paid!.balanceChanges).toEqual([{ index: '0x1', value: '0x1' }])
})
