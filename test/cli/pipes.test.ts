// Readers of standard output and standard error that go away, or are slow: `devchain --help | head`.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  type Booted,
  boot,
  COMMAND,
  plainEnvironment,
  request,
  startProcess,
  temporaryFolder,
} from '../support/process/boot.ts'
import { eventually } from '../support/waiting/eventually.ts'

const FIRST = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'

let chain: Booted
let hash: string

beforeAll(async () => {
  chain = await boot()
  hash = (await request(chain.url, 'eth_sendTransaction', { from: FIRST, to: FIRST })) as string
})

afterAll(async () => {
  await chain.stop()
})

/** Runs a command whose output nobody reads. */
async function unread(
  stream: 'stdout' | 'stderr',
  args: readonly string[],
): Promise<{ code: unknown; other: string }> {
  const { child, ended, stdout, stderr } = startProcess(args)
  child[stream]!.destroy()
  return { code: await ended, other: stream === 'stdout' ? stderr() : stdout() }
}

const COMMANDS: readonly (readonly string[])[] = [
  ['--help'],
  ['help', 'rpc'],
  ['rpc', 'rpc.discover'],
  ['trace', 'HASH'],
  ['export', 'FILE'],
  ['fork-cache'],
  ['completions', 'zsh'],
  ['exec', '--log', 'always', '--', process.execPath, '-e', 'console.log(1)'],
]

/** The arguments, with the chain that is asked. */
function argumentsOf(args: readonly string[]): readonly string[] {
  const file = path.join(temporaryFolder(onTestFinished), 'chain.rlp')
  const filled = args.map((arg) => ({ HASH: hash, FILE: file })[arg] ?? arg)
  return /^(rpc|accounts|trace|wait|export)$/.test(args[0]!) && !args.includes('--help')
    ? [...filled, '--url', chain.url]
    : filled
}

describe('a closed pipe', () => {
  test.each(COMMANDS)('of standard output is no failure of %s %s', async (...args) => {
    expect(await unread('stdout', argumentsOf(args))).toEqual({
      code: 0,
      // of exec it is the log, and what node says of the command's own end
      other: args[0] === 'exec' ? expect.not.stringContaining('src/cli') : '',
    })
  })

  test.each<[args: readonly string[], code: number]>([
    [['--prot', '1'], 2],
    [['rpc', 'eth_nothing'], 1],
    [['rpc', 'eth_chainId', '--url', '1'], 3],
    [['completions', 'cmd'], 2],
    [['export', `${COMMAND}/chain.rlp`], 1],
    [['--genesis', 'nowhere.json'], 2],
    [['--log-file', `${COMMAND}/all.log`], 1],
    [['exec', '--genesis', 'nowhere.json', '--', 'true'], 2],
    [['exec', '--', 'no-such-command'], 127],
    [['exec', '--log', 'always', '--', process.execPath, '-e', 'process.exit(4)'], 4],
  ])('of standard error leaves %j its exit code %i', async (args, code) => {
    const given = args.includes('--url') ? args : argumentsOf(args)
    expect(await unread('stderr', given)).toEqual({ code, other: '' })
  })

  test('of both does not stop a chain', async () => {
    const file = path.join(temporaryFolder(onTestFinished), 'ready.json')
    const { child, ended } = startProcess(['--port', '0', '--verbose', '--ready-file', file])
    onTestFinished(() => void child.kill('SIGKILL'))
    child.stdout!.destroy()
    child.stderr!.destroy()
    await eventually(() => existsSync(file))
    const { url } = JSON.parse(readFileSync(file, 'utf8'))
    for (let i = 0; i < 20; i++) await request(url, 'eth_chainId')
    expect(await request(url, 'eth_blockNumber')).toBe('0x0')
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
  })
})

test.runIf(process.platform === 'linux').each([['--help'], ['accounts'], ['completions', 'bash']])(
  'a full disk behind standard output is reported in a line by %s %s',
  async (...args) => {
    const full = openSync('/dev/full', 'w')
    onTestFinished(() => closeSync(full))
    const child = spawn(process.execPath, [COMMAND, ...argumentsOf(args)], {
      env: plainEnvironment() as NodeJS.ProcessEnv,
      stdio: ['ignore', full, 'pipe'],
    })
    let said = ''
    child.stderr!.on('data', (chunk: Buffer) => {
      said += chunk
    })
    const [code] = await once(child, 'close')
    expect([code, said]).toEqual([
      1,
      expect.stringMatching(/^devchain: cannot write .*ENOSPC.*\n$/),
    ])
  },
)

test.runIf(process.platform === 'linux')(
  'a full disk behind --ready-file is reported in a line',
  async () => {
    const { ended, stderr } = startProcess(['--port', '0', '--ready-file', '/dev/full'])
    const why = 'cannot write /dev/full (--ready-file): ENOSPC: no space left on device'
    expect([await ended, stderr()]).toEqual([1, `devchain: ${why}\n`])
  },
)

