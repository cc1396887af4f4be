// Cassettes of real processes: recorded by several at once and by some that are killed, replayed without network.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { deployKeeper, sendOn, setting, startUpstream } from '../support/fork/upstream.ts'
import { type Booted, boot, request, temporaryFolder } from '../support/process/boot.ts'
import { eventually } from '../support/waiting/eventually.ts'

async function started(...args: string[]): Promise<Booted> {
  const booted = await boot(['--clock', 'step:12', ...args])
  onTestFinished(() => void booted.child.kill('SIGKILL'))
  return booted
}

/** Reads, writes and traces, and gives the newest block. */
async function play({ url }: Booted, keeper: string): Promise<unknown> {
  const on = (method: string, ...params: readonly unknown[]): Promise<unknown> =>
    request(url, method, ...params)
  await on('eth_call', { to: keeper })
  await sendOn(on, { to: keeper, data: setting(2, 9) })
  await on('eth_getLogs', { fromBlock: '0x0', toBlock: 'latest', address: keeper })
  await on('debug_traceBlockByNumber', '0x2', {})
  return on('eth_getBlockByNumber', 'latest', true)
}

test('--fork-record writes the same file cold and warm, and two replays have the same blocks', async () => {
  const folder = temporaryFolder(onTestFinished)
  const env = { XDG_CACHE_HOME: path.join(folder, 'cache') }
  const upstream = await startUpstream()
  const keeper = await deployKeeper(upstream)
  const files = ['cold', 'filling', 'warm'].map((name) => path.join(folder, name))
  const blocks: unknown[] = []
  for (const [index, file] of files.entries()) {
    const flags = index === 0 ? ['--no-fork-cache'] : []
    const args = ['--clock', 'step:12', '--fork', upstream.url, '--fork-record', file, ...flags]
    const recording = await boot(args, { env })
    blocks.push(await play(recording, keeper))
    expect(await recording.stop()).toBe(0)
  }
  const texts = files.map((file) => readFileSync(file, 'utf8'))
  expect(new Set(texts).size).toBe(1)
  const lines = texts[0]!.trimEnd().split('\n').slice(1)
  expect(lines.length).toBeGreaterThan(40)
  await upstream.close()
  for (const _ of ['once', 'twice']) {
    const replayed = await started('--fork-replay', files[0]!)
    blocks.push(await play(replayed, keeper))
    await expect(request(replayed.url, 'eth_getBalance', `0x${'12'.repeat(20)}`)).rejects.toThrow(
      /has no answer to eth_get\w+ \["0x1212.*record again with --fork-record/,
    )
    expect(await replayed.stop()).toBe(0)
  }
  expect(blocks.every((block) => JSON.stringify(block) === JSON.stringify(blocks[0]))).toBe(true)
})

test('--fork-record joins what many processes fetch in one file', async () => {
  const file = path.join(temporaryFolder(onTestFinished), 'fork.jsonl')
  await using upstream = await startUpstream()
  await deployKeeper(upstream)
  const args = ['--fork', upstream.url, '--no-fork-cache', '--fork-record', file]
  const all = await Promise.all(Array.from({ length: 5 }, () => started(...args)))
  const accounts = all.map((_, index) => `0x${'51'.repeat(19)}0${index}`)
  await Promise.all(all.map(({ url }, i) => request(url, 'eth_getBalance', accounts[i], 'latest')))
  await Promise.all(all.map(({ stop }) => stop()))
  const replayed = await started('--fork-replay', file)
  for (const each of accounts) {
    expect(await request(replayed.url, 'eth_getBalance', each, 'latest')).toBe('0x0')
  }
  await replayed.stop()
})

test('--fork-record leaves a complete file when its process is killed', async () => {
  const file = path.join(temporaryFolder(onTestFinished), 'fork.jsonl')
  await using upstream = await startUpstream()
  await deployKeeper(upstream)
  const recording = await started('--fork', upstream.url, '--no-fork-cache', '--fork-record', file)
  const head = readFileSync(file, 'utf8').length
  const accounts = Array.from({ length: 300 }, (_, i) => `0x${`${i + 100}`.padStart(40, '0')}`)
  const asked = accounts.map((each) =>
    request(recording.url, 'eth_getBalance', each, 'latest').catch(() => undefined),
  )
  await eventually(async () => readFileSync(file, 'utf8').length > head)
  recording.child.kill('SIGKILL')
  expect(await recording.ended).toBe('SIGKILL')
  await Promise.all(asked)
  const replayed = await started('--fork-replay', file)
  expect(await request(replayed.url, 'eth_blockNumber')).toBe('0x2')
  await replayed.stop()
})
