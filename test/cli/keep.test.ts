// Chains kept in a folder (--state): processes that end in every way, and folders that cannot be used.
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { boot, request, startProcess, temporaryFolder } from '../support/process/boot.ts'

const FIRST = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const SECOND = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'

interface Noted {
  readonly number: string
  readonly hash: string
  readonly stateRoot: string
}

async function noteOf(url: string, number = 'latest'): Promise<Noted | null> {
  return (await request(url, 'eth_getBlockByNumber', number, false)) as Noted | null
}

/** Sends until the process is gone, and notes what each send left; the process is killed during send `last`. */
async function sendUntilKilled(url: string, last: number, kill: () => void): Promise<Noted[]> {
  const noted: Noted[] = []
  for (let sent = 0; ; sent++) {
    const sending = request(url, 'eth_sendTransaction', { from: FIRST, to: SECOND, value: '0x1' })
    if (sent === last) kill()
    try {
      await sending
      noted.push((await noteOf(url))!)
    } catch {
      return noted
    }
  }
}

test('a chain killed at any moment begins again with what it had answered, with either --durability', async () => {
  const folder = path.join(temporaryFolder(onTestFinished), 'chain')
  const known = new Map<string, Noted & { readonly durability: string }>()
  for (const [durability, last] of [
    ['block', 60],
    ['interval', 17],
    ['block', 0],
  ] as const) {
    const running = await boot(['--state', folder, '--durability', durability])
    const { number } = (await noteOf(running.url))!
    expect(running.stdout()).toMatch(new RegExp(`^State +${folder}, block ${Number(number)}$`, 'm'))
    for (const [noted, { hash, stateRoot, durability: before }] of known) {
      const block = await noteOf(running.url, noted)
      // the last interval is lost
      if (block !== null || before === 'block') expect(block).toMatchObject({ hash, stateRoot })
    }
    const balance = await request(running.url, 'eth_getBalance', SECOND, 'latest')
    expect(BigInt(balance as string)).toBe(10_000n * 10n ** 18n + BigInt(number))
    const kill = (): void => void running.child.kill('SIGKILL')
    for (const each of await sendUntilKilled(running.url, last, kill)) {
      known.set(each.number, { ...each, durability })
    }
    expect(await running.ended).toBe('SIGKILL')
  }
  expect(known.size).toBeGreaterThanOrEqual(77)
})

test('a chain that was stopped goes on with its snapshots, clock and keys', async () => {
  const folder = path.join(temporaryFolder(onTestFinished), 'chain')
  const first = await boot(['--state', folder, '--block-time', '1000'])
  await request(first.url, 'evm_increaseTime', 1000)
  const snapshot = await request(first.url, 'evm_snapshot')
  await request(first.url, 'hardhat_mine', '0x64')
  const account = await request(first.url, 'personal_newAccount', 'secret')
  await request(first.url, 'eth_sendTransaction', { from: FIRST, to: SECOND })
  const pending = await request(first.url, 'txpool_content')
  const block = await noteOf(first.url)
  await first.stop()
  const second = await boot(['--state', folder])
  expect(await noteOf(second.url)).toEqual(block)
  expect(await request(second.url, 'txpool_content')).toEqual(pending)
  expect(await request(second.url, 'eth_accounts')).toContain(account)
  expect(await request(second.url, 'evm_revert', snapshot)).toBe(true)
  expect(await request(second.url, 'eth_blockNumber')).toBe('0x0')
  await second.stop()
})

