// The cache folder of forks under real processes: many at once, and some that are killed while they write.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { diskStore } from '../../src/fork/store/disk.ts'
import { deployKeeper, SUMMED, startUpstream, word } from '../support/fork/upstream.ts'
import { boot, request, startProcess, temporaryFolder } from '../support/process/boot.ts'
import { eventually } from '../support/waiting/eventually.ts'

const SUM = `0x${word((SUMMED * (SUMMED - 1)) / 2 + 100 * SUMMED)}`

/** Files of items below a cache folder, with their bytes. */
function itemFiles(folder: string): readonly (readonly [name: string, bytes: Buffer])[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.items'))
    .map((name) => [name, readFileSync(path.join(folder, name))] as const)
}

const sizeOf = (folder: string): number =>
  itemFiles(folder).reduce((sum, [, bytes]) => sum + bytes.length, 0)

test('the fork cache survives processes that are killed while they write', async () => {
  const folder = temporaryFolder(onTestFinished)
  await using upstream = await startUpstream()
  const accounts = Array.from(
    { length: 600 },
    (_, i) => `0x${(i + 0x1000).toString(16).padStart(40, '0')}`,
  )
  await Promise.all(
    accounts.map((each, i) => upstream.ask('anvil_setBalance', each, `0x${(i + 1).toString(16)}`)),
  )
  await upstream.ask('evm_mine')
  const args = ['--fork', upstream.url]
  const env = { XDG_CACHE_HOME: folder }
  for (let run = 0; run < 3; run++) {
    const child = await boot(args, { env })
    const before = sizeOf(folder)
    const asked = accounts
      .slice(run * 200, run * 200 + 200)
      .map((each) => request(child.url, 'eth_getBalance', each, 'latest').catch(() => undefined))
    await eventually(() => sizeOf(folder) > before)
    child.child.kill('SIGKILL')
    expect(await child.ended).toBe('SIGKILL')
    await Promise.all(asked)
  }
  const last = await boot(args, { env })
  onTestFinished(() => void last.child.kill('SIGKILL'))
  const begun = upstream.requests.flat().length
  const balances = await Promise.all(
    accounts.map((each) => request(last.url, 'eth_getBalance', each, 'latest')),
  )
  expect(balances).toEqual(accounts.map((_, i) => `0x${(i + 1).toString(16)}`))
  // what was written whole is not asked for again
  const again = upstream.requests
    .flat()
    .slice(begun)
    .filter(({ method }) => method === 'eth_getBalance')
  expect(again.length).toBeLessThan(accounts.length)
  await last.stop()
})

test('the fork cache is filled by eight processes at once, and serves the next without a request', async () => {
  const folder = temporaryFolder(onTestFinished)
  await using upstream = await startUpstream()
  const keeper = await deployKeeper(upstream)
  const program = `
    import { createDevchain } from '${path.resolve('dist/devchain.js')}'
    const chain = await createDevchain({ fork: { url: '${upstream.url}' } })
    const params = [{ to: '${keeper}' }]
    console.log(await chain.request({ method: 'eth_call', params }))
    await chain.close()
  `
  const run = async (): Promise<string> => {
    const command = [process.execPath, '--input-type=module', '-e', program] as const
    const started = startProcess([], { env: { XDG_CACHE_HOME: folder }, command: [...command] })
    expect([await started.ended, started.stderr()]).toEqual([0, ''])
    return started.stdout().trim()
  }
  const sums = await Promise.all(Array.from({ length: 8 }, run))
  expect(new Set(sums)).toEqual(new Set([SUM]))
  const begun = upstream.requests.length
  expect(await run()).toBe(SUM)
  // the block itself, as at each start
  expect(upstream.requests.length - begun).toBe(1)
})

test('the fork cache of a file cut at any byte keeps the records before, and takes new ones', async () => {
  const folder = temporaryFolder(onTestFinished)
  const of = `1/0x${'ab'.repeat(32)}`
  const keyOf = (index: number) => ({ of, method: 'eth_getBalance', params: [`0x${index}`] })
  const whole = diskStore(path.join(folder, 'whole'))
  const ends: number[] = []
  for (let index = 0; index < 5; index++) {
    whole.put(keyOf(index), `0x${index}`)
    await whole.flush()
    ends.push(sizeOf(path.join(folder, 'whole')))
  }
  const [[name = '', bytes = Buffer.alloc(0)] = []] = itemFiles(path.join(folder, 'whole'))
  for (let cut = 0; cut <= bytes.length; cut++) {
    const torn = path.join(folder, `${cut}`)
    mkdirSync(path.dirname(path.join(torn, name)), { recursive: true })
    writeFileSync(path.join(torn, name), bytes.subarray(0, cut))
    const next = diskStore(torn)
    const kept = [0, 1, 2, 3, 4].filter((index) => next.get(keyOf(index)) === `0x${index}`)
    expect([cut, kept.length]).toEqual([cut, ends.filter((end) => end <= cut).length])
    next.put(keyOf(9), '0x9')
    await next.flush()
    const after = diskStore(torn)
    expect(after.get(keyOf(9))).toBe('0x9')
    expect(kept.every((index) => after.get(keyOf(index)) === `0x${index}`)).toBe(true)
  }
})
