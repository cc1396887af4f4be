// --compat: executions that fail, units, and names, as the other nodes were seen to answer them.
import { describe, expect, test } from 'vitest'
import { createDevchain, type Devchain, type DevchainOptions } from '../../../src/devchain.ts'

type Node = NonNullable<DevchainOptions['compat']>

const ALICE = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const TARGET = '0x00000000000000000000000000000000000a11ce'

/** Reverts with the data of the call. */
const REVERTS_WITH_INPUT = '0x365f5f37365ffd'
const HALTS = '0xfe'
const LOOPS = '0x5b5f56'

const TEXT = `0x08c379a0${word(0x20)}${word(11)}${'6e20746f6f20736d616c6c'.padEnd(64, '0')}`
const EMPTY_TEXT = `0x08c379a0${word(0x20)}${word(0)}`
const PANIC = `0x4e487b71${word(0x11)}`
const CUSTOM = `0x2202f1fa${word(7)}`

function word(value: number): string {
  return value.toString(16).padStart(64, '0')
}

/** What a request is refused with. */
async function refusal(
  devchain: Devchain,
  method: string,
  ...params: readonly unknown[]
): Promise<{ code: number; message: string; data?: unknown }> {
  try {
    await devchain.request({ method, params })
  } catch (error) {
    const { code, message, data } = error as { code: number; message: string; data?: unknown }
    return data === undefined ? { code, message } : { code, message, data }
  }
  throw new Error(`${method} was not refused`)
}

async function chainWith(code: string, options: DevchainOptions): Promise<Devchain> {
  const devchain = await createDevchain(options)
  await devchain.request({ method: 'hardhat_setCode', params: [TARGET, code] })
  return devchain
}

const VM = 'VM Exception while processing transaction:'

describe.each<[Node, readonly [string, number, string][]]>([
  [
    'geth',
    [
      [TEXT, 3, 'execution reverted: n too small'],
      [PANIC, 3, 'execution reverted: arithmetic underflow or overflow'],
      [CUSTOM, 3, 'execution reverted'],
      [EMPTY_TEXT, 3, 'execution reverted: '],
      ['0x', 3, 'execution reverted'],
    ],
  ],
  [
    'anvil',
    [
      [TEXT, 3, 'execution reverted: n too small'],
      [PANIC, 3, 'execution reverted: panic: arithmetic underflow or overflow (0x11)'],
      [CUSTOM, 3, `execution reverted: custom error 0x2202f1fa: ${'\0'.repeat(31)}\x07`],
      ['0xf9006398ff80c3a941', 3, 'execution reverted: custom error 0xf9006398: ff80c3a941'],
      ['0xf9006398', 3, 'execution reverted: custom error 0xf9006398'],
      ['0xf900', 3, 'execution reverted: custom error bytes 0xf900'],
      ['0x68656c6c6f0a', 3, 'execution reverted: hello\n'],
      [TEXT.replace('0x08c379a0', '0x'), 3, 'execution reverted: n too small'],
      [EMPTY_TEXT, 3, 'execution reverted: '],
      [`0x4e487b71${word(0x99)}`, 3, 'execution reverted: panic: unknown code (0x99)'],
      ['0x', 3, 'execution reverted'],
    ],
  ],
  [
    'hardhat',
    [
      [TEXT, 3, `${VM} reverted with reason string 'n too small'`],
      [
        PANIC,
        3,
        `${VM} reverted with panic code 0x11 (Arithmetic operation overflowed outside of an unchecked block)`,
      ],
      [CUSTOM, 3, `${VM} reverted with an unrecognized custom error (return data: ${CUSTOM})`],
      ['0x', 3, 'Transaction reverted without a reason string'],
    ],
  ],
  [
    'ganache',
    [
      [TEXT, -32000, `${VM} revert n too small`],
      [PANIC, -32000, `${VM} revert`],
      [CUSTOM, -32000, `${VM} revert`],
      ['0x', -32000, `${VM} revert`],
    ],
  ],
])('--compat %s', (compat, rows) => {
  test.each(rows)('reports a call that reverts with %s', async (data, code, message) => {
    await using devchain = await chainWith(REVERTS_WITH_INPUT, { compat })
    const request = { from: ALICE, to: TARGET, data }
    const expected = { code, message, data }
    expect(await refusal(devchain, 'eth_call', request, 'latest')).toEqual(expected)
    // ganache's estimates have the data in an object
    const estimated =
      compat === 'ganache'
        ? { ...expected, data: expect.objectContaining({ result: data }) }
        : expected
    expect(await refusal(devchain, 'eth_estimateGas', request)).toEqual(estimated)
  })
})

