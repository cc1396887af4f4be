// Chains kept in a file: restarts, and what a crash leaves of the file.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { stat } from 'node:fs/promises'
import path from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Hash } from '../../../src/core/hex.ts'
import type { Chain } from '../../../src/node/chain/chain.ts'
import { mine } from '../../../src/node/commands/mine.ts'
import { headOf } from '../../../src/node/ledger/blocktree.ts'
import { sendRawTransaction } from '../../../src/node/sending/send.ts'
import { stateRoot } from '../../../src/state/world.ts'
import { openFolder } from '../../../src/store/folder.ts'
import { lockFolder } from '../../../src/store/lock.ts'
import { packState, unpackState } from '../../../src/store/pack.ts'
import { compactFolder } from '../../../src/store/upkeep.ts'
import { temporaryFolder } from '../../support/process/boot.ts'
import { signed, type TestEnvironment, testChain, testEnvironment } from '../node/chains.ts'
import { answersOf, step, take } from './histories.ts'
import { close, openKept as open } from './kept.ts'

test('a chain that is kept and restarted at random points answers as one that is not', async () => {
  const folder = temporaryFolder(onTestFinished)
  let run = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(step, { maxLength: 12, size: 'max' }), { minLength: 2, maxLength: 4 }),
      async (lives) => {
        run += 1
        const file = path.join(folder, `${run}`, 'chains')
        mkdirSync(path.dirname(file))
        const [kept, plain] = [testEnvironment(), testEnvironment()]
        const twin = await testChain({ environment: plain })
        for (const steps of lives) {
          const living = await open(file, kept, { leastCompacted: 20_000 })
          for (const each of steps) {
            await take(living.chain, kept, each)
            await take(twin, plain, each)
          }
          expect(answersOf(living.chain.state)).toEqual(answersOf(twin.state))
          await close(living)
          if (steps.length % 2 === 0) compactFolder(path.dirname(file), expect.unreachable)
        }
        const last = await open(file, kept)
        expect(answersOf(last.chain.state)).toEqual(answersOf(twin.state))
        await close(last)
        twin.close()
      },
    ),
    { seed: 20261126, numRuns: 6 },
  )
})

test('worlds of hundreds of blocks are there after restarts and in a pack', async () => {
  const file = path.join(temporaryFolder(onTestFinished), 'chain')
  const environment = testEnvironment()
  const roots: Hash[] = []
  // the second life begins and ends between two blocks whose tries are written
  for (const blocks of [300, 290]) {
    const living = await open(file, environment)
    for (let each = 0; each < blocks; each++) {
      if (each % 100 === 7) await take(living.chain, environment, { kind: 'cheat', id: each % 6 })
      const { tree } = living.chain.state
      roots[tree.canonical.length - 1] = stateRoot(headOf(tree).world)
      await take(living.chain, environment, { kind: 'send', from: each % 3, ahead: 0, what: 0 })
      roots[tree.canonical.length] = stateRoot(headOf(living.chain.state.tree).world)
    }
    await close(living)
  }
  const living = await open(file, environment)
  const { tree } = living.chain.state
  expect(roots).toHaveLength(tree.canonical.length)
  const { tree: packed } = unpackState(packState(living.chain.state))
  for (const number of [590, 1, 255, 256, 257, 300, 301, 511, 512, 513, 589]) {
    expect(stateRoot(tree.canonical.at(number)!.world), `${number}`).toBe(roots[number])
    expect(stateRoot(packed.canonical.at(number)!.world), `${number}`).toBe(roots[number])
  }
  await close(living)
})

test('blocks that were mined at once are written once, in turns, and are there after a crash', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const file = path.join(temporaryFolder(onTestFinished), 'chain')
  const environment = testEnvironment()
  const living = await open(file, environment, { turnMs: 0 })
  const { chain } = living
  for (const blocks of [5_000n, 3_000n]) {
    const now = environment.now()
    await chain.update((state) =>
      mine(chain.executor, state, { now, blocks, bulk: chain.execution.bulk }),
    )
    // the run grows while it is written
    await vi.advanceTimersByTimeAsync(120)
  }
  await vi.advanceTimersByTimeAsync(1_000)
  const copy = `${file}.copy`
  copyFileSync(file, copy)
  const after = await open(copy, testEnvironment())
  expect(headOf(after.chain.state.tree).block.hash).toBe(headOf(chain.state.tree).block.hash)
  // 72 bytes of each block
  expect(statSync(copy).size).toBeLessThan(1.25 * 72 * 8_000)
  await close(after)
  await close(living)
})

