// P256VERIFY before osaka (--rip7212), on every engine.
import { p256 } from '@noble/curves/nist.js'
import { describe, expect, onTestFinished, test } from 'vitest'
import { concatBytes, hexFromBytes } from '../../../../src/core/hex.ts'
import { createDevchain, type DevchainOptions } from '../../../../src/devchain.ts'
import { assemble } from '../../../support/evm/bytecode.ts'

const PLACE = `0x${'100'.padStart(40, '0')}`
const CALLER = `0x${'ca'.repeat(20)}`
const MOVED = `0x${'0d'.repeat(20)}`
const ONE = `0x${'1'.padStart(64, '0')}`

/** Calls 0x100 with its own input, and answers what that answered: 32 bytes, of which nothing is left where it was nothing. */
const ASKS = assemble(
  'CALLDATASIZE 0 0 CALLDATACOPY 32 0 CALLDATASIZE 0 0x100 GAS STATICCALL POP RETURNDATASIZE 0 RETURN',
)

const KEY = new Uint8Array(32).fill(7)
const DIGEST = new Uint8Array(32).fill(9)
const SIGNATURE = p256.sign(DIGEST, KEY, { prehash: false, lowS: false })
const HOLDS = concatBytes(DIGEST, SIGNATURE, p256.getPublicKey(KEY, false).slice(1))
const FAILS = concatBytes(new Uint8Array(32), HOLDS.slice(32))

async function open(options: DevchainOptions) {
  const devchain = await createDevchain({ hardfork: 'prague', ...options })
  onTestFinished(() => devchain.close())
  const ask = async <T>(method: string, ...params: unknown[]): Promise<T> =>
    (await devchain.request({ method, params })) as T
  await ask('anvil_setCode', CALLER, hexFromBytes(ASKS))
  return ask
}

describe.each(['reference', 'interpreter', 'auto'] as const)(
  'P256VERIFY on the engine %s',
  (evm) => {
    test('is at 0x100 before osaka with --rip7212', async () => {
      const ask = await open({ evm, rip7212: true })
      for (const to of [PLACE, CALLER]) {
        expect(await ask('eth_call', { to, data: hexFromBytes(HOLDS) })).toBe(ONE)
        expect(await ask('eth_call', { to, data: hexFromBytes(FAILS) })).toBe('0x')
      }
      const { accessList } = await ask<{ accessList: unknown[] }>('eth_createAccessList', {
        to: CALLER,
        data: hexFromBytes(HOLDS),
      })
      // a precompile is warm, and so on no list
      expect(accessList).toEqual([])
    })

    test('is not at 0x100 under prague without --rip7212', async () => {
      const ask = await open({ evm })
      expect(await ask('eth_call', { to: PLACE, data: hexFromBytes(HOLDS) })).toBe('0x')
    })

    test('costs 3,450 gas in a transaction, and can be moved by a call', async () => {
      const ask = await open({ evm, rip7212: true })
      const [from] = await ask<string[]>('eth_accounts')
      const hash = await ask('eth_sendTransaction', { from, to: CALLER, data: hexFromBytes(HOLDS) })
      expect(await ask('debug_traceTransaction', hash, { tracer: 'callTracer' })).toMatchObject({
        output: ONE,
        calls: [{ to: PLACE, output: ONE, gasUsed: '0xd7a' }],
      })
      const message = { to: MOVED, data: hexFromBytes(HOLDS) }
      const overrides = { [PLACE]: { movePrecompileToAddress: MOVED } }
      expect(await ask('eth_call', message, 'latest', overrides)).toBe(ONE)
    })
  },
)

test('eth_config lists P256VERIFY with --rip7212', async () => {
  const ask = await open({ rip7212: true })
  expect(await ask('eth_config')).toMatchObject({ current: { precompiles: { P256VERIFY: PLACE } } })
})
