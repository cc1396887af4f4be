// The command as users start it: a process of its own, from the built files.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import {
  type Booted,
  boot,
  COMMAND,
  FOREVER,
  ROOT,
  request,
  startProcess,
  temporaryFolder,
} from '../support/process/boot.ts'
import { runHere } from '../support/process/runhere.ts'
import { eventually } from '../support/waiting/eventually.ts'

const FIRST = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const SECOND = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const FIRST_KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'

async function started(...given: Parameters<typeof boot>): Promise<Booted> {
  const booted = await boot(...given)
  onTestFinished(() => {
    booted.child.kill('SIGKILL')
  })
  return booted
}

async function run(
  args: readonly string[],
  options: Parameters<typeof startProcess>[1] = {},
): Promise<{ code: number | NodeJS.Signals; stdout: string; stderr: string }> {
  const process = startProcess(args, options)
  const code = await process.ended
  return { code, stdout: process.stdout(), stderr: process.stderr() }
}

/** Durations differ from run to run, as do ports. */
const steady = (text: string): string =>
  text
    .replace(/ {1,}[\d.]+ m?s(?= {2})/g, '   N ms')
    .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT')
    .replace(/after \d+ s/, 'after N s')

describe('the devchain command', () => {
  test('says that it needs WebAssembly, which --jitless takes away', async () => {
    const { code, stderr } = await run(['--port', '0'], { env: { NODE_OPTIONS: '--jitless' } })
    const message = 'devchain: Node.js runs without WebAssembly: omit --jitless'
    expect([code, stderr.trim().split('\n').at(-1)]).toEqual([1, message])
  })

  test('says which Node.js it needs where it is too old, as 18 is', async () => {
    // Node 18 has no toSpliced
    const preload = 'data:text/javascript,delete Array.prototype.toSpliced'
    const { code, stderr } = await run([], {
      env: { NODE_OPTIONS: `--import ${preload.replace(' ', '%20')}` },
    })
    const message = `devchain: Node.js ${process.versions.node} is too old: devchain needs 20.19 or newer`
    expect([code, stderr.trim().split('\n').at(-1)]).toEqual([1, message])
  })

  test('prints all options in groups for --help, within 100 columns', async () => {
    const { code, stdout, stderr } = await run(['--help'])
    expect([code, stderr]).toEqual([0, ''])
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100)
    for (const heading of [
      'Chain:',
      'Accounts:',
      'Server:',
      'Terminal:',
      '--chain-id <ID|remote>',
    ]) {
      expect(stdout).toContain(heading)
    }
  })

  test('prints the version of package.json for --version', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
    expect(await run(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  })

  test.each([
    [['--prot', '1'], /unknown option --prot; did you mean --port\?/],
    [['--no-mining=false'], /--no-mining takes no value, got "false"/],
    [['--quiet=1'], /--quiet takes no value, got "1"/],
    [['--instamine'], /unknown option --instamine \(see devchain --help\)/],
    [['--fork-url', 'x'], /unknown option --fork-url; did you mean --fork URL\?/],
    [['--chainid=5'], /unknown option --chainid; did you mean --chain-id\?/],
    [['--port', 'abc'], /--port: expected a port number from 0 to 65535, got "abc"/],
    [['--port'], /--port needs a value: a port number/],
    [['--block-time', '1', '--no-mining'], /--block-time contradicts --no-mining/],
    [['--hardfork', 'cancuun'], /--hardfork: .*cancun/],
    [['--mnemonic', `${'test '.repeat(11)}tset`], /mnemonic/],
    [['start'], /unknown command "start": options alone, such as --port 8545, start a chain/],
    [
      ['--config', 'nowhere.json'],
      /cannot read the config file nowhere\.json: there is no such file/,
    ],
    [
      ['--log-only', 'eth_getBalace'],
      /--log-only: no method matches .*; did you mean eth_getBalance\?/,
    ],
    [['--log-except', 'eth_call,eht_*'], /--log-except: no method matches eht_\*/],
    [['--genesis', '.'], /cannot read the genesis file \.: it is a folder/],
    [['--genesis', 'nowhere.json'], /cannot read the genesis file nowhere\.json/],
  ])('refuses %j in one line, with exit code 2', async (args, message) => {
    const { code, stdout, stderr } = await runHere(args)
    expect(stderr).toMatch(message)
    expect(stderr).toMatch(/^devchain: [^\n]+\n$/)
    expect([code, stdout]).toEqual([2, ''])
  })

  test('refuses a bad genesis file in one line that names file and field', async () => {
    const folder = temporaryFolder(onTestFinished)
    const file = path.join(folder, 'genesis.json')
    writeFileSync(file, '{"alloc": {"0x12": {"balance": "1"}}}')
    const { code, stderr } = await run(['--genesis', file])
    expect(stderr).toContain(file)
    expect(stderr).toContain('0x12')
    expect(stderr).toMatch(/^devchain: [^\n]+\n$/)
    expect(code).toBe(2)
  })

  test('refuses a bad environment variable by its name', async () => {
    const { code, stderr } = await run([], { env: { DEVCHAIN_ACCOUNTS: 'many' } })
    expect(stderr).toMatch(/^devchain: DEVCHAIN_ACCOUNTS: expected a whole number .*got "many"\n$/)
    expect(code).toBe(2)
  })

  test('suggests the right name for a misspelled environment variable', async () => {
    const env = { DEVCHAIN_CHAINID: '5', DEVCHAIN_URL: 'http://127.0.0.1:1', DEVCHAIN_QQQQQ: '1' }
    const { stderr, stop, url } = await boot([], { env })
    expect(await request(url, 'eth_chainId')).toBe('0x21')
    await stop()
    expect(stderr().split('\n').sort()).toEqual([
      '',
      'devchain: unknown environment variable DEVCHAIN_CHAINID is ignored; did you mean DEVCHAIN_CHAIN_ID?',
      'devchain: unknown environment variable DEVCHAIN_QQQQQ is ignored',
    ])
    const beside = await run(['exec', '--', 'true'], { env })
    expect([beside.code, beside.stderr]).toEqual([0, expect.stringContaining('CHAIN_ID?')])
    const quiet = await run(['exec', '--quiet', '--', 'true'], { env })
    expect([quiet.code, quiet.stderr]).toEqual([0, ''])
  })

  test('reports a port in use in one line with advice, and exit code 1', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => {
      taken.close()
    })
    await once(taken, 'listening')
    const { port } = taken.address() as { port: number }
    const { code, stderr } = await run(['--port', String(port)])
    expect(stderr).toMatch(/^devchain: port \d+ of 127\.0\.0\.1 is taken: [^\n]*--port 0[^\n]*\n$/)
    expect(code).toBe(1)
  })

  test.runIf(process.platform === 'linux')(
    'reports an address without its network in one line, and runs in a deleted folder',
    async () => {
      const { code, stderr } = await run(['--port', '0', '--host', 'fe80::1'])
      expect(stderr).toMatch(/^devchain: (?:cannot listen on )?fe80::1[^\n]*: see --host\n$/)
      expect(code).toBe(1)
      const cwd = temporaryFolder(onTestFinished)
      const start = `rmdir "${cwd}" && exec "${process.execPath}" "${COMMAND}"`
      const { stop } = await boot([], { cwd, command: ['sh', '-c', `${start} "$@"`, 'sh'] })
      expect(await stop()).toBe(0)
    },
  )

  test('reports a log file that is not writable in one line', async () => {
    const file = path.join(COMMAND, 'at/all.log')
    const { code, stderr } = await run(['--log-file', file])
    const said = /^devchain: cannot write (.*) \(--log-file\): [^\n]+\n$/.exec(stderr)
    expect([code, said?.[1]]).toEqual([1, file])
  })
})

