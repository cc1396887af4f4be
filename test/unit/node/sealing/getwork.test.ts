// The desk where miners get work and bring proofs: what it remembers, for how long, and what a proved block changes.
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import type { Hash } from '../../../../src/core/hex.ts'
import { parseBytes } from '../../../../src/core/hex.ts'
import { editAccount } from '../../../../src/node/cheats/edit.ts'
import { mine } from '../../../../src/node/commands/mine.ts'
import { setNextTimestamp } from '../../../../src/node/commands/time.ts'
import { headOf } from '../../../../src/node/ledger/blocktree.ts'
import { blockEnvironment } from '../../../../src/node/mining/environment.ts'
import { engineUrl } from '../../../../src/node/sealing/ethash.ts'
import { GetWork, type Imported } from '../../../../src/node/sealing/getwork.ts'
import { sendRawTransaction } from '../../../../src/node/sending/send.ts'
import {
  decodeParentBlock,
  type ParentProof,
  proofOfBlock,
} from '../../../../src/protocol/work/parentchain.ts'
import { makeParentBlock } from '../../../support/chain/parentblocks.ts'
import { account, headTime, signed, testChain, testEnvironment } from '../chains.ts'

function proofFor(work: Hash, target: bigint): ParentProof {
  const { block } = makeParentBlock({ work, target })
  return proofOfBlock(decodeParentBlock(parseBytes(`0x${block}`)))
}

async function mineMerged(work: GetWork): Promise<Imported> {
  const { sealHash, target } = await work.mergedWork()
  return work.submitMerged(proofFor(sealHash, target))
}

test('hash rates expire after a minute', async () => {
  const environment = testEnvironment()
  const chain = await testChain({ environment })
  const work = new GetWork(chain)
  work.reportRate('a', 5n)
  environment.ms += 30_000
  work.reportRate('b', 7n)
  expect(work.hashrate()).toBe(12n)
  environment.ms += 30_000
  expect(work.hashrate()).toBe(7n)
  environment.ms += 30_000
  expect(work.hashrate()).toBe(0n)
})

test('hash rates are kept for the last thousand miners to report', async () => {
  const chain = await testChain()
  const work = new GetWork(chain)
  for (let i = 0; i < 1000; i += 1) work.reportRate(`${i}`, 1n)
  work.reportRate('0', 10n)
  work.reportRate('more', 100n)
  expect(work.hashrate()).toBe(998n + 10n + 100n)
})

test('eth_getWork for a block followed by a run of empty blocks makes a side block', async () => {
  const chain = await testChain()
  const work = new GetWork(chain)
  const mineOne = (): Promise<unknown> =>
    chain.update((state) => mine(chain.executor, state, { now: chain.environment.now() }))
  for (let count = 0; count < 40; count += 1) await mineOne()
  const { sealHash, target } = await work.mergedWork()
  const proof = proofFor(sealHash, target)
  for (let count = 0; count < 100; count += 1) await mineOne()
  expect((await work.submitMerged(proof)).result).toBe('IMPORTED_NOT_BEST')
})

test('eth_getWork keeps the last 64 blocks that it gave out', async () => {
  const chain = await testChain()
  const work = new GetWork(chain)
  const first = await work.mergedWork()
  const handOut = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i += 1) {
      const now = chain.environment.now()
      await chain.update((state) => mine(chain.executor, state, { now }))
      await work.mergedWork()
    }
  }
  const proof = proofFor(first.sealHash, first.target)
  await handOut(63)
  expect((await work.submitMerged(proof)).result).toBe('IMPORTED_NOT_BEST')
  await handOut(1)
  await expect(work.submitMerged(proof)).rejects.toThrow('could not find hash')
})

test('Ethash loads ES modules, as node aborts if a thread ends while it requires one', async () => {
  expect(await readFile(new URL(engineUrl()), 'utf8')).toMatch(/^export /m)
})

test('Ethash is off where its cache would exceed any real chain’s, and merged mining goes on', async () => {
  const chain = await testChain({ timestamp: 0n })
  const work = new GetWork(chain)
  const now = chain.environment.now()
  await chain.update((state) =>
    mine(chain.executor, state, { now, blocks: 18_000_000n, bulk: chain.execution.bulk }),
  )
  const refusal = { word: 'LIMIT_EXCEEDED', message: expect.stringContaining('block 18000001') }
  await expect(work.ethashWork()).rejects.toMatchObject(refusal)
  const { sealHash } = await work.mergedWork()
  const proof = work.submitEthash(new Uint8Array(8), sealHash, sealHash)
  await expect(proof).rejects.toMatchObject(refusal)
  expect((await mineMerged(work)).result).toBe('IMPORTED_BEST')
})

test('a submitted block is like any other: clock, one-off settings, waiting transactions', async () => {
  const chain = await testChain({ noMining: true })
  const work = new GetWork(chain)
  const timestamp = headTime(chain) + 5000n
  await chain.update((state) => setNextTimestamp(state, timestamp))
  await chain.update((state) => ({
    state: { ...state, settings: { ...state.settings, nextBaseFee: 0n } },
    value: undefined,
  }))
  await sendRawTransaction(chain, signed(chain).raw)
  expect((await mineMerged(work)).result).toBe('IMPORTED_BEST')
  const { pool, clock, settings } = chain.state
  expect(headTime(chain)).toBe(timestamp)
  expect(pool.size).toBe(0)
  expect(clock.nextTimestamp).toBeUndefined()
  expect(settings.nextBaseFee).toBeUndefined()
  expect((await chain.pending()).block.header.timestamp).toBe(timestamp + 1n)
})

test('a submitted block keeps what PREVRANDAO returned while it ran, beside its proof', async () => {
  const chain = await testChain()
  const work = new GetWork(chain)
  const { mixHash } = (await chain.pending()).block.header
  await mineMerged(work)
  const record = headOf(chain.state.tree)
  expect(record.block.header.mixHash).not.toBe(mixHash)
  expect(blockEnvironment(chain.state, record).prevRandao).toBe(mixHash)
})

test('work on accounts that were edited since has no parent', async () => {
  const chain = await testChain()
  const work = new GetWork(chain)
  const { sealHash, target } = await work.mergedWork()
  const miner = account(chain, 0)
  await chain.update((state) => editAccount(state, miner, (before) => ({ ...before, nonce: 7n })))
  expect((await work.submitMerged(proofFor(sealHash, target))).result).toBe('NO_PARENT')
})

test('a closed chain refuses proofs that wait for verification', async () => {
  const chain = await testChain()
  const work = new GetWork(chain)
  const { sealHash } = await work.ethashWork()
  const answer = work.submitEthash(new Uint8Array(8), sealHash, sealHash)
  chain.close()
  await expect(answer).rejects.toThrow('the chain was closed')
})
