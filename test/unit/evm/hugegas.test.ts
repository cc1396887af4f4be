// Gas up to 2^63 - 1 counts to the last one, on every engine: in GAS, in what calls pass on, in
// what memory costs, and in the official test whose transaction has nearly so much.
import { describe, expect, test } from 'vitest'
import {
  type Address,
  bigintFromBytes,
  bytesFromHex,
  concatBytes,
  paddedBytes,
} from '../../../src/core/hex.ts'
import type { Jobs } from '../../../src/evm/executor.ts'
import { OPTIONS } from '../../../src/options/table.ts'
import { intrinsicGas } from '../../../src/protocol/fees.ts'
import { HARDFORKS, type Hardfork, isAtLeast } from '../../../src/protocol/forks.ts'
import { EXECUTION_GAS_CAP } from '../../../src/protocol/stategas.ts'
import {
  emptyWorld,
  stateRoot,
  type World,
  withBalance,
  withCode,
} from '../../../src/state/world.ts'
import { calling } from '../../support/evm/bytecode.ts'
import { allEngines } from '../../support/evm/engines.ts'
import {
  blockWith,
  CONTRACT,
  funded,
  messageWith,
  OTHER,
  transactionWith,
  withProgram,
} from './stage.ts'

const LIMITS = [
  2n ** 61n,
  2n ** 62n - 1n,
  2n ** 62n,
  2n ** 62n + 1n,
  2n ** 63n - 2n,
  2n ** 63n - 1n,
]

const FORKS = HARDFORKS.filter((fork) => !isAtLeast(fork, 'amsterdam'))

const FIRST_OPERATION = 2n

const MODEXP = '0x0000000000000000000000000000000000000005' as Address

/** Return GAS of the outermost frame, and of a frame called with all gas. */
const RETURN_GAS = 'GAS 0 MSTORE 32 0 RETURN'
const RETURN_INNER_GAS = `0 0 0 0 0 ${OTHER} GAS CALL POP 32 0 0 RETURNDATACOPY 32 0 RETURN`

async function wordOf(
  jobs: Jobs,
  hardfork: Hardfork,
  gasLimit: bigint,
  world: World,
): Promise<{ readonly word: bigint; readonly gasUsed: bigint }> {
  const message = messageWith({ gasLimit })
  const { failure, output, gasUsed } = await jobs.call({
    world,
    block: blockWith({ hardfork }),
    message,
  })
  expect(failure).toBeUndefined()
  return { word: bigintFromBytes(output), gasUsed }
}

