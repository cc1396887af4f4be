// Peers that do wrong, one by one: what the node does about each, and that it goes on.
import { describe, expect, test } from 'vitest'
import { joinRlp } from '../../../src/core/fastrlp/writer.ts'
import type { Address, Hash } from '../../../src/core/hex.ts'
import { encodeRlp } from '../../../src/core/rlp.ts'
import { LIMITS } from '../../../src/link/protocol/limits.ts'
import { encodeMessage } from '../../../src/link/protocol/messages.ts'
import { mine } from '../../../src/node/commands/mine.ts'
import { blockByNumber, headOf } from '../../../src/node/ledger/blocktree.ts'
import { sendRawTransaction } from '../../../src/node/sending/send.ts'
import { type Block, encodeBlock, sealBlock } from '../../../src/protocol/blocks/block.ts'
import { encodeHeader, type Header } from '../../../src/protocol/blocks/header.ts'
import { blobHash, encodeSent } from '../../../src/protocol/transactions/sidecar.ts'
import { sidecarOf } from '../../support/evm/blobs.ts'
import { type Answers, type HandmadePeer, handmadePeer } from '../../support/link/handmade.ts'
import { LinkWorld, type TestNode } from '../../support/link/linkworld.ts'
import { height, signed } from '../node/chains.ts'

/** Blocks that another chain of the same genesis mined: empty ones, and in the last a transfer. */
async function blocksElsewhere(world: LinkWorld, count: number): Promise<readonly Block[]> {
  const other = await world.add('other')
  for (let i = 1; i < count; i++) {
    await other.chain.update((state, executor) =>
      mine(executor, state, { now: other.chain.environment.now() }),
    )
  }
  await sendRawTransaction(other.chain, signed(other.chain).raw)
  const { tree } = other.chain.state
  return Array.from({ length: count }, (_, i) => blockByNumber(tree, BigInt(i + 1))!.block)
}

/** How a peer answers that has exactly these blocks after the genesis. */
function serving(blocks: readonly Block[]): Answers {
  return {
    getHeaders: ({ locator, most }) => {
      const after = blocks.findIndex(({ hash }) => hash === locator[0])
      return blocks.slice(after + 1, after + 1 + most).map(({ header }) => encodeHeader(header))
    },
    getBlocks: ({ hashes }) =>
      hashes.flatMap((hash) => blocks.filter((each) => each.hash === hash).map(encodeBlock)),
  }
}

/** Announces the last of some blocks, as though they were very heavy. */
function announce(peer: HandmadePeer, blocks: readonly Block[], totalDifficulty = 1_000n): void {
  const last = blocks.at(-1)!
  peer.say({
    kind: 'announce',
    head: last.hash,
    number: last.header.number,
    totalDifficulty,
    blocks: [],
  })
}

/** The block with another header. */
function changed(block: Block, changes: Partial<Header>): Block {
  return sealBlock({ ...block.header, ...changes }, block.transactions, block.uncles)
}

function countOf({ network }: TestNode, event: string): number {
  const entry = network.reputations().find(({ type }) => type === 'node')
  return (entry?.counts as Record<string, number> | undefined)?.[event] ?? 0
}

/** The node still answers and mines. */
async function expectAlive({ chain }: TestNode): Promise<void> {
  const before = height(chain)
  await sendRawTransaction(chain, signed(chain, { index: 3 }).raw)
  expect(height(chain)).toBe(before + 1n)
}

/** The encoding of a list of so many items of this byte. */
function listOf(count: number, byte: number): Uint8Array {
  return joinRlp([...new Uint8Array(count)].map(() => Uint8Array.of(byte)))
}

/** An announcement of so many bytes of nothing, or of one block. */
function announcing(size: number, block: Uint8Array = new Uint8Array(size)): Uint8Array {
  const head = `0x${'77'.repeat(32)}` as Hash
  const blocks = [block]
  return encodeMessage({ kind: 'announce', head, number: 1n, totalDifficulty: 9n, blocks })
}

