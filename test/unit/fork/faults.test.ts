// Networks with faults: a fork comes to the right answer, or to an error in the network's words, and nothing false stays.
import { describe, expect, test } from 'vitest'
import { createDevchain } from '../../../src/devchain.ts'
import {
  type Asked,
  deployKeeper,
  type Faults,
  type Fork,
  forkOf,
  SUMMED,
  sendOn,
  setting,
  startUpstream,
  type Upstream,
  word,
} from '../../support/fork/upstream.ts'

const SUM = `0x${word((SUMMED * (SUMMED - 1)) / 2 + 100 * SUMMED)}`

const TRACE = 'debug_traceCall'

const OTHER = `0x${'ab'.repeat(20)}`

const ofMethod =
  (method: string, answer: unknown) =>
  (asked: Asked, result: unknown): unknown =>
    asked.method === method ? answer : result

/** Faults of one answer that a service gives while it is too busy, and then no more. */
const PASSING: readonly (readonly [string, Faults['next'][number]])[] = [
  ['429 with Retry-After', { status: 429, body: 'slow down', headers: { 'retry-after': '0' } }],
  ['503', { status: 503, body: '', headers: { 'retry-after': '0' } }],
  [
    'an error of a limit for a whole batch',
    {
      status: 200,
      body: '{"jsonrpc":"2.0","id":null,"error":{"code":-32005,"message":"rate limit exceeded"}}',
      headers: { 'retry-after': '0' },
    },
  ],
  ['a page of a gateway', { status: 502, body: '<html>bad gateway</html>' }],
  ['an empty body', { status: 200, body: '' }],
  ['half of a body', { status: 200, body: '[{"jsonrpc":"2.0","id":0,"resu' }],
]

const LASTING: readonly (readonly [string, Partial<Faults>])[] = [
  ['is slow', { latencyMs: 30 }],
  ['takes no batches', { mostTogether: 1 }],
  ['takes batches of seven', { mostTogether: 7 }],
  ['replies in another order', { replies: (all) => all.toReversed() }],
  ['replies to a part of a batch', { replies: (all) => all.slice(0, 3) }],
  ['knows no way to read many slots', { unknown: new Set(['eth_getStorageValues']) }],
  ['neither traces nor makes access lists', { unknown: new Set([TRACE, 'eth_createAccessList']) }],
  [
    'answers nonsense for an access list',
    { unknown: new Set([TRACE]), lie: ofMethod('eth_createAccessList', { accessList: 'none' }) },
  ],
  [
    'has nonsense in an access list',
    {
      unknown: new Set([TRACE]),
      lie: ofMethod('eth_createAccessList', {
        accessList: [
          null,
          {},
          { address: OTHER, storageKeys: ['slot', null] },
          { address: '0x12' },
        ],
      }),
    },
  ],
  ...[null, 'none', [1], { '0x12': {} }, { [OTHER]: null }, { [OTHER]: { storage: 'none' } }].map(
    (answer) =>
      [`answers ${JSON.stringify(answer)} for a trace`, { lie: ofMethod(TRACE, answer) }] as const,
  ),
  [
    'has nonsense in a trace',
    {
      lie: ofMethod(TRACE, {
        [OTHER]: { balance: 'much', nonce: -1, code: 'none', storage: { slot: 'word', '0x1': {} } },
      }),
    },
  ],
  [
    'names other slots in an access list than are read',
    {
      unknown: new Set([TRACE]),
      lie: ofMethod('eth_createAccessList', {
        accessList: [{ address: OTHER, storageKeys: [`0x${word(1)}`] }],
      }),
    },
  ],
  [
    'answers nonsense for many slots',
    { lie: ofMethod('eth_getStorageValues', { '0x00': ['0x1'] }) },
  ],
]