test.each([
  ['taken', ['taken'], 'it is a folder'],
  ['nowhere/ready.json', [], 'ENOENT: no such file or directory'],
])(
  'a ready file %s that is not writable is reported in one line, and leaves no keys',
  async (name, left, why) => {
    const folder = temporaryFolder(onTestFinished)
    mkdirSync(path.join(folder, left[0] ?? '.'), { recursive: true })
    const file = path.join(folder, name)
    const { code, stderr } = await run(['--port', '0', '--quiet', '--ready-file', file])
    expect(stderr).toBe(`devchain: cannot write ${file} (--ready-file): ${why}\n`)
    expect(code).toBe(1)
    expect(readdirSync(folder)).toEqual(left)
  },
)

describe('a running devchain', () => {
  test('first prints accounts with keys, then settings, then the URL', async () => {
    const { stdout, url, stop } = await started(['--accounts', '2'])
    expect(await stop()).toBe(0)
    const text = stdout()
    expect(text).toContain(`0  ${FIRST}  10,000 ether  ${FIRST_KEY}\n`)
    expect(text).toContain(`1  ${SECOND}`)
    expect(text).toMatch(/^Mnemonic {4}test test .* junk$/m)
    expect(text).toMatch(/^Chain id {4}33$/m)
    expect(text).toMatch(/These keys are public/)
    const [listening, ended] = text.trimEnd().split('\n').slice(-2)
    expect(listening).toBe(`Listening on ${url}`)
    expect(ended).toMatch(/^ended after \d+ s: 0 calls, 0 transactions, 0 blocks$/)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: there must be no escape sequences off a terminal
    expect(text).not.toMatch(/\u001b/)
  })

  test('responds to GET / and GET /health', async () => {
    const { url } = await started(['--chain-id', '1337'])
    for (const page of ['/', '/health']) {
      const response = await fetch(url + page)
      expect([response.status, await response.json()]).toEqual([
        200,
        { name: 'devchain', version: expect.any(String), chainId: 1337, blockNumber: 0 },
      ])
    }
  })

  test.each(['SIGINT', 'SIGTERM'] as const)(
    'on %s closes its sockets and exits with 0 at once',
    async (signal) => {
      const preload = path.join(ROOT, 'test/cli/notimers.mjs')
      const { child, url, ended } = await started([], {
        command: [process.execPath, '--import', preload, COMMAND],
      })
      const { hostname, port } = new URL(url)
      const socket = new WebSocket(`ws://${hostname}:${port}`)
      const opened = new Promise((resolve) => socket.addEventListener('open', resolve))
      const closed = new Promise((resolve) => socket.addEventListener('close', resolve))
      await opened
      child.kill(signal)
      expect(await ended).toBe(0)
      await closed
    },
  )

  test('takes options from flags, the environment and a config file', async () => {
    const folder = temporaryFolder(onTestFinished)
    const config = path.join(folder, 'config.json')
    writeFileSync(config, JSON.stringify({ chainId: 5, networkId: 6, accounts: 1, balance: '2.5' }))
    const env = { DEVCHAIN_CHAIN_ID: '7', DEVCHAIN_NETWORK_ID: '8', DEVCHAIN_CONFIG: config }
    const { url } = await started(['--chain-id', '9'], { env })
    expect(await request(url, 'eth_chainId')).toBe('0x9')
    expect(await request(url, 'net_version')).toBe('8')
    expect(await request(url, 'eth_accounts')).toEqual([FIRST.toLowerCase()])
    expect(await request(url, 'eth_getBalance', FIRST)).toBe('0x22b1c8c1227a0000')
  })

  test.each(['frozen', 'step:5'])(
    'with --clock %s has the same blocks in two processes',
    async (clock) => {
      const hashes: unknown[] = []
      for (const _ of [1, 2]) {
        const { url, stop } = await started(['--clock', clock])
        for (const value of ['0x1', '0x2'])
          await request(url, 'eth_sendTransaction', { from: FIRST, to: SECOND, value })
        await request(url, 'evm_increaseTime', 100)
        await request(url, 'evm_mine')
        const { hash } = (await request(url, 'eth_getBlockByNumber', 'latest', false)) as {
          hash: string
        }
        hashes.push(hash)
        await stop()
      }
      expect(hashes[1]).toBe(hashes[0])
    },
  )

  test('writes the ready file once its port responds, with what a script needs', async () => {
    const folder = temporaryFolder(onTestFinished)
    const file = path.join(folder, 'ready.json')
    const { url, stdout } = await started(['--ready-file', file, '--accounts', '1'])
    const ready = JSON.parse(readFileSync(file, 'utf8'))
    expect(ready).toMatchObject({
      url,
      wsUrl: url.replace('http', 'ws'),
      chainId: 33,
      mnemonic: expect.stringMatching(/junk$/),
      accounts: [{ address: FIRST, privateKey: FIRST_KEY, balance: '10000000000000000000000' }],
    })
    expect(statSync(file).mode & 0o077).toBe(0)
    expect(stdout()).toContain(ready.url)
  })

  test('with --exit-with-parent ends when its parent is killed', async () => {
    const folder = temporaryFolder(onTestFinished)
    const file = path.join(folder, 'ready.json')
    const script = `
      const { spawn } = require('node:child_process')
      spawn(process.execPath, process.argv.slice(1), { stdio: 'ignore' })
      ${FOREVER}`
    const args = ['-e', script, path.resolve('bin/devchain.js')]
    const options = ['--port', '0', '--exit-with-parent', '--ready-file', file]
    const parent = spawn(process.execPath, [...args, ...options], { stdio: 'ignore' })
    const ready = await waitForFile(file)
    parent.kill('SIGKILL')
    await eventually(async () => !(await answers(ready.url)))
  })

  // a shell stands between npm and the chain; it outlives an npm that is killed, which only Linux shows
  const killed: readonly [NodeJS.Signals, string][] =
    process.platform === 'linux' ? [['SIGKILL', 'npx --no-install']] : []
  test.each<[signal: NodeJS.Signals, command: string]>([
    ...killed,
    ['SIGTERM', 'npx --no-install'],
    ['SIGTERM', 'npm exec --offline --'],
  ])('with --exit-with-parent ends on %s to %s', async (signal, command) => {
    const [program = '', ...args] = command.split(' ')
    const folder = temporaryFolder(onTestFinished)
    const bin = path.join(folder, 'node_modules/.bin')
    mkdirSync(bin, { recursive: true })
    symlinkSync(path.resolve('bin/devchain.js'), path.join(bin, 'devchain'))
    writeFileSync(path.join(folder, 'package.json'), '{"name":"user","private":true}')
    const file = path.join(folder, 'ready.json')
    const options = ['devchain', '--port', '0', '--exit-with-parent', '--ready-file', file]
    const npm = spawn(program, [...args, ...options], { cwd: folder, stdio: 'ignore' })
    const ready = await waitForFile(file)
    onTestFinished(() => endProcess(ready.pid))
    npm.kill(signal)
    await eventually(async () => !(await answers(ready.url)))
  })

  test('with --exit-with-parent ends when piped stdin ends', async () => {
    const { child, ended } = await started(['--exit-with-parent'], { stdin: 'pipe' })
    child.stdin!.end()
    expect(await ended).toBe(0)
  })

  test('without --exit-with-parent ignores the end of stdin', async () => {
    const { child, url } = await started([], { stdin: 'pipe' })
    child.stdin!.end()
    expect(await request(url, 'eth_chainId')).toBe('0x21')
    expect(await request(url, 'eth_chainId')).toBe('0x21')
  })
})

