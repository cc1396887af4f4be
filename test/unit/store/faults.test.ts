// Chains on disks that fail: full, torn, refusing to sync, read-only, with damaged bytes.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { DevchainError } from '../../../src/core/errors.ts'
import { headOf } from '../../../src/node/ledger/blocktree.ts'
import type { ChainState } from '../../../src/node/ledger/chainstate.ts'
import { sendRawTransaction } from '../../../src/node/sending/send.ts'
import { CorruptStore } from '../../../src/store/bytes.ts'
import { chainsObject } from '../../../src/store/codecs/chains.ts'
import { stateObject } from '../../../src/store/codecs/states.ts'
import { systemFiles } from '../../../src/store/files.ts'
import { openLog } from '../../../src/store/log.ts'
import { Objects } from '../../../src/store/objects.ts'
import { finished, Reachable } from '../../../src/store/reachable.ts'
import { compactFolder } from '../../../src/store/upkeep.ts'
import { temporaryFolder } from '../../support/process/boot.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { signed, testChain, testEnvironment } from '../node/chains.ts'
import { FaultyDisk } from './faultydisk.ts'
import { answersOf, step, take } from './histories.ts'
import { close, openKept as open } from './kept.ts'

/** Equal for states that only look different inside. */
function sketchOf({
  tree,
  nextSnapshotId,
  pool,
  mining,
  clock,
  accounts,
  resets,
}: ChainState): string {
  const { hash } = headOf(tree).block
  const facts = [hash, nextSnapshotId, pool.size, pool.lastArrival, mining, accounts.order, resets]
  return JSON.stringify([...facts, clock], (_, value) =>
    typeof value === 'bigint' ? `${value}` : value,
  )
}

const fault = fc.oneof(
  fc.record({ room: fc.nat(6_000) }),
  fc.record({ most: fc.integer({ min: 1, max: 500 }) }),
  fc.constantFrom('failing' as const, 'whole' as const, 'whole' as const),
)

describe.each(['block', 'interval'] as const)('with --durability %s', (durability) => {
  test('whatever the disk does, a crash leaves a state that was, and with block the last that was answered', async () => {
    const folder = temporaryFolder(onTestFinished)
    let run = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof({ weight: 4, arbitrary: step }, { weight: 1, arbitrary: fault }), {
          minLength: 10,
          maxLength: 25,
        }),
        async (steps) => {
          run += 1
          const [file, copy] = [path.join(folder, `${run}`), path.join(folder, `${run}.copy`)]
          const environment = testEnvironment()
          const disk = new FaultyDisk()
          const living = await open(file, environment, { durability, files: disk.files })
          const states = [living.chain.state]
          for (const each of steps) {
            if (each === 'failing' || each === 'whole' || 'room' in each || 'most' in each) {
              disk.become(each)
              continue
            }
            await take(living.chain, environment, each)
            states.push(living.chain.state)
            copyFileSync(file, copy)
            const after = await open(copy, testEnvironment())
            const { state } = after.chain
            const sketch = sketchOf(state)
            const same = states.filter((one) => sketchOf(one) === sketch)
            if (durability === 'block') expect(sketch).toBe(sketchOf(living.chain.state))
            // the first state of all may not be written yet
            if (after.isNew) expect(durability).toBe('interval')
            else expect(same.map((one) => answersOf(one))).toContainEqual(answersOf(state))
            await close(after)
          }
          disk.become('whole')
          await close(living)
          const last = await open(file, environment)
          expect(answersOf(last.chain.state)).toEqual(answersOf(living.chain.state))
          await close(last)
        },
      ),
      { seed: 20261126, numRuns: 5 },
    )
  })
})

test('a crash loses at most what the last tenth of a second changed', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const folder = temporaryFolder(onTestFinished)
  let run = 0
  const steps = fc.array(fc.tuple(step, fc.nat(130)), { minLength: 5, maxLength: 15 })
  await fc.assert(
    fc.asyncProperty(steps, async (taken) => {
      run += 1
      const [file, copy] = [path.join(folder, `${run}`), path.join(folder, `${run}.copy`)]
      const environment = testEnvironment()
      const living = await open(file, environment)
      let nowMs = 0
      const history = [{ sketch: sketchOf(living.chain.state), atMs: nowMs }]
      for (const [each, ms] of taken) {
        await take(living.chain, environment, each)
        history.push({ sketch: sketchOf(living.chain.state), atMs: nowMs })
        await vi.advanceTimersByTimeAsync(ms)
        nowMs += ms
        const surelyWritten = history.findLastIndex(({ atMs }) => atMs <= nowMs - 100)
        if (surelyWritten < 0) continue
        copyFileSync(file, copy)
        const after = await open(copy, testEnvironment())
        const known = history.slice(surelyWritten).map(({ sketch }) => sketch)
        expect(known).toContain(sketchOf(after.chain.state))
        await close(after)
      }
      await close(living)
    }),
    { seed: 20261127, numRuns: 5 },
  )
})

