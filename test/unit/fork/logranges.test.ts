// Logs of many blocks: services take so many blocks, or so many logs, at a time, and say it in words of their own.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createDevchain } from '../../../src/devchain.ts'
import { hintIn } from '../../../src/fork/boundary/ranges.ts'
import { isLimitError, type UpstreamError } from '../../../src/fork/client/provider.ts'
import {
  type Asked,
  forkOf,
  KEEPER_CODE,
  sendOn,
  setting,
  startUpstream,
  type Upstream,
} from '../../support/fork/upstream.ts'
import { connectRaw, rawPost } from '../../support/wire/raw.ts'
import { bodyOf, startStage } from '../../support/wire/stage.ts'

const WIDE = { from: 100n, to: 1_000_099n }

/** What services answer to a range of a million blocks from 100 on, and the range that they take: of any blocks, or of these. */
type Refusal = [service: string, message: string, width?: bigint | undefined, isLasting?: boolean]

const REFUSALS: Refusal[] = [
  [
    'Infura',
    'query returned more than 10000 results. Try with this block range [0x64, 0xC7].',
    100n,
  ],
  ['Infura', 'range 1000000 exceeds limit of 10000', 10_000n, true],
  [
    'Alchemy',
    'Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, or you can request any block range with a cap of 10K logs in the response. Based on your parameters and the response size limit, this block range should work: [0x64, 0x2710]',
    9_901n,
  ],
  [
    'Alchemy',
    'You can make eth_getLogs requests with up to a 500 block range. Based on your parameters, this block range should work: [0x64, 0x257]',
    500n,
    true,
  ],
  [
    'Alchemy, free',
    'Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range. Based on your parameters, this block range should work: [0x64, 0x6d]. Upgrade to PAYG for expanded block range.',
    10n,
    true,
  ],
  ['Alchemy', 'Query timeout exceeded. Consider reducing your block range.', undefined],
  ['QuickNode', 'eth_getLogs is limited to a 10,000 range', 10_000n, true],
  [
    'QuickNode',
    'eth_getLogs and eth_newFilter are limited to a 10,000 blocks range',
    10_000n,
    true,
  ],
  ['Ankr', 'block range is too wide', undefined],
  ['publicnode', 'exceed maximum block range: 50000', 50_000n, true],
  ['BNB Smart Chain', 'exceed maximum block range: 5000', 5_000n, true],
  ['reth', 'query exceeds max block range 100000', 100_000n, true],
  ['reth', 'query exceeds max results 20000, retry with the range 100-609', 510n],
  ['dRPC', 'ranges over 10000 blocks are not supported on freetier', 10_000n, true],
  ['1RPC', 'eth_getLogs is limited to 0 - 10000 blocks range', 10_000n, true],
  ['LlamaRPC', 'range is too large, max is 1k blocks', 1_000n, true],
  [
    'Avalanche',
    'requested too many blocks from 100 to 1000099, maximum is set to 2048',
    2_048n,
    true,
  ],
  ['Evmos', 'maximum [begin, end] blocks distance: 10000', 10_000n, true],
  ['Sei', 'block range too large (2000), maximum allowed is 1000 blocks', 2_000n, true],
  [
    'Morph',
    'block range is larger than max block range, block range = 1000000, max block range = 5000',
    5_000n,
    true,
  ],
  ['scroll', 'block range is bigger than maxBlockRange', undefined],
  ['Base', 'block range too large', undefined],
  ['Arbitrum', 'logs matched by query exceeds limit of 10000', undefined],
  ['Harmony', 'query must be smaller than size 1024', 1_024n, true],
]

