// --compat geth: forms of parameters that geth's decoders refuse, in their words (execution-apis' tests; common/hexutil).
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDevchain, type Devchain } from '../../../src/devchain.ts'

const HASH = `0x${'ab'.repeat(32)}`
const ALICE = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const INTO_HASH = 'into Go value of type common.Hash'
const INTO_ADDRESS = 'into Go value of type common.Address'

/** A request, and what it is refused with after `invalid argument N: `. */
type Case = readonly [method: string, params: readonly unknown[], position: number, flaw: string]

const WORD = `0x${'00'.repeat(32)}`

const REFUSED: readonly Case[] = [
  ...['Block', 'Header', 'Receipts'].map(
    (what): Case => [`debug_getRaw${what}`, ['2'], 0, 'hex string without 0x prefix'],
  ),
  ['debug_traceBlockByNumber', ['3'], 0, 'hex string without 0x prefix'],
  ['eth_getBlockByNumber', [3, false], 0, 'hex string without 0x prefix'],
  ['eth_getBlockByNumber', ['LATEST', false], 0, 'hex string without 0x prefix'],
  ['eth_getBlockByNumber', ['', false], 0, 'empty hex string'],
  ['eth_getBlockByNumber', ['0x', false], 0, 'hex string "0x"'],
  ['eth_getBlockByNumber', ['0x01', false], 0, 'hex number with leading zero digits'],
  ['eth_getBlockByNumber', ['0xzz', false], 0, 'invalid hex string'],
  ['eth_getBlockByNumber', ['0x10000000000000000', false], 0, 'hex number > 64 bits'],
  ['eth_getBlockByNumber', ['0xffffffffffffffff', false], 0, 'block number larger than int64'],
  ['eth_getBalance', [ALICE, '7'], 1, 'hex string without 0x prefix'],
  [
    'debug_getRawTransaction',
    [HASH.slice(2)],
    0,
    `json: cannot unmarshal hex string without 0x prefix ${INTO_HASH}`,
  ],
  [
    'eth_getTransactionByHash',
    [HASH.slice(0, 65)],
    0,
    `json: cannot unmarshal hex string of odd length ${INTO_HASH}`,
  ],
  [
    'eth_getTransactionByHash',
    [HASH.slice(0, 64)],
    0,
    'hex string has length 62, want 64 for common.Hash',
  ],
  ['eth_getTransactionByHash', [''], 0, 'hex string has length 0, want 64 for common.Hash'],
  [
    'eth_getTransactionByHash',
    [`0x${'zz'.repeat(32)}`],
    0,
    `json: cannot unmarshal invalid hex string ${INTO_HASH}`,
  ],
  ['eth_getTransactionByHash', [7], 0, `json: cannot unmarshal non-string ${INTO_HASH}`],
  [
    'eth_getBalance',
    [ALICE.slice(2), 'latest'],
    0,
    `json: cannot unmarshal hex string without 0x prefix ${INTO_ADDRESS}`,
  ],
  [
    'eth_getBalance',
    [`${ALICE}00`, 'latest'],
    0,
    'hex string has length 42, want 40 for common.Address',
  ],
  [
    'eth_sendRawTransaction',
    ['0x123'],
    0,
    'json: cannot unmarshal hex string of odd length into Go value of type hexutil.Bytes',
  ],
  [
    'eth_getTransactionByBlockNumberAndIndex',
    ['latest', '1'],
    1,
    'json: cannot unmarshal hex string without 0x prefix into Go value of type hexutil.Uint',
  ],
  [
    'eth_call',
    [{ to: ALICE, data: 'abcd' }, 'latest'],
    0,
    'json: cannot unmarshal hex string without 0x prefix into Go struct field TransactionArgs.data of type hexutil.Bytes',
  ],
  [
    'eth_sendTransaction',
    [{ from: ALICE, to: ALICE.slice(0, 41) }],
    0,
    'json: cannot unmarshal hex string of odd length into Go struct field TransactionArgs.to of type common.Address',
  ],
  [
    'eth_estimateGas',
    [{ from: ALICE, value: 5 }],
    0,
    'json: cannot unmarshal non-string into Go struct field TransactionArgs.value of type hexutil.Big',
  ],
  [
    'eth_estimateGas',
    [{ from: ALICE, gas: '0x05' }],
    0,
    'json: cannot unmarshal hex number with leading zero digits into Go struct field TransactionArgs.gas of type hexutil.Uint64',
  ],
  ...(
    [
      ['0x1', 'hex string of odd length'],
      ['0x01', 'hex string has length 2, want 64 for Hash'],
      ['01', 'hex string without 0x prefix'],
    ] as const
  ).map(
    ([slot, flaw]) =>
      [
        'eth_call',
        [{ to: ALICE }, 'latest', { [ALICE]: { stateDiff: { [slot]: WORD } } }],
        2,
        flaw,
      ] as const,
  ),
  [
    'eth_call',
    [{ to: ALICE }, 'latest', { [ALICE]: { state: { [WORD]: '0x01' } } }],
    2,
    'hex string has length 2, want 64 for common.Hash',
  ],
]

/** What geth takes, and what is no matter of geth's. */
const TAKEN: readonly (readonly [method: string, params: readonly unknown[]])[] = [
  ['eth_getBlockByNumber', ['0x0', false]],
  ['eth_getBlockByNumber', ['latest', false]],
  ['eth_getBalance', [ALICE]],
  ['eth_call', [{ to: ALICE }, 'latest', { [ALICE]: { stateDiff: { [WORD]: WORD } } }]],
  ['eth_getBalance', [ALICE, { blockNumber: '0x0' }]],
  ['eth_feeHistory', [1, 'latest', []]],
  ['eth_getStorageAt', [ALICE, '0', 'latest']],
  ['eth_call', [{ to: ALICE, data: null, value: null }, 'latest']],
  ['evm_increaseTime', [7]],
  ['evm_mine', [{ blocks: 2 }]],
]

let geth: Devchain
let own: Devchain

beforeAll(async () => {
  geth = await createDevchain({ compat: 'geth' })
  own = await createDevchain({})
})

afterAll(async () => {
  await geth.close()
  await own.close()
})

describe('--compat geth', () => {
  test.each(REFUSED)('%s refuses %j', async (method, params, position, flaw) => {
    const error = { code: -32_602, message: `invalid argument ${position}: ${flaw}` }
    await expect(geth.request({ method, params })).rejects.toMatchObject(error)
  })

  test('reports a missing parameter by its position', async () => {
    const error = { code: -32_602, message: 'missing value for required argument 0' }
    await expect(geth.request({ method: 'eth_getBalance', params: [] })).rejects.toMatchObject(
      error,
    )
  })

  test.each(TAKEN)('%s accepts %j', async (method, params) => {
    await expect(geth.request({ method, params })).resolves.toBeDefined()
  })

  test('is required to refuse a decimal block number', async () => {
    const request = { method: 'eth_getBlockByNumber', params: ['0', false] }
    await expect(own.request(request)).resolves.toMatchObject({ number: '0x0' })
  })
})