describe.each([false, true])('with proofs: %s, a network that', (forkProofs) => {
  test.each(LASTING)('%s can be forked', async (_, faults) => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    Object.assign(upstream.faults, faults)
    await using fork = await forkOf(upstream, { forkProofs })
    expect(await fork.ask('eth_call', { to: keeper })).toBe(SUM)
    expect(await fork.ask('eth_call', { to: keeper, data: `0x${word(5)}` })).toBe(`0x${word(6000)}`)
    expect((await sendOn(fork.ask, { to: keeper, data: setting(0, 9) })).status).toBe('0x1')
    expect(await fork.ask('eth_getStorageAt', keeper, '0x0')).toBe(`0x${word(9)}`)
  })

  test.each(PASSING)('responds with %s once gets a retry', async (_, answer) => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    await using fork = await forkOf(upstream, { forkProofs, accounts: 0 })
    upstream.faults.next.push(answer)
    expect(await fork.ask('eth_call', { to: keeper })).toBe(SUM)
  })

  test('cuts connections is an error, and the fork continues when it is back', async () => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    await using fork = await forkOf(upstream, { forkProofs, forkRetries: 0 })
    upstream.faults.isCut = true
    const [from] = (await fork.ask('eth_accounts')) as string[]
    const request = { from, to: keeper, data: setting(0, 9), gas: '0x60000' }
    for (const ask of [
      () => fork.ask('eth_call', { to: keeper }),
      () => fork.ask('eth_sendTransaction', request),
      () => fork.ask('eth_getBlockByNumber', '0x1', false),
    ]) {
      await expect(ask()).rejects.toThrow(/^the forked network did not answer: http:\/\/127/)
    }
    upstream.faults.isCut = false
    expect(await fork.ask('eth_call', { to: keeper })).toBe(SUM)
    expect((await sendOn(fork.ask, request)).status).toBe('0x1')
    expect(Number(await fork.ask('eth_blockNumber'))).toBe(
      Number(await upstream.ask('eth_blockNumber')) + 1,
    )
  })

  test('is silent past the timeout is an error', async () => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    await using fork = await forkOf(upstream, { forkProofs, forkRetries: 0, forkTimeout: '900ms' })
    upstream.faults.latencyMs = 2_000
    await expect(fork.ask('eth_call', { to: keeper })).rejects.toThrow(/no answer within 0.9 s/)
    upstream.faults.latencyMs = 0
    expect(await fork.ask('eth_call', { to: keeper })).toBe(SUM)
  })

  test('lags and does not know an old block yet gets a retry', async () => {
    await using upstream = await startUpstream()
    await deployKeeper(upstream)
    await using fork = await forkOf(upstream, { forkRetries: 0 })
    upstream.faults.lie = ({ method, params }, result) =>
      method === 'eth_getBlockByNumber' && params[0] === '0x1' ? null : result
    expect(await fork.ask('eth_getBlockByNumber', '0x1', false)).toBeNull()
    await expect(fork.ask('eth_getBalance', `0x${'51'.repeat(20)}`, '0x1')).rejects.toThrow(
      /the forked network has no block 1, below the fork at 2/,
    )
    upstream.faults.lie = undefined
    expect(await fork.ask('eth_getBlockByNumber', '0x1', false)).toEqual(
      await upstream.ask('eth_getBlockByNumber', '0x1', false),
    )
    expect(await fork.ask('eth_getBalance', `0x${'51'.repeat(20)}`, '0x1')).toBe('0x0')
  })

  test('has pruned the state is an error in its own words, while blocks work', async () => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    await using fork = await forkOf(upstream, { forkProofs, hardfork: 'london' })
    upstream.faults.refuse = ({ method }) =>
      /^eth_get(Proof|Balance|Storage)/.test(method)
        ? { code: -32000, message: 'missing trie node 5a1f (path 0a)' }
        : undefined
    await expect(fork.ask('eth_call', { to: keeper })).rejects.toThrow(
      /refuses eth_get\w+: missing trie node 5a1f/,
    )
    upstream.faults.refuse = undefined
    expect(await fork.ask('eth_call', { to: keeper })).toBe(SUM)
  })
})

