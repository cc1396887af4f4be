// The subcommands as a shell runs them: against a running chain, or around one of their own.
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { completionsFor } from '../../../src/cli/commands/completions.ts'
import { fitted, NewestText } from '../../../src/cli/commands/exec.ts'
import { paramsOf } from '../../../src/cli/commands/remote.ts'
import { PLAIN } from '../../../src/cli/log/palette.ts'
import { createPrettyRenderer } from '../../../src/cli/log/pretty.ts'
import { parseMove, parseWait } from '../../../src/cli/parse/parsetime.ts'
import { SHELLS, SUBCOMMANDS } from '../../../src/cli/parse/subcommands.ts'
import { createDevchain, type Devchain } from '../../../src/devchain.ts'
import { COMMAND, FOREVER, startProcess, temporaryFolder } from '../../support/process/boot.ts'
import { freePort } from '../../support/process/freeport.ts'
import { runHere } from '../../support/process/runhere.ts'

const ALICE = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const ALICE_CHECKSUMMED = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'

/** What `devchain rpc` may call, where a test asks. */
const METHODS = ['eth_call', 'eth_chainId', 'evm_mine']

interface Ran {
  readonly code: number | NodeJS.Signals
  readonly stdout: string
  readonly stderr: string
}

async function run(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  const { ended, stdout, stderr } = startProcess(args, { env })
  const code = await ended
  return { code, stdout: stdout(), stderr: stderr() }
}

