// Runs of empty blocks under all that can be done to a chain: two chains get the same commands, and one of them mines all
// blocks as those with transactions are, so that it has no runs. Both give the same results.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Hash } from '../../../../src/core/hex.ts'
import type { Chain } from '../../../../src/node/chain/chain.ts'
import { editAccount, editWorld } from '../../../../src/node/cheats/edit.ts'
import { type MineRequest, mine } from '../../../../src/node/commands/mine.ts'
import { reset, revertTo, takeSnapshot } from '../../../../src/node/commands/snapshots.ts'
import { increaseTime } from '../../../../src/node/commands/time.ts'
import type { BlockRecord } from '../../../../src/node/ledger/blockrecord.ts'
import {
  blockByHash,
  blockByNumber,
  eligibleUncles,
  type HeadChange,
  hashByNumber,
  headOf,
  isCanonical,
  transactionPlace,
} from '../../../../src/node/ledger/blocktree.ts'
import type { ChainState } from '../../../../src/node/ledger/chainstate.ts'
import type { Change } from '../../../../src/node/ledger/change.ts'
import { filledBlock, mineBlock, pendingRecord } from '../../../../src/node/mining/miner.ts'
import { adopt, reorganize } from '../../../../src/node/mining/reorganize.ts'
import { sendRawTransaction } from '../../../../src/node/sending/send.ts'
import {
  BEACON_ROOTS,
  HISTORY_STORAGE,
  WITHDRAWAL_REQUESTS,
} from '../../../../src/state/predeploys.ts'
import {
  type Account,
  nonceAt,
  stateRoot,
  storageAt,
  withCode,
  withoutAccount,
  withSlots,
} from '../../../../src/state/world.ts'
import { account, NOON, signed, testChain } from '../chains.ts'
import { addressOf } from '../records.ts'

type Command =
  | { readonly kind: 'mine'; readonly blocks: number; readonly interval: number | undefined }
  | { readonly kind: 'reorganize'; readonly share: number; readonly blocks: number }
  | { readonly kind: 'branch' | 'setHead' | 'revert'; readonly share: number }
  | { readonly kind: 'increase'; readonly seconds: number }
  | { readonly kind: 'tamper'; readonly way: number; readonly slot: number }
  | { readonly kind: 'send' | 'edit' | 'snapshot' | 'reset' }

const share = fc.double({ min: 0, max: 1, noNaN: true })
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('mine' as const),
      blocks: fc.integer({ min: 1, max: 90 }),
      interval: fc.option(fc.nat(3000), { nil: undefined }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('reorganize' as const), share, blocks: fc.nat(3) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom('branch', 'setHead', 'revert'), share }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('tamper'), way: fc.nat(3), slot: fc.nat(9000) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('increase'), seconds: fc.nat(9000) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('send', 'send', 'edit', 'edit', 'snapshot', 'reset'),
    }),
  },
) as fc.Arbitrary<Command>

const NO_REQUEUE = { requeue: false, now: NOON }

/** Mines blocks on a chain: so many, the first at a time of its own. */
type Mine = (
  chain: Chain,
  request: Pick<MineRequest, 'timestamp' | 'interval'>,
  blocks: number,
) => Promise<unknown>

const atOnce: Mine = (chain, request, blocks) =>
  chain.update((before) =>
    mine(chain.executor, before, {
      ...request,
      now: NOON,
      blocks: BigInt(blocks),
      bulk: chain.execution.bulk,
    }),
  )

/** Those that are like the one before go on with its run. */
const oneByOne: Mine = async (chain, request, blocks) => {
  for (let left = blocks; left > 0; left--) {
    await atOnce(chain, { ...request, timestamp: timestampOf(chain, request, blocks - left) }, 1)
  }
}

/** The slow twin. */
const inNoRun: Mine = async (chain, request, blocks) => {
  for (let left = blocks; left > 0; left--) {
    const timestamp = timestampOf(chain, request, blocks - left)
    await chain.update(async (before) => {
      const mined = await mineBlock(chain.executor, before, { now: NOON, timestamp })
      return { ...mined, value: undefined }
    })
  }
}

