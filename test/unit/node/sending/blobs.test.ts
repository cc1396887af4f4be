// Transactions with blobs from the sender to the block, and the blobs that a chain keeps.
import { describe, expect, it } from 'vitest'
import { type Hash, hexFromBytes } from '../../../../src/core/hex.ts'
import { call } from '../../../../src/node/calls/call.ts'
import { estimateGas } from '../../../../src/node/calls/estimate.ts'
import type { Chain } from '../../../../src/node/chain/chain.ts'
import type { ChainOptions } from '../../../../src/node/chainoptions.ts'
import { mine } from '../../../../src/node/commands/mine.ts'
import { reset, revertTo, takeSnapshot } from '../../../../src/node/commands/snapshots.ts'
import { headOf, transactionPlace } from '../../../../src/node/ledger/blocktree.ts'
import type { ChainState } from '../../../../src/node/ledger/chainstate.ts'
import { pendingReference } from '../../../../src/node/ledger/references.ts'
import { dropTransaction } from '../../../../src/node/mining/drop.ts'
import { reorganize } from '../../../../src/node/mining/reorganize.ts'
import { BLOB_LIMIT, withBlobs } from '../../../../src/node/pool/blobstore.ts'
import { pooledByHash } from '../../../../src/node/pool/pool.ts'
import { admit } from '../../../../src/node/sending/admission.ts'
import { blobByHash, blobsOfTransaction } from '../../../../src/node/sending/blobs.ts'
import { sendRawTransaction, sendTransaction } from '../../../../src/node/sending/send.ts'
import { signRequest } from '../../../../src/node/sending/sign.ts'
import { GAS_PER_BLOB } from '../../../../src/protocol/fees.ts'
import type { Hardfork } from '../../../../src/protocol/forks.ts'
import { blobHash, decodeSent, encodeSent } from '../../../../src/protocol/transactions/sidecar.ts'
import type {
  Transaction,
  UnsignedTransaction,
} from '../../../../src/protocol/transactions/transaction.ts'
import { sidecarOf } from '../../../support/evm/blobs.ts'
import { account, height, NOON, signed, testChain } from '../chains.ts'

const SIDECAR = sidecarOf(0, [1, 2])
/** As text: what compares bytes does so one by one. */
const BLOBS = SIDECAR.blobs.map(hexFromBytes)
const HASHES = SIDECAR.commitments.map(blobHash)

/** A hash that no blob is known of, for what is put into the pool by hand. */
const hashOf = (byte: number): Hash =>
  `0x01${byte.toString(16).padStart(2, '0').repeat(31)}` as Hash

type Changes = Partial<UnsignedTransaction & { index: number }>

/** A signed transaction with blobs. */
function blobTransaction(
  chain: Chain,
  versionedHashes: readonly Hash[],
  { maxFeePerBlobGas = 10n, ...changes }: Changes & { maxFeePerBlobGas?: bigint } = {},
): Transaction {
  return signed(chain, {
    type: 3,
    to: account(chain, 5),
    blobs: { maxFeePerBlobGas, versionedHashes },
    ...changes,
  })
}

/** Puts a transaction into the pool whatever became of its blobs. */
const pooled = (chain: Chain, transaction: Transaction): Promise<undefined> =>
  chain.update((state) => ({
    state: { ...state, pool: admit(state, transaction, NOON) },
    value: undefined,
  }))

const mined = (chain: Chain): Promise<unknown> =>
  chain.update((state) => mine(chain.executor, state, { now: NOON }))

const headerOf = ({ state }: Chain) => headOf(state.tree).block.header

const manual: ChainOptions = { noMining: true }

