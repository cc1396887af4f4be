// Old blocks are kept as bytes, and their worlds as changes.
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import type { Address, Hash } from '../../../../src/core/hex.ts'
import type { Chain } from '../../../../src/node/chain/chain.ts'
import { editWorld } from '../../../../src/node/cheats/edit.ts'
import { mine } from '../../../../src/node/commands/mine.ts'
import { revertTo, takeSnapshot } from '../../../../src/node/commands/snapshots.ts'
import { queryLogs } from '../../../../src/node/events/logs.ts'
import type { BlockRecord } from '../../../../src/node/ledger/blockrecord.ts'
import {
  blockByHash,
  blockByNumber,
  headOf,
  isInSomeBlock,
  transactionPlace,
  truncateTo,
  withHead,
  withHeadWorld,
} from '../../../../src/node/ledger/blocktree.ts'
import { packBlock, unpackBlock } from '../../../../src/node/ledger/packing/blockbytes.ts'
import { HashIndex } from '../../../../src/node/ledger/packing/hashindex.ts'
import {
  DECODED_BLOCKS,
  KeptRecord,
  UNPACKED_BLOCKS,
  withWorldReady,
} from '../../../../src/node/ledger/packing/keptrecord.ts'
import {
  balanceAfter,
  codeAfter,
  hasCodeAfter,
  LOOKED_THROUGH,
  nonceAfter,
  slotAfter,
} from '../../../../src/node/ledger/packing/oldstate.ts'
import { mineGiven } from '../../../../src/node/mining/miner.ts'
import { HARDFORKS, type Hardfork } from '../../../../src/protocol/forks.ts'
import {
  accountsOf,
  balanceAt,
  codeAt,
  nonceAt,
  stateRoot,
  storageAt,
  type World,
  withBalance,
  withoutAccount,
  withStorage,
} from '../../../../src/state/world.ts'
import { usedBytes } from '../../../support/process/memory.ts'
import { countTurns } from '../../../support/waiting/turns.ts'
import { NOON, signed, testChain } from '../chains.ts'
import { genesisOfSteps, type Step, step, transactionsOf } from '../mining/steps.ts'
import { addressOf } from '../records.ts'

/** All that can be read of a block. */
function partsOf(record: BlockRecord) {
  const { block, executed, world, totalDifficulty, prevRandao, signers } = record
  return { block, executed, totalDifficulty, prevRandao, signers, accounts: accountsIn(world) }
}

function accountsIn(world: World) {
  const accounts = [...accountsOf(world)].map(({ storage, ...rest }) => ({
    ...rest,
    slots: [...storage.values()],
  }))
  return { root: stateRoot(world), accounts }
}

interface Parts {
  readonly balance: bigint
  readonly nonce: bigint
  readonly code: Uint8Array
  readonly hasCode: boolean
  readonly slots: readonly bigint[]
}

async function readAfter(
  record: BlockRecord,
  address: Address,
  slots: readonly bigint[],
): Promise<Parts> {
  return {
    balance: await balanceAfter(record, address),
    nonce: await nonceAfter(record, address),
    code: await codeAfter(record, address),
    hasCode: hasCodeAfter(record, address),
    slots: await Promise.all(slots.map((slot) => slotAfter(record, address, slot))),
  }
}

function readFrom(world: World, address: Address, slots: readonly bigint[]): Parts {
  const code = codeAt(world, address)
  return {
    balance: balanceAt(world, address),
    nonce: nonceAt(world, address),
    code,
    hasCode: code.length > 0,
    slots: slots.map((slot) => storageAt(world, address, slot)),
  }
}

/** A block with its transactions, then an edit of the state. */
type Turn = readonly [steps: readonly Step[], edit: number]

const edits: readonly ((world: World) => World)[] = [
  (world) => world,
  (world) => withBalance(world, addressOf(0xc1), 77n),
  (world) => withoutAccount(world, addressOf(0xc0)),
  (world) => withStorage(world, addressOf(0xc1), 1n, 9n),
]

test.each(['bpo2', 'amsterdam'] as const)(
  'a packed block of %s shares its header with a block before it',
  async (hardfork) => {
    const chain = await testChain({ hardfork })
    const { block } = headOf(chain.state.tree)
    const after = {
      ...block.header,
      number: 2n,
      parentHash: block.hash,
      stateRoot: block.hash,
      transactionsRoot: block.hash,
      receiptsRoot: block.hash,
      mixHash: block.hash,
      timestamp: block.header.timestamp + 1n,
      gasUsed: 21_000n,
      baseFeePerGas: 9n,
      ...(hardfork === 'amsterdam' && { blockAccessListHash: block.hash, slotNumber: 2n }),
    }
    const parts = { block: { ...block, header: after }, executed: [] }
    const packed = packBlock(parts, block.header)
    expect(packed.template).toBe(block.header)
    expect(unpackBlock(packed).block.header).toEqual(after)
    chain.close()
  },
)

/** Found without changes: nothing is looked for in them. */
function hasWorld(record: BlockRecord): boolean {
  return (
    KeptRecord.newest(
      record,
      () => false,
      () => true,
      1,
    ) === true
  )
}