describe('the words of', () => {
  test.each<Refusal>(REFUSALS)(
    '%s are read as a limit: %s',
    (_, message, width, isLasting = false) => {
      const hint = width === undefined ? undefined : { width, isLasting }
      expect(hintIn({ code: -32000, message }, WIDE)).toEqual(hint)
      // asking again would not help
      expect(isLimitError({ code: -32005, message })).toBe(false)
    },
  )

  test('a service with a limit in the error’s data are read', () => {
    const data = { from: '0x64', limit: 10_000, to: '0xC7' }
    const error = { code: -32005, message: 'query returned more than 10000 results', data }
    expect(hintIn(error, WIDE)).toEqual({ width: 100n, isLasting: false })
  })

  test.each([
    'query returned more than 10000 results. Try with this block range [0x0, 0xC7].',
    'query returned more than 10000 results. Try with this block range [0xC7, 0x64].',
    'query returned more than 10000 results. Try with this block range [0x64, 0xf42a3].',
    'limited to a 1000000 range',
    'limited to a 0 range',
  ])('a service that suggests another range are ignored: %s', (message) => {
    expect(hintIn({ code: -32000, message }, WIDE)).toBeUndefined()
  })

  // these stay, however long one waits
  test.each([
    'Archive requests require a paid plan',
    'archive data is not available on the free tier, upgrade for more compute units',
    'missing trie node 5a1f (path ) state 0x5a1f is not available',
  ])('a service without the state are no limit: %s', (message) => {
    expect(isLimitError({ code: -32005, message })).toBe(false)
  })

  test.each(['credits limited to 6000/sec', 'rate limit: 10 requests per second'])(
    'a service with a rate limit are no range limit: %s',
    (message) => expect(isLimitError({ code: -32012, message })).toBe(true),
  )
})

interface Block {
  readonly blockNumber: string
}

/** A network of 240 blocks, thirty of which have a log. */
let network: Upstream
let logs: readonly Block[]

beforeAll(async () => {
  network = await startUpstream()
  const { contractAddress: keeper } = await sendOn(network.ask, { data: KEEPER_CODE })
  await network.ask('hardhat_mine', '0x60')
  for (let slot = 0; slot < 30; slot++)
    await sendOn(network.ask, { to: keeper, data: setting(slot, 1) })
  await network.ask('hardhat_mine', '0x70')
  logs = (await network.ask('eth_getLogs', { fromBlock: '0x0' })) as readonly Block[]
  return () => network.close()
})

interface Bounds {
  readonly from: number
  readonly to: number
}

function boundsOf({ params: [filter] }: Asked): Bounds {
  const { fromBlock, toBlock } = filter as { fromBlock: string; toBlock: string }
  return { from: Number(fromBlock), to: Number(toBlock) }
}

const inBounds = ({ from, to }: Bounds): number =>
  logs.filter(({ blockNumber }) => Number(blockNumber) >= from && Number(blockNumber) <= to).length

const numberOf = (number: number): string => `0x${number.toString(16)}`

/** The last block up to which there are so many logs at most. */
function lastWith(most: number, { from, to }: Bounds): number {
  let last = to
  while (inBounds({ from, to: last }) > most) last -= 1
  return last
}

type Refuse = (bounds: Bounds) => UpstreamError | undefined

const refusing =
  (isRefused: (bounds: Bounds) => boolean, words: (bounds: Bounds) => string): Refuse =>
  (bounds) =>
    isRefused(bounds) ? { code: -32602, message: words(bounds) } : undefined

const WIDTH = 25
const MOST = 10

/** How services refuse, and the requests that the logs of all blocks then take: the first time, and again. */
const SERVICES: readonly (readonly [string, Refuse, first: number, again: number])[] = [
  [
    'takes so many blocks, and says it',
    refusing(
      ({ from, to }) => to - from >= WIDTH,
      () => `limited to a ${WIDTH} range`,
    ),
    11,
    10,
  ],
  [
    'takes so many blocks, and does not say it',
    refusing(
      ({ from, to }) => to - from >= WIDTH,
      () => 'block range is too wide',
    ),
    31,
    31,
  ],
  [
    'takes so many logs, and proposes a range',
    refusing(
      (bounds) => inBounds(bounds) > MOST,
      (bounds) =>
        `query returned more than ${MOST} results. Try with this block range [${numberOf(bounds.from)}, ${numberOf(lastWith(MOST, bounds))}].`,
    ),
    9,
    9,
  ],
  [
    'takes so many logs, and says no more',
    refusing(
      (bounds) => inBounds(bounds) > MOST,
      () => `query returned more than ${MOST} results`,
    ),
    18,
    18,
  ],
  [
    'takes so many blocks, and of these so many logs',
    (bounds) =>
      refusing(
        ({ from, to }) => to - from >= WIDTH,
        () => `exceed maximum block range: ${WIDTH}`,
      )(bounds) ??
      refusing(
        (each) => inBounds(each) > MOST,
        () => `query returned more than ${MOST} results`,
      )(bounds),
    23,
    22,
  ],
]

