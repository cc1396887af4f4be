// Networks that keep the state of their newest blocks alone: the error says which block is too old, how old, and what to do.
import { describe, expect, test } from 'vitest'
import { Client, RefusedByUpstream } from '../../../src/fork/client/client.ts'
import {
  isPrunedError,
  type UpstreamReply,
  type UpstreamRequest,
} from '../../../src/fork/client/provider.ts'
import { PrunedState } from '../../../src/fork/network/pruned.ts'
import { findBlock } from '../../../src/fork/start/find.ts'
import { deployKeeper, forkOf, startUpstream, type Upstream } from '../../support/fork/upstream.ts'

const MISSING = { code: -32000, message: 'missing trie node 5a1f (path ) state is not available' }

const ofState = ({ method }: { readonly method: string }): typeof MISSING | undefined =>
  /^eth_get(Balance|TransactionCount|Code|Storage|Proof)/.test(method) ? MISSING : undefined

const ofProofs = ({ method }: { readonly method: string }): typeof MISSING | undefined =>
  method === 'eth_getProof' ? MISSING : undefined

describe('an error of the network', () => {
  test.each([
    'missing trie node 94d34 (path ) state 0x94d34 is not available, not found',
    'state already discarded',
    "state histories haven't been fully indexed yet",
    'required historical state unavailable (reexec=128)',
    'historical state is not available',
    'historical state 0x12 is not available',
    'historical state not available in path scheme yet',
    'state at block #123 is pruned',
    'old data not available due to pruning: requested block 6134861',
    'pruned history unavailable: requested 1, earliest available 2',
    'No state available for block 0x3f9e020290502d1d41f4b5519e7d456f0935dea980ec310935206cac8239117e',
    'distance to target block exceeds maximum proof window',
    'project ID does not have access to archive state',
    'Archive requests require a personal token. Get one at: https://www.allnodes.com/publicnode',
    'no historical RPC is available for this historical (pre-bedrock) execution request',
  ])('that says "%s" means pruned state', (message) => {
    expect(isPrunedError({ code: -32000, message })).toBe(true)
  })

  test.each([
    'execution reverted: state machine is not available yet',
    'header not found',
    'the method eth_getProof does not exist/is not available',
    'query returned more than 10000 results',
    'nonce too low',
    'rate limit exceeded',
  ])('that says "%s" does not mean pruned state', (message) => {
    expect(isPrunedError({ code: -32000, message })).toBe(false)
  })

  test.each([
    [{ number: 5n }, 'block 5: name'],
    [{ number: 5n, newest: 6n }, 'block 5, which lies 1 block behind its newest: name'],
    [{ number: 5n, timestamp: 1_000n }, 'block 5, which is 1 day old: name'],
    [
      { number: 5n, timestamp: 87_000n, newest: 21_005n },
      'block 5, which is 6 minutes old and lies 21,000 blocks behind its newest: name',
    ],
    [{ number: 5n, timestamp: 90_000n }, 'block 5: name'],
  ])('about the block %o is shortened to "%s"', (age, reported) => {
    const ask = { method: 'eth_getBalance', params: [] }
    const refused = new RefusedByUpstream(MISSING, ask, 'https://rpc.example.org/…')
    expect(new PrunedState(refused, age, 87_400_000).message).toContain(reported)
  })
})