/** A block of 30,000,000 gas whose transactions are this. */
function blockOf(transactions: Uint8Array): Uint8Array {
  const hash = `0x${'77'.repeat(32)}` as Hash
  const [word, number] = [hash, 30_000_000n]
  const fields = [word, word, `0x${'11'.repeat(20)}` as Address, word, word, word]
  const rest = [new Uint8Array(256), 1n, 1n, number, 0n, 5n, new Uint8Array(), word]
  return joinRlp([encodeRlp([...fields, ...rest, new Uint8Array(8)]), transactions, encodeRlp([])])
}

describe('a peer is disconnected that', () => {
  test.each<[string, Uint8Array, RegExp]>([
    ['sends garbage', Uint8Array.of(0xff, 1, 2), /expected RLP/],
    ['sends text', new TextEncoder().encode('{"jsonrpc":"2.0"}'), /ends at byte 1 of 17/],
    ['sends an unknown message', encodeRlp([99n]), /there is no kind 99/],
    ['leaves fields out', encodeRlp([2n, 1n]), /announce has 1 fields, expected 4/],
    [
      'sends lists without end',
      new Uint8Array(200).fill(0xc1),
      /nested deeper|longer than the bytes|ends at byte/,
    ],
    ['sends more than a message may have', new Uint8Array(2 ** 21 + 1), /at most 2097152/],
    ['announces more than it may', announcing(2 ** 19), /announce has \d+ bytes, expected at most/],
    ['sends a message of many items', listOf(3 * 2 ** 19, 0x80), /more than 4128 items/],
    ['announces a block of many fields', announcing(0, listOf(9_000, 0x80)), /more than 4 items/],
    [
      'announces a block of many transactions',
      announcing(0, blockOf(listOf(9_000, 0x80))),
      /more than 1428 items/,
    ],
  ])('%s', async (_, bytes, reason) => {
    await using world = new LinkWorld()
    const node = await world.add('a')
    const peer = await handmadePeer(world, node)
    expect(node.network.list().length).toBe(1)
    peer.throwIn(bytes)
    await world.settle()
    expect(peer.farewell()).toMatch(reason)
    expect(node.network.list()).toEqual([])
    expect(countOf(node, 'invalidMessages')).toBe(1)
    await expectAlive(node)
  })

  test('sends too much', async () => {
    await using world = new LinkWorld()
    const node = await world.add('a')
    const peer = await handmadePeer(world, node)
    for (let id = 0; id < LIMITS.messagesAtOnce + 2_000; id++) peer.say({ kind: 'ping', id })
    await world.settle()
    expect(peer.farewell()).toMatch(/more than 2000 messages a second/)
    await expectAlive(node)
  })

  test('responds without a request, or with another kind of message', async () => {
    await using world = new LinkWorld()
    const node = await world.add('a')
    const peer = await handmadePeer(world, node)
    peer.say({ kind: 'headers', id: 77, headers: [] })
    await world.settle()
    expect(peer.farewell()).toMatch(/answered request 77, never asked/)
    expect(countOf(node, 'unexpectedMessages')).toBe(1)
  })

  test('sends a message before its hello, or a second hello', async () => {
    await using world = new LinkWorld()
    const node = await world.add('a')
    const early = await handmadePeer(world, node, 'silent')
    early.say({ kind: 'pooled', hashes: [] })
    await world.settle()
    expect(early.farewell()).toMatch(/said pooled before hello/)
    const peer = await handmadePeer(world, node)
    const [hello] = (await handmadePeer(world, node, { nodeId: new Uint8Array(32).fill(7) })).heard(
      'hello',
    )
    peer.say({ ...hello! })
    await world.settle()
    expect(peer.farewell()).toMatch(/hello twice/)
  })

  test('is silent from the start', async () => {
    await using world = new LinkWorld()
    const node = await world.add('a')
    const peer = await handmadePeer(world, node, 'silent')
    await world.pass(LIMITS.helloMs)
    await world.settle()
    expect(peer.farewell()).toMatch(/said nothing for 5000 ms/)
  })

  test('is half open and sends nothing any more', async () => {
    await using world = new LinkWorld()
    const node = await world.add('a')
    const peer = await handmadePeer(world, node)
    await world.pass(LIMITS.silenceMs + LIMITS.pingMs)
    await world.settle()
    expect(peer.heard('ping').length).toBeGreaterThan(0)
    expect(peer.farewell()).toMatch(/silent for 30000 ms/)
    expect(node.network.list()).toEqual([])
  })

  test('sends requests without reading the responses', async () => {
    await using world = new LinkWorld()
    const node = await world.add('a')
    for (let i = 0; i < 20; i++) {
      await sendRawTransaction(
        node.chain,
        signed(node.chain, { nonce: BigInt(i), gasLimit: 2_000_000n, data: new Uint8Array(30_000) })
          .raw,
      )
    }
    const peer = await handmadePeer(world, node)
    const far = peer.pipe.other!
    far.isStuck = true
    const { tree } = node.chain.state
    const hashes = Array.from({ length: 20 }, (_, i) => tree.canonical.hashAt(i + 1)!)
    for (let id = 1; id < 200; id++) peer.say({ kind: 'getBlocks', id, hashes })
    await world.settle()
    // a few answers wait, and no more are made
    expect(far.unsentBytes).toBeLessThan(2 * LIMITS.unsentBytes)
    await world.pass(LIMITS.silenceMs + 100)
    expect(node.network.list()).toEqual([])
    await expectAlive(node)
  })
})

