// Waiting transactions that travel between linked chains: of impersonated senders, with blobs, large ones, many.
import { describe, expect, test } from 'vitest'
import { createdAddress } from '../../../src/core/crypto/crypto.ts'
import { type Address, bytesFromHex, equalBytes, type Hash } from '../../../src/core/hex.ts'
import { encodeRlp } from '../../../src/core/rlp.ts'
import { decodeMessage } from '../../../src/link/protocol/messages.ts'
import type { Chain } from '../../../src/node/chain/chain.ts'
import { mine } from '../../../src/node/commands/mine.ts'
import { headOf, transactionPlace } from '../../../src/node/ledger/blocktree.ts'
import { pooledByHash } from '../../../src/node/pool/pool.ts'
import { blobByHash, blobsOfTransaction } from '../../../src/node/sending/blobs.ts'
import { sendRawTransaction, sendTransaction } from '../../../src/node/sending/send.ts'
import {
  type BlobSidecar,
  blobHash,
  encodeSent,
} from '../../../src/protocol/transactions/sidecar.ts'
import type { Transaction } from '../../../src/protocol/transactions/transaction.ts'
import { accountAt, nonceAt } from '../../../src/state/world.ts'
import { sidecarOf } from '../../support/evm/blobs.ts'
import { headHash, LinkWorld, type TestNode } from '../../support/link/linkworld.ts'
import { height, signed } from '../node/chains.ts'

const STRANGER = `0x${'5a'.repeat(20)}` as Address

/** Makes a contract of one byte of code, which stops. */
const INIT_CODE = bytesFromHex('0x600060005360016000f3')

function sendAs({ chain }: TestNode, from: Address, nonce?: bigint): Promise<Hash> {
  return sendTransaction(chain, { from, to: from, gas: 21_000n, nonce }, undefined, 'nobody')
}

async function mineOn({ chain }: TestNode): Promise<void> {
  await chain.update((state, executor) => mine(executor, state, { now: chain.environment.now() }))
}

function waits({ chain }: TestNode, hash: Hash): boolean {
  return pooledByHash(chain.state.pool, hash) !== undefined
}

/** A signed transaction with blobs. */
function blobTransaction(chain: Chain, { commitments }: BlobSidecar, nonce = 0n): Transaction {
  const blobs = { maxFeePerBlobGas: 1_000n, versionedHashes: commitments.map(blobHash) }
  return signed(chain, { type: 3, index: 4, nonce, blobs })
}

async function sendBlobs({ chain }: TestNode, sidecar: BlobSidecar, nonce = 0n): Promise<Hash> {
  const transaction = blobTransaction(chain, sidecar, nonce)
  return sendRawTransaction(chain, encodeSent(transaction, sidecar))
}

/** Faster than what the test runner compares with. */
function areEqual(a: readonly Uint8Array[] = [], b: readonly Uint8Array[] = []): boolean {
  return a.length === b.length && a.every((each, i) => equalBytes(each, b[i]!))
}

function countOf({ network }: TestNode, event: string): number {
  const entry = network.reputations().find(({ type }) => type === 'node')
  return (entry?.counts as Record<string, number> | undefined)?.[event] ?? 0
}

