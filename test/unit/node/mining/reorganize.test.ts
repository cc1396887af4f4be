// Branches, uncles and reorganizations: what must hold of a chain whatever was done to it, and what each command does.
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { concatBytes, type Hash } from '../../../../src/core/hex.ts'
import type { Chain } from '../../../../src/node/chain/chain.ts'
import type { ChainOptions } from '../../../../src/node/chainoptions.ts'
import { mine } from '../../../../src/node/commands/mine.ts'
import { stopMining } from '../../../../src/node/commands/miningmode.ts'
import { revertTo, takeSnapshot } from '../../../../src/node/commands/snapshots.ts'
import { increaseTime } from '../../../../src/node/commands/time.ts'
import type { BlockRecord } from '../../../../src/node/ledger/blockrecord.ts'
import {
  type BlockTree,
  blockByHash,
  blockByNumber,
  headOf,
  isCanonical,
  SIDE_LIMIT,
  transactionPlace,
  truncateTo,
} from '../../../../src/node/ledger/blocktree.ts'
import type { ChainState } from '../../../../src/node/ledger/chainstate.ts'
import { filledBlock, pendingRecord } from '../../../../src/node/mining/miner.ts'
import { adopt, type Reorganized, reorganize } from '../../../../src/node/mining/reorganize.ts'
import { pooledInOrder } from '../../../../src/node/pool/pool.ts'
import { sendRawTransaction } from '../../../../src/node/sending/send.ts'
import { encodeBlock } from '../../../../src/protocol/blocks/block.ts'
import { hashHeader, unclesHash } from '../../../../src/protocol/blocks/header.ts'
import type { Transaction } from '../../../../src/protocol/transactions/transaction.ts'
import { balanceAt, nonceAt, storageAt } from '../../../../src/state/world.ts'
import { assemble } from '../../../support/evm/bytecode.ts'
import { account, height, signed, testChain } from '../chains.ts'
import { addressOf } from '../records.ts'

async function mineBlocks(chain: Chain, blocks = 1): Promise<readonly BlockRecord[]> {
  const now = chain.environment.now()
  return [
    ...(await chain.update((state) =>
      mine(chain.executor, state, { now, blocks: BigInt(blocks) }),
    )),
  ]
}

function reorg(
  chain: Chain,
  depth: number,
  blocks: readonly (readonly Transaction[])[],
  requeue = true,
): Promise<Reorganized> {
  const makers = blocks.map((each) => each.map((transaction) => () => transaction))
  const now = chain.environment.now()
  return chain.update((state) =>
    reorganize(chain.executor, state, { depth: BigInt(depth), blocks: makers, requeue, now }),
  )
}

/** A block on `state` that no other is equal to. */
async function siblingOn(chain: Chain, state: ChainState, salt: number): Promise<BlockRecord> {
  const settings = { ...state.settings, coinbase: addressOf(salt) }
  const now = chain.environment.now()
  const filled = await filledBlock(chain.executor, { ...state, settings }, { now })
  return pendingRecord(chain.executor, filled)
}

function head(chain: Chain): BlockRecord {
  return headOf(chain.state.tree)
}

function hashesOf(records: readonly BlockRecord[]): Hash[] {
  return records.map(({ block }) => block.hash)
}

/** Hashes of the uncles of the canonical block of a number. */
function unclesAt(chain: Chain, number: bigint): Hash[] {
  return blockByNumber(chain.state.tree, number)!.block.uncles.map(hashHeader)
}

