// Forks kept in a folder (--state): they go on without the network, as far as they fetched.
import path from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createDevchain, type Devchain, type DevchainOptions } from '../../src/devchain.ts'
import {
  deployKeeper,
  KEEPER_CODE,
  sendOn,
  setting,
  startUpstream,
  type Upstream,
  word,
} from '../support/fork/upstream.ts'
import { temporaryFolder } from '../support/process/boot.ts'

const RICH = '0x00000000000000000000000000000000000000aa'

type Ask = Upstream['ask']

interface Opened extends AsyncDisposable {
  readonly devchain: Devchain
  readonly ask: Ask
  readonly askAt: (path: string, method: string, ...params: readonly unknown[]) => Promise<unknown>
}

async function network(rich = '0x123'): Promise<Upstream> {
  const upstream = await startUpstream()
  onTestFinished(upstream.close)
  await upstream.ask('hardhat_setBalance', RICH, rich)
  await upstream.ask('hardhat_setBalance', '0x00000000000000000000000000000000000000ab', '0x456')
  await upstream.ask('hardhat_mine', '0x3')
  return upstream
}

function opener(): (options?: DevchainOptions) => Promise<Opened> {
  const state = path.join(temporaryFolder(onTestFinished), 'chains')
  return async (options = {}) => {
    const devchain = await createDevchain({
      state,
      noForkCache: true,
      noArtifacts: true,
      forkRetries: 0,
      clock: 'step:12',
      port: 0,
      ...options,
    })
    const { url } = await devchain.listen()
    return {
      devchain,
      ask: (method, ...params) => devchain.request({ method, params }),
      askAt: async (at, method, ...params) => {
        const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
        const reply = await (await fetch(url + at, { method: 'POST', body })).json()
        return (reply as { readonly result?: unknown }).result
      },
      [Symbol.asyncDispose]: () => devchain.close(),
    }
  }
}

const balanceOf = (ask: Ask, of: string): Promise<unknown> => ask('eth_getBalance', of, 'latest')

describe.each([false, true])('a fork on disk (--fork-proofs: %s)', (forkProofs) => {
  test('goes on without its URL and its network with what it fetched', async () => {
    const upstream = await network()
    const keeper = await deployKeeper(upstream)
    const open = opener()
    let head: unknown
    let snapshot: unknown
    {
      await using fork = await open({ fork: upstream.url, forkProofs })
      expect(await balanceOf(fork.ask, RICH)).toBe('0x123')
      await sendOn(fork.ask, { to: keeper, data: setting(3, 7) })
      snapshot = await fork.ask('evm_snapshot')
      await sendOn(fork.ask, { to: keeper, data: setting(4, 0) })
      head = await fork.ask('eth_getBlockByNumber', 'latest', true)
      await fork.ask('eth_getBlockByNumber', '0x2', false)
    }
    upstream.faults.isCut = true
    const asked = upstream.requests.length
    {
      await using fork = await open()
      expect(upstream.requests).toHaveLength(asked)
      const { ask } = fork
      expect(await ask('eth_getBlockByNumber', 'latest', true)).toEqual(head)
      expect(await balanceOf(ask, RICH)).toBe('0x123')
      expect(await ask('eth_getStorageAt', keeper, '0x3', 'latest')).toBe(`0x${word(7)}`)
      expect(await ask('eth_getStorageAt', keeper, '0x4', 'latest')).toBe(`0x${word(0)}`)
      expect(await ask('eth_getBlockByNumber', '0x2', false)).toMatchObject({ number: '0x2' })
      expect(await ask('evm_revert', snapshot)).toBe(true)
      expect(await ask('eth_getStorageAt', keeper, '0x4', 'latest')).toBe(`0x${word(104)}`)
      const { status } = await sendOn(ask, { to: keeper, data: setting(3, 8) })
      expect(status).toBe('0x1')
      await expect(balanceOf(ask, '0x00000000000000000000000000000000000000ab')).rejects.toThrow(
        /the forked network/,
      )
    }
    upstream.faults.isCut = false
    await using fork = await open({ fork: upstream.url })
    expect(await balanceOf(fork.ask, '0x00000000000000000000000000000000000000ab')).toBe('0x456')
    expect(await fork.ask('eth_getStorageAt', keeper, '0x3', 'latest')).toBe(`0x${word(8)}`)
  })

  test('answers as one in memory, restarted at random points', async () => {
    const upstream = await network()
    const keeper = await deployKeeper(upstream)
    const step = fc.oneof(
      fc.record({ slot: fc.nat(6), value: fc.nat(2) }),
      fc.constantFrom('restart', 'snapshot', 'revert', 'deploy', 'reset', 'mine'),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 25 }), async (steps) => {
        const open = opener()
        const options = { fork: upstream.url, forkProofs }
        let kept = await open(options)
        await using plain = await opener()({ ...options, state: undefined })
        const both = async (run: (ask: Ask) => Promise<unknown>): Promise<void> => {
          expect(await run(kept.ask)).toEqual(await run(plain.ask))
        }
        for (const each of steps) {
          if (each === 'restart') {
            await kept.devchain.close()
            kept = await open()
          } else if (each === 'snapshot') await both((ask) => ask('evm_snapshot'))
          else if (each === 'revert') await both((ask) => ask('evm_revert', '0x1').catch(String))
          else if (each === 'deploy') await both((ask) => sendOn(ask, { data: KEEPER_CODE }))
          else if (each === 'reset') await both((ask) => ask('evm_reset'))
          else if (each === 'mine') await both((ask) => ask('hardhat_mine', '0x20'))
          else
            await both((ask) => sendOn(ask, { to: keeper, data: setting(each.slot, each.value) }))
          await both((ask) => ask('eth_getBlockByNumber', 'latest', true))
        }
        await kept.devchain.close()
      }),
      { seed: 20261126, numRuns: 3 },
    )
  })
})