describe('a call that halts', () => {
  test.each<[Node, string, object]>([
    ['geth', HALTS, { code: -32000, message: 'invalid opcode: INVALID' }],
    ['geth', LOOPS, { code: -32000, message: 'out of gas' }],
    ['anvil', HALTS, { code: -32603, message: 'EVM error InvalidFEOpcode' }],
    ['anvil', LOOPS, { code: -32603, message: 'EVM error OutOfGas' }],
    [
      'hardhat',
      LOOPS,
      {
        code: -32000,
        message: 'Transaction ran out of gas',
        data: { message: 'Transaction ran out of gas', data: '0x' },
      },
    ],
    ['ganache', LOOPS, { code: -32000, message: `${VM} out of gas`, data: '0x' }],
  ])('with --compat %s is reported: %s', async (compat, code, expected) => {
    await using devchain = await chainWith(code, { compat })
    const request = { from: ALICE, to: TARGET, gas: '0x186a0' }
    expect(await refusal(devchain, 'eth_call', request, 'latest')).toEqual(expected)
  })
})

describe('a reverted transaction', () => {
  test.each<[Node, number, string]>([
    ['hardhat', 3, ''],
    ['hardhat2', -32603, 'Error: '],
  ])('with --compat %s is mined, and an error with code %d', async (compat, expected, prefix) => {
    await using devchain = await chainWith(REVERTS_WITH_INPUT, { compat })
    const request = { from: ALICE, to: TARGET, data: TEXT, gas: '0x186a0' }
    const { code, message, data } = await refusal(devchain, 'eth_sendTransaction', request)
    expect([code, message]).toEqual([
      expected,
      `${prefix}${VM} reverted with reason string 'n too small'`,
    ])
    const block = await devchain.request({ method: 'eth_getBlockByNumber', params: ['0x1', false] })
    const [hash = ''] = (block as { transactions: string[] }).transactions
    expect(data).toEqual(compat === 'hardhat' ? TEXT : { message, txHash: hash, data: TEXT })
    const receipt = await devchain.request({ method: 'eth_getTransactionReceipt', params: [hash] })
    expect(receipt).toMatchObject({ status: '0x0', blockNumber: '0x1' })
  })

  test('with --compat ganache is an error of ganache under onRevert: throw', async () => {
    await using devchain = await chainWith(REVERTS_WITH_INPUT, {
      compat: 'ganache',
      onRevert: 'throw',
    })
    const request = { from: ALICE, to: TARGET, data: TEXT, gas: '0x186a0' }
    const { data } = await refusal(devchain, 'eth_sendTransaction', request)
    expect(data).toMatchObject({ result: TEXT, reason: 'n too small' })
  })

  test.each<Node>(['geth', 'anvil', 'ganache'])(
    'with --compat %s returns its hash, as without',
    async (compat) => {
      await using devchain = await chainWith(REVERTS_WITH_INPUT, { compat })
      const request = { from: ALICE, to: TARGET, data: TEXT, gas: '0x186a0' }
      const hash = await devchain.request({ method: 'eth_sendTransaction', params: [request] })
      expect(hash).toMatch(/^0x[0-9a-f]{64}$/)
    },
  )

  test('with --compat hardhat returns its hash on request', async () => {
    await using devchain = await chainWith(REVERTS_WITH_INPUT, {
      compat: 'hardhat',
      onRevert: 'hash',
    })
    const request = { from: ALICE, to: TARGET, data: TEXT, gas: '0x186a0' }
    const hash = await devchain.request({ method: 'eth_sendTransaction', params: [request] })
    expect(hash).toMatch(/^0x[0-9a-f]{64}$/)
  })
})

