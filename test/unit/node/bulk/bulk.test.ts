// Mining many blocks at once: the same chain as mining them one by one, in other memory.
import fc from 'fast-check'
import { afterEach, describe, expect, it, test, vi } from 'vitest'
import type { Address } from '../../../../src/core/hex.ts'
import { yielder } from '../../../../src/core/yield.ts'
import { bulkMining } from '../../../../src/node/bulk/bulk.ts'
import { RunMiner } from '../../../../src/node/bulk/runminer.ts'
import type { Chain } from '../../../../src/node/chain/chain.ts'
import type { ChainOptions } from '../../../../src/node/chainoptions.ts'
import { editWorld } from '../../../../src/node/cheats/edit.ts'
import { mine } from '../../../../src/node/commands/mine.ts'
import { changeSettings } from '../../../../src/node/commands/settings.ts'
import { revertTo, takeSnapshot } from '../../../../src/node/commands/snapshots.ts'
import { increaseTime, setNextTimestamp, setTime } from '../../../../src/node/commands/time.ts'
import { queryLogs } from '../../../../src/node/events/logs.ts'
import type { BlockRecord } from '../../../../src/node/ledger/blockrecord.ts'
import {
  blockByHash,
  blockByNumber,
  hashByNumber,
  headOf,
  isCanonical,
} from '../../../../src/node/ledger/blocktree.ts'
import { alikeBlocks } from '../../../../src/node/mining/emptyblocks.ts'
import { mineBlock } from '../../../../src/node/mining/miner.ts'
import { reorganize } from '../../../../src/node/mining/reorganize.ts'
import { sendRawTransaction } from '../../../../src/node/sending/send.ts'
import { sealBlock } from '../../../../src/protocol/blocks/block.ts'
import { hashHeader } from '../../../../src/protocol/blocks/header.ts'
import { BEACON_ROOTS, HISTORY_STORAGE } from '../../../../src/state/predeploys.ts'
import { nonceAt, stateRoot, storageAt, withStorage } from '../../../../src/state/world.ts'
import { countTurns, slowClock } from '../../../support/waiting/turns.ts'
import { account, NOON, signed, testChain } from '../chains.ts'

function mineBlocks(chain: Chain, blocks: number, interval?: bigint): Promise<unknown> {
  return chain.update((state) =>
    mine(chain.executor, state, {
      now: NOON,
      blocks: BigInt(blocks),
      interval,
      bulk: chain.execution.bulk,
    }),
  )
}

/** Blocks that are mined as those with transactions are: the slow twin. */
async function mineSlowly(chain: Chain, blocks: number, interval?: bigint): Promise<void> {
  for (let count = 0; count < blocks; count += 1) {
    await chain.update(async (state) => {
      const timestamp =
        interval === undefined || count === 0
          ? undefined
          : headOf(state.tree).block.header.timestamp + interval
      const mined = await mineBlock(chain.executor, state, { now: NOON, timestamp })
      return { state: mined.state, value: undefined }
    })
  }
}

/** Chains of 300 blocks that were mined slowly, each made once. */
const slowChains = new Map<ChainOptions, Promise<Chain>>()

function slowTwin(options: ChainOptions): Promise<Chain> {
  const twin = slowChains.get(options) ?? slowChain(options, 300)
  slowChains.set(options, twin)
  return twin
}

async function slowChain(options: ChainOptions, blocks: number): Promise<Chain> {
  const chain = await testChain(options)
  await mineSlowly(chain, blocks)
  return chain
}

async function expectSame(fast: Chain, slow: Chain): Promise<void> {
  const [one, other] = [fast.state.tree, slow.state.tree]
  expect(headOf(one).block).toEqual(headOf(other).block)
  expect(fast.state.clock).toEqual(slow.state.clock)
  for (const record of other.canonical.values()) {
    const { hash, header } = record.block
    const twin = blockByNumber(one, header.number)
    expect(twin?.block).toEqual(record.block)
    expect(twin?.totalDifficulty).toBe(record.totalDifficulty)
    expect(blockByHash(one, hash)?.block.header.number).toBe(header.number)
    expect(stateRoot(twin!.world)).toBe(header.stateRoot)
  }
}

const STEPS = { kind: 'step', seconds: 7n } as const

