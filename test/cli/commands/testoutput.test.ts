// The names of failed tests in what runners print: each text is shortened output of the real one.
import { expect, test } from 'vitest'
import { TestOutput } from '../../../src/cli/commands/testoutput.ts'

/** In pieces, as from a pipe. */
function failedIn(text: string): readonly string[] | undefined {
  const output = new TestOutput()
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += 7) output.write(bytes.subarray(at, at + 7))
  return output.failed
}

const BOTH = ['Vault > pays', 'Vault > inner > burns']

const TAP = `TAP version 13
# Subtest: Vault
    # Subtest: opens
    ok 1 - opens
    # Subtest: pays
    not ok 2 - pays
      ---
      error: 'no'
      ...
    # Subtest: inner
        # Subtest: burns
        not ok 1 - burns
        # Subtest: later
        not ok 2 - later # TODO
        1..2
    not ok 3 - inner
    1..3
not ok 1 - Vault
# Subtest: one \\# two
not ok 2 - one \\# two
# pass 1
`

const MOCHA = `
  ✔ top level
  Vault
    1) pays
    inner
      2) burns

  1 passing (129ms)
  2 failing

  1) Vault
       pays:
     Error: no
      at Context.<anonymous> (m.cjs:1:79)

  2) Vault
       inner
         burns:
     Error: x

  3) Till: ether:
       pays:
         1) once::

      AssertionError [ERR_ASSERTION]: no
`

/** Of `hardhat test`, which adds up what all its runners did. */
const HARDHAT_3 = `Running node:test tests

  Vault
    1) pays (110ms)
    inner
      2) burns

2 failing (1 nodejs, 1 mocha)

  1) Vault
       pays:

   AssertionError: no
       at TestContext.<anonymous> (test/box.ts:7:91)

  2) Vault
       inner
         burns:

   ProviderError: x

Test run failed
`

const JEST = `FAIL ./b.test.js
  ● Vault › pays

    no

  ● Vault › inner › burns

Tests:       2 failed, 1 passed, 3 total
`

const SPEC = `▶ Vault
  ✖ pays (0.24ms)
    Error: no
  ▶ inner
    ✖ burns (0.19ms)
  ✖ inner (0.48ms)
✖ Vault (2.67ms)
ℹ pass 1

✖ failing tests:

test at n.mjs:2:49
✖ pays (0.24ms)
  Error: no

test at n.mjs:2:125
✖ burns (0.19ms)
`

const VITEST = `\u001b[31m ❯\u001b[39m a.test.mjs (3 tests | 2 failed)
     × pays 4ms

\u001b[41m FAIL \u001b[49m a.test.mjs\u001b[2m > \u001b[22mVault > pays
 FAIL  a.test.mjs > Vault > inner > burns
      Tests  2 failed | 1 passed (3)
`

test.each([
  ['TAP', TAP, [...BOTH, 'one # two']],
  ['Mocha', MOCHA, [...BOTH, 'Till: ether: > pays: > 1) once:']],
  ['Hardhat 3', HARDHAT_3, BOTH],
  ['Jest', JEST, BOTH],
  ['node:test', SPEC, ['pays', 'burns']],
  ['Vitest', VITEST, BOTH.map((name) => `a.test.mjs > ${name}`)],
])('%s names the tests that failed', (_, text, names) => {
  expect(failedIn(text)).toEqual(names)
})

test('TAP names failed tests without numbers too, and not those that are expected to fail', () => {
  const lines = ['not ok - a test', 'not ok another', 'not ok - later # TODO', 'not ok # TODO']
  const output = ['TAP version 13', ...lines, 'not ok 5 # TODO no', 'ok - one', 'not okay', '1..6']
  expect(failedIn(`${output.join('\n')}\n`)).toEqual(['a test', 'another'])
})

test.each([
  ['TAP version 13\nok 1 - pays\n', []],
  ['  2 passing (5ms)\n', []],
  ['2 passing (1 solidity, 1 nodejs)\n', []],
  ['Tests:       2 passed, 2 total\n', []],
  ['      Tests  2 passed (2)\n', []],
  ['ℹ pass 2\n', []],
  ['not ok\n1) no\nFAIL  gas\n2 failing\n2 passing cars\n', undefined],
])('%j is output of a runner, or of something else', (text, names) => {
  expect(failedIn(text)).toEqual(names)
})