describe.each(allEngines())('huge gas on the engine $name', ({ jobsWithin }) => {
  const jobs = jobsWithin(OPTIONS.memoryLimit.default)
  const reading = withProgram(funded, CONTRACT, RETURN_GAS)

  test.each(LIMITS)('is counted to the last unit: %d', async (gasLimit) => {
    for (const hardfork of FORKS) {
      const { word } = await wordOf(jobs, hardfork, gasLimit, reading)
      const begun = gasLimit - intrinsicGas(messageWith({ gasLimit }), hardfork)
      expect(word, hardfork).toBe(begun - FIRST_OPERATION)
    }
  })

  test.each(LIMITS)('is passed to a call except for a 64th: %d', async (gasLimit) => {
    const world = withProgram(withProgram(funded, CONTRACT, RETURN_INNER_GAS), OTHER, RETURN_GAS)
    for (const hardfork of FORKS.filter((fork) => isAtLeast(fork, 'byzantium'))) {
      const { word } = await wordOf(jobs, hardfork, gasLimit, world)
      const access = isAtLeast(hardfork, 'berlin') ? 2_600n : 700n
      const pushes = 6n * 3n + 2n
      const begun = gasLimit - intrinsicGas(messageWith({ gasLimit }), hardfork)
      const there = begun - pushes - access
      expect(word, hardfork).toBe(there - there / 64n - FIRST_OPERATION)
    }
  })

  test.each(LIMITS)('is used up by a halt and by nothing else: %d', async (gasLimit) => {
    for (const hardfork of FORKS) {
      const block = blockWith({ hardfork })
      const message = messageWith({ gasLimit })
      const halting = withProgram(funded, CONTRACT, 'INVALID')
      const outcome = await jobs.call({ world: halting, block, message })
      expect(outcome.gasUsed, hardfork).toBe(gasLimit)
      const { gasUsed } = await wordOf(jobs, hardfork, gasLimit, reading)
      expect(gasUsed, hardfork).toBe(intrinsicGas(message, hardfork) + 2n + 3n + 6n + 3n + 3n)
    }
  })

  test.each([...LIMITS, 2n ** 64n])(
    'pays for state only, from amsterdam on: %d',
    async (gasLimit) => {
      const hardfork = 'amsterdam'
      const { word, gasUsed } = await wordOf(jobs, hardfork, gasLimit, reading)
      const message = messageWith({ gasLimit })
      expect(word).toBe(EXECUTION_GAS_CAP - intrinsicGas(message, hardfork) - FIRST_OPERATION)
      expect(gasUsed).toBe(intrinsicGas(message, hardfork) + 2n + 3n + 6n + 3n + 3n)
      const halting = withProgram(funded, CONTRACT, '1 0 SSTORE INVALID')
      const outcome = await jobs.call({ world: halting, block: blockWith({ hardfork }), message })
      expect(outcome.gasUsed).toBe(EXECUTION_GAS_CAP)
    },
  )

  test.each([
    // 2^36 words cost 2^63 gas and more
    ['2^41 bytes are out of gas', 2n ** 41n, 'out of gas'],
    ['a terabyte and more, in two parts', 2n ** 41n - 2n ** 35n, 'memory limit exceeded'],
    ['a terabyte is beyond the bound', 2n ** 40n, 'memory limit exceeded'],
  ])('pays for memory beyond what exists: %s', async (_name, end, reason) => {
    const programs = [
      `1 0x${(end - 32n).toString(16)} MSTORE`,
      `0x${(end / 2n).toString(16)} 0x${(end / 2n).toString(16)} KECCAK256`,
      `0x${(end / 2n).toString(16)} 0 0x${(end / 2n).toString(16)} CODECOPY`,
      `0x${(end / 2n).toString(16)} 0x${(end / 2n).toString(16)} LOG0`,
      `0x${end.toString(16)} 0 RETURN`,
    ]
    for (const program of programs) {
      const world = withProgram(funded, CONTRACT, program)
      const message = messageWith({ gasLimit: 2n ** 63n - 1n })
      const { failure } = await jobs.call({ world, block: blockWith(), message })
      expect(failure?.reason, program).toBe(reason)
    }
  })

  test('runs out where little gas meets the largest memory', async () => {
    const most = `0x${(2n ** 40n - 1n).toString(16)}`
    for (const gasLimit of [100_000n, 2n ** 62n, 2n ** 63n - 1n]) {
      const world = withProgram(funded, CONTRACT, `${most} ${most} KECCAK256`)
      const message = messageWith({ gasLimit })
      const { failure } = await jobs.call({ world, block: blockWith(), message })
      expect(failure?.reason).toBe('out of gas')
    }
  })

  test.each(['byzantium', 'prague'] as const)(
    'cannot pay for an exponent that does not fit: %s',
    async (hardfork) => {
      const lengths: readonly (readonly bigint[])[] = [
        [2n ** 30n, 1n, 1n],
        [1n, 1n, 2n ** 30n],
        [2n ** 24n + 1n, 1n, 2n],
      ]
      for (const each of lengths) {
        const data = concatBytes(...each.map((length) => paddedBytes(length, 32)))
        const message = messageWith({ to: MODEXP, data, gasLimit: 2n ** 63n - 1n })
        const { failure } = await jobs.call({
          world: funded,
          block: blockWith({ hardfork }),
          message,
        })
        expect(failure?.reason, String(each)).toBe('out of gas')
      }
    },
  )

  test('produces the world of the official test static_LoopCallsDepthThenRevert3', async () => {
    const contract = '0xa000000000000000000000000000000000000000' as Address
    const sender = '0xa94f5374fce5edbc8e2a8697c15331677e6ebf0b' as Address
    const code = bytesFromHex(
      '0x6103fe60003514603d57600160003501600052600060006020600073a0000000000000000000000000000000000000005afa5061041a600035106051575b66600060006002f0600052600760196003f0505b',
    )
    const rich = withBalance(emptyWorld, sender, 0x13426172c74d822b878fe800000000n)
    const outcome = await jobs.transact({
      world: withCode(withBalance(rich, contract, 10n), contract, code),
      block: blockWith({
        hardfork: 'byzantium',
        coinbase: '0x2adc25665018aa1fe0e6bc666dac8fc2697ff9ba' as Address,
        number: 1n,
        timestamp: 1_000n,
        difficulty: 0x20000n,
        gasLimit: 2n ** 63n - 1n,
      }),
      transaction: transactionWith({
        from: sender,
        to: contract,
        gasLimit: 0x7ffffffffffffff0n,
        maxFeePerGas: 1n,
        maxPriorityFeePerGas: 1n,
      }),
    })
    expect(stateRoot(outcome.world)).toBe(
      '0x1bf4518519a3e297eccaf0c3f51c5d7f8887e09b36be22595bdaabf5806b9f1d',
    )
  })

  test('is counted like any gas: a run needs what it used', async () => {
    const program = `1 0 SSTORE ${calling(OTHER)} POP`
    const world = withProgram(withProgram(funded, CONTRACT, program), OTHER, '2 0 SSTORE')
    const needs = await Promise.all(
      [10n ** 6n, 2n ** 63n - 1n].map(async (gasLimit) => {
        const message = messageWith({ gasLimit })
        const { gasNeed, gasUsed } = await jobs.call({ world, block: blockWith(), message })
        return { need: gasNeed?.gas, gasUsed }
      }),
    )
    expect(needs[1]).toEqual(needs[0])
  })
})
