// --compat: what nodes say of requests that they refuse, as anvil 1.7 was asked.
import { type Hex, parseTransaction } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDevchain, type Devchain } from '../../../src/devchain.ts'

const KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const signer = privateKeyToAccount(KEY)
const ALICE = signer.address
const BOB = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const STRANGER = '0x00000000000000000000000000000000000a11ce'

/** More than anybody has. */
const FORTUNE = '0x3635c9adc5dea000000000'
const LONG_INIT_CODE = `0x${'00'.repeat(49_153)}`

async function ask(devchain: Devchain, method: string, ...params: unknown[]): Promise<unknown> {
  return devchain.request({ method, params })
}

/** What a request is refused with. */
async function refusal(devchain: Devchain, method: string, ...params: unknown[]): Promise<object> {
  try {
    await devchain.request({ method, params })
  } catch (error) {
    const { code, message } = error as { code: number; message: string }
    return { code, message }
  }
  throw new Error(`${method} was not refused`)
}

async function signed(changes: object): Promise<string> {
  return signer.signTransaction({
    type: 'eip1559',
    chainId: 31_337,
    to: BOB,
    gas: 21_000n,
    maxFeePerGas: 10n ** 10n,
    maxPriorityFeePerGas: 10n ** 9n,
    nonce: 1,
    ...changes,
  })
}

type Case = readonly [what: string, method: string, params: object, code: number, message: string]

const SENT: readonly Case[] = [
  [
    'value',
    'eth_sendTransaction',
    { value: FORTUNE },
    -32003,
    'Insufficient funds for gas * price + value',
  ],
  [
    'value of a call',
    'eth_call',
    { value: FORTUNE },
    -32003,
    'Insufficient funds for gas * price + value',
  ],
  [
    'price of a call',
    'eth_call',
    { from: STRANGER, gasPrice: '0x77359400' },
    -32003,
    'Insufficient funds for gas * price + value',
  ],
  ['little gas', 'eth_sendTransaction', { gas: '0x64' }, -32000, 'intrinsic gas too low'],
  [
    'little gas of a call',
    'eth_call',
    { gas: '0x64' },
    -32000,
    'intrinsic gas too high -- CallGasCostMoreThanGasLimit',
  ],
  [
    'much gas',
    'eth_sendTransaction',
    { gas: '0x5f5e100' },
    -32000,
    'intrinsic gas too high -- tx.gas_limit > env.block.gas_limit',
  ],
  [
    'fee cap',
    'eth_sendTransaction',
    { maxFeePerGas: '0x1', maxPriorityFeePerGas: '0x0' },
    -32003,
    'max fee per gas less than block base fee',
  ],
  [
    'fee cap alone',
    'eth_sendTransaction',
    { maxFeePerGas: '0x1' },
    -32003,
    'max fee per gas less than block base fee',
  ],
  [
    'gas price',
    'eth_sendTransaction',
    { gasPrice: '0x1' },
    -32003,
    'max fee per gas less than block base fee',
  ],
  [
    'tip',
    'eth_sendTransaction',
    { maxFeePerGas: '0x77359400', maxPriorityFeePerGas: '0x77359401' },
    -32003,
    'max priority fee per gas higher than max fee per gas',
  ],
  [
    'tip of a call',
    'eth_call',
    { maxFeePerGas: '0x77359400', maxPriorityFeePerGas: '0x77359401' },
    -32602,
    'Invalid input: `max_priority_fee_per_gas` greater than `max_fee_per_gas`',
  ],
  ['used nonce', 'eth_sendTransaction', { nonce: '0x0' }, -32003, 'nonce too low'],
  ['sender', 'eth_sendTransaction', { from: STRANGER }, -32602, 'No Signer available'],
  ['signer', 'eth_signTransaction', { from: STRANGER }, -32602, 'No Signer available'],
  [
    'chain id',
    'eth_sendTransaction',
    { chainId: '0x5' },
    -32602,
    "transaction-provided chain ID (5) does not match the signer's chain ID (31337)",
  ],
  ['chain id of a call', 'eth_call', { chainId: '0x5' }, -32003, 'invalid chain id for signer'],
  [
    'init code',
    'eth_sendTransaction',
    { to: null, data: LONG_INIT_CODE, gas: '0x989680' },
    -32003,
    'max initcode size exceeded',
  ],
]