describe('pruned state', () => {
  test.each([
    [false, ofState, /does not keep the state of block 2, .* or fork a newer block$/],
    [true, ofProofs, /gives no proofs of block 2, .* or fork a newer block, or do without proofs$/],
  ])(
    'is reported at the first request that needs it; proofs: %s',
    async (forkProofs, refuse, advice) => {
      await using upstream = await startUpstream()
      const keeper = await deployKeeper(upstream)
      await upstream.ask('evm_mine')
      await using fork = await forkOf(upstream, { fork: `${upstream.url}@2`, forkProofs })
      const [from] = (await fork.ask('eth_accounts')) as string[]
      upstream.faults.refuse = refuse
      for (const ask of [
        () => fork.ask('eth_call', { to: keeper }),
        () => fork.ask('eth_getBalance', keeper),
        () => fork.ask('eth_getStorageAt', keeper, '0x0'),
        () => fork.ask('eth_sendTransaction', { from, to: keeper, gas: '0x60000' }),
      ]) {
        const failed: unknown = await ask().catch((error: unknown) => error)
        expect(String(failed)).toMatch(
          /refuses eth_\w+: missing trie node 5a1f .*: it .* block 2, which is [\d,]+ days? old and lies 1 block behind its newest: name the URL of an archive node/,
        )
        expect(String(failed)).toMatch(advice)
      }
      // many slots are asked for together again, once there is somebody who has them
      upstream.faults.refuse = undefined
      const before = upstream.requests.length
      expect(await fork.ask('eth_call', { to: keeper })).toBe(
        await upstream.ask('eth_call', { to: keeper }),
      )
      const methods = upstream.requests
        .slice(before)
        .flat()
        .map(({ method }) => method)
      expect(methods).toContain(forkProofs ? 'eth_getProof' : 'eth_getStorageValues')
      expect(methods).not.toContain('eth_getStorageAt')
    },
  )

  test('of a block older than the fork block is reported with that block', async () => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    await using fork = await forkOf(upstream)
    upstream.faults.refuse = ofState
    await expect(fork.ask('eth_getBalance', keeper, '0x1')).rejects.toThrow(
      /does not keep the state of block 1, which lies 1 block behind its newest/,
    )
    await expect(fork.ask('eth_getProof', keeper, [], '0x1')).rejects.toThrow(
      /gives no proofs of block 1, which lies 1 block behind its newest/,
    )
  })

  test('is requested from the next URL', async () => {
    await using pruned = await startUpstream()
    await using archive = await startUpstream()
    const keeper = await deployKeeper(pruned)
    await deployKeeper(archive)
    pruned.faults.refuse = ofState
    await using fork = await forkOf(pruned, { fork: { url: [pruned.url, archive.url] } })
    expect(await fork.ask('eth_call', { to: keeper })).toBe(
      await archive.ask('eth_call', { to: keeper }),
    )
    // where none has it, the error says so
    archive.faults.refuse = ofState
    const failed = fork.ask('eth_getBalance', `0x${'51'.repeat(20)}`)
    await expect(failed).rejects.toThrow(/does not keep the state of block 2/)
  })
})

/** A service that carries what it is asked to a chain, and keeps count. */
function serviceOf(upstream: Upstream): { client: Client; sent: (readonly UpstreamRequest[])[] } {
  const sent: (readonly UpstreamRequest[])[] = []
  const reply = async ({ method, params }: UpstreamRequest): Promise<UpstreamReply> => {
    const error = ofState({ method })
    return error === undefined
      ? { result: (await upstream.ask(method, ...params)) as never }
      : { error }
  }
  const send = (asks: readonly UpstreamRequest[]): Promise<readonly UpstreamReply[]> => {
    sent.push(asks)
    return Promise.all(asks.map(reply))
  }
  const provider = { name: 'https://rpc.example.org/…', mostAtOnce: 100, send }
  const options = { timeoutMs: 1_000, retries: 0, maxWaitMs: 8_000 }
  return { client: new Client({ providers: [provider], ...options }), sent }
}

describe('the state of a service’s block', () => {
  const urls = ['https://rpc.example.org/v3/KEY']

  test.each([
    ['1', 1],
    ['0x1', 1],
    ['-1', 2],
    [undefined, 2],
  ])(
    'that is named %s is checked within the requests that find it: %i',
    async (block, requests) => {
      await using upstream = await startUpstream()
      await upstream.ask('hardhat_mine', '0xff')
      const { client, sent } = serviceOf(upstream)
      const found = await findBlock(client, { urls, block })
      expect(sent).toHaveLength(requests)
      const number = `0x${found.block.header.number.toString(16)}`
      const asked = sent.at(-1)?.filter(({ method }) => method === 'eth_getBalance')
      expect(asked).toEqual([
        { method: 'eth_getBalance', params: [`0x${'00'.repeat(20)}`, number] },
      ])
      expect((await found.pruned)?.message).toMatch(/refuses eth_getBalance: missing trie node/)
    },
  )

  test('that is named by a tag is not checked, nor that of a local node', async () => {
    await using upstream = await startUpstream()
    const { client, sent } = serviceOf(upstream)
    await findBlock(client, { urls, block: 'latest' })
    await findBlock(client, { urls: [upstream.url], block: '0' })
    expect(sent.flat().map(({ method }) => method)).not.toContain('eth_getBalance')
  })
})