const cases: readonly (readonly [string, ChainOptions])[] = [
  ['on the newest fork', {}],
  ['on amsterdam, where each has an access list', { hardfork: 'amsterdam' }],
  ['on amsterdam with times that may be equal', { hardfork: 'amsterdam', sameTimestamp: true }],
  ['on cancun, where only the time changes', { hardfork: 'cancun' }],
  ['on london, where the world stays the same', { hardfork: 'london' }],
  ['under a fee market, until the base fee is still', { baseFee: 1_000_000n }],
  ['with a stepping clock', { clock: STEPS }],
  ['with blocks of one time', { sameTimestamp: true }],
  ['with blocks of one time and a stepping clock', { sameTimestamp: true, clock: STEPS }],
]

type Miner = (chain: Chain, blocks: number, interval?: bigint) => Promise<unknown>

type Command = (chain: Chain, miner: Miner) => Promise<unknown>

/** What may happen to a chain, with what makes an empty block unlike the one before. */
const commands: fc.Arbitrary<Command> = fc.oneof(
  { weight: 6, arbitrary: fc.nat(40).map((count): Command => mineEach(count)) },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.nat(90), fc.option(fc.bigInt(1n, 9000n), { nil: undefined })).map(
      ([count, interval]): Command =>
        (chain, miner) =>
          miner(chain, count, interval),
    ),
  },
  fc.constant<Command>(async (chain) => {
    const nonce = nonceAt(headOf(chain.state.tree).world, account(chain, 0))
    await sendRawTransaction(
      chain,
      signed(chain, { nonce, maxFeePerGas: 10n, maxPriorityFeePerGas: 10n }).raw,
    )
  }),
  fc.nat(9000).map(
    (slot): Command =>
      (chain) =>
        editSlot(chain, HISTORY_STORAGE.address, slot),
  ),
  fc.integer({ min: 8191, max: 8191 * 2 - 1 }).map(
    (slot): Command =>
      (chain) =>
        editSlot(chain, BEACON_ROOTS.address, slot),
  ),
  fc.constant<Command>((chain) => chain.update(takeSnapshot)),
  fc.nat(4).map(
    (id): Command =>
      (chain) =>
        chain.update((state) => revertTo(state, id)),
  ),
  fc.bigInt(1n, 100_000n).map(
    (seconds): Command =>
      (chain) =>
        chain.update((state) => increaseTime(state, seconds, NOON)),
  ),
  fc.bigInt(1n, 9000n).map(
    (seconds): Command =>
      (chain) =>
        chain.update((state) =>
          setNextTimestamp(state, headOf(state.tree).block.header.timestamp + seconds),
        ),
  ),
  fc.nat(3).map(
    (digit): Command =>
      (chain) =>
        chain.update((state) =>
          changeSettings(state, { coinbase: `0x${`${digit}`.repeat(40)}` as Address }),
        ),
  ),
  fc.constantFrom(5n, 0n).map(
    (fee): Command =>
      (chain) =>
        chain.update((state) => changeSettings(state, { nextBaseFee: fee })),
  ),
)

/** Blocks, each mined by a command of its own. */
function mineEach(count: number): Command {
  return async (chain, miner) => {
    for (let left = count; left > 0; left--) await miner(chain, 1)
  }
}

function editSlot(chain: Chain, address: Address, slot: number): Promise<unknown> {
  return chain.update((state) =>
    editWorld(state, (world) => withStorage(world, address, BigInt(slot), 77n)),
  )
}

describe('bulk mining', () => {
  it.each(cases)(
    'of one request makes the same blocks as mining one by one %s',
    async (_, options) => {
      const fast = await testChain(options)
      await mineBlocks(fast, 300)
      await expectSame(fast, await slowTwin(options))
    },
  )
})

