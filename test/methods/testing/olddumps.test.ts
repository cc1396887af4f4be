// Dumps in the forms that older versions of anvil wrote, and dumps that lack blocks.
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  createDevchain,
  type DevchainOptions,
  type ObservedCall,
  type Observer,
} from '../../../src/devchain.ts'
import { forkOf, startUpstream } from '../../support/fork/upstream.ts'
import type { Ask } from '../../support/tools/anvil.ts'

// biome-ignore lint/suspicious/noExplicitAny: dumps are taken apart
type Json = Record<string, any>

interface Recorded {
  readonly dump: Json
  readonly blocks: readonly string[]
  readonly receipts: readonly Json[]
  readonly account: string
  readonly balances: readonly string[]
}

const recorded = (version: string): Recorded => {
  const file = new URL(`../../../fixtures/dumps/anvil-${version}.json.gz`, import.meta.url)
  return JSON.parse(gunzipSync(readFileSync(file)).toString())
}

const packed = (dump: unknown): string => `0x${Buffer.from(JSON.stringify(dump)).toString('hex')}`

async function devchain(options: DevchainOptions = {}, observer: Observer = {}): Promise<Ask> {
  const { request, close } = await createDevchain({ noForkCache: true, ...options }, { observer })
  onTestFinished(close)
  return (method, ...params) => request({ method, params })
}

test.each(['1.4.4', '1.5.1'])(
  'a dump of anvil %s has its blocks, receipts and states',
  async (version) => {
    const { dump, blocks, receipts, account, balances } = recorded(version)
    const ask = await devchain()
    await ask('anvil_loadState', packed(dump))
    for (const [number, hash] of blocks.entries()) {
      expect(await ask('eth_getBlockByNumber', `0x${number.toString(16)}`, false)).toMatchObject({
        hash,
      })
    }
    for (const { transactionHash, logs, ...others } of receipts) {
      const receipt = (await ask('eth_getTransactionReceipt', transactionHash)) as Json
      expect(receipt).toMatchObject(others)
      expect(receipt.logs).toHaveLength(logs)
    }
    for (const [at, block] of ['0x0', '0x1', 'latest'].entries()) {
      expect(await ask('eth_getBalance', account, block)).toBe(balances[at])
    }
  },
)

describe('a dump of a fork, which has the blocks after that of its network,', () => {
  const [OWN, BEFORE] = [
    '0x00000000000000000000000000000000000000b1',
    '0x00000000000000000000000000000000000000b2',
  ]

  async function grown(): Promise<{
    upstream: Awaited<ReturnType<typeof startUpstream>>
    dump: Json
    head: Json
  }> {
    const upstream = await startUpstream()
    onTestFinished(() => upstream[Symbol.asyncDispose]())
    const [from] = (await upstream.ask('eth_accounts')) as string[]
    await upstream.ask('eth_sendTransaction', { from, to: BEFORE, value: '0x5' })
    const forked = BigInt((await upstream.ask('eth_blockNumber')) as string)
    const snapshot = await upstream.ask('evm_snapshot')
    await upstream.ask('eth_sendTransaction', { from, to: OWN, value: '0x7' })
    await upstream.ask('evm_mine')
    await upstream.ask('evm_mine')
    const head = (await upstream.ask('eth_getBlockByNumber', 'latest', false)) as Json
    const text = String(await upstream.ask('anvil_dumpState'))
    const whole = JSON.parse(gunzipSync(Buffer.from(text.slice(2), 'hex')).toString())
    await upstream.ask('evm_revert', snapshot)
    const blocks = whole.blocks.filter(({ header }: Json) => BigInt(header.number) > forked)
    const { [OWN]: own } = whole.accounts
    return { upstream, dump: { ...whole, blocks, accounts: { [OWN]: own } }, head }
  }

  test('loads into the same fork', async () => {
    const { upstream, dump, head } = await grown()
    await using fork = await forkOf(upstream)
    expect(await fork.ask('anvil_loadState', packed(dump))).toBe(true)
    expect(await fork.ask('eth_getBlockByNumber', 'latest', false)).toMatchObject({
      hash: head.hash,
    })
    expect(await fork.ask('eth_getBalance', OWN, 'latest')).toBe('0x7')
    expect(await fork.ask('eth_getBalance', BEFORE, 'latest')).toBe('0x5')
    await fork.ask('evm_mine')
    expect(await fork.ask('eth_getBlockByNumber', 'latest', false)).toMatchObject({
      parentHash: head.hash,
    })
  })

  test.each([
    ['a chain without a network', false],
    ['a fork of another block', true],
  ])(
    'sets only its accounts in %s, with a note that says which fork it needs',
    async (_, isFork) => {
      const { upstream, dump } = await grown()
      const [first] = dump.blocks
      const before = BigInt(first.header.number) - 1n
      const fork = isFork ? { fork: { url: upstream.url, block: 0 } } : {}
      const calls: ObservedCall[] = []
      const ask = await devchain(fork, { onCall: (call) => calls.push(call) })
      expect(await ask('anvil_loadState', packed(dump))).toBe(true)
      expect(calls[0]?.notes).toEqual([
        `only accounts are loaded, into block 0: its blocks load only into a fork at block ${before} (${first.header.parentHash})`,
      ])
      expect(await ask('eth_blockNumber')).toBe('0x0')
      expect(await ask('eth_getBalance', OWN, 'latest')).toBe('0x7')
    },
  )

  test('is refused if blocks after its first are missing', async () => {
    const { upstream, dump } = await grown()
    await using fork = await forkOf(upstream)
    const blocks = dump.blocks.filter((_: Json, index: number) => index !== 1)
    expect(blocks).toHaveLength(2)
    await expect(fork.ask('anvil_loadState', packed({ ...dump, blocks }))).rejects.toMatchObject({
      code: -32602,
      message: expect.stringMatching(/none has that hash/),
    })
  })
})