describe('a command for a running chain', () => {
  let devchain: Devchain
  let url: string
  const chain = (...args: string[]): Promise<Ran> => run(args, { DEVCHAIN_URL: url })
  const said = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await runHere(args, { DEVCHAIN_URL: url })
    expect([code, stderr]).toEqual([0, ''])
    return stdout
  }

  beforeAll(async () => {
    devchain = await createDevchain({ port: 0, timestamp: 2_000_000_000n, clock: 'frozen' })
    url = (await devchain.listen()).url
  })
  afterAll(async () => {
    await devchain.close()
  })

  test('takes snapshots and reverts to them by name', async () => {
    expect(await said('snapshot', 'empty')).toBe(
      'snapshot 0x1 empty at block 0, 2033-05-18 03:33:20 UTC\n',
    )
    expect(await said('mine', '3')).toBe('mined 3 blocks: the newest is 3\n')
    expect(await said('snapshot', 'three')).toContain('0x2 three at block 3')
    expect(await said('revert', 'empty')).toContain('reverted to snapshot 0x1 empty at block 0')
    expect(await said('revert', 'three')).toContain('reverted to snapshot 0x2 three at block 3')
    expect(await said('snapshot')).toContain('snapshot 0x3 at block 3')
    expect(await said('revert', '0x3')).toContain('reverted to snapshot 0x3 at block 3')
    expect((await said('snapshots')).split('\n')).toHaveLength(4)
    expect(JSON.parse(await said('snapshots', '--json'))).toMatchObject([
      { name: 'empty', blockNumber: 0 },
      { name: 'three', blockNumber: 3 },
      { name: null, id: '0x3', blockNumber: 3, timestamp: 2_000_000_003 },
    ])
    expect(await said('snapshots', '--names')).toBe('empty\nthree\n0x3\n')
    expect(await said('snapshots', '--drop', 'three')).toContain('dropped snapshot 0x2 three at')
    expect(JSON.parse(await said('snapshots', '--json', '--drop', '0x3'))).toMatchObject({
      name: null,
      id: '0x3',
    })
    expect(await said('snapshots', '--names', '--json')).toBe('["empty"]\n')
    expect(await said('reset')).toBe('reset to genesis\n')
    expect(await said('snapshots')).toBe('no snapshots\n')
    expect(await said('snapshots', '--names')).toBe('')
  })

  test('completes the names of its snapshots', async () => {
    await said('snapshot', 'to come back to')
    const line = 'devchain revert to'
    const script = [
      'devchain() { "$NODE" "$COMMAND" "$@"; }',
      completionsFor('bash', METHODS),
      `COMP_LINE='${line}' COMP_POINT=${line.length} COMP_WORDS=(${line}) COMP_CWORD=2`,
      '_devchain',
      'echo "\x24{COMPREPLY[@]}"',
      'DEVCHAIN_URL=:1',
      '_devchain',
      'echo "\x24{#COMPREPLY[@]}"',
    ]
    const env = { DEVCHAIN_URL: url, NODE: process.execPath, COMMAND }
    const bash = startProcess(['-c', script.join('\n')], { env, command: ['bash'] })
    expect(await bash.ended).toBe(0)
    expect([bash.stdout(), bash.stderr()]).toEqual(['to\\ come\\ back\\ to\n0\n', ''])
  })

  test('moves and sets its clock', async () => {
    expect(await said('time', '+1d')).toBe('the next block is at 2033-05-19 03:33:20 UTC\n')
    expect(JSON.parse(await said('time', '2040-01-01', '--json'))).toEqual({
      timestamp: 2_208_988_800,
    })
    expect(await said('time')).toBe('the next block is at 2040-01-01 00:00:00 UTC\n')
  })

  test('calls any method, with JSON or words as parameters', async () => {
    expect(await chain('rpc', 'eth_chainId')).toEqual({ code: 0, stdout: '0x21\n', stderr: '' })
    expect(await said('rpc', 'eth_getBalance', ALICE, 'latest')).toBe('0x21e19e0c9bab2400000\n')
    const call = JSON.stringify({ from: ALICE, to: ALICE, value: '0x1' })
    expect(await said('rpc', 'eth_estimateGas', call)).toBe('0x5208\n')
    const accounts = JSON.parse(await said('rpc', 'eth_accounts', '--json'))
    expect(accounts).toHaveLength(10)
    expect((await said('accounts')).split('\n')[0]).toBe(`${ALICE_CHECKSUMMED}  10,000 ether`)
  })

  test('calls methods with parameters from standard input', async () => {
    const env = { DEVCHAIN_URL: url }
    const asked = startProcess(['rpc', 'eth_getBalance', '-'], { env, stdin: 'pipe' })
    asked.child.stdin?.end(`["${ALICE}", "latest"]\n`)
    expect([await asked.ended, asked.stdout()]).toEqual([0, '0x21e19e0c9bab2400000\n'])
  })

  test.each(SUBCOMMANDS.map(({ name }) => name))('lists exit codes for %s --help', async (name) => {
    const { code, stdout: text, stderr } = await runHere([name, '--help'])
    expect([code, stderr]).toEqual([0, ''])
    expect(text).toMatch(new RegExp(`^Usage: devchain ${name}`))
    expect(text).toContain('Exit codes:')
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(110)
  })

  test('warns whose requests it cancels, and a read cancels none', async () => {
    await using peer = await createDevchain({ port: 0, peer: url, nodeName: 'alice' })
    const { port } = await peer.listen()
    await expect.poll(() => peer.request({ method: 'net_peerCount' })).toBe('0x1')
    const connected = expect.stringMatching(
      /^alice at 127\.0\.0\.1:\d+: connected\nfuture peers: connected\n$/,
    )
    expect(await said('partition')).toEqual(connected)
    expect(await said('partition')).toEqual(connected)
    expect(await said('partition', 'on')).toBe('disconnected from alice\n')
    expect(await said('partition')).toMatch(
      /^alice at .*: disconnected\nfuture peers: disconnected\n$/,
    )
    expect(JSON.parse(await said('partition', '--json'))).toEqual({
      partitioned: true,
      peers: [expect.objectContaining({ name: 'alice', partitioned: true })],
    })
    expect(await said('partition', 'off')).toBe('reconnected to alice\n')
    expect(await said('partition')).toEqual(connected)
    const { code, stderr } = await run(['partition', '--peer', 'alice', '--url', url])
    expect([code, stderr]).toEqual([2, 'devchain: partition: expected on or off with --peer\n'])
    const alone = await run(['partition', '--url', String(port)])
    expect(alone.stdout).toMatch(/connected\nfuture peers: connected\n$/)
  })

  test('prints the trace of a transaction', async () => {
    const [from, to] = JSON.parse(await said('rpc', 'eth_accounts', '--json')) as string[]
    const transfer = JSON.stringify({ from, to, value: '0x7' })
    const hash = JSON.parse(await said('rpc', 'eth_sendTransaction', transfer, '--json')) as string
    expect(await said('trace', hash)).toMatch(/^0x\w{4}…\w{4} · value 7 wei · gas 21,000\n$/)
    const { call } = JSON.parse(await said('trace', hash, '--json'))
    expect(call).toMatchObject({ type: 'CALL', value: '0x7', steps: [] })
  })

  test('prints the gas report', async () => {
    expect(await said('gas-report')).toBe('no transactions to contracts of the project yet\n')
    expect(JSON.parse(await said('gas-report', '--json'))).toEqual([])
  })

  test('waits for the chain', async () => {
    expect(await said('wait')).toBe(`the chain at ${url} responds\n`)
    expect(JSON.parse(await said('wait', '--json'))).toEqual({ url, chainId: '0x21' })
    // less than an attempt may take
    expect(await said('wait', '--timeout', '1.5')).toBe(`the chain at ${url} responds\n`)
  })

  test.each<[readonly string[], number, RegExp]>([
    [
      ['revert', 'nowhere'],
      1,
      /^devchain: revert: snapshot "nowhere" not found.*\(error -32001\)$/,
    ],
    [
      ['snapshots', '--drop', 'nowhere'],
      1,
      /^devchain: snapshots: snapshot "nowhere" not found.*\(error -32001\)$/,
    ],
    [['rpc', 'eth_getBlance', '0x1'], 1, /did you mean eth_getBalance\?/],
    [['rpc', 'eth_call', '{"to":1}', '--json'], 1, /^\{"code":-32602,"message":".*"\}$/],
    [['mine', 'many'], 2, /^devchain: mine: expected a number of blocks, got "many"$/],
    [['gas-report', '--compare', 'no.json'], 2, /cannot read no\.json: there is no such file$/],
    [['gas-report', '--threshold', '5'], 2, /--threshold needs --compare FILE/],
    [['gas-report', '--compare', 'package.json', '--threshold', 'x'], 2, /expected a percentage/],
    [
      ['gas-report', '--compare', 'package.json'],
      2,
      /package\.json: expected the output of devchain gas-report/,
    ],
    [
      ['coverage'],
      1,
      /^devchain: coverage: coverage is not counted: start the chain with --coverage/,
    ],
    [['mine', '1', '2'], 2, /too many arguments, from "2" on: devchain mine \[blocks\]/],
    [['mine', '--jsn'], 2, /unknown option --jsn; did you mean --json\?/],
    [['mine', '--quickly'], 2, /unknown option --quickly \(see devchain mine --help\)/],
    [['mine', '--json=yes'], 2, /--json takes no value, got "yes"/],
    [['mine', '--url'], 2, /--url needs a value: URL/],
    [['time', '-1d'], 2, /unknown option -1d; to pass it as an argument, write it after --/],
    [['time', '--', '-1d'], 2, /got "-1d": time cannot go back/],
    [['mine', '-1'], 2, /expected a number of blocks, got "-1"/],
    [
      ['mine', '--json', '--jsn'],
      2,
      /^\{"message":"unknown option --jsn; did you mean --json\?.*"\}$/,
    ],
    [['time', '1d'], 2, /did you mean \+1d\?/],
    [['rpc'], 2, /<method> is missing: devchain rpc <method> \[params…\]/],
    [['rpc', 'eth_chainId', '--url='], 2, /--url: expected an http URL or a port, got ""/],
    [['rpc', 'eth_call', '{"to":'], 2, /"\{.*" is not valid JSON/],
    [['wait', '--timeout', '0'], 2, /expected a duration in seconds above zero, .* got "0"/],
    [['snapshot', '--url', 'ftp://x'], 2, /--url: expected an http URL or a port, got "ftp:\/\/x"/],
    [
      ['accounts', '--url', 'http://127.0.0.1:1'],
      3,
      /cannot reach a chain at .*--url sets another URL/,
    ],
    [
      ['wait', '--url', '1', '--timeout', '0.1'],
      3,
      /gave up after 0\.1 s: cannot reach a chain at http:\/\/127\.0\.0\.1:1: .*ECONNREFUSED/,
    ],
    [
      ['wait', '--chain', 'nowhere', '--timeout', '100ms'],
      3,
      /^devchain: wait: gave up after 100ms: there is no chain at \/nowhere, only \//,
    ],
    [['wait', '--timeout', 'long'], 2, /expected a duration in seconds.*got "long"/],
    [['snapshott'], 2, /unknown command "snapshott": did you mean snapshot\?/],
    [['completions', 'tcsh'], 2, /expected one of bash, zsh, fish/],
  ])('%j exits with %i', async (args, exitCode, message) => {
    const { code, stdout, stderr } = await runHere(args, { DEVCHAIN_URL: url })
    expect([code, stdout]).toEqual([exitCode, ''])
    expect(stderr.trim()).toMatch(message)
  })
})

