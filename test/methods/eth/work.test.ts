// Mining for real, over a socket: Ethash with an implementation of its own, and merged mining with blocks of its own.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type MadeParentBlock,
  makeParentBlock,
  type ParentSketch,
} from '../../support/chain/parentblocks.ts'
import { startNode, type WireNode } from '../../support/wire/node.ts'
import {
  FIRST_EPOCH,
  type LightCache,
  type LightResult,
  lightCache,
  lightHash,
} from './lightethash.ts'

const A = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const B = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const ZERO = `0x${'00'.repeat(32)}`

interface BlockReply {
  readonly number: string
  readonly hash: string
  readonly parentHash: string
  readonly nonce: string
  readonly mixHash: string
  readonly uncles: string[]
  readonly transactions: string[]
  readonly difficulty: string
  readonly totalDifficulty: string
}

/** The result of a method; an error is thrown as `code: message`. */
async function ask<T>(node: WireNode, method: string, ...params: unknown[]): Promise<T> {
  const [reply] = await node.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
  const { result, error } = JSON.parse(reply!) as {
    readonly result: T
    readonly error?: { readonly code: number; readonly message: string }
  }
  if (error !== undefined) throw new Error(`${error.code}: ${error.message}`)
  return result
}

function latest(node: WireNode): Promise<BlockReply> {
  return ask<BlockReply>(node, 'eth_getBlockByNumber', 'latest', false)
}

/** High enough that most results are above the target. */
const DIFFICULTY = 4