describe('a peer is refused that has', () => {
  test.each([
    ['another version', { version: 2 }, /version of the protocol: 1 and 2 differ/],
    ['another network', { networkId: 7n }, /network id: 33 and 7 differ/],
    ['another chain', { chainId: 1n }, /chain id: 33 and 1 differ/],
    ['other rules', { hardfork: 'london' }, /hardfork: \w+ and london differ/],
    ['another genesis', { genesis: `0x${'ab'.repeat(32)}` }, /genesis: 0x\w+ and 0xabab\w+ differ/],
    [
      'a genesis of another time',
      { genesis: `0x${'ab'.repeat(32)}`, genesisTime: 5n },
      /genesis and its time: 0x\w+ at 1767000000 and 0x\w+ at 5 differ/,
    ],
    [
      'another plan of forks',
      { forkId: Uint8Array.of(1, 2, 3, 4) },
      /fork id: 0x\w+ and 0x01020304/,
    ],
  ])('%s', async (_, changes, reason) => {
    await using world = new LinkWorld()
    const node = await world.add('a')
    const peer = await handmadePeer(world, node, changes as never)
    expect(peer.farewell()).toMatch(reason)
    expect(node.network.all()).toEqual([])
    expect(node.events).toEqual([
      { kind: 'refused', where: '127.0.0.1:1', reason: expect.stringMatching(reason) },
    ])
  })
})

/** A peer that announces three blocks, of which the last was changed. */
async function announceBad(
  world: LinkWorld,
  node: Parameters<typeof handmadePeer>[1],
  change: (block: Block) => Block,
): Promise<{ bad: readonly Block[]; peer: Awaited<ReturnType<typeof handmadePeer>> }> {
  const blocks = await blocksElsewhere(world, 3)
  const bad = [...blocks.slice(0, 2), change(blocks[2]!)]
  const peer = await handmadePeer(world, node, {}, serving(bad))
  announce(peer, bad)
  await world.settle()
  return { bad, peer }
}

