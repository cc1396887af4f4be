// Chains that talk: links, synchronization, competing blocks, transactions that travel.
import { describe, expect, test } from 'vitest'
import { helloOf } from '../../../src/link/protocol/handshake.ts'
import {
  decodeMessage,
  encodeMessage,
  type LinkMessage,
} from '../../../src/link/protocol/messages.ts'
import { mine } from '../../../src/node/commands/mine.ts'
import { changeSettings } from '../../../src/node/commands/settings.ts'
import { reset } from '../../../src/node/commands/snapshots.ts'
import { headOf } from '../../../src/node/ledger/blocktree.ts'
import { sendRawTransaction } from '../../../src/node/sending/send.ts'
import { parseGenesis } from '../../../src/state/genesis.ts'
import { headHash, LinkWorld, type TestNode } from '../../support/link/linkworld.ts'
import { height, signed } from '../node/chains.ts'

/** Mines blocks that are not announced yet. */
async function mineOn({ chain }: TestNode, blocks: number): Promise<void> {
  for (let i = 0; i < blocks; i++) {
    await chain.update((state, executor) => mine(executor, state, { now: chain.environment.now() }))
  }
}

describe('one of two linked chains', () => {
  test('takes each block that the other mines as its newest', async () => {
    await using world = new LinkWorld()
    const a = await world.add('a')
    const b = await world.add('b', { peers: ['a'] })
    expect(a.network.list().map(({ name }) => name)).toEqual(['b'])
    expect(b.network.list().map(({ name }) => name)).toEqual(['a'])
    await mineOn(a, 3)
    await world.settle()
    expect(height(b.chain)).toBe(3n)
    expect(headHash(b)).toBe(headHash(a))
    await sendRawTransaction(b.chain, signed(b.chain).raw)
    await world.settle()
    expect(height(a.chain)).toBe(4n)
    expect(headHash(a)).toBe(headHash(b))
    expect([...a.events, ...b.events].map(({ kind }) => kind)).toEqual(['linked', 'linked'])
  })

  test('fetches all blocks if it links late', async () => {
    await using world = new LinkWorld()
    const a = await world.add('a')
    await mineOn(a, 700)
    const b = await world.add('b', { peers: ['a'] })
    await world.settle()
    expect(headHash(b)).toBe(headHash(a))
    expect(b.network.syncing()).toBeUndefined()
  })

  test('takes the longer branch where blocks have no difficulty', async () => {
    await using world = new LinkWorld()
    const a = await world.add('a', { difficulty: 0n })
    const b = await world.add('b', { difficulty: 0n, peers: ['a'] })
    a.network.partition('b', true)
    await world.settle()
    await mineOn(a, 300)
    await sendRawTransaction(b.chain, signed(b.chain).raw)
    a.network.partition('b', false)
    await world.settle()
    expect(headHash(b)).toBe(headHash(a))
    expect(height(b.chain)).toBe(300n)
    expect([...a.events, ...b.events].some(({ kind }) => kind === 'unlinked')).toBe(false)
  })

  test('takes the heavier branch when the two part and link again', async () => {
    await using world = new LinkWorld()
    const a = await world.add('a')
    const b = await world.add('b', { peers: ['a'] })
    a.network.partition('b', true)
    await world.settle()
    expect([a.network.list(), b.network.list()]).toEqual([[], []])
    await mineOn(a, 3)
    await sendRawTransaction(b.chain, signed(b.chain).raw)
    await world.settle()
    expect([height(a.chain), height(b.chain)]).toEqual([3n, 1n])
    a.network.partition('b', false)
    await world.settle()
    expect(headHash(b)).toBe(headHash(a))
    expect(height(b.chain)).toBe(3n)
    // the transaction of the abandoned block waits on both
    expect([a.chain.state.pool.size, b.chain.state.pool.size]).toEqual([1, 1])
    await mineOn(a, 1)
    await world.settle()
    expect([a.chain.state.pool.size, b.chain.state.pool.size]).toEqual([0, 0])
    expect(headHash(b)).toBe(headHash(a))
    expect(headOf(b.chain.state.tree).block.transactions.length).toBe(1)
  })
})

test('nodes with a genesis file keep to the rules of devchain’s own chains', async () => {
  await using world = new LinkWorld()
  const genesis = parseGenesis({ difficulty: '0x0', timestamp: '0x0' })
  const a = await world.add('a', { timestamp: undefined, genesis })
  const b = await world.add('b', { timestamp: undefined, genesis, peers: ['a'] })
  await mineOn(a, 1)
  await world.settle()
  await a.chain.update((state) => changeSettings(state, { blockGasLimit: 100_000_000n }))
  await mineOn(a, 1)
  await world.settle()
  expect(headHash(b)).toBe(headHash(a))
  expect(b.events.map(({ kind }) => kind)).toEqual(['linked'])
})

