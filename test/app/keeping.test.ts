// Chains at paths kept in a folder (--state): all of them are there after a restart, but for what was dropped or leased.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Hooks } from '../../src/app/common.ts'
import { type Front, openFront } from '../../src/app/front.ts'
import { openKeeping } from '../../src/app/keeping/keeping.ts'
import { type DevchainOptions, readDevchainOptions } from '../../src/app/settings.ts'
import { systemFiles } from '../../src/store/files.ts'
import { temporaryFolder } from '../support/process/boot.ts'
import { eventually } from '../support/waiting/eventually.ts'
import { call, post, result } from '../support/wire/testserver.ts'
import { testChain } from '../unit/node/chains.ts'

const mine = call(1, 'evm_mine')
const blockNumber = call(1, 'eth_blockNumber')

interface Opened extends AsyncDisposable {
  readonly front: Front
  readonly url: string
}

interface Opener {
  (options?: DevchainOptions, hooks?: Hooks): Promise<Opened>
  readonly folder: string
}

/** Opens a process's chains in the same folder each time. */
function opener(common: DevchainOptions = {}): Opener {
  const state = path.join(temporaryFolder(onTestFinished), 'chains')
  const open = async (options: DevchainOptions = {}, hooks: Hooks = {}): Promise<Opened> => {
    const given = { port: 0, noArtifacts: true, clock: 'frozen', state, ...common, ...options }
    const front = await openFront(readDevchainOptions(given as DevchainOptions), hooks)
    const { url } = await front.listen()
    return { front, url, [Symbol.asyncDispose]: () => front.close() }
  }
  return Object.assign(open, { folder: state })
}

async function asked(url: string, method: string, ...params: readonly unknown[]): Promise<unknown> {
  const reply = await post(url, call(1, method, params))
  return (reply as { readonly result: unknown }).result
}

async function pathsOf({ front }: Opened): Promise<readonly string[]> {
  return (await front.chains.list()).map(
    ({ path: each, blockNumber: number }) => `${each} ${number}`,
  )
}

test.each([
  ['interval', 0],
  ['block', 0],
  ['interval', 2],
  ['block', 2],
] as const)(
  'chains at numbers and names are there after a restart, with options of their own (--durability %s --threads %i)',
  async (durability, threads) => {
    const open = opener({ durability, threads })
    {
      await using one = await open()
      await post(one.url, mine)
      for (let each = 0; each < 3; each++) await post(`${one.url}/7`, mine)
      await one.front.chains.create({ name: 'alice', options: { chainId: 77, accounts: 2 } })
      await post(`${one.url}/alice`, mine)
      await one.front.chains.create({ name: 'bob', from: 'alice' })
      await post(`${one.url}/bob`, mine)
      await one.front.chains.create({ name: 'carol' })
      await one.front.chains.drop('carol')
    }
    await using again = await open()
    expect(await pathsOf(again)).toEqual(['/ 1', '/7 3', '/alice 1', '/bob 2'])
    expect(await asked(`${again.url}/alice`, 'eth_chainId')).toBe('0x4d')
    expect(await asked(`${again.url}/alice`, 'eth_accounts')).toHaveLength(2)
    expect(await asked(`${again.url}/bob`, 'eth_chainId')).toBe('0x4d')
    expect(await post(`${again.url}/7`, blockNumber)).toEqual(result(1, '0x3'))
    // resets return to where each began
    await asked(`${again.url}/bob`, 'evm_reset')
    expect(await post(`${again.url}/bob`, blockNumber)).toEqual(result(1, '0x1'))
    expect((await again.front.chains.create({ from: '7' })).blockNumber).toBe(3n)
    await expect(again.front.chains.create({ name: 'alice' })).rejects.toThrow(
      'there is already a chain at /alice',
    )
  },
)

test.each([0, 2])(
  'a chain that was restarted or dropped begins anew, also after a restart of the process (--threads %i)',
  async (threads) => {
    const open = opener({ threads })
    {
      await using one = await open()
      await post(one.url, mine)
      await one.front.chains.create({ name: 'bob', from: '/' })
      for (const name of ['7', '8', 'bob']) await post(`${one.url}/${name}`, mine)
    }
    {
      await using one = await open()
      await fetch(`${one.url}/7/restart`, { method: 'POST' })
      await fetch(`${one.url}/bob/restart`, { method: 'POST' })
      await one.front.chains.drop('8')
      expect(await pathsOf(one)).toEqual(['/ 1', '/bob 1', '/7 0'])
    }
    await using again = await open()
    expect(await pathsOf(again)).toEqual(['/ 1', '/7 0', '/bob 1'])
  },
)

