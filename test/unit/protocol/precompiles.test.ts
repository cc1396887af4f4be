// The table of precompiles against the library that runs them.
import { Common, Mainnet } from '@ethereumjs/common'
import { getActivePrecompiles } from '@ethereumjs/evm'
import { describe, expect, test } from 'vitest'
import type { Address } from '../../../src/core/hex.ts'
import { HARDFORKS } from '../../../src/protocol/forks.ts'
import { isPrecompile, precompilesOf } from '../../../src/protocol/precompiles.ts'

describe('precompilesOf', () => {
  test.each(HARDFORKS)('lists for %s the precompiles that the engine has', (fork) => {
    const hardfork = fork === 'frontier' ? 'chainstart' : fork
    const common = new Common({ chain: Mainnet, hardfork })
    const known = precompilesOf(fork).map(({ address }) => address.slice(2))
    expect(known).toEqual([...getActivePrecompiles(common).keys()].sort())
  })

  test('agrees with isPrecompile for any address, fork by fork', () => {
    const at = (digits: string): Address => `0x${digits.padStart(40, '0')}` as Address
    expect(isPrecompile(at('1'), 'frontier')).toBe(true)
    expect(isPrecompile(at('0'), 'osaka')).toBe(false)
    expect(isPrecompile(at('5'), 'spuriousDragon')).toBe(false)
    expect(isPrecompile(at('100'), 'osaka')).toBe(true)
    expect(isPrecompile(at('100'), 'prague')).toBe(false)
  })
})
