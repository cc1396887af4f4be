// Waiting transactions: order, gaps, replacement and bounds.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { keccakHash } from '../../../../src/core/crypto/crypto.ts'
import { type Address, EMPTY_BYTES, parseAddress } from '../../../../src/core/hex.ts'
import {
  arrivedAfter,
  Candidates,
  emptyPool,
  nextNonce,
  type Pool,
  pendingOf,
  pooledByNonce,
  pooledInOrder,
  queuedBySender,
  withoutMany,
  withoutStale,
  withoutTransaction,
  withoutTransactions,
  withTransaction,
} from '../../../../src/node/pool/pool.ts'
import type { Transaction } from '../../../../src/protocol/transactions/transaction.ts'
import { emptyWorld, type World, withNonce } from '../../../../src/state/world.ts'

const ALICE = parseAddress(`0x${'a1'.repeat(20)}`)
const BOB = parseAddress(`0x${'b0'.repeat(20)}`)

/** A transaction as the pool sees it; its hash depends on sender, nonce and price. */
function transaction(from: Address, nonce: bigint, price = 0n, tip = price): Transaction {
  const hash = keccakHash(new TextEncoder().encode(`${from} ${nonce} ${price} ${tip}`))
  return {
    type: 2,
    chainId: 33n,
    nonce,
    gasLimit: 21_000n,
    maxFeePerGas: price,
    maxPriorityFeePerGas: tip,
    to: from,
    value: 0n,
    data: EMPTY_BYTES,
    accessList: [],
    authorizationList: [],
    from,
    hash,
    raw: EMPTY_BYTES,
    v: 0n,
    r: 1n,
    s: 1n,
  }
}

function poolOf(...transactions: readonly Transaction[]): Pool {
  return transactions.reduce((pool, each) => withTransaction(pool, each), emptyPool)
}

function noncesOf(entries: readonly { readonly transaction: Transaction }[]): bigint[] {
  return entries.map((entry) => entry.transaction.nonce)
}

function inOrder(pool: Pool, world: World, baseFee: bigint): string[] {
  const block = { baseFee, excessBlobGas: 0n, hardfork: 'bpo2' } as const
  const candidates = new Candidates(pool, world, block)
  const hashes: string[] = []
  for (let best = candidates.best; best !== undefined; best = candidates.best) {
    hashes.push(best.hash)
    candidates.advance()
  }
  return hashes
}

describe('the pool', () => {
  it('separates transactions that can be mined from those with a nonce gap', () => {
    const pool = poolOf(...[0n, 1n, 3n, 4n].map((nonce) => transaction(ALICE, nonce)))
    expect(noncesOf(pendingOf(pool, emptyWorld))).toEqual([0n, 1n])
    expect(noncesOf([...queuedBySender(pool, emptyWorld).values()].flat())).toEqual([3n, 4n])
    expect(nextNonce(pool, emptyWorld, ALICE)).toBe(2n)
    expect(nextNonce(pool, emptyWorld, BOB)).toBe(0n)
  })

  it('replaces a transaction by one with the same sender and nonce', () => {
    const [old, replacement] = [transaction(ALICE, 0n, 1n), transaction(ALICE, 0n, 2n)]
    const pool = poolOf(old, replacement)
    expect(pool.size).toBe(1)
    expect(pool.byHash.get(old.hash)).toBeUndefined()
    expect(pooledByNonce(pool, ALICE, 0n)?.transaction).toBe(replacement)
  })

  it('is unchanged when an absent transaction is removed', () => {
    const pool = poolOf(transaction(ALICE, 0n))
    expect(withoutTransaction(pool, transaction(BOB, 0n))).toBe(pool)
    expect(withoutTransaction(pool, transaction(ALICE, 0n, 5n))).toBe(pool)
  })

  it('lists stale transactions once a nonce is used', () => {
    const world = withNonce(emptyWorld, ALICE, 2n)
    const pool = poolOf(...[0n, 1n, 2n].map((nonce) => transaction(ALICE, nonce)))
    expect(noncesOf(pooledInOrder(withoutStale(pool, world, [ALICE])))).toEqual([2n])
    expect(noncesOf(pendingOf(pool, world))).toEqual([2n])
  })

  it('lists transactions since an arrival', () => {
    const before = poolOf(transaction(ALICE, 5n), transaction(BOB, 0n))
    const after = [transaction(ALICE, 0n), transaction(BOB, 1n)].reduce(
      (pool, each) => withTransaction(pool, each),
      before,
    )
    expect(noncesOf(arrivedAfter(after, before.lastArrival))).toEqual([0n, 1n])
  })

  it('finds the next nonce as a naive search does, after any changes', () => {
    const step = fc.record({ nonce: fc.bigInt(0n, 12n), isPut: fc.boolean() })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.bigInt(0n, 12n), (steps, start) => {
        const naive = new Set<bigint>()
        let pool = emptyPool
        for (const { nonce, isPut } of steps) {
          const change = isPut ? withTransaction : withoutTransaction
          pool = change(pool, transaction(ALICE, nonce))
          if (isPut) naive.add(nonce)
          else naive.delete(nonce)
        }
        let expected = start
        while (naive.has(expected)) expected += 1n
        const world = withNonce(emptyWorld, ALICE, start)
        expect(nextNonce(pool, world, ALICE)).toBe(expected)
        expect(pool.size).toBe(naive.size)
      }),
      { seed: 4, numRuns: 300 },
    )
  })
})