test.each([0, 2])(
  'a leased chain begins anew for each client and is not kept (--threads %i)',
  async (threads) => {
    const open = opener({ threads })
    {
      await using one = await open()
      const response = await fetch(`${one.url}/acquire`, { method: 'POST' })
      const { url } = (await response.json()) as { readonly url: string }
      await post(url, mine)
    }
    await using again = await open()
    expect(await pathsOf(again)).toEqual(['/ 0'])
  },
)

test.each([0, 2])(
  'an idle chain leaves memory and stays on disk (--threads %i)',
  async (threads) => {
    const open = opener({ chainIdle: 3600, threads })
    await using one = await open()
    await post(`${one.url}/7`, mine)
    const slot = one.front.chains.at('/7')!
    const before = slot.idleMs
    slot.idleMs = () => Infinity
    one.front.chains.dropIdle()
    slot.idleMs = before
    expect(slot.chain).toBeUndefined()
    await expect.poll(() => pathsOf(one)).toEqual(['/ 0', '/7 1'])
    expect(await (await fetch(`${one.url}/7`)).json()).toMatchObject({ blockNumber: 1 })
    await post(`${one.url}/7`, mine)
    expect(slot.chain).toBeDefined()
    expect(await pathsOf(one)).toEqual(['/ 0', '/7 2'])
  },
)

test.each([0, 2])(
  'a set-up is run once, and chains begin with it after a restart too (--threads %i)',
  async (threads) => {
    const open = opener({ threads })
    let runs = 0
    const setUp = async (one: Opened): Promise<void> =>
      one.front.setUp(async () => {
        runs += 1
        await post(one.url, mine)
      })
    {
      await using one = await open()
      await setUp(one)
      await post(one.url, mine)
      await post(`${one.url}/1`, mine)
    }
    await using again = await open()
    await setUp(again)
    expect(runs).toBe(1)
    expect(await post(`${again.url}/2`, blockNumber)).toEqual(result(1, '0x1'))
    expect(await pathsOf(again)).toEqual(['/ 2', '/1 2', '/2 1'])
  },
)

test.each([0, 2])(
  'a chain that mines at intervals goes on without a request (--threads %i)',
  async (threads) => {
    const open = opener({ threads })
    {
      await using one = await open()
      await one.front.chains.create({ name: 'clock', options: { blockTime: 1_000_000 } })
      await post(`${one.url}/clock`, mine)
      await post(`${one.url}/7`, mine)
    }
    await using again = await open()
    const { chains } = again.front
    await expect.poll(() => chains.at('/clock')!.chain).toBeDefined()
    expect(chains.at('/7')!.chain).toBeUndefined()
  },
)

test('chains of one folder run with threads, without, and with other numbers of them', async () => {
  const open = opener()
  const heights: number[] = []
  for (const threads of [0, 2, 0, 1, 3, 0]) {
    await using one = await open({ threads })
    const expected = heights.map((height, i) => `/${i + 1} ${height}`)
    expect(await pathsOf(one)).toEqual(['/ 0', ...expected])
    heights.push(0)
    for (const i of heights.keys()) {
      await post(`${one.url}/${i + 1}`, mine)
      heights[i]! += 1
    }
  }
})

test('the file of a chain of a thread goes with the chain', async () => {
  const open = opener({ threads: 1 })
  await using one = await open()
  await post(`${one.url}/1`, mine)
  await post(`${one.url}/2`, mine)
  await one.front.chains.drop('2')
  expect(readdirSync(open.folder).sort()).toEqual(['chains', 'chains.1', 'lock'])
})

test('without the file of the default chain, those of others are refused, and stay as they are', async () => {
  const open = opener({ threads: 1 })
  {
    await using one = await open()
    await post(`${one.url}/1`, mine)
  }
  const file = path.join(open.folder, 'chains')
  const own = readFileSync(`${file}.1`)
  const message = `${file} is empty or missing, but ${file}.1 has a chain: the default chain is lost; restore the file, or use another folder`
  writeFileSync(file, '')
  await expect(open()).rejects.toThrow(message)
  expect(readFileSync(file)).toHaveLength(0)
  rmSync(file)
  await expect(open()).rejects.toThrow(message)
  expect(readFileSync(`${file}.1`)).toEqual(own)
})