describe('an uncle', () => {
  test('is included by the next block, counts its weight, and is used once', async () => {
    const chain = await testChain({ difficulty: 5n })
    const before = chain.state
    await mineBlocks(chain, 2)
    const sibling = await siblingOn(chain, before, 7)
    await chain.update((state) => adopt(state, [sibling]))
    expect(height(chain)).toBe(2n)
    expect(blockByHash(chain.state.tree, sibling.block.hash)).toBe(sibling)
    await mineBlocks(chain, 2)
    expect(unclesAt(chain, 3n)).toEqual([sibling.block.hash])
    expect(unclesAt(chain, 4n)).toEqual([])
    const { block, totalDifficulty } = blockByNumber(chain.state.tree, 3n)!
    expect(block.header.sha3Uncles).toBe(unclesHash([sibling.block.header]))
    expect(totalDifficulty).toBe(5n * 5n)
  })

  test('is one of at most two per block; others come with the next', async () => {
    const chain = await testChain()
    const before = chain.state
    await mineBlocks(chain)
    const siblings = await Promise.all([1, 2, 3].map((salt) => siblingOn(chain, before, salt)))
    for (const sibling of siblings) await chain.update((state) => adopt(state, [sibling]))
    await mineBlocks(chain, 2)
    expect(unclesAt(chain, 2n)).toEqual(hashesOf(siblings.slice(0, 2)))
    expect(unclesAt(chain, 3n)).toEqual(hashesOf(siblings.slice(2)))
  })

  test.each([
    { maxUncles: 0, included: 0 },
    { maxUncles: 1, included: 1 },
    { maxUncles: 10, included: 3 },
  ])('is one of as many as maxUncles allows: $maxUncles', async ({ maxUncles, included }) => {
    const chain = await testChain({ maxUncles })
    const before = chain.state
    await mineBlocks(chain)
    for (const salt of [1, 2, 3]) {
      const sibling = await siblingOn(chain, before, salt)
      await chain.update((state) => adopt(state, [sibling]))
    }
    await mineBlocks(chain)
    expect(unclesAt(chain, 2n)).toHaveLength(included)
  })

  test.each([
    { blocks: 6, included: 1 },
    { blocks: 7, included: 0 },
  ])(
    'has a parent within seven generations: $blocks blocks later',
    async ({ blocks, included }) => {
      const chain = await testChain()
      const before = chain.state
      await mineBlocks(chain, blocks)
      const sibling = await siblingOn(chain, before, 1)
      await chain.update((state) => adopt(state, [sibling]))
      await mineBlocks(chain)
      expect(head(chain).block.uncles).toHaveLength(included)
    },
  )

  test('is no child of a side block', async () => {
    const chain = await testChain()
    const before = chain.state
    await mineBlocks(chain, 3)
    const sibling = await siblingOn(chain, before, 1)
    const nephew = await siblingOn(chain, adopt(before, [sibling]).state, 1)
    await chain.update((state) => adopt(state, [sibling]))
    await chain.update((state) => adopt(state, [nephew]))
    await mineBlocks(chain, 2)
    expect(unclesAt(chain, 4n)).toEqual([sibling.block.hash])
    expect(unclesAt(chain, 5n)).toEqual([])
  })

  test('is shown in the block that would be mined', async () => {
    const chain = await testChain()
    const before = chain.state
    await mineBlocks(chain)
    const sibling = await siblingOn(chain, before, 1)
    await chain.update((state) => adopt(state, [sibling]))
    const pending = await chain.pending()
    expect(pending.block.uncles.map(hashHeader)).toEqual([sibling.block.hash])
  })
})

describe('a block on another branch', () => {
  test('of the same weight does not replace the first seen', async () => {
    const chain = await testChain()
    const before = chain.state
    await mineBlocks(chain)
    const first = head(chain)
    const sibling = await siblingOn(chain, before, 1)
    await chain.update((state) => adopt(state, [sibling]))
    expect(head(chain)).toBe(first)
  })

  test('that is heavier becomes the head, and transactions of the old head wait again', async () => {
    const chain = await testChain()
    const before = chain.state
    await sendRawTransaction(chain, signed(chain).raw)
    await mineBlocks(chain)
    const heavy = { ...before, settings: { ...before.settings, difficulty: 3n } }
    const sibling = await siblingOn(chain, heavy, 1)
    await chain.update((state) => adopt(state, [sibling]))
    expect(head(chain)).toBe(sibling)
    expect(pooledInOrder(chain.state.pool).map(({ transaction }) => transaction.hash)).toEqual([
      signed(chain).hash,
    ])
    expect(transactionPlace(chain.state.tree, signed(chain).hash)).toBeUndefined()
  })

  test('that is known already changes nothing', async () => {
    const chain = await testChain()
    const [record] = await mineBlocks(chain)
    const { tree } = chain.state
    await chain.update((state) => adopt(state, [record!]))
    expect(chain.state.tree).toBe(tree)
  })

  test('is forgotten when too many newer ones are known', async () => {
    const chain = await testChain()
    await mineBlocks(chain, SIDE_LIMIT + 2)
    const { tree } = chain.state
    const cut = truncateTo(tree, 0n)
    expect(cut.side.records).toHaveLength(SIDE_LIMIT)
    const isKnown = (number: bigint): boolean =>
      blockByHash(cut, blockByNumber(tree, number)!.block.hash) !== undefined
    expect([1n, 2n, 3n, 4n].map(isKnown)).toEqual([false, false, true, true])
  })
})

