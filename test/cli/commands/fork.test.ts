// What the command line has for forks: another block, and the cache.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createDevchain } from '../../../src/devchain.ts'
import { startUpstream } from '../../support/fork/upstream.ts'
import { boot, request, startProcess } from '../../support/process/boot.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'devchain-fork-command-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

interface Ran {
  readonly code: number | NodeJS.Signals
  readonly stdout: string
  readonly stderr: string
}

async function run(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Ran> {
  const { ended, stdout, stderr } = startProcess(args, { env })
  const code = await ended
  return { code, stdout: stdout(), stderr: stderr() }
}

describe('devchain reset --fork', () => {
  test('without --fork needs no network', async () => {
    await using upstream = await startUpstream()
    await upstream.ask('evm_mine')
    await using fork = await createDevchain({
      fork: { url: upstream.url },
      forkRetries: 0,
      noForkCache: true,
      port: 0,
    })
    const env = { DEVCHAIN_URL: (await fork.listen()).url }
    await upstream[Symbol.asyncDispose]()
    expect(await run(['reset'], env)).toEqual({
      code: 0,
      stdout: 'reset to block 1, where the chain starts\n',
      stderr: '',
    })
  })

  test('forks the same network at another block, and refuses an invalid block', async () => {
    await using upstream = await startUpstream()
    await upstream.ask('hardhat_mine', '0x5')
    await using fork = await createDevchain({
      fork: { url: upstream.url, block: 2 },
      noForkCache: true,
      port: 0,
    })
    const env = { DEVCHAIN_URL: (await fork.listen()).url }
    const said = async (...args: string[]): Promise<string> => (await run(args, env)).stdout
    expect(await said('reset', '--fork', '4')).toBe('forked again at block 4\n')
    expect(await fork.request({ method: 'eth_blockNumber' })).toBe('0x4')
    expect(JSON.parse(await said('reset', '--fork', '--json'))).toEqual({ blockNumber: 5 })
    expect(await said('mine', '2')).toContain('the newest is 7')
    expect(await said('reset')).toBe('reset to block 5, where the chain starts\n')
    expect(await said('reset', '0x3', '--fork')).toBe('forked again at block 3\n')
    expect(await said('reset', '--fork', '-1')).toBe('forked again at block 4\n')
    expect(await said('reset', '--fork', 'earliest')).toBe('forked again at block 0\n')
    expect(await said('reset', '--fork', 'latest')).toBe('forked again at block 5\n')
    const { hash } = (await upstream.ask('eth_getBlockByNumber', '0x3', false)) as { hash: string }
    expect(await said('reset', '--fork', hash)).toBe('forked again at block 3\n')
    const wrong: readonly (readonly [readonly string[], RegExp])[] = [
      [['reset', '3'], /a block needs --fork, got "3"/],
      [['reset', '--fork', 'soon'], /expected a block: a number, a hash, a tag .*; got "soon"/],
    ]
    for (const [args, message] of wrong) {
      const { code, stderr } = await run(args, env)
      expect([code, stderr]).toEqual([2, expect.stringMatching(message)])
    }
    const far = await run(['reset', '--fork', '99'], env)
    expect([far.code, far.stderr]).toEqual([1, expect.stringMatching(/has no block 99/)])
    expect(await fork.request({ method: 'eth_blockNumber' })).toBe('0x3')
  })

  test('fails if the chain is not a fork', async () => {
    await using plain = await createDevchain({ port: 0 })
    await plain.request({ method: 'evm_mine' })
    const env = { DEVCHAIN_URL: (await plain.listen()).url }
    const { code, stderr } = await run(['reset', '--fork'], env)
    expect([code, stderr]).toEqual([1, expect.stringMatching(/the chain is not a fork/)])
    const named = await run(['reset', '--fork', '3'], env)
    expect([named.code, named.stderr]).toEqual([1, expect.stringMatching(/no network to fork/)])
    expect(await plain.request({ method: 'eth_blockNumber' })).toBe('0x1')
  })
})

describe('devchain fork-cache', () => {
  test('prints the size of the cache, and deletes it', async () => {
    await using upstream = await startUpstream()
    const env = { XDG_CACHE_HOME: folder }
    const forks = path.join(folder, 'devchain', 'forks')
    expect((await run(['fork-cache'], env)).stdout).toBe(`${forks}: 0.0 MB in 0 files\n`)
    const fork = await boot(['--fork', upstream.url], { env })
    await request(fork.url, 'eth_getBalance', `0x${'12'.repeat(20)}`, 'latest')
    await fork.stop()
    const { files, bytes } = JSON.parse((await run(['fork-cache', '--json'], env)).stdout)
    expect(files).toBeGreaterThan(0)
    expect((await run(['fork-cache', '--size'], env)).stdout).toBe(`${bytes}\n`)
    const cleared = await run(['fork-cache', '--clear'], env)
    expect(cleared).toMatchObject({ code: 0, stderr: '' })
    expect(cleared.stdout).toMatch(/^deleted 0\.0 MB in \d files? in .*forks\n$/)
    expect(readdirSync(path.join(folder, 'devchain'))).not.toContain('forks')
  })
})

describe('devchain fork-merge', () => {
  const HEAD = { chainId: '1', block: { hash: '0x00' }, hardfork: null }

  /** A file that was recorded at a block, with the values of slots. */
  function recorded(name: string, values: Readonly<Record<string, string>>, hash = '0x00'): string {
    const file = path.join(folder, name)
    const head = ['devchain fork 1', { ...HEAD, block: { hash } }]
    const items = Object.entries(values).map(([slot, value]) => ['1/0x00', 'm', [slot], value])
    writeFileSync(file, [head, ...items].map((each) => `${JSON.stringify(each)}\n`).join(''))
    return file
  }

  const merge = (...files: string[]): Promise<Ran> => run(['fork-merge', ...files], {})

  test('merges recordings of one fork, with lines in order', async () => {
    const whole = recorded('whole', { '0x1': 'a', '0x2': 'b', '0x3': 'c', '0x4': 'd' })
    const one = recorded('one', { '0x3': 'c', '0x1': 'a' })
    const two = recorded('two', { '0x4': 'd', '0x1': 'a' })
    const three = recorded('three', { '0x2': 'b' })
    const { code, stdout } = await merge(one, two, three)
    expect([code, stdout]).toEqual([0, `${one}: 4 items, 2 of them new\n`])
    expect(readFileSync(one, 'utf8')).toBe(readFileSync(whole, 'utf8'))
    const fresh = path.join(folder, 'fresh')
    expect((await merge(fresh, three, two)).stdout).toBe(`${fresh}: 3 items, 3 of them new\n`)
    const unsorted = recorded('unsorted', { '0x4': 'd', '0x3': 'c', '0x2': 'b', '0x1': 'a' })
    expect((await merge(unsorted)).stdout).toBe(`${unsorted}: 4 items, 0 of them new\n`)
    expect(readFileSync(unsorted, 'utf8')).toBe(readFileSync(whole, 'utf8'))
  })

  test('names an item that contradicts, and leaves the file as it was', async () => {
    const one = recorded('one', { '0x1': 'a', '0x2': 'b' })
    const two = recorded('two', { '0x2': 'c', '0x3': 'd' })
    const other = recorded('other', {}, '0x01')
    const before = readFileSync(one, 'utf8')
    const wrong: readonly (readonly [readonly string[], string])[] = [
      [[one, two], `${two} contradicts ${one}: m ["0x2"] of 1/0x00 is "b" and "c"`],
      [
        [one, other],
        `${other} is of another fork than ${one}: only recordings of the same network`,
      ],
      [[one, path.join(folder, 'none')], 'there is no such file'],
      [[path.join(folder, 'none')], 'there is no such file'],
    ]
    for (const [files, message] of wrong) {
      const { code, stderr } = await merge(...files)
      expect([code, stderr]).toEqual([1, expect.stringContaining(message)])
    }
    expect(readFileSync(one, 'utf8')).toBe(before)
    expect(readdirSync(folder).toSorted()).toEqual(['one', 'other', 'two'])
  })
})
