// Forks: a chain that begins as a copy of another network, and goes on alone.
import { describe, expect, test } from 'vitest'
import { createDevchain, type DevchainOptions } from '../../../src/devchain.ts'
import {
  deployKeeper,
  forkOf,
  SUMMED,
  sendOn,
  setting,
  startUpstream,
  type Upstream,
  word,
} from '../../support/fork/upstream.ts'

const SUM = BigInt((SUMMED * (SUMMED - 1)) / 2 + 100 * SUMMED)

describe('a fork', () => {
  test('begins at the newest block of a local node, under its own chain id', async () => {
    await using upstream = await startUpstream({ chainId: 5 })
    await deployKeeper(upstream)
    await using fork = await forkOf(upstream)
    expect(await fork.ask('eth_blockNumber')).toBe(await upstream.ask('eth_blockNumber'))
    expect(await fork.ask('eth_chainId')).toBe('0x21')
    expect(await fork.ask('eth_getBlockByNumber', 'latest', true)).toEqual(
      await upstream.ask('eth_getBlockByNumber', 'latest', true),
    )
    await using same = await forkOf(upstream, { chainId: 'remote' })
    expect(await same.ask('eth_chainId')).toBe('0x5')
  })

  test('requests nothing about dev accounts at the start, and their nonces when they send', async () => {
    await using upstream = await startUpstream()
    const [first] = (await upstream.ask('eth_accounts')) as string[]
    await sendOn(upstream.ask, { to: first, value: '0x1' })
    await upstream.ask('anvil_setCode', first, '0x6001')
    await using fork = await forkOf(upstream)
    expect(upstream.requests).toHaveLength(1)
    expect(await fork.ask('eth_getBalance', first)).toBe('0x21e19e0c9bab2400000')
    expect(await fork.ask('eth_getCode', first)).toBe('0x')
    expect(upstream.requests).toHaveLength(1)
    expect(await fork.ask('eth_getTransactionCount', first)).toBe('0x1')
    expect(upstream.requests).toHaveLength(2)
  })

  test('continues the nonces of its dev accounts, with proofs too', async () => {
    await using upstream = await startUpstream()
    const [first] = (await upstream.ask('eth_accounts')) as string[]
    await sendOn(upstream.ask, { to: first, value: '0x1' })
    await using fork = await forkOf(upstream, { forkProofs: true })
    expect(await fork.ask('eth_getTransactionCount', first)).toBe('0x1')
    expect(await sendOn(fork.ask, { to: first, value: '0x1' })).toMatchObject({ status: '0x1' })
    expect(await fork.ask('eth_getTransactionCount', first)).toBe('0x2')
  })

  test("refuses a call before a transaction that the network's block does not have", async () => {
    await using upstream = await startUpstream()
    await sendOn(upstream.ask, { to: `0x${'12'.repeat(20)}`, value: '0x1' })
    await using fork = await forkOf(upstream)
    const trace = (txIndex: string): Promise<unknown> =>
      fork.ask('debug_traceCall', {}, 'latest', { txIndex })
    await expect(trace('0x1')).resolves.toMatchObject({ failed: false })
    const message = 'transaction index 2 out of range for block 1: expected 0 to 1'
    await expect(trace('0x2')).rejects.toMatchObject({ code: -32602, message })
  })

  test('cancels a run that loops forever on a guess', async () => {
    await using upstream = await startUpstream()
    const target = `0x${'51'.repeat(20)}`
    // leaves once the first slot is not 0, and goes round in circles until then
    const code = '0x5b600054600a576000565b00'
    await upstream.ask('anvil_setCode', target, code)
    await upstream.ask('anvil_setStorageAt', target, `0x${word(0)}`, `0x${word(1)}`)
    await upstream.ask('evm_mine')
    upstream.faults.unknown.add('debug_traceCall').add('eth_createAccessList')
    await using fork = await forkOf(upstream, { gasLimit: 10n ** 15n })
    const call = { to: target, gas: '0x38d7ea4c68000' }
    expect(await fork.ask('eth_call', call)).toBe('0x')
  })

  test('runs a call of forty slots with few requests, and a second one with none', async () => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    await using fork = await forkOf(upstream)
    const begun = upstream.requests.length
    expect(await fork.ask('eth_call', { to: keeper })).toBe(`0x${word(SUM)}`)
    expect(upstream.requests.length - begun).toBeLessThanOrEqual(3)
    const warm = upstream.requests.length
    expect(await fork.ask('eth_call', { to: keeper })).toBe(`0x${word(SUM)}`)
    expect(upstream.requests).toHaveLength(warm)
  })

  test.each([
    ['a trace', [], 'debug_traceCall', 'eth_createAccessList'],
    ['an access list', ['debug_traceCall'], 'eth_createAccessList', 'debug_traceCall'],
  ] as const)(
    'requests %s once, which has all slots that depend on others',
    async (_, unknown, asked, other) => {
      await using upstream = await startUpstream()
      const keeper = await deployKeeper(upstream)
      for (const method of unknown) upstream.faults.unknown.add(method)
      await using fork = await forkOf(upstream)
      const call = { to: keeper, data: `0x${word(5)}` }
      await fork.ask('eth_call', { to: `0x${'12'.repeat(20)}`, data: '0x12345678' })
      const begun = upstream.requests.length
      expect(await fork.ask('eth_call', call)).toBe(`0x${word(6000)}`)
      const methods = upstream.requests
        .slice(begun)
        .flat()
        .map(({ method }) => method)
      expect(methods.filter((method) => method === asked)).toHaveLength(1)
      expect(methods).not.toContain(other)
      // one round for five slots that each name the next
      expect(upstream.requests.length - begun).toBeLessThanOrEqual(3)
    },
  )

  test('ignores the sender in a trace, and does not take a revert there for a refusal', async () => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    await using fork = await forkOf(upstream)
    const poor = `0x${'77'.repeat(20)}`
    await fork.ask('anvil_impersonateAccount', poor)
    await fork.ask('anvil_setBalance', poor, '0x10')
    const hash = await fork.ask('eth_sendTransaction', {
      from: poor,
      to: keeper,
      data: setting(7, 8),
      gas: '0x20000',
    })
    expect(await fork.ask('eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1' })
    expect(await fork.ask('eth_getBalance', poor)).toBe('0x10')
    expect(await fork.ask('eth_getBalance', poor, '0x0')).toBe('0x0')
    const stranger = `0x${'78'.repeat(20)}`
    await fork.ask('eth_call', { from: stranger, to: keeper, data: setting(6, 9) })
    expect(await fork.ask('eth_getBalance', stranger)).toBe('0x0')
    const begun = upstream.requests.length
    await fork.ask('eth_call', { to: keeper, data: setting(9, 9) })
    const methods = upstream.requests
      .slice(begun)
      .flat()
      .map(({ method }) => method)
    expect(methods).toContain('debug_traceCall')
  })

  test('fetches addresses that depend on slots, at any depth', async () => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    for (const method of ['eth_createAccessList', 'debug_traceCall'])
      upstream.faults.unknown.add(method)
    await using fork = await forkOf(upstream)
    expect(await fork.ask('eth_call', { to: keeper, data: `0x${word(5)}` })).toBe(`0x${word(6000)}`)
  })

  test('is separate: neither side sees what the other mines', async () => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    await using fork = await forkOf(upstream)
    const { number } = (await fork.ask('eth_getBlockByNumber', 'latest', false)) as {
      number: string
    }
    await sendOn(upstream.ask, { to: keeper, data: setting(0, 7) })
    expect((await sendOn(fork.ask, { to: keeper, data: setting(0, 9) })).status).toBe('0x1')
    expect(await fork.ask('eth_getStorageAt', keeper, '0x0')).toBe(`0x${word(9)}`)
    expect(await fork.ask('eth_getStorageAt', keeper, '0x0', number)).toBe(`0x${word(100)}`)
    expect(await upstream.ask('eth_getStorageAt', keeper, '0x0')).toBe(`0x${word(7)}`)
    expect(await fork.ask('eth_call', { to: keeper })).toBe(`0x${word(SUM - 91n)}`)
  })

  test('can be restored by snapshot and reset, and its state can be edited', async () => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    await using fork = await forkOf(upstream)
    const start = await fork.ask('eth_blockNumber')
    const id = await fork.ask('evm_snapshot')
    await sendOn(fork.ask, { to: keeper, data: setting(0, 9) })
    const { hash } = (await fork.ask('eth_getBlockByNumber', 'latest', false)) as { hash: string }
    await fork.ask('evm_revert', id)
    expect(await fork.ask('eth_getStorageAt', keeper, '0x0')).toBe(`0x${word(100)}`)
    expect(await fork.ask('eth_getBlockByHash', hash, false)).toMatchObject({ hash })
    expect(await fork.ask('eth_getStorageAt', keeper, '0x0', { blockHash: hash })).toBe(
      `0x${word(9)}`,
    )
    await fork.ask('anvil_setStorageAt', keeper, '0x1', `0x${word(77)}`)
    await fork.ask('anvil_setBalance', keeper, '0x5')
    expect(await fork.ask('eth_getBalance', keeper)).toBe('0x5')
    expect(await fork.ask('eth_call', { to: keeper })).toBe(`0x${word(SUM - 24n)}`)
    await fork.ask('evm_reset')
    expect(await fork.ask('eth_call', { to: keeper })).toBe(`0x${word(SUM)}`)
    expect(await fork.ask('eth_getBalance', keeper)).toBe('0x0')
    expect(await fork.ask('eth_blockNumber')).toBe(start)
  })

  test('returns old blocks, transactions, receipts and traces in the network’s own words', async () => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    const old = await sendOn(upstream.ask, { to: keeper, data: setting(3, 4) })
    await using fork = await forkOf(upstream)
    await sendOn(fork.ask, { to: keeper, data: setting(3, 5) })
    const { transactionHash: hash, blockHash, blockNumber } = old
    const questions: readonly (readonly [string, ...unknown[]])[] = [
      ['eth_getBlockByNumber', 'earliest', true],
      ['eth_getBlockByNumber', blockNumber, false],
      ['eth_getBlockByHash', blockHash, true],
      ['eth_getBlockReceipts', blockNumber],
      ['eth_getBlockTransactionCountByNumber', blockNumber],
      ['eth_getTransactionByHash', hash],
      ['eth_getTransactionReceipt', hash],
      ['eth_getRawTransactionByHash', hash],
      ['eth_getTransactionByBlockNumberAndIndex', blockNumber, '0x0'],
      ['debug_traceTransaction', hash, { tracer: 'callTracer' }],
      ['debug_traceBlockByNumber', blockNumber, { tracer: 'callTracer' }],
      ['trace_transaction', hash],
      ['eth_getLogs', { blockHash }],
      ['eth_getLogs', { fromBlock: '0x0', toBlock: blockNumber }],
      ['eth_getProof', keeper, ['0x0'], '0x1'],
      ['eth_getBalance', keeper, '0x0'],
      ['eth_getCode', keeper, '0x1'],
      ['eth_call', { to: keeper }, '0x1'],
      ['eth_getTransactionByHash', `0x${word(1)}`],
      ['eth_getTransactionReceipt', `0x${word(1)}`],
      ['eth_getBlockByHash', `0x${word(1)}`, false],
    ]
    for (const [method, ...params] of questions) {
      const expected = await upstream.ask(method, ...params)
      expect([method, await fork.ask(method, ...params)]).toEqual([method, expected])
    }
  })

  test('ignores what the network mines later', async () => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    await using fork = await forkOf(upstream)
    const late = await sendOn(upstream.ask, { to: keeper, data: setting(3, 4) })
    expect(await fork.ask('eth_getTransactionReceipt', late.transactionHash)).toBeNull()
    expect(await fork.ask('eth_getTransactionByHash', late.transactionHash)).toBeNull()
    expect(await fork.ask('eth_getBlockByHash', late.blockHash, false)).toBeNull()
    expect(await fork.ask('eth_getBlockByNumber', late.blockNumber, false)).toBeNull()
  })

  test('has no state of a block beside its chain, nor of a later block at that height', async () => {
    await using upstream = await startUpstream()
    const target = `0x${'51'.repeat(20)}`
    await sendOn(upstream.ask, { to: target, value: '0x5' })
    const hashOf = async (tag: string): Promise<string> =>
      ((await upstream.ask('eth_getBlockByNumber', tag, false)) as { hash: string }).hash
    const beside = await hashOf('latest')
    await upstream.ask('anvil_rollback', 1)
    await sendOn(upstream.ask, { to: target, value: '0x6' })
    await upstream.ask('evm_mine')
    const shown = (await upstream.ask('eth_getBlockByNumber', '0x1', false)) as { hash: string }
    upstream.faults.lie = ({ method, params }, result) =>
      method === 'eth_getBlockByHash' && params[0] === beside ? { ...shown, hash: beside } : result
    await using fork = await forkOf(upstream)
    const own = await hashOf('0x1')
    await sendOn(upstream.ask, { to: target, value: '0x7' })
    expect(await fork.ask('eth_getBalance', target, { blockHash: own })).toBe('0x6')
    const begun = upstream.requests.length
    for (const blockHash of [beside, await hashOf('latest')]) {
      await expect(fork.ask('eth_getBalance', target, { blockHash })).rejects.toThrow(
        /block 0x[0-9a-f]{64}|not found|unknown/i,
      )
    }
    // whose number is past the fork's, nobody asks for its block
    const numbers = upstream.requests
      .slice(begun)
      .flat()
      .filter(({ method }) => method === 'eth_getBlockByNumber')
      .map(({ params }) => Number(params[0]))
    expect(Math.max(...numbers)).toBeLessThanOrEqual(Number(await fork.ask('eth_blockNumber')))
  })

  test('has the slots of an account that lost its code', async () => {
    await using upstream = await startUpstream()
    const target = `0x${'51'.repeat(20)}`
    await upstream.ask('anvil_setNonce', target, '0x1')
    await upstream.ask('anvil_setStorageAt', target, `0x${word(3)}`, `0x${word(7)}`)
    await upstream.ask('evm_mine')
    await using fork = await forkOf(upstream)
    expect(await fork.ask('eth_getStorageAt', target, '0x3')).toBe(`0x${word(7)}`)
  })

  test('joins logs and fees of both sides', async () => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    await using fork = await forkOf(upstream)
    await sendOn(fork.ask, { to: keeper, data: setting(3, 5) })
    const before = (await upstream.ask('eth_getLogs', { fromBlock: '0x0' })) as unknown[]
    const all = (await fork.ask('eth_getLogs', { fromBlock: '0x0' })) as { data: string }[]
    expect(all.slice(0, -1)).toEqual(before)
    expect(all.at(-1)?.data).toBe(`0x${word(5)}`)
    const fees = (await fork.ask('eth_feeHistory', '0x4', 'latest', [50])) as Record<
      string,
      unknown[]
    >
    expect(fees.oldestBlock).toBe('0x0')
    expect(fees.baseFeePerGas).toHaveLength(5)
    expect(fees.gasUsedRatio).toHaveLength(4)
    expect(fees.reward).toHaveLength(4)
  })

  test.each([[[]], [[null]], [[[]]]])(
    'joins fees without rewards for %j, from a network that requires percentiles',
    async (percentiles) => {
      await using upstream = await startUpstream()
      const keeper = await deployKeeper(upstream)
      upstream.faults.refuse = ({ method, params }) =>
        method === 'eth_feeHistory' && !Array.isArray(params[2])
          ? { code: -32602, message: 'expected tuple variant FeeHistory with 3 elements' }
          : undefined
      // as anvil
      upstream.faults.lie = ({ method }, result) =>
        method === 'eth_feeHistory' ? { ...(result as object), reward: [] } : result
      await using fork = await forkOf(upstream)
      await sendOn(fork.ask, { to: keeper, data: setting(3, 5) })
      const joined = await fork.ask('eth_feeHistory', '0x4', 'latest', ...percentiles)
      expect(joined).toMatchObject({ oldestBlock: '0x0', gasUsedRatio: { length: 4 } })
      expect(joined).not.toHaveProperty('reward')
      const old = await fork.ask('eth_feeHistory', '0x2', '0x2', ...percentiles)
      expect(old).toMatchObject({ oldestBlock: '0x1', gasUsedRatio: { length: 2 } })
    },
  )

  test('halves a range of logs until the network accepts it', async () => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    for (let i = 0; i < 10; i++) await sendOn(upstream.ask, { to: keeper, data: setting(i, i) })
    const expected = await upstream.ask('eth_getLogs', { fromBlock: '0x0' })
    upstream.faults.refuse = ({ method, params }) => {
      const [filter] = params as [{ fromBlock: string; toBlock: string }]
      const isWide =
        method === 'eth_getLogs' && Number(filter.toBlock) - Number(filter.fromBlock) > 2
      return isWide ? { code: -32005, message: 'query exceeds max block range 3' } : undefined
    }
    await using fork = await forkOf(upstream)
    expect(await fork.ask('eth_getLogs', { fromBlock: '0x0' })).toEqual(expected)
  })

  test('returns BLOCKHASH for blocks on both sides', async () => {
    await using upstream = await startUpstream()
    await upstream.ask('hardhat_mine', '0x20')
    await using fork = await forkOf(upstream)
    await fork.ask('hardhat_mine', '0x3')
    // NUMBER minus the input, BLOCKHASH
    const code = '0x600035430340600052602060 00f3'.replace(' ', '')
    const target = `0x${'12'.repeat(20)}`
    for (const back of [1, 2, 3, 4, 20]) {
      const request = { to: target, data: `0x${word(back)}` }
      const number = Number(await fork.ask('eth_blockNumber')) - back
      const block = (await fork.ask('eth_getBlockByNumber', number, false)) as { hash: string }
      const seen = await fork.ask('eth_call', request, 'latest', { [target]: { code } })
      expect([back, seen]).toEqual([back, block.hash])
    }
  })

  test.each([
    ['a number', '2', 2],
    ['a hexadecimal number', '0x3', 3],
    ['so many before the newest', '-4', 16],
    ['a tag', 'earliest', 0],
  ])('begins at a block named by %s', async (_, block, expected) => {
    await using upstream = await startUpstream()
    await upstream.ask('hardhat_mine', '0x14')
    await using fork = await forkOf(upstream, { fork: `${upstream.url}@${block}` })
    expect(Number(await fork.ask('eth_blockNumber'))).toBe(expected)
  })

  test('cannot go back behind its fork block', async () => {
    await using upstream = await startUpstream()
    await upstream.ask('hardhat_mine', '0x5')
    await using fork = await forkOf(upstream)
    await fork.ask('hardhat_mine', '0x2')
    for (const [method, ...params] of [
      ['debug_setHead', '0x3'],
      ['anvil_rollback', 3],
      ['devchain_reorg', 3],
    ] as const) {
      await expect(fork.ask(method, ...params)).rejects.toThrow(
        /cannot go back to block \d: the chain is a fork that begins at block 5/,
      )
    }
    await expect(fork.ask('devchain_reorg', 9)).rejects.toThrow(/newest 9 blocks: expected 1 to 2$/)
    await fork.ask('anvil_rollback', 2)
    expect(await fork.ask('eth_blockNumber')).toBe('0x5')
    const none = /newest 9 blocks: there is only the block that was forked$/
    await expect(fork.ask('devchain_reorg', 9)).rejects.toThrow(none)
    await fork.ask('hardhat_mine', '0x2')
    expect(await fork.ask('eth_blockNumber')).toBe('0x7')
  })

  test('is dumped with the accounts that it has fetched', async () => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    await using fork = await forkOf(upstream)
    await sendOn(fork.ask, { to: keeper, data: setting(0, 9) })
    expect(await fork.ask('eth_call', { to: keeper })).toBe(`0x${word(SUM - 91n)}`)
    await using other = await createDevchain()
    const on: Upstream['ask'] = (method, ...params) => other.request({ method, params })
    expect(await on('anvil_loadState', await fork.ask('anvil_dumpState', true))).toBe(true)
    expect(await on('eth_call', { to: keeper })).toBe(`0x${word(SUM - 91n)}`)
  })

  test('can itself be forked, in one process and without a socket', async () => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    await using first = await forkOf(upstream)
    await sendOn(first.ask, { to: keeper, data: setting(0, 9) })
    await using second = await forkOf(upstream, { fork: { provider: first.devchain } })
    expect(await second.ask('eth_call', { to: keeper })).toBe(`0x${word(SUM - 91n)}`)
    expect(await second.ask('eth_getBlockByNumber', 'earliest', false)).toEqual(
      await upstream.ask('eth_getBlockByNumber', 'earliest', false),
    )
  })
})