describe('a service that', () => {
  test.each(SERVICES)('%s gets a range that it takes', async (_, refuse, first, again) => {
    network.faults.refuse = (asked) =>
      asked.method === 'eth_getLogs' ? refuse(boundsOf(asked)) : undefined
    onTestFinished(() => {
      network.faults.refuse = undefined
    })
    await using fork = await forkOf(network)
    const counts: number[] = []
    // another search of the same blocks is another question
    for (const topics of [[], [null]]) {
      const before = network.requests.flat().length
      expect(await fork.ask('eth_getLogs', { fromBlock: '0x0', topics })).toEqual(logs)
      const asked = network.requests.flat().slice(before)
      counts.push(asked.filter(({ method }) => method === 'eth_getLogs').length)
    }
    expect(counts).toEqual([first, again])
  })

  test('takes too few blocks at a time does not get ten thousand requests', async () => {
    await using upstream = await startUpstream()
    await upstream.ask('hardhat_mine', numberOf(30_000))
    upstream.faults.refuse = ({ method }) =>
      method === 'eth_getLogs' ? { code: 35, message: 'limited to a 2 block range' } : undefined
    await using fork = await forkOf(upstream)
    await expect(fork.ask('eth_getLogs', { fromBlock: '0x0' })).rejects.toThrow(
      /returns logs of 2 blocks at a time: blocks 0 to 30000 need more than 10000 requests; ask for fewer blocks/,
    )
    expect(upstream.requests.length).toBeLessThan(5)
  })
})

test('a search for logs ends when its clients disconnect, and goes on for another that waits for it', async () => {
  await using upstream = await startUpstream()
  await upstream.ask('hardhat_mine', numberOf(3_000))
  await using stage = await startStage({ fork: { url: upstream.url }, noForkCache: true })
  const port = Number(new URL(stage.url).port)
  using gone = await connectRaw(port)
  using later = await connectRaw(port)
  let asked = 0
  let other: Promise<unknown> | undefined
  const params = { fromBlock: '0x0' }
  upstream.faults.refuse = ({ method }) => {
    if (method !== 'eth_getLogs') return undefined
    asked += 1
    if (asked === 1) later.write(rawPost(bodyOf(method, [params])))
    if (asked === 50) other = stage.ask(method, params)
    if (asked === 100) gone.socket.resetAndDestroy()
    if (asked === 300) later.socket.resetAndDestroy()
    return asked === 1 ? { code: 35, message: 'limited to a 2 block range' } : undefined
  }
  const failure = stage.failure('eth_getLogs')
  gone.write(rawPost(bodyOf('eth_getLogs', [params])))
  expect(await failure).toMatchObject({ message: expect.stringContaining('disconnected') })
  const second = stage.failure('eth_getLogs')
  expect(await other).toEqual([])
  expect(await second).toMatchObject({ message: expect.stringContaining('disconnected') })
})

test('logs that were requested in parts are replayed as a whole', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'devchain-ranges-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'fork.jsonl')
  const refuse = SERVICES[2]![1]
  network.faults.refuse = (asked) =>
    asked.method === 'eth_getLogs' ? refuse(boundsOf(asked)) : undefined
  onTestFinished(() => {
    network.faults.refuse = undefined
  })
  const ask = { method: 'eth_getLogs', params: [{ fromBlock: '0x0' }] }
  {
    await using fork = await forkOf(network, { forkRecord: file })
    expect(await fork.devchain.request(ask)).toEqual(logs)
  }
  await using replayed = await createDevchain({ forkReplay: file, clock: 'step:12' })
  expect(await replayed.request(ask)).toEqual(logs)
})