describe('bulk mining over several commands', () => {
  it.each(cases)('makes the same blocks as any mining %s', async (_, options) => {
    const fast = await testChain(options)
    for (let count = 0; count < 300; count++) await mineBlocks(fast, 1)
    await expectSame(fast, await slowTwin(options))
  })

  it('leaves the state readable after each block and does not change the past', async () => {
    const chain = await testChain({})
    const slot = { address: HISTORY_STORAGE.address, at: 20n }
    for (let number = 1n; number < 700n; number++) {
      await mineBlocks(chain, 1)
      const { world, block } = headOf(chain.state.tree)
      if (number % 7n === 0n)
        expect(storageAt(world, slot.address, number - 1n)).toBe(BigInt(block.header.parentHash))
      expect(storageAt(world, slot.address, slot.at) === 0n).toBe(number <= slot.at)
    }
    for (const number of [650n, 21n, 20n, 513n, 300n]) {
      const { world, block } = blockByNumber(chain.state.tree, number)!
      expect(stateRoot(world)).toBe(block.header.stateRoot)
      expect(storageAt(world, slot.address, number)).toBe(0n)
      expect(storageAt(world, slot.address, number - 1n)).toBe(BigInt(block.header.parentHash))
    }
  })

  it('makes the same blocks whatever happens to the chain between commands', async () => {
    const several = fc.array(commands, { minLength: 5, maxLength: 25 })
    const fork = fc.constantFrom('prague', 'amsterdam')
    await fc.assert(
      fc.asyncProperty(several, fc.boolean(), fork, async (list, sameTimestamp, hardfork) => {
        const options: ChainOptions = { hardfork, sameTimestamp }
        const [fast, slow] = [await testChain(options), await testChain(options)]
        for (const command of list) {
          await Promise.all([command(fast, mineBlocks), command(slow, mineSlowly)])
          const [one, other] = [fast, slow].map(({ state }) => headOf(state.tree)) as [
            BlockRecord,
            BlockRecord,
          ]
          expect(one.block).toEqual(other.block)
          expect(one.totalDifficulty).toBe(other.totalDifficulty)
          expect(fast.state.clock).toEqual(slow.state.clock)
          expect(stateRoot(one.world)).toBe(stateRoot(other.world))
        }
      }),
      { seed: 12, numRuns: 30 },
    )
  })
})

afterEach(() => vi.restoreAllMocks())

describe('bulk mining on an interval', () => {
  /** Mines blocks as a schedule does, each after a second of wall time. @returns how many of them came from a run's miner */
  async function mineByTheClock(chain: Chain, from: number, blocks: number): Promise<number> {
    const mined = vi.spyOn(RunMiner.prototype, 'mine')
    for (let second = from; second < from + blocks; second += 1) {
      await chain.update((state, executor) =>
        mine(executor, state, { now: NOON + 1_000 * second, bulk: chain.execution.bulk }),
      )
    }
    const count = mined.mock.results.filter(({ value }) => value === 1).length
    mined.mockRestore()
    return count
  }

  it('keeps empty blocks as runs after a while, even with occasional transactions', async () => {
    const chain = await testChain({ noMining: true })
    await mineBlocks(chain, 1_000)
    for (let nonce = 0n; nonce < 3n; nonce += 1n) {
      await sendRawTransaction(chain, signed(chain, { nonce }).raw)
      const from = 2_000 + 300 * Number(nonce)
      expect(await mineByTheClock(chain, from, 200)).toBeGreaterThan(60)
    }
    expect(headOf(chain.state.tree).block.header.number).toBe(1_600n)
  })

  it('keeps runs while a transaction waits that cannot be mined, and mines it when it can', async () => {
    const chain = await testChain({ noMining: true })
    await sendRawTransaction(chain, signed(chain, { nonce: 1n }).raw)
    expect(await mineByTheClock(chain, 1, 40)).toBeGreaterThan(25)
    await sendRawTransaction(chain, signed(chain, { nonce: 3n }).raw)
    expect(await mineByTheClock(chain, 50, 10)).toBe(10)
    await sendRawTransaction(chain, signed(chain).raw)
    expect(await mineByTheClock(chain, 70, 1)).toBe(0)
    expect(headOf(chain.state.tree).block.transactions.map(({ nonce }) => nonce)).toEqual([0n, 1n])
  })

  it('releases its miner when the chain goes on without it', async () => {
    const chain = await testChain({})
    await mineBlocks(chain, 100)
    const snapshot = await chain.update(takeSnapshot)
    await sendRawTransaction(chain, signed(chain).raw)
    await chain.update((state) => revertTo(state, snapshot))
    const mined = vi.spyOn(RunMiner.prototype, 'mine')
    await mineBlocks(chain, 1)
    expect(mined).not.toHaveBeenCalled()
    mined.mockRestore()
    await expectSame(chain, await slowChain({}, 101))
  })
})

describe('a chain without bulk mining', () => {
  it('mines the same blocks one by one, and derives those of a longer run', async () => {
    const [fast, plain] = [await testChain({}), await testChain({ isPlain: true })]
    const sealed = vi.spyOn(RunMiner.prototype, 'mine')
    await mineBlocks(plain, 200, 3n)
    expect(sealed).not.toHaveBeenCalled()
    await mineBlocks(fast, 200, 3n)
    expect(sealed).toHaveBeenCalled()
    await expectSame(fast, plain)
    sealed.mockClear()
    await mineBlocks(plain, 1_000_100)
    expect(sealed).not.toHaveBeenCalled()
    sealed.mockRestore()
    await mineBlocks(fast, 1_000_100)
    expect(headOf(plain.state.tree).block).toEqual(headOf(fast.state.tree).block)
  })
})

