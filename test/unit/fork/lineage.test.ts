// Hashes of the blocks below a fork: out of the contract of EIP-2935 where it is there, and with proofs followed from the fork's own.
import { describe, expect, test } from 'vitest'
import {
  type Asked,
  type Fork,
  forkOf,
  startUpstream,
  type Upstream,
  word,
} from '../../support/fork/upstream.ts'

interface Block {
  readonly hash: string
  readonly number: string
}

const hashAt = async ({ ask }: Pick<Upstream, 'ask'>, number: number): Promise<string> =>
  ((await ask('eth_getBlockByNumber', `0x${number.toString(16)}`, false)) as Block).hash

/** Where hashes of blocks are kept (EIP-2935). */
const HISTORY = '0x0000f90827f1c53a10cb7a02335b175320002935'

/** Where a program answers with the hashes of blocks so many back, whose count is its input. */
const TARGET = `0x${'12'.repeat(20)}`
const ONE_HASH = '0x600035430340600052602060 00f3'.replace(' ', '')

function blockHash({ ask }: Fork, back: number): Promise<unknown> {
  const call = { to: TARGET, data: `0x${word(back)}` }
  return ask('eth_call', call, 'latest', { [TARGET]: { code: ONE_HASH } })
}

/** Numbers of the blocks below the newest that were asked for since so many requests. */
async function headersSince({ requests, ask }: Upstream, count: number): Promise<unknown[]> {
  const newest = await ask('eth_blockNumber')
  return requests
    .slice(count)
    .flat()
    .filter(({ method }) => method === 'eth_getBlockByNumber')
    .map(({ params }) => params[0])
    .filter((number) => number !== newest)
}

/** Changes the answers that are a block with a number. */
function lyingAbout(
  number: number,
  change: (block: Record<string, unknown>) => Record<string, unknown>,
): (asked: Asked, result: unknown) => unknown {
  return ({ method }, result) => {
    const block = result as Record<string, unknown> | null
    const isIt = method.startsWith('eth_getBlockBy') && Number(block?.number) === number
    return isIt && block !== null ? change(block) : result
  }
}

const later = (block: Record<string, unknown>): Record<string, unknown> => ({
  ...block,
  timestamp: '0x1',
})
const other = (block: Record<string, unknown>): Record<string, unknown> => ({
  ...block,
  hash: `0x${word(7)}`,
})

describe.each([false, true])('BLOCKHASH on a fork with proofs: %s', (forkProofs) => {
  test('reads one slot if the network keeps hashes (EIP-2935)', async () => {
    await using upstream = await startUpstream()
    await upstream.ask('hardhat_mine', '0x12c')
    await using fork = await forkOf(upstream, { forkProofs })
    const begun = upstream.requests.length
    expect(await blockHash(fork, 200)).toBe(await hashAt(upstream, 100))
    expect(await headersSince(upstream, begun)).toEqual([])
    const warm = upstream.requests.length
    expect(await blockHash(fork, 200)).toBe(await hashAt(upstream, 100))
    expect(upstream.requests).toHaveLength(warm)
  })

  test('reads headers if it does not', async () => {
    await using upstream = await startUpstream({ hardfork: 'shanghai' })
    await upstream.ask('hardhat_mine', '0x12c')
    await using fork = await forkOf(upstream, { forkProofs })
    const begun = upstream.requests.length
    expect(await blockHash(fork, 200)).toBe(await hashAt(upstream, 100))
    expect(await blockHash(fork, 256)).toBe(await hashAt(upstream, 44))
    expect(await blockHash(fork, 257)).toBe(`0x${word(0)}`)
    const asked = await headersSince(upstream, begun)
    // followed from the fork's block, each header once; else those two
    expect(asked.length).toBe(forkProofs ? 255 : 2)
    expect(upstream.requests.length - begun).toBeLessThan(20)
  })

  test('reads headers if another contract is at that address', async () => {
    await using upstream = await startUpstream()
    await upstream.ask('hardhat_mine', '0x20')
    await upstream.ask('anvil_setCode', HISTORY, '0x6001')
    await upstream.ask('anvil_setStorageAt', HISTORY, `0x${word(13)}`, `0x${word(7)}`)
    await upstream.ask('evm_mine')
    await using fork = await forkOf(upstream, { forkProofs })
    expect(await blockHash(fork, 20)).toBe(await hashAt(upstream, 13))
  })
})