describe('a reorg', () => {
  test('replaces the newest blocks with heavier ones of the same times', async () => {
    const chain = await testChain()
    await mineBlocks(chain, 5)
    const before = [...chain.state.tree.canonical.values()]
    const { removed, added } = await reorg(chain, 3, [[], [], []])
    const after = [...chain.state.tree.canonical.values()]
    expect([...removed]).toEqual(before.slice(3).reverse())
    expect([...added]).toEqual(after.slice(3))
    expect(after.slice(0, 3)).toEqual(before.slice(0, 3))
    const times = (records: BlockRecord[]): bigint[] =>
      records.map(({ block }) => block.header.timestamp)
    expect(times(after)).toEqual(times(before))
    expect(new Set(hashesOf([...before, ...after])).size).toBe(before.length + 3)
    expect(after.at(-1)!.totalDifficulty).toBeGreaterThan(before.at(-1)!.totalDifficulty)
  })

  test('keeps times that are equal, whatever the clock says', async () => {
    const chain = await testChain({ sameTimestamp: true })
    await mineBlocks(chain, 3)
    const times = (): bigint[] =>
      [...chain.state.tree.canonical.values()].map(({ block }) => block.header.timestamp)
    const before = times()
    expect(new Set(before).size).toBe(1)
    await chain.update((state) => increaseTime(state, 1_000n, chain.environment.now()))
    await reorg(chain, 2, [[], []])
    expect(times()).toEqual(before)
  })

  test('by fewer blocks still makes a heavier branch', async () => {
    const chain = await testChain({ maxUncles: 0 })
    await mineBlocks(chain, 5)
    const { totalDifficulty } = head(chain)
    await reorg(chain, 4, [[]])
    expect(height(chain)).toBe(2n)
    expect(head(chain).totalDifficulty).toBe(totalDifficulty + 1n)
  })

  test('by more blocks that are heavier anyway does not change their difficulty', async () => {
    const chain = await testChain({ difficulty: 4n })
    await mineBlocks(chain, 2)
    await reorg(chain, 1, [[], []])
    expect(head(chain).block.header.difficulty).toBe(4n)
  })

  test('without blocks shortens the chain; the next blocks are new, with the old as uncle', async () => {
    const chain = await testChain()
    await mineBlocks(chain, 3)
    const old = blockByNumber(chain.state.tree, 2n)!
    await reorg(chain, 2, [])
    expect(height(chain)).toBe(1n)
    await mineBlocks(chain, 2)
    expect(blockByNumber(chain.state.tree, 2n)!.block.hash).not.toBe(old.block.hash)
    expect(unclesAt(chain, 3n)).toEqual([old.block.hash])
  })

  test('creates the same blocks in each run', async () => {
    const run = async (): Promise<Hash> => {
      const chain = await testChain({ clock: { kind: 'frozen' } })
      await mineBlocks(chain, 4)
      await reorg(chain, 2, [[signed(chain)], [], []])
      await mineBlocks(chain)
      return head(chain).block.hash
    }
    expect(await run()).toBe(await run())
  })

  test('changes what BLOCKHASH returns to the new branch only', async () => {
    const chain = await testChain()
    await mineBlocks(chain, 4)
    const old = hashesOf([2n, 3n].map((number) => blockByNumber(chain.state.tree, number)!))
    // the constructor keeps the hashes of the two blocks before its own
    const data = assemble('1 NUMBER SUB BLOCKHASH 1 SSTORE 2 NUMBER SUB BLOCKHASH 2 SSTORE STOP')
    await reorg(chain, 3, [[], [], [signed(chain, { to: null, data, gasLimit: 200_000n })]])
    const { world, executed } = head(chain)
    const created = executed[0]!.receipt.contractAddress!
    const seen = [2n, 1n].map((slot) => storageAt(world, created, slot))
    const hashes = hashesOf([2n, 3n].map((number) => blockByNumber(chain.state.tree, number)!))
    expect(seen).toEqual(hashes.map(BigInt))
    expect(hashes).not.toEqual(old)
  })

  test('returns mined transactions to the pool, before waiting ones, until the next block', async () => {
    const chain = await testChain()
    const mined = [signed(chain), signed(chain, { nonce: 1n })]
    for (const { raw } of mined) await sendRawTransaction(chain, raw)
    await chain.update(stopMining)
    const waiting = signed(chain, { index: 1 })
    await sendRawTransaction(chain, waiting.raw)
    const { requeued } = await reorg(chain, 2, [[], []])
    expect(requeued).toEqual(mined)
    await mineBlocks(chain)
    expect(head(chain).block.transactions).toEqual([...mined, waiting])
  })

  test('drops mined transactions on request; later nonces wait for the gap', async () => {
    const chain = await testChain()
    await sendRawTransaction(chain, signed(chain).raw)
    await chain.update(stopMining)
    await sendRawTransaction(chain, signed(chain, { nonce: 1n }).raw)
    expect((await reorg(chain, 1, [[]], false)).requeued).toEqual([])
    await mineBlocks(chain)
    expect(head(chain).block.transactions).toEqual([])
    expect(chain.state.pool.size).toBe(1)
  })

  test('mines the given transactions in order; one with a used nonce does not wait', async () => {
    const chain = await testChain()
    await sendRawTransaction(chain, signed(chain).raw)
    const rival = signed(chain, { value: 2n })
    const other = signed(chain, { index: 1 })
    const { requeued } = await reorg(chain, 1, [[other, rival]])
    expect(head(chain).block.transactions).toEqual([other, rival])
    expect(requeued).toEqual([])
    expect(chain.state.pool.size).toBe(0)
  })

  test('removes given and impossible transactions from the pool', async () => {
    const chain = await testChain({ noMining: true })
    await mineBlocks(chain)
    await sendRawTransaction(chain, signed(chain).raw)
    await sendRawTransaction(chain, signed(chain, { index: 1 }).raw)
    await reorg(chain, 1, [[signed(chain), signed(chain, { index: 1, value: 5n })]])
    expect(chain.state.pool.size).toBe(0)
  })

  test('does not use up settings for the next block alone', async () => {
    const chain = await testChain()
    await mineBlocks(chain, 2)
    const { clock, settings } = chain.state
    const nextTimestamp = head(chain).block.header.timestamp + 1000n
    await chain.update((state) => ({
      state: {
        ...state,
        clock: { ...clock, nextTimestamp },
        settings: { ...settings, nextBaseFee: 7n },
      },
      value: undefined,
    }))
    await reorg(chain, 1, [[]])
    expect(head(chain).block.header.baseFeePerGas).toBe(0n)
    await mineBlocks(chain)
    expect(head(chain).block.header).toMatchObject({ timestamp: nextTimestamp, baseFeePerGas: 7n })
  })

  const unchanged = async (
    chain: Chain,
    attempt: Promise<unknown>,
    words: RegExp,
  ): Promise<void> => {
    const { state } = chain
    await expect(attempt).rejects.toThrow(words)
    expect(chain.state).toBe(state)
  }

  test.each([0, 3, 4])('of %i of 2 blocks is refused', async (depth) => {
    const chain = await testChain()
    await mineBlocks(chain, 2)
    await unchanged(
      chain,
      reorg(chain, depth, []),
      /^depth: cannot replace the newest \d blocks: expected 1 to 2$/,
    )
  })

  test('of the genesis is refused', async () => {
    const chain = await testChain()
    await unchanged(chain, reorg(chain, 1, []), /there is only the genesis/)
  })

  test('by a block whose transactions cannot be in it is refused as a whole', async () => {
    const chain = await testChain({ gasLimit: 30_000n })
    await mineBlocks(chain, 2)
    const later = signed(chain, { nonce: 1n })
    await unchanged(chain, reorg(chain, 2, [[], [later]]), /^nonce too high/)
    await unchanged(chain, reorg(chain, 2, [[signed(chain), later]]), /^exceeds block gas limit/)
  })
})