describe('the results and units of --compat', () => {
  test.each<[Node | undefined, RegExp, unknown, unknown, unknown]>([
    [undefined, /^devchain\/v/, '0xe10', null, null],
    ['geth', /^Geth\/devchain\/v/, '0xe10', null, null],
    ['anvil', /^anvil\/v1\.7\.1\+devchain\.\d+\.\d+\.\d+$/, 3600, null, null],
    ['hardhat', /^HardhatNetwork\/devchain\/v/, '3600', '2000000000', true],
    ['ganache', /^Ganache\/EthereumJS TestRPC\/devchain\/v/, 3600, null, true],
  ])('match the node with --compat %s', async (compat, name, increased, next, done) => {
    await using devchain = await createDevchain({ compat })
    const ask = (method: string, ...params: unknown[]): Promise<unknown> =>
      devchain.request({ method, params })
    expect(await ask('web3_clientVersion')).toMatch(name)
    expect(await ask('evm_increaseTime', 3600)).toBe(increased)
    expect(await ask('evm_setNextBlockTimestamp', 2_000_000_000)).toBe(next)
    expect(await ask('hardhat_setBalance', ALICE, '0x1')).toBe(done)
  })

  test.each<[Node | undefined, number]>([
    [undefined, 3600],
    ['anvil', 3600],
    ['hardhat', 3.6],
  ])('%s count interval mining in its unit', async (compat, seconds) => {
    await using devchain = await createDevchain({ compat })
    await devchain.request({ method: 'evm_setIntervalMining', params: [3600] })
    const interval = await devchain.request({ method: 'anvil_getIntervalMining' })
    expect(interval).toBe(seconds)
  })

  test.each<[Node | undefined, independent: boolean, hour: number]>([
    [undefined, false, 3_600],
    ['anvil', false, 3_600],
    ['hardhat', true, 3_600_000],
  ])('%s: interval mining leaves automine as it is: %s', async (compat, independent, hour) => {
    await using devchain = await createDevchain({ compat })
    const ask = (method: string, ...params: unknown[]): Promise<unknown> =>
      devchain.request({ method, params })
    const modes = async (): Promise<unknown[]> => [
      await ask('hardhat_getAutomine'),
      (await ask('anvil_getIntervalMining')) !== null,
    ]
    await ask('evm_setIntervalMining', hour)
    expect(await modes()).toEqual([independent, true])
    const sent = { from: ALICE, to: ALICE, gas: '0x5208' }
    await ask('eth_sendTransaction', sent)
    expect(await ask('eth_blockNumber')).toBe(independent ? '0x1' : '0x0')
    await ask('evm_setIntervalMining', 0)
    expect(await modes()).toEqual([independent, false])
    await ask('evm_setIntervalMining', hour)
    await ask('evm_setAutomine', false)
    expect(await modes()).toEqual([false, independent])
    await ask('evm_setIntervalMining', 0)
    expect(await modes()).toEqual([false, false])
    await ask('evm_setIntervalMining', hour)
    await ask('evm_setAutomine', true)
    expect(await modes()).toEqual([true, independent])
  })

  test.each<[Node | undefined, boolean]>([
    [undefined, true],
    ['anvil', true],
    ['hardhat', false],
  ])('%s let a snapshot be reverted to twice: %s', async (compat, twice) => {
    await using devchain = await createDevchain({ compat })
    const id = await devchain.request({ method: 'evm_snapshot' })
    const revert = (): Promise<unknown> => devchain.request({ method: 'evm_revert', params: [id] })
    expect(await revert()).toBe(true)
    expect(await revert()).toBe(twice)
  })
})

test.each<[Node | undefined, number]>([
  [undefined, 2],
  ['geth', 1],
])('%s finds %i logs for a wildcard, of which one has a topic', async (compat, count) => {
  await using devchain = await createDevchain({ compat, baseFee: 0n })
  const ask = (method: string, params: readonly unknown[]) => devchain.request({ method, params })
  const request = { from: ALICE, data: '0x60015f5fa15f5fa000', gas: '0x186a0', gasPrice: '0x0' }
  await ask('eth_sendTransaction', [request])
  expect(await ask('eth_getLogs', [{ topics: [null] }])).toHaveLength(count)
})
