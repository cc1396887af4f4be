// The best of what waits, block after block: the same as looking at everything anew, for less.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { keccakHash } from '../../../../src/core/crypto/crypto.ts'
import { type Address, EMPTY_BYTES, type Hash } from '../../../../src/core/hex.ts'
import { mineWaiting } from '../../../../src/node/mining/miner.ts'
import { Auction, type AuctionBlock, type Source } from '../../../../src/node/pool/auction.ts'
import {
  Candidates,
  emptyPool,
  type Pool,
  withoutStale,
  withoutTransactions,
  withTransaction,
} from '../../../../src/node/pool/pool.ts'
import { sendTransaction } from '../../../../src/node/sending/send.ts'
import type { Transaction } from '../../../../src/protocol/transactions/transaction.ts'
import {
  emptyWorld,
  nonceAt,
  type World,
  withCode,
  withNonce,
} from '../../../../src/state/world.ts'
import { account, NOON, testChain } from '../chains.ts'
import { addressOf } from '../records.ts'

interface Offer {
  readonly sender: number
  readonly nonce: number
  readonly cap: number
  readonly tip: number
  readonly gas: number
  /** Wei per blob gas; undefined: no blobs. */
  readonly blobFee: number | undefined
}

function transactionOf({ sender, nonce, cap, tip, gas, blobFee }: Offer): Transaction {
  const from = addressOf(sender + 1)
  const text = [sender, nonce, cap, tip, gas, blobFee].join(' ')
  return {
    type: 2,
    chainId: 33n,
    nonce: BigInt(nonce),
    gasLimit: BigInt(gas),
    maxFeePerGas: BigInt(Math.max(cap, tip)),
    maxPriorityFeePerGas: BigInt(tip),
    to: from,
    value: 0n,
    data: EMPTY_BYTES,
    accessList: [],
    authorizationList: [],
    blobs:
      blobFee === undefined
        ? undefined
        : { versionedHashes: [`0x01${'0'.repeat(62)}` as Hash], maxFeePerBlobGas: BigInt(blobFee) },
    from,
    hash: keccakHash(new TextEncoder().encode(text)),
    raw: EMPTY_BYTES,
    v: 0n,
    r: 1n,
    s: 1n,
  }
}

/** What happens in one block beside the transaction that it takes. */
interface Turn {
  readonly baseFee: number
  readonly excessBlobGas: bigint
  /** So many of the best do not fit. */
  readonly unfit: number
  /** So many of the best after those turn out to be impossible. */
  readonly impossible: number
  /** A contract that somebody's account delegates to uses up its nonce. */
  readonly creator: number | undefined
  /** An authorization uses up somebody's nonce. */
  readonly authority: number | undefined
}

const offer: fc.Arbitrary<Offer> = fc.record({
  sender: fc.nat(5),
  nonce: fc.nat(3),
  cap: fc.nat(12),
  tip: fc.nat(6),
  gas: fc.constantFrom(21_000, 50_000),
  blobFee: fc.option(fc.nat(4), { nil: undefined, freq: 3 }),
})

const turn: fc.Arbitrary<Turn> = fc.record({
  baseFee: fc.nat(10),
  excessBlobGas: fc.constantFrom(0n, 5_000_000n, 10_000_000n),
  unfit: fc.constantFrom(0, 0, 0, 1, 2),
  impossible: fc.constantFrom(0, 0, 0, 1),
  creator: fc.option(fc.nat(5), { nil: undefined, freq: 2 }),
  authority: fc.option(fc.nat(5), { nil: undefined, freq: 2 }),
})

/** Senders with even numbers have code, as accounts that delegate. */
function startWorld(): World {
  return [0, 2, 4].reduce(
    (world, sender) => withCode(world, addressOf(sender + 1), Uint8Array.of(0xef)),
    emptyWorld,
  )
}

/** Takes one transaction a block, as instant mining does. @returns what was taken or dropped, in order */
function taken(
  pool: Pool,
  turns: readonly Turn[],
  sourceOf: (next: AuctionBlock) => Source,
): string[] {
  const events: string[] = []
  let world = startWorld()
  let rest = pool
  let used: Address[] = []
  for (const { baseFee, excessBlobGas, unfit, impossible, creator, authority } of turns) {
    const prices = { baseFee: BigInt(baseFee), excessBlobGas, hardfork: 'cancun' } as const
    const source = sourceOf({ pool: rest, world, block: prices, used })
    const gone: Transaction[] = []
    used = []
    let tried = 0
    while (source.best !== undefined) {
      const best = source.best
      if (best.gasLimit > 30_000n) {
        source.skip()
        continue
      }
      tried += 1
      if (tried <= unfit) source.skip()
      else if (tried <= unfit + impossible) {
        events.push(`dropped ${best.hash}`)
        gone.push(best)
        source.skip()
      } else {
        events.push(`mined ${best.hash}`)
        gone.push(best)
        world = withNonce(world, best.from, best.nonce + 1n)
        used.push(best.from)
        source.advance()
        break
      }
    }
    const raise = (sender: number): void => {
      const address = addressOf(sender + 1)
      world = withNonce(world, address, nonceAt(world, address) + 1n)
    }
    if (creator !== undefined && creator % 2 === 0) raise(creator)
    if (authority !== undefined) {
      raise(authority)
      used.push(addressOf(authority + 1))
    }
    const entries = gone.map((transaction) => ({ transaction }))
    rest = withoutStale(withoutTransactions(rest, entries), world, used)
  }
  return events
}

