// A chain that goes from bpo2 to amsterdam at a time, over the RPC: which rules hold on each side, with snapshots and reverts
// over the boundary.
import { expect, onTestFinished, test } from 'vitest'
import { createDevchain, type DevchainOptions } from '../../../src/devchain.ts'
import type { Ask } from '../../support/tools/anvil.ts'

const START = 1_800_000_000

/** Seconds from the genesis on. */
const BOUNDARY = 1_000

const STRANGER = `0x${'57'.repeat(20)}`

const genesis = {
  config: {
    chainId: 33,
    ...Object.fromEntries(
      [
        'homesteadBlock',
        'eip150Block',
        'eip155Block',
        'eip158Block',
        'byzantiumBlock',
        'constantinopleBlock',
        'petersburgBlock',
        'istanbulBlock',
        'berlinBlock',
        'londonBlock',
        'mergeNetsplitBlock',
        'shanghaiTime',
        'cancunTime',
        'pragueTime',
        'osakaTime',
        'bpo1Time',
        'bpo2Time',
      ].map((key) => [key, 0]),
    ),
    amsterdamTime: START + BOUNDARY,
  },
  timestamp: `0x${START.toString(16)}`,
  gasLimit: '0x1c9c380',
  difficulty: '0x0',
  alloc: {},
}

/** SLOTNUM PUSH0 MSTORE PUSH1 32 PUSH0 RETURN */
const SLOT_READER = '0x4b5f5260205ff3'

async function start(options: DevchainOptions = {}): Promise<{ ask: Ask; from: string }> {
  const { request, close } = await createDevchain({ genesis, clock: 'step:12', ...options })
  onTestFinished(close)
  const ask: Ask = (method, ...params) => request({ method, params })
  const [from] = (await ask('eth_accounts')) as string[]
  return { ask, from: from! }
}

interface SeenBlock {
  readonly hash: string
  readonly number: string
  readonly timestamp: string
  readonly slotNumber?: string
  readonly blockAccessListHash?: string
}

const newest = async (ask: Ask): Promise<SeenBlock> =>
  (await ask('eth_getBlockByNumber', 'latest', false)) as SeenBlock

/** What the rules of the next block are, as callers see them. */
async function rules(ask: Ask, from: string): Promise<unknown> {
  const transfer = { from, to: STRANGER, value: '0x1' }
  return {
    gas: Number(await ask('eth_estimateGas', transfer, 'pending')),
    hasSlots: await ask('eth_call', { data: SLOT_READER }, 'pending').then(
      () => true,
      () => false,
    ),
    active: ((await ask('eth_config')) as { next: unknown }).next === null,
  }
}

const OLD = { gas: 21_000, hasSlots: false, active: false }
const NEW = { gas: 204_600, hasSlots: true, active: true }

/** Mines the first block of amsterdam. */
async function cross(ask: Ask): Promise<SeenBlock> {
  await ask('evm_setNextBlockTimestamp', START + BOUNDARY)
  await ask('evm_mine')
  return await newest(ask)
}

test('the boundary is crossed, reverted and crossed again', async () => {
  const { ask, from } = await start()
  await ask('evm_mine')
  expect(await rules(ask, from)).toEqual(OLD)
  const before = await ask('evm_snapshot')
  const first = await cross(ask)
  expect(first.slotNumber).toBe(first.number)
  expect(await ask('eth_getBlockAccessList', 'latest')).toHaveLength(6)
  expect(await rules(ask, from)).toEqual(NEW)
  const hash = await ask('eth_sendTransaction', { from, to: STRANGER, value: '0x1' })
  expect(await ask('eth_getTransactionReceipt', hash)).toMatchObject({
    status: '0x1',
    stateGasUsed: '0x2cd30',
  })
  const after = await ask('evm_snapshot')
  const head = await newest(ask)

  expect(await ask('evm_revert', before)).toBe(true)
  expect(await rules(ask, from)).toEqual(OLD)
  const old = await ask('eth_sendTransaction', { from, to: STRANGER, value: '0x1' })
  const receipt = await ask('eth_getTransactionReceipt', old)
  expect(receipt).toMatchObject({ gasUsed: '0x5208', logs: [] })
  expect(receipt).not.toHaveProperty('stateGasUsed')
  expect(await newest(ask)).not.toHaveProperty('slotNumber')
  // a snapshot that was taken after the other is gone with it
  await expect(ask('evm_revert', after)).resolves.toBe(false)

  await ask('evm_revert', before)
  expect(await cross(ask)).toEqual(first)
  await ask('eth_sendTransaction', { from, to: STRANGER, value: '0x1' })
  expect(await newest(ask)).toEqual(head)
})

test('named snapshots lead back and forth over the boundary', async () => {
  const { ask, from } = await start()
  await ask('evm_mine')
  await ask('devchain_snapshot', 'old')
  await cross(ask)
  await ask('devchain_snapshot', 'new')
  const head = await newest(ask)
  for (let turn = 0; turn < 3; turn++) {
    await ask('devchain_revert', 'old')
    expect(await rules(ask, from)).toEqual(OLD)
    await ask('devchain_revert', 'new')
    expect(await rules(ask, from)).toEqual(NEW)
    expect(await newest(ask)).toEqual(head)
  }
})

test('a transaction that waits over the boundary runs by the rules of its block', async () => {
  const { ask, from } = await start({ noMining: true })
  const transfer = { from, to: STRANGER, value: '0x1', gas: '0x5208' }
  const hash = await ask('eth_sendTransaction', transfer)
  await cross(ask)
  expect(await ask('eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x0' })
  expect(await ask('eth_getBalance', STRANGER, 'latest')).toBe('0x0')
})

test('many blocks at once cross the boundary, and lists of them are there after a restart from a dump', async () => {
  const { ask } = await start()
  await ask('hardhat_mine', '0x80', '0xc')
  const last = await newest(ask)
  expect(Number(last.timestamp)).toBeGreaterThan(START + BOUNDARY)
  const lists = async (of: Ask): Promise<unknown[]> =>
    await Promise.all(
      Array.from({ length: 129 }, (_, number) =>
        of('eth_getBlockAccessListRaw', `0x${number.toString(16)}`).catch(() => 'none'),
      ),
    )
  const seen = await lists(ask)
  const boundary = seen.lastIndexOf('none')
  expect(seen.slice(0, boundary + 1).every((each) => each === 'none')).toBe(true)
  expect(new Set(seen.slice(boundary + 1)).size).toBe(128 - boundary)
  const dump = await ask('anvil_dumpState', true)
  const { ask: again } = await start()
  await again('anvil_loadState', dump)
  expect(await newest(again)).toEqual(last)
  expect(await lists(again)).toEqual(seen)
})

test('a dump keeps execution and state gas', async () => {
  const { ask, from } = await start({ hardfork: 'amsterdam' })
  const hash = await ask('eth_sendTransaction', { from, to: STRANGER, value: '0x1' })
  const receipt = await ask('eth_getTransactionReceipt', hash)
  expect(receipt).toMatchObject({ executionGasUsed: '0x5208', stateGasUsed: '0x2cd30' })
  const { ask: again } = await start({ hardfork: 'amsterdam' })
  await again('anvil_loadState', await ask('anvil_dumpState'))
  expect(await again('eth_getTransactionReceipt', hash)).toEqual(receipt)
})