test('devchain wait waits for a chain that starts later', async () => {
  const port = await freePort()
  const waiting = startProcess(['wait', '--url', `:${port}`])
  await once(waiting.child, 'spawn')
  await using devchain = await createDevchain({ port })
  const { url } = await devchain.listen()
  expect([await waiting.ended, waiting.stdout()]).toEqual([0, `the chain at ${url} responds\n`])
})

describe('devchain exec', () => {
  const script = (code: string): readonly string[] => ['--', process.execPath, '-e', code]
  const asks = `fetch(process.env.ETH_RPC_URL, { method: 'POST', body: '{"id":1,"method":"eth_chainId"}' })
    .then((reply) => reply.json()).then(({ result }) => {
      if (process.env.DEVCHAIN_URL !== process.env.ETH_RPC_URL) process.exit(9)
      console.log(result)
      process.exit(result === '0x21' ? 0 : 3)
    })`

  test('runs a command beside a chain, and prints nothing else on success', async () => {
    expect(await run(['exec', ...script(asks)])).toEqual({ code: 0, stdout: '0x21\n', stderr: '' })
  })

  test('exits like the command, and prints the chain’s log on failure', async () => {
    const { code, stdout, stderr } = await run(['exec', '--chain-id', '7', ...script(asks)])
    expect([code, stdout]).toEqual([3, '0x7\n'])
    expect(stderr).toContain('Chain id    7')
    expect(stderr).toMatch(/eth_chainId +[\d.]+ ms {2}7/)
  })

  test('prints the log always, or never', async () => {
    const always = await run(['exec', '--log', 'always', ...script('')])
    expect([always.code, always.stderr]).toEqual([0, expect.stringContaining('Listening on')])
    const never = await run(['exec', '--log=never', ...script('process.exit(4)')])
    expect(never).toEqual({ code: 4, stdout: '', stderr: '' })
  })

  test.each([
    ['json', 'process.exit(4)', /^\{"time":.*"event":"boot".*\n.*"event":"end".*\n$/],
    ['json', '', /^$/],
    ['always,json', '', /^\{"time":.*"event":"boot"/],
    ['json,always', '', /^\{"time":.*"event":"boot"/],
    ['never,pretty', 'process.exit(4)', /^$/],
    ['always,pretty,json,pretty', '', /\nListening on/],
  ])('prints the log with --log %s beside %j', async (log, code, said) => {
    expect((await run(['exec', '--log', log, ...script(code)])).stderr).toMatch(said)
    const flags = log.split(',').map((word) => `--log=${word}`)
    expect((await run(['exec', ...flags, ...script(code)])).stderr).toMatch(said)
  })

  test('prints no log if the user interrupts the command', async () => {
    const waits = `${FOREVER}; console.log('up')`
    const { child, says, ended, stderr } = startProcess(['exec', ...script(waits)])
    await says(/up/)
    child.kill('SIGINT')
    expect([await ended, stderr()]).toEqual([130, ''])
  })

  test('wraps log lines at the terminal’s width, and overwrites none', () => {
    const renderer = fitted(createPrettyRenderer(PLAIN, false), () => 60)
    const hint = { event: 'hint', flag: '--host', hint: 'a long hint '.repeat(20) } as const
    const rows = renderer.line(hint).trimEnd().split('\n')
    expect(rows.length).toBeGreaterThan(3)
    expect(Math.max(...rows.map((row) => row.length))).toBeLessThanOrEqual(60)
    expect(renderer.line({ event: 'notice', text: 'a notice' })).toContain('a notice')
  })

  test('exits with 128 plus the number of the signal that ended the command', async () => {
    const { code } = await run(['exec', ...script("process.kill(process.pid, 'SIGTERM')")])
    expect(code).toBe(143)
  })

  test('passes signals on, and waits for the command', async () => {
    const waits = `process.on('SIGTERM', () => process.exit(5)); ${FOREVER}; console.log('up')`
    const { child, says, ended } = startProcess(['exec', ...script(waits)])
    await says(/up/)
    child.kill('SIGTERM')
    expect(await ended).toBe(5)
  })

  test('reports why the chain did not start, and wrong options', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as { port: number }
    const { code, stderr } = await run(['exec', '--port', `${port}`, ...script('')])
    taken.close()
    expect([code, stderr]).toEqual([
      125,
      expect.stringMatching(/^devchain: exec: port .*taken.*\n$/),
    ])
    const lost = await run(['exec', '--genesis', 'nowhere.json', ...script('')])
    expect(lost).toMatchObject({ code: 2, stderr: expect.stringMatching(/^devchain: exec: .*\n$/) })
  })

  test('writes the log to --log-file, and the ready file for scripts', async () => {
    const folder = temporaryFolder(onTestFinished)
    const [log, ready] = [path.join(folder, 'chain.log'), path.join(folder, 'ready.json')]
    const { code, stderr } = await run(
      ['exec', '--log-file', log, '--ready-file', ready, ...script(`${asks}.then(() => 0)`)],
      { DEVCHAIN_LOG: 'json' },
    )
    expect([code, stderr]).toEqual([0, ''])
    expect(JSON.parse(readFileSync(ready, 'utf8')).accounts).toHaveLength(10)
    expect(readFileSync(log, 'utf8')).toMatch(/"event":"boot".*\n.*"method":"eth_chainId"/)
  })

  test('passes standard input on', async () => {
    const copies = 'process.stdin.pipe(process.stdout)'
    const { child, ended, stdout } = startProcess(['exec', ...script(copies)], { stdin: 'pipe' })
    child.stdin?.end('some words')
    expect([await ended, stdout()]).toEqual([0, 'some words'])
  })

  test('reports a command that cannot be run', async () => {
    const { code, stderr } = await run(['exec', '--', 'no-such-command'])
    expect(code).toBe(127)
    // the log of a chain that nobody called would only hide it
    expect(stderr).toBe('devchain: exec: cannot run no-such-command: there is no such command\n')
    expect((await run(['exec'])).code).toBe(2)
    expect((await run(['exec', '--prot', '1', '--', 'true'])).code).toBe(2)
    expect((await run(['exec', '--chain-id', 'x', '--', 'true'])).code).toBe(2)
    expect((await run(['exec', '--log', 'loud', '--', 'true'])).code).toBe(2)
  })

  test('keeps the end of a long log', () => {
    const kept = new NewestText(100)
    for (let i = 0; i < 1000; i += 1) kept.write(`line ${i}\n`)
    expect(kept.text.length).toBeLessThan(300)
    expect(kept.text).toMatch(/^… earlier lines are not kept\nline \d+\n/)
    expect(kept.text.endsWith('line 999\n')).toBe(true)
  })
})

describe('the parameters of devchain rpc', () => {
  const none = (): string => {
    throw new Error('nothing is read')
  }

  test('are JSON if valid, otherwise text; long numbers keep their digits', () => {
    const words = ['0x1', 'latest', 'true', 'null', '7', '-7', '["a"]', '{"a":1}', '"7"', '1e']
    const params = ['0x1', 'latest', true, null, 7, -7, ['a'], { a: 1 }, '7', '1e']
    expect(paramsOf(words, none)).toEqual(params)
    expect(paramsOf(['100000000000000000001'], none)).toEqual(['100000000000000000001'])
  })

  test('are read from standard input once: a list is several, anything else one', () => {
    expect(paramsOf(['a', '-', 'b'], () => '0x02f8\n')).toEqual(['a', '0x02f8', 'b'])
    expect(paramsOf(['-'], () => '["0x1", [false]]')).toEqual(['0x1', [false]])
    expect(() => paramsOf(['-', '-'], none)).toThrow('at most once')
    expect(() => paramsOf(['-'], () => '[1')).toThrow('"[1" is not valid JSON')
  })
})

describe('a time argument', () => {
  test.each([
    ['+90', { kind: 'increase', seconds: 90n }],
    ['+5m', { kind: 'increase', seconds: 300n }],
    ['+1d12h', { kind: 'increase', seconds: 129_600n }],
    ['+2w', { kind: 'increase', seconds: 1_209_600n }],
    ['2000000000', { kind: 'set', timestamp: 2_000_000_000n }],
    ['2033-05-18T03:33:20Z', { kind: 'set', timestamp: 2_000_000_000n }],
    ['2033-05-18 03:33:20', { kind: 'set', timestamp: 2_000_000_000n }],
    ['2033-05-18T05:33:20+02:00', { kind: 'set', timestamp: 2_000_000_000n }],
    ['2033-05-18', { kind: 'set', timestamp: 1_999_987_200n }],
  ])('%s is read', (text, move) => {
    expect(parseMove(text)).toEqual(move)
  })

  test.each(['1d', '+', '+1y', '+1d-1h', 'tomorrow', '2033-13-01', '1969-01-01', '2033-05-18x'])(
    '%s is refused',
    (text) => {
      expect(() => parseMove(text)).toThrow(/expected a moment such as \+1d/)
    },
  )
})

test.each([
  ['5', 5000],
  ['0.25', 250],
  ['500ms', 500],
  ['2m', 120_000],
])('the delay until %s is %i ms', (text, milliseconds) => {
  expect(parseWait(text)).toBe(milliseconds)
})

describe('a completion script', () => {
  test.each(SHELLS)('for %s knows every subcommand and every flag', (shell) => {
    const script = completionsFor(shell, METHODS)
    for (const { name } of SUBCOMMANDS) expect(script).toContain(name)
    for (const flag of ['chain-id', 'hardfork', 'compat', 'log-file', 'timeout', 'url']) {
      expect(script).toContain(flag)
    }
  })

  test.skipIf(spawnSync('fish', ['--version']).status !== 0).each<[string, readonly string[]]>([
    ['devchain rese', ['reset']],
    ['devchain exec --log f', ['failure']],
    ['devchain exec --port 0 -- cat gen', ['genesis.json']],
    ['devchain revert de', ['deployed']],
  ])('for fish completes "%s" to %j', (line, expected) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'devchain-completions-'))
    try {
      writeFileSync(path.join(folder, 'completions'), completionsFor('fish', METHODS))
      writeFileSync(path.join(folder, 'genesis.json'), '{}')
      const lines = [
        'source ./completions',
        "function devchain; printf '%s\\n' deployed 0x3; end",
        `complete -C '${line}' | string replace -r '\\t.*' ''`,
      ]
      const { stdout } = spawnSync('fish', ['--no-config', '-c', lines.join('\n')], {
        cwd: folder,
        encoding: 'utf8',
      })
      expect(stdout.trim().split('\n')).toEqual(expected)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test('for zsh and fish completes the command of exec like that command alone', () => {
    expect(completionsFor('zsh', METHODS)).toMatch(/ exec\)(?:\n(?!.*;;).*)*\n +_normal\n/)
    expect(completionsFor('fish', METHODS)).toMatch(/exec; and contains -- --.*__devchain_command/)
  })

  test.each<[string, readonly string[]]>([
    ['devchain sn', ['snapshot', 'snapshots']],
    ['devchain --chain-n', ['--chain-name']],
    ['devchain --compat ', ['geth', 'anvil', 'hardhat', 'hardhat2', 'ganache']],
    ['devchain exec --log ', ['always', 'failure', 'never', 'pretty', 'json']],
    ['devchain completions ', ['bash', 'zsh', 'fish']],
    ['devchain wait --t', ['--timeout']],
    ['devchain rpc eth', ['eth_call', 'eth_chainId']],
    ['devchain --hardfork bp', ['bpo1', 'bpo2']],
    ['devchain exec --port 0 -- sourc', ['source']],
    ['devchain exec -- cat gen', ['']],
    ['devchain --genesis gen', ['genesis.json']],
    ['devchain revert ', ['deployed', 'one\\ block', '0x3', 'ns:two', 'by:three']],
    ['devchain revert de', ['deployed']],
    ['devchain revert one\\ b', ['one\\ block']],
    ['devchain revert ns:t', ['two']],
    ['devchain revert --js', ['--json']],
    ['devchain snapshots --drop 0', ['0x3']],
    ['devchain revert --url :8 at', ['at-:8']],
  ])('for bash completes "%s" to %j', (line, expected) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'devchain-completions-'))
    try {
      writeFileSync(path.join(folder, 'completions'), completionsFor('bash', METHODS))
      writeFileSync(path.join(folder, 'genesis.json'), '{}')
      const words = line.split(' ').map((word) => `'${word}'`)
      const lines = [
        'source ./completions',
        "devchain() { printf '%s\\n' deployed 'one block' 0x3 ns:two by:three; [[ $3 ]] && echo at-$4; }",
        `COMP_LINE='${line}' COMP_POINT=${line.length}`,
        `COMP_WORDS=(${words.join(' ')}) COMP_CWORD=${words.length - 1}`,
        '_devchain',
        'for reply in "\x24{COMPREPLY[@]}"; do echo "$reply"; done',
      ]
      const { stdout, stderr } = spawnSync('bash', ['-c', lines.join('\n')], {
        cwd: folder,
        encoding: 'utf8',
      })
      expect(stderr).toBe('')
      expect(stdout.trim().split('\n')).toEqual(expected)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
