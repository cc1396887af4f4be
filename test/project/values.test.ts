// Decoded values as people read them.
import { expect, test } from 'vitest'
import { bytesFromHex } from '../../src/core/hex.ts'
import { decodeInputs } from '../../src/project/abi/decode.ts'
import { namedArguments } from '../../src/project/abi/values.ts'

const DAI = { symbol: 'DAI', decimals: 18 }
const ETHER = 10n ** 18n

test.each([
  ['a round amount', [['uint256', 5n * ETHER]], undefined, '5 ether'],
  [
    'amounts beside a round one',
    [
      ['uint256', 5n * ETHER],
      ['uint256', ETHER - 1n],
    ],
    undefined,
    '5 ether, 0.999999999999999999 ether',
  ],
  [
    'what a pool got and gave',
    [
      ['int256', ETHER],
      ['int256', 1n - ETHER],
    ],
    undefined,
    '1 ether, −0.999999999999999999 ether',
  ],
  [
    'small signed numbers',
    [
      ['int256', -3n],
      ['int256', 0n],
    ],
    undefined,
    '−3, 0',
  ],
  [
    'numbers of other widths',
    [
      ['int24', -887_272n],
      ['uint160', ETHER],
    ],
    undefined,
    '−887,272, 1,000,000,000,000,000,000',
  ],
  [
    'tokens',
    [
      ['uint256', ETHER / 2n],
      ['int256', -2n * ETHER],
    ],
    DAI,
    '0.5 DAI, −2 DAI',
  ],
  [
    'text with quotes, line breaks and what turns it',
    [['string', 'pay "\u202eresu\u202c"\nnow\u001b[2J']],
    undefined,
    '"pay \\"\\u202eresu\\u202c\\"\\nnow\\u001b[2J"',
  ],
  ['long text', [['string', 'a'.repeat(61)]], undefined, `"${'a'.repeat(59)}…"`],
  ['an allowance without an end', [['uint256', 2n ** 256n - 1n]], DAI, 'unlimited DAI'],
] as const)('%s reads well', (_, values, token, text) => {
  const list = values.map(([type, value]) => ({ parameter: { type, name: '' }, value }))
  const style = { nameOf: () => undefined, token, isWhole: false }
  expect(namedArguments(list, style)).toBe(text)
})

test('functions in arguments are read as their address and selector', () => {
  const inputs = [{ type: 'function' }, { type: 'function[]' }, { type: 'uint256' }]
  const json = JSON.stringify({ inputs })
  const item = {
    kind: 'function',
    name: 'f',
    signature: '',
    key: '',
    isPayable: false,
    json,
  } as const
  const callback = `${'22'.repeat(20)}98d26a11`
  const words = [`${callback}${'00'.repeat(8)}`, word(96n), word(7n), word(1n), callback]
  const data = bytesFromHex(`0x${words.join('').padEnd(5 * 64, '0')}`)
  expect(decodeInputs(item, data)?.map(({ value }) => value)).toEqual([
    `0x${callback}`,
    [`0x${callback}`],
    7n,
  ])
})

function word(value: bigint): string {
  return value.toString(16).padStart(64, '0')
}
