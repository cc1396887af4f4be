// What was fetched, kept: in the cache folder by many processes at once, and in cassettes.
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { crc32 } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { keccakHash } from '../../../src/core/crypto/crypto.ts'
import { bytesFromHex } from '../../../src/core/hex.ts'
import { createDevchain, type Devchain, type DevchainOptions } from '../../../src/devchain.ts'
import type { RemoteBlock } from '../../../src/fork/network/header.ts'
import { keepHead, knownHead } from '../../../src/fork/start/heads.ts'
import { diskStore } from '../../../src/fork/store/disk.ts'
import { trimFolder, trimLater } from '../../../src/fork/store/folder.ts'
import { recordTo, whileLocked } from '../../../src/fork/store/recording.ts'
import { memoryStore } from '../../../src/fork/store/store.ts'
import type { ForkChoice } from '../../../src/options/fork.ts'
import type { Json } from '../../../src/rpc/schema.ts'
import {
  deployKeeper,
  SUMMED,
  sendOn,
  setting,
  startUpstream,
  type Upstream,
  word,
} from '../../support/fork/upstream.ts'
import { temporaryFolder } from '../../support/process/boot.ts'

let folder = ''
const cacheHome = process.env.XDG_CACHE_HOME

beforeEach(() => {
  folder = temporaryFolder(onTestFinished)
  process.env.XDG_CACHE_HOME = folder
})

afterEach(() => {
  if (cacheHome === undefined) delete process.env.XDG_CACHE_HOME
  else process.env.XDG_CACHE_HOME = cacheHome
})

const ITEM = { of: `1/0x${'ab'.repeat(32)}`, method: 'eth_getBalance', params: ['0x01'] }

function filesBelow(): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.(items|hex)$/.test(name),
  )
}

function ask(
  { request }: Pick<Devchain, 'request'>,
  method: string,
  ...params: unknown[]
): Promise<unknown> {
  return request({ method, params })
}

function forkOf(options: DevchainOptions): Promise<Devchain> {
  return createDevchain({ clock: 'step:12', ...options })
}

const SUM = `0x${word((SUMMED * (SUMMED - 1)) / 2 + 100 * SUMMED)}`

describe('the memory store', () => {
  test('keeps many small items, and as many large ones as fit', () => {
    const store = memoryStore(100_000)
    const keys = Array.from({ length: 500 }, (_, each) => ({ ...ITEM, params: [`0x${each}`] }))
    const heldOf = (value: Json): number => {
      for (const key of keys) store.put(key, value)
      return keys.filter((key) => store.get(key) !== undefined).length
    }
    expect(heldOf('0x5')).toBe(keys.length)
    // a store keeps up to twice as many, and one more that is too large
    const block = {
      number: '0x1',
      transactions: Array.from({ length: 10 }, () => 'ab'.repeat(500)),
    }
    expect(heldOf(block)).toBeLessThanOrEqual(22)
    expect(heldOf(block)).toBeGreaterThanOrEqual(9)
    expect(heldOf('ab'.repeat(500_000))).toBeLessThanOrEqual(2)
  })
})