describe('bulk mining of many blocks', () => {
  it('runs in pieces, with turns for others before, between and after', async () => {
    const chain = await testChain({})
    await mineBlocks(chain, 100)
    const events: ('turn' | number)[] = []
    const mine = vi.spyOn(RunMiner.prototype, 'mine')
    const wanted = { now: NOON, blocks: 5_000n, interval: undefined }
    const alike = alikeBlocks(chain.state, wanted)!
    const run = await bulkMining.mineRun(chain.state, alike, NOON, () => {
      events.push(...mine.mock.results.splice(0).map(({ value }) => value as number), 'turn')
      return undefined
    })
    mine.mockRestore()
    expect(run?.blocks).toBe(5_000n)
    expect(events[0]).toBe('turn')
    const pieces = events.filter((event) => event !== 'turn')
    expect(pieces.reduce((sum, blocks) => sum + blocks, 0)).toBe(5_000)
    expect(Math.max(...pieces)).toBeLessThanOrEqual(64)
    for (const [index, event] of events.entries()) {
      if (event !== 'turn') expect(events[index + 1]).toBe('turn')
    }
    expect(events.at(-1)).toBe('turn')
  })
})

describe('bulk mining of more blocks than the ring buffers of system contracts hold', () => {
  // headers become longer at 65,536, within the larger one
  it.each([
    [17_000, 12n],
    [66_000, 1n],
  ])('has the right roots and hashes: %d blocks, %d s apart', async (blocks, interval) => {
    const chain = await testChain({})
    await mineBlocks(chain, blocks, interval)
    await mineBlocks(chain, 1)
    const { tree } = chain.state
    const afterZero: number[] = []
    const wrong: number[] = []
    for (let number = 1; number <= blocks; number++) {
      const record = blockByNumber(tree, BigInt(number))!
      const { header, hash } = record.block
      const isLinked = header.parentHash === hashByNumber(tree, BigInt(number - 1))
      // to hash all of them takes seconds; around the first of 3 bytes, none is left out
      const isLeftOut = number % 7 > 0 && Math.abs(number - 65_536) > 99
      if (!isLinked || !(isLeftOut || hashHeader(header) === hash)) wrong.push(number)
      if (number > 8192 && header.parentHash.startsWith('0x00')) afterZero.push(number)
    }
    expect(wrong).toEqual([])
    expect(afterZero.length).toBeGreaterThan(10)
    const turns = [8190, 8191, 8192, 8193, 8200, 16_383, 16_384, 16_385, blocks, blocks + 1]
    const longer = [65_535, 65_536, 65_537, 65_560].filter((number) => number < blocks)
    const sampled = [
      ...turns,
      ...longer,
      ...afterZero.slice(-5).flatMap((number) => [number, number + 1]),
    ]
    for (const number of sampled) {
      const { block, world } = blockByNumber(tree, BigInt(number))!
      // that world is made slot by slot
      expect(stateRoot(world), `block ${number}`).toBe(block.header.stateRoot)
    }
  })
})

