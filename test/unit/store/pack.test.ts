// A state as bytes and back.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { concatBytes } from '../../../src/core/hex.ts'
import { impersonateSignature } from '../../../src/node/accounts/accounts.ts'
import { mine } from '../../../src/node/commands/mine.ts'
import { takeSnapshot } from '../../../src/node/commands/snapshots.ts'
import { increaseTime } from '../../../src/node/commands/time.ts'
import { branchOf, chainWith } from '../../../src/node/create.ts'
import { loadState } from '../../../src/node/dump/load.ts'
import { dumpInMemory } from '../../../src/node/dump/source.ts'
import { dumpState } from '../../../src/node/dump/write.ts'
import { blockByHash, headOf, transactionPlace } from '../../../src/node/ledger/blocktree.ts'
import { snapshotsOf } from '../../../src/node/ledger/snapshots.ts'
import { withBatch } from '../../../src/node/pool/batches.ts'
import { withBlobs } from '../../../src/node/pool/blobstore.ts'
import { pooledInOrder, withTransaction } from '../../../src/node/pool/pool.ts'
import { sendRawTransaction } from '../../../src/node/sending/send.ts'
import { stateRoot } from '../../../src/state/world.ts'
import { CorruptStore } from '../../../src/store/bytes.ts'
import { packInTurns, packState, unpackState } from '../../../src/store/pack.ts'
import { SEEDS, sidecarOf } from '../../support/evm/blobs.ts'
import { account, signed, testChain, testEnvironment } from '../node/chains.ts'
import { answersOf, step, take } from './histories.ts'

test('a state that was packed answers as before, and goes on to the same blocks', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 5, maxLength: 30, size: 'max' }),
      fc.array(step, { maxLength: 10 }),
      async (steps, later) => {
        const environment = testEnvironment()
        const chain = await testChain({ environment })
        for (const each of steps) await take(chain, environment, each)
        const bytes = packState(chain.state)
        expect(Buffer.compare(packState(chain.state), bytes)).toBe(0)
        // with a pause after each object
        expect(Buffer.compare(await packInTurns(chain.state, 0), bytes)).toBe(0)
        const unpacked = unpackState(bytes)
        expect(answersOf(unpacked)).toEqual(answersOf(chain.state))
        const again = packState(unpackState(bytes))
        expect(answersOf(unpackState(again))).toEqual(answersOf(chain.state))
        const goesOn = { ...testEnvironment(), ms: environment.ms }
        goesOn.now = () => goesOn.ms
        const branch = chainWith(branchOf(unpackState(bytes)), {
          executor: chain.executor,
          environment: goesOn,
        })
        const original = chainWith(branchOf(chain.state), { executor: chain.executor, environment })
        for (const each of later) {
          await take(branch, goesOn, each)
          await take(original, environment, each)
        }
        expect(headOf(branch.state.tree).block.hash).toBe(headOf(original.state.tree).block.hash)
        expect(answersOf(branch.state)).toEqual(answersOf(original.state))
        branch.close()
        original.close()
        chain.close()
      },
    ),
    { seed: 20261126, numRuns: 8 },
  )
}, 120_000)

test('runs too long to hash keep their timestamps and hashes', async () => {
  const chain = await testChain()
  const now = chain.environment.now()
  await chain.update((state) =>
    mine(chain.executor, state, { now, blocks: 1_100_000n, bulk: chain.execution.bulk }),
  )
  const unpacked = unpackState(packState(chain.state))
  expect(headOf(unpacked.tree).block).toEqual(headOf(chain.state.tree).block)
  for (const number of [1, 500_000, 1_090_000, 1_099_999]) {
    const [before, after] = [chain.state, unpacked].map(({ tree }) => tree.canonical.at(number)!)
    expect({ ...after!.block }).toEqual({ ...before!.block })
    expect(stateRoot(after!.world)).toBe(stateRoot(before!.world))
  }
  chain.close()
})

test('a run that takes many turns to pack has the bytes of one that is packed at once', async () => {
  const chain = await testChain()
  const now = chain.environment.now()
  await chain.update((state) =>
    mine(chain.executor, state, { now, blocks: 5_000n, bulk: chain.execution.bulk }),
  )
  const atOnce = packState(chain.state)
  expect(Buffer.compare(await packInTurns(chain.state, 0), atOnce)).toBe(0)
  chain.close()
})

test('a thousand snapshots in a row are packed without a call for each', async () => {
  const chain = await testChain()
  for (let each = 0; each < 20_000; each++) await chain.update(takeSnapshot)
  const unpacked = unpackState(packState(chain.state))
  expect(snapshotsOf(unpacked)).toHaveLength(20_000)
  chain.close()
})

