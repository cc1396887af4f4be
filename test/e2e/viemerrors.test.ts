// viem distinguishes errors by the words of nodes: what its users catch against a chain that speaks as anvil or geth.
import {
  BaseError,
  createPublicClient,
  createWalletClient,
  FeeCapTooLowError,
  type Hex,
  http,
  InsufficientFundsError,
  IntrinsicGasTooHighError,
  IntrinsicGasTooLowError,
  NonceTooLowError,
  type PublicClient,
  parseEther,
  type WalletClient,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { anvil, localhost } from 'viem/chains'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDevchain, type Devchain } from '../../src/devchain.ts'

const ALICE = privateKeyToAccount(
  '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
)
const BOB: Hex = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'

/** The error of a class that another was caused by. */
async function causeOf<T extends BaseError>(
  sent: Promise<unknown>,
  kind: abstract new (...args: never[]) => T,
): Promise<T | undefined> {
  const error = await sent.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(BaseError)
  return ((error as BaseError).walk((each) => each instanceof kind) as T | null) ?? undefined
}

// each node's chain as viem names it, with the id that the node has by itself
describe.each([
  ['anvil', anvil],
  ['geth', localhost],
] as const)('viem with --compat %s', (compat, chain) => {
  let devchain: Devchain
  let client: PublicClient
  let wallet: WalletClient

  beforeAll(async () => {
    devchain = await createDevchain({ compat, port: 0 })
    const { url } = await devchain.listen()
    const common = { chain, transport: http(url), pollingInterval: 20 }
    client = createPublicClient(common)
    wallet = createWalletClient(common)
  })
  afterAll(async () => {
    await devchain.close()
  })

  const send = (request: object): Promise<Hex> =>
    wallet.sendTransaction({ account: ALICE.address, to: BOB, chain, ...request })

  test('sends a request with nothing but its target', async () => {
    for (const account of [ALICE, ALICE.address]) {
      const hash = await wallet.sendTransaction({ account, to: BOB, value: 1n, chain })
      expect(await client.waitForTransactionReceipt({ hash })).toMatchObject({
        status: 'success',
        type: 'eip1559',
      })
    }
  })

  test('throws InsufficientFundsError for too much value', async () => {
    const value = parseEther('100000')
    expect(await causeOf(send({ value }), InsufficientFundsError)).toBeDefined()
    const account = ALICE.address
    const called = client.call({ account, to: BOB, value })
    expect(await causeOf(called, InsufficientFundsError)).toBeDefined()
  })

  test('throws IntrinsicGasTooLowError for too little gas', async () => {
    expect(await causeOf(send({ gas: 100n }), IntrinsicGasTooLowError)).toBeDefined()
  })

  test('throws NonceTooLowError for a used nonce', async () => {
    expect(await causeOf(send({ nonce: 0 }), NonceTooLowError)).toBeDefined()
  })

  test('throws FeeCapTooLowError for a fee cap below the base fee', async () => {
    const fees = { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n, gas: 21_000n }
    expect(await causeOf(send(fees), FeeCapTooLowError)).toBeDefined()
  })
})

test('viem with --compat anvil throws IntrinsicGasTooHighError for more gas than a block has', async () => {
  await using devchain = await createDevchain({ compat: 'anvil', port: 0 })
  const { url } = await devchain.listen()
  const wallet = createWalletClient({ chain: anvil, transport: http(url) })
  const sent = wallet.sendTransaction({ account: ALICE, to: BOB, gas: 100_000_000n })
  expect(await causeOf(sent, IntrinsicGasTooHighError)).toBeDefined()
})