describe('a log filter on a fork', () => {
  test('returns logs of both sides', async () => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    const old = await sendOn(upstream.ask, { to: keeper, data: setting(3, 4) })
    await using fork = await forkOf(upstream)
    const topics = [`0x${word(3)}`]
    const filter = { fromBlock: old.blockNumber, address: keeper, topics: [topics] }
    const id = await fork.ask('eth_newFilter', filter)
    const late = await fork.ask('eth_newFilter', { topics })
    const others = await fork.ask('eth_newFilter', { ...filter, topics: [`0x${word(4)}`] })
    const own = await sendOn(fork.ask, { to: keeper, data: setting(3, 5) })
    const logs = (await fork.ask('eth_getFilterLogs', id)) as { blockHash: string }[]
    expect(logs.map(({ blockHash }) => blockHash)).toEqual([old.blockHash, own.blockHash])
    expect(logs).toEqual(await fork.ask('eth_getLogs', filter))
    expect(await fork.ask('eth_getFilterChanges', id)).toHaveLength(1)
    const both = await fork.ask('eth_getFilterLogs', late)
    expect(both).toEqual(logs)
    expect(await fork.ask('eth_getFilterLogs', others)).toEqual([])
    await expect(fork.ask('eth_getFilterLogs', '0x99')).rejects.toThrow(/filter/)
  })
})