test.runIf(process.platform === 'linux')(
  '--log-file goes on after a full disk, and in a new file after a rotation',
  async () => {
    const file = path.join(temporaryFolder(onTestFinished), 'chain.log')
    const whole = 64 * 2 ** 20
    writeFileSync(file, '')
    truncateSync(file, whole)
    const limited = `ulimit -f ${whole / 512}; exec "$0" "$@"`
    const command = ['sh', '-c', limited, process.execPath, COMMAND] as const
    const { url, stop, stderr } = await boot(['--log-file', file], { command: [...command] })
    const gap = `devchain: the log has a gap: cannot write to ${file} (--log-file): EFBIG: file too large\n`
    expect(await eventually(stderr)).toBe(gap)
    truncateSync(file, 0)
    await request(url, 'eth_chainId')
    await eventually(() => readFileSync(file, 'utf8').includes('eth_chainId'))
    renameSync(file, `${file}.1`)
    await request(url, 'eth_blockNumber')
    await eventually(
      () => existsSync(file) && readFileSync(file, 'utf8').startsWith('eth_blockNumber'),
    )
    expect(await stop()).toBe(0)
    expect(readFileSync(file, 'utf8')).toMatch(/\nended after /)
    expect(readFileSync(`${file}.1`, 'utf8')).not.toMatch(/eth_blockNumber|ended/)
    expect(stderr()).toBe(gap)
  },
)

test.runIf(process.platform === 'linux')('a full disk ends the log, not the chain', async () => {
  const { url, stop, stderr } = await boot(['--log-file', '/dev/full'])
  expect(await request(url, 'eth_blockNumber')).toBe('0x0')
  expect(await stop()).toBe(0)
  const why = 'cannot write to /dev/full (--log-file): ENOSPC: no space left on device'
  expect(stderr()).toBe(`devchain: the log ends: ${why}\n`)
})

test.runIf(process.platform === 'linux')(
  'a pipe gets what else replaces a file, and a link stays',
  async () => {
    const folder = temporaryFolder(onTestFinished)
    const pipe = path.join(folder, 'pipe')
    const file = path.join(folder, 'file')
    const link = path.join(folder, 'link')
    execFileSync('mkfifo', [pipe])
    symlinkSync(file, link)
    writeFileSync(file, '')
    const running = await boot(['--ready-file', link])
    const { url, pid } = JSON.parse(readFileSync(file, 'utf8'))
    expect([pid, lstatSync(link).isSymbolicLink()]).toEqual([running.child.pid, true])
    for (const command of ['save', 'export']) {
      const read = readFile(pipe)
      const { ended } = startProcess([command, pipe, '--url', url])
      expect(await ended).toBe(0)
      expect((await read).length).toBeGreaterThan(500)
    }
    await running.stop()
    expect(readdirSync(folder)).toEqual(['file', 'link', 'pipe'])
  },
)

describe('a slow reader', () => {
  test.each([
    ['rpc', 'rpc.discover'],
    ['completions', 'zsh'],
  ])('gets the whole output of %s %s', async (...args) => {
    const { child, ended, stdout } = startProcess(argumentsOf(args))
    child.stdout!.pause()
    // more than a pipe holds has been written by the time that another command has ended
    expect(await startProcess(argumentsOf(args)).ended).toBe(0)
    child.stdout!.resume()
    expect(await ended).toBe(0)
    if (args[0] === 'rpc') expect(JSON.parse(stdout()).methods.length).toBeGreaterThan(200)
    else expect(stdout()).toMatch(/compdef _devchain devchain; fi\n$/)
  })

  // where the log made standard error a pipe that does not block, writes of the command failed
  test('of standard error delays neither a command beside a chain nor the chain', async () => {
    // fetch would have node make standard error one that does not block
    const script = `
      const { writeSync } = require('node:fs')
      const { request } = require('node:http')
      const ask = () => new Promise((resolve) => {
        const asked = request(process.env.ETH_RPC_URL, { method: 'POST' }, (reply) => {
          reply.resume().on('end', resolve)
        })
        asked.end('{"id":1,"method":"eth_chainId"}')
      })
      const line = 'a line of the command\\n'.repeat(100)
      const asks = async () => {
        // the log has been written to by then
        for (let i = 0; i < 200; i++) await ask()
        for (let i = 0; i < 300; i++) writeSync(2, line)
        for (let i = 0; i < 300; i++) await ask()
      }
      asks()`
    const args = ['--log', 'always', '--verbose', '--', process.execPath, '-e', script]
    // between processes of a shell there are pipes, where node makes sockets
    const shell = `"$0" "$@" 2>&1 >/dev/null | { sleep 1; cat; }`
    const { ended, stdout } = startProcess([process.execPath, COMMAND, 'exec', ...args], {
      command: ['sh', '-c', shell],
    })
    expect(await ended).toBe(0)
    expect(stdout().match(/a line of the command/g)).toHaveLength(30_000)
    expect(stdout()).toMatch(/ended after .* \d{3,} calls/)
    expect(stdout()).not.toMatch(/EAGAIN/)
  })
})

describe('help and version', () => {
  const said = async (...args: string[]): Promise<string> => {
    const { ended, stdout, stderr } = startProcess(args)
    expect([await ended, stderr()]).toEqual([0, ''])
    return stdout()
  }

  test('print the same for help as for --help', async () => {
    expect(await said('help')).toBe(await said('--help'))
    expect(await said('help', 'rpc')).toBe(await said('rpc', '--help'))
    expect(await said('help', '--port')).toBe(await said('--help'))
  })

  test('print the version for -v alone', async () => {
    expect(await said('-v')).toBe(await said('--version'))
  })

  test('suggest a word for help with an unknown one', async () => {
    const { ended, stderr } = startProcess(['help', 'exprot'])
    expect(await ended).toBe(2)
    expect(stderr()).toBe(
      'devchain: unknown command "exprot": did you mean export? (see devchain --help)\n',
    )
  })
})