test('on a disk that takes long to sync, sends wait with block alone, and few syncs run', async () => {
  const folder = temporaryFolder(onTestFinished)
  const clock = vi.spyOn(performance, 'now').mockReturnValue(Infinity)
  onTestFinished(() => clock.mockRestore())
  for (const durability of ['block', 'interval'] as const) {
    const disk = new FaultyDisk()
    const file = path.join(folder, durability)
    const living = await open(file, testEnvironment(), { durability, files: disk.files })
    const before = disk.syncs
    disk.slowDown()
    let answered = 0
    const sends = [0n, 1n, 2n, 3n].map(async (nonce) => {
      await sendRawTransaction(living.chain, signed(living.chain, { nonce }).raw)
      answered += 1
    })
    if (durability === 'interval') await Promise.all(sends)
    else
      await eventually(
        () => disk.syncs,
        (syncs) => syncs > before,
      )
    expect([answered, disk.syncs - before]).toEqual([durability === 'block' ? 0 : 4, 1])
    disk.hurry()
    await Promise.all(sends)
    await close(living)
    const again = await open(file, testEnvironment())
    expect(headOf(again.chain.state.tree).block.header.number).toBe(4n)
    await close(again)
  }
})

test('a new file that does not fit on the disk is gone, and a compaction that cannot be written says so', async () => {
  const folder = temporaryFolder(onTestFinished)
  const disk = new FaultyDisk()
  disk.room = 0
  const file = path.join(folder, 'chains')
  expect(() => openLog(file, disk.files)).toThrow('ENOSPC')
  expect(readdirSync(folder)).toEqual([])
  await close(await open(file, testEnvironment()))
  // no file can be made there
  mkdirSync(`${file}.new`)
  expect(() => compactFolder(folder, expect.unreachable)).toThrow(DevchainError)
})

test('a folder that cannot be written to is refused', async () => {
  const file = path.join(temporaryFolder(onTestFinished), 'chain')
  const environment = testEnvironment()
  await close(await open(file, environment))
  const refused = Object.assign(new Error('EROFS: read-only file system, open'), { code: 'EROFS' })
  const files = {
    ...systemFiles,
    open: () => {
      throw refused
    },
  }
  await expect(open(file, environment, { files })).rejects.toThrow(`${file}: EROFS: read-only`)
  await close(await open(file, environment))
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

test('a file is refused and stays as it is if both slots are damaged, and something that they would keep', async () => {
  const folder = temporaryFolder(onTestFinished)
  const file = path.join(folder, 'chain')
  const environment = testEnvironment()
  const living = await open(file, environment, { durability: 'block' })
  for (const each of fc.sample(step, { seed: 12, numRuns: 5 })) {
    await take(living.chain, environment, each)
  }
  const answers = answersOf(living.chain.state)
  await close(living)
  const bytes = readFileSync(file)
  for (const slot of [128, 256]) bytes[slot]! ^= 1
  // alone they do no harm: all ends are found from the first object on
  writeFileSync(file, bytes)
  const again = await open(file, environment)
  expect(again.notices).toEqual([])
  expect(answersOf(again.chain.state)).toEqual(answers)
  await close(again)
  for (const at of [520, bytes.length - 4]) {
    const damaged = Buffer.from(bytes)
    damaged[at]! ^= 1
    writeFileSync(file, damaged)
    await expect(open(file, environment)).rejects.toThrow(/the object at byte \d+ is damaged/)
    expect(readFileSync(file).equals(damaged)).toBe(true)
  }
})

test('each of 1,000 damaged bytes is found by a check, or was needed by nothing', async () => {
  const folder = temporaryFolder(onTestFinished)
  const [file, copy] = [path.join(folder, 'whole'), path.join(folder, 'damaged')]
  const environment = testEnvironment()
  const living = await open(file, environment, { durability: 'block' })
  for (const each of fc.sample(step, { seed: 12, numRuns: 25 })) {
    await take(living.chain, environment, each)
  }
  const answers = answersOf(living.chain.state)
  await close(living)
  const bytes = readFileSync(file)
  let [refused, unneeded, cutOff] = [0, 0, 0]
  for (const at of fc.sample(fc.nat(bytes.length - 1), { seed: 13, numRuns: 1_000 })) {
    const damaged = Buffer.from(bytes)
    damaged[at]! ^= 1 << (at % 8)
    writeFileSync(copy, damaged)
    try {
      const { log, position, cut } = openLog(copy)
      try {
        finished(new Reachable(log, log.size).find(position!))
        if (cut > 0) cutOff += 1
        if (cut > 0) continue
        const state = new Objects(log).read(position!, chainsObject).byName.get('/')!.state
        unneeded += 1
        if (unneeded % 20 === 0) expect(answersOf(state)).toEqual(answers)
      } finally {
        log.leave()
      }
    } catch (error) {
      if (!(error instanceof CorruptStore)) throw error
      expect(error.message).toMatch(`${copy}: `)
      refused += 1
    }
  }
  expect(refused).toBeGreaterThan(300)
  expect(cutOff).toBe(0)
  expect(refused + unneeded).toBe(1_000)
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

test('a state that is written in many turns is the one that is written at once', async () => {
  const environment = testEnvironment()
  const chain = await testChain({ environment })
  for (const each of fc.sample(step, { seed: 21, numRuns: 40 })) {
    await take(chain, environment, each)
  }
  const { log } = openLog(path.join(temporaryFolder(onTestFinished), 'chain'))
  const objects = new Objects(log)
  let turns = 1
  let root = objects.writeFor(0, chain.state, stateObject)
  for (; root === undefined; turns++) root = objects.writeFor(0, chain.state, stateObject)
  expect(turns).toBeGreaterThan(100)
  log.end(root)
  expect(objects.write(chain.state, stateObject)).toBe(root)
  expect(answersOf(new Objects(log).read(root, stateObject))).toEqual(answersOf(chain.state))
  log.close()
  chain.close()
})