describe('evm_reset of a fork', () => {
  test('starts the named fork or none, and listeners see no block of the network', async () => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    const height = await upstream.ask('eth_blockNumber')
    await using plain = await createDevchain({ noForkCache: true, clock: 'step:12' })
    const ask: Upstream['ask'] = (method, ...params) => plain.request({ method, params })
    const filter = await ask('eth_newBlockFilter')
    await ask('evm_mine')
    expect(await ask('devchain_forkInfo')).toBeNull()
    await ask('anvil_reset', { forking: { jsonRpcUrl: upstream.url } })
    expect(await ask('eth_blockNumber')).toBe(height)
    expect(await ask('eth_call', { to: keeper })).toBe(`0x${word(SUM)}`)
    const { hash } = (await ask('eth_getBlockByNumber', 'latest', false)) as { hash: string }
    expect(((await ask('eth_getFilterChanges', filter)) as string[]).at(-1)).toBe(hash)
    expect(await ask('devchain_forkInfo')).toMatchObject({ blockNumber: height, blockHash: hash })
    expect(await ask('hardhat_metadata')).toMatchObject({ forkedNetwork: { forkBlockHash: hash } })
    await sendOn(ask, { to: keeper, data: setting(0, 9) })
    await ask('hardhat_reset', { forking: { blockNumber: 1 } })
    expect(await ask('eth_blockNumber')).toBe('0x1')
    expect(await ask('eth_call', { to: keeper })).toBe(`0x${word(0)}`)
    await ask('hardhat_reset')
    expect(await ask('eth_blockNumber')).toBe('0x0')
    expect(await ask('eth_getCode', keeper)).toBe('0x')
    expect(await ask('devchain_forkInfo')).toBeNull()
  })

  test('continues during other requests with the current fork', async () => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    await upstream.ask('hardhat_mine', '0x5')
    await using fork = await forkOf(upstream)
    await Promise.all(
      [2, 3, 4, 5, 6, 7].map((blockNumber) =>
        fork.ask('anvil_reset', { forking: { blockNumber } }),
      ),
    )
    expect(await fork.ask('eth_call', { to: keeper })).toBe(`0x${word(SUM)}`)
    for (const blockNumber of [2, 3, 4]) {
      await fork.ask('anvil_reset', { forking: { blockNumber } })
      await fork.ask('anvil_reset', { forking: { blockNumber: 99 } }).catch(() => undefined)
    }
    expect(await fork.ask('eth_getStorageAt', keeper, '0x3e8')).toBe(`0x${word(2000)}`)
  })

  test('names the block like --fork-block-number', async () => {
    await using upstream = await startUpstream()
    await upstream.ask('hardhat_mine', '0x5')
    const { hash } = (await upstream.ask('eth_getBlockByNumber', '0x2', false)) as { hash: string }
    await using fork = await forkOf(upstream)
    const jsonRpcUrl = upstream.url
    const cases = [
      [{ blockNumber: 4 }, 4],
      [{ blockNumber: '0x3' }, 3],
      [{ blockNumber: -2 }, 3],
      [{ blockNumber: 'earliest' }, 0],
      [{ blockNumber: 'latest' }, 5],
      [{ jsonRpcUrl, blockNumber: hash }, 2],
      [{ jsonRpcUrl: `${jsonRpcUrl}@4` }, 4],
      [{ jsonRpcUrl: `${jsonRpcUrl}/@-4` }, 1],
      [{ jsonRpcUrl }, 5],
    ] as const
    for (const [forking, number] of cases) {
      await fork.ask('anvil_reset', { forking })
      expect(await fork.ask('eth_blockNumber')).toBe(`0x${number}`)
    }
  })

  test.each([
    [
      { jsonRpcUrl: 'http://127.0.0.1:1' },
      /the forked network did not answer: http:\/\/127.0.0.1:1/,
    ],
    // which would be asked for as a host
    [{ jsonRpcUrl: 'http://127.0.0.1:1@soon' }, /jsonRpcUrl: expected a node URL .*@soon/],
    [{ jsonRpcUrl: 'http://127.0.0.1:1@-1.5' }, /jsonRpcUrl: expected a node URL/],
    [{ jsonRpcUrl: 'ftp://127.0.0.1:1' }, /jsonRpcUrl: .* got ftp:\/\/127.0.0.1:1/],
    [{ jsonRpcUrl: 'http://127.0.0.1:1@5', blockNumber: 5 }, /expected one block, got @5 and/],
    [{ blockNumber: 99 }, /has no block 99; its newest is 2/],
    [{ blockNumber: 'soon' }, /blockNumber: expected a block: a number, a hash, .* got "soon"/],
    [{ blockNumber: 1.5 }, /blockNumber: expected a block: .* got 1.5/],
    [{ url: 'http://127.0.0.1:1' }, /options.forking: expected .* got the members url/],
  ])('that fails leaves the chain as it was: %j', async (forking, words) => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    await using fork = await forkOf(upstream, { forkRetries: 0 })
    await fork.ask('evm_mine')
    const before = await fork.ask('eth_getBlockByNumber', 'latest', true)
    await expect(fork.ask('hardhat_reset', { forking })).rejects.toThrow(words)
    expect(await fork.ask('eth_getBlockByNumber', 'latest', true)).toEqual(before)
    expect(await fork.ask('eth_call', { to: keeper })).toBe(`0x${word(SUM)}`)
  })
})