test('a file is compacted while the chain goes on, when half of it is needed no more', async () => {
  const file = path.join(temporaryFolder(onTestFinished), 'chain')
  const [environment, plain] = [testEnvironment(), testEnvironment()]
  const twin = await testChain({ environment: plain })
  const living = await open(file, environment, { durability: 'block', leastCompacted: 100_000 })
  const both: readonly [Chain, TestEnvironment][] = [
    [living.chain, environment],
    [twin, plain],
  ]
  for (const [chain, at] of both) {
    for (let each = 0; each < 150; each++) {
      await take(chain, at, { kind: 'snapshot' })
      await take(chain, at, { kind: 'send', from: each % 3, ahead: each % 2, what: each % 5 })
      await take(chain, at, { kind: 'revert', id: 1 + each })
      await take(chain, at, { kind: 'mine', blocks: 1 })
      await take(chain, at, { kind: 'reset' })
    }
    await take(chain, at, { kind: 'send', from: 0, ahead: 0, what: 1 })
    await take(chain, at, { kind: 'named', id: 1 })
  }
  const answers = answersOf(twin.state)
  expect(answersOf(living.chain.state)).toEqual(answers)
  await close(living)
  expect(living.notices.length).toBeGreaterThan(2)
  expect(living.notices[0]).toMatch(/^compacted \S+chain: 0\.\d MB, 0\.\d MB before$/)
  expect(statSync(file).size).toBeLessThan(400_000)
  const again = await open(file, environment)
  expect(answersOf(again.chain.state)).toEqual(answers)
  await close(again)
  twin.close()
})

test('a file that a crash cut at any byte has the last state before, and goes on; any other cut is refused', async () => {
  const folder = temporaryFolder(onTestFinished)
  const file = path.join(folder, 'whole')
  const environment = testEnvironment()
  const living = await open(file, environment, { durability: 'block' })
  const states: { readonly end: number; readonly head: string }[] = []
  const note = (): void => {
    const head = headOf(living.chain.state.tree).block.hash
    states.push({ end: statSync(file).size, head })
  }
  note()
  // a crash may leave the first page as it was then
  const firstPage = readFileSync(file).subarray(0, 512)
  for (let nonce = 0n; nonce < 12n; nonce++) {
    await sendRawTransaction(living.chain, signed(living.chain, { nonce }).raw)
    note()
  }
  await close(living)
  const [first, last] = [states[0]!, states.at(-1)!]
  const torn = path.join(folder, 'torn')
  const places = fc.sample(fc.integer({ min: first.end, max: last.end }), { seed: 1, numRuns: 80 })
  for (const at of places) {
    const bytes = readFileSync(file).subarray(0, at)
    const expected = states.findLast(({ end }) => end <= at)!
    writeFileSync(torn, bytes)
    if (at < last.end) await expectRefusal(torn, environment, last.end)
    bytes.set(firstPage)
    writeFileSync(torn, bytes)
    const kept = await open(torn, environment)
    expect(headOf(kept.chain.state.tree).block.hash).toBe(expected.head)
    expect(kept.notices).toHaveLength(expected.end === at ? 0 : 1)
    await sendRawTransaction(
      kept.chain,
      signed(kept.chain, { nonce: headOf(kept.chain.state.tree).block.header.number }).raw,
    )
    const { hash } = headOf(kept.chain.state.tree).block
    await close(kept)
    const again = await open(torn, environment)
    expect(headOf(again.chain.state.tree).block.hash).toBe(hash)
    await close(again)
  }
  for (const at of [17, 100, 511, 512, 600]) {
    copyFileSync(file, torn)
    truncateSync(torn, at)
    // the slots begin at byte 128
    await expectRefusal(torn, environment, at < 128 ? 512 : last.end)
  }
})

/** Of a file that has fewer bytes than were on the disk for sure, which stays as it is. */
async function expectRefusal(file: string, environment: TestEnvironment, bytes: number) {
  const before = readFileSync(file)
  await expect(open(file, environment)).rejects.toThrow(
    `${file}: the file is cut off: it has ${before.length} of at least ${bytes} bytes`,
  )
  expect(readFileSync(file).equals(before)).toBe(true)
}