describe('the cache folder', () => {
  test('has what another store has written', async () => {
    const one = diskStore(folder)
    one.put(ITEM, '0x5')
    one.put({ ...ITEM, params: ['0x02'] }, null)
    await one.flush()
    const other = diskStore(folder)
    expect(other.get(ITEM)).toBe('0x5')
    expect(other.get({ ...ITEM, params: ['0x02'] })).toBeNull()
    expect(other.get({ ...ITEM, of: '1/0x00' })).toBeUndefined()
  })

  test('skips damaged and altered lines', async () => {
    const one = diskStore(folder)
    one.put(ITEM, '0x5')
    await one.flush()
    const [name = ''] = filesBelow()
    const file = path.join(folder, name)
    appendFileSync(file, '\n12345678 ["eth_getBalance",["0x02"],"0x')
    const two = diskStore(folder)
    two.put({ ...ITEM, params: ['0x03'] }, '0x7')
    await two.flush()
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, text.replace('"0x5"', '"0x6"'))
    const three = diskStore(folder)
    expect(three.get(ITEM)).toBeUndefined()
    expect(three.get({ ...ITEM, params: ['0x02'] })).toBeUndefined()
    expect(three.get({ ...ITEM, params: ['0x03'] })).toBe('0x7')
  })

  test('starts a file anew that has grown too large, with a warning', async () => {
    const reported: string[] = []
    const options = { mostBytes: 200, onNotice: (text: string) => reported.push(text) }
    const one = diskStore(folder, options)
    for (let i = 0; i < 5; i++) one.put({ ...ITEM, params: [`0x0${i}`] }, `0x${i}`)
    await one.flush()
    const file = path.join(folder, filesBelow()[0] ?? '')
    expect(reported).toEqual([`cleared the cache file ${file}: it was larger than 200 bytes`])
    const other = diskStore(folder, options)
    expect(other.get({ ...ITEM, params: ['0x00'] })).toBeUndefined()
    expect(other.get({ ...ITEM, params: ['0x04'] })).toBe('0x4')
    // what is there when it is opened counts too
    for (let i = 5; i < 9; i++) other.put({ ...ITEM, params: [`0x0${i}`] }, `0x${i}`)
    expect(reported).toHaveLength(2)
  })

  test('starts a file anew that others have made too large', () => {
    const reported: string[] = []
    const one = diskStore(folder)
    for (let i = 0; i < 9; i++) one.put({ ...ITEM, params: [`0x0${i}`] }, `0x${i}`)
    void one.flush()
    const file = path.join(folder, filesBelow()[0] ?? '')
    const other = diskStore(folder, { mostBytes: 200, onNotice: (text) => reported.push(text) })
    expect(other.get({ ...ITEM, params: ['0x00'] })).toBeUndefined()
    expect(reported).toEqual([`cleared the cache file ${file}: it was larger than 200 bytes`])
    expect(existsSync(file)).toBe(false)
  })

  test('keeps at most two files’ worth in memory, and writes before it forgets', () => {
    const store = diskStore(folder, { mostBytes: 1_000 })
    const keys = Array.from({ length: 9 }, (_, block) => ({ ...ITEM, of: `1/0x0${block}` }))
    const wordsOf = (block: number): string => `0x${String(block).repeat(400)}`
    keys.forEach((key, block) => {
      store.put(key, wordsOf(block))
    })
    // only the newest of what is held is not on the disk yet
    expect(filesBelow().length).toBeGreaterThanOrEqual(5)
    rmSync(folder, { recursive: true })
    const held = keys.filter((key) => store.get(key) !== undefined)
    expect(held).toEqual(keys.slice(-held.length))
    expect(held.length).toBeGreaterThan(1)
    expect(held.length).toBeLessThan(6)
  })

  test('keeps code once by its hash, and no other code for it', async () => {
    const hash = keccakHash(bytesFromHex('0x6001'))
    const key = { of: 'code', method: 'eth_getCode', params: [hash] }
    const one = diskStore(folder)
    one.put(key, '0x6001')
    expect(diskStore(folder).get(key)).toBe('0x6001')
    writeFileSync(path.join(folder, filesBelow()[0] ?? ''), '0x6002')
    expect(diskStore(folder).get(key)).toBeUndefined()
    // what was broken is mended by the next who fetches it
    diskStore(folder).put(key, '0x6001')
    expect(diskStore(folder).get(key)).toBe('0x6001')
    expect(readdirSync(folder, { recursive: true }).join()).not.toContain('.tmp')
  })

  test('that is not writable causes one warning, and what is fetched stays in memory', async () => {
    const reported: string[] = []
    const file = path.join(folder, 'a file')
    writeFileSync(file, '')
    const store = diskStore(file, { onNotice: (text) => reported.push(text) })
    const code = { of: 'code', method: 'eth_getCode', params: [keccakHash(bytesFromHex('0x6001'))] }
    for (const slot of ['0x1', '0x2']) {
      store.put({ ...ITEM, params: [slot] }, slot)
      store.put(code, '0x6001')
      await store.flush()
      expect(store.get({ ...ITEM, params: [slot] })).toBe(slot)
    }
    expect(reported).toEqual([expect.stringMatching(/^cannot write the fork cache in .*a file: E/)])
  })

  test('skips what another version has written', async () => {
    const one = diskStore(folder)
    one.put(ITEM, '0x5')
    await one.flush()
    const file = path.join(folder, filesBelow()[0] ?? '')
    for (const json of [
      '"text"',
      '5',
      'null',
      '{"method":"eth_getBalance"}',
      '["eth_getBalance"]',
    ]) {
      appendFileSync(file, `\n${(crc32(json) >>> 0).toString(16).padStart(8, '0')} ${json}`)
    }
    expect(diskStore(folder).get(ITEM)).toBe('0x5')
  })

  test('keeps the items of few blocks in memory', async () => {
    const [one, other] = [diskStore(folder), diskStore(folder)]
    const keyOf = (index: number) => ({ ...ITEM, of: `1/0x${index}` })
    expect(other.get(keyOf(0))).toBeUndefined()
    one.put(keyOf(0), '0x5')
    await one.flush()
    expect(other.get(keyOf(0))).toBeUndefined()
    for (let index = 1; index <= 256; index++) other.get(keyOf(index))
    expect(other.get(keyOf(0))).toBe('0x5')
  })

  test('serves the next fork of the same block from any URL, and has nothing local', async () => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    await using first = await forkOf({ fork: { url: upstream.url } })
    expect(await ask(first, 'eth_call', { to: keeper })).toBe(SUM)
    await sendOn((method, ...params) => ask(first, method, ...params), {
      to: keeper,
      data: setting(0, 9),
    })
    await first.close()
    await using second = await forkOf({ fork: { url: `${upstream.url}/another/key` } })
    const begun = upstream.requests.length
    expect(await ask(second, 'eth_call', { to: keeper })).toBe(SUM)
    expect(upstream.requests).toHaveLength(begun)
    expect(filesBelow().join()).not.toContain('another')
  })

  test('has no sender of a trace, whose balance was overridden', async () => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    const from = `0x${'78'.repeat(20)}`
    for (let run = 0; run < 2; run++) {
      await using fork = await forkOf({ fork: { url: upstream.url } })
      expect(await ask(fork, 'eth_getBalance', from)).toBe('0x0')
      await ask(fork, 'eth_call', { from, to: keeper, data: setting(9, 9) })
      await fork.close()
    }
  })

  test('has no unproven code where code is proven', async () => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    const proven = { fork: { url: upstream.url }, forkProofs: true }
    upstream.faults.lie = ({ method }, result) => (method === 'eth_getCode' ? '0x6001' : result)
    await using lied = await forkOf(proven)
    await expect(ask(lied, 'eth_getCode', keeper)).rejects.toThrow(
      /a wrong proof of the code of 0x/,
    )
    await lied.close()
    expect(filesBelow().filter((name) => name.endsWith('.hex'))).toEqual([])
    await using believing = await forkOf({ fork: { url: upstream.url } })
    expect(await ask(believing, 'eth_getCode', keeper)).toBe('0x6001')
    await believing.close()
    upstream.faults.lie = undefined
    await using right = await forkOf(proven)
    expect(await ask(right, 'eth_call', { to: keeper })).toBe(SUM)
  })

  test('does not mix up networks of one chain id', async () => {
    const hashes: unknown[] = []
    for (const balance of ['1', '2']) {
      await using upstream = await startUpstream({ balance })
      await upstream.ask('hardhat_mine', '0x3')
      await using fork = await forkOf({ fork: { url: upstream.url } })
      const block = (await ask(fork, 'eth_getBlockByNumber', '0x1', false)) as { hash: string }
      expect(block).toEqual(await upstream.ask('eth_getBlockByNumber', '0x1', false))
      hashes.push(block.hash)
    }
    expect(hashes[0]).not.toBe(hashes[1])
  })

  test('serves twenty forks at once', async () => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    const sums = await Promise.all(
      Array.from({ length: 20 }, async () => {
        await using fork = await forkOf({ fork: { url: upstream.url } })
        return await ask(fork, 'eth_call', { to: keeper })
      }),
    )
    expect(new Set(sums)).toEqual(new Set([SUM]))
    await using last = await forkOf({ fork: { url: upstream.url } })
    const begun = upstream.requests.length
    expect(await ask(last, 'eth_call', { to: keeper })).toBe(SUM)
    expect(upstream.requests).toHaveLength(begun)
  })

  test.each([
    ['and the chain id is', { forkChainId: 5n }],
    ['of a node of one’s own too', {}],
  ])('serves a block by its hash without network, %s', async (_, chain) => {
    const upstream = await startUpstream({ chainId: 5 })
    const keeper = await deployKeeper(upstream)
    const { hash } = (await upstream.ask('eth_getBlockByNumber', 'latest', false)) as {
      hash: string
    }
    const options = { fork: { url: upstream.url, block: hash }, forkRetries: 0, ...chain }
    await using first = await forkOf(options)
    expect(await ask(first, 'eth_call', { to: keeper })).toBe(SUM)
    await first.close()
    await upstream.close()
    await using second = await forkOf(options)
    expect(await ask(second, 'eth_call', { to: keeper })).toBe(SUM)
    await expect(ask(second, 'eth_getBalance', `0x${'12'.repeat(20)}`)).rejects.toThrow(
      /did not answer/,
    )
  })

  test('checks the network at its first request if it did not at the start', async () => {
    await using upstream = await startUpstream({ chainId: 5 })
    const { hash } = (await upstream.ask('eth_getBlockByNumber', 'latest', false)) as {
      hash: string
    }
    const forkChainId = 5n
    await (await forkOf({ fork: { url: upstream.url, block: hash }, forkChainId })).close()
    await using other = await startUpstream({ chainId: 5, balance: '7' })
    const fork = { url: other.url, block: hash }
    await using wrong = await forkOf({ fork, forkChainId })
    expect(other.requests).toHaveLength(0)
    await expect(ask(wrong, 'eth_getBalance', `0x${'12'.repeat(20)}`)).rejects.toThrow(
      /has another block 0 than/,
    )
    await using right = await forkOf({ fork: { url: upstream.url, block: hash }, forkChainId })
    expect(await ask(right, 'eth_getBalance', `0x${'12'.repeat(20)}`)).toBe('0x0')
    await expect(forkOf({ fork: upstream.url, forkChainId: 6n })).rejects.toThrow(
      /has the chain id 5, not 6 \(--fork-chain-id\)/,
    )
  })

  test('keeps the chain of a URL, and numbers that no reorg reaches', () => {
    const store = diskStore(folder)
    const url = 'https://rpc.example/v3/a-key-of-mine'
    const block = { header: { number: 100n }, hash: `0x${'ab'.repeat(32)}` } as RemoteBlock
    const head = { chainId: '1', block: null, hardfork: null }
    const fork = { urls: [url], block: '100' }
    keepHead(store, fork, { head, block, newest: 131n, depth: 32n, isSeen: true })
    expect(knownHead(store, fork, undefined)).toBeUndefined()
    expect(knownHead(store, { ...fork, block: block.hash }, undefined)).toEqual(head)
    keepHead(store, fork, { head, block, newest: 132n, depth: 32n, isSeen: true })
    expect(knownHead(store, fork, undefined)).toEqual(head)
    expect(knownHead(store, { ...fork, block: '0x64' }, undefined)).toEqual(head)
    expect(knownHead(store, { ...fork, block: 'latest' }, undefined)).toBeUndefined()
    expect(knownHead(store, { ...fork, block: '-1' }, undefined)).toBeUndefined()
    expect(knownHead(store, { ...fork, urls: [`${url}2`] }, undefined)).toBeUndefined()
    expect(knownHead(store, { ...fork, urls: [`${url}2`] }, 1n)).toEqual(head)
    expect(knownHead(store, fork, 2n)).toBeUndefined()
  })

  test('keeps hashes of a local node, and no numbers, as a restarted node reuses them', () => {
    const store = diskStore(folder)
    const block = { header: { number: 100n }, hash: `0x${'ab'.repeat(32)}` } as RemoteBlock
    const head = { chainId: '1', block: null, hardfork: null }
    const [own, service] = ['http://127.0.0.1:8545', 'https://rpc.example/v3/key'].map((url) => ({
      urls: [url],
      block: '100',
    })) as unknown as [ForkChoice, ForkChoice]
    keepHead(store, service, { head, block, newest: 200n, depth: 32n, isSeen: true })
    keepHead(store, own, { head, block, newest: 200n, depth: 0n, isSeen: true })
    expect(knownHead(store, service, undefined)).toEqual(head)
    expect(knownHead(store, own, undefined)).toBeUndefined()
    expect(knownHead(store, { ...own, block: block.hash }, undefined)).toEqual(head)
  })

  test('is not used with --no-fork-cache', async () => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    await using fork = await forkOf({ fork: { url: upstream.url }, noForkCache: true })
    await ask(fork, 'eth_call', { to: keeper })
    await fork.close()
    expect(filesBelow()).toEqual([])
  })
})