describe('a genesis with the default time', () => {
  const open = { timestamp: undefined }

  test('takes the time of the peer’s genesis before its first block', async () => {
    await using world = new LinkWorld()
    const a = await world.add('a', { timestamp: 1_700_000_000n })
    await mineOn(a, 2)
    const b = await world.add('b', { ...open, peers: ['a'] })
    await world.settle()
    expect(headHash(b)).toBe(headHash(a))
    expect(b.events).toEqual([{ kind: 'linked', peer: 'a', where: 'ws://a' }])
    await b.chain.update(reset)
    expect(headOf(b.chain.state.tree).block.header.timestamp).toBe(1_700_000_000n)
  })

  test('takes it where a file without a time gave the genesis', async () => {
    await using world = new LinkWorld()
    const genesis = parseGenesis({ difficulty: '0x0' })
    const a = await world.add('a', { ...open, genesis, now: 5_000_000 })
    await mineOn(a, 2)
    const b = await world.add('b', { ...open, genesis, now: 9_000_000, peers: ['a'] })
    await world.settle()
    expect(headHash(b)).toBe(headHash(a))
  })

  test('becomes the earlier of two, whoever dials', async () => {
    await using world = new LinkWorld()
    const early = await world.add('a', { ...open, now: 5_000_000 })
    const late = await world.add('b', { ...open, now: 9_000_000, peers: ['a'] })
    const later = await world.add('c', { ...open, now: 9_500_000, peers: ['b'] })
    await world.settle()
    expect(headOf(early.chain.state.tree).block.header.timestamp).toBe(5_000n)
    expect([headHash(late), headHash(later)]).toEqual([headHash(early), headHash(early)])
    expect(early.network.list().length).toBe(1)
  })

  test('stays if a block was built on it', async () => {
    await using world = new LinkWorld()
    const a = await world.add('a', { timestamp: 1_700_000_000n })
    const b = await world.add('b', open)
    await mineOn(b, 1)
    b.network.links.add('ws://a')
    await world.settle()
    expect(a.network.all()).toEqual([])
    expect(b.events.at(-1)).toMatchObject({
      kind: 'refused',
      reason: expect.stringMatching(
        /^genesis and its time: 0x\w+ at \d+ and 0x\w+ at 1700000000 differ$/,
      ),
    })
  })
})