describe('--compat anvil', () => {
  let devchain: Devchain

  beforeAll(async () => {
    devchain = await createDevchain({ compat: 'anvil' })
    await ask(devchain, 'eth_sendTransaction', { from: ALICE, to: BOB })
    await ask(devchain, 'eth_sendRawTransaction', await signed({ nonce: 9 }))
  })
  afterAll(async () => {
    await devchain.close()
  })

  test.each(SENT)('refuses the request: %s of %s', async (_, method, params, code, message) => {
    const request = { from: ALICE, to: BOB, ...params }
    expect(await refusal(devchain, method, request)).toEqual({ code, message })
  })

  test.each<readonly [what: string, changes: object, code: number, message: string]>([
    ['chain id', { chainId: 5 }, -32003, 'invalid chain id for signer'],
    ['little gas', { gas: 100n }, -32000, 'intrinsic gas too low'],
    [
      'much gas',
      { gas: 100_000_000n },
      -32000,
      'intrinsic gas too high -- tx.gas_limit > env.block.gas_limit',
    ],
    ['value', { value: 10n ** 24n }, -32003, 'Insufficient funds for gas * price + value'],
    ['used nonce', { nonce: 0 }, -32003, 'nonce too low'],
    [
      'fee cap',
      { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n },
      -32003,
      'max fee per gas less than block base fee',
    ],
    ['one that waits', { nonce: 9 }, -32003, 'transaction already imported'],
    ['replacement', { nonce: 9, value: 2n }, -32003, 'replacement transaction underpriced'],
  ])('refuses a signed transaction: %s', async (_, changes, code, message) => {
    const raw = await signed(changes)
    expect(await refusal(devchain, 'eth_sendRawTransaction', raw)).toEqual({ code, message })
  })

  test.each([
    ['eth_sign', STRANGER, '0x12'],
    ['personal_sign', '0x12', STRANGER],
  ])('refuses %s for an unknown account', async (method, ...params) => {
    const expected = { code: -32602, message: 'No Signer available' }
    expect(await refusal(devchain, method, ...params)).toEqual(expected)
  })

  test('reports a missing block with the newest number', async () => {
    const message = 'BlockOutOfRangeError: block height is 1 but requested was 2457'
    const expected = { code: -32602, message }
    expect(await refusal(devchain, 'eth_getBalance', ALICE, '0x999')).toEqual(expected)
    expect(await refusal(devchain, 'eth_call', { to: BOB }, '0x999')).toEqual(expected)
  })

  test.each([{ gasPrice: '0x1' }, { maxFeePerGas: '0x1' }])(
    'runs a call and an estimate below the base fee: %j',
    async (price) => {
      const request = { from: ALICE, to: BOB, ...price }
      expect(await ask(devchain, 'eth_call', request, 'latest')).toBe('0x')
      expect(await ask(devchain, 'eth_estimateGas', request)).toBe('0x5208')
    },
  )

  test('takes gasPrice if there are two prices', async () => {
    const both = { gasPrice: '0x12a05f200', maxFeePerGas: '0x77359400' }
    const request = { from: ALICE, to: BOB, ...both }
    expect(await ask(devchain, 'eth_call', request, 'latest')).toBe('0x')
    expect(await ask(devchain, 'eth_estimateGas', request)).toBe('0x5208')
    const raw = await ask(devchain, 'eth_signTransaction', { ...request, gas: '0x5208' })
    const { gasPrice, type } = parseTransaction(raw as Hex)
    expect([type, gasPrice]).toEqual(['legacy', 5_000_000_000n])
    await using own = await createDevchain()
    await expect(ask(own, 'eth_call', request, 'latest')).rejects.toThrow('got gasPrice')
  })

  test.each(['0x0', '0x1'])(
    'gives a request of type %s without a price a fee cap',
    async (type) => {
      const request = { from: ALICE, to: BOB, type, gas: '0x5208' }
      const raw = await ask(devchain, 'eth_signTransaction', request)
      expect(parseTransaction(raw as Hex).type).toBe('eip1559')
      const priced = { ...request, gasPrice: '0x77359400' }
      const kept = await ask(devchain, 'eth_signTransaction', priced)
      expect(parseTransaction(kept as Hex).type).not.toBe('eip1559')
    },
  )

  test('refuses a fee cap below the base fee even without instant mining', async () => {
    await using later = await createDevchain({ compat: 'anvil', noMining: true })
    const request = { from: ALICE, to: BOB, maxFeePerGas: '0x1' }
    const message = 'max fee per gas less than block base fee'
    expect(await refusal(later, 'eth_sendTransaction', request)).toEqual({ code: -32003, message })
    await using own = await createDevchain({ baseFee: 10n ** 9n, noMining: true })
    expect(await ask(own, 'eth_sendTransaction', request)).toMatch(/^0x/)
  })

  test.each<readonly [what: string, call: object, code: number, message: string]>([
    ['value', { value: FORTUNE }, -32003, 'Insufficient funds for gas * price + value'],
    [
      'little gas',
      { gas: '0x64' },
      -32000,
      'intrinsic gas too high -- CallGasCostMoreThanGasLimit',
    ],
    [
      'init code',
      { to: null, data: LONG_INIT_CODE, gas: '0x989680' },
      -32003,
      'max initcode size exceeded',
    ],
  ])('refuses a simulated call: %s', async (_, call, code, message) => {
    const blocks = { blockStateCalls: [{ calls: [{ from: ALICE, to: BOB, ...call }] }] }
    expect(await refusal(devchain, 'eth_simulateV1', blocks)).toEqual({ code, message })
  })

  test('cannot decode what is no transaction', async () => {
    const expected = { code: -32602, message: 'Failed to decode transaction' }
    expect(await refusal(devchain, 'eth_sendRawTransaction', '0x05c0')).toEqual(expected)
  })

  test('charges a call below the base fee its price, none of which goes to the miner', async () => {
    // GASPRICE and BASEFEE are returned
    const overrides = { [STRANGER]: { code: '0x3a5f524860205260405ff3' } }
    const request = { from: ALICE, to: STRANGER, gasPrice: '0x1' }
    const answer = (await ask(devchain, 'eth_call', request, 'latest', overrides)) as string
    const { baseFeePerGas } = (await ask(devchain, 'eth_getBlockByNumber', 'latest', false)) as {
      baseFeePerGas: string
    }
    const words = [1n, BigInt(baseFeePerGas)].map((each) => each.toString(16).padStart(64, '0'))
    expect(answer).toBe(`0x${words.join('')}`)
    const traced = (await ask(devchain, 'debug_traceCall', request, 'latest', {
      tracer: 'prestateTracer',
      tracerConfig: { diffMode: true },
    })) as { pre: object; post: object }
    expect(Object.keys(traced.post)).toEqual([ALICE.toLowerCase()])
  })
})