describe('a raw blob transaction', () => {
  it.each<[0 | 1, Hardfork]>([
    [0, 'cancun'],
    [1, 'cancun'],
    [0, 'bpo2'],
    [1, 'bpo2'],
  ])('with proofs of version %i is mined on %s', async (version, hardfork) => {
    const chain = await testChain({ hardfork })
    const sidecar = sidecarOf(version, [1, 2])
    const transaction = blobTransaction(chain, HASHES)
    const hash = await sendRawTransaction(chain, encodeSent(transaction, sidecar))
    expect(hash).toBe(transaction.hash)
    const place = transactionPlace(chain.state.tree, hash)!
    expect(place.record.executed[0]?.receipt.blobGas).toEqual({
      used: 2n * GAS_PER_BLOB,
      price: 1n,
    })
    expect(place.record.block.transactions[0]?.raw).toEqual(transaction.raw)
    expect(headerOf(chain)).toMatchObject({ blobGasUsed: 2n * GAS_PER_BLOB, excessBlobGas: 0n })
    expect(blobsOfTransaction(chain.state, hash)?.map(hexFromBytes)).toEqual(BLOBS)
    expect(hexFromBytes(blobByHash(chain.state, HASHES[1]!)!)).toBe(BLOBS[1])
  })

  it.each<[string, ChainOptions, (chain: Chain) => Uint8Array, string, RegExp]>([
    [
      'without its blobs',
      {},
      (chain) => blobTransaction(chain, HASHES).raw,
      'INVALID_BLOBS',
      /^blob transaction without its blobs: expected 0x03 and rlp/,
    ],
    [
      'before cancun',
      { hardfork: 'shanghai' },
      (chain) => encodeSent(blobTransaction(chain, HASHES), SIDECAR),
      'TYPE_NOT_SUPPORTED',
      /type 3 needs hardfork cancun/,
    ],
    [
      'with no blob',
      {},
      (chain) => encodeSent(blobTransaction(chain, []), sidecarOf(0, [])),
      'INVALID_BLOBS',
      /^blob transaction missing blob hashes/,
    ],
    [
      'with seven',
      {},
      (chain) => encodeSent(blobTransaction(chain, Array(7).fill(HASHES[0])), SIDECAR),
      'INVALID_BLOBS',
      /^too many blobs in transaction: have 7, at most 6/,
    ],
    [
      'with another’s proof',
      {},
      (chain) =>
        encodeSent(blobTransaction(chain, HASHES), {
          ...SIDECAR,
          proofs: [...SIDECAR.proofs].reverse(),
        }),
      'INVALID_BLOBS',
      /^invalid KZG proof: blob 0 does not match its commitment and proofs \(version 0\)/,
    ],
    [
      'that offers less than blobs cost',
      {},
      (chain) => encodeSent(blobTransaction(chain, HASHES, { maxFeePerBlobGas: 0n }), SIDECAR),
      'BLOB_FEE_CAP_TOO_LOW',
      /fee cap 0, blob base fee 1/,
    ],
    [
      'whose blobs nobody can pay',
      {},
      (chain) =>
        encodeSent(blobTransaction(chain, HASHES, { maxFeePerBlobGas: 10n ** 20n }), SIDECAR),
      'INSUFFICIENT_FUNDS',
      /^insufficient funds/,
    ],
  ])('%s is refused and changes nothing', async (_, options, make, word, message) => {
    const chain = await testChain(options)
    await expect(sendRawTransaction(chain, make(chain))).rejects.toMatchObject({
      word,
      message: expect.stringMatching(message) as string,
    })
    expect(chain.state.blobs).toEqual([])
    expect(height(chain)).toBe(0n)
  })
})

describe('a blob transaction request', () => {
  it('is signed by the node, and offers twice the blob fee by default', async () => {
    const chain = await testChain()
    const [from, to] = [account(chain, 1), account(chain, 2)]
    const hash = await sendTransaction(chain, {
      from,
      to,
      blobs: { versionedHashes: HASHES, sidecar: SIDECAR },
    })
    const { record } = transactionPlace(chain.state.tree, hash)!
    expect(record.block.transactions[0]).toMatchObject({
      type: 3,
      blobs: { maxFeePerBlobGas: 2n, versionedHashes: HASHES },
    })
    expect(blobsOfTransaction(chain.state, hash)?.map(hexFromBytes)).toEqual(BLOBS)
  })

  it('is refused without the blobs', async () => {
    const chain = await testChain()
    const to = account(chain, 1)
    const request = { from: to, to, blobs: { versionedHashes: HASHES } }
    await expect(sendTransaction(chain, request)).rejects.toMatchObject({
      word: 'INVALID_BLOBS',
      message: expect.stringMatching(/^blob transaction without its blobs/) as string,
    })
  })

  it('is signed with its blobs, ready to be sent', async () => {
    const chain = await testChain()
    const to = account(chain, 1)
    const blobs = { versionedHashes: HASHES, sidecar: SIDECAR }
    const raw = await signRequest(chain, { from: to, to, blobs })
    const hash = await sendRawTransaction(chain, raw)
    expect(decodeSent(raw)).toMatchObject({ transaction: { hash }, sidecar: SIDECAR })
  })
})