describe('candidates of the pool', () => {
  it('come by tip, then by arrival, and never before earlier ones of their sender', () => {
    const cheap = transaction(ALICE, 0n, 1n)
    const dear = transaction(ALICE, 1n, 9n)
    const [bob, bobNext] = [transaction(BOB, 0n, 5n), transaction(BOB, 1n, 1n)]
    const pool = poolOf(dear, cheap, bob, bobNext)
    expect(inOrder(pool, emptyWorld, 0n)).toEqual(
      [bob, cheap, dear, bobNext].map(({ hash }) => hash),
    )
  })

  it('count the tip after the base fee, and omit those who do not pay it', () => {
    const capped = transaction(ALICE, 0n, 12n, 10n)
    const open = transaction(BOB, 0n, 100n, 5n)
    const pool = poolOf(capped, open)
    expect(inOrder(pool, emptyWorld, 0n)).toEqual([capped.hash, open.hash])
    expect(inOrder(pool, emptyWorld, 10n)).toEqual([open.hash, capped.hash])
    expect(inOrder(pool, emptyWorld, 13n)).toEqual([open.hash])
  })

  it('come in the order of a full sort', () => {
    const senders = Array.from({ length: 6 }, (_, index) =>
      parseAddress(`0x${`0${index}`.repeat(20)}`),
    )
    const entry = fc.record({ sender: fc.nat(5), price: fc.bigInt(0n, 4n) })
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 40 }), (entries) => {
        const counts = new Map<number, bigint>()
        const waiting = entries.map(({ sender, price }, arrival) => {
          const nonce = counts.get(sender) ?? 0n
          counts.set(sender, nonce + 1n)
          return {
            arrival,
            price,
            sender,
            nonce,
            made: transaction(senders[sender]!, nonce, price),
          }
        })
        const pool = poolOf(...waiting.map(({ made }) => made))
        const expected: string[] = []
        const used = new Map<number, bigint>()
        while (expected.length < waiting.length) {
          const heads = waiting.filter(({ sender, nonce }) => nonce === (used.get(sender) ?? 0n))
          heads.sort((a, b) => Number(b.price - a.price) || a.arrival - b.arrival)
          const [best] = heads
          used.set(best!.sender, best!.nonce + 1n)
          expected.push(best!.made.hash)
        }
        expect(inOrder(pool, emptyWorld, 0n)).toEqual(expected)
      }),
      { seed: 5, numRuns: 200 },
    )
  })
})

describe('removing many transactions from a pool', () => {
  const places = fc.uniqueArray(fc.tuple(fc.boolean(), fc.nat(20)), {
    selector: ([isAlice, nonce]) => `${isAlice} ${nonce}`,
    maxLength: 24,
  })

  it('leaves the same pool as removing them one by one, whether some or all', async () => {
    await fc.assert(
      fc.asyncProperty(places, fc.nat(24), async (waiting, kept) => {
        const all = waiting.map(([isAlice, nonce]) =>
          transaction(isAlice ? ALICE : BOB, BigInt(nonce)),
        )
        const pool = poolOf(...all)
        const gone = all.slice(kept)
        const rest = await withoutMany(pool, gone, () => undefined)
        const entries = gone.map((transaction) => ({ transaction }))
        expect(rest).toEqual(withoutTransactions(pool, entries))
      }),
      { seed: 14, numRuns: 500 },
    )
  })

  it('gives others their turn after each removal if some remain', async () => {
    const all = Array.from({ length: 40 }, (_, nonce) => transaction(ALICE, BigInt(nonce)))
    const pool = poolOf(...all)
    for (const [count, turns] of [
      [4, 4],
      [39, 39],
      [40, 0],
    ] as const) {
      let taken = 0
      await withoutMany(pool, all.slice(0, count), () => {
        taken += 1
        return undefined
      })
      expect({ count, taken }).toEqual({ count, taken: turns })
    }
  })
})