test('the chain cannot begin before the fork block', async () => {
  await using upstream = await startUpstream()
  const { timestamp } = (await upstream.ask('eth_getBlockByNumber', 'latest', false)) as never
  const seconds = Number(timestamp)
  await expect(forkOf(upstream, { timestamp: seconds - 1 })).rejects.toThrow(
    `timestamp: expected at least ${seconds}, the time of the forked block`,
  )
  await using fork = await forkOf(upstream, { timestamp: seconds })
  await fork.ask('evm_mine')
  await using later = await forkOf(upstream, { timestamp: seconds + 600, clock: 'wall' })
  await later.ask('evm_mine')
  const mined = (await later.ask('eth_getBlockByNumber', 'latest', false)) as never
  expect(Number((mined as { timestamp: string }).timestamp)).toBeGreaterThanOrEqual(seconds + 600)
})

describe('anvil_setRpcUrl', () => {
  test('sends later requests to the new URL if it has the same block', async () => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    await using other = await startUpstream()
    await using fork = await forkOf(upstream, { forkRetries: 0 })
    await expect(fork.ask('anvil_setRpcUrl', other.url)).rejects.toThrow(
      /has no block 2, which is 0x[0-9a-f]{64} of http/,
    )
    for (const wrong of ['http://127.0.0.1:1@2', 'ftp://127.0.0.1:1', 'soon', '']) {
      const words = /^url: expected a node URL .* and no block, got /
      await expect(fork.ask('anvil_setRpcUrl', wrong)).rejects.toThrow(words)
    }
    const beyond = 'http://127.0.0.1:1'
    await expect(fork.ask('anvil_setRpcUrl', beyond)).rejects.toThrow(/did not answer: .*:1: /)
    await using copy = await forkOf(upstream, { port: 0 })
    const { url } = await copy.devchain.listen()
    await fork.ask('anvil_setRpcUrl', url)
    const begun = upstream.requests.length
    expect(await fork.ask('anvil_nodeInfo')).toMatchObject({ forkConfig: { forkUrl: url } })
    expect(await fork.ask('eth_call', { to: keeper })).toBe(`0x${word(SUM)}`)
    expect(upstream.requests.length).toBeGreaterThan(begun)
    expect(await fork.ask('devchain_forkInfo')).toMatchObject({ source: url })
    // and by the forks after it
    await fork.ask('hardhat_reset', { forking: { blockNumber: 1 } })
    expect(await fork.ask('devchain_forkInfo')).toMatchObject({ source: url, blockNumber: '0x1' })
  })
})

