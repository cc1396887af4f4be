// What users of viem do, over a real socket, against contracts compiled in this run.
import {
  type Abi,
  createPublicClient,
  createTestClient,
  createWalletClient,
  decodeErrorResult,
  defineChain,
  encodeFunctionData,
  type Hex,
  http,
  type PublicClient,
  parseEther,
  type TestClient,
  type WalletClient,
  webSocket,
} from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { createDevchain, type Devchain } from '../../src/devchain.ts'
import type { Contract } from '../support/solidity/contracts.ts'
import { eventually } from '../support/waiting/eventually.ts'

const MNEMONIC = 'test test test test test test test test test test test junk'
const contracts = inject('contracts')

let devchain: Devchain
let client: PublicClient
let wallet: WalletClient
let tester: TestClient
let wsUrl: string
let accounts: readonly Hex[]

const chain = (url: string): ReturnType<typeof defineChain> =>
  defineChain({
    id: 33,
    name: 'devchain',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  })

beforeAll(async () => {
  devchain = await createDevchain({ port: 0 })
  const { url } = await devchain.listen()
  wsUrl = url.replace('http', 'ws')
  const common = {
    chain: chain(url),
    transport: http(url, { timeout: 60_000 }),
    pollingInterval: 20,
  }
  client = createPublicClient(common) as PublicClient
  wallet = createWalletClient(common)
  tester = createTestClient({ ...common, mode: 'ganache' })
  accounts = await wallet.getAddresses()
})
afterAll(async () => {
  await devchain.close()
})

async function deploy(
  { abi, bytecode }: Contract,
  args: readonly unknown[] = [],
): Promise<{ address: Hex; abi: Abi }> {
  const hash = await wallet.deployContract({
    abi: abi as Abi,
    bytecode,
    args,
    account: accounts[0] as Hex,
    chain: null,
    gas: 5_000_000n,
  })
  const receipt = await client.getTransactionReceipt({ hash })
  expect(receipt.status).toBe('success')
  return { address: receipt.contractAddress as Hex, abi: abi as Abi }
}

const send = (
  contract: { address: Hex; abi: Abi },
  functionName: string,
  args: readonly unknown[] = [],
  from = 0,
): Promise<Hex> =>
  wallet.writeContract({
    ...contract,
    functionName,
    args,
    account: accounts[from] as Hex,
    chain: null,
    // viem leaves the gas to the node, whose default of 90,000 is little
    gas: 500_000n,
  })

const status = async (hash: Promise<Hex>): Promise<string> =>
  (await client.getTransactionReceipt({ hash: await hash })).status

const read = <T>(
  contract: { address: Hex; abi: Abi },
  functionName: string,
  args: readonly unknown[] = [],
): Promise<T> => client.readContract({ ...contract, functionName, args }) as Promise<T>

describe('viem', () => {
  test('deploys, transfers and reads an ERC-20, and finds its event in the receipt', async () => {
    const token = await deploy(contracts.Token as Contract, [parseEther('1000')])
    const hash = await send(token, 'transfer', [accounts[1], 25n])
    const receipt = await client.getTransactionReceipt({ hash })
    expect(receipt.logs).toHaveLength(1)
    expect(await read<bigint>(token, 'balanceOf', [accounts[1]])).toBe(25n)
    const events = await client.getContractEvents({
      ...token,
      eventName: 'Transfer',
      fromBlock: receipt.blockNumber,
    })
    expect(events.map((event) => (event as unknown as { args: object }).args)).toEqual([
      { from: expect.any(String), to: expect.any(String), value: 25n },
    ])
  })

  test('reads the owner of a minted ERC-721', async () => {
    const collectible = await deploy(contracts.Collectible as Contract)
    await send(collectible, 'mint', [accounts[2]])
    const owner = await read<string>(collectible, 'ownerOf', [1n])
    expect(owner.toLowerCase()).toBe(accounts[2]?.toLowerCase())
  })

  test('upgrades a proxy, which keeps its state, as its owner only', async () => {
    const first = await deploy(contracts.Counter as Contract)
    const second = await deploy(contracts.CounterTwo as Contract)
    const data = encodeFunctionData({ abi: first.abi, functionName: 'initialize', args: [40n] })
    const { address } = await deploy(contracts.CounterProxy as Contract, [first.address, data])
    const proxy = { address, abi: first.abi }
    await send(proxy, 'increment')
    expect(await status(send(proxy, 'upgradeToAndCall', [second.address, '0x'], 1))).toBe(
      'reverted',
    )
    expect(await status(send(proxy, 'upgradeToAndCall', [second.address, '0x']))).toBe('success')
    expect(await read<bigint>(proxy, 'count')).toBe(41n)
    expect(await read<bigint>(proxy, 'version')).toBe(2n)
  })
})