test('the dump of a fork has its own blocks, and loads into the same fork', async () => {
  await using upstream = await startUpstream()
  await upstream.ask('evm_mine')
  await using fork = await forkOf(upstream)
  const [from] = (await fork.ask('eth_accounts')) as string[]
  const hash = await fork.ask('eth_sendTransaction', {
    from,
    to: `0x${'b3'.repeat(20)}`,
    value: '0x9',
  })
  await fork.ask('evm_mine')
  const dump = String(await fork.ask('anvil_dumpState', true))
  const whole = JSON.parse(gunzipSync(Buffer.from(dump.slice(2), 'hex')).toString())
  const numbers = whole.blocks.map(({ header }: Json) => Number(header.number))
  expect([whole.best_block_number, numbers]).toEqual([3, [2, 3]])
  await using other = await forkOf(upstream)
  expect(await other.ask('anvil_loadState', dump)).toBe(true)
  const asked = [
    ['eth_getTransactionReceipt', hash],
    ['debug_traceTransaction', hash, { tracer: 'callTracer' }],
    ['eth_getBlockByNumber', 'latest', true],
    ['eth_getBalance', `0x${'b3'.repeat(20)}`, '0x2'],
    ['eth_getBalance', `0x${'b3'.repeat(20)}`, '0x1'],
  ] as const
  for (const [method, ...params] of asked) {
    expect([method, await other.ask(method, ...params)]).toEqual([
      method,
      await fork.ask(method, ...params),
    ])
  }
})

test('the dump of a fork leaves out accounts whose nonce is not fetched', async () => {
  await using upstream = await startUpstream()
  const [from, used] = (await upstream.ask('eth_accounts')) as string[]
  await upstream.ask('eth_sendTransaction', { from: used, to: used, value: '0x1' })
  await using fork = await forkOf(upstream)
  await fork.ask('eth_sendTransaction', { from, to: from, value: '0x1' })
  const dump = await fork.ask('anvil_dumpState')
  await using other = await forkOf(upstream)
  await other.ask('anvil_loadState', dump)
  expect(await other.ask('eth_getTransactionCount', from, 'latest')).toBe('0x1')
  expect(await other.ask('eth_getTransactionCount', used, 'latest')).toBe('0x1')
})

test('a dump from before blocks were dumped has its accounts', async () => {
  const { dump, account, balances } = recorded('1.5.1')
  const ask = await devchain()
  await ask('anvil_loadState', packed({ accounts: dump.accounts, block: dump.block }))
  expect(await ask('eth_getBalance', account, 'latest')).toBe(balances.at(-1))
  expect(await ask('eth_blockNumber')).toBe('0x0')
})
