// Chains kept in a file: restarts, and what a crash leaves of the file.
import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test, vi } from 'vitest'
import { DevchainError } from '../../../src/core/errors.ts'
import type { MaybePromise } from '../../../src/core/promises.ts'
import type { Chain, Commit } from '../../../src/node/chain/chain.ts'
import { createChain } from '../../../src/node/create.ts'
import { headOf } from '../../../src/node/ledger/blocktree.ts'
import type { ChainState } from '../../../src/node/ledger/chainstate.ts'
import { sendRawTransaction } from '../../../src/node/sending/send.ts'
import { type ChainStore, openStore, type StoreOptions } from '../../../src/store/chainstore.ts'
import { lockFolder } from '../../../src/store/lock.ts'
import { compactFolder } from '../../../src/store/upkeep.ts'
import { temporaryFolder } from '../../support/process/boot.ts'
import { signed, type TestEnvironment, testChain, testEnvironment } from '../node/chains.ts'
import { FaultyDisk } from './faultydisk.ts'
import { answersOf, step, take } from './histories.ts'

interface Kept {
  readonly chain: Chain
  readonly store: ChainStore
  readonly notices: string[]
}

interface Opening extends Partial<Pick<StoreOptions, 'durability' | 'files' | 'leastCompacted'>> {}

async function open(
  file: string,
  environment: TestEnvironment,
  opening: Opening = {},
): Promise<Kept> {
  const notices: string[] = []
  const store = openStore({
    path: file,
    durability: 'interval',
    onNotice: (text) => notices.push(text),
    hold: (swap) =>
      chain.exchange(() => {
        swap()
        return store.at('/')!.state
      }),
    ...opening,
  })
  const keep = (after: ChainState): MaybePromise<void> =>
    store.keep('/', { about: {}, state: after })
  const state = store.at('/')?.state
  const commit: Commit = ({ after }) => keep(after)
  const chain: Chain = await createChain({ environment, scryptCost: 2, kept: state, commit })
  if (state === undefined) await keep(chain.state)
  return { chain, store, notices }
}

async function close({ chain, store }: Kept): Promise<void> {
  chain.close()
  await store.close()
}

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

test('a file cut at any byte has the last state before the cut, and goes on from there', async () => {
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
  for (let nonce = 0n; nonce < 12n; nonce++) {
    await sendRawTransaction(living.chain, signed(living.chain, { nonce }).raw)
    note()
  }
  await close(living)
  const [first, last] = [states[0]!, states.at(-1)!]
  const places = fc.sample(fc.integer({ min: first.end, max: last.end }), { seed: 1, numRuns: 80 })
  for (const at of places) {
    const torn = path.join(folder, 'torn')
    copyFileSync(file, torn)
    truncateSync(torn, at)
    const expected = states.findLast(({ end }) => end <= at)!
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
})

test('a damaged byte is an error that names the file, and no other answer', async () => {
  const folder = temporaryFolder(onTestFinished)
  const [file, copy] = [path.join(folder, 'whole'), path.join(folder, 'damaged')]
  const environment = testEnvironment()
  const living = await open(file, environment)
  for (const each of fc.sample(step, { seed: 8, numRuns: 25 })) {
    await take(living.chain, environment, each)
  }
  const answers = answersOf(living.chain.state)
  await close(living)
  const bytes = readFileSync(file)
  let refused = 0
  for (const at of fc.sample(fc.nat(bytes.length - 1), { seed: 9, numRuns: 60 })) {
    const damaged = Buffer.from(bytes)
    damaged[at]! ^= 1 << (at % 8)
    writeFileSync(copy, damaged)
    try {
      const kept = await open(copy, environment)
      try {
        // the newest state may be cut off, as after a crash
        if (kept.notices.length === 0) expect(answersOf(kept.chain.state)).toEqual(answers)
      } finally {
        await close(kept)
      }
    } catch (error) {
      if (!(error instanceof DevchainError)) throw error
      expect(error.message).toMatch(`${copy}: `)
      refused += 1
    }
  }
  expect(refused).toBeGreaterThan(20)
})

test('a send that cannot be written fails, and changes neither the chain nor the file', async () => {
  const file = path.join(temporaryFolder(onTestFinished), 'chain')
  const environment = testEnvironment()
  const disk = new FaultyDisk()
  const living = await open(file, environment, { durability: 'block', files: disk.files })
  const first = headOf(living.chain.state.tree).block.hash
  const { raw } = signed(living.chain)
  disk.room = 1000
  await expect(sendRawTransaction(living.chain, raw)).rejects.toThrow(`${file}: ENOSPC`)
  disk.room = Infinity
  expect(headOf(living.chain.state.tree).block.hash).toBe(first)
  await sendRawTransaction(living.chain, raw)
  const answers = answersOf(living.chain.state)
  await close(living)
  const again = await open(file, environment)
  expect(again.notices).toEqual([])
  expect(answersOf(again.chain.state)).toEqual(answers)
  await close(again)
})

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

test('a file of something else is refused and stays as it is', async () => {
  const file = path.join(temporaryFolder(onTestFinished), 'chain')
  const other = Buffer.from('devchain state 999\n'.padEnd(9000, 'x'))
  writeFileSync(file, other)
  await expect(open(file, testEnvironment())).rejects.toThrow(
    `${file}: it is no chain, or one of another version`,
  )
  expect(readFileSync(file)).toEqual(other)
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