describe('--compat geth', () => {
  test.each<readonly [what: string, method: string, params: object, message: string]>([
    [
      'value',
      'eth_sendTransaction',
      { value: FORTUNE, gas: '0x5208', gasPrice: '0x77359400' },
      'insufficient funds for gas * price + value: balance 10000000000000000000000, tx cost 65536000000042000000000000, overshot 65526000000042000000000000',
    ],
    [
      'value of a call',
      'eth_call',
      { value: FORTUNE },
      `err: insufficient funds for gas * price + value: address ${ALICE} have 10000000000000000000000 want 65536000000000000000000000 (supplied gas 50000000)`,
    ],
    [
      'value of a call by nobody',
      'eth_call',
      { from: STRANGER, value: '0xa', gas: '0xc350' },
      'err: insufficient funds for gas * price + value: address 0x00000000000000000000000000000000000A11cE have 0 want 10 (supplied gas 50000)',
    ],
    [
      'value of an estimate',
      'eth_estimateGas',
      { from: STRANGER, value: '0xa' },
      'failed with 30000000 gas: insufficient funds for gas * price + value: address 0x00000000000000000000000000000000000A11cE have 0 want 10',
    ],
    [
      'value of an estimate at a price',
      'eth_estimateGas',
      { from: STRANGER, value: '0xa', gasPrice: '0xb2d05e00' },
      'insufficient funds for transfer',
    ],
    [
      'price of an estimate',
      'eth_estimateGas',
      { from: STRANGER, gasPrice: '0xb2d05e00' },
      'insufficient funds for transfer',
    ],
    [
      'value of a trace',
      'debug_traceCall',
      { from: STRANGER, value: '0xa' },
      'tracing failed: insufficient funds for gas * price + value: address 0x00000000000000000000000000000000000A11cE have 0 want 10',
    ],
    [
      'gas of data',
      'eth_sendTransaction',
      { data: `0x${'01'.repeat(100)}`, gas: '0x61a7' },
      'insufficient gas for floor data gas cost: gas 24999, minimum needed 25000',
    ],
    [
      'gas of data of a call',
      'eth_call',
      { data: `0x${'01'.repeat(100)}`, gas: '0x61a7' },
      'err: insufficient gas for floor data gas cost: have 24999, want 25000 (supplied gas 24999)',
    ],
    [
      'gas of data of an estimate',
      'eth_estimateGas',
      { data: `0x${'01'.repeat(100)}`, gas: '0x5209' },
      'gas required exceeds allowance (21001)',
    ],
    [
      'tip of a call',
      'eth_call',
      { maxFeePerGas: '0x77359400', maxPriorityFeePerGas: '0x77359401', gas: '0x5208' },
      `err: max priority fee per gas higher than max fee per gas: address ${ALICE}, maxPriorityFeePerGas: 2000000001, maxFeePerGas: 2000000000 (supplied gas 21000)`,
    ],
    [
      'init code of a call',
      'eth_call',
      { to: undefined, data: LONG_INIT_CODE, gas: '0x1e8480' },
      'err: max initcode size exceeded: code size 49153 limit 49152 (supplied gas 2000000)',
    ],
    [
      'little gas',
      'eth_sendTransaction',
      { gas: '0x64' },
      'intrinsic gas too low: gas 100, minimum needed 21000',
    ],
    [
      'little gas of a call',
      'eth_call',
      { gas: '0x64' },
      'err: intrinsic gas too low: have 100, want 21000 (supplied gas 100)',
    ],
    ['much gas', 'eth_sendTransaction', { gas: '0x5f5e100' }, 'exceeds block gas limit'],
    [
      'fee cap of a call',
      'eth_call',
      { gasPrice: '0x1' },
      `err: max fee per gas less than block base fee: address ${ALICE}, maxFeePerGas: 1, baseFee: 1000000000 (supplied gas 50000000)`,
    ],
    ['sender', 'eth_sendTransaction', { from: STRANGER }, 'unknown account'],
    [
      'gas of an estimate without end',
      'eth_estimateGas',
      { to: undefined, data: '0x5b5f56', gas: '0x186a0' },
      'gas required exceeds allowance (100000)',
    ],
  ])('refuses the request: %s', async (_, method, params, message) => {
    await using devchain = await createDevchain({ compat: 'geth' })
    const request = { from: ALICE, to: BOB, ...params }
    expect(await refusal(devchain, method, request)).toEqual({ code: -32000, message })
  })

  test('reports a used nonce with the next one', async () => {
    await using devchain = await createDevchain({ compat: 'geth' })
    await ask(devchain, 'eth_sendTransaction', { from: ALICE, to: BOB })
    const used = { from: ALICE, to: BOB, nonce: '0x0' }
    const expected = { code: -32000, message: 'nonce too low: next nonce 1, tx nonce 0' }
    expect(await refusal(devchain, 'eth_sendTransaction', used)).toEqual(expected)
  })
})

