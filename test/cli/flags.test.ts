// Arguments read without a library, held to what commander makes of the same arguments.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readFlags } from '../../src/cli/command.ts'
import { plainFlags } from '../../src/cli/flags.ts'
import { flagOf, OPTION_KEYS } from '../../src/options/table.ts'

describe('plain arguments', () => {
  test('are read as commander reads them, or left to it', () => {
    const name = fc.constantFrom(...OPTION_KEYS.map(flagOf))
    const value = fc.constantFrom('1', 'a b', 'a=b', 'Ü', '--quiet', '-1', '')
    const joined = fc.tuple(name, value).map(([flag, text]) => `${flag}=${text}`)
    const odd = fc.constantFrom('--', '-h', '--version', 'export', '--prot', '--port8545')
    const argv = fc.array(fc.oneof({ weight: 4, arbitrary: name }, value, joined, odd), {
      maxLength: 8,
    })
    let plain = 0
    fc.assert(
      fc.property(argv, (args) => {
        const flags = plainFlags(args)
        if (flags === undefined) return
        plain += 1
        expect(flags).toEqual(readFlags(args))
      }),
      { seed: 4, numRuns: 3_000 },
    )
    expect(plain).toBeGreaterThan(300)
  })

  test.each([
    ['--help'],
    ['--version'],
    ['--prot', '1'],
    ['--port'],
    ['--port', '--quiet'],
    ['--quiet=yes'],
    ['start'],
    ['--'],
  ])('are not %s %s', (...args) => {
    expect(plainFlags(args)).toBeUndefined()
  })

  test('are those of scripts, test runners and terminals', () => {
    const args = ['--port', '0', '--quiet', '--alias=a=b', '--alias', 'c=d', '--no-mining']
    expect(plainFlags(args)).toEqual({
      port: '0',
      quiet: true,
      alias: ['a=b', 'c=d'],
      noMining: true,
    })
  })
})
