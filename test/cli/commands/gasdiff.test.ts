// `devchain gas-diff` around a real command: what a project's tests cost under two hardforks, and which of them change.
import { copyFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { diffOf, diffText, type ForkRun, isWorse } from '../../../src/cli/commands/gasdifftable.ts'
import { type CommandLine, readCommandLine, wordsOf } from '../../../src/cli/parse/commandline.ts'
import type { Hardfork } from '../../../src/protocol/forks.ts'
import { marketProject, marketSteps } from '../../support/chain/market.ts'
import { textOf } from '../../support/pages/readme.ts'
import { FOREVER, ROOT, startProcess, temporaryFolder } from '../../support/process/boot.ts'
import { writeProject } from '../../support/solidity/solidity.ts'
import { eventually } from '../../support/waiting/eventually.ts'

const project = marketProject()
const TESTS = ['--', process.execPath, '--test', 'market.test.mjs']

/** A project with artifacts and tests that send transactions. */
async function marketFolder(): Promise<string> {
  const folder = temporaryFolder(onTestFinished)
  writeProject(folder, 'foundry', project)
  copyFileSync(
    path.join(ROOT, 'fixtures/project/market.test.mjs'),
    path.join(folder, 'market.test.mjs'),
  )
  writeFileSync(path.join(folder, 'steps.json'), JSON.stringify(await marketSteps(project, 33)))
  return folder
}

/** What the page shows, without its margin. */
function example(): string {
  const [, after = ''] = textOf('src/protocol/README.md').split('did:\n\n')
  const [block = ''] = after.split('\n\n- ')
  return block.replaceAll(/^ {4}/gm, '')
}

async function run(folder: string, ...args: string[]) {
  const { ended, stdout, stderr } = startProcess(['gas-diff', ...args], { cwd: folder })
  const code = await ended
  return { code, stdout: stdout(), stderr: stderr() }
}

test('gas-diff compares gas, exit codes and logs of tests as the page of Amsterdam shows', async () => {
  const folder = await marketFolder()
  const { code, stdout, stderr } = await run(folder, ...TESTS)
  expect(stdout.replaceAll(process.execPath, 'node')).toBe(`${example()}\n`)
  expect(code).toBe(0)
  expect(stderr).toMatch(
    /^devchain: gas-diff: .* under bpo2\n[\s\S]*# fail 0\n[\s\S]* under amsterdam\n/,
  )
  expect(stderr).toMatch(/not ok 1 - ether to an account that exists[\s\S]*# fail 4\n/)
})

test('gas-diff --json prints nothing else on standard output, and --threshold fails without gas', async () => {
  const folder = await marketFolder()
  const script = 'console.log("mine"); process.exitCode = Number(process.env.DEVCHAIN_URL === "")'
  const plain = ['--from', 'prague', '--to', 'osaka', '--json', '--threshold', '0']
  const command = ['--', process.execPath, '-e', script]
  const { code, stdout, stderr } = await run(folder, ...plain, ...command)
  const none = {
    ...{ exitCode: 0, transactions: 0, failed: 0, logs: 0, gasUsed: 0, stateGasUsed: 0 },
    ...{ failedTests: null, failedOnlyHere: null },
  }
  expect(JSON.parse(stdout)).toEqual({
    command: [process.execPath, '-e', script],
    runs: [
      { hardfork: 'prague', ...none },
      { hardfork: 'osaka', ...none },
    ],
    functions: [],
    warning: null,
  })
  expect([code, stderr.split('\n').at(-2)]).toEqual([
    1,
    '{"message":"no function of the project ran, so there is no gas to compare"}',
  ])
})

test.each([
  [['--hardfork', 'osaka'], 2, '--hardfork is set by --from and --to'],
  [['--state', 'chain'], 2, '--state would give both runs the same chain'],
  [['--to', 'osakka'], 2, 'did you mean osaka?'],
  [['--threshold', 'much'], 2, 'expected a percentage'],
  [['--coverage', 'lcov.info'], 2, '--coverage works with devchain exec'],
  [['--dump-state', 'dump.json'], 2, '--dump-state works with devchain exec'],
])('gas-diff refuses %s', async (args, expected, message) => {
  const { code, stdout, stderr } = await run(temporaryFolder(onTestFinished), ...args, '--', 'true')
  expect([code, stdout]).toEqual([expected, ''])
  expect(stderr).toContain(message)
})

test('gas-diff stops after a command that cannot be run', async () => {
  const { code, stderr } = await run(temporaryFolder(onTestFinished), '--', 'no-such-command')
  expect(code).toBe(127)
  expect(stderr).toBe(
    'devchain: gas-diff: no-such-command under bpo2\n' +
      'devchain: gas-diff: cannot run no-such-command: there is no such command\n',
  )
})

test.each([
  ['SIGTERM', 143, ''],
  ['SIGHUP', 129, ''],
  ['SIGINT', 130, ''],
  ['SIGTERM', 143, 'process.exit(0)'],
  ['SIGINT', 7, 'process.exit(7)'],
] as const)(
  'gas-diff that gets %s runs its command no more and exits with %i (handler: "%s")',
  async (signal, code, handler) => {
    const handles = handler && `process.on('${signal}', () => ${handler});`
    const waits = `${handles} console.log('up'); ${FOREVER}`
    const command = ['--', process.execPath, '-e', waits]
    const { child, ended, stdout, stderr } = startProcess(['gas-diff', ...command])
    onTestFinished(() => void child.kill('SIGKILL'))
    await eventually(() => /^up$/m.test(stderr()))
    child.kill(signal)
    expect([await ended, stdout()]).toEqual([code, ''])
    expect(stderr()).toMatch(/^devchain: gas-diff: .* under bpo2\nup\n$/)
  },
)

describe('the comparison', () => {
  const totals = { transactions: 2, failed: 0, logs: 1, gasUsed: 60_000, stateGasUsed: 0 }
  const amounts = { kind: 'transaction', calls: 1, failed: 0, min: 0, median: 0, max: 0 } as const
  const row = (name: string, average: number, rest = {}) => ({
    ...{ contract: 'Vault', function: name, average, logs: 1, ...amounts, ...rest },
  })
  const runOf = (hardfork: Hardfork, rows: ForkRun['rows'], rest = {}): ForkRun => ({
    ...{ hardfork, exitCode: 0, failedTests: undefined, totals, rows, warning: undefined },
    ...rest,
  })

  test('says in one sentence that the tests ran alike', () => {
    const diff = diffOf(['npm', 'test'], runOf('osaka', []), runOf('bpo2', []))
    expect(diffText(diff, [])).toBe(
      'The tests ran alike: exit code 0, 2 transactions (0 failed), 1 log.',
    )
    expect(isWorse(diff, 0)).toBe(false)
  })

  test('has functions that changed, although the totals are the same', () => {
    const before = runOf('osaka', [row('a()', 100), row('b()', 100, { failed: 1 })])
    const after = runOf('bpo2', [row('a()', 100, { failed: 1 }), row('b()', 100)])
    const text = diffText(diffOf([], before, after), [])
    expect(text).not.toContain('ran alike')
    expect(text).toMatch(/Vault\.a\(\) {2}failed 0 → 1\nVault\.b\(\) {2}failed 1 → 0$/)
  })

  test('has functions that only one run called, and those that failed', () => {
    const before = runOf('osaka', [row('a()', 100), row('b()', 100)])
    const failing = row('b()', 0, { calls: 0, failed: 2, logs: 0 })
    const after = runOf('bpo2', [failing, row('c()', 90)], { exitCode: 3, warning: 'it is cut' })
    expect(diffText(diffOf(['npm', 'test'], before, after), [])).toMatchInlineSnapshot(`
      "Average gas of each function, the largest increase first:

      Contract  Function           osaka    bpo2  Change
      Vault     a()                  100       –       –
      Vault     b()                  100       –       –
      Vault     c()                    –      90       –
                all transactions  60,000  60,000  +0.0 %

      warning: it is cut

      Tests         osaka  bpo2
      exit code         0     3
      transactions      2     2
      failed            0     0
      logs              1     1

      Changed
      Vault.a()  succeeded 1 → 0, logs 1 → 0
      Vault.b()  succeeded 1 → 0, failed 0 → 2, logs 1 → 0
      Vault.c()  succeeded 0 → 1, logs 0 → 1

      The output of the command names no failed tests.
      See the failures: devchain exec --hardfork bpo2 -- npm test"
    `)
  })

  test('says how to see the failures: with the options that were given, but for the mnemonic', () => {
    const { options } = readCommandLine([
      ...['gas-diff', '--chain-id', '5', '--auto-impersonate', '--mnemonic', 'test test junk'],
      ...['--alias', 'a=b', '--alias', 'new_*=ext_*', '--', 'npm', 'test'],
    ]) as CommandLine
    const command = ['node', '-e', "process.exit('no')"]
    const [before, after] = [runOf('osaka', []), runOf('bpo2', [], { exitCode: 1 })]
    const text = diffText(diffOf(command, before, after), ['--chains', ...wordsOf(options)])
    const given = `--chain-id 5 --mnemonic … --auto-impersonate --alias a=b --alias 'new_*=ext_*'`
    const again = `--hardfork bpo2 --chains ${given} -- node -e 'process.exit('\\''no'\\'')'`
    expect(text.split('\n').at(-1)).toBe(`See the failures: devchain exec ${again}`)
  })

  test('names the tests that failed in one run only, also if both runs failed', () => {
    const before = runOf('osaka', [], { exitCode: 1, failedTests: ['opens', 'pays'] })
    const after = runOf('bpo2', [], { exitCode: 1, failedTests: ['pays', 'burns'] })
    const diff = diffOf(['npm', 'test'], before, after)
    expect(diffText(diff, [])).toContain(
      '\n\nFailed only under osaka\nopens\n\nFailed only under bpo2\nburns',
    )
    expect(isWorse(diff, 0)).toBe(true)
    expect(diff.runs.map(({ failedOnlyHere }) => failedOnlyHere)).toEqual([['opens'], ['burns']])
    const better = runOf('bpo2', [], { exitCode: 1, failedTests: [] })
    expect(isWorse(diffOf([], before, better), 0)).toBe(false)
    const unknown = diffOf([], before, runOf('bpo2', [], { exitCode: 1 }))
    expect(unknown.runs.map(({ failedOnlyHere }) => failedOnlyHere)).toEqual([null, null])
  })

  test('is worse by an average over the threshold, or by another exit code', () => {
    const before = runOf('osaka', [row('a()', 100)])
    const after = runOf('bpo2', [row('a()', 105)])
    expect([4, 5, 6].map((percent) => isWorse(diffOf([], before, after), percent))).toEqual([
      true,
      false,
      false,
    ])
    expect(isWorse(diffOf([], before, { ...before, exitCode: 1 }), 50)).toBe(true)
  })

  test('is worse if all calls of a function fail that succeeded before, not the other way round', () => {
    const works = runOf('osaka', [row('a()', 100, { failed: 1 })])
    const fails = runOf('bpo2', [row('a()', 0, { calls: 0, failed: 2 })])
    expect(isWorse(diffOf([], works, fails), 1_000)).toBe(true)
    expect(isWorse(diffOf([], fails, works), 0)).toBe(false)
    expect(isWorse(diffOf([], fails, fails), 0)).toBe(false)
    expect(isWorse(diffOf([], works, runOf('bpo2', [])), 0)).toBe(false)
  })
})