describe('an exhausted quota', () => {
  const KEY = 'abc123'
  const quota = {
    status: 429,
    body: `the quota of ${KEY} is used up`,
    headers: { 'retry-after': '3600' },
  }
  const WORDS = /the forked network did not answer: .*: 429 the quota of … is used up; /

  /** Kinds of work that need a network, each of another part of this program. */
  const works: readonly (readonly [string, ...unknown[]])[] = [
    ['eth_getBalance', OTHER, 'latest'],
    ['eth_getBalance', OTHER, '0x1'],
    ['eth_call', { to: OTHER, data: '0x12345678' }],
    ['eth_estimateGas', { to: OTHER, data: '0x12345678' }],
    ['eth_sendTransaction', { to: OTHER, gas: '0x20000' }],
    ['eth_getBlockByNumber', '0x1', false],
    ['eth_getBlockByHash', `0x${'12'.repeat(32)}`, false],
    ['eth_getTransactionByHash', `0x${'12'.repeat(32)}`],
    ['eth_getLogs', { fromBlock: '0x0', toBlock: 'latest' }],
    ['eth_feeHistory', '0x2', 'latest', []],
    ['eth_getProof', OTHER, [], '0x1'],
    ['debug_traceBlockByNumber', '0x1'],
    ['debug_traceTransaction', `0x${'12'.repeat(32)}`],
    ['trace_filter', { fromBlock: '0x0', toBlock: '0x1' }],
    ['evm_mine'],
    ['eth_simulateV1', { blockStateCalls: [{ calls: [{ to: OTHER }] }] }, 'latest'],
    ['hardhat_reset', { forking: { jsonRpcUrl: 'URL' } }],
    ['anvil_setRpcUrl', 'URL'],
  ]

  test('fails any request at once, in the words of the network', async () => {
    await using upstream = await startUpstream()
    await deployKeeper(upstream)
    const url = `${upstream.url}/v3/${KEY}`
    await using fork = await forkOf(upstream, { fork: { url } })
    const [from] = (await fork.ask('eth_accounts')) as string[]
    const given = (param: unknown): unknown =>
      JSON.parse(JSON.stringify(param).replace('URL', url).replace('"to"', `"from":"${from}","to"`))
    upstream.faults.always = quota
    for (const [method, ...params] of works) {
      const failed: unknown = await fork.ask(method, ...params.map(given)).catch((error) => error)
      expect([method, String(failed)]).toEqual([method, expect.stringMatching(WORDS)])
      expect(String(failed)).not.toContain(KEY)
    }
    upstream.faults.always = undefined
    expect(await fork.ask('eth_getBalance', OTHER, 'latest')).toBe('0x0')
  })

  test('fails a start at once, also with several URLs', async () => {
    await using upstream = await startUpstream()
    await using other = await startUpstream()
    for (const { faults } of [upstream, other]) faults.always = quota
    const urls = [upstream, other].map(({ url }) => `${url}/v3/${KEY}`)
    for (const url of [urls[0]!, urls]) {
      const begun = createDevchain({ fork: { url }, noForkCache: true })
      await expect(begun).rejects.toThrow(WORDS)
    }
  })
})

describe('a reorg of the network', () => {
  test.each([false, true])(
    'below the fork block is an error, and nothing of the other branch is used; proofs: %s',
    async (forkProofs) => {
      await using upstream = await startUpstream()
      const keeper = await deployKeeper(upstream)
      await upstream.ask('evm_mine')
      await using fork = await forkOf(upstream, { forkProofs })
      const stranger = `0x${'51'.repeat(20)}`
      expect(await fork.ask('eth_call', { to: keeper })).toBe(SUM)
      await upstream.ask('anvil_rollback', 1)
      await sendOn(upstream.ask, { to: stranger, value: '0x5' })
      await expect(fork.ask('eth_getBalance', stranger)).rejects.toThrow(
        /block 3 of the forked network was 0x[0-9a-f]{64} and is 0x[0-9a-f]{64}: a reorg below the fork/,
      )
      // what is here already stays as it was
      expect(await fork.ask('eth_call', { to: keeper })).toBe(SUM)
    },
  )
})

