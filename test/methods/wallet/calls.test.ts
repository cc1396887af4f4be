// Batches of calls as viem's wallet client sends them over HTTP (EIP-5792).
import {
  type Address,
  createPublicClient,
  createTestClient,
  createWalletClient,
  defineChain,
  type Hex,
  http,
} from 'viem'
import { describe, expect, onTestFinished, test } from 'vitest'
import { hexFromBytes } from '../../../src/core/hex.ts'
import { createDevchain, type DevchainOptions } from '../../../src/devchain.ts'
import { batchById, type CallBatches, withBatch } from '../../../src/node/pool/batches.ts'
import { assemble } from '../../support/evm/bytecode.ts'

const ACCOUNT = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const OTHER = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const LEDGER = `0x${'1e'.repeat(20)}` as Address

/** Called with data it remembers that in slot 0; without, it logs what it remembers, and reverts where that is 0. */
const LEDGER_CODE = assemble(
  'CALLDATASIZE 17 JUMPI 0 SLOAD DUP1 25 JUMPI 0 0 REVERT STOP JUMPDEST 0 CALLDATALOAD 0 SSTORE STOP JUMPDEST 0 MSTORE 32 0 LOG0 STOP',
)

const REMEMBER = { to: LEDGER, data: `0x${'07'.padStart(64, '0')}` as Hex } as const
const RECALL = { to: LEDGER } as const
const PAY = { to: OTHER, value: 5n } as const

async function open(options: DevchainOptions = {}) {
  const devchain = await createDevchain({ port: 0, ...options })
  onTestFinished(() => devchain.close())
  const { url } = await devchain.listen()
  const chain = defineChain({
    id: 33,
    name: 'devchain',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  })
  const common = { chain, transport: http(url), pollingInterval: 10, cacheTime: 0 }
  const tester = createTestClient({ ...common, mode: 'anvil' })
  await tester.setCode({ address: LEDGER, bytecode: hexFromBytes(LEDGER_CODE) })
  return {
    wallet: createWalletClient({ ...common, account: ACCOUNT }),
    client: createPublicClient(common),
    tester,
  }
}

/** What viem calls the error that came over the wire. */
const nameOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work
    return 'accepted'
  } catch (thrown) {
    let error = thrown as Error
    while (error.cause instanceof Error && error.cause.name !== 'RpcRequestError') {
      error = error.cause
    }
    return error.name
  }
}

