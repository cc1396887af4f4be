// viem's test client in its three modes, each against a chain that speaks like that mode's node.
import {
  createPublicClient,
  createTestClient,
  createWalletClient,
  type Hex,
  http,
  numberToHex,
  parseEther,
  parseGwei,
  publicActions,
} from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createDevchain, type Devchain } from '../../src/devchain.ts'

/** Runtime code that answers 42. */
const ANSWERS_42: Hex = '0x602a60005260206000f3'
const MODES = ['anvil', 'hardhat', 'ganache'] as const
type Mode = (typeof MODES)[number]

const STRANGER: Hex = '0x00000000000000000000000000000000000a11ce'

function clientsOf(url: string, mode: Mode) {
  const common = { transport: http(url), pollingInterval: 20 }
  return {
    tester: createTestClient({ ...common, mode }).extend(publicActions),
    wallet: createWalletClient(common),
    reader: createPublicClient(common),
  }
}

describe.each(MODES)('viem’s test client in %s mode', (mode) => {
  /** The logged methods. */
  const reported: string[] = []
  let devchain: Devchain
  let clients: ReturnType<typeof clientsOf>
  let first: Hex
  let second: Hex

  beforeAll(async () => {
    const observer = { onCall: ({ method }: { method: string }) => reported.push(method) }
    devchain = await createDevchain({ port: 0, compat: mode }, { observer })
    const { url } = await devchain.listen()
    clients = clientsOf(url, mode)
    const [a, b] = await clients.wallet.getAddresses()
    first = a as Hex
    second = b as Hex
  })
  afterAll(async () => {
    await devchain.close()
  })

  let id: Hex
  beforeEach(async () => {
    if (id !== undefined) await clients.tester.revert({ id })
    id = await clients.tester.snapshot()
  })

  const send = (value = 1n): Promise<Hex> =>
    clients.wallet.sendTransaction({ account: first, to: second, value, gas: 21_000n, chain: null })

  test('reverts to a snapshot', async () => {
    const { tester } = clients
    const before = await tester.getBalance({ address: second })
    const inner = await tester.snapshot()
    await send()
    expect(await tester.getBalance({ address: second })).toBe(before + 1n)
    await tester.revert({ id: inner })
    expect(await tester.getBalance({ address: second })).toBe(before)
  })

  test('mines one block and many', async () => {
    const { tester } = clients
    const height = await tester.getBlockNumber({ cacheTime: 0 })
    await tester.mine({ blocks: 1 })
    await tester.mine({ blocks: 300 })
    expect(await tester.getBlockNumber({ cacheTime: 0 })).toBe(height + 301n)
  })

  test('moves the clock, and the next block has the time that was set', async () => {
    const { tester } = clients
    const before = await tester.getBlock()
    await tester.increaseTime({ seconds: 3600 })
    await tester.mine({ blocks: 1 })
    const after = await tester.getBlock()
    expect(after.timestamp).toBeGreaterThanOrEqual(before.timestamp + 3600n)
    await tester.setNextBlockTimestamp({ timestamp: after.timestamp + 100n })
    await tester.mine({ blocks: 1 })
    expect((await tester.getBlock()).timestamp).toBe(after.timestamp + 100n)
  })

  test('sets a balance', async () => {
    const { tester } = clients
    await tester.setBalance({ address: STRANGER, value: parseEther('7') })
    expect(await tester.getBalance({ address: STRANGER })).toBe(parseEther('7'))
  })

  test('sets code that runs', async () => {
    const { tester } = clients
    await tester.setCode({ address: STRANGER, bytecode: ANSWERS_42 })
    const { data } = await tester.call({ to: STRANGER })
    expect(data).toBe(numberToHex(42, { size: 32 }))
  })

  test('keeps transactions waiting while automining is off', async () => {
    const { tester, reader } = clients
    expect(await tester.getAutomine()).toBe(true)
    await tester.setAutomine(false)
    expect(await tester.getAutomine()).toBe(false)
    const hash = await send()
    await expect(reader.getTransactionReceipt({ hash })).rejects.toThrow('could not be found')
    expect((await tester.getTxpoolStatus()).pending).toBe(1)
    expect(Object.keys((await tester.getTxpoolContent()).pending)).toHaveLength(1)
    expect(Object.keys((await tester.inspectTxpool()).pending)).toHaveLength(1)
    await tester.mine({ blocks: 1 })
    expect((await reader.getTransactionReceipt({ hash })).status).toBe('success')
    await tester.setAutomine(true)
  })

  test('sets the gas limit of blocks', async () => {
    const { tester } = clients
    await tester.setBlockGasLimit({ gasLimit: 20_000_000n })
    await tester.mine({ blocks: 1 })
    expect((await tester.getBlock()).gasLimit).toBe(20_000_000n)
  })

  test.runIf(mode !== 'ganache')('sets nonces and slots', async () => {
    const { tester } = clients
    await tester.setNonce({ address: STRANGER, nonce: 9 })
    expect(await tester.getTransactionCount({ address: STRANGER })).toBe(9)
    const value = numberToHex(5, { size: 32 })
    await tester.setStorageAt({ address: STRANGER, index: 2, value })
    expect(await tester.getStorageAt({ address: STRANGER, slot: '0x2' })).toBe(value)
  })

  test.runIf(mode !== 'ganache')('impersonates any account', async () => {
    const { tester, wallet } = clients
    const request = { account: STRANGER, to: second, value: 1n, gas: 21_000n, chain: null }
    await tester.setBalance({ address: STRANGER, value: parseEther('1') })
    await tester.impersonateAccount({ address: STRANGER })
    const hash = await wallet.sendTransaction(request)
    expect((await tester.getTransaction({ hash })).from).toBe(STRANGER)
    await tester.stopImpersonatingAccount({ address: STRANGER })
    await expect(wallet.sendTransaction(request)).rejects.toThrow()
  })

  test.runIf(mode !== 'ganache')('drops a waiting transaction', async () => {
    const { tester } = clients
    await tester.setAutomine(false)
    const hash = await send()
    await tester.dropTransaction({ hash })
    expect((await tester.getTxpoolStatus()).pending).toBe(0)
    await tester.setAutomine(true)
  })

  test.runIf(mode !== 'ganache')('sets the miner and base fee of blocks', async () => {
    const { tester } = clients
    await tester.setCoinbase({ address: STRANGER })
    await tester.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei('3') })
    await tester.mine({ blocks: 1 })
    const block = await tester.getBlock()
    expect(block.miner).toBe(STRANGER)
    expect(block.baseFeePerGas).toBe(parseGwei('3'))
  })

  test.runIf(mode !== 'ganache')('mines many blocks at the requested interval', async () => {
    const { tester } = clients
    await tester.mine({ blocks: 1 })
    const { number, timestamp } = await tester.getBlock()
    await tester.mine({ blocks: 3, interval: 60 })
    const last = await tester.getBlock({ blockNumber: number + 3n })
    // hardhat leaves the first of them to the clock
    expect(last.timestamp).toBe(timestamp + (mode === 'anvil' ? 180n : 121n))
  })

  test.runIf(mode !== 'ganache')('turns logging off and on', async () => {
    await clients.tester.setLoggingEnabled(false)
    reported.splice(0)
    await clients.reader.getGasPrice()
    expect(reported).toEqual([])
    await clients.tester.setLoggingEnabled(true)
    await clients.reader.getGasPrice()
    expect(reported).toEqual([expect.stringMatching(/_setLoggingEnabled$/), 'eth_gasPrice'])
  })

  test.runIf(mode === 'anvil')('sets a block interval and removes it', async () => {
    const { tester } = clients
    await tester.setBlockTimestampInterval({ interval: 50 })
    await tester.mine({ blocks: 1 })
    const before = await tester.getBlock()
    await tester.mine({ blocks: 1 })
    expect((await tester.getBlock()).timestamp).toBe(before.timestamp + 50n)
    await tester.removeBlockTimestampInterval()
  })

  test.runIf(mode === 'anvil')('dumps and loads the state', async () => {
    const { tester } = clients
    await tester.setBalance({ address: STRANGER, value: 77n })
    const state = await tester.dumpState()
    await tester.setBalance({ address: STRANGER, value: 1n })
    await tester.loadState({ state })
    expect(await tester.getBalance({ address: STRANGER })).toBe(77n)
  })

  test.runIf(mode === 'anvil')('sends an unsigned transaction for any account', async () => {
    const { tester } = clients
    await tester.setBalance({ address: STRANGER, value: parseEther('1') })
    const hash = await tester.sendUnsignedTransaction({
      from: STRANGER,
      to: second,
      value: 5n,
      gas: 21_000n,
    })
    expect((await tester.getTransaction({ hash })).from).toBe(STRANGER)
  })

  test.runIf(mode !== 'ganache')('resets the chain', async () => {
    const { tester } = clients
    await tester.mine({ blocks: 3 })
    await tester.reset()
    expect(await tester.getBlockNumber({ cacheTime: 0 })).toBe(0n)
    id = await tester.snapshot()
  })
})