test('devchain state checks a chain, and drops what reverts left behind', async () => {
  const folder = path.join(temporaryFolder(onTestFinished), 'chain')
  const file = path.join(folder, 'chains')
  const running = await boot(['--state', folder, '--durability', 'block'])
  const snapshot = await request(running.url, 'evm_snapshot')
  for (let each = 0; each < 20; each++) {
    await request(running.url, 'eth_sendTransaction', { from: FIRST, to: SECOND })
  }
  await request(running.url, 'evm_revert', snapshot)
  await request(running.url, 'eth_sendTransaction', { from: FIRST, to: SECOND })
  const program = '5b'.repeat(40)
  await request(`${running.url}/7`, 'anvil_setCode', SECOND, `0x${program}`)
  await request(`${running.url}/7`, 'hardhat_mine', '0x5')
  const block = await noteOf(running.url)
  const state = async (...args: readonly string[]): Promise<readonly [unknown, string, string]> => {
    const started = startProcess(['state', ...args])
    return [await started.ended, started.stdout(), started.stderr()]
  }
  expect((await state('compact', folder))[2]).toContain('is in use by process')
  await running.stop()
  const before = readFileSync(file)
  const [code, checked] = await state('check', folder)
  expect([code, checked]).toEqual([0, expect.stringMatching(/: whole: 2 chains, \d+ objects/)])
  const { hash } = block!
  const [listed, lines] = await state('ls', folder)
  expect([listed, lines.split('\n').toSorted()]).toEqual([
    0,
    [
      '',
      expect.stringMatching(`^/   chain 33  block 1  ${hash}  1 snapshot$`),
      expect.stringMatching(/^\/7 {2}chain 33 {2}block 5 {2}0x[0-9a-f]{64} {2}0 snapshots$/),
      `${folder}: 0.1 MB`,
    ],
  ])
  expect(await state('compact', folder)).toEqual([
    0,
    expect.stringMatching(/: 0\.0 MB, 0\.1 MB before\n$/),
    '',
  ])
  expect(readFileSync(file).length).toBeLessThan(before.length / 2)
  const again = await boot(['--state', folder])
  expect(await noteOf(again.url)).toEqual(block)
  await again.stop()
  const bytes = readFileSync(file)
  bytes[bytes.indexOf(Buffer.from(program, 'hex'))]! ^= 1
  writeFileSync(file, bytes)
  const [failed, , error] = await state('check', folder)
  expect([failed, error]).toEqual([
    1,
    expect.stringMatching(/the object at byte \d+ is damaged; whole: \/\n$/),
  ])
  expect((await state('check', path.join(folder, 'none')))[2]).toContain('none has no chain')
  for (const unused of ['extra', '--blocks']) {
    const message = `devchain: state: only export takes "${unused}"`
    expect(await state('ls', folder, unused)).toEqual([2, '', expect.stringContaining(message)])
  }
  writeFileSync(file, '')
  for (const work of ['ls', 'check']) {
    expect((await state(work, folder))[2]).toBe(`devchain: state: ${folder} has no chain\n`)
    expect(readFileSync(file)).toHaveLength(0)
  }
  expect(await state('export', folder)).toEqual([2, '', expect.stringContaining('needs a file')])
})

test('a second process, other options and forks are refused, and the folder stays as it is', async () => {
  const folder = path.join(temporaryFolder(onTestFinished), 'chain')
  const running = await boot(['--state', folder, '--chain-id', '5'])
  const refused = async (...args: readonly string[]): Promise<string> => {
    const started = startProcess(['--port', '0', '--state', folder, ...args])
    expect(await started.ended).not.toBe(0)
    return started.stderr()
  }
  expect(await refused()).toContain(`is in use by process ${running.child.pid}`)
  await running.stop()
  const file = path.join(folder, 'chains')
  const before = readFileSync(file)
  expect(await refused('--chain-id', '6')).toContain(
    `--chain-id: the chain in ${folder} has 5; leave the option as it was, or use another folder`,
  )
  expect(await refused('--compat', 'anvil')).toContain(
    `--compat: the chain in ${folder} began with none`,
  )
  expect(await refused('--fork', 'http://127.0.0.1:1')).toContain(
    `--fork: the chain in ${folder} is no fork`,
  )
  expect(readFileSync(file)).toEqual(before)
  const again = await boot(['--state', folder])
  expect(await request(again.url, 'eth_chainId')).toBe('0x5')
  await again.stop()
})

test('what a crash cut off is reported with --quiet too', async () => {
  const folder = path.join(temporaryFolder(onTestFinished), 'chain')
  await (await boot(['--state', folder])).stop()
  appendFileSync(path.join(folder, 'chains'), 'unfinished')
  const again = startProcess(['--port', '0', '--state', folder, '--quiet'])
  await expect
    .poll(again.stderr)
    .toBe(`devchain: ${folder}/chains: cut off 10 bytes that a crash left unfinished\n`)
  again.child.kill()
  await again.ended
})

test('a folder with a dump of anvil is refused, and stays as it is', async () => {
  const folder = temporaryFolder(onTestFinished)
  writeFileSync(path.join(folder, 'state.json'), '{}')
  const { ended, stderr } = startProcess(['--port', '0', '--state', folder])
  expect(await ended).not.toBe(0)
  expect(stderr()).toContain(
    `${folder} has a dump and no chain: --state ${folder}/state.json goes on`,
  )
  expect(readdirSync(folder)).toEqual(['state.json'])
})
