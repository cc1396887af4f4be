// A block from elsewhere is taken whatever memory its transactions use: `--memory-limit` is for what is run here.
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Address } from '../../../../src/core/hex.ts'
import { memoryForGas } from '../../../../src/evm/machine.ts'
import { call } from '../../../../src/node/calls/call.ts'
import { replay } from '../../../../src/node/calls/replay.ts'
import type { Chain } from '../../../../src/node/chain/chain.ts'
import type { ChainOptions } from '../../../../src/node/chainoptions.ts'
import { headOf } from '../../../../src/node/ledger/blocktree.ts'
import { assemble } from '../../../support/evm/bytecode.ts'
import { blockOf, imported, madeOf, optionsWith } from '../firstblocks.ts'

/** Stores 1 when it has its two million bytes. */
const HUNGRY = `0x${'aa'.repeat(20)}` as Address
const CODES = { [HUNGRY]: assemble('1 2000000 MSTORE 1 0 SSTORE') }

const LITTLE = { memoryLimit: 1_000_000 }
const GAS = 10_000_000n

/** Gas of frames that have so many words each. */
function priceOf(words: readonly number[]): bigint {
  return words.reduce((sum, each) => sum + BigInt(3 * each + Math.floor((each * each) / 512)), 0n)
}

test('the memory limit for imports covers what any gas can buy, up to three gigabytes', () => {
  const frames = fc.array(fc.nat(200_000), { minLength: 1, maxLength: 1_025 })
  const law = fc.property(frames, (words) => {
    const bytes = 32 * words.reduce((sum, each) => sum + each, 0)
    expect(memoryForGas(priceOf(words))).toBeGreaterThanOrEqual(Math.min(bytes, 3 * 2 ** 30))
  })
  fc.assert(law, { seed: 5, numRuns: 200 })
  const alike = Array.from({ length: 1_025 }, () => 3_000)
  expect(memoryForGas(priceOf(alike))).toBeGreaterThanOrEqual(32 * 3_000 * 1_025)
  expect(memoryForGas(30_000_000n)).toBe(2 ** 27)
  expect(memoryForGas(2n ** 63n - 1n)).toBe(3 * 2 ** 30)
})

describe.each(['reference', 'interpreter', 'auto'] as const)(
  'a block that needs much memory on %s',
  (evm) => {
    const options: ChainOptions = { ...optionsWith(CODES), evm }
    let block: Uint8Array
    let chain: Chain
    beforeAll(async () => {
      block = await blockOf(options, { to: HUNGRY, gasLimit: GAS })
      chain = await madeOf({ ...options, ...LITTLE, blocks: block })
    })

    test('is imported', async () => {
      expect(await imported({ ...options, ...LITTLE }, block)).toBe(
        'taken by the rules of: network',
      )
      expect(headOf(chain.state.tree).executed[0]?.failure).toBeUndefined()
    })

    test('is replayed as it was', async () => {
      const runs: unknown[] = []
      for await (const { outcome } of replay(chain, headOf(chain.state.tree), () => undefined)) {
        runs.push(outcome.failure)
      }
      expect(runs).toEqual([undefined])
    })

    test('exceeds the limit of a call', async () => {
      const { failure } = await call(
        chain,
        { to: HUNGRY, gas: GAS },
        { kind: 'tag', tag: 'latest' },
      )
      expect(failure?.reason).toBe('memory limit exceeded')
    })

    test('exceeds the limit of a transaction on a local chain, before and after import', async () => {
      const own: ChainOptions = { ...optionsWith(CODES, { difficulty: 1n }), evm, ...LITTLE }
      const made = await blockOf(own, { to: HUNGRY, gasLimit: GAS })
      const again = await madeOf({ ...own, blocks: made })
      expect(headOf(again.state.tree).executed[0]?.failure?.reason).toBe('memory limit exceeded')
      expect(again.state.config.ruleset).toBe('own')
    })
  },
)