describe('a pooled blob transaction', () => {
  it('with too low a blob fee waits, with later ones of its sender, until blobs are cheaper', async () => {
    const chain = await testChain({ ...manual, hardfork: 'cancun' })
    // six blobs a block where three are aimed at: blobs cost 2 wei after seven such blocks
    for (let nonce = 0n; nonce < 20n; nonce += 1n) {
      await pooled(chain, blobTransaction(chain, Array(6).fill(hashOf(1)), { nonce }))
    }
    const poor = blobTransaction(chain, [hashOf(2)], { index: 1, maxFeePerBlobGas: 1n })
    for (let i = 0; i < 12; i += 1) await mined(chain)
    await pooled(chain, poor)
    await pooled(chain, signed(chain, { index: 1, nonce: 1n }))
    await mined(chain)
    expect(pooledByHash(chain.state.pool, poor.hash)).toBeDefined()
    expect(headOf(chain.state.tree).block.transactions).toHaveLength(1)
    for (let i = 0; i < 40; i += 1) await mined(chain)
    expect(chain.state.pool.size).toBe(0)
    expect(transactionPlace(chain.state.tree, poor.hash)).toBeDefined()
  })

  it('shares a block with others of its sender as far as their blobs fit', async () => {
    const chain = await testChain({ ...manual, hardfork: 'cancun' })
    for (const [nonce, count] of [2, 3, 2, 4, 6].entries()) {
      const hashes = Array(count).fill(hashOf(nonce))
      await pooled(chain, blobTransaction(chain, hashes, { nonce: BigInt(nonce) }))
    }
    const other = signed(chain, { index: 1 })
    await pooled(chain, other)
    const used = []
    for (let i = 0; i < 3; i += 1) {
      await mined(chain)
      used.push(headerOf(chain).blobGasUsed! / GAS_PER_BLOB)
    }
    expect(used).toEqual([5n, 6n, 6n])
    expect(transactionPlace(chain.state.tree, other.hash)?.record.block.header.number).toBe(1n)
  })

  it.each([
    [10n, 10n, 10n, /replacement transaction underpriced.*has fee 10/],
    [11n, 11n, 10n, /has 10 wei per blob gas, its replacement needs at least 11, got 10/],
    [11n, 11n, 11n, undefined],
  ])(
    'is replaced by fees %i, %i and %i for thrice 10 if each of them is high enough',
    async (maxFeePerGas, maxPriorityFeePerGas, maxFeePerBlobGas, message) => {
      const chain = await testChain(manual)
      const ten = { maxFeePerGas: 10n, maxPriorityFeePerGas: 10n, maxFeePerBlobGas: 10n }
      await pooled(chain, blobTransaction(chain, [hashOf(1)], ten))
      const fees = { maxFeePerGas, maxPriorityFeePerGas, maxFeePerBlobGas }
      const replacing = pooled(chain, blobTransaction(chain, [hashOf(2)], fees))
      if (message === undefined) await replacing
      else await expect(replacing).rejects.toThrow(message)
    },
  )
})

describe('a block with given transactions', () => {
  it('has room for as many blobs as any', async () => {
    const chain = await testChain({ hardfork: 'cancun' })
    await mined(chain)
    const [first, second] = [0n, 1n].map(
      (nonce) => () => blobTransaction(chain, Array(4).fill(hashOf(1)), { nonce }),
    ) as [() => Transaction, () => Transaction]
    const order = { depth: 1n, requeue: false, now: NOON }
    await expect(
      reorganize(chain.executor, chain.state, { ...order, blocks: [[first, second]] }),
    ).rejects.toMatchObject({
      word: 'EXCEEDS_BLOCK_GAS_LIMIT',
      message: expect.stringMatching(
        /wants 524288 blob gas, which block 1 of 786432 has/,
      ) as string,
    })
    const apart = { ...order, blocks: [[first], [second]] }
    const { state } = await reorganize(chain.executor, chain.state, apart)
    expect(headOf(state.tree).block.header).toMatchObject({ number: 2n, excessBlobGas: 131_072n })
  })
})

