// --compat: the defaults that come with a node's name, and what is stronger than they.
import { describe, expect, test } from 'vitest'
import { createDevchain, type Devchain, type DevchainOptions } from '../../../src/devchain.ts'

type Node = NonNullable<DevchainOptions['compat']>

const BOB = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const STRANGER = '0x00000000000000000000000000000000000a11ce'

const GWEI = 10n ** 9n
const ETHER = 10n ** 18n

async function ask<T>(devchain: Devchain, method: string, ...params: unknown[]): Promise<T> {
  return (await devchain.request({ method, params })) as T
}

type Head = Readonly<Record<'gasLimit' | 'baseFeePerGas' | 'difficulty', string>>

/** What a user sees of the defaults. */
async function seen(devchain: Devchain): Promise<object> {
  const accounts = await ask<string[]>(devchain, 'eth_accounts')
  const balance = await ask<string>(devchain, 'eth_getBalance', accounts[0], 'latest')
  const block = await ask<Head>(devchain, 'eth_getBlockByNumber', 'latest', false)
  return {
    chainId: Number(await ask(devchain, 'eth_chainId')),
    network: await ask(devchain, 'net_version'),
    accounts: accounts.length,
    ether: BigInt(balance) / ETHER,
    gasLimit: Number(block.gasLimit),
    baseFee: BigInt(block.baseFeePerGas),
    difficulty: Number(block.difficulty),
    tip: BigInt(await ask<string>(devchain, 'eth_maxPriorityFeePerGas')),
  }
}

interface Sent {
  readonly type: string
  readonly gas: string
  readonly maxFeePerGas?: string
  readonly maxPriorityFeePerGas?: string
}

async function sent(devchain: Devchain, request: object): Promise<Sent> {
  const hash = await ask(devchain, 'eth_sendTransaction', request)
  return ask(devchain, 'eth_getTransactionByHash', hash)
}

const PLAIN = {
  chainId: 33,
  network: '33',
  accounts: 10,
  ether: 10_000n,
  gasLimit: 30_000_000,
  baseFee: 0n,
  difficulty: 1,
  tip: 0n,
}

describe('the defaults of --compat', () => {
  test.each<[Node | undefined, Partial<typeof PLAIN>]>([
    [undefined, {}],
    ['geth', { chainId: 1337, baseFee: GWEI, difficulty: 0, tip: 1n }],
    ['anvil', { chainId: 31_337, baseFee: GWEI, difficulty: 0, tip: GWEI }],
    [
      'hardhat',
      {
        chainId: 31_337,
        accounts: 20,
        gasLimit: 60_000_000,
        baseFee: GWEI,
        difficulty: 0,
        tip: GWEI,
      },
    ],
  ])('match those of %s', async (compat, expected) => {
    await using devchain = await createDevchain({ compat })
    const { chainId = 33 } = expected
    expect(await seen(devchain)).toEqual({ ...PLAIN, network: String(chainId), ...expected })
  })

  test('ganache include id, base fee and balance', async () => {
    await using devchain = await createDevchain({ compat: 'ganache' })
    const expected = { chainId: 1337, ether: 1000n, baseFee: GWEI, difficulty: 0 }
    expect(await seen(devchain)).toMatchObject(expected)
  })

  test.each([
    [{}, 2n * GWEI],
    [{ tip: 3n * GWEI }, 3n * GWEI + 875_000_000n],
    [{ gasPrice: GWEI }, 1_875_000_000n],
    [{ baseFee: 0n, tip: 0n }, 0n],
    [{ baseFee: 5n * GWEI, tip: 0n }, 5n * GWEI],
  ])('ganache with %s offer the price %s', async (given, price) => {
    await using devchain = await createDevchain({ compat: 'ganache', ...given })
    expect(BigInt(await ask<string>(devchain, 'eth_gasPrice'))).toBe(price)
  })

  test('are overridden by an option', async () => {
    const given = { chainId: 7, accounts: 3, gasLimit: 9_000_000, baseFee: 5n, difficulty: 2n }
    await using devchain = await createDevchain({
      compat: 'hardhat',
      ...given,
      tip: '2 gwei',
      balance: 5,
    })
    const expected = { ...given, network: '7', ether: 5n, difficulty: 2, tip: 2n * GWEI }
    expect(await seen(devchain)).toEqual(expected)
  })

  test('are overridden by an option that names the general default', async () => {
    const given = { chainId: 33, accounts: 10, gasLimit: 30_000_000, difficulty: 1, tip: 0 }
    await using devchain = await createDevchain({ compat: 'hardhat', ...given })
    expect(await seen(devchain)).toEqual({ ...PLAIN, baseFee: GWEI })
  })

  test('are overridden by a genesis file, except for what it omits', async () => {
    const genesis = { config: { chainId: 99 }, difficulty: '0x3', baseFeePerGas: '0x9', alloc: {} }
    await using devchain = await createDevchain({ compat: 'hardhat', genesis })
    expect(await seen(devchain)).toMatchObject({
      chainId: 99,
      baseFee: 9n,
      difficulty: 3,
      gasLimit: 60_000_000,
      accounts: 20,
    })
  })

  test('include the general difficulty before paris', async () => {
    await using devchain = await createDevchain({ compat: 'hardhat', hardfork: 'london' })
    expect(await seen(devchain)).toMatchObject({ difficulty: 1 })
  })
})

