// The difficulty of proof-of-work, held against another implementation and against blocks of the main network.
import { createBlockHeader } from '@ethereumjs/block'
import { Common, Mainnet } from '@ethereumjs/common'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bytesFromHex, type Hash } from '../../../../src/core/hex.ts'
import {
  bombDelayAt,
  type Glaciers,
  nextDifficulty,
} from '../../../../src/protocol/blocks/difficulty.ts'
import { EMPTY_UNCLES_HASH } from '../../../../src/protocol/blocks/header.ts'
import type { Hardfork } from '../../../../src/protocol/forks.ts'

const SOME_UNCLES = `0x${'11'.repeat(32)}` as Hash
const NEVER: Glaciers = { muir: undefined, arrow: undefined, gray: undefined }

/** Forks by our names, by those of the other implementation, and the glaciers that have passed. */
const FORKS: readonly (readonly [Hardfork, string, Glaciers])[] = [
  ['frontier', 'chainstart', NEVER],
  ['homestead', 'homestead', NEVER],
  ['tangerineWhistle', 'tangerineWhistle', NEVER],
  ['spuriousDragon', 'spuriousDragon', NEVER],
  ['byzantium', 'byzantium', NEVER],
  ['constantinople', 'constantinople', NEVER],
  ['petersburg', 'petersburg', NEVER],
  ['istanbul', 'istanbul', NEVER],
  ['istanbul', 'muirGlacier', { ...NEVER, muir: 0n }],
  ['berlin', 'berlin', { ...NEVER, muir: 0n }],
  ['london', 'arrowGlacier', { ...NEVER, arrow: 0n }],
  ['london', 'grayGlacier', { ...NEVER, arrow: 0n, gray: 0n }],
]

describe('the difficulty of the next block', () => {
  test.each(FORKS)('equals that of @ethereumjs/block under %s (%s)', (hardfork, name, glaciers) => {
    const common = new Common({ chain: Mainnet, hardfork: name })
    const parents = fc.record({
      number: fc.bigInt(0n, 20_000_000n),
      timestamp: fc.bigInt(0n, 2_000_000_000n),
      difficulty: fc.oneof(fc.bigInt(131_072n, 140_000n), fc.bigInt(131_072n, 10n ** 16n)),
      sha3Uncles: fc.constantFrom(EMPTY_UNCLES_HASH, SOME_UNCLES),
    })
    const law = fc.property(parents, fc.integer({ min: 1, max: 1_500 }), (parent, seconds) => {
      const number = parent.number + 1n
      const timestamp = parent.timestamp + BigInt(seconds)
      const uncleHash = bytesFromHex(parent.sha3Uncles)
      const before = createBlockHeader({ ...parent, uncleHash }, { common })
      const expected = createBlockHeader(
        { number, timestamp },
        { common },
      ).ethashCanonicalDifficulty(before)
      const delay = bombDelayAt(glaciers, number, hardfork)
      expect(nextDifficulty(parent, timestamp, hardfork, delay)).toBe(expected)
    })
    fc.assert(law, { seed: 3, numRuns: 300 })
  })

  test('is delayed by each glacier from its block on', () => {
    const glaciers = { muir: 10n, arrow: 20n, gray: 30n }
    const delays = [9n, 10n, 19n, 20n, 29n, 30n].map((number) =>
      bombDelayAt(glaciers, number, number < 15n ? 'istanbul' : 'london'),
    )
    const millions = [5, 9, 9.7, 10.7, 10.7, 11.4]
    expect(delays).toEqual(millions.map((each) => BigInt(each * 1e6)))
  })
})