describe('the stored blobs', () => {
  /** A chain on which the transaction with both blobs waits. */
  async function waiting(): Promise<{ chain: Chain; hash: Hash; known: () => boolean[] }> {
    const chain = await testChain(manual)
    const hash = await sendRawTransaction(
      chain,
      encodeSent(blobTransaction(chain, HASHES), SIDECAR),
    )
    const known = (): boolean[] => [
      blobsOfTransaction(chain.state, hash) !== undefined,
      blobByHash(chain.state, HASHES[0]!) !== undefined,
    ]
    return { chain, hash, known }
  }

  it('are known while the transaction waits, and not after it is dropped', async () => {
    const { chain, hash, known } = await waiting()
    expect(known()).toEqual([true, true])
    await chain.update((state) => dropTransaction(state, hash))
    expect(known()).toEqual([false, false])
  })

  it('appear and disappear with reverts and resets', async () => {
    const chain = await testChain()
    const id = await chain.update(takeSnapshot)
    const raw = encodeSent(blobTransaction(chain, HASHES), SIDECAR)
    const hash = await sendRawTransaction(chain, raw)
    const later = await chain.update(takeSnapshot)
    await chain.update((state) => revertTo(state, id))
    expect(blobsOfTransaction(chain.state, hash)).toBe(undefined)
    expect(await sendRawTransaction(chain, raw)).toBe(hash)
    expect(blobsOfTransaction(chain.state, hash)?.map(hexFromBytes)).toEqual(BLOBS)
    expect(later).toBeGreaterThan(id)
    await chain.update(reset)
    expect(blobByHash(chain.state, HASHES[0]!)).toBe(undefined)
  })

  it('stay with a transaction that a reorg returns to the pool', async () => {
    const { chain, hash, known } = await waiting()
    await mined(chain)
    const order = { depth: 1n, blocks: [[]], now: NOON }
    await chain.update((state) => reorganize(chain.executor, state, { ...order, requeue: true }))
    expect(pooledByHash(chain.state.pool, hash)).toBeDefined()
    expect(known()).toEqual([true, true])
    await mined(chain)
    expect(known()).toEqual([true, true])
    await chain.update((state) => reorganize(chain.executor, state, { ...order, requeue: false }))
    expect(known()).toEqual([false, false])
  })

  it('are the newest; those of one transaction count once', async () => {
    const chain = await testChain()
    const sidecar = { ...SIDECAR, blobs: Array.from({ length: 6 }, () => new Uint8Array()) }
    const transactions = Array.from({ length: 100 }, (_, nonce) =>
      blobTransaction(chain, [], { nonce: BigInt(nonce) }),
    )
    const store = [...transactions, transactions[99]!].reduce<ChainState['blobs']>(
      (kept, transaction) => withBlobs(kept, transaction, sidecar),
      [],
    )
    expect(store).toHaveLength(Math.floor(BLOB_LIMIT / 6))
    expect(store.at(-1)?.transaction).toBe(transactions[99]?.hash)
    expect(store[0]?.transaction).toBe(transactions[15]?.hash)
  })
})

describe('a call with blobs', () => {
  /** BLOBHASH of 1, returned. */
  const READER = {
    to: undefined,
    data: new Uint8Array([0x60, 1, 0x49, 0x5f, 0x52, 0x60, 32, 0x5f, 0xf3]),
  }
  const blobs = { versionedHashes: HASHES }

  it('gives contracts their hashes, for free', async () => {
    const chain = await testChain()
    const to = account(chain, 6)
    const stateOverrides = new Map([[to, { code: READER.data }]])
    const outcome = await call(chain, { to, blobs }, pendingReference, { stateOverrides })
    expect(`0x${Buffer.from(outcome.output).toString('hex')}`).toBe(HASHES[1])
    expect(outcome.failure).toBe(undefined)
  })

  it.each([
    [{ ...blobs, maxFeePerBlobGas: 10n ** 20n }, 'INSUFFICIENT_FUNDS'],
    [{ versionedHashes: [] }, 'INVALID_BLOBS'],
    [{ versionedHashes: [`0x02${'00'.repeat(31)}` as Hash] }, 'INVALID_BLOBS'],
  ])(
    'is refused, like an estimate, where no transaction could have them: %o',
    async (given, word) => {
      const chain = await testChain()
      const request = { from: account(chain, 0), to: account(chain, 1), gasPrice: 1n, blobs: given }
      const refused = { word }
      await expect(async () => call(chain, request, pendingReference)).rejects.toMatchObject(
        refused,
      )
      await expect(async () => estimateGas(chain, request, pendingReference)).rejects.toMatchObject(
        refused,
      )
    },
  )
})