describe('viem’s errors', () => {
  test('have the data of a revert reason, a panic and a custom error', async () => {
    const vault = await deploy(contracts.Vault as Contract, [0n])
    const failure = async (call: Promise<unknown>): Promise<string> =>
      call.then(
        () => 'no failure',
        (error: Error) => error.message,
      )
    expect(
      await failure(client.simulateContract({ ...vault, functionName: 'deposit', args: [''] })),
    ).toContain('VM Exception while processing transaction: revert nothing sent')
    expect(await failure(read(vault, 'divide', [1n, 0n]))).toContain('panic 0x12')
    const raw = await devchain
      .request({
        method: 'eth_call',
        params: [
          {
            from: accounts[0],
            to: vault.address,
            data: encodeFunctionData({ abi: vault.abi, functionName: 'withdraw', args: [7n] }),
          },
        ],
      })
      .then(
        () => undefined,
        (error: { code: number; data: Hex }) => error,
      )
    expect(raw?.code).toBe(-32015)
    const decoded = decodeErrorResult({ abi: vault.abi, data: raw?.data as Hex })
    expect(decoded.errorName).toBe('NotEnough')
    expect((decoded.args as unknown[]).slice(1)).toEqual([7n, 0n])
  })

  test('are none for a mined transaction with status reverted', async () => {
    const vault = await deploy(contracts.Vault as Contract, [0n])
    const hash = await wallet.writeContract({
      ...vault,
      functionName: 'withdraw',
      args: [1n],
      account: accounts[0] as Hex,
      chain: null,
      gas: 100_000n,
    })
    expect((await client.getTransactionReceipt({ hash })).status).toBe('reverted')
  })
})

describe('a viem wallet', () => {
  const account = mnemonicToAccount(MNEMONIC, { addressIndex: 5 })

  test.each([
    ['legacy', { gasPrice: 1n }],
    ['eip2930', { gasPrice: 1n, accessList: [] }],
    ['eip1559', { maxFeePerGas: 2n, maxPriorityFeePerGas: 1n }],
  ] as const)('signs a %s transaction that keeps its type, hash and sender', async (type, fees) => {
    const request = await wallet.prepareTransactionRequest({
      account,
      chain: wallet.chain,
      to: accounts[3] as Hex,
      value: 5n,
      type,
      gas: 30_000n,
      ...fees,
    } as Parameters<typeof wallet.prepareTransactionRequest>[0])
    const serializedTransaction = await account.signTransaction(request as never)
    const hash = await client.sendRawTransaction({ serializedTransaction })
    const transaction = await client.getTransaction({ hash })
    expect(transaction.type).toBe(type)
    expect(transaction.from).toBe(account.address.toLowerCase())
    expect((await client.getTransactionReceipt({ hash })).status).toBe('success')
  })

  test('gives an account the code of another by a set-code transaction', async () => {
    const { address: target } = await deploy(contracts.Counter as Contract)
    const authorization = await account.signAuthorization?.({
      address: target,
      chainId: 33,
      nonce: await client.getTransactionCount({ address: account.address }),
    })
    const hash = await wallet.sendTransaction({
      account: mnemonicToAccount(MNEMONIC, { addressIndex: 6 }),
      chain: wallet.chain ?? null,
      to: account.address,
      authorizationList: authorization ? [authorization] : [],
      gas: 200_000n,
    })
    expect((await client.getTransactionReceipt({ hash })).type).toBe('eip7702')
    expect(await client.getCode({ address: account.address })).toBe(
      `0xef0100${target.slice(2).toLowerCase()}`,
    )
  })

  test('verifies a message and typed data that the node signed', async () => {
    const address = accounts[0] as Hex
    const signature = await wallet.signMessage({ account: address, message: 'hello' })
    expect(await client.verifyMessage({ address, message: 'hello', signature })).toBe(true)
    const typed = {
      domain: { name: 'devchain', chainId: 33 },
      types: {
        Mail: [
          { name: 'to', type: 'address' },
          { name: 'text', type: 'string' },
        ],
      },
      primaryType: 'Mail',
      message: { to: address, text: 'hi' },
    } as const
    const typedSignature = await wallet.signTypedData({ account: address, ...typed })
    expect(await client.verifyTypedData({ address, signature: typedSignature, ...typed })).toBe(
      true,
    )
  })
})