describe('the tip', () => {
  test('is what a transaction without a tip offers above the base fee', async () => {
    await using devchain = await createDevchain({ baseFee: GWEI, tip: '3 gwei' })
    const request = { from: (await ask<string[]>(devchain, 'eth_accounts'))[0], to: BOB }
    const { type, maxFeePerGas, maxPriorityFeePerGas } = await sent(devchain, request)
    expect([type, Number(maxPriorityFeePerGas)]).toEqual(['0x2', 3e9])
    // twice the base fee of block 1, which is seven eighths of the first, and the tip
    expect(Number(maxFeePerGas)).toBe(2 * 875_000_000 + 3e9)
  })

  test('creates a fee market if the base fee is pinned', async () => {
    await using devchain = await createDevchain({ tip: 5 })
    const request = { from: (await ask<string[]>(devchain, 'eth_accounts'))[0], to: BOB }
    const { type, maxFeePerGas, maxPriorityFeePerGas } = await sent(devchain, request)
    expect([type, maxFeePerGas, maxPriorityFeePerGas]).toEqual(['0x2', '0x5', '0x5'])
    expect(await ask(devchain, 'eth_gasPrice')).toBe('0x5')
  })

  test('never raises a cap that the caller names', async () => {
    await using devchain = await createDevchain({ compat: 'anvil' })
    const request = { to: BOB, maxFeePerGas: '0x3b9aca01' }
    const { maxFeePerGas, maxPriorityFeePerGas } = await sent(devchain, request)
    expect([maxFeePerGas, maxPriorityFeePerGas]).toEqual(['0x3b9aca01', '0x3b9aca00'])
  })
})

describe('--compat anvil', () => {
  test('sends from the first account if the request names no sender', async () => {
    await using devchain = await createDevchain({ compat: 'anvil' })
    const [first] = await ask<string[]>(devchain, 'eth_accounts')
    expect(await sent(devchain, { to: BOB, value: '0x1' })).toMatchObject({ from: first })
    const signed = await ask(devchain, 'eth_signTransaction', { to: BOB })
    expect(signed).toMatch(/^0x02f8/)
  })

  test('makes the fee cap cover the base fee once', async () => {
    await using devchain = await createDevchain({ compat: 'anvil' })
    const { maxFeePerGas } = await sent(devchain, { to: BOB })
    const block = await ask<{ baseFeePerGas: string }>(
      devchain,
      'eth_getBlockByNumber',
      'latest',
      false,
    )
    expect(BigInt(maxFeePerGas ?? 0)).toBe(BigInt(block.baseFeePerGas) + GWEI)
  })

  test('gives a send whose estimate fails the gas of a block, and the transaction fails', async () => {
    await using devchain = await createDevchain({ compat: 'anvil', gasLimit: 1_000_000 })
    await ask(devchain, 'anvil_setCode', STRANGER, '0x60006000fd')
    const hash = await ask(devchain, 'eth_sendTransaction', { to: STRANGER })
    expect(await ask(devchain, 'eth_getTransactionByHash', hash)).toMatchObject({ gas: '0xf4240' })
    expect(await ask(devchain, 'eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x0' })
  })

  test.each([
    ['value', { from: STRANGER, to: BOB, value: '0xde0b6b3a7640000' }],
    ['a price', { from: STRANGER, to: BOB, gasPrice: '0x77359400' }],
    ['nobody', { to: BOB, value: '0xde0b6b3a7640000' }],
  ])('estimates without checking the balance: %s', async (_, request) => {
    await using devchain = await createDevchain({ compat: 'anvil' })
    expect(await ask(devchain, 'eth_estimateGas', request)).toBe('0x5208')
    await using own = await createDevchain({ baseFee: GWEI })
    await expect(ask(own, 'eth_estimateGas', request)).rejects.toThrow('insufficient funds')
  })
})