function kept(): (next: AuctionBlock) => Source {
  let auction: Auction | undefined
  return (next) => {
    auction = auction?.opened(next) ?? new Auction(next)
    return auction
  }
}

const anew = ({ pool, world, block }: AuctionBlock): Source => new Candidates(pool, world, block)

describe('an auction', () => {
  it('fills each block as a new look at the whole pool would', () => {
    fc.assert(
      fc.property(
        fc.array(offer, { maxLength: 24 }),
        fc.array(turn, { minLength: 1, maxLength: 16 }),
        (offers, turns) => {
          const pool = offers
            .map(transactionOf)
            .reduce((pool, each) => withTransaction(pool, each), emptyPool)
          expect(taken(pool, turns, kept())).toEqual(taken(pool, turns, anew))
        },
      ),
      { seed: 14, numRuns: 2_000 },
    )
  })

  it('looks at few waiting transactions for each block', () => {
    const senders = 1_000
    let lookups = 0
    const counted = (pool: Pool): Pool => {
      const { bySender } = pool
      const get: typeof bySender.get = (key) => {
        lookups += 1
        return bySender.get(key)
      }
      const entries = (): ReturnType<typeof bySender.entries> => bySender.entries()
      return { ...pool, bySender: Object.assign(Object.create(bySender), { get, entries }) }
    }
    const offers = Array.from({ length: senders }, (_, sender) =>
      transactionOf({ sender, nonce: 0, cap: 9, tip: sender % 7, gas: 21_000, blobFee: undefined }),
    )
    let rest = offers.reduce((pool, each) => withTransaction(pool, each), emptyPool)
    const sourceOf = kept()
    let world = emptyWorld
    let used: Address[] = []
    for (let block = 0; block < senders; block++) {
      const prices = { baseFee: BigInt(block % 9), excessBlobGas: 0n, hardfork: 'cancun' } as const
      const source = sourceOf({
        pool: counted(rest),
        world,
        block: prices,
        used,
      })
      const best = source.best!
      source.advance()
      world = withNonce(world, best.from, 1n)
      used = [best.from]
      rest = withoutTransactions(rest, [{ transaction: best }])
    }
    expect(rest.size).toBe(0)
    expect(lookups).toBeLessThan(3 * senders)
  })
})

describe('mining the whole pool', () => {
  it('takes the highest tip at the base fee of each block, then the oldest', async () => {
    const chain = await testChain({ noMining: true, baseFee: 1_000n, accounts: 6 })
    const tips = [3n, 9n, 3n, 5n, 9n, 1n]
    for (const [index, maxPriorityFeePerGas] of tips.entries()) {
      const from = account(chain, index)
      for (const more of [0n, 1n]) {
        await sendTransaction(chain, {
          from,
          to: from,
          maxFeePerGas: 2_000n,
          maxPriorityFeePerGas: maxPriorityFeePerGas + more,
        })
      }
    }
    const { state } = await mineWaiting(chain.executor, chain.state, NOON)
    const order = [...state.tree.canonical.values(1)].map(({ block }) =>
      block.transactions.map(({ from, nonce }) => `${from} ${nonce}`),
    )
    const at = (index: number, nonce: number): string[] => [`${account(chain, index)} ${nonce}`]
    expect(order).toEqual([
      at(1, 0),
      at(1, 1),
      at(4, 0),
      at(4, 1),
      at(3, 0),
      at(3, 1),
      at(0, 0),
      at(0, 1),
      at(2, 0),
      at(2, 1),
      at(5, 0),
      at(5, 1),
    ])
  })

  it('leaves transactions with a nonce gap in the pool, and none that was mined', async () => {
    const chain = await testChain({ noMining: true, accounts: 6 })
    const senders = [0, 1, 2, 3, 4, 5].map((index) => account(chain, index))
    for (const from of senders) await sendTransaction(chain, { from, to: from })
    const [first, second] = senders
    for (const from of [first!, second!])
      await sendTransaction(chain, { from, to: from, nonce: 2n })
    const before = chain.state.pool
    const { state } = await mineWaiting(chain.executor, chain.state, NOON)
    const records = [...state.tree.canonical.values(1)]
    expect(records).toHaveLength(6)
    const mined = records.flatMap(({ executed }) => executed)
    expect(state.pool).toEqual(withoutTransactions(before, mined))
    expect(state.pool.size).toBe(2)
  })
})