describe('a link', () => {
  test('exists once between two nodes that dial each other, and is the same for both', async () => {
    await using world = new LinkWorld()
    const a = await world.add('a', { peers: ['b'] })
    const b = await world.add('b', { peers: ['a'] })
    await world.pass(3_000)
    await world.settle()
    expect([a, b].map(({ network }) => network.all().length)).toEqual([1, 1])
    const made = [a, b].filter(({ network }) => network.all()[0]?.url !== undefined)
    expect(made.length).toBe(1)
    expect([...a.events, ...b.events].map(({ kind }) => kind).sort()).toEqual([
      'linked',
      'linked',
      'unreachable',
    ])
  })

  test('to the node itself is refused', async () => {
    await using world = new LinkWorld()
    const a = await world.add('a', { peers: ['a'] })
    await world.pass(500)
    expect(a.network.all()).toEqual([])
    expect(a.events.at(-1)).toMatchObject({ reason: 'that is this node itself' })
  })

  test('beyond the maximum is refused', async () => {
    await using world = new LinkWorld()
    const a = await world.add('a', { maxPeers: 1 })
    await world.add('b', { peers: ['a'] })
    const c = await world.add('c', { peers: ['a'] })
    expect(a.network.list().map(({ name }) => name)).toEqual(['b'])
    const refusal = {
      kind: 'refused',
      where: 'ws://a',
      reason: 'it has the most peers it accepts: 1',
    }
    expect(c.events).toEqual([refusal])
    // it tries again, after waits that grow
    const before = world.pipes.length
    await world.pass(8_000)
    expect(c.events).toEqual([refusal])
    expect((world.pipes.length - before) / 2).toBeLessThan(8)
  })

  test('ends with the reason that the other side gave, though the connection closed before it was read', async () => {
    await using world = new LinkWorld()
    const a = await world.add('a')
    const pipe = world.connect(a)
    const identity = { nodeId: new Uint8Array(32).fill(0xee), name: 'mallory', client: 'test' }
    pipe.send(encodeMessage({ kind: 'hello', ...helloOf(a.chain.state, identity) }))
    pipe.send(encodeMessage({ kind: 'goodbye', reason: 'enough of this' }))
    pipe.close()
    await world.settle()
    expect(a.events).toMatchObject([{ kind: 'refused', reason: 'enough of this' }])
  })

  test('that both sides open at once is kept once', async () => {
    for (const ids of [
      ['a', 'b'],
      ['b', 'a'],
    ] as const) {
      await using world = new LinkWorld()
      const [one, other] = [await world.add(ids[0]), await world.add(ids[1])]
      one.network.links.add(other.url)
      other.network.links.add(one.url)
      await world.settle()
      await world.pass(3_000)
      expect([one, other].map(({ network }) => network.all().length)).toEqual([1, 1])
      await mineOn(one, 1)
      await world.settle()
      expect(headHash(other)).toBe(headHash(one))
    }
  })

  test('is restored when the other node returns, and not once it is removed', async () => {
    await using world = new LinkWorld()
    const a = await world.add('a')
    const b = await world.add('b', { peers: ['a'] })
    for (const pipe of world.pipes) pipe.destroy()
    await world.settle()
    expect(b.network.list().length).toBe(1)
    expect(b.network.links.remove('a')).toBe(true)
    await world.pass(20_000)
    expect([a, b].map(({ network }) => network.all().length)).toEqual([0, 0])
    expect(b.network.links.remove('a')).toBe(false)
  })

  test('ends at unlink and stays away until link', async () => {
    await using world = new LinkWorld()
    const a = await world.add('a')
    const b = await world.add('b', { peers: ['a'] })
    expect(a.network.links.unlink()).toBe(1)
    await world.pass(5_000)
    await mineOn(a, 1)
    await world.settle()
    expect([a, b].map(({ network }) => network.all().length)).toEqual([0, 0])
    expect(height(b.chain)).toBe(0n)
    a.network.links.relink()
    await world.pass(10_000)
    await world.settle()
    expect(headHash(b)).toBe(headHash(a))
  })

  test('of a banned address ends, and new ones are refused until the ban ends', async () => {
    await using world = new LinkWorld()
    const a = await world.add('a')
    const b = await world.add('b', { peers: ['a'] })
    await a.network.ban('127.0.0.0/8')
    await world.settle()
    expect(a.network.all()).toEqual([])
    await world.pass(1_000)
    expect(b.network.all()).toEqual([])
    await a.network.unban('127.0.0.0/8')
    await world.pass(10_000)
    expect(a.network.list().length).toBe(1)
  })
})

describe('a linked node', () => {
  test('with --follow off takes no blocks, and others take its blocks', async () => {
    await using world = new LinkWorld()
    const a = await world.add('a', { follows: false })
    const b = await world.add('b', { peers: ['a'] })
    await mineOn(b, 3)
    await world.settle()
    expect(height(a.chain)).toBe(0n)
    expect(a.network.isFollowing()).toBe(false)
    await mineOn(a, 4)
    await world.settle()
    expect(headHash(b)).toBe(headHash(a))
  })

  test('keeps a peer’s transaction in its pool, and mines it with --mine-for-peers', async () => {
    for (const minesForPeers of [false, true]) {
      await using world = new LinkWorld()
      const a = await world.add('a', { noMining: true })
      const b = await world.add('b', { peers: ['a'], minesForPeers })
      await sendRawTransaction(a.chain, signed(a.chain).raw)
      await world.settle()
      expect(b.chain.state.pool.size).toBe(minesForPeers ? 0 : 1)
      expect(height(a.chain)).toBe(minesForPeers ? 1n : 0n)
    }
  })

  test('requests a transaction once, even if two peers announced it', async () => {
    await using world = new LinkWorld()
    const a = await world.add('a', { noMining: true })
    const b = await world.add('b', { noMining: true, peers: ['a'] })
    const c = await world.add('c', { noMining: true, peers: ['a', 'b'] })
    await sendRawTransaction(a.chain, signed(a.chain).raw)
    await world.settle()
    expect([b, c].map(({ chain }) => chain.state.pool.size)).toEqual([1, 1])
    const bodies = world.pipes
      .flatMap(({ log }) => log)
      .filter((bytes) => decodeMessage(bytes).kind === 'transactions')
    expect(bodies.length).toBe(2)
  })

  test('makes uncles of side blocks, with their weight', async () => {
    await using world = new LinkWorld()
    const a = await world.add('a')
    const b = await world.add('b', { peers: ['a'] })
    a.network.partition(undefined, true)
    await world.settle()
    await mineOn(a, 1)
    await sendRawTransaction(b.chain, signed(b.chain).raw)
    a.network.partition(undefined, false)
    await world.settle()
    expect(headHash(a)).not.toBe(headHash(b))
    await mineOn(a, 1)
    await world.settle()
    expect(headHash(b)).toBe(headHash(a))
    expect(headOf(b.chain.state.tree).block.uncles.length).toBe(1)
    expect(headOf(b.chain.state.tree).totalDifficulty).toBe(4n)
  })

  test('takes a heavier branch longer than the side blocks that are kept', async () => {
    await using world = new LinkWorld()
    const a = await world.add('a')
    const b = await world.add('b', { peers: ['a'] })
    a.network.partition(undefined, true)
    await world.settle()
    await mineOn(a, 1_300)
    await sendRawTransaction(b.chain, signed(b.chain).raw)
    await mineOn(b, 1_200)
    a.network.partition(undefined, false)
    await world.settle()
    expect(height(b.chain)).toBe(1_300n)
    expect(headHash(b)).toBe(headHash(a))
    expect(b.chain.state.pool.size).toBe(1)
  })

  test('reports the progress of a long import', async () => {
    await using world = new LinkWorld()
    const a = await world.add('a')
    await mineOn(a, 300)
    const reported: unknown[] = []
    await world.add('b', { peers: ['a'], onSyncing: (status) => reported.push(status) })
    await world.settle()
    expect(reported).toEqual([
      { startingBlock: 0n, currentBlock: 0n, highestBlock: 300n },
      undefined,
    ])
  })

  test('stays partitioned from a peer that dials anew', async () => {
    await using world = new LinkWorld()
    const a = await world.add('a')
    const b = await world.add('b', { peers: ['a'] })
    b.network.partition('a', true)
    await world.settle()
    for (const pipe of world.pipes) pipe.destroy()
    await world.settle()
    expect(b.network.all().map(({ isHeld }) => isHeld)).toEqual([true])
    expect(a.network.list()).toEqual([])
    expect(() => b.network.partition('nobody', true)).toThrow(
      'peer "nobody" not found: there are a',
    )
  })
})