describe('a transaction of an impersonated sender', () => {
  test('reaches the peers, and any miner includes it', async () => {
    await using world = new LinkWorld()
    const a = await world.add('a', { noMining: true })
    const b = await world.add('b', { peers: ['a'] })
    const c = await world.add('c', { peers: ['b'] })
    const hash = await sendAs(a, STRANGER)
    await world.settle()
    expect([b, c].map((node) => waits(node, hash))).toEqual([true, true])
    await mineOn(c)
    await world.settle()
    for (const node of [a, b, c]) {
      const { tree } = node.chain.state
      expect(transactionPlace(tree, hash)).toBeDefined()
      expect(nonceAt(headOf(tree).world, STRANGER)).toBe(1n)
    }
    expect(countOf(b, 'invalidTransactions')).toBe(0)
    expect(countOf(b, 'validTransactions')).toBe(1)
  })

  test('may come from a contract', async () => {
    await using world = new LinkWorld()
    const a = await world.add('a', { noMining: true })
    const b = await world.add('b', { peers: ['a'] })
    const creation = signed(b.chain, { to: null, data: INIT_CODE, gasLimit: 100_000n, value: 0n })
    await sendRawTransaction(b.chain, creation.raw)
    await world.settle()
    const contract = createdAddress(encodeRlp([creation.from, 0n]))
    expect(accountAt(headOf(a.chain.state.tree).world, contract)?.code.length).toBe(1)
    const hash = await sendAs(a, contract, 1n)
    await world.settle()
    expect(waits(b, hash)).toBe(true)
    await mineOn(b)
    await world.settle()
    expect(transactionPlace(a.chain.state.tree, hash)).toBeDefined()
  })

  test('returns from an abandoned block, and the other node mines it', async () => {
    await using world = new LinkWorld()
    const a = await world.add('a')
    const b = await world.add('b', { peers: ['a'] })
    a.network.partition('b', true)
    await world.settle()
    const hash = await sendAs(a, STRANGER)
    expect(height(a.chain)).toBe(1n)
    await mineOn(b)
    await mineOn(b)
    await mineOn(b)
    a.network.partition('b', false)
    await world.settle()
    expect([a, b].map((node) => waits(node, hash))).toEqual([true, true])
    await mineOn(b)
    await world.settle()
    expect(headHash(a)).toBe(headHash(b))
    expect(transactionPlace(a.chain.state.tree, hash)).toBeDefined()
  })

  test('is skipped by a node that takes no blocks of others, which logs that once', async () => {
    await using world = new LinkWorld()
    const a = await world.add('a', { noMining: true })
    const b = await world.add('b', { peers: ['a'], follows: false })
    await sendAs(a, STRANGER, 0n)
    await world.settle()
    await sendAs(a, STRANGER, 1n)
    const plain = await sendRawTransaction(a.chain, signed(a.chain).raw)
    await world.settle()
    expect(b.chain.state.pool.size).toBe(1)
    expect(waits(b, plain)).toBe(true)
    expect(b.events.filter(({ kind }) => kind === 'passedOver')).toEqual([
      {
        kind: 'passedOver',
        peer: 'a',
        reason: 'their senders are impersonated, which --follow off does not accept',
      },
    ])
    expect(countOf(b, 'invalidTransactions')).toBe(0)
  })
})

describe('a linked blob transaction', () => {
  test.each([0, 1] as const)(
    'arrives with proofs of version %i, and is passed on',
    async (version) => {
      await using world = new LinkWorld()
      const sidecar = sidecarOf(version, [1, 2])
      const a = await world.add('a', { noMining: true })
      const b = await world.add('b', { noMining: true, peers: ['a'] })
      const c = await world.add('c', { noMining: true, peers: ['b'] })
      const hash = await sendBlobs(a, sidecar)
      await world.settle()
      for (const { chain } of [b, c]) {
        expect(areEqual(blobsOfTransaction(chain.state, hash), sidecar.blobs)).toBe(true)
      }
      await mineOn(c)
      await world.settle()
      expect(transactionPlace(a.chain.state.tree, hash)).toBeDefined()
      expect(headHash(a)).toBe(headHash(c))
      const first = blobByHash(b.chain.state, blobHash(sidecar.commitments[0]!))!
      expect(areEqual([first], sidecar.blobs.slice(0, 1))).toBe(true)
    },
  )

  test('arrives even if one response cannot hold two of them', async () => {
    await using world = new LinkWorld()
    const a = await world.add('a', { noMining: true })
    const b = await world.add('b', { noMining: true, peers: ['a'] })
    const six = sidecarOf(0, [1, 2, 3, 1, 2, 3])
    const sent = [
      await sendBlobs(a, six, 0n),
      await sendBlobs(a, six, 1n),
      await sendBlobs(a, six, 2n),
    ]
    await world.settle()
    expect(sent.map((hash) => waits(b, hash))).toEqual([true, true, true])
  })

  test('of an abandoned block also reaches nodes that know it only from a block', async () => {
    await using world = new LinkWorld()
    const sidecar = sidecarOf(0, [3])
    const a = await world.add('a')
    const b = await world.add('b', { peers: ['a'] })
    const c = await world.add('c', { peers: ['b'] })
    b.network.partition('c', true)
    await world.settle()
    const hash = await sendBlobs(a, sidecar)
    await world.settle()
    expect(transactionPlace(b.chain.state.tree, hash)).toBeDefined()
    expect(blobsOfTransaction(b.chain.state, hash)).toBeUndefined()
    for (let i = 0; i < 3; i++) await mineOn(c)
    b.network.partition('c', false)
    await world.settle()
    expect([a, b, c].map((node) => waits(node, hash))).toEqual([true, true, true])
    expect(areEqual(blobsOfTransaction(c.chain.state, hash), sidecar.blobs)).toBe(true)
    await mineOn(c)
    await world.settle()
    expect(transactionPlace(a.chain.state.tree, hash)).toBeDefined()
  })
})