// what must hold whatever was done

const ACCOUNTS = 3

type Command =
  | { readonly kind: 'send'; readonly from: number; readonly value: number }
  | { readonly kind: 'mine'; readonly blocks: number }
  | {
      readonly kind: 'reorg'
      readonly depth: number
      readonly blocks: number
      readonly again: boolean
      readonly requeue: boolean
    }
  | { readonly kind: 'sibling'; readonly age: number; readonly difficulty: number }
  | { readonly kind: 'snapshot' }
  | { readonly kind: 'revert'; readonly id: number }

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      from: fc.nat(ACCOUNTS - 1),
      value: fc.nat(40),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('mine' as const),
      blocks: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('reorg' as const),
      depth: fc.integer({ min: 1, max: 5 }),
      blocks: fc.nat(5),
      again: fc.boolean(),
      requeue: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('sibling' as const),
      age: fc.nat(9),
      difficulty: fc.constantFrom(1, 1, 1, 2, 5),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('snapshot' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('revert' as const),
      id: fc.integer({ min: 1, max: 3 }),
    }),
  },
)

/** What a run has seen, for commands that go back to it and for the checks at the end. */
interface Seen {
  readonly states: ChainState[]
  readonly transactions: Transaction[]
  salt: number
}

async function run(chain: Chain, seen: Seen, each: Command): Promise<void> {
  const { state } = chain
  switch (each.kind) {
    case 'send': {
      const waiting = pooledInOrder(state.pool).filter(
        ({ transaction }) => transaction.from === account(chain, each.from),
      )
      const nonce = nonceAt(headOf(state.tree).world, account(chain, each.from))
      const transaction = signed(chain, {
        index: each.from,
        to: account(chain, (each.from + 1) % ACCOUNTS),
        value: BigInt(each.value),
        nonce: nonce + BigInt(waiting.length),
      })
      // one that waits behind a gap may have the same nonce
      const isFree = waiting.every((other) => other.transaction.nonce !== transaction.nonce)
      if (!isFree || transactionPlace(state.tree, transaction.hash) !== undefined) return
      await sendRawTransaction(chain, transaction.raw)
      seen.transactions.push(transaction)
      return
    }
    case 'mine':
      await mineBlocks(chain, each.blocks)
      return
    case 'reorg':
      await checkedReorg(chain, each)
      return
    case 'sibling': {
      const old = seen.states.at(-1 - each.age) ?? state
      if (blockByHash(state.tree, headOf(old.tree).block.hash) !== headOf(old.tree)) return
      seen.salt += 1
      const settings = { ...old.settings, difficulty: BigInt(each.difficulty) }
      const record = await siblingOn(chain, { ...old, settings }, seen.salt)
      await chain.update((current) => adopt(current, [record]))
      const { block, totalDifficulty } = headOf(state.tree)
      const difference = record.totalDifficulty - totalDifficulty
      const isLonger = record.block.header.number > block.header.number
      const wins = difference > 0n || (difference === 0n && isLonger)
      expect(head(chain)).toBe(wins ? record : headOf(state.tree))
      return
    }
    case 'snapshot':
      await chain.update(takeSnapshot)
      return
    case 'revert':
      await chain.update((current) => revertTo(current, each.id))
      return
  }
}