test.each([0, 2])(
  'chains at paths are kept with their forks, also with one that the default chain left (--threads %i)',
  async (threads) => {
    const [one, other] = [await network(), await network('0x999')]
    const openAgain = opener()
    const open: typeof openAgain = (options) => openAgain({ threads, ...options })
    {
      await using fork = await open({ fork: one.url })
      expect(await fork.askAt('/7', 'eth_getBalance', RICH, 'latest')).toBe('0x123')
      await fork.ask('hardhat_reset', { forking: { jsonRpcUrl: other.url } })
      expect(await balanceOf(fork.ask, RICH)).toBe('0x999')
      await fork.devchain.branch('plain', { options: { chainId: 5 } })
      await fork.ask('devchain_newChain', { name: 'own', options: { fork: one.url } })
      expect(await fork.askAt('/own', 'eth_getBalance', RICH, 'latest')).toBe('0x123')
    }
    one.faults.isCut = true
    other.faults.isCut = true
    {
      await using fork = await open()
      const chains = (await fork.ask('devchain_chains')) as readonly { readonly path: string }[]
      expect(chains.map(({ path: each }) => each)).toEqual(['/', '/7', '/plain', '/own'])
      expect(await balanceOf(fork.ask, RICH)).toBe('0x999')
      for (const at of ['/7', '/own']) {
        expect(await fork.askAt(at, 'eth_getBalance', RICH, 'latest')).toBe('0x123')
      }
      await fork.ask('hardhat_reset')
      expect(await balanceOf(fork.ask, RICH)).toBe('0x0')
    }
    await using plain = await open()
    expect(await balanceOf(plain.ask, RICH)).toBe('0x0')
    expect(await plain.askAt('/7', 'eth_getBalance', RICH, 'latest')).toBe('0x123')
  },
)

test('another block, another network or a chain that is no fork is refused; another URL of the network is not', async () => {
  const [one, other] = [await network(), await network('0x999')]
  const [open, unforked] = [opener(), opener()]
  await using second = await createDevchain({
    fork: one.url,
    chainId: 'remote',
    accounts: 0,
    port: 0,
  })
  const { url: sameNetwork } = await second.listen()
  {
    await using fork = await open({ fork: { url: one.url, block: 2 } })
    await balanceOf(fork.ask, RICH)
    await using chain = await unforked()
    await chain.ask('evm_mine')
  }
  const again = async (fork: DevchainOptions['fork']): Promise<unknown> => {
    await using opened = await open({ fork })
    return await balanceOf(opened.ask, '0x00000000000000000000000000000000000000ab')
  }
  await expect(again({ url: one.url, block: 1 })).rejects.toThrow(
    /--fork: the chain in \S+ is a fork at block 2, 0x[0-9a-f]{64}; leave the option as it was/,
  )
  await expect(again(other.url)).rejects.toThrow(/has (another|no) block 2/)
  await expect(unforked({ fork: one.url })).rejects.toThrow(/--fork: the chain in \S+ is no fork;/)
  await expect(opener()({ fork: { provider: one.devchain } })).rejects.toThrow(
    '--state keeps forks of URLs, but none of a provider or a recording',
  )
  expect(await again({ url: one.url, block: 2 })).toBe('0x456')
  one.faults.isCut = true
  expect(await again(undefined)).toBe('0x456')
  one.faults.isCut = false
  expect(await again({ url: sameNetwork, block: 2 })).toBe('0x456')
})