describe('Ethash', () => {
  let cache: LightCache
  let node: WireNode
  beforeAll(async () => {
    node = await startNode({ noMining: true, difficulty: DIFFICULTY })
    // it builds its cache at the same time, on a thread of its own
    await ask(node, 'eth_getWork')
    cache = lightCache(FIRST_EPOCH.cache)
  })
  afterAll(async () => {
    await node[Symbol.asyncDispose]()
  })

  interface Proof extends LightResult {
    readonly nonce: bigint
  }

  function search(sealHash: string, isWanted: (result: bigint) => boolean, from = 0n): Proof {
    const header = Buffer.from(sealHash.slice(2), 'hex')
    for (let nonce = from; ; nonce += 1n) {
      const found = lightHash(cache, FIRST_EPOCH.dataset, header, nonce)
      if (isWanted(found.result)) return { ...found, nonce }
    }
  }

  function solve(sealHash: string, boundary: string, from = 0n): Proof {
    return search(sealHash, (result) => result <= BigInt(boundary), from)
  }

  function submit(sealHash: string, { nonce, mixDigest }: Proof): Promise<boolean> {
    const digest = `0x${Buffer.from(mixDigest).toString('hex')}`
    return ask(node, 'eth_submitWork', printed(nonce), sealHash, digest)
  }

  function printed(nonce: bigint): string {
    return `0x${nonce.toString(16).padStart(16, '0')}`
  }

  test('matches the published vector in its light implementation', () => {
    const header = 'c9149cc0386e689d789a1c2f3d5d169a61a6218ed30e74414dc736e442ef3d1f'
    const { mixDigest, result } = lightHash(
      lightCache(1024),
      32 * 1024,
      Buffer.from(header, 'hex'),
      0n,
    )
    expect(Buffer.from(mixDigest).toString('hex')).toBe(
      'e4073cffaef931d37117cefd9afd27ea0f1cad6a981dd2605c4a1ac97c519800',
    )
    expect(result).toBe(0xd3539235ee2e6f8db665c0a72169f55b7f6c605712330b778ec3944f0eb5a557n)
  })

  test('matches the official vector in its light implementation', () => {
    const header = '2a8de2adf89af77358250bf908bf04ba94a6e8c3ba87775564a41d269a05e4ce'
    const nonce = 0x4242424242424242n
    const { mixDigest, result } = lightHash(
      cache,
      FIRST_EPOCH.dataset,
      Buffer.from(header, 'hex'),
      nonce,
    )
    expect(Buffer.from(mixDigest).toString('hex')).toBe(
      '58f759ede17a706c93f13030328bcea40c1d1341fb26f2facd21ceb0dae57017',
    )
    expect(result).toBe(0xdd47fd2d98db51078356852d7c4014e6a5d6c387c35f40e2875b74a256ed7906n)
  })

  test('mines the given block by a proof: transaction, nonce and mix digest', async () => {
    const hash = await ask<string>(node, 'eth_sendTransaction', { from: A, to: B })
    const before = await latest(node)
    const [sealHash, seed, boundary] = await ask<string[]>(node, 'eth_getWork')
    expect(seed).toBe(ZERO)
    expect(BigInt(boundary!)).toBe(2n ** 256n / BigInt(DIFFICULTY))
    const proof = solve(sealHash!, boundary!)
    expect(await submit(sealHash!, proof)).toBe(true)
    const block = await latest(node)
    expect(block).toMatchObject({
      parentHash: before.hash,
      nonce: printed(proof.nonce),
      mixHash: `0x${Buffer.from(proof.mixDigest).toString('hex')}`,
      transactions: [hash],
    })
    expect(await ask(node, 'txpool_status')).toEqual({ pending: '0x0', queued: '0x0' })
    const receipt = await ask<{ readonly blockHash: string }>(
      node,
      'eth_getTransactionReceipt',
      hash,
    )
    expect(receipt.blockHash).toBe(block.hash)
    // again: valid, and known
    expect(await submit(sealHash!, proof)).toBe(true)
    expect((await latest(node)).hash).toBe(block.hash)
  })

  test('makes a late proof a side block, and an uncle of the next block', async () => {
    const [sealHash, , boundary] = await ask<string[]>(node, 'eth_getWork')
    const first = solve(sealHash!, boundary!)
    const second = solve(sealHash!, boundary!, first.nonce + 1n)
    expect(await submit(sealHash!, first)).toBe(true)
    const head = await latest(node)
    expect(await submit(sealHash!, second)).toBe(true)
    expect((await latest(node)).hash).toBe(head.hash)
    await ask(node, 'evm_mine')
    const [uncle] = (await latest(node)).uncles
    expect(uncle).not.toBe(head.hash)
    expect(await ask(node, 'eth_getUncleByBlockNumberAndIndex', 'latest', '0x0')).toMatchObject({
      hash: uncle,
      number: head.number,
      nonce: printed(second.nonce),
    })
  })

  test('returns false for a wrong digest, a wrong nonce and unknown work', async () => {
    const before = await latest(node)
    const [sealHash, , boundary] = await ask<string[]>(node, 'eth_getWork')
    const proof = solve(sealHash!, boundary!)
    expect(await submit(sealHash!, { ...proof, mixDigest: new Uint8Array(32) })).toBe(false)
    expect(await submit(sealHash!, { ...proof, nonce: proof.nonce + 1n })).toBe(false)
    expect(await submit(ZERO, proof)).toBe(false)
    expect((await latest(node)).hash).toBe(before.hash)
  })

  test('returns false for work on a reverted block', async () => {
    const id = await ask(node, 'evm_snapshot')
    await ask(node, 'evm_mine')
    const [sealHash, , boundary] = await ask<string[]>(node, 'eth_getWork')
    await ask(node, 'evm_revert', id)
    expect(await submit(sealHash!, solve(sealHash!, boundary!))).toBe(false)
  })

  test('returns false for a result above the target, and mines one below', async () => {
    const before = await latest(node)
    const [sealHash, , boundary] = await ask<string[]>(node, 'eth_getWork')
    const easy = search(sealHash!, (result) => result > BigInt(boundary!))
    const proof = solve(sealHash!, boundary!)
    expect(await submit(sealHash!, easy)).toBe(false)
    expect(await submit(sealHash!, proof)).toBe(true)
    const difficulty = BigInt(DIFFICULTY)
    expect(await latest(node)).toMatchObject({
      nonce: printed(proof.nonce),
      difficulty: `0x${difficulty.toString(16)}`,
      totalDifficulty: `0x${(BigInt(before.totalDifficulty) + difficulty).toString(16)}`,
    })
  })
})

