// Solidity's console: what contracts print.
import { format } from 'node:util'
import { type Abi, encodeFunctionData, parseAbi, toFunctionSelector } from 'viem'
import { describe, expect, test } from 'vitest'
import { CONSOLE_ADDRESS } from '../../../src/core/abi.ts'
import { keccak256 } from '../../../src/core/crypto/crypto.ts'
import { bytesFromHex, concatBytes, paddedBytes } from '../../../src/core/hex.ts'
import { formatConsoleCall, formatValues } from '../../../src/evm/console.ts'
import { createExecutor } from '../../../src/evm/run/lazyexecutor.ts'
import { calling, storing } from '../../support/evm/bytecode.ts'
import { CONTRACT, callOf, OTHER, withProgram } from './stage.ts'

const NOBODY = '0x00000000000000000000000000000000000A11cE'

function lineOf(signature: string, args: readonly unknown[]): string | undefined {
  const abi = parseAbi([`function ${signature}`] as readonly string[]) as Abi
  const functionName = signature.slice(0, signature.indexOf('('))
  return formatConsoleCall(bytesFromHex(encodeFunctionData({ abi, functionName, args })))
}

describe('a console call', () => {
  test.each([
    ['log()', [], ''],
    ['log(string)', ['hello'], 'hello'],
    ['log(uint256)', [2n ** 256n - 1n], (2n ** 256n - 1n).toString()],
    ['log(int256)', [-5n], '-5'],
    ['log(bool)', [true], 'true'],
    ['log(address)', [NOBODY], NOBODY],
    ['log(string,uint256)', ['balance', 12n], 'balance 12'],
    ['log(string,int256)', ['delta %d', -12n], 'delta -12'],
    ['log(uint256,uint256,uint256)', [1n, 2n, 3n], '1 2 3'],
    [
      'log(string,address,bool,uint256)',
      ['%s is %s, %d', NOBODY, false, 7n],
      `${NOBODY} is false, 7`,
    ],
    ['log(bool,address,uint256,string)', [true, NOBODY, 1n, 'x'], `true ${NOBODY} 1 x`],
    ['log(string,string,string,string)', ['a', 'b', 'c', 'd'], 'a b c d'],
    ['logInt(int256)', [-1n], '-1'],
    ['logUint(uint256)', [1n], '1'],
    ['logString(string)', ['text'], 'text'],
    ['logBool(bool)', [false], 'false'],
    ['logAddress(address)', [NOBODY], NOBODY],
    ['logBytes(bytes)', ['0x0102'], '0x0102'],
    ['log(bytes)', ['0x'], '0x'],
    ['logBytes1(bytes1)', ['0xab'], '0xab'],
    ['logBytes32(bytes32)', [`0x${'cd'.repeat(32)}`], `0x${'cd'.repeat(32)}`],
  ] as const)('%s prints its arguments', (signature, args, line) => {
    expect(lineOf(signature, args)).toBe(line)
  })

  test.each([
    ['log(uint)', 5n, '5'],
    ['logUint(uint)', 5n, '5'],
    ['log(int)', -5n, '-5'],
    ['logInt(int)', -5n, '-5'],
  ])('%s, whose selector has no sizes, is decoded', (signature, value, line) => {
    // viem would widen the type before it hashes
    const selector = rawSelector(signature)
    expect(formatConsoleCall(concatBytes(selector, paddedBytes(value, 32)))).toBe(line)
  })

  test('of an old library with texts and numbers is decoded', () => {
    const words = encodeFunctionData({
      abi: parseAbi(['function log(string,uint256)']),
      args: ['n', 3n],
    })
    const data = concatBytes(rawSelector('log(string,uint)'), bytesFromHex(words).subarray(4))
    expect(formatConsoleCall(data)).toBe('n 3')
  })

  test('with an unknown selector prints nothing', () => {
    expect(formatConsoleCall(new Uint8Array())).toBeUndefined()
    expect(
      formatConsoleCall(bytesFromHex(toFunctionSelector('transfer(address,uint256)'))),
    ).toBeUndefined()
  })

  test('with truncated arguments or a false length prints nothing', () => {
    const selector = bytesFromHex(toFunctionSelector('log(string)'))
    expect(formatConsoleCall(selector)).toBeUndefined()
    expect(formatConsoleCall(concatBytes(selector, paddedBytes(32n, 32)))).toBeUndefined()
    const long = concatBytes(selector, paddedBytes(32n, 32), paddedBytes(2n ** 200n, 32))
    expect(formatConsoleCall(long)).toBeUndefined()
    const far = concatBytes(selector, paddedBytes(2n ** 255n, 32), paddedBytes(1n, 32))
    expect(formatConsoleCall(far)).toBeUndefined()
  })
})

describe('console formatting', () => {
  test.each([
    [['%s and %s', 'a', 'b']],
    [['%s', 'a', 'b']],
    [['%s %s', 'a']],
    [['100%', 'a']],
    [['100%% of %s', 'a']],
    [['100%%']],
    [['%o', 'a']],
    [['%O', "it's"]],
    [['%j', 'a"b']],
    [['%d', '12']],
    [['%i', '12.7']],
    [['%f', '12.7']],
    [['%d', 'x']],
    [['%d', true]],
    [['%i', true]],
    [['%q %s', 'a']],
    [['%c%s', 'color: red', 'a']],
    [['a', 'b', true]],
    [[true, 'b']],
  ])('matches node for %j', (values) => {
    // %O quotes a text that has a quote in it differently
    const expected = values[0] === '%O' ? "'it\\'s'" : format(...values)
    expect(formatValues(values)).toBe(expected)
  })

  test.each([
    [['%d', 2n ** 255n], (2n ** 255n).toString()],
    [['%i', -7n], '-7'],
    [['%o', 7n], '7'],
    [['%s', 7n], '7'],
    [['%x', 255n], '0xff'],
    [['%d of %d', 1n], '1 of %d'],
  ])('prints integers exactly, without an n: %s', (values, text) => {
    expect(formatValues(values)).toBe(text)
  })
})

describe('a run with console calls', () => {
  const executor = createExecutor()
  const hello = bytesFromHex(
    encodeFunctionData({ abi: parseAbi(['function log(string)']), args: ['hello'] }),
  )
  const print = `${storing(hello)} 0 0 ${hello.length} 0 ${CONSOLE_ADDRESS} GAS STATICCALL POP`

  test('returns the lines that contracts printed, with the contract of each', async () => {
    const job = callOf(`${print} ${calling(OTHER)}`)
    const world = withProgram(job.world, OTHER, `${print} 0 0 REVERT`)
    const { consoleLines } = await executor.call({ ...job, world })
    expect(consoleLines).toEqual([
      { address: CONTRACT, text: 'hello' },
      { address: OTHER, text: 'hello' },
    ])
  })

  test('has no lines if it prints nothing', async () => {
    expect((await executor.call(callOf('1'))).consoleLines).toEqual([])
  })

  test('that prints without end has its lines cut', async () => {
    const job = callOf(`again: ${print} @again JUMP`, { gasLimit: 12_000_000n })
    const { consoleLines } = await executor.call(job)
    expect(consoleLines.length).toBe(10_001)
    expect(consoleLines.at(-1)?.text).toBe('too many lines: the rest is left out')
  })
})

function rawSelector(signature: string): Uint8Array {
  return keccak256(new TextEncoder().encode(signature)).subarray(0, 4)
}
