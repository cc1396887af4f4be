// A chain made of options: its genesis block, accounts and settings.
import { describe, expect, it, vi } from 'vitest'
import { parseAddress, ZERO_HASH } from '../../../src/core/hex.ts'
import { addresses } from '../../../src/node/accounts/accounts.ts'
import { mine } from '../../../src/node/commands/mine.ts'
import { createChain, FIXED_GENESIS_TIMESTAMP } from '../../../src/node/create.ts'
import { blockByHash, headOf } from '../../../src/node/ledger/blocktree.ts'
import { parseGenesis } from '../../../src/state/genesis.ts'
import { Trie } from '../../../src/state/trie.ts'
import { balanceAt, codeAt, stateRoot, storageAt } from '../../../src/state/world.ts'
import { headTime, NOON, testChain } from './chains.ts'

const CREATE2_DEPLOYER = parseAddress('0x4e59b44847b379578588920ca78fbf26c0b4956c')
const BEACON_ROOTS = parseAddress('0x000f3df6d732807ef1319fb7b8bb8522d0beac02')

const secondsNow = (): bigint => BigInt(Math.floor(Date.now() / 1000))

describe('a chain without options', () => {
  it('has the documented defaults', async () => {
    const before = secondsNow()
    const chain = await createChain()
    const { config, settings, accounts, mining, tree } = chain.state
    expect([config.chainId, config.networkId, config.options.chainName]).toEqual([
      33n,
      33n,
      'Ethereum',
    ])
    expect(addresses(accounts)).toHaveLength(10)
    expect(settings).toMatchObject({
      blockGasLimit: 30_000_000n,
      gasPrice: 0n,
      defaultGas: undefined,
      pinnedBaseFee: true,
    })
    expect(mining).toEqual({ mode: { kind: 'instant' }, stopped: false })
    const { block, world, totalDifficulty } = headOf(tree)
    expect(block.header).toMatchObject({
      number: 0n,
      difficulty: 1n,
      baseFeePerGas: 0n,
      parentHash: ZERO_HASH,
    })
    expect(block.header.stateRoot).toBe(stateRoot(world))
    expect(totalDifficulty).toBe(1n)
    for (const address of addresses(accounts)) {
      expect(balanceAt(world, address)).toBe(10_000n * 10n ** 18n)
    }
    expect(headTime(chain)).toBeGreaterThanOrEqual(before)
    expect(headTime(chain)).toBeLessThanOrEqual(secondsNow())
  })

  it('hashes its genesis when that is read', async () => {
    const root = vi.spyOn(Trie.prototype, 'rootHash', 'get')
    const { tree } = (await createChain()).state
    const genesis = headOf(tree)
    const { number, timestamp } = genesis.block.header
    expect([number, timestamp > 0n, root.mock.calls.length]).toEqual([0n, true, 0])
    expect(blockByHash(tree, genesis.block.hash)).toBe(genesis)
    expect(root.mock.calls.length).toBeGreaterThan(0)
    root.mockRestore()
  })

  it('has the deterministic deployer unless it is disabled', async () => {
    const { world } = headOf((await testChain()).state.tree)
    expect(codeAt(world, CREATE2_DEPLOYER).length).toBeGreaterThan(0)
    const without = headOf((await testChain({ noCreate2: true })).state.tree).world
    expect(codeAt(without, CREATE2_DEPLOYER)).toHaveLength(0)
  })
})

describe('a header', () => {
  const optional = [
    'baseFeePerGas',
    'withdrawalsRoot',
    'blobGasUsed',
    'excessBlobGas',
    'parentBeaconBlockRoot',
    'requestsHash',
  ] as const

  it.each([
    ['berlin', []],
    ['london', optional.slice(0, 1)],
    ['shanghai', optional.slice(0, 2)],
    ['cancun', optional.slice(0, 5)],
    ['prague', optional],
  ] as const)(
    'at %s has the fields %j, in the genesis and in mined blocks',
    async (hardfork, fields) => {
      const chain = await testChain({ hardfork })
      await chain.update((state) => mine(chain.executor, state, { now: NOON }))
      for (const record of chain.state.tree.canonical.values()) {
        const { header } = record.block
        expect(optional.filter((field) => header[field] !== undefined)).toEqual(fields)
      }
    },
  )
})

describe('a system contract', () => {
  it('is called at the start of each block', async () => {
    const chain = await testChain()
    await chain.update((state) => mine(chain.executor, state, { now: NOON }))
    const { world } = headOf(chain.state.tree)
    const timestamp = headTime(chain)
    expect(storageAt(world, BEACON_ROOTS, timestamp % 8191n)).toBe(timestamp)
  })
})

describe('a genesis file', () => {
  const holder = parseAddress(`0x${'ab'.repeat(20)}`)

  it('applies where no option is given', async () => {
    const genesis = parseGenesis({
      config: { chainId: 4242 },
      timestamp: '0x10',
      gasLimit: '0x989680',
      difficulty: '0x5',
      extraData: '0x1234',
      alloc: { [holder]: { balance: '77', storage: { '0x01': '0x02' }, code: '0x6001' } },
    })
    const chain = await testChain({ genesis })
    const { block, world } = headOf(chain.state.tree)
    expect(chain.state.config.chainId).toBe(4242n)
    expect(block.header).toMatchObject({ timestamp: 16n, gasLimit: 10_000_000n, difficulty: 5n })
    expect([...block.header.extraData]).toEqual([0x12, 0x34])
    expect(balanceAt(world, holder)).toBe(77n)
    expect(storageAt(world, holder, 1n)).toBe(2n)
    expect(chain.state.settings).toMatchObject({ blockGasLimit: 10_000_000n, difficulty: 5n })
    const named = await testChain({ genesis, chainId: 7n, gasLimit: 1_000_000n })
    expect(named.state.config.chainId).toBe(7n)
    expect(named.state.settings.blockGasLimit).toBe(1_000_000n)
  })

  it('schedules forks by block and time', async () => {
    const genesis = parseGenesis({
      config: {
        homesteadBlock: 0,
        eip150Block: 0,
        eip155Block: 0,
        eip158Block: 0,
        byzantiumBlock: 0,
        constantinopleBlock: 0,
        petersburgBlock: 0,
        istanbulBlock: 0,
        berlinBlock: 0,
        londonBlock: 2,
      },
      alloc: {},
    })
    const chain = await testChain({ genesis, baseFee: 500n })
    await chain.update((state) => mine(chain.executor, state, { now: NOON, blocks: 3n }))
    const fees = [...chain.state.tree.canonical.values()].map(
      ({ block }) => block.header.baseFeePerGas,
    )
    expect(fees.slice(0, 3)).toEqual([undefined, undefined, 500n])
    expect(fees[3]).toBeLessThan(500n)
  })

  it('that begins with another block than 0 is refused', async () => {
    const genesis = parseGenesis({ number: '0x5', alloc: {} })
    await expect(testChain({ genesis })).rejects.toThrow('genesis: number: expected 0, got 5')
  })
})

describe('the genesis time', () => {
  it('is constant for reproducible chains, and can be given', async () => {
    expect(headTime(await testChain({ clock: { kind: 'frozen' } }))).toBe(FIXED_GENESIS_TIMESTAMP)
    expect(headTime(await testChain({ timestamp: 5n }))).toBe(5n)
  })
})