describe('a recording', () => {
  /** Records a fork that did something, and gives its newest block. */
  async function record(file: string, url: string, keeper: string): Promise<unknown> {
    await using fork = await forkOf({ fork: { url }, noForkCache: true, forkRecord: file })
    return await play(fork, keeper)
  }

  async function play(fork: Devchain, keeper: string): Promise<unknown> {
    const on = (method: string, ...params: readonly unknown[]): Promise<unknown> =>
      ask(fork, method, ...params)
    expect(await on('eth_call', { to: keeper })).toBe(SUM)
    await sendOn(on, { to: keeper, data: setting(2, 9) })
    expect(await on('eth_getBlockByNumber', '0x1', false)).not.toBeNull()
    // what was answered by nothing is recorded as well
    expect(await on('eth_getTransactionReceipt', `0x${'12'.repeat(32)}`)).toBeNull()
    expect(await on('eth_getBlockByHash', `0x${'12'.repeat(32)}`, false)).toBeNull()
    return on('eth_getBlockByNumber', 'latest', true)
  }

  test('lets a chain start and run without network, and mine the same blocks', async () => {
    const file = path.join(folder, 'fork.jsonl')
    const upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    const recorded = await record(file, upstream.url, keeper)
    await upstream.close()
    await using replayed = await forkOf({ forkReplay: file })
    expect(await play(replayed, keeper)).toEqual(recorded)
  })

  test.each([false, true])(
    'replays whatever the rounds in which slots are requested; proofs: %s',
    async (forkProofs) => {
      const file = path.join(folder, 'fork.jsonl')
      const upstream = await startUpstream()
      const keeper = await deployKeeper(upstream)
      const options = { forkProofs, chainId: 'remote' as const, accounts: 3 }
      const follow = { to: keeper, data: `0x${word(4)}` }
      const act = async (fork: Devchain): Promise<unknown> => {
        expect(await ask(fork, 'eth_call', follow)).toBe(`0x${word(5_000)}`)
        expect(await ask(fork, 'eth_call', { to: keeper })).toBe(SUM)
        for (const slot of [2, 3, 4, 5]) {
          await sendOn((method, ...params) => ask(fork, method, ...params), {
            to: keeper,
            data: setting(slot, 0),
          })
        }
        expect(await ask(fork, 'devchain_forkInfo')).toMatchObject({ stateRootsHold: forkProofs })
        return ask(fork, 'eth_getBlockByNumber', 'latest', true)
      }
      const recorded = await (async () => {
        await using fork = await forkOf({
          fork: { url: upstream.url },
          noForkCache: true,
          forkRecord: file,
          ...options,
        })
        return await act(fork)
      })()
      await upstream.close()
      await using replayed = await forkOf({ forkReplay: file, ...options })
      expect(await act(replayed)).toEqual(recorded)
    },
  )

  test('replays without network, even with a URL', async () => {
    const file = path.join(folder, 'fork.jsonl')
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    await record(file, upstream.url, keeper)
    const begun = upstream.requests.length
    await using replayed = await forkOf({ fork: { url: upstream.url }, forkReplay: file })
    await play(replayed, keeper)
    expect(upstream.requests).toHaveLength(begun)
  })

  test('replays as the fork that it holds, and as no other', async () => {
    const [file, later] = ['fork.jsonl', 'later.jsonl'].map((name) => path.join(folder, name)) as [
      string,
      string,
    ]
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    await record(file, upstream.url, keeper)
    const { hash, number, transactions } = (await upstream.ask(
      'eth_getBlockByNumber',
      'latest',
      false,
    )) as { hash: string; number: string; transactions: string[] }
    const [first, second] = transactions as [string, string]
    const { url } = upstream
    const before = { fork: { url }, noForkCache: true, forkTransaction: second }
    await (await forkOf({ ...before, forkRecord: later })).close()
    const wrong: readonly (readonly [DevchainOptions, RegExp])[] = [
      [{ forkReplay: file, forkChainId: 78 }, /with the chain id 33, not 78 \(--fork-chain-id\)/],
      [{ forkReplay: file, fork: `${url}@1` }, /begins at block 2 \(0x\w+\), not 1 \(--fork\)/],
      [{ forkReplay: file, fork: { url, block: first } }, /begins at block 2 .*, not 0x\w+ /],
      [{ forkReplay: file, forkTransaction: second }, /at block 2, not before 0x\w+ \(--fork-tr/],
      [{ forkReplay: later, forkTransaction: first }, /block 1 and before 0x\w+, not before 0x/],
      [{ forkReplay: file, forkRecord: `${folder}/./fork.jsonl` }, /needs another file/],
    ]
    for (const [options, words] of wrong) await expect(forkOf(options)).rejects.toThrow(words)
    const right: readonly DevchainOptions[] = [
      { forkReplay: file, forkChainId: 33, fork: `${url}@${number}` },
      { forkReplay: file, fork: { url, block: hash } },
      { forkReplay: file, fork: `${url}@latest` },
      { forkReplay: later, forkTransaction: second },
    ]
    for (const options of right) await (await forkOf(options)).close()
  })

  test.each([false, true])(
    'resets without a URL go back to the start of the replay; in a block: %s',
    async (isWithin) => {
      const file = path.join(folder, 'fork.jsonl')
      const upstream = await startUpstream()
      const keeper = await deployKeeper(upstream)
      const newest = (await upstream.ask('eth_getBlockByNumber', '0x2', false)) as {
        transactions: string[]
      }
      const forkTransaction = isWithin ? newest.transactions[1] : undefined
      const start = (on: Pick<Devchain, 'request'>): Promise<unknown> =>
        Promise.all([
          ask(on, 'eth_getBlockByNumber', 'latest', false),
          ask(on, 'eth_getStorageAt', keeper, '0x0'),
          ask(on, 'eth_getStorageAt', keeper, '0x1'),
        ])
      const fork = { url: upstream.url }
      const options = { fork, noForkCache: true, forkTransaction, forkRecord: file }
      await using recording = await forkOf(options)
      const begun = await start(recording)
      await ask(recording, 'evm_mine')
      await recording.close()
      await upstream.close()
      await using replayed = await forkOf({ fork, forkReplay: file })
      const branch = await replayed.branch()
      const number = isWithin ? 1 : 2
      for (const on of [replayed, branch]) {
        for (const forking of [{}, { blockNumber: number }, { blockNumber: null }]) {
          await ask(on, 'evm_mine')
          await ask(on, 'hardhat_reset', { forking })
          expect(await start(on)).toEqual(begun)
          await ask(on, 'hardhat_reset')
          expect(await ask(on, 'devchain_forkInfo')).toBeNull()
          await ask(on, 'anvil_reset', { forking })
          expect(await start(on)).toEqual(begun)
        }
        await expect(ask(on, 'hardhat_reset', { forking: { blockNumber: 0 } })).rejects.toThrow(
          new RegExp(`fork.jsonl is replayed: it begins at block ${number} \\(0x\\w+\\), not 0$`),
        )
      }
    },
  )

  test('is the same file each time, its lines in order', async () => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    const files = ['one', 'two'].map((name) => path.join(folder, name))
    for (const file of files) await record(file, upstream.url, keeper)
    const [one = '', two] = files.map((file) => readFileSync(file, 'utf8'))
    expect(one).toBe(two)
    const items = one.trimEnd().split('\n').slice(1)
    expect(items.length).toBeGreaterThan(SUMMED)
    for (const line of items) expect(JSON.parse(line)).toHaveLength(4)
  })

  test('that lacks something names it', async () => {
    const file = path.join(folder, 'fork.jsonl')
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    await record(file, upstream.url, keeper)
    await using replayed = await forkOf({ forkReplay: file })
    await expect(ask(replayed, 'eth_getStorageAt', keeper, '0x4d2')).rejects.toThrow(
      /has no answer to eth_getStorageAt .*4d2/,
    )
  })

  const HEAD = JSON.stringify(['devchain fork 1', { chainId: '1', block: { hash: '0x00' } }])

  const BROKEN: readonly (readonly [string, string | undefined, RegExp])[] = [
    ['nothing', undefined, /there is no such file/],
    ['something else', 'hello\n', /is no recorded fork/],
    ['of another form', '["devchain fork 2",{"chainId":"1"}]\n', /is no recorded fork/],
    ['null', 'null\n', /is no recorded fork/],
    ['without a block', '["devchain fork 1",{"chainId":"1"}]\n', /line 1 names no chain and block/],
    ['without a chain', '["devchain fork 1",null]\n', /line 1 names no chain and block/],
    ['a line that is none', `${HEAD}\n[1]\n`, /line 2 is no item/],
    ['a line of something else', `${HEAD}\n\n[1,2,3,4]\n`, /line 3 is no item/],
    ['a line without parameters', `${HEAD}\n["1","m","p",4]\n`, /line 2 is no item/],
    [
      'half a merge',
      `${HEAD}\n["1","m",[],4]\n<<<<<<< ours\n`,
      /line 3 is a conflict marker of git/,
    ],
    ['cut off', `${HEAD}\n["1","m",[],4]\n["1","m",["a"`, /line 3 is no item/],
  ]

  test.each(BROKEN)('that is %s is refused', async (_, text, message) => {
    const file = path.join(folder, 'broken')
    if (text !== undefined) writeFileSync(file, text)
    await expect(forkOf({ forkReplay: file })).rejects.toThrow(message)
  })

  test('fails at the start if its file is of another kind or not writable', async () => {
    await using upstream = await startUpstream()
    const package_ = path.join(folder, 'package.json')
    const cut = path.join(folder, 'cut.jsonl')
    const cases: readonly (readonly [string, RegExp])[] = [
      [package_, /package\.json is no recorded fork/],
      [cut, /cut\.jsonl: line 2 is no item/],
      [folder, /cannot write the recorded fork .*: it is no file/],
      [path.join(package_, 'fork.jsonl'), /the recorded fork .*: (ENOTDIR|EEXIST)/],
    ]
    writeFileSync(package_, '{}')
    writeFileSync(
      cut,
      `${HEAD.replace('0x00', (await genesisOf(upstream)).hash).replace('"1"', '"33"')}\n["33`,
    )
    const before = readFileSync(cut, 'utf8')
    for (const [file, message] of cases) {
      await expect(forkOf({ fork: { url: upstream.url }, forkRecord: file })).rejects.toThrow(
        message,
      )
    }
    expect([readFileSync(package_, 'utf8'), readFileSync(cut, 'utf8')]).toEqual(['{}', before])
    expect(readdirSync(folder).filter((name) => /\.(new|lock)$/.test(name))).toEqual([])
  })

  test('that becomes unwritable causes one warning, and the fork goes on', async () => {
    const reported: string[] = []
    const file = path.join(folder, 'sub', 'fork.jsonl')
    const head = { chainId: '1', block: { hash: '0x00' }, hardfork: null }
    const recording = recordTo(file, head, (text) => reported.push(text))
    rmSync(path.join(folder, 'sub'), { recursive: true })
    writeFileSync(path.join(folder, 'sub'), '')
    for (const slot of ['0x1', '0x2']) {
      recording.put({ ...ITEM, params: [slot] }, slot)
      await recording.flush()
    }
    expect(reported).toEqual([expect.stringMatching(/^cannot record: .*(ENOTDIR|EEXIST)/)])
    rmSync(path.join(folder, 'sub'))
    await recording.flush()
    expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(4)
  })

  test('is written soon after a fetch, in case the process is killed', () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const file = path.join(folder, 'fork.jsonl')
    const head = { chainId: '1', block: { hash: '0x00' }, hardfork: null }
    const recording = recordTo(file, head, () => undefined)
    for (const slot of ['0x1', '0x2']) {
      recording.put({ ...ITEM, params: [slot] }, slot)
      vi.advanceTimersByTime(1_000)
      expect(readFileSync(file, 'utf8')).toContain(`["${slot}"],"${slot}"]`)
    }
  })

  test('of the same block joins what several runs fetched, and of another starts anew with a warning', async () => {
    const reported: string[] = []
    const file = path.join(folder, 'fork.jsonl')
    const head = { chainId: '1', block: { hash: '0x00' }, hardfork: null }
    const notice = (text: string): number => reported.push(text)
    const [one, two] = [recordTo(file, head, notice), recordTo(file, head, notice)]
    for (const [store, slot] of [
      [one, '0x2'],
      [two, '0x1'],
      [one, '0x3'],
    ] as const) {
      store.put({ ...ITEM, params: [slot] }, slot)
      await store.flush()
    }
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n').slice(1)
    expect(lines.map((line) => (JSON.parse(line) as unknown[])[3])).toEqual(['0x1', '0x2', '0x3'])
    expect(reported).toEqual([])
    await recordTo(file, { ...head, block: { hash: '0x01' } }, notice).flush()
    expect(reported).toEqual([`${file} was a recording of another block, and starts over`])
    expect(readFileSync(file, 'utf8').trimEnd().split('\n')).toHaveLength(1)
  })

  test('waits for a running writer, and not for one that was killed', async () => {
    const file = path.join(folder, 'fork.jsonl')
    const lock = `${file}.lock`
    writeFileSync(lock, '')
    const long = new Date(Date.now() - 60_000)
    utimesSync(lock, long, long)
    whileLocked(file, () => expect(statSync(lock).mtime > long).toBe(true))
    expect(readdirSync(folder)).toEqual([])
    // of a clock that was wrong
    writeFileSync(lock, '')
    const later = new Date(Date.now() + 3_600_000)
    utimesSync(lock, later, later)
    whileLocked(file, () => expect(statSync(lock).mtime < later).toBe(true))
    expect(readdirSync(folder)).toEqual([])
    // a recording takes it too
    writeFileSync(lock, '')
    utimesSync(lock, long, long)
    recordTo(file, { chainId: '1', block: { hash: '0x00' }, hardfork: null }, () => undefined)
    expect(readdirSync(folder)).toEqual(['fork.jsonl'])
  })
})