describe('a run longer than the sealed blocks', () => {
  const MANY = 1_100_000

  /** Whether a block is where it should be, seen from all sides. */
  function expectLinked({ state: { tree, config } }: Chain, number: bigint): void {
    const seconds = config.options.sameTimestamp ? 0n : 1n
    const record = blockByNumber(tree, number)!
    const parent = blockByNumber(tree, number - 1n)!
    expect(record.block.header.number).toBe(number)
    expect(record.block.header.parentHash).toBe(parent.block.hash)
    expect(record.block.header.timestamp).toBe(parent.block.header.timestamp + seconds)
    expect(record.totalDifficulty).toBe(parent.totalDifficulty + 1n)
    expect(stateRoot(record.world)).toBe(record.block.header.stateRoot)
    expect(hashByNumber(tree, number)).toBe(record.block.hash)
    expect(blockByHash(tree, record.block.hash)?.block).toEqual(record.block)
    expect(isCanonical(tree, record)).toBe(true)
  }

  function expectLinkedAll(chain: Chain): void {
    const height = BigInt(chain.state.tree.canonical.length - 1)
    const places = [1n, 2n, 1000n, height / 2n, height - 8193n, height - 8192n, height - 1n, height]
    for (const number of places) expectLinked(chain, number)
  }

  async function longChain(): Promise<Chain> {
    const chain = await testChain({})
    await mineBlocks(chain, MANY)
    return chain
  }

  function reorganized(chain: Chain, depth: number, blocks: number): Promise<unknown> {
    const request = { depth: BigInt(depth), requeue: false, now: NOON }
    const makers = Array.from({ length: blocks }, () => [])
    return chain.update((state) =>
      reorganize(chain.executor, state, { ...request, blocks: makers }),
    )
  }

  it('has blocks linked by number, hash, time and state', async () => {
    const chain = await longChain()
    expect(chain.state.tree.canonical.length).toBe(MANY + 1)
    expectLinkedAll(chain)
    expect(blockByHash(chain.state.tree, headOf(chain.state.tree).block.header.mixHash)).toBe(
      undefined,
    )
  })

  it('of blocks with one time has them linked as well', async () => {
    const chain = await testChain({ sameTimestamp: true })
    await mineBlocks(chain, 1e9)
    expectLinkedAll(chain)
  })

  it.each([
    ['among the sealed ones at the end', 100],
    ['where the sealed ones begin', 8192],
    ['among the derived ones', 500_000],
    ['at the first block', MANY],
  ])(
    'ends earlier when the head is set back %s, and the chain goes on from there',
    async (_, depth) => {
      const chain = await longChain()
      const abandoned = headOf(chain.state.tree)
      await chain.update(takeSnapshot)
      const kept = chain.state.tree
      await reorganized(chain, depth, 0)
      expect(chain.state.tree.canonical.length).toBe(MANY + 1 - depth)
      expect(isCanonical(chain.state.tree, abandoned)).toBe(false)
      await chain.update((state) =>
        setTime(state, headOf(state.tree).block.header.timestamp + 1n, NOON),
      )
      await mineBlocks(chain, 300, 1n)
      expect(chain.state.tree.canonical.length).toBe(MANY + 301 - depth)
      expectLinked(chain, BigInt(MANY + 300 - depth))
      expectLinked(chain, BigInt(MANY + 1 - depth))
      await chain.update((state) => revertTo(state, 1))
      expect(chain.state.tree).toBe(kept)
      expectLinkedAll(chain)
    },
  )

  it('is replaced by a heavier branch that forks inside its derived blocks', async () => {
    const chain = await longChain()
    await reorganized(chain, 9000, 3)
    const { tree } = chain.state
    expect(tree.canonical.length).toBe(MANY + 1 - 9000 + 3)
    expect(headOf(tree).totalDifficulty).toBe(BigInt(MANY + 2))
    expect(headOf(tree).block.header.parentHash).toBe(hashByNumber(tree, BigInt(MANY - 9000 + 2)))
  })

  it('has its logs searched at once', async () => {
    const chain = await longChain()
    const query = { addresses: [], topics: [], from: { kind: 'number', number: 0n } } as const
    expect(await queryLogs(chain.state, query)).toEqual([])
  })
})

test('others get turns while a miner of empty blocks takes over the slots of the rings', async () => {
  const chain = await testChain()
  await mineSlowly(chain, 300)
  const parent = headOf(chain.state.tree)
  using others = countTurns()
  using _time = slowClock(10)
  const writes = { time: true, hash: true }
  const miner = await RunMiner.after({ parent, abandoned: 0 }, writes, yielder())
  expect(others.count()).toBeGreaterThan(1)
  expect(miner.mine([Number(parent.block.header.timestamp) + 1])).toBe(1)
})

test.each([9_000_000n, 0n, 127n])(
  'blocks after slot %i have the slots after it',
  async (slotNumber) => {
    const chain = await testChain({ hardfork: 'amsterdam' })
    await mineSlowly(chain, 300)
    const head = headOf(chain.state.tree)
    const { block, executed, world, totalDifficulty } = head
    const sealed = sealBlock({ ...block.header, slotNumber }, [])
    const parent = { block: sealed, executed, world, totalDifficulty }
    const writes = { time: true, hash: true }
    const miner = await RunMiner.after({ parent, abandoned: 0 }, writes, yielder())
    const times = Array.from(
      { length: 64 },
      (_, index) => Number(block.header.timestamp) + 1 + index,
    )
    let mined = 0
    // stops where a number gets longer
    while (mined < times.length) mined += miner.mine(times.slice(mined))
    for (let index = 0; index < mined; index++) {
      const { header, hash, size } = miner.run.recordAt(index).block
      expect(header.slotNumber).toBe(slotNumber + 1n + BigInt(index))
      expect(hashHeader(header)).toBe(hash)
      expect(size).toBe(sealBlock(header, []).size)
    }
  },
)
