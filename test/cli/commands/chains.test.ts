// Chains at paths as a shell uses them.
import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  type Booted,
  boot,
  COMMAND,
  FOREVER,
  request,
  startProcess,
} from '../../support/process/boot.ts'
import { freePort } from '../../support/process/freeport.ts'
import { eventually } from '../../support/waiting/eventually.ts'

async function run(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<readonly [number | NodeJS.Signals, string, string]> {
  const { ended, stdout, stderr } = startProcess(args, { env })
  return [await ended, stdout(), stderr()]
}

describe('the commands for chains', () => {
  let devchain: Booted
  const shell = (...args: string[]): ReturnType<typeof run> =>
    run(args, { DEVCHAIN_URL: devchain.url })

  beforeAll(async () => {
    devchain = await boot(['--clock', 'frozen', '--log-chain', 'alice'])
  })
  afterAll(async () => {
    await devchain.stop()
  })

  test('make a chain, use it by --chain, list and drop it', async () => {
    expect(await shell('mine')).toEqual([0, 'mined 1 block: the newest is 1\n', ''])
    expect(await shell('snapshot', 'one')).toMatchObject({ 0: 0 })
    const made = await shell('chain', 'new', 'alice', '--from', 'one')
    expect(made).toEqual([0, 'made chain /alice\n', ''])
    const mined = await shell('mine', '2', '--chain', 'alice')
    expect(mined).toEqual([0, 'mined 2 blocks: the newest is 3\n', ''])
    const early = await shell('chain', 'new', 'early', '--from', '/', '--block', '9')
    expect(early[2]).toContain('block 0x9 not found')
    expect(await shell('chain', 'new', 'l2', '--options', '{"chainId": 10}')).toMatchObject({
      0: 0,
    })
    const [, table] = await shell('chains')
    expect(table.split('\n').map((line) => line.split(/ {2,}/).slice(0, 3))).toEqual([
      ['/', 'chain 33', 'block 1'],
      ['/alice', 'chain 33', 'block 3'],
      ['/l2', 'chain 10', 'block 0'],
      [''],
    ])
    expect(await shell('height', '--chain', '/alice')).toEqual(
      await shell('height', '--chain', 'alice'),
    )
    expect(await shell('mine', '--chain', '')).toEqual([
      2,
      '',
      'devchain: mine: --chain: expected a name or number, got ""\n',
    ])
    expect(await shell('chain', 'drop', '/alice')).toEqual([0, 'dropped chain /alice\n', ''])
    const [code, , problem] = await shell('mine', '--chain', 'alice')
    expect([code, problem]).toEqual([
      1,
      'devchain: mine: there is no chain at /alice, only /, /l2; devchain chain new alice makes it (error -32600)\n',
    ])
  })

  test('log one chain only where --log-chain asks for it', () => {
    const lines = devchain.stdout().split('Listening on')[1]!.split('\n').slice(1)
    expect(lines[0]).toMatch(/^alice {2}evm_mine/)
    expect(devchain.stdout()).not.toMatch(/^evm_mine/m)
  })

  test.each(['chains', 'chain'])('%s refuses --chain: it is about all of them', async (name) => {
    const [code, , problem] = await shell(name, 'new', '--chain', 'alice')
    const message = `devchain: ${name}: unknown option --chain (see devchain ${name} --help)\n`
    expect([code, problem]).toEqual([2, message])
  })

  test('refuse what is neither new nor drop', async () => {
    const [code, , problem] = await shell('chain', 'make', 'bob')
    expect([code, problem]).toEqual([2, 'devchain: chain: expected new or drop, got "make"\n'])
  })
})

describe('--setup', () => {
  const mine = `"${process.execPath}" "${COMMAND}" mine`

  test('prepares what chains at paths begin with', async () => {
    const devchain = await boot(['--setup', mine])
    await devchain.says(/evm_mine/)
    expect(await request(`${devchain.url}/1`, 'eth_blockNumber')).toBe('0x1')
    await devchain.stop()
  })

  test('ends devchain with its reason if it fails', async () => {
    const [code, , problem] = await run(['--port', '0', '--setup', 'exit 3'], {})
    expect([code, problem]).toEqual([1, 'devchain: --setup failed: exit 3: exit code 3\n'])
  })

  const waits = `"${process.execPath}" -e "console.error('up', process.pid); ${FOREVER}"`

  test('ends what it left running with devchain', async () => {
    const args = ['exec', '--setup', `${waits} &`, '--', 'cat']
    const { child, ended, stderr } = startProcess(args, { stdin: 'pipe' })
    const up = await eventually(() => /^up (\d+)$/m.exec(stderr()))
    child.stdin?.end()
    expect(await ended).toBe(0)
    await eventually(() => !isRunning(Number(up?.[1])))
  })

  test.each([
    ['the chain', ['--port', '0', '--quiet'], 'SIGTERM', [], 0],
    ['the chain', ['--port', '0', '--quiet'], 'SIGINT', [], 0],
    ['exec', ['exec'], 'SIGTERM', ['--', 'echo', 'it runs'], 143],
    ['exec', ['exec'], 'SIGHUP', ['--', 'echo', 'it runs'], 129],
    ['gas-diff', ['gas-diff'], 'SIGTERM', ['--', 'echo', 'it runs'], 143],
  ] as const)('ends at once when %s (%j) gets %s', async (_, args, signal, command, code) => {
    // the shell waits for what it runs, and passes no signals on
    const started = startProcess([...args, '--setup', `${waits}; true`, ...command])
    onTestFinished(() => void started.child.kill('SIGKILL'))
    const up = await eventually(() => /^up (\d+)$/m.exec(started.stderr()))
    started.child.kill(signal)
    expect(await started.ended).toBe(code)
    expect(started.stdout()).toBe('')
    await eventually(() => !isRunning(Number(up?.[1])))
  })
})

test('a chain within exec --chains is the inner one, for its set-up and its command', async () => {
  const names = ['DEVCHAIN_URL', 'ETH_RPC_URL', 'DEVCHAIN_CHAINS']
  const print = `"${process.execPath}" -p "JSON.stringify(${JSON.stringify(names).replaceAll('"', "'")}.map((name) => process.env[name]))"`
  const inner = [process.execPath, COMMAND, 'exec', '--setup', `${print} >&2`, '--']
  const args = ['exec', '--chains', '--', ...inner, 'sh', '-c', `${print}; echo $OUTER`]
  const [code, printed, problems] = await run(args, {})
  const [url, rpcUrl, chains] = JSON.parse(printed) as readonly unknown[]
  expect([code, rpcUrl, chains]).toEqual([0, url, null])
  expect(problems).toBe(printed.trim() && `${JSON.stringify([url, url, null])}\n`)
})

test('a signal ends devchain while it waits for the network to fork', async () => {
  const port = await freePort()
  const network = createServer().listen(port, '127.0.0.1')
  onTestFinished(() => void network.close())
  const { child, ended } = startProcess(['--port', '0', '--fork', `http://127.0.0.1:${port}`])
  const [socket] = await once(network, 'connection')
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
  socket.destroy()
})

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