/** Reorganizes, with the abandoned transactions in the first new block on request, and checks where each went. */
async function checkedReorg(
  chain: Chain,
  { depth, blocks, again, requeue }: Extract<Command, { readonly kind: 'reorg' }>,
): Promise<void> {
  const { state } = chain
  const number = Number(height(chain))
  if (number === 0) return
  const deep = Math.min(depth, number)
  const abandoned = [...state.tree.canonical.values(number + 1 - deep)].flatMap(
    ({ block }) => block.transactions,
  )
  const given = Array.from({ length: blocks }, (_, i) => (again && i === 0 ? abandoned : []))
  await reorg(chain, deep, given, requeue)
  expect(height(chain)).toBe(BigInt(number - deep + blocks))
  if (blocks > 0)
    expect(head(chain).totalDifficulty).toBeGreaterThan(headOf(state.tree).totalDifficulty)
  const isMined = again && blocks > 0
  for (const { hash } of abandoned) {
    expect(transactionPlace(chain.state.tree, hash) !== undefined).toBe(isMined)
    expect(chain.state.pool.byHash.has(hash)).toBe(!isMined && requeue)
  }
}

function checkTree(tree: BlockTree, maxUncles: number): void {
  const records = [...tree.canonical.values()]
  const used = new Set<Hash>()
  records.forEach(({ block, totalDifficulty }, index) => {
    const parent = records[index - 1]
    expect(block.header.number).toBe(BigInt(index))
    expect(block.hash).toBe(hashHeader(block.header))
    expect(block.header.sha3Uncles).toBe(unclesHash(block.uncles))
    expect(block.uncles.length).toBeLessThanOrEqual(maxUncles)
    if (parent === undefined) return
    expect(block.header.parentHash).toBe(parent.block.hash)
    expect(block.header.timestamp).toBeGreaterThan(parent.block.header.timestamp)
    const weight = block.uncles.reduce(
      (sum, each) => sum + each.difficulty,
      block.header.difficulty,
    )
    expect(totalDifficulty).toBe(parent.totalDifficulty + weight)
    for (const uncle of block.uncles) {
      const hash = hashHeader(uncle)
      const age = index - Number(uncle.number)
      expect(age).toBeGreaterThanOrEqual(1)
      expect(age).toBeLessThanOrEqual(6)
      expect(records[Number(uncle.number) - 1]!.block.hash).toBe(uncle.parentHash)
      expect(records[Number(uncle.number)]!.block.hash).not.toBe(hash)
      expect(used.has(hash)).toBe(false)
      used.add(hash)
    }
  })
  for (const record of tree.side.records) {
    expect(isCanonical(tree, record)).toBe(false)
    expect(blockByHash(tree, record.block.hash)).toBe(record)
  }
  // all but the genesis
  expect(tree.byHash.size).toBe(records.length - 1 + tree.side.records.length)
}