test('what is a tenth of a second old is written, also if commands keep timers from running', async () => {
  const file = path.join(temporaryFolder(onTestFinished), 'chain')
  const environment = testEnvironment()
  const living = await open(file, environment)
  const { size } = statSync(file)
  await sendRawTransaction(living.chain, signed(living.chain).raw)
  expect(statSync(file).size).toBe(size)
  const clock = vi.spyOn(performance, 'now').mockReturnValue(Infinity)
  onTestFinished(() => clock.mockRestore())
  await sendRawTransaction(living.chain, signed(living.chain, { nonce: 1n }).raw)
  expect(statSync(file).size).toBeGreaterThan(size)
  clock.mockRestore()
  await close(living)
})

test('a folder in use is refused with the process that has it, and free again after that', () => {
  const folder = temporaryFolder(onTestFinished)
  const unlock = lockFolder(folder)
  expect(() => lockFolder(folder)).toThrow(`${folder} is in use by process ${process.pid}`)
  unlock()
  // a process that ended without giving it up
  writeFileSync(path.join(folder, 'lock'), `${2 ** 22 + 1}\n`)
  lockFolder(folder)()
})

test.runIf(process.platform === 'linux')(
  'a folder is free again after a process that ended without giving it up, whatever has its id now',
  async () => {
    const folder = temporaryFolder(onTestFinished)
    const lock = path.join(folder, 'lock')
    lockFolder(folder)
    // as in a container, where each devchain has the same id
    writeFileSync(lock, readFileSync(lock, 'utf8').replace(/\n\d+\n/, '\n1\n'))
    lockFolder(folder)()
    const parent = spawn('sh', ['-c', 'sleep 100 & echo $!; exec sleep 100'])
    onTestFinished(() => void parent.kill())
    const [pid] = (await once(parent.stdout, 'data')) as [Buffer]
    const statOf = (id: number) => readFileSync(`/proc/${id}/stat`, 'utf8')
    // a sleep does not ask how another ended
    await expect.poll(() => statOf(parent.pid!)).toContain('(sleep)')
    process.kill(Number(pid), 'SIGKILL')
    await expect.poll(() => statOf(Number(pid))).toMatch(/\) Z /)
    writeFileSync(lock, `${pid}`)
    lockFolder(folder)()
  },
)

test('a folder that another container or machine has is refused until that is silent for ten seconds', () => {
  const folder = temporaryFolder(onTestFinished)
  const lock = path.join(folder, 'lock')
  const now = Date.UTC(2026, 0)
  vi.useFakeTimers({ now, toFake: ['Date', 'setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const beatAt = (ms: number) => utimesSync(lock, ms / 1_000, ms / 1_000)
  // the ids of its processes are not of this place: no process here has this one
  const foreign = `${2 ** 22 + 1}\n5\nelsewhere\n`
  writeFileSync(lock, foreign)
  beatAt(now - 9_000)
  expect(() => lockFolder(folder)).toThrow(
    `${folder} is in use by process ${2 ** 22 + 1} of another container or machine; if that has ended, try again in 1 s, or delete ${lock}`,
  )
  beatAt(now - 11_000)
  const unlock = lockFolder(folder)
  writeFileSync(lock, foreign)
  unlock()
  // it is that of another now
  expect(readFileSync(lock, 'utf8')).toBe(foreign)
})

test('a process that has a folder says so every two seconds', async () => {
  const folder = temporaryFolder(onTestFinished)
  const lock = path.join(folder, 'lock')
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const unlock = lockFolder(folder)
  onTestFinished(unlock)
  for (let i = 0; i < 3; i++) {
    utimesSync(lock, 0, 0)
    vi.advanceTimersByTime(1_999)
    expect(statSync(lock).mtimeMs).toBe(0)
    vi.advanceTimersByTime(1)
    while ((await stat(lock)).mtimeMs === 0);
  }
})

test.runIf(process.platform === 'linux')(
  'a folder and those around it are made, for its user alone to read the chains; one that cannot be is refused',
  async () => {
    const folder = path.join(temporaryFolder(onTestFinished), 'a', 'b')
    const onNotice = expect.unreachable
    const openAt = (at: string) =>
      openFolder(at, { durability: 'block', onNotice, hold: async () => true })
    const { close: closeFolder } = await openAt(folder)
    await closeFolder()
    expect(statSync(path.join(folder, 'chains')).mode & 0o777).toBe(0o600)
    await expect(openAt('/proc/none/chains')).rejects.toThrow(
      'cannot use the folder /proc/none/chains: ENOENT: no such file or directory',
    )
  },
)