describe('a lagging node', () => {
  /** A network with two nodes, of which the first is behind, and what it does not know. */
  async function twoNodes(): Promise<{
    readonly behind: Upstream
    readonly fork: Fork
    readonly hash: string
    readonly [Symbol.asyncDispose]: () => Promise<void>
  }> {
    const [behind, good] = [await startUpstream(), await startUpstream()]
    for (const node of [behind, good]) await deployKeeper(node)
    const fork = await forkOf(behind, { fork: { url: [behind.url, good.url] } })
    const block = (await good.ask('eth_getBlockByNumber', '0x1', false)) as never
    const [hash = ''] = (block as { transactions: string[] }).transactions
    const dispose = async (): Promise<void> => {
      await fork.devchain.close()
      await Promise.all([behind.close(), good.close()])
    }
    return { behind, fork, hash, [Symbol.asyncDispose]: dispose }
  }

  test.each<[string, (hash: string) => readonly [string, ...unknown[]]]>([
    ['eth_getBlockByNumber', () => ['eth_getBalance', OTHER]],
    ['eth_getBalance', () => ['eth_getBalance', OTHER]],
    ['eth_getBlockByNumber', () => ['eth_getBlockByNumber', '0x1', false]],
    ['eth_getLogs', () => ['eth_getLogs', { fromBlock: '0x0' }]],
    ['eth_getTransactionReceipt', (hash) => ['eth_getTransactionReceipt', hash]],
    ['debug_traceTransaction', (hash) => ['debug_traceTransaction', hash]],
  ])('that does not know %s is skipped for the next URL', async (method, request) => {
    await using nodes = await twoNodes()
    const { behind, fork, hash } = nodes
    const truth = await behind.ask(...request(hash))
    behind.faults.lie = ofMethod(method, null)
    expect(await fork.ask(...request(hash))).toEqual(truth)
    expect(fork.notices).toEqual([expect.stringMatching(/^asking .* now: .* answered null, not /)])
  })

  test.each(['header not found', 'BlockOutOfRangeError: block height is 1 but requested was 2'])(
    'that says %j is asked again, or another one',
    async (message) => {
      await using nodes = await twoNodes()
      const { behind, fork } = nodes
      const refuse = ({ method }: Asked): { code: number; message: string } | undefined =>
        method === 'eth_getBalance' ? { code: -32000, message } : undefined
      behind.faults.refuse = refuse
      expect(await fork.ask('eth_getBalance', OTHER)).toBe('0x0')
      await using single = await forkOf(behind)
      let left = 2
      behind.faults.refuse = (asked) => {
        const error = refuse(asked)
        return error !== undefined && left-- > 0 ? error : undefined
      }
      expect(await single.ask('eth_getBalance', OTHER)).toBe('0x0')
    },
  )

  test('that does not have the fork block is not mistaken for a reorg', async () => {
    await using upstream = await startUpstream()
    await deployKeeper(upstream)
    await using fork = await forkOf(upstream, { forkRetries: 0 })
    upstream.faults.lie = ofMethod('eth_getBlockByNumber', null)
    await expect(fork.ask('eth_getBalance', OTHER)).rejects.toThrow(
      /^the forked network no longer has block 2 .*: its node lags behind, or /,
    )
    upstream.faults.lie = undefined
    expect(await fork.ask('eth_getBalance', OTHER)).toBe('0x0')
  })

  test.each([
    ['eth_getTransactionByHash', 'eth_getTransactionByHash'],
    ['eth_getTransactionByHash', 'eth_getTransactionReceipt'],
    ['eth_getTransactionReceipt', 'eth_getTransactionReceipt'],
    ['eth_getBlockByHash', 'eth_getBlockByHash'],
  ])(
    'that does not know a transaction by %s is asked again by the next %s',
    async (method, asked) => {
      await using upstream = await startUpstream()
      await deployKeeper(upstream)
      const block = (await upstream.ask('eth_getBlockByNumber', '0x1', false)) as never
      const { hash, transactions } = block as { hash: string; transactions: string[] }
      const params = asked === 'eth_getBlockByHash' ? [hash, false] : [transactions[0]]
      await using fork = await forkOf(upstream, { forkRetries: 0 })
      upstream.faults.lie = ofMethod(method, null)
      expect(await fork.ask(asked, ...params)).toBeNull()
      upstream.faults.lie = undefined
      expect(await fork.ask(asked, ...params)).toEqual(await upstream.ask(asked, ...params))
    },
  )
})

describe('another network', () => {
  test('that refuses blocks that it does not have is detected', async () => {
    await using upstream = await startUpstream()
    await upstream.ask('hardhat_mine', '0x100')
    await using stranger = await createDevchain({ chainId: 5 })
    // deep enough that no reorganization is looked for
    const url = upstream.url.replace('127.0.0.1', 'localhost')
    await using fork = await forkOf(upstream, { fork: { url, block: 3 } })
    upstream.faults.stranger = stranger
    upstream.faults.refuse = ({ method }) =>
      method === 'eth_getBalance' ? { code: -32602, message: 'BlockOutOfRange' } : undefined
    await expect(fork.ask('eth_getBalance', OTHER)).rejects.toThrow(/is another network now/)
  })

  test('behind one of several URLs is refused at the start, with both hashes', async () => {
    await using one = await startUpstream()
    await using other = await startUpstream({ balance: '5' })
    const fork = createDevchain({
      fork: { url: [one.url, other.url] },
      noForkCache: true,
    })
    await expect(fork).rejects.toThrow(
      /has another block 0 than http:\/\/127\.0\.0\.1:\d+: 0x[0-9a-f]{64}, not 0x[0-9a-f]{64}/,
    )
  })

  test.each([false, true])(
    'behind the URL is an error, and nothing of it stays; proofs: %s',
    async (forkProofs) => {
      await using upstream = await startUpstream()
      const keeper = await deployKeeper(upstream)
      await using stranger = await createDevchain({ chainId: 5, clock: 'step:12' })
      await stranger.request({ method: 'hardhat_mine', params: ['0x5'] })
      await using fork = await forkOf(upstream, { forkProofs })
      upstream.faults.stranger = stranger
      const following = { to: keeper, data: `0x${word(5)}` }
      for (const call of [{ to: keeper }, following]) {
        await expect(fork.ask('eth_call', call)).rejects.toThrow(
          /^http:\/\/127\S+ is another network now: its chain id is 5, expected 33$/,
        )
      }
      upstream.faults.stranger = undefined
      expect(await fork.ask('eth_call', { to: keeper })).toBe(SUM)
      expect(await fork.ask('eth_call', following)).toBe(`0x${word(6_000)}`)
    },
  )
})