/** Transactions are found exactly where they are, and money moved as the canonical ones say. */
function checkTransactions(chain: Chain, { transactions }: Seen): void {
  const { tree, pool } = chain.state
  const records = [...tree.canonical.values()]
  const mined = new Map(
    records.flatMap((record) =>
      record.block.transactions.map(({ hash }, index) => [hash, { record, index }] as const),
    ),
  )
  expect(tree.places.size).toBe(mined.size)
  for (const { hash } of transactions) {
    expect(transactionPlace(tree, hash)).toEqual(mined.get(hash))
    if (mined.has(hash)) expect(pool.byHash.has(hash)).toBe(false)
  }
  const balances = Array.from({ length: ACCOUNTS }, () => 100n)
  const nonces = Array.from({ length: ACCOUNTS }, () => 0n)
  for (const { block } of records) {
    for (const { from, value, nonce } of block.transactions) {
      const index = balances.findIndex((_, i) => account(chain, i) === from)
      expect(nonce).toBe(nonces[index])
      nonces[index]! += 1n
      balances[index]! -= value
      balances[(index + 1) % ACCOUNTS]! += value
    }
  }
  const { world } = headOf(tree)
  expect(balances.map((_, i) => balanceAt(world, account(chain, i)))).toEqual(balances)
}

/** Another chain takes its blocks for valid, and comes to the same end. */
async function checkImport(chain: Chain, options: ChainOptions): Promise<void> {
  const blocks = [...chain.state.tree.canonical.values()].map(({ block }) => encodeBlock(block))
  const again = await testChain({ ...options, blocks: concatBytes(...blocks) })
  expect(head(again).block.hash).toBe(head(chain).block.hash)
  expect(head(again).totalDifficulty).toBe(head(chain).totalDifficulty)
  again.close()
}

it('a chain keeps its invariants through any reorgs', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(command, { minLength: 5, maxLength: 40, size: 'max' }),
      async (commands) => {
        const options: ChainOptions = {
          accounts: ACCOUNTS,
          balance: 100n,
          noMining: true,
        }
        const chain = await testChain(options)
        const seen: Seen = { states: [chain.state], transactions: [], salt: 0 }
        for (const each of commands) {
          await run(chain, seen, each).catch((error: unknown) => {
            // what an account cannot afford is refused, whichever way it was to be mined
            if (!/^insufficient funds/.test(String((error as Error).message))) throw error
          })
          seen.states.push(chain.state)
          checkTree(chain.state.tree, 2)
          checkTransactions(chain, seen)
        }
        await checkImport(chain, options)
        chain.close()
      },
    ),
    { seed: 20_261_207, numRuns: 60 },
  )
})