describe('a receipt with --compat anvil', () => {
  test('has the block’s time and its blob gas price', async () => {
    await using devchain = await createDevchain({ compat: 'anvil', timestamp: 2_000_000_000 })
    await ask(devchain, 'anvil_setNextBlockTimestamp', 2_000_000_100)
    const hash = await ask(devchain, 'eth_sendTransaction', { to: BOB })
    const members = { blobGasPrice: '0x1', blockTimestamp: 2_000_000_100 }
    const receipt = await ask<object>(devchain, 'eth_getTransactionReceipt', hash)
    expect(receipt).toMatchObject(members)
    expect(receipt).not.toHaveProperty('blobGasUsed')
    expect(await ask(devchain, 'eth_getBlockReceipts', 'latest')).toEqual([receipt])
    expect(await ask(devchain, 'eth_sendTransactionSync', { to: BOB })).toMatchObject({
      blobGasPrice: '0x1',
    })
  })

  test('has no blob gas price before cancun', async () => {
    await using devchain = await createDevchain({ compat: 'anvil', hardfork: 'shanghai' })
    const hash = await ask(devchain, 'eth_sendTransaction', { to: BOB })
    const receipt = await ask(devchain, 'eth_getTransactionReceipt', hash)
    expect(receipt).not.toHaveProperty('blobGasPrice')
  })

  test.each([undefined, 'geth', 'hardhat'] as const)(
    'differs from one with --compat %s',
    async (compat) => {
      await using devchain = await createDevchain({ compat })
      const [from] = await ask<string[]>(devchain, 'eth_accounts')
      const hash = await ask(devchain, 'eth_sendTransaction', { from, to: BOB })
      const receipt = await ask(devchain, 'eth_getTransactionReceipt', hash)
      expect(receipt).not.toHaveProperty('blobGasPrice')
      expect(receipt).not.toHaveProperty('blockTimestamp')
    },
  )
})

describe('a minimum gas price', () => {
  test('cannot be set with --compat anvil if there is a base fee', async () => {
    await using devchain = await createDevchain({ compat: 'anvil' })
    await expect(ask(devchain, 'anvil_setMinGasPrice', '0x1')).rejects.toMatchObject({
      code: -32602,
      message: 'anvil_setMinGasPrice is not supported when EIP-1559 is active',
    })
    await using before = await createDevchain({ compat: 'anvil', hardfork: 'berlin' })
    expect(await ask(before, 'anvil_setMinGasPrice', '0x1')).toBeNull()
  })

  test('can be set without --compat', async () => {
    await using devchain = await createDevchain()
    expect(await ask(devchain, 'anvil_setMinGasPrice', '0x1')).toBeNull()
  })
})

describe('the rewards of eth_feeHistory', () => {
  test.each<[Node | undefined, unknown, unknown]>([
    [undefined, undefined, [[]]],
    ['geth', undefined, undefined],
    ['hardhat', undefined, undefined],
    ['anvil', [], []],
  ])('without percentiles with --compat %s', async (compat, left, none) => {
    await using devchain = await createDevchain({ compat })
    const rewards = async (...percentiles: unknown[]): Promise<unknown> => {
      const params = ['0x1', 'latest', ...percentiles]
      return (await ask<{ reward?: unknown }>(devchain, 'eth_feeHistory', ...params)).reward
    }
    expect(await rewards()).toEqual(left)
    expect(await rewards([])).toEqual(none)
    expect(await rewards([50])).toEqual([['0x0']])
  })
})