/** A command's first block is mined when the clock says. */
function timestampOf(
  { state }: Chain,
  { interval }: Pick<MineRequest, 'interval'>,
  index: number,
): bigint | undefined {
  if (index === 0 || interval === undefined) return undefined
  return headOf(state.tree).block.header.timestamp + (interval > 0n ? interval : 1n)
}

/** Does a command. */
async function run(chain: Chain, each: Command, mineBlocks: Mine): Promise<void> {
  const { executor, state } = chain
  const height = state.tree.canonical.length - 1
  switch (each.kind) {
    case 'mine': {
      const interval = each.interval === undefined ? undefined : BigInt(each.interval)
      await mineBlocks(chain, { interval }, each.blocks)
      return
    }
    case 'send': {
      const nonce = nonceAt(headOf(state.tree).world, account(chain, 0))
      await sendRawTransaction(chain, signed(chain, { nonce }).raw)
      return
    }
    case 'reorganize':
    case 'setHead': {
      const depth = Math.ceil(each.share * height)
      const blocks = Array.from({ length: 'blocks' in each ? each.blocks : 0 }, () => [])
      if (depth === 0) return
      await chain.update((before) =>
        reorganize(executor, before, { depth: BigInt(depth), blocks, ...NO_REQUEUE }),
      )
      return
    }
    case 'branch':
      await chain.update(async (before) => adopt(before, [await sibling(chain, each.share)]))
      return
    case 'edit':
      await chain.update((before) =>
        editAccount(before, addressOf(9), (each) => ({ ...each, balance: each.balance + 1n })),
      )
      return
    case 'tamper':
      await chain.update((before) => tampered(before, each))
      return
    case 'snapshot':
      await chain.update(takeSnapshot)
      return
    case 'revert': {
      const id = 1 + Math.floor(each.share * (state.nextSnapshotId - 1))
      await chain.update((before) => revertTo(before, id))
      return
    }
    case 'increase':
      await chain.update((before) => increaseTime(before, BigInt(each.seconds), NOON))
      return
    case 'reset':
      await chain.update(reset)
  }
}

/** Changes what the system contracts have: a slot of theirs near the present, the code of one, or that it is there. */
function tampered(
  state: ChainState,
  { way, slot }: { readonly way: number; readonly slot: number },
): Change<undefined> {
  const { timestamp, number } = headOf(state.tree).block.header
  const behind = ((timestamp + BigInt(slot % 90)) % 8191n) + (slot % 2 === 0 ? 8191n : 0n)
  const set =
    (at: bigint): ((account: Account) => Account) =>
    (account) => ({
      ...account,
      storage: withSlots(account.storage, new Map([[at, 1n + BigInt(slot)]])),
    })
  if (way === 0) return editAccount(state, BEACON_ROOTS.address, set(behind))
  if (way === 1) return editAccount(state, HISTORY_STORAGE.address, set((number + 5n) % 8191n))
  if (way === 2) return editAccount(state, WITHDRAWAL_REQUESTS.address, set(BigInt(slot % 4)))
  return editWorld(state, (world) =>
    slot % 2 === 0
      ? withoutAccount(world, HISTORY_STORAGE.address)
      : withCode(world, BEACON_ROOTS.address, Uint8Array.of(0)),
  )
}

/** A block beside the chain, on a parent that may be in a run. */
async function sibling({ executor, state }: Chain, at: number): Promise<BlockRecord> {
  const number = Math.floor(at * (state.tree.canonical.length - 1))
  const depth = BigInt(state.tree.canonical.length - 1 - number)
  const shortened =
    depth === 0n
      ? state
      : (await reorganize(executor, state, { depth, blocks: [], ...NO_REQUEUE })).state
  const settings = { ...state.settings, coinbase: addressOf(7) }
  const filled = await filledBlock(executor, { ...shortened, settings }, { now: NOON })
  return pendingRecord(executor, filled)
}