/** Ends a process, if it is still there. */
function endProcess(pid: number): void {
  try {
    process.kill(pid)
  } catch {
    // it has ended, as it should
  }
}

async function waitForFile(file: string): Promise<{ url: string; pid: number }> {
  await eventually(() => existsSync(file))
  return JSON.parse(readFileSync(file, 'utf8'))
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/health`)).ok
  } catch {
    // Refused: nothing listens any more.
    return false
  }
}

describe('the log', () => {
  const transfer = { from: FIRST, to: SECOND, value: '0xde0b6b3a7640000', gas: '0x5208' }

  /** A short session that shows every kind of line. */
  async function session(url: string): Promise<void> {
    // at once: beside other load, calls one after another take longer than equal lines are gathered
    const call = { jsonrpc: '2.0', method: 'eth_blockNumber', params: [] }
    const batch = [1, 2, 3, 4, 5].map((id) => ({ ...call, id }))
    const replies = await fetch(url, { method: 'POST', body: JSON.stringify(batch) })
    expect(await replies.json()).toHaveLength(5)
    await request(url, 'evm_snapshot')
    await request(url, 'eth_sendTransaction', transfer)
    await request(url, 'evm_increaseTime', 86_400)
    await request(url, 'evm_mine')
    await request(url, 'evm_revert', '0x1')
    await expect(request(url, 'eth_nothing')).rejects.toThrow()
    await request(url, 'eth_getBalance', FIRST, 'latest')
  }
  const frozen = ['--clock', 'frozen', '--timestamp', '1800000000', '--accounts', '2']

  test('describes a session in words', async () => {
    const { url, stdout, stop } = await started(frozen)
    await session(url)
    await stop()
    const text = steady(stdout())
    expect(text.slice(text.indexOf('Listening'))).toMatchInlineSnapshot(`
      "Listening on http://127.0.0.1:PORT
      eth_blockNumber   N ms  0  ×5
      evm_snapshot   N ms  snapshot 0x1 at block 0
      eth_sendTransaction   N ms  0xb07b…410b
        transaction 0xb07b0914c1008f31f12ee643a26b75e0ad8c939e7d39f7c7e2732f9a5c7b410b
          0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266 → 0x70997970C51812dc3A010C7d01b50e0d17dc79C8
          value 1 ether · gas 21,000 of 21,000 (100 %) · fee 0 ether · success
        block 1 0xa702dcb613ddd114d3e39f4b39d4ad3b11a119d3ce9258ca69686b04f93ef1ec
          1 transaction · gas 21,000 of 30,000,000 (<1 %) · base fee 0 wei · 2027-01-15 08:00:01
      evm_increaseTime   N ms  clock +86,400 s
      evm_mine   N ms  1 block
        block 2 0x6b3b8fbc0ef37891baf0dc1d57a63c3aa5e267e2e71b8c19ed041d28a86b73b4
          empty · base fee 0 wei · 2027-01-16 08:00:01
      evm_revert   N ms  revert to 0x1: block 2 → 0, clock −86,400 s
      eth_nothing   N ms  ✗ the method eth_nothing does not exist: rpc.discover lists all
      eth_getBalance   N ms  0xf39F…2266 → 10,000 ether
      ended after N s: 12 calls (1 failed), 1 transaction, 2 blocks
      "
    `)
  })

  test('describes the same session in JSON, an object per line', async () => {
    const { url, stdout, stop } = await started([...frozen, '--log', 'json'])
    await session(url)
    await stop()
    const events = stdout()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(events.map(({ event, method }) => method ?? event)).toEqual([
      'boot',
      ...Array(5).fill('eth_blockNumber'),
      'evm_snapshot',
      'snapshot',
      'eth_sendTransaction',
      'transaction',
      'block',
      'evm_increaseTime',
      'clock',
      'evm_mine',
      'block',
      'evm_revert',
      'revert',
      'eth_nothing',
      'eth_getBalance',
      'end',
    ])
    expect(events.at(-1)).toMatchObject({ calls: 12, failedCalls: 1, transactions: 1, blocks: 2 })
    expect(events.at(-4)).toMatchObject({
      event: 'revert',
      id: '0x1',
      fromBlock: 2,
      toBlock: 0,
      clockSeconds: -86_400,
    })
  })

  test('creates the folder of --log-file', async () => {
    const file = path.join(temporaryFolder(onTestFinished), 'logs/today/chain.log')
    const { url, stop } = await started(['--log-file', file])
    await request(url, 'eth_chainId')
    await stop()
    expect(readFileSync(file, 'utf8')).toContain('eth_chainId')
  })

  test('goes to --log-file, while the terminal keeps the first screen', async () => {
    const folder = temporaryFolder(onTestFinished)
    const file = path.join(folder, 'chain.log')
    const { url, stdout, stop } = await started(['--log-file', file])
    await request(url, 'eth_chainId')
    await stop()
    expect(readFileSync(file, 'utf8')).toMatch(
      /Listening on .*\neth_chainId .* 33\nended .* 1 call, .*\n$/,
    )
    expect(stdout()).toMatch(/Listening on [^\n]*\n$/)
  })

  test('is empty with --quiet', async () => {
    const folder = temporaryFolder(onTestFinished)
    const file = path.join(folder, 'ready.json')
    const quiet = startProcess(['--quiet', '--port', '0', '--ready-file', file])
    const { url } = await waitForFile(file)
    await request(url, 'eth_chainId')
    quiet.child.kill('SIGTERM')
    expect(await quiet.ended).toBe(0)
    expect([quiet.stdout(), quiet.stderr()]).toEqual(['', ''])
  })

  test('has parameters and results with --verbose', async () => {
    const { url, stdout, stop } = await started(['--verbose'])
    await request(url, 'eth_getBalance', FIRST, 'latest')
    await stop()
    expect(stdout()).toContain(
      `    params  ["${FIRST}","latest"]\n    result  "0x21e19e0c9bab2400000"\n`,
    )
  })

  test.each([
    [{ FORCE_COLOR: '1' }, [], true],
    [{ FORCE_COLOR: '1', NO_COLOR: '1' }, [], false],
    [{ FORCE_COLOR: '1' }, ['--no-color'], false],
    [{}, [], false],
  ] as const)('with %j and %j has colors off a terminal: %s', async (env, args, expected) => {
    const { stdout, stop } = await started([...args], { env })
    await stop()
    expect(stdout().includes('\u001b[')).toBe(expected)
  })

  test('to a reader that is gone or never reads does not disturb the chain', async () => {
    const { url, child, stop } = await started()
    child.stdout!.destroy()
    for (let i = 0; i < 200; i++) await request(url, 'eth_getBalance', FIRST, 'latest')
    expect(await request(url, 'eth_chainId')).toBe('0x21')
    expect(await stop()).toBe(0)
  })

  test('to a reader that never reads delays neither replies nor the exit', async () => {
    const { url, child, stop } = await started(['--verbose'])
    child.stdout!.pause()
    const data = `0x${'ab'.repeat(500)}`
    for (let i = 0; i < 400; i++)
      await request(url, 'web3_sha3', `${data}${(i + 4096).toString(16)}`)
    expect(await request(url, 'eth_chainId')).toBe('0x21')
    const ended = stop()
    await new Promise((resolve) => child.once('exit', resolve))
    child.stdout!.resume()
    expect(await ended).toBe(0)
  })
})