test('chains wait for one that runs a command only for a moment', async () => {
  const state = path.join(temporaryFolder(onTestFinished), 'chains')
  const keeping = (await openKeeping(readDevchainOptions({ state }), {
    onNotice: expect.unreachable,
  }))!
  const [busy, other] = [await testChain(), await testChain()]
  keeping.place('busy', {}).attach(busy)
  keeping.place('other', {}).attach(other)
  const [gate, open] = gateway()
  const running = busy.update(async (before) => {
    await gate
    return { state: before, value: 'done' }
  })
  let swaps = 0
  const swap = (): void => {
    swaps += 1
  }
  expect(await keeping.hold(swap)).toBe(false)
  expect(await other.update((before) => ({ state: before, value: 'next' }))).toBe('next')
  expect(swaps).toBe(0)
  open()
  expect(await running).toBe('done')
  expect(await keeping.hold(swap)).toBe(true)
  expect(swaps).toBe(1)
  busy.close()
  other.close()
  await keeping.close()
})

function gateway(): readonly [Promise<void>, () => void] {
  let open = (): void => undefined
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  return [gate, open]
}

const STRANGER = '0x00000000000000000000000000000000000000aa'
const OWN = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const KEY = `0x${'7'.repeat(64)}`

/** Everything that a request can leave behind. */
const BEFORE: readonly (readonly [string, ...unknown[]])[] = [
  ['hardhat_setBalance', STRANGER, '0xde0b6b3a7640000'],
  ['hardhat_impersonateAccount', STRANGER],
  ['hardhat_setCoinbase', '0x00000000000000000000000000000000000000bb'],
  ['personal_importRawKey', KEY, 'secret'],
  ['devchain_label', { [STRANGER]: 'the stranger' }],
  ['eth_sendTransaction', { from: OWN, to: STRANGER, value: '0x5' }],
  ['devchain_snapshot', 'after the first send'],
  ['evm_snapshot'],
  ['evm_increaseTime', 1000],
  ['evm_setAutomine', false],
  ['eth_sendTransaction', { from: OWN, to: STRANGER, value: '0x6' }],
  ['evm_setBlockGasLimit', '0x1000000'],
  ['hardhat_setNextBlockBaseFeePerGas', '0x7'],
  ['hardhat_setPrevRandao', `0x${'12'.repeat(32)}`],
  ['anvil_setBlockTimestampInterval', 9],
  ['hardhat_setMinGasPrice', '0x0'],
  ['anvil_setChainId', 5],
]

const AFTER: readonly (readonly [string, ...unknown[]])[] = [
  ['eth_chainId'],
  ['eth_coinbase'],
  ['eth_accounts'],
  ['devchain_label', {}],
  ['devchain_snapshots'],
  ['hardhat_getAutomine'],
  ['txpool_content'],
  ['eth_sendTransaction', { from: STRANGER, to: OWN, value: '0x1', gas: '0x5208' }],
  ['evm_mine'],
  ['eth_getBlockByNumber', 'latest', true],
  ['evm_mine'],
  ['eth_getBlockByNumber', 'latest', true],
  ['personal_unlockAccount', '0x6e0e0e02377bc1d90e8a7c21f12ba385c2c35f78', 'secret'],
  ['devchain_revert', 'after the first send'],
  ['eth_getBlockByNumber', 'latest', true],
  ['evm_revert', '0x2'],
  ['eth_getBalance', STRANGER, 'latest'],
  ['eth_sendTransaction', { from: OWN, to: STRANGER, value: '0x5' }],
  ['eth_getBlockByNumber', 'latest', true],
]

test('clock, settings, mining mode, pool, keys, impersonations, labels and snapshots are there after a restart', async () => {
  const replies = async (
    { url }: Opened,
    script: typeof BEFORE,
  ): Promise<readonly (readonly unknown[])[]> => {
    const all: (readonly unknown[])[] = []
    for (const [method, ...params] of script) {
      all.push([method, await post(`${url}/7`, call(1, method, params))])
    }
    return all
  }
  const open = opener()
  {
    await using one = await open()
    const errors = (await replies(one, BEFORE)).filter(([, reply]) => 'error' in (reply as object))
    expect(errors).toEqual([])
  }
  await using again = await open()
  await using plain = await opener()({ state: undefined })
  await replies(plain, BEFORE)
  expect(await replies(again, AFTER)).toEqual(await replies(plain, AFTER))
})

test.each([0, 1])('a disk that fails is reported without a log (--threads %i)', async (threads) => {
  const open = opener({ threads })
  const failures: string[] = []
  await using one = await open({}, { observer: { onFailure: (text) => failures.push(text) } })
  await post(`${one.url}/1`, mine)
  const write = vi.spyOn(systemFiles, 'write').mockImplementation(() => {
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  })
  onTestFinished(() => write.mockRestore())
  await post(`${one.url}/1`, mine)
  const file = path.join(open.folder, threads === 0 ? 'chains' : 'chains.1')
  const failure = `${file}: ENOSPC: no space left on device, write; trying again`
  await eventually(() => failures.includes(failure))
  write.mockRestore()
})