function hashesOf({ removed, added }: HeadChange): readonly (readonly Hash[])[] {
  return [removed, added].map((range) => [...range].map(({ block }) => block.hash))
}

/** What two chains return for the block with a number. */
function expectSameBlock(fast: Chain, slow: Chain, number: number): void {
  const [one, other] = [fast, slow].map(
    ({ state }) => blockByNumber(state.tree, BigInt(number))!,
  ) as [BlockRecord, BlockRecord]
  expect(one.block).toEqual(other.block)
  expect(one.totalDifficulty).toBe(other.totalDifficulty)
  // that of the header, unless the world was edited
  expect(stateRoot(one.world)).toBe(stateRoot(other.world))
  const { timestamp } = other.block.header
  const slots = [
    [BEACON_ROOTS.address, timestamp % 8191n],
    [BEACON_ROOTS.address, (timestamp - 1n) % 8191n],
    [HISTORY_STORAGE.address, BigInt(number + 8190) % 8191n],
  ] as const
  for (const [address, slot] of slots) {
    expect(storageAt(one.world, address, slot)).toBe(storageAt(other.world, address, slot))
  }
}

function expectSame(fast: Chain, slow: Chain, seen: Set<Hash>, picks: readonly number[]): void {
  const [one, other] = [fast.state, slow.state]
  const { length } = other.tree.canonical
  expect(one.tree.canonical.length).toBe(length)
  expect(one.clock).toEqual(other.clock)
  expect(one.tree.abandoned).toBe(other.tree.abandoned)
  for (let number = 0; number < length; number++) {
    const hash = hashByNumber(other.tree, BigInt(number))!
    expect(hashByNumber(one.tree, BigInt(number))).toBe(hash)
    seen.add(hash)
  }
  for (const hash of seen) {
    const [known, twin] = [one, other].map(({ tree }) => {
      const record = blockByHash(tree, hash)
      return record && [record.block.hash, record.block.header.number, isCanonical(tree, record)]
    })
    expect(known).toEqual(twin)
  }
  const [uncles, twins] = [one, other].map(({ tree }) =>
    eligibleUncles(tree, 9).map(({ block }) => block.hash),
  )
  expect(uncles).toEqual(twins)
  for (const pick of picks) expectSameBlock(fast, slow, Math.floor(pick * (length - 1)))
  for (const { block } of other.tree.canonical.filled()) {
    for (const { hash } of block.transactions) {
      expect(transactionPlace(one.tree, hash)?.record.block).toEqual(block)
    }
  }
}

test('a chain with runs of empty blocks equals the chain without them after any commands', async () => {
  let inRuns = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(command, { minLength: 3, maxLength: 14, size: 'max' }),
      fc.array(share, { minLength: 2, maxLength: 4 }),
      fc.array(fc.boolean(), { minLength: 14, maxLength: 14 }),
      async (commands, picks, whether) => {
        const [fast, slow] = [await testChain({}), await testChain({})]
        const changes: [HeadChange[], HeadChange[]] = [[], []]
        fast.onChange(({ head }) => changes[0].push(head))
        slow.onChange(({ head }) => changes[1].push(head))
        const seen = new Set<Hash>()
        for (const [index, each] of commands.entries()) {
          await run(fast, each, whether[index] ? atOnce : oneByOne)
          await run(slow, each, inNoRun)
          expectSame(fast, slow, seen, [1, ...picks])
          // of many blocks mined one by one there are many changes
          const [runs, twin] = changes.map((list) => list.splice(0).map(hashesOf))
          if (each.kind === 'mine') expect(runs!.flat(2)).toEqual(twin!.flat(2))
          else expect(runs).toEqual(twin)
        }
        const { canonical } = fast.state.tree
        inRuns += canonical.length - [...canonical.range(0).segments()].length
        expect([...slow.state.tree.canonical.range(0).segments()].length).toBe(canonical.length)
        fast.close()
        slow.close()
      },
    ),
    { seed: 20_261_121, numRuns: 25 },
  )
  // else the test would show nothing
  expect(inRuns).toBeGreaterThan(500)
})
