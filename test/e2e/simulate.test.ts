// What users of viem imagine before they send: simulateBlocks and simulateCalls, over a real socket.
import {
  type Abi,
  createPublicClient,
  createWalletClient,
  type Hex,
  http,
  keccak256,
  type PublicClient,
  parseEther,
  toHex,
  type WalletClient,
} from 'viem'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { createDevchain, type Devchain } from '../../src/devchain.ts'

const contracts = inject('contracts')
const ETHER = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'
const BOB: Hex = `0x${'b0'.repeat(20)}`

interface Deployed {
  readonly address: Hex
  readonly abi: Abi
}

let devchain: Devchain
let client: PublicClient
let wallet: WalletClient
let alice: Hex
let token: Deployed
let vault: Deployed

beforeAll(async () => {
  devchain = await createDevchain({ port: 0 })
  const { url } = await devchain.listen()
  client = createPublicClient({ transport: http(url), pollingInterval: 20 })
  wallet = createWalletClient({ transport: http(url) })
  alice = (await wallet.getAddresses())[0]!
  token = await deploy('Token', [1000n])
  vault = await deploy('Vault', [0n])
})
afterAll(async () => {
  await devchain.close()
})

async function deploy(name: string, args: readonly unknown[]): Promise<Deployed> {
  const { abi, bytecode } = contracts[name]!
  const sent = { abi: abi as Abi, bytecode, args, account: alice, chain: null, gas: 5_000_000n }
  const hash = await wallet.deployContract(sent)
  const receipt = await client.getTransactionReceipt({ hash })
  return { address: receipt.contractAddress as Hex, abi: abi as Abi }
}

describe('viem’s simulateBlocks', () => {
  test('runs calls in blocks that follow the head and each other', async () => {
    const head = await client.getBlock()
    const [first, second] = await client.simulateBlocks({
      blocks: [
        {
          blockOverrides: { number: head.number + 1n, prevRandao: 7n, withdrawals: [] },
          stateOverrides: [{ address: BOB, balance: 2n }],
          calls: [{ account: BOB, to: alice, value: 1n }],
        },
        { calls: [{ account: BOB, to: alice, value: 1n }] },
      ],
      returnFullTransactions: true,
    })
    expect([first?.number, second?.number]).toEqual([head.number + 1n, head.number + 2n])
    expect([first?.parentHash, second?.parentHash]).toEqual([head.hash, first?.hash])
    expect(first?.mixHash).toBe(toHex(7, { size: 32 }))
    expect(second?.transactions[0]).toMatchObject({ from: BOB, nonce: 1, blockHash: second?.hash })
  })

  test('decodes results, logs and custom errors', async () => {
    const account = { account: BOB, to: vault.address, abi: vault.abi } as const
    const [first, second] = await client.simulateBlocks({
      blocks: [
        {
          stateOverrides: [{ address: BOB, balance: parseEther('2') }],
          calls: [
            { ...account, functionName: 'deposit', args: ['hello'], value: 5n },
            { ...account, functionName: 'deposits', args: [BOB] },
          ],
        },
        { calls: [{ ...account, functionName: 'withdraw', args: [9n] }] },
      ],
      traceTransfers: true,
    })
    const [deposit, deposits] = first!.calls
    expect(deposit).toMatchObject({ status: 'success' })
    expect(deposit?.logs?.map(({ address, logIndex }) => [address, logIndex])).toEqual([
      [ETHER, 0],
      [vault.address, 1],
    ])
    expect(deposits).toMatchObject({ status: 'success', result: 5n })
    const [withdraw] = second!.calls
    expect(withdraw?.status).toBe('failure')
    expect(withdraw?.error?.message).toContain(
      'NotEnough(address account, uint256 wanted, uint256 available)',
    )
    expect(await client.getBalance({ address: BOB })).toBe(0n)
  })

  test('fails with the node error that viem knows', async () => {
    const run = client.simulateBlocks({
      blocks: [{ calls: [{ account: BOB, to: alice, value: 1n }] }],
    })
    await expect(run).rejects.toThrow(/exceeds the balance of the account/)
  })

  test('moves a precompile by a raw request', async () => {
    const request = {
      method: 'eth_simulateV1',
      params: [
        {
          blockStateCalls: [
            {
              stateOverrides: { [toHex(2, { size: 20 })]: { movePrecompileToAddress: BOB } },
              calls: [{ to: BOB, input: '0x' }],
            },
          ],
        },
        'latest',
      ],
    }
    const [block] = (await client.request(request as never)) as { calls: { returnData: Hex }[] }[]
    const emptyHash = '0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
    expect(block?.calls[0]?.returnData).toBe(emptyHash)
  })
})

describe('viem’s simulateCalls', () => {
  test('returns results one by one', async () => {
    const { results, block } = await client.simulateCalls({
      account: alice,
      calls: [
        { to: BOB, value: 3n },
        { to: token.address, abi: token.abi, functionName: 'balanceOf', args: [alice] },
        { to: token.address, abi: token.abi, functionName: 'transfer', args: [BOB, 5000n] },
      ],
    })
    expect(results.map(({ status }) => status)).toEqual(['success', 'success', 'failure'])
    expect(results[1]?.result).toBe(1000n)
    expect(results[2]?.error?.message).toContain('ERC20InsufficientBalance')
    expect(block.number).toBe((await client.getBlockNumber()) + 1n)
  })

  test('lists the assets that change hands', async () => {
    const { assetChanges } = await client.simulateCalls({
      account: alice,
      calls: [
        { to: BOB, value: parseEther('1') },
        { to: token.address, abi: token.abi, functionName: 'transfer', args: [BOB, 40n] },
      ],
      traceAssetChanges: true,
    })
    expect(assetChanges.map(({ token: { symbol }, value }) => [symbol, value.diff])).toEqual([
      ['ETH', -parseEther('1')],
      ['TT', -40n],
    ])
  })
})

test('a simulated block has the hash of its header', async () => {
  const [block] = await client.simulateBlocks({
    blocks: [{ calls: [{ account: alice, to: BOB }] }],
  })
  const raw = await devchain.request({ method: 'debug_getRawHeader', params: ['latest'] })
  // the parent is real: its hash is the Keccak-256 of its header
  expect(block?.parentHash).toBe(keccak256(raw as Hex))
})