async function genesisOf({ ask }: Upstream): Promise<{ readonly hash: string }> {
  return (await ask('eth_getBlockByNumber', '0x0', false)) as { hash: string }
}

describe('trimFolder', () => {
  const used = (name: string, bytes: number, day: number): void => {
    const file = path.join(folder, name)
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, '')
    // it takes no room, however large it is
    truncateSync(file, bytes)
    utimesSync(file, day * 86_400, day * 86_400)
  }

  test('deletes what was least recently used from a large folder, down to a lower bound', async () => {
    used('1/old.items', 400, 1)
    used('code/ab/new.hex', 300, 9)
    used('1/middle.items', 400, 5)
    used('2/young.items', 300, 8)
    expect(await trimFolder(folder, 1_400)).toBe(0)
    expect(await trimFolder(folder, 1_200)).toBe(1)
    expect(await trimFolder(folder, 900)).toBe(1)
    const left = readdirSync(folder, { recursive: true, withFileTypes: true })
    expect(
      left
        .filter((each) => each.isFile())
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['new.hex', 'young.items'])
  })

  test('runs a while after a fork starts, with a notice', async () => {
    used('1/old.items', 4_100_000_000, 1)
    used('1/new.items', 1, 2)
    const notices: string[] = []
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    trimLater(folder, (text) => notices.push(text))()
    vi.advanceTimersByTime(60_000)
    trimLater(folder, (text) => notices.push(text))
    vi.advanceTimersByTime(60_000)
    vi.useRealTimers()
    await expect.poll(() => notices).toHaveLength(1)
    expect(notices[0]).toMatch(/deleted the 1 least recently used file of .* more than 4 GB$/)
    expect(readdirSync(path.join(folder, '1'))).toEqual(['new.items'])
  })

  test('deletes nothing of a folder that does not exist', async () => {
    expect(await trimFolder(path.join(folder, 'none'), 0)).toBe(0)
  })
})