async function pack(hardfork: Hardfork, turns: readonly Turn[]): Promise<void> {
  const chain = await testChain({ hardfork, genesis: genesisOfSteps(), noMining: true })
  const nonces = [0n, 0n, 0n]
  for (const [steps, edit] of turns) {
    const transactions = transactionsOf(chain, steps, nonces)
    await chain.update((state, executor) =>
      mineGiven(executor, state, transactions, { now: chain.environment.now() }).then((mined) => ({
        state: mined.state,
        value: undefined,
      })),
    )
    if (edit > 0) await chain.update((state) => editWorld(state, edits[edit]!))
  }
  const records = [...chain.state.tree.canonical.values()] as KeptRecord[]
  const before = records.map(partsOf)
  const worlds = records.map(({ world }) => world)
  const blooms = records.map(({ logsBloom }) => logsBloom)
  records.forEach((record, number) => {
    record.pack(records[number - 1])
    record.packWorld(number, 2048)
  })
  const accounts = before.flatMap((parts) => parts.accounts.accounts)
  const addresses = new Set(accounts.map(({ address }) => address))
  const slots = [...new Set(accounts.flatMap((each) => each.slots.map(({ slot }) => slot)))]
  // the last world first, so that it is made of all changes
  for (let number = records.length - 1; number > 0; number--) {
    records[number]!.thin(number, 32_768)
    for (const address of addresses) {
      expect(await readAfter(records[number]!, address, slots)).toEqual(
        readFrom(worlds[number]!, address, slots),
      )
    }
    expect(records[number]!.logsBloom).toEqual(blooms[number])
    for (const isKept of [false, true]) {
      expect(before[number]).toMatchObject(KeptRecord.logged(records[number]!, isKept))
    }
    expect(partsOf(records[number]!)).toEqual(before[number])
  }
  chain.close()
}

describe('a packed block', () => {
  test.each(HARDFORKS)('is the same as before, at %s', async (hardfork) => {
    const steps = fc.array(step, { maxLength: 6, size: 'max' })
    const turn = fc.tuple(steps, fc.nat(edits.length - 1))
    const turns = fc.array(turn, { minLength: 1, maxLength: 6, size: 'max' })
    await fc.assert(
      fc.asyncProperty(turns, (each) => pack(hardfork, each)),
      { seed: 32, numRuns: 2 },
    )
  })
})

test('the index finds the numbers of all hashes, and forgets those above an end', () => {
  const hash = fc
    .bigInt(0n, 2n ** 256n - 1n)
    .map((value) => `0x${value.toString(16).padStart(64, '0')}` as Hash)
  const batches = fc.array(fc.array(hash, { maxLength: 5 }), { maxLength: 12 })
  const law = fc.property(batches, fc.nat(40), (all, end) => {
    let index = HashIndex.none
    let number = 0
    for (const batch of all)
      index = index.with(batch.map((each) => HashIndex.entry(each, number++)))
    for (const [at, each] of all.flat().entries()) {
      expect(index.find(each)).toContain(at)
      expect(index.below(end).find(each).includes(at)).toBe(at < end)
    }
  })
  fc.assert(law, { seed: 33, numRuns: 100 })
})

/** A transfer of 1 wei to a new account in each block. */
async function fill(chain: Chain, from: number, blocks: number): Promise<void> {
  for (let each = from; each < from + blocks; each++) {
    const fields = { nonce: BigInt(each), to: addressOf(2 ** 40 + each) }
    // without recovering its sender, which takes most of the time
    const given = [signed(chain, fields)]
    await chain.update(async (before) => {
      const { state } = await mineGiven(chain.executor, before, given, { now: NOON })
      return { state, value: undefined }
    })
  }
}

function checkAll(chain: Chain, blocks: number): void {
  const { tree } = chain.state
  for (let number = 1; number <= blocks; number++) {
    const record = blockByNumber(tree, BigInt(number))!
    const { hash } = record.block.transactions[0]!
    expect(record.block.header.number).toBe(BigInt(number))
    expect(blockByHash(tree, record.block.hash)).toBe(record)
    expect(transactionPlace(tree, hash)).toEqual({ record, index: 0 })
    if (number % 500 === 0) expect(stateRoot(record.world)).toBe(record.block.header.stateRoot)
  }
}

test('a block of many transactions has a place for each while it is in the chain', async () => {
  const chain = await testChain({ baseFee: 0n })
  const sent = Array.from({ length: 150 }, (_, nonce) => signed(chain, { nonce: BigInt(nonce) }))
  const mined = await mineGiven(chain.executor, chain.state, sent, { now: NOON })
  const { tree } = mined.state
  const edited = withHeadWorld(tree, withBalance(headOf(tree).world, addressOf(1), 7n))
  const below = truncateTo(edited, 0n)
  const again = withHead(below, headOf(edited))
  for (const each of [tree, edited, again]) {
    const record = headOf(each)
    const places = sent.map(({ hash }) => transactionPlace(each, hash))
    expect(places).toEqual(sent.map((_, index) => ({ record, index })))
  }
  expect(sent.map(({ hash }) => transactionPlace(below, hash))).toEqual(sent.map(() => undefined))
  expect(sent.map(({ hash }) => isInSomeBlock(below, hash))).toEqual(sent.map(() => true))
  expect(again.places.size).toBe(0)
  chain.close()
})