describe('wallet_sendCalls', () => {
  test('is atomic in one block, and viem waits for its receipts', async () => {
    const { wallet, client } = await open()
    expect(await wallet.getCapabilities()).toEqual({ 33: { atomic: { status: 'supported' } } })
    const { id } = await wallet.sendCalls({ calls: [REMEMBER, RECALL, PAY], forceAtomic: true })
    const status = await wallet.waitForCallsStatus({ id })
    expect(status).toMatchObject({ id, chainId: 33, statusCode: 200, status: 'success' })
    expect(status.atomic).toBe(true)
    expect(status.receipts).toHaveLength(3)
    expect(status.receipts?.map(({ blockNumber }) => blockNumber)).toEqual([1n, 1n, 1n])
    expect(status.receipts?.[1]?.logs[0]?.data).toBe(REMEMBER.data)
    expect(await client.getBalance({ address: OTHER })).toBe(10_000n * 10n ** 18n + 5n)
    await wallet.showCallsStatus({ id })
  })

  test('estimates each call after those before it, whatever the default gas', async () => {
    const { wallet } = await open({ defaultGas: 21_000 })
    const { status, receipts } = await wallet.sendCallsSync({ calls: [REMEMBER, RECALL] })
    expect(status).toBe('success')
    expect(receipts?.map(({ blockNumber }) => blockNumber)).toEqual([1n, 2n])
  })

  test('leaves nothing of a failed atomic batch, and stops another at the failure', async () => {
    const { wallet, client } = await open()
    const calls = [PAY, RECALL, REMEMBER]
    expect(await nameOf(wallet.sendCalls({ calls, forceAtomic: true }))).not.toBe('accepted')
    expect(await client.getBlockNumber()).toBe(0n)
    const partly = await wallet.sendCallsSync({ calls })
    expect(partly).toMatchObject({ statusCode: 600, status: 'failure', atomic: false })
    expect(partly.receipts?.map(({ status }) => status)).toEqual(['success', 'reverted'])
    const wholly = await wallet.sendCallsSync({ calls: [RECALL, PAY] })
    expect(wholly).toMatchObject({ statusCode: 500, status: 'failure' })
    expect(await client.getStorageAt({ address: LEDGER, slot: '0x0' })).toBe(`0x${'0'.repeat(64)}`)
  })

  test('waits in the pool without instant mining, and is pending until mined', async () => {
    const { wallet, tester } = await open({ noMining: true })
    expect(await wallet.getCapabilities({ chainId: 33 })).toEqual({
      atomic: { status: 'unsupported' },
    })
    const { id } = await wallet.sendCalls({ calls: [PAY, PAY] })
    expect(await wallet.getCallsStatus({ id })).toMatchObject({ status: 'pending', receipts: [] })
    await tester.mine({ blocks: 1 })
    expect((await wallet.waitForCallsStatus({ id })).receipts).toHaveLength(2)
  })

  test('refuses with the errors of the EIP, as viem names them', async () => {
    const { wallet } = await open()
    type Order = Parameters<typeof wallet.sendCalls>[0]
    const send = (more: Partial<Order>): Promise<string> =>
      nameOf(wallet.sendCalls({ calls: [PAY, PAY], ...more }))
    expect(await send({ id: 'mine' })).toBe('accepted')
    expect(await send({ id: 'mine' })).toBe('DuplicateIdError')
    expect(await send({ account: LEDGER })).toBe('UnauthorizedProviderError')
    expect(await send({ capabilities: { paymasterService: { url: 'https://a.example' } } })).toBe(
      'UnsupportedNonOptionalCapabilityError',
    )
    expect(await send({ calls: Array(1_001).fill(PAY) })).toBe('BundleTooLargeError')
    const other = defineChain({ ...wallet.chain, id: 5 })
    expect(await send({ chain: other })).toBe('UnsupportedChainIdError')
    expect(await nameOf(wallet.getCallsStatus({ id: 'other' }))).toBe('UnknownBundleIdError')
    const later = await open({ noMining: true })
    const atomic = later.wallet.sendCalls({ calls: [PAY, PAY], forceAtomic: true })
    expect(await nameOf(atomic)).toBe('AtomicityNotSupportedError')
  })

  test('refuses a batch with a failing call under onRevert: throw', async () => {
    const { wallet, client } = await open({ onRevert: 'throw' })
    expect(await nameOf(wallet.sendCalls({ calls: [PAY, RECALL] }))).not.toBe('accepted')
    expect(await client.getBlockNumber()).toBe(0n)
  })
})

describe('a stored batch', () => {
  test('is restored with a snapshot', async () => {
    const { wallet, tester } = await open()
    const before = await wallet.sendCalls({ calls: [PAY], id: 'before' })
    const snapshot = await tester.snapshot()
    await wallet.sendCalls({ calls: [PAY], id: 'after' })
    await tester.revert({ id: snapshot })
    expect(await wallet.getCallsStatus(before)).toMatchObject({ statusCode: 200 })
    expect(await nameOf(wallet.getCallsStatus({ id: 'after' }))).toBe('UnknownBundleIdError')
    await wallet.sendCalls({ calls: [PAY], id: 'after' })
  })

  test('is one of the newest thousand', () => {
    const batch = { chainId: 33n, size: 1, isAtomic: false, hashes: [] }
    let batches: CallBatches = []
    for (let i = 0; i < 1_001; i++) batches = withBatch(batches, { ...batch, id: `batch ${i}` })
    expect(batchById(batches, 'batch 0')).toBeUndefined()
    expect(batchById(batches, 'batch 1')).toMatchObject({ id: 'batch 1' })
    expect(batches).toHaveLength(1_000)
  })
})