test('--fork alone may name the URLs', async () => {
  await using upstream = await startUpstream()
  await upstream.ask('hardhat_mine', '0x5')
  const options: DevchainOptions = { fork: [`${upstream.url}@3`, upstream.url], noForkCache: true }
  await using fork = await createDevchain(options)
  expect(await fork.request({ method: 'eth_blockNumber' })).toBe('0x3')
})

describe('a fork is refused', () => {
  test.each([
    [{ fork: 'ftp://example.com' }, /fork: expected a node URL/],
    // a block that is none would be asked as a host, or as a part of a key
    ...['127.0.0.1:8545', 'localhost', '[::1]:8545', 'rpc.example.io', 'rpc.example.io/v3/KEY'].map(
      (host) => [{ fork: `http://${host}@pending` }, /fork: expected a node URL/] as const,
    ),
    [{ fork: 'wss://rpc.example.io@pending' }, /fork: expected a node URL/],
    [{ fork: { url: 'http://127.0.0.1:1', block: 'newest' } }, /fork: expected a node URL/],
    [{ chainId: 'remote' }, /--chain-id remote needs --fork URL/],
    [{ forkRecord: 'x' }, /--fork-record needs --fork URL/],
    [{ fork: { url: 5 } }, /fork: expected a node URL .* got an object with url$/],
    [{ fork: { url: {} } }, /fork: expected a node URL .* got an object with url$/],
    [{ fork: {} }, /fork: expected a node URL .* got an object with no members$/],
    [{ forkLater: true }, /--fork-later needs --fork URL/],
    [{ forkChainId: 1 }, /--fork-chain-id needs --fork URL/],
    [{ fork: 'http://127.0.0.1:8545@-1.5' }, /fork: expected a node URL/],
  ] as const)('for the option %j', async (options, message) => {
    await expect(createDevchain(options as DevchainOptions)).rejects.toThrow(message)
  })

  test('at a block that the network does not have', async () => {
    await using upstream = await startUpstream()
    await expect(forkOf(upstream, { fork: `${upstream.url}@99` })).rejects.toThrow(
      /has no block 99; its newest is 0/,
    )
  })

  test('of a network with another virtual machine, with the reason', async () => {
    await using upstream = await startUpstream({ chainId: 324 })
    await expect(forkOf(upstream)).rejects.toThrow(/ZKsync Era .* virtual machine/)
  })
})