test('blocks that were packed in memory are there, by number, hash and transaction', async () => {
  const chain = await testChain()
  const now = chain.environment.now()
  for (let nonce = 0n; nonce < 45n; nonce++) {
    await sendRawTransaction(chain, signed(chain, { nonce }).raw)
    // one by one: bulk mining makes runs
    await chain.update((state) => mine(chain.executor, state, { now, blocks: 99n }))
  }
  const unpacked = unpackState(packState(chain.state))
  expect(unpacked.tree.oldEnd).toBeGreaterThan(0)
  for (let number = 1; number < 4400; number += 50) {
    const [before, after] = [chain.state, unpacked].map(({ tree }) => tree.canonical.at(number)!)
    const { block, executed, world } = before!
    expect(after!.block).toEqual(block)
    expect(after!.executed).toEqual(executed)
    expect(stateRoot(after!.world)).toBe(stateRoot(world))
    expect(blockByHash(unpacked.tree, block.hash)).toBe(after)
    const [sent] = block.transactions
    if (sent === undefined) continue
    expect(transactionPlace(unpacked.tree, sent.hash)).toEqual({ record: after, index: 0 })
  }
  chain.close()
})

test('blobs, batches, impersonated signatures and conditions are packed', async () => {
  const chain = await testChain()
  const sidecar = sidecarOf(1, SEEDS.slice(0, 1))
  const address = account(chain, 1)
  await chain.update((before) => {
    const signature = { r: 1n, s: 2n, yParity: 0 } as const
    const accounts = impersonateSignature(before.accounts, signature, address)
    const waiting = signed(chain, { nonce: 3n })
    const conditions = {
      blockNumberMax: 9n,
      accounts: new Map([[address, new Map([[1n, 2n]])]]),
    }
    const pool = withTransaction(before.pool, waiting, conditions)
    const blobs = withBlobs(before.blobs, waiting, sidecar)
    const batch = { id: 'a', chainId: 1n, size: 2, isAtomic: true, hashes: [waiting.hash] }
    const batches = withBatch(before.batches, batch)
    return { state: { ...before, accounts, pool, blobs, batches }, value: undefined }
  })
  const unpacked = unpackState(packState(chain.state))
  expect(answersOf(unpacked)).toEqual(answersOf(chain.state))
  expect([...unpacked.accounts.signers.entries()]).toEqual([
    ...chain.state.accounts.signers.entries(),
  ])
  expect(pooledInOrder(unpacked.pool)).toEqual(pooledInOrder(chain.state.pool))
  chain.close()
})

test('blocks of a dump stay without the states that the dump lacked', async () => {
  const chain = await testChain()
  await sendRawTransaction(chain, signed(chain).raw)
  await chain.update((state) => increaseTime(state, 9n, chain.environment.now()))
  await sendRawTransaction(chain, signed(chain, { nonce: 1n }).raw)
  const spool = await dumpState(chain)
  const dump = concatBytes(...(await Promise.all(spool.parts().map((read) => read()))))
  const other = await testChain()
  await other.update((state) => loadState(state, dumpInMemory(dump), other.environment.now()))
  const unpacked = unpackState(packState(other.state))
  const [before, after] = [other.state, unpacked].map(({ tree }) => tree.canonical.at(1)!)
  expect(after!.isStateless).toBe(before!.isStateless)
  expect(() => after!.world).toThrow(/the block was loaded from a dump without it/)
  expect(headOf(unpacked.tree).executed).toEqual(headOf(other.state.tree).executed)
  chain.close()
  other.close()
})

test('a damaged byte is an error when its part is read, and no other answer', async () => {
  const environment = testEnvironment()
  const chain = await testChain({ environment })
  const steps = fc.sample(step, { seed: 5, numRuns: 25 })
  for (const each of steps) await take(chain, environment, each)
  const bytes = packState(chain.state)
  const answers = answersOf(chain.state)
  let refused = 0
  for (const at of fc.sample(fc.nat(bytes.length - 1), { seed: 6, numRuns: 60 })) {
    const damaged = bytes.slice()
    damaged[at]! ^= 1 << (at % 8)
    try {
      expect(answersOf(unpackState(damaged))).toEqual(answers)
    } catch (error) {
      if (!(error instanceof CorruptStore)) throw error
      refused += 1
    }
  }
  expect(refused).toBeGreaterThan(30)
  chain.close()
})