// the first keeps hashes, the second does not
describe.each(['bpo2', 'shanghai'] as const)('--fork-proofs on %s', (hardfork) => {
  test.each([
    ['header', later, /a wrong proof of block 5: its header has another hash than 0x/],
    ['hash', other, /a wrong proof of block 5: its header has another hash than 0x0+7/],
  ])('detects a false %s below the fork block', async (_, lie, message) => {
    await using upstream = await startUpstream({ hardfork })
    await upstream.ask('hardhat_mine', '0x14')
    upstream.faults.lie = lyingAbout(5, lie)
    await using fork = await forkOf(upstream, { forkProofs: true })
    await expect(fork.ask('eth_getBlockByNumber', '0x5', true)).rejects.toThrow(message)
    await expect(fork.ask('eth_getBalance', TARGET, '0x5')).rejects.toThrow(message)
    expect(await fork.ask('eth_getBlockByNumber', '0x6', true)).toEqual(
      await upstream.ask('eth_getBlockByNumber', '0x6', true),
    )
    await using trusting = await forkOf(upstream)
    expect(await trusting.ask('eth_getBlockByNumber', '0x5', true)).not.toEqual(
      await upstream.ask('eth_getBlockByNumber', '0x5', true),
    )
  })

  test('detects a block with the wrong number', async () => {
    await using upstream = await startUpstream({ hardfork })
    await upstream.ask('hardhat_mine', '0x14')
    await using liar = await startUpstream({ hardfork, balance: '3' })
    await liar.ask('hardhat_mine', '0x14')
    const false5 = (await liar.ask('eth_getBlockByNumber', '0x5', false)) as Record<string, unknown>
    upstream.faults.lie = lyingAbout(5, () => false5)
    await using fork = await forkOf(upstream, { forkProofs: true })
    await expect(fork.ask('eth_getBlockByNumber', '0x5', false)).rejects.toThrow(
      new RegExp(`block 5: it is ${String(false5.hash)}, and the fork follows from 0x`),
    )
  })
})

test('--fork-proofs reports that the network gives no proof of the contract that keeps hashes', async () => {
  await using upstream = await startUpstream()
  await upstream.ask('hardhat_mine', '0x20')
  upstream.faults.unknown.add('eth_getProof')
  await using fork = await forkOf(upstream, { forkProofs: true, accounts: 0 })
  await expect(fork.ask('eth_getBlockByNumber', '0x5', false)).rejects.toThrow(
    /refuses eth_getProof/,
  )
})

describe('a block too far below the fork block', () => {
  test('is returned as the network has it, but none of its state is trusted', async () => {
    await using upstream = await startUpstream({ hardfork: 'shanghai' })
    await upstream.ask('hardhat_mine', '0x2080')
    await using fork = await forkOf(upstream, { forkProofs: true })
    expect(await fork.ask('eth_getBlockByNumber', '0x2', false)).toEqual(
      await upstream.ask('eth_getBlockByNumber', '0x2', false),
    )
    await expect(fork.ask('eth_getBalance', TARGET, '0x2')).rejects.toThrow(
      /block 2 of the forked network is over 8192 blocks below those whose hashes are proven/,
    )
  })

  test('is twice as far below if the network keeps hashes', async () => {
    await using upstream = await startUpstream()
    await upstream.ask('hardhat_mine', '0x2080')
    await using fork = await forkOf(upstream, { forkProofs: true })
    const begun = upstream.requests.length
    expect(await fork.ask('eth_getBalance', TARGET, '0x2')).toBe('0x0')
    // 8,320 - 8,191 = 129 is the oldest that the contract keeps
    const asked = await headersSince(upstream, begun)
    expect(asked.length).toBeLessThan(130)
  })
})