describe('many or large transactions', () => {
  /** Data of zeros cost least. */
  const withData = (chain: Chain, size: number, nonce: bigint): Transaction =>
    signed(chain, { data: new Uint8Array(size), gasLimit: 29_000_000n, value: 0n, nonce })

  test('all arrive, however many responses it takes', async () => {
    await using world = new LinkWorld()
    const a = await world.add('a', { noMining: true })
    const b = await world.add('b', { noMining: true, peers: ['a'] })
    for (let i = 0; i < 50; i++) {
      await sendRawTransaction(a.chain, withData(a.chain, 100_000, BigInt(i)).raw)
    }
    await world.settle()
    expect(b.chain.state.pool.size).toBe(50)
  })

  test('are accepted up to 16 MiB in the queue', async () => {
    await using world = new LinkWorld()
    const a = await world.add('a', { noMining: true })
    const b = await world.add('b', { noMining: true, peers: ['a'] })
    for (let i = 0; i < 40; i++) {
      await sendRawTransaction(a.chain, withData(a.chain, 600_000, BigInt(i)).raw)
    }
    await world.settle()
    expect(b.chain.state.pool.size).toBeGreaterThanOrEqual(28)
    expect(b.chain.state.pool.size).toBeLessThanOrEqual(29)
  })

  test('are not sent if larger than a message, and the link stays', async () => {
    await using world = new LinkWorld()
    const a = await world.add('a', { noMining: true, gasLimit: 60_000_000n })
    const b = await world.add('b', { noMining: true, gasLimit: 60_000_000n, peers: ['a'] })
    const data = new Uint8Array(2 ** 21)
    const large = signed(a.chain, { data, gasLimit: 30_000_000n, value: 0n })
    await sendRawTransaction(a.chain, large.raw)
    await sendRawTransaction(a.chain, signed(a.chain, { index: 1 }).raw)
    await world.settle()
    expect(b.chain.state.pool.size).toBe(1)
    expect(b.network.list().length).toBe(1)
    expect(countOf(b, 'invalidMessages')).toBe(0)
  })
})

test('a transaction mined under conditions is announced to no peer', async () => {
  await using world = new LinkWorld()
  const a = await world.add('a', { noMining: true })
  const b = await world.add('b', { noMining: true, peers: ['a'] })
  await sendRawTransaction(a.chain, signed(a.chain).raw, undefined, { blockNumberMax: 5n })
  const c = await world.add('c', { noMining: true, peers: ['a'] })
  await world.settle()
  expect([b, c].map(({ chain }) => chain.state.pool.size)).toEqual([0, 0])
  const reported = world.pipes.flatMap(({ log }) => log).map(decodeMessage)
  expect(reported.filter(({ kind }) => kind === 'pooled')).toEqual([])
})

test('--mine-for-peers mines impersonated and blob transactions of a peer', async () => {
  await using world = new LinkWorld()
  const a = await world.add('a', { noMining: true })
  const b = await world.add('b', { peers: ['a'], minesForPeers: true })
  const sent = [await sendAs(a, STRANGER), await sendBlobs(a, sidecarOf(0, [1]))]
  await world.settle()
  for (const hash of sent) expect(transactionPlace(a.chain.state.tree, hash)).toBeDefined()
  expect(headHash(a)).toBe(headHash(b))
})
