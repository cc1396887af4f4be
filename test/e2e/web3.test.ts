// What users of web3.js 4 do, over a real socket, against contracts compiled in this run.
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { Web3 } from 'web3'
import { createDevchain, type Devchain } from '../../src/devchain.ts'
import type { Contract as Artifact } from '../support/solidity/contracts.ts'
import { eventually } from '../support/waiting/eventually.ts'

const contracts = inject('contracts')

let devchain: Devchain
let web3: Web3
let url: string
let accounts: string[]

beforeAll(async () => {
  devchain = await createDevchain({ port: 0 })
  url = (await devchain.listen()).url
  web3 = new Web3(url)
  accounts = await web3.eth.getAccounts()
})
afterAll(async () => {
  await devchain.close()
})

// web3's types follow the ABI, which is known only when the test runs
type Loose = {
  options: { address: string }
  methods: Record<
    string,
    (...args: unknown[]) => {
      encodeABI(): string
      call(options?: object): Promise<unknown>
      send(options: object): Promise<{ status: bigint; events?: Record<string, unknown> }>
    }
  >
  getPastEvents(name: string, options: object): Promise<unknown[]>
}

async function deploy(name: string, args: unknown[] = []): Promise<Loose> {
  const { abi, bytecode } = contracts[name] as Artifact
  const contract = new web3.eth.Contract(abi as never)
  const deployed = await contract
    .deploy({ data: bytecode, arguments: args as never })
    .send({ from: accounts[0] as string, gas: '5000000' })
  return deployed as unknown as Loose
}

test('web3 deploys, transfers and reads an ERC-20, and finds its past events', async () => {
  const token = await deploy('Token', [1000])
  const receipt = await token.methods.transfer?.(accounts[1], 25).send({ from: accounts[0] })
  expect(receipt?.status).toBe(1n)
  expect(Object.keys(receipt?.events ?? {})).toContain('Transfer')
  expect(await token.methods.balanceOf?.(accounts[1]).call()).toBe(25n)
  expect(await token.getPastEvents('Transfer', { fromBlock: 0 })).toHaveLength(2)
})

test('web3 uses an ERC-721 and a proxy as on a public chain', async () => {
  const collectible = await deploy('Collectible')
  await collectible.methods.mint?.(accounts[3]).send({ from: accounts[0], gas: '300000' })
  expect(await collectible.methods.ownerOf?.(1).call()).toBe(accounts[3])
  const counter = await deploy('Counter')
  const data = counter.methods.initialize?.(0).encodeABI()
  const proxy = await deploy('CounterProxy', [counter.options.address, data])
  const behind = new web3.eth.Contract(
    contracts.Counter?.abi as never,
    proxy.options.address,
  ) as unknown as Loose
  await behind.methods.increment?.().send({ from: accounts[0] })
  expect(await behind.methods.count?.().call()).toBe(1n)
})

test('web3 has the reason of a reverted call', async () => {
  const vault = await deploy('Vault', [0])
  const selector = web3.utils.sha3('NotEnough(address,uint256,uint256)')?.slice(0, 10)
  await expect(vault.methods.withdraw?.(5).call({ from: accounts[0] })).rejects.toMatchObject({
    cause: { code: -32015, data: expect.stringMatching(`^${selector}`) },
  })
  await expect(vault.methods.deposit?.('').call({ from: accounts[0] })).rejects.toMatchObject({
    cause: { message: 'VM Exception while processing transaction: revert nothing sent' },
  })
})

test('web3 finds the state restored after a snapshot, a change and a revert', async () => {
  const send = (method: string, params: unknown[] = []): Promise<unknown> =>
    web3.requestManager.send({ method, params } as never)
  const before = await web3.eth.getBalance(accounts[5] as string)
  const id = await send('evm_snapshot')
  await web3.eth.sendTransaction({
    from: accounts[5] as string,
    to: accounts[6] as string,
    value: 9,
  })
  expect(await web3.eth.getBalance(accounts[5] as string)).not.toBe(before)
  expect(await send('evm_revert', [id])).toBe(true)
  expect(await web3.eth.getBalance(accounts[5] as string)).toBe(before)
})

test('web3 recovers the account of a message that the node signed', async () => {
  const signature = await web3.eth.sign(web3.utils.utf8ToHex('hello'), accounts[0] as string)
  expect(web3.eth.accounts.recover('hello', signature as string)).toBe(accounts[0])
})

test('web3 completes 500 parallel sends from one account', async () => {
  const from = accounts[8] as string
  const first = await web3.eth.getTransactionCount(from)
  const send = (): Promise<string> =>
    web3.requestManager.send({
      method: 'eth_sendTransaction',
      params: [{ from, to: accounts[9], value: '0x1', gas: '0x5208' }],
    } as never) as Promise<string>
  const hashes = await Promise.all(Array.from({ length: 500 }, send))
  expect(new Set(hashes).size).toBe(500)
  expect(await web3.eth.getTransactionCount(from)).toBe(first + 500n)
})

test('web3 gets heads and logs by subscriptions over WebSocket', async () => {
  const socket = new Web3(url.replace('http', 'ws'))
  const heard: string[] = []
  const heads = await socket.eth.subscribe('newBlockHeaders')
  heads.on('data', () => void heard.push('head'))
  const token = await deploy('Token', [1000])
  const logs = await socket.eth.subscribe('logs', { address: token.options.address })
  logs.on('data', () => void heard.push('log'))
  await eventually(async () => {
    await token.methods.transfer?.(accounts[1], 1).send({ from: accounts[0] })
    return heard.includes('head') && heard.includes('log')
  })
  socket.provider?.disconnect()
})