describe('an invalid block', () => {
  const RULES: readonly (readonly [rule: string, change: (block: Block) => Block])[] = [
    ['timestamp', (block) => changed(block, { timestamp: 1n })],
    ['extra data', (block) => changed(block, { extraData: new Uint8Array(33) })],
    ['gas used', (block) => changed(block, { gasUsed: block.header.gasLimit + 1n })],
    ['blob gas used', (block) => changed(block, { blobGasUsed: 7n })],
    ['excess blob gas', (block) => changed(block, { excessBlobGas: 5n })],
  ]

  test.each(RULES)(
    'with a header that breaks the rule of %s is refused, remembered and counted',
    async (rule, change) => {
      await using world = new LinkWorld()
      const node = await world.add('a')
      await announceBad(world, node, change)
      expect(countOf(node, 'invalidHeader')).toBe(1)
      expect(node.events.at(-1)).toMatchObject({
        kind: 'rejected',
        reason: expect.stringContaining(rule),
      })
      await expectAlive(node)
    },
  )

  const BODIES: readonly (readonly [rule: string, change: (block: Block) => Block])[] = [
    ['state root', (block) => changed(block, { stateRoot: `0x${'11'.repeat(32)}` as never })],
    ['receipts root', (block) => changed(block, { receiptsRoot: `0x${'11'.repeat(32)}` as never })],
    ['logs bloom', (block) => changed(block, { logsBloom: new Uint8Array(256).fill(1) })],
    ['gas used', (block) => changed(block, { gasUsed: 21_001n })],
    ['uncles hash', (block) => changed(block, { sha3Uncles: `0x${'11'.repeat(32)}` as never })],
    [
      'transactions root',
      (block) => changed(block, { transactionsRoot: `0x${'11'.repeat(32)}` as never }),
    ],
  ]

  test.each(BODIES)('with a wrong %s is refused, remembered and counted', async (rule, change) => {
    await using world = new LinkWorld()
    const node = await world.add('a')
    const { bad, peer } = await announceBad(world, node, change)
    // what came before is as good as any
    expect(height(node.chain)).toBe(2n)
    expect(countOf(node, 'invalidBlocks')).toBe(1)
    expect(countOf(node, 'validBlocks')).toBe(2)
    expect(node.events.at(1)).toMatchObject({
      kind: 'rejected',
      reason: expect.stringContaining(`block 3: ${rule}`),
    })
    const asked = peer.heard('getBlocks').length
    announce(peer, bad, 2_000n)
    await world.settle()
    expect(peer.heard('getBlocks').length).toBe(asked)
    await expectAlive(node)
  })

  test('repeated bans the node for a growing time, after which it may link again', async () => {
    await using world = new LinkWorld()
    const node = await world.add('a')
    const [block] = await blocksElsewhere(world, 1)
    for (const [round, seconds] of [10, 20].entries()) {
      const peer = await handmadePeer(world, node)
      for (let i = 0; i < 4 && peer.farewell() === undefined; i++) {
        const bad = changed(block!, { gasUsed: BigInt(7 + i + 10 * round) })
        peer.say({
          kind: 'announce',
          head: bad.hash,
          number: 1n,
          totalDifficulty: 100n,
          blocks: [encodeBlock(bad)],
        })
        await world.settle()
      }
      expect(peer.farewell()).toBe(`banned for ${seconds} s: its reputation is too low`)
      const refused = await handmadePeer(world, node)
      expect(refused.farewell()).toMatch(/^banned for another \d+ s$/)
      const entry = node.network.reputations().find(({ type }) => type === 'node')
      expect(entry).toMatchObject({ punishments: round + 1, isGood: false })
      await world.pass(seconds * 1000)
    }
    await handmadePeer(world, node)
    expect(node.network.list().length).toBe(1)
    expect(node.network.clearReputation('ee'.repeat(4))).toBe(true)
    expect(node.network.reputations().filter(({ type }) => type === 'node')).toEqual([])
  })
})

