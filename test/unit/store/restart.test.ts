// Chains kept in a file: restarts, and what a crash leaves of the file.
import { copyFileSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import type { Chain } from '../../../src/node/chain/chain.ts'
import { createChain } from '../../../src/node/create.ts'
import { headOf } from '../../../src/node/ledger/blocktree.ts'
import { sendRawTransaction } from '../../../src/node/sending/send.ts'
import { type ChainStore, openStore } from '../../../src/store/chainstore.ts'
import { lockFolder } from '../../../src/store/lock.ts'
import { temporaryFolder } from '../../support/process/boot.ts'
import { signed, type TestEnvironment, testChain, testEnvironment } from '../node/chains.ts'
import { answersOf, step, take } from './histories.ts'

interface Kept {
  readonly chain: Chain
  readonly store: ChainStore
  readonly notices: string[]
}

async function open(
  file: string,
  environment: TestEnvironment,
  durability: 'block' | 'interval' = 'interval',
): Promise<Kept> {
  const notices: string[] = []
  const store = openStore({ path: file, durability, onNotice: (text) => notices.push(text) })
  const { state, commit } = store
  const chain = await createChain({ environment, scryptCost: 2, state, commit })
  if (state === undefined) await store.begin(chain.state)
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
        const file = path.join(folder, `${run}`)
        const [kept, plain] = [testEnvironment(), testEnvironment()]
        const twin = await testChain({ environment: plain })
        for (const steps of lives) {
          const living = await open(file, kept)
          for (const each of steps) {
            await take(living.chain, kept, each)
            await take(twin, plain, each)
          }
          expect(answersOf(living.chain.state)).toEqual(answersOf(twin.state))
          await close(living)
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

test('a file cut at any byte has the last state before the cut, and goes on from there', async () => {
  const folder = temporaryFolder(onTestFinished)
  const file = path.join(folder, 'whole')
  const environment = testEnvironment()
  const living = await open(file, environment, 'block')
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

test('a file of something else is refused and stays as it is', async () => {
  const file = path.join(temporaryFolder(onTestFinished), 'chain')
  const other = Buffer.from('devchain state 2\n'.padEnd(9000, 'x'))
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
