// Dumps in files: --load-state, --dump-state, --state FILE, --state-interval.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import {
  type Booted,
  boot,
  request,
  startProcess,
  temporaryFolder,
} from '../support/process/boot.ts'
import { eventually } from '../support/waiting/eventually.ts'

const FIRST = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const SECOND = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'

function send({ url }: Booted): Promise<unknown> {
  return request(url, 'eth_sendTransaction', { from: FIRST, to: SECOND, value: '0x1' })
}

/** What both ends of a dump answer alike. */
async function answersOf({ url }: Pick<Booted, 'url'>): Promise<unknown> {
  const block = await request(url, 'eth_getBlockByNumber', 'latest', true)
  const balance = await request(url, 'eth_getBalance', SECOND, 'latest')
  return [block, balance, await request(url, 'eth_getTransactionCount', FIRST, 'latest')]
}

async function refused(...args: readonly string[]): Promise<readonly [unknown, string]> {
  const started = startProcess(['--port', '0', ...args])
  return [await started.ended, started.stderr()]
}

test('a chain is dumped at the end, and another begins with it, also at paths and after a reset', async () => {
  const folder = temporaryFolder(onTestFinished)
  const file = path.join(folder, 'none', 'dump.json')
  const first = await boot(['--dump-state', file])
  await send(first)
  await send(first)
  const answers = await answersOf(first)
  expect(await first.stop()).toBe(0)
  const dump = JSON.parse(readFileSync(file, 'utf8'))
  expect(dump).toMatchObject({ best_block_number: 2, historical_states: null })
  const zipped = `${file}.gz`
  writeFileSync(zipped, gzipSync(readFileSync(file)))
  const second = await boot(['--load-state', zipped])
  expect(await answersOf(second)).toEqual(answers)
  await send(second)
  await request(second.url, 'evm_reset')
  expect(await answersOf(second)).toEqual(answers)
  expect(await answersOf({ url: new URL('/7', second.url).href })).toEqual(answers)
  await second.stop()
})

test('--state with a JSON file or a folder of anvil loads and writes a dump, as anvil does', async () => {
  const folder = temporaryFolder(onTestFinished)
  const file = path.join(folder, 'state.json')
  const args = ['--state', file, '--preserve-historical-states']
  const first = await boot(args)
  await send(first)
  const answers = await answersOf(first)
  await first.stop()
  expect(JSON.parse(readFileSync(file, 'utf8')).historical_states).toHaveLength(1)
  const second = await boot(args)
  expect(await answersOf(second)).toEqual(answers)
  const before = await request(second.url, 'eth_getBalance', SECOND, '0x0')
  expect(before).toBe(`0x${(10_000n * 10n ** 18n).toString(16)}`)
  await send(second)
  await second.stop()
  const third = await boot(['--load-state', folder])
  expect(await request(third.url, 'eth_blockNumber')).toBe('0x2')
  await third.stop()
})

test('--state with a JSON file writes a chain that began with a dump without older states', async () => {
  const file = path.join(temporaryFolder(onTestFinished), 'state.json')
  for (const height of [1, 2, 3]) {
    const running = await boot(['--state', file])
    await send(running)
    await running.stop()
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ best_block_number: height })
  }
})

test('a dump without blocks is loaded, and devchain says what it lacks', async () => {
  const file = path.join(temporaryFolder(onTestFinished), 'accounts.json')
  writeFileSync(file, JSON.stringify({ accounts: { [SECOND]: { nonce: 0, balance: '0x5' } } }))
  const running = await boot(['--load-state', file])
  expect(await request(running.url, 'eth_getBalance', SECOND, 'latest')).toBe('0x5')
  expect(running.stderr() + running.stdout()).toContain(
    `${file}: only accounts are loaded, into block 0: it has no blocks`,
  )
  await running.stop()
})

test('a dump is written at intervals, but only if the chain changed', async () => {
  const file = path.join(temporaryFolder(onTestFinished), 'dump.json')
  const historical = '--preserve-historical-states'
  const running = await boot(['--dump-state', file, '--state-interval', '50ms', historical])
  const dumped = (): unknown => {
    if (!existsSync(file)) return undefined
    // whole each time (foundry #11367)
    const { best_block_number: number, historical_states: older } = JSON.parse(
      readFileSync(file, 'utf8'),
    )
    return older.length === number && number
  }
  expect(await eventually(dumped, (number) => number === 0)).toBe(0)
  await send(running)
  expect(await eventually(dumped, (number) => number === 1)).toBe(1)
  running.child.kill('SIGKILL')
  await running.ended
})

test('what cannot be loaded or written is refused with the name of the file', async () => {
  const folder = temporaryFolder(onTestFinished)
  const file = path.join(folder, 'bad.json')
  const bad = async (content: string): Promise<string> => {
    writeFileSync(file, content)
    const [code, error] = await refused('--load-state', file)
    expect(code).toBe(2)
    return error
  }
  expect(await bad('x\n')).toMatch(
    /^devchain: .*bad\.json: expected a result of anvil_dumpState: .*\n$/,
  )
  expect(await bad('{"blocks":[]}')).toContain(
    'bad.json: expected a result of anvil_dumpState: it has no accounts',
  )
  expect(await refused('--load-state', `${file}.none`)).toEqual([
    2,
    `devchain: cannot read the dump ${file}.none: there is no such file\n`,
  ])
  expect((await refused('--load-state', file, '--from', file))[1]).toBe(
    'devchain: --from contradicts --load-state: a pack has its own genesis and blocks\n',
  )
  const taken = path.join(folder, 'taken.json')
  const running = await boot(['--dump-state', path.join(taken, 'dump.json')])
  await send(running)
  writeFileSync(taken, '')
  expect(await running.stop()).toBe(1)
  expect(running.stderr()).toMatch(/^devchain: cannot write the dump .*dump\.json: E\w+: [\w ]+\n$/)
})

test('--init is another name for --genesis', async () => {
  const file = path.join(temporaryFolder(onTestFinished), 'genesis.json')
  writeFileSync(
    file,
    JSON.stringify({ config: { chainId: 77 }, alloc: { [SECOND]: { balance: '0x5' } } }),
  )
  const running = await boot(['--init', file, '--accounts', '0'])
  expect(await request(running.url, 'eth_chainId')).toBe('0x4d')
  expect(await request(running.url, 'eth_getBalance', SECOND, 'latest')).toBe('0x5')
  await running.stop()
  expect((await refused('--init', file, '--genesis', file))[1]).toBe(
    'devchain: --genesis contradicts --init: both name the genesis file\n',
  )
})