describe('a long chain', () => {
  test('keeps all blocks in reach, through reverts into old ones', {
    timeout: 60_000,
  }, async () => {
    const chain = await testChain({ baseFee: 0n })
    const blocks = UNPACKED_BLOCKS + 500
    await fill(chain, 0, 100)
    const snapshot = await chain.update(takeSnapshot)
    await fill(chain, 100, blocks - 100)
    checkAll(chain, blocks)
    const gone = blockByNumber(chain.state.tree, 300n)!.block.transactions[0]!.hash
    expect(isInSomeBlock(chain.state.tree, gone)).toBe(true)
    await chain.update((state) => revertTo(state, snapshot))
    expect(headOf(chain.state.tree).block.header.number).toBe(100n)
    expect(transactionPlace(chain.state.tree, gone)).toBeUndefined()
    await fill(chain, 100, 50)
    checkAll(chain, 150)
    chain.close()
  })

  test('is indexed once it is long, on a fork by its own blocks', async () => {
    const chain = await testChain({ baseFee: 0n })
    const { bulk } = chain.execution
    await chain.update((state) => mine(chain.executor, state, { now: NOON, blocks: 9_000n, bulk }))
    const { tree } = chain.state
    const run = tree.canonical.tail!.run
    await chain.update((state) => ({
      state: { ...state, tree: { ...tree, network: { number: 9_000, run } } },
      value: undefined,
    }))
    await fill(chain, 0, 20)
    expect(chain.state.tree.places.size).toBe(20)
    expect(chain.state.tree.old).toBe(HashIndex.none)
    chain.close()
  })

  test('has worlds that are made in turns, and that of its head for good', {
    timeout: 60_000,
  }, async () => {
    const chain = await testChain({ baseFee: 0n })
    await fill(chain, 0, 2200)
    const records = [...chain.state.tree.canonical.values()] as KeptRecord[]
    for (const [number, record] of records.entries()) {
      record.pack(records[number - 1])
      record.packWorld(number, 2048)
    }
    for (const [number, record] of records.entries()) record.thin(number, 32_768)
    let now = 0
    vi.spyOn(performance, 'now').mockImplementation(() => (now += 20))
    using turns = countTurns()
    await withWorldReady(records[2100]!)
    expect(turns.count()).toBeGreaterThan(3)
    for (const number of [2099, 2100]) {
      expect(withWorldReady(records[number]!)).toBe(records[number])
      expect(stateRoot(records[number]!.world)).toBe(records[number]!.block.header.stateRoot)
    }
    await KeptRecord.hold(records[1500]!)
    expect(KeptRecord.hold(records[1500]!)).toBeUndefined()
    chain.close()
  })

  test('is looked through for an account, and has a world from so many blocks on', async () => {
    const chain = await testChain({ baseFee: 0n })
    await fill(chain, 0, UNPACKED_BLOCKS + LOOKED_THROUGH)
    const { canonical } = chain.state.tree
    const untouched = addressOf(0xdead)
    const near = canonical.at(LOOKED_THROUGH - 1)!
    const far = canonical.at(LOOKED_THROUGH + 1)!
    expect(balanceAfter(near, untouched)).toBe(0n)
    expect(hasWorld(near)).toBe(false)
    expect(hasCodeAfter(far, untouched)).toBe(false)
    expect(hasWorld(far)).toBe(false)
    expect(await balanceAfter(far, untouched)).toBe(0n)
    expect(hasWorld(far)).toBe(true)
    chain.close()
  })

  test('has its first blocks decoded after a search through more than stay so', async () => {
    const chain = await testChain({ baseFee: 0n })
    await fill(chain, 0, UNPACKED_BLOCKS + 2 * DECODED_BLOCKS)
    const search = () =>
      queryLogs(chain.state, {
        from: { kind: 'tag', tag: 'earliest' },
        addresses: [],
        topics: [],
      })
    await search()
    const { block } = blockByNumber(chain.state.tree, 1n)!
    await search()
    expect(blockByNumber(chain.state.tree, 1n)!.block).toBe(block)
    chain.close()
  })

  // blocks further back take half of what these do, which leaves room for the rest of the process
  test('takes less than 400 MB for 100,000 blocks of a transfer', {
    timeout: 600_000,
  }, async () => {
    const chain = await testChain({ baseFee: 0n })
    const { bulk } = chain.execution
    // the system contracts' 8,191 slots are full from then on, as in all but the first blocks
    const empty = { now: NOON, blocks: 8_191n, bulk }
    await chain.update((state) => mine(chain.executor, state, empty))
    const [warm, blocks] = [1_500, 2048]
    await fill(chain, 0, warm)
    const before = usedBytes()
    await fill(chain, warm, blocks)
    const bytes = (usedBytes() - before) / blocks
    expect(100_000 * bytes).toBeLessThan(400e6)
    chain.close()
  })
})
