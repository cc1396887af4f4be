// What people type into the page's forms, and the arguments of calls by name.
import { encodeFunctionData, parseAbi } from 'viem'
import { expect, test } from 'vitest'
import { argumentsIn, fieldOf } from '../../../src/page/data/abi.ts'

const ADDRESS = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'

const read = (type: string, text: string): unknown =>
  fieldOf({ type, name: 'amount' }, 0).parse?.(text)

test.each([
  ['uint256[]', '[9007199254740993, "0x10"]', [9_007_199_254_740_993n, 16n]],
  ['int256[]', '[-123456789012345678901]', [-123_456_789_012_345_678_901n]],
  [
    'string[]',
    '["9007199254740993", "a\\" 9007199254740993"]',
    ['9007199254740993', 'a" 9007199254740993'],
  ],
  ['int64', '−1,000', -1_000n],
  ['uint8', '255', 255n],
])('%s takes %s whole', (type, text, expected) => {
  expect(read(type, text)).toEqual(expected)
})

test.each([
  ['uint8', '256', 'expected a number that fits uint8, got 256'],
  ['uint256', '-1', 'expected a number that fits uint256, got −1'],
  ['int8', '128', 'expected a number that fits int8, got 128'],
])('%s refuses %s', (type, text, message) => {
  expect(() => read(type, text)).toThrow(message)
})

test('the hint of a struct has its members', () => {
  const components = [
    { name: 'who', type: 'address' },
    { name: 'amounts', type: 'uint256[]' },
  ]
  const hint = (type: string): unknown => fieldOf({ name: 'order', type, components }, 0).hint
  expect(hint('tuple')).toBe('tuple: {"who": address, "amounts": uint256[]}')
  expect(hint('tuple[2]')).toBe('tuple[2]: [{"who": address, "amounts": uint256[]}, …]')
})

test('arguments have the names of the function that was called, and not of one with as many', () => {
  const abi = parseAbi([
    'function set(address other, uint256 share)',
    'function set(uint256 total, string text)',
  ])
  const data = encodeFunctionData({ abi, functionName: 'set', args: [5n, 'five'] })
  expect(argumentsIn(abi, data)).toEqual([
    ['total', '5'],
    ['text', 'five'],
  ])
  const other = encodeFunctionData({ abi, functionName: 'set', args: [ADDRESS, 5n] })
  expect(argumentsIn(abi, other)?.map(([name]) => name)).toEqual(['other', 'share'])
})