describe('a peer is disconnected for claims that are false:', () => {
  test('headers beyond those that it announced', async () => {
    await using world = new LinkWorld()
    const node = await world.add('a')
    const blocks = await blocksElsewhere(world, 30)
    const peer = await handmadePeer(world, node, {}, serving(blocks))
    const early = blocks[3]!
    const wrong = { ...early, hash: `0x${'77'.repeat(32)}` } as Block
    announce(peer, [wrong])
    await world.settle()
    expect(peer.heard('getHeaders').length).toBe(1)
    expect(countOf(node, 'invalidHeader')).toBe(1)
    expect(node.events.at(-1)).toMatchObject({
      reason: 'it sends header 5 though its newest block is 4',
    })
    await expectAlive(node)
  })

  test('headers that do not follow one another or a known block', async () => {
    await using world = new LinkWorld()
    const node = await world.add('a')
    const blocks = await blocksElsewhere(world, 5)
    for (const list of [blocks.slice(2), [blocks[0]!, blocks[2]!]]) {
      const peer = await handmadePeer(
        world,
        node,
        { nodeId: new Uint8Array(32).fill(list.length) },
        {
          getHeaders: () => list.map(({ header }) => encodeHeader(header)),
        },
      )
      announce(peer, blocks)
      await world.settle()
      expect(node.events.at(-1)).toMatchObject({
        kind: 'rejected',
        reason: expect.stringMatching(/header 3 does not follow the one before/),
      })
    }
  })

  test('headers without blocks', async () => {
    await using world = new LinkWorld()
    const node = await world.add('a')
    const blocks = await blocksElsewhere(world, 5)
    const { getHeaders } = serving(blocks)
    const peer = await handmadePeer(world, node, {}, { getHeaders, getBlocks: () => [] } as Answers)
    announce(peer, blocks)
    await world.settle()
    expect(node.events.at(-1)).toMatchObject({
      kind: 'rejected',
      reason: 'nobody sends block 1 of its branch',
    })
    expect(countOf(node, 'invalidHeader')).toBe(1)
    expect(height(node.chain)).toBe(0n)
    await expectAlive(node)
  })

  test('a request that it never answers, after a short time', async () => {
    await using world = new LinkWorld()
    const node = await world.add('a')
    const blocks = await blocksElsewhere(world, 5)
    const stalling = await handmadePeer(world, node)
    announce(stalling, blocks, 5_000n)
    const honest = await handmadePeer(
      world,
      node,
      { nodeId: new Uint8Array(32).fill(9) },
      serving(blocks),
    )
    announce(honest, blocks, headOfBlocks(blocks))
    expect(height(node.chain)).toBe(0n)
    const before = world.timing.now()
    await world.settle()
    expect(world.timing.now() - before).toBeGreaterThan(LIMITS.answerMs)
    expect(height(node.chain)).toBe(5n)
    expect(countOf(node, 'timeoutMessages')).toBeGreaterThan(0)
  })

  test('difficulty', async () => {
    await using world = new LinkWorld()
    const node = await world.add('a')
    const blocks = await blocksElsewhere(world, 5)
    const peer = await handmadePeer(world, node, {}, serving(blocks))
    announce(peer, blocks, 10n ** 30n)
    await world.settle()
    // the blocks are as good as any, the claim is not
    expect(height(node.chain)).toBe(5n)
    expect(countOf(node, 'invalidHeader')).toBe(1)
    expect(node.network.list()[0]?.totalDifficulty).toBe(
      headOf(node.chain.state.tree).totalDifficulty,
    )
  })

  test('blocks of another hash than requested', async () => {
    await using world = new LinkWorld()
    const node = await world.add('a')
    const blocks = await blocksElsewhere(world, 3)
    const { getHeaders } = serving(blocks)
    const peer = await handmadePeer(world, node, {}, {
      getHeaders,
      getBlocks: () => [encodeBlock(blocks[2]!)],
    } as Answers)
    announce(peer, blocks)
    await world.settle()
    expect(countOf(node, 'unexpectedMessages')).toBe(1)
    expect(height(node.chain)).toBe(0n)
  })
})

describe('a body that does not match its header', () => {
  const BODIES: readonly (readonly [what: string, transactions: readonly Uint8Array[]])[] = [
    ['no transactions', []],
    ['a transaction that cannot be read', [Uint8Array.of(2, 0xc0)]],
  ]

  test.each(BODIES)(
    'is fetched from another peer, and its sender is blamed: %s',
    async (_, bodies) => {
      await using world = new LinkWorld()
      const node = await world.add('a')
      const blocks = await blocksElsewhere(world, 3)
      const last = blocks[2]!
      const transactions = bodies.map((raw) => ({ ...last.transactions[0]!, raw }))
      const emptied = encodeBlock({ ...last, transactions })
      const liar = await handmadePeer(
        world,
        node,
        { number: 3n },
        {
          getHeaders: serving(blocks).getHeaders!,
          getBlocks: ({ hashes }) =>
            hashes.map((hash) =>
              hash === last.hash
                ? emptied
                : encodeBlock(blocks.find((each) => each.hash === hash)!),
            ),
        },
      )
      const honestId = { nodeId: new Uint8Array(32).fill(9), number: 3n, head: last.hash }
      await handmadePeer(world, node, { ...honestId, totalDifficulty: 1n }, serving(blocks))
      announce(liar, blocks, headOfBlocks(blocks))
      await world.settle()
      expect(height(node.chain)).toBe(3n)
      const [first] = node.network.reputations().filter(({ id }) => id === 'eeeeeeee')
      expect(first?.counts.invalidBlocks).toBe(1)
    },
  )
})