describe('a linked node announces', () => {
  /** What left one end of the first link between two nodes, of a kind. */
  function announced(world: LinkWorld, end: number): readonly LinkMessage<'announce'>[] {
    const messages = world.pipes[end]!.log.map(decodeMessage)
    return messages.filter((message) => message.kind === 'announce')
  }

  test('a block back to its sender as the newest, a while later', async () => {
    await using world = new LinkWorld()
    const a = await world.add('a')
    const b = await world.add('b', { peers: ['a'] })
    const begin = announced(world, 0).length
    await mineOn(a, 1)
    await world.pass(50)
    expect(headHash(b)).toBe(headHash(a))
    expect(announced(world, 0).length).toBe(begin)
    await world.pass(100)
    expect(announced(world, 0).slice(begin)).toMatchObject([{ head: headHash(a), blocks: [] }])
    expect(a.network.list()[0]?.head).toBe(headHash(a))
  })

  test('no blocks to a peer that is far behind, which fetches them all', async () => {
    await using world = new LinkWorld()
    const a = await world.add('a')
    const b = await world.add('b', { peers: ['a'] })
    const [near, far] = world.pipes
    // what a sends does not arrive
    far!.isStuck = true
    for (let round = 0; round < 12; round++) {
      await mineOn(a, 60)
      await world.pass(30)
    }
    const sizes = announced(world, 1).map(({ blocks }) => blocks.length)
    expect(sizes.slice(-12)).toEqual([...Array(8).fill(60), 0, 0, 0, 0])
    far!.isStuck = false
    near!.read(true)
    await world.settle()
    expect(headHash(b)).toBe(headHash(a))
    expect(height(b.chain)).toBe(720n)
  })
})

test('a block too large for a message ends the link with its size, on both nodes', async () => {
  await using world = new LinkWorld()
  const a = await world.add('a', { gasLimit: 60_000_000n })
  const data = new Uint8Array(2 ** 21)
  const changes = { data, gasLimit: 22_000_000n, value: 0n }
  await sendRawTransaction(a.chain, signed(a.chain, changes).raw)
  const b = await world.add('b', { gasLimit: 60_000_000n, peers: ['a'] })
  expect(height(b.chain)).toBe(0n)
  const reported = {
    reason: expect.stringMatching(
      /^block 1 of this chain has \d+ bytes: blocks of more than 2097088 are not sent$/,
    ),
  }
  expect(a.events).toContainEqual(expect.objectContaining(reported))
  expect(b.events).toContainEqual(expect.objectContaining(reported))
  // each link ends for the same reason, so the node dials less and less often
  await world.pass(60_000)
  expect(b.events.filter(({ kind }) => kind === 'linked').length).toBeLessThan(15)
  expect(b.events.filter(({ kind }) => kind === 'linked').length).toBeGreaterThan(7)
})