describe('merged mining', () => {
  let node: WireNode
  beforeAll(async () => {
    node = await startNode({ noMining: true })
  })
  afterAll(() => node[Symbol.asyncDispose]())

  interface MergedWork {
    readonly blockHashForMergedMining: string
    readonly target: string
    readonly feesPaidToMiner: string
    readonly notify: boolean
    readonly parentBlockHash: string
  }

  interface Imported {
    readonly blockImportedResult: string
    readonly blockHash: string
    readonly blockIncludedHeight: string
  }

  const getWork = (of = node): Promise<MergedWork> => ask<MergedWork>(of, 'mnr_getWork')

  /** A parent block for work that is handed out now; its hash is as low as it has to be. */
  async function solved(sketch: Partial<ParentSketch> = {}, of = node): Promise<MadeParentBlock> {
    const work = await getWork(of)
    return makeParentBlock({
      work: work.blockHashForMergedMining,
      target: BigInt(work.target),
      ...sketch,
    })
  }

  const ways = {
    block: ({ block }: MadeParentBlock) => ask<Imported>(node, 'mnr_submitParentChainBlock', block),
    transactions: ({ hash, header, coinbase, ids }: MadeParentBlock) =>
      ask<Imported>(
        node,
        'mnr_submitParentChainBlockTransactions',
        hash,
        header,
        coinbase,
        ids.join(' '),
      ),
    'partial merkle': ({ hash, header, coinbase, branch, ids }: MadeParentBlock) =>
      ask<Imported>(
        node,
        'mnr_submitParentChainBlockPartialMerkle',
        hash,
        header,
        coinbase,
        branch.join('\n'),
        ids.length.toString(16),
      ),
  } as const

  const nameOf = ({ blockImportedResult }: Imported): string =>
    Buffer.from(blockImportedResult.slice(2), 'hex').toString()

  test.each(['transactions', 'partial merkle'] as const)(
    'refuses another block hash than the header’s by %s',
    async (way) => {
      const made = await solved({ transactions: 2 })
      const other = 'ab'.repeat(32)
      await expect(ways[way]({ ...made, hash: other })).rejects.toThrow(
        `the block hash given is 0x${other}: that of the header is 0x${made.hash}`,
      )
      await expect(ways[way]({ ...made, hash: 'ignored' })).rejects.toThrow(
        'blockHash: expected 32 bytes',
      )
      expect(nameOf(await ways[way]({ ...made, hash: `0x${made.hash.toUpperCase()}` }))).toBe(
        'IMPORTED_BEST',
      )
    },
  )

  test.each([
    [1, [1]],
    [2, [2]],
    [3, [3, 4]],
    [7, [5, 6, 7, 8]],
    [100, [65, 99, 100, 128]],
  ])(
    'refuses a number of transactions that a branch of %i cannot have',
    async (transactions, counts) => {
      const made = await solved({ transactions })
      const submit = (count: number): Promise<Imported> =>
        ways['partial merkle']({ ...made, ids: Array.from({ length: count }, () => '') })
      const wrong = [0, Math.min(...counts) - 1, Math.max(...counts) + 1].filter(
        (count) => count >= 0 && !counts.includes(count),
      )
      for (const count of wrong) {
        await expect(submit(count)).rejects.toThrow(
          new RegExp(
            `a block of ${count} transactions has a branch of .*, got ${made.branch.length}`,
          ),
        )
      }
      for (const count of counts) {
        expect(['IMPORTED_BEST', 'EXIST']).toContain(nameOf(await submit(count)))
      }
    },
  )

  const sizes = [1, 2, 7, 100]
  const cases = Object.keys(ways).flatMap((way) =>
    sizes.map((transactions) => ({ way: way as keyof typeof ways, transactions })),
  )
  test.each(cases)(
    'accepts a parent block of $transactions by $way',
    async ({ way, transactions }) => {
      const hash = await ask<string>(node, 'eth_sendTransaction', { from: A, to: B })
      const before = await latest(node)
      const made = await solved({ transactions, hasWitness: way !== 'transactions' })
      const imported = await ways[way](made)
      const block = await latest(node)
      expect(nameOf(imported)).toBe('IMPORTED_BEST')
      expect(imported).toMatchObject({ blockHash: block.hash, blockIncludedHeight: block.number })
      expect(block).toMatchObject({
        parentHash: before.hash,
        transactions: [hash],
        mixHash: `0x${made.hash}`,
        nonce: `0x${made.nonce.toString(16).padStart(16, '0')}`,
      })
    },
  )

  test('returns work with target, fees, and whether it is new', async () => {
    await using rich = await startNode({ noMining: true, difficulty: 1000 })
    const first = await getWork(rich)
    const head = await latest(rich)
    expect(first).toMatchObject({ feesPaidToMiner: '0', notify: true, parentBlockHash: head.hash })
    expect(BigInt(first.target)).toBe(2n ** 256n / 1000n)
    expect((await getWork(rich)).notify).toBe(false)
    await ask(rich, 'eth_sendTransaction', { from: A, to: B, gas: '0x5208', gasPrice: '0x64' })
    expect(await getWork(rich)).toMatchObject({ feesPaidToMiner: '2100000', notify: true })
    await ask(rich, 'eth_sendTransaction', { from: A, to: B, gas: '0x5208', gasPrice: '0x5' })
    expect(await getWork(rich)).toMatchObject({ feesPaidToMiner: '2205000', notify: false })
    await ask(rich, 'evm_mine')
    expect((await getWork(rich)).notify).toBe(true)
  })

  test('treats difficulties 1 and 2 as 3, so that not every header passes', async () => {
    expect((await getWork()).target).toBe(`0x${'55'.repeat(32)}`)
  })

  test('accepts a block once, and another for the same work as a side block', async () => {
    const { blockHashForMergedMining: work, target } = await getWork()
    const make = (height: number): MadeParentBlock =>
      makeParentBlock({ work, target: BigInt(target), height })
    const first = make(1000)
    expect(nameOf(await ways.block(first))).toBe('IMPORTED_BEST')
    expect(nameOf(await ways.transactions(first))).toBe('EXIST')
    const sibling = await ways.block(make(1001))
    expect(nameOf(sibling)).toBe('IMPORTED_NOT_BEST')
    await ask(node, 'evm_mine')
    expect((await latest(node)).uncles).toEqual([sibling.blockHash])
  })

  test('has no parent for work on a reverted block', async () => {
    const id = await ask(node, 'evm_snapshot')
    await ask(node, 'evm_mine')
    const made = await solved()
    await ask(node, 'evm_revert', id)
    expect(nameOf(await ways.block(made))).toBe('NO_PARENT')
  })

  test('keeps the height of the best parent block, even of small heights, until a revert', async () => {
    await using fresh = await startNode({ noMining: true })
    const height = async (): Promise<unknown> =>
      (await ask<Record<string, unknown>>(fresh, 'eth_bridgeState')).parentBlockchainBestChainHeight
    expect(await height()).toBe(0)
    const id = await ask(fresh, 'evm_snapshot')
    const submit = async (at: number): Promise<void> => {
      const { block } = await solved({ height: at }, fresh)
      await ask(fresh, 'mnr_submitParentChainBlock', block)
    }
    await submit(812_345)
    expect(await height()).toBe(812_345)
    await submit(812_344)
    expect(await height()).toBe(812_345)
    await ask(fresh, 'evm_revert', id)
    expect(await height()).toBe(0)
  })

  test('finds a configured tag', async () => {
    await using other = await startNode({ noMining: true, mergeMiningTag: 'XYZ:' })
    const right = await solved({ tag: 'XYZ:' }, other)
    const wrong = await solved({}, other)
    await expect(ask(other, 'mnr_submitParentChainBlock', wrong.block)).rejects.toThrow(
      /no tag XYZ:/,
    )
    expect(nameOf(await ask(other, 'mnr_submitParentChainBlock', right.block))).toBe(
      'IMPORTED_BEST',
    )
  })

  test('also accepts hex with 0x', async () => {
    const { block } = await solved()
    const imported = await ask<Imported>(node, 'mnr_submitParentChainBlock', `0x${block}`)
    expect(nameOf(imported)).toBe('IMPORTED_BEST')
  })

  const TAG = Buffer.from('DEVBLOCK:')
  const wrongCoinbases: readonly [what: string, data: (work: Buffer) => Buffer, error: RegExp][] = [
    [
      'no tag',
      (work) => work,
      /^-33000: Invalid block supplied by miner: the coinbase has no tag DEVBLOCK:$/,
    ],
    [
      'the tag twice',
      (work) => Buffer.concat([TAG, work, TAG, work]),
      /^-33000: .*the coinbase has the tag DEVBLOCK: more than once$/,
    ],
    [
      'the tag too late',
      (work) => Buffer.concat([TAG, work.subarray(0, 20)]),
      /^-33000: .*the tag DEVBLOCK: comes too late in the coinbase: expected 32 bytes after it, got 24$/,
    ],
    [
      'the tag too early',
      (work) => Buffer.concat([TAG, work, Buffer.alloc(125)]),
      /^-33000: .*the tag DEVBLOCK: comes too early in the coinbase: expected at most 128 bytes after its hash, got 129$/,
    ],
    [
      'unknown work',
      () => Buffer.concat([TAG, Buffer.alloc(32, 7)]),
      /^-33000: Cannot publish block, could not find hash 0x(07){32} in the cache$/,
    ],
  ]
  for (const way of Object.keys(ways) as (keyof typeof ways)[]) {
    test.each(wrongCoinbases)(`refuses a coinbase with %s by ${way}`, async (_, data, error) => {
      const { blockHashForMergedMining: work } = await getWork()
      const made = await solved({ data: data(Buffer.from(work.slice(2), 'hex')), transactions: 3 })
      const before = await latest(node)
      await expect(ways[way](made)).rejects.toThrow(error)
      expect((await latest(node)).hash).toBe(before.hash)
    })

    test(`refuses a header above the target by ${way}`, async () => {
      const made = await solved({ isAbove: true })
      await expect(ways[way](made)).rejects.toThrow(/^-33000: .*is above the target 0x(55){32}$/)
    })

    test(`refuses transactions of another header by ${way}`, async () => {
      const made = await solved({ transactions: 4 })
      const other = await solved({ transactions: 5 })
      const header = `${other.header}${made.block.slice(160)}`
      const mixed = { ...made, header: other.header, hash: other.hash, block: header }
      await expect(ways[way](mixed)).rejects.toThrow(
        /^-33000: .*the merkle root of the transactions is 0x.*: the header has 0x/,
      )
    })
  }

  test.each(['transactions', 'partial merkle'] as const)(
    'refuses ids that do not begin with the coinbase by %s',
    async (way) => {
      const made = await solved({ transactions: 2 })
      const turned = { ...made, ids: made.ids.toReversed(), branch: made.branch.toReversed() }
      await expect(ways[way](turned)).rejects.toThrow(
        /^-33000: .*the first transaction id is 0x.*: expected 0x/,
      )
    },
  )

  test.each(['transactions', 'partial merkle'] as const)(
    'refuses an empty list by %s',
    async (way) => {
      const made = { ...(await solved()), ids: [], branch: [] }
      await expect(ways[way](made)).rejects.toThrow(
        "-33000: The list of merkle hashes can't be empty",
      )
    },
  )

  test.each(['transactions', 'partial merkle'] as const)(
    'refuses a header of 79 bytes by %s',
    async (way) => {
      const made = await solved()
      const short = { ...made, header: made.header.slice(2) }
      await expect(ways[way](short)).rejects.toThrow(
        '-32602: parent header: expected 80 bytes, got 79',
      )
    },
  )

  test('refuses a branch longer than any tree', async () => {
    const { hash, header, coinbase, branch } = await solved()
    const long = [...branch, ...Array.from({ length: 31 }, () => '00'.repeat(32))]
    const params = [hash, header, coinbase, long.join(' '), (2 ** 31).toString(16)]
    await expect(ask(node, 'mnr_submitParentChainBlockPartialMerkle', ...params)).rejects.toThrow(
      /has 31 hashes: expected at most 30/,
    )
  })

  test('refuses a block that is truncated, too long, or without transactions', async () => {
    const { block, header } = await solved()
    const send = (text: string): Promise<unknown> => ask(node, 'mnr_submitParentChainBlock', text)
    await expect(send(block.slice(0, 158))).rejects.toThrow(
      '-32602: parent block: expected the header of 80 bytes at byte 0, got 79',
    )
    await expect(send(block.slice(0, -2))).rejects.toThrow(
      /^-32602: parent block: expected a lock time of 4 bytes/,
    )
    await expect(send(`${block}00`)).rejects.toThrow(
      /^-32602: parent block: expected nothing after byte \d+, got 0x00$/,
    )
    await expect(send(`${header}00`)).rejects.toThrow('expected a coinbase, got no transactions')
    await expect(send(`${header}fd0100`)).rejects.toThrow(/in as few bytes as it needs, got 1 in 2/)
    await expect(send(`${header}0g`)).rejects.toThrow(
      /^-32602: block: expected bytes as pairs of hex digits/,
    )
  })
})

describe('eth_hashrate', () => {
  test('sums up the last report of each miner within a minute', async () => {
    await using node = await startNode()
    const id = (digit: string): string => `0x${digit.repeat(64)}`
    expect(await ask(node, 'eth_submitHashrate', '0x500000', id('1'))).toBe(true)
    expect(await ask(node, 'eth_submitHashrate', `0x${'0'.repeat(62)}64`, id('2'))).toBe(true)
    expect(await ask(node, 'eth_submitHashrate', '0x100', id('1'))).toBe(true)
    expect(await ask(node, 'eth_hashrate')).toBe('0x164')
  })
})
