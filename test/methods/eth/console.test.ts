// What contracts print is reported once: with the call that ran them for itself, or with the failure that keeps a
// transaction from being sent.
import { expect, test } from 'vitest'
import { keccak256 } from '../../../src/core/crypto/crypto.ts'
import { bytesFromHex, concatBytes, hexFromBytes } from '../../../src/core/hex.ts'
import { createDevchain } from '../../../src/devchain.ts'
import { assemble, storing } from '../../support/evm/bytecode.ts'

const FROM = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const TO = `0x${'c0'.repeat(20)}`

/** `console.log("before")`, then with input a revert. */
const CODE = assemble(
  `${storing(logCall('before'))} 0 0 100 0 0x636f6e736f6c652e6c6f67 GAS STATICCALL POP
   CALLDATASIZE @fail JUMPI STOP fail: 0 0 REVERT`,
)

function logCall(text: string): Uint8Array {
  const selector = keccak256(new TextEncoder().encode('log(string)')).subarray(0, 4)
  const word = (value: number): Uint8Array =>
    bytesFromHex(`0x${value.toString(16).padStart(64, '0')}`)
  const padded = new Uint8Array(32)
  padded.set(new TextEncoder().encode(text))
  return concatBytes(selector, word(32), word(text.length), padded)
}

const GOOD = { from: FROM, to: TO }
const BAD = { ...GOOD, data: '0x01' }
const MANY = [{ transactions: [GOOD, BAD] }]

test.each<[times: number, method: string, params: readonly unknown[]]>([
  [1, 'eth_call', [GOOD]],
  [1, 'eth_call', [BAD]],
  [0, 'eth_estimateGas', [GOOD]],
  [1, 'eth_estimateGas', [BAD]],
  [0, 'eth_fillTransaction', [GOOD]],
  [1, 'eth_fillTransaction', [BAD]],
  [0, 'eth_signTransaction', [GOOD]],
  [1, 'eth_signTransaction', [BAD]],
  [0, 'eth_createAccessList', [GOOD]],
  [1, 'eth_createAccessList', [BAD]],
  [1, 'eth_sendTransaction', [BAD]],
  [2, 'eth_callMany', [MANY]],
  [2, 'eth_simulateV1', [{ blockStateCalls: [{ calls: [GOOD, BAD] }] }]],
  [1, 'debug_traceCall', [GOOD]],
  [1, 'debug_traceCall', [BAD, 'latest', { tracer: 'callTracer' }]],
  [1, 'trace_call', [BAD]],
  [
    2,
    'trace_callMany',
    [
      [
        [GOOD, ['trace']],
        [BAD, ['trace']],
      ],
    ],
  ],
])('console lines are logged %i times by %s %j', async (times, method, params) => {
  const calls: (readonly string[])[] = []
  const mined: string[] = []
  await using devchain = await createDevchain(
    { defaultGas: 'estimate' },
    {
      observer: {
        onCall: (call) => calls.push(call.console),
        onChange: ({ head }) =>
          mined.push(...[...head.added].flatMap(({ executed }) => executed.map(String))),
      },
    },
  )
  await devchain.request({ method: 'hardhat_setCode', params: [TO, hexFromBytes(CODE)] })
  await devchain.request({ method, params }).catch(() => undefined)
  expect(calls.at(-1)).toEqual(Array.from({ length: times }, () => 'before'))
  expect(mined).toEqual([])
})

test('console lines of a reverted send are logged once, with the transaction', async () => {
  const lines: string[] = []
  await using devchain = await createDevchain(
    { onRevert: 'throw' },
    {
      observer: {
        onCall: (call) => lines.push(...call.console.map((line) => `call: ${line}`)),
        onChange: ({ head }) => {
          for (const { executed } of head.added) {
            for (const { consoleLines } of executed)
              lines.push(...consoleLines.map(({ text }) => `mined: ${text}`))
          }
        },
      },
    },
  )
  await devchain.request({ method: 'hardhat_setCode', params: [TO, hexFromBytes(CODE)] })
  const request = { ...BAD, gas: '0x186a0' }
  await expect(
    devchain.request({ method: 'eth_sendTransaction', params: [request] }),
  ).rejects.toThrow('revert')
  expect(lines).toEqual(['mined: before'])
})

test('console lines of one call are bounded, and the log says so', async () => {
  const calls: (readonly string[])[] = []
  await using devchain = await createDevchain(
    {},
    { observer: { onCall: (call) => calls.push(call.console) } },
  )
  await devchain.request({ method: 'hardhat_setCode', params: [TO, hexFromBytes(CODE)] })
  const transactions = Array.from({ length: 1_100 }, () => GOOD)
  await devchain.request({ method: 'eth_callMany', params: [[{ transactions }]] })
  expect(calls.at(-1)).toHaveLength(1_001)
  expect(calls.at(-1)?.at(-1)).toBe('too many lines: the rest is left out')
})