describe('link transactions', () => {
  test('fill the pool only to the share for peers, and the node goes on', async () => {
    await using world = new LinkWorld()
    const node = await world.add('a', { noMining: true })
    const transactions = Array.from({ length: 5_000 }, (_, nonce) =>
      signed(node.chain, { nonce: BigInt(nonce), index: 1, value: 0n }),
    )
    const byHash = new Map(transactions.map((each) => [each.hash, each.raw]))
    const peer = await handmadePeer(
      world,
      node,
      {},
      {
        getTransactions: ({ hashes }) => hashes.map((hash) => byHash.get(hash)!),
      },
    )
    for (let at = 0; at < transactions.length; at += 1_000) {
      const hashes = transactions.slice(at, at + 1_000).map(({ hash }) => hash)
      peer.say({ kind: 'pooled', hashes })
      await world.settle()
    }
    const { size } = node.chain.state.pool
    expect(size).toBeLessThanOrEqual(4_096)
    expect(size).toBeGreaterThan(3_800)
    await sendRawTransaction(node.chain, signed(node.chain, { index: 2 }).raw)
    expect(node.chain.state.pool.size).toBe(size + 1)
  })

  test('that nobody can pay for cost reputation, until the peer is disconnected', async () => {
    await using world = new LinkWorld()
    const node = await world.add('a', { noMining: true })
    const transactions = Array.from({ length: 300 }, (_, nonce) =>
      signed(node.chain, { nonce: BigInt(nonce), index: 1, value: 10n ** 30n }),
    )
    const byHash = new Map(transactions.map((each) => [each.hash, each.raw]))
    const peer = await handmadePeer(
      world,
      node,
      {},
      {
        getTransactions: ({ hashes }) => hashes.map((hash) => byHash.get(hash)!),
      },
    )
    peer.say({ kind: 'pooled', hashes: transactions.map(({ hash }) => hash) })
    await world.settle()
    expect(node.chain.state.pool.size).toBe(0)
    expect(countOf(node, 'invalidTransactions')).toBe(256)
    expect(peer.farewell()).toMatch(/^banned for 10 s/)
  })

  test('with invalid blob proofs cost as much as verifying them takes', async () => {
    await using world = new LinkWorld()
    const node = await world.add('a', { noMining: true })
    const { blobs, commitments } = sidecarOf(0, [1])
    const wrong = { version: 0, blobs, commitments, proofs: sidecarOf(0, [2]).proofs } as const
    const fields = { maxFeePerBlobGas: 10n, versionedHashes: commitments.map(blobHash) }
    const transactions = Array.from({ length: 9 }, (_, nonce) =>
      signed(node.chain, { type: 3, index: 1, nonce: BigInt(nonce), blobs: fields }),
    )
    const byHash = new Map(transactions.map((each) => [each.hash, encodeSent(each, wrong)]))
    const getTransactions: Answers['getTransactions'] = ({ hashes }) =>
      hashes.slice(0, 1).map((hash) => byHash.get(hash)!)
    const peer = await handmadePeer(world, node, {}, { getTransactions })
    for (const { hash } of transactions) {
      peer.say({ kind: 'pooled', hashes: [hash] })
      await world.settle()
    }
    expect(node.chain.state.pool.size).toBe(0)
    // the sixth is one too many
    expect(countOf(node, 'invalidTransactions')).toBe(6 * 20)
    expect(peer.farewell()).toMatch(/^banned for 10 s/)
  })

  test('that were not requested are not accepted', async () => {
    await using world = new LinkWorld()
    const node = await world.add('a', { noMining: true })
    const [one, other] = [0n, 1n].map((nonce) => signed(node.chain, { nonce, index: 1 }))
    const peer = await handmadePeer(world, node, {}, { getTransactions: () => [other!.raw] })
    peer.say({ kind: 'pooled', hashes: [one!.hash] })
    await world.settle()
    expect(peer.farewell()).toMatch(/a transaction that was not asked for/)
    expect(node.chain.state.pool.size).toBe(0)
  })
})

/** The total difficulty of a chain that ends with these blocks after the genesis of difficulty 1. */
function headOfBlocks(blocks: readonly Block[]): bigint {
  return blocks.reduce((sum, { header }) => sum + header.difficulty, 1n)
}