describe('viem on the chain', () => {
  test('finds everything restored after a snapshot, changes and a revert', async () => {
    const token = await deploy(contracts.Token as Contract, [1000n])
    const before = await client.getBlock()
    const id = await tester.snapshot()
    await send(token, 'transfer', [accounts[4], 10n])
    await wallet.sendTransaction({
      account: accounts[0] as Hex,
      chain: null,
      to: accounts[1] as Hex,
      value: 1n,
    })
    await tester.revert({ id })
    expect(await client.getBlock()).toEqual(before)
    expect(await read<bigint>(token, 'balanceOf', [accounts[4]])).toBe(0n)
    expect(await client.getTransactionCount({ address: accounts[0] as Hex })).toBe(
      Number(
        await devchain.request({
          method: 'eth_getTransactionCount',
          params: [accounts[0], 'latest'],
        }),
      ),
    )
  })

  test('opens a time lock by time travel', async () => {
    const vault = await deploy(contracts.Vault as Contract, [86_400n])
    await wallet.writeContract({
      ...vault,
      functionName: 'deposit',
      args: ['savings'],
      value: 9n,
      account: accounts[0] as Hex,
      chain: null,
    })
    expect(await status(send(vault, 'withdraw', [9n]))).toBe('reverted')
    await tester.increaseTime({ seconds: 86_401 })
    await tester.mine({ blocks: 1 })
    expect(await status(send(vault, 'withdraw', [9n]))).toBe('success')
  })

  test('sends 200 transactions of one account in parallel, with consecutive nonces', async () => {
    const account = accounts[7] as Hex
    const first = await client.getTransactionCount({ address: account })
    const hashes = await Promise.all(
      Array.from({ length: 200 }, (_, i) =>
        wallet.sendTransaction({
          account,
          chain: null,
          to: `0x${(0x9000 + i).toString(16).padStart(40, '0')}`,
          value: 1n,
          gas: 21_000n,
        }),
      ),
    )
    expect(new Set(hashes).size).toBe(200)
    const receipts = await Promise.all(hashes.map((hash) => client.getTransactionReceipt({ hash })))
    expect(receipts.every((receipt) => receipt.status === 'success')).toBe(true)
    expect(await client.getTransactionCount({ address: account })).toBe(first + 200)
  })

  test('sees blocks, logs and pending transactions by filters and subscriptions', async () => {
    const token = await deploy(contracts.Token as Contract, [1000n])
    const socket = createPublicClient({ chain: chain(wsUrl), transport: webSocket(wsUrl) })
    const blocks: bigint[] = []
    const pending: Hex[] = []
    const logs: unknown[] = []
    const stops = [
      socket.watchBlockNumber({ onBlockNumber: (number) => blocks.push(number) }),
      socket.watchPendingTransactions({ onTransactions: (hashes) => pending.push(...hashes) }),
      socket.watchContractEvent({ ...token, onLogs: (found) => logs.push(...found) }),
    ]
    const filter = await client.createContractEventFilter({ ...token })
    const blockFilter = await client.createBlockFilter()
    await socket.getBlockNumber()
    await eventually(async () => {
      const hash = await send(token, 'transfer', [accounts[1], 1n])
      return pending.includes(hash) && logs.length > 0 && blocks.length > 0
    })
    expect(await client.getFilterChanges({ filter })).toHaveLength(
      (await client.getFilterChanges({ filter: blockFilter })).length,
    )
    for (const stop of stops) stop()
    const { socket: raw } = (await (
      socket.transport as unknown as { getRpcClient(): Promise<{ socket: { close(): void } }> }
    ).getRpcClient()) as { socket: { close(): void } }
    raw.close()
  })
})