/** Precompiles: recovery of signers, and SHA-256. */
const RECOVERY = '0x0000000000000000000000000000000000000001'
const SHA256 = '0x0000000000000000000000000000000000000002'
const ELSEWHERE = '0xc200000000000000000000000000000000000000'

describe('overrides with --compat geth', () => {
  const moveTo = (to: string): object => ({ movePrecompileToAddress: to })

  test.each<readonly [what: string, overrides: object, message: string]>([
    [
      'an account that is no precompile, moved',
      { [STRANGER]: moveTo(ELSEWHERE) },
      'account 0x00000000000000000000000000000000000A11cE is not a precompile',
    ],
    [
      'an account that is no precompile, moved to itself',
      { [STRANGER]: moveTo(STRANGER) },
      'account 0x00000000000000000000000000000000000A11cE is not a precompile',
    ],
    [
      'a precompile, moved to itself',
      { [SHA256]: moveTo(SHA256) },
      `account ${SHA256} is already overridden`,
    ],
    [
      'a precompile, moved to an account with an override',
      { [SHA256]: moveTo(ELSEWHERE), [ELSEWHERE]: { balance: '0x1' } },
      `account ${ELSEWHERE} is already overridden`,
    ],
    [
      'an account with two storages',
      { [STRANGER]: { state: {}, stateDiff: {} } },
      "account 0x00000000000000000000000000000000000A11cE has both 'state' and 'stateDiff'",
    ],
  ])('are refused: %s', async (_, stateOverrides, message) => {
    await using devchain = await createDevchain({ compat: 'geth' })
    const expected = { code: -32000, message }
    const blocks = { blockStateCalls: [{ stateOverrides }] }
    expect(await refusal(devchain, 'eth_simulateV1', blocks)).toEqual(expected)
    const call = [{ to: BOB }, 'latest', stateOverrides]
    expect(await refusal(devchain, 'eth_call', ...call)).toEqual(expected)
  })

  test('that move two precompiles to one address keep the last one there', async () => {
    await using devchain = await createDevchain({ compat: 'geth' })
    const moved = { [RECOVERY]: moveTo(ELSEWHERE), [SHA256]: moveTo(ELSEWHERE) }
    const hash = await ask(devchain, 'eth_call', { to: SHA256 }, 'latest')
    expect(hash).toMatch(/^0xe3b0c442/)
    expect(await ask(devchain, 'eth_call', { to: ELSEWHERE }, 'latest', moved)).toBe(hash)
    expect(await ask(devchain, 'eth_call', { to: SHA256 }, 'latest', moved)).toBe('0x')
    const blocks = { blockStateCalls: [{ stateOverrides: moved, calls: [{ to: ELSEWHERE }] }] }
    const [block] = (await ask(devchain, 'eth_simulateV1', blocks)) as [
      { calls: { returnData: string }[] },
    ]
    expect(block.calls[0]?.returnData).toBe(hash)
  })

  test('of the last possible nonce cause an internal error if nonces are checked', async () => {
    await using devchain = await createDevchain({ compat: 'geth' })
    const stateOverrides = { [STRANGER]: { nonce: '0xffffffffffffffff', balance: '0x1' } }
    const blockStateCalls = [{ stateOverrides, calls: [{ from: STRANGER, to: BOB }] }]
    const message =
      'err: nonce has max value: address 0x00000000000000000000000000000000000A11cE, nonce: 18446744073709551615 (supplied gas 30000000)'
    const blocks = { blockStateCalls, validation: true }
    expect(await refusal(devchain, 'eth_simulateV1', blocks)).toEqual({ code: -32603, message })
  })
})

describe('the call check without --compat and with geth', () => {
  test.each([undefined, 'geth' as const])(
    '(%s) refuses a price below the base fee',
    async (compat) => {
      await using devchain = await createDevchain({ compat, baseFee: 10n ** 9n })
      const request = { from: ALICE, to: BOB, gasPrice: '0x1' }
      await expect(ask(devchain, 'eth_call', request, 'latest')).rejects.toThrow('base fee')
    },
  )
})
