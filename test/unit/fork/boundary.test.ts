// Every method that names a block or a transaction returns the network's as the network does, and of none that came after the fork.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ZERO_ADDRESS } from '../../../src/core/hex.ts'
import {
  type Asked,
  deployKeeper,
  type Fork,
  forkOf,
  KEEPER_CODE,
  sendOn,
  setting,
  startUpstream,
  type Upstream,
} from '../../support/fork/upstream.ts'

type Params = (place: Place) => readonly unknown[]

/** A block with transactions, as methods name it and them. */
interface Place {
  readonly keeper: string
  readonly hash: string
  readonly number: string
  readonly transaction: string
  readonly sender: string
  readonly nonce: string
  readonly raw: string
}

const CALL_TRACER = { tracer: 'callTracer', tracerConfig: { withLog: true } }

/** Of a network that returns everything, and of one that returns nothing but its blocks and its state. */
const EVERYWHERE: readonly (readonly [string, Params])[] = [
  ['debug_accountInfoAt', ({ number, keeper }) => [number, '0x0', keeper]],
  ['debug_getRawBlock', ({ number }) => [number]],
  ['debug_getRawBlock', ({ hash }) => [hash]],
  ['debug_getRawHeader', ({ number }) => [number]],
  ['debug_getRawHeader', ({ hash }) => [hash]],
  ['debug_getRawReceipts', ({ hash }) => [hash]],
  ['debug_getRawTransactions', ({ number }) => [number]],
  ['debug_getRawTransactions', ({ hash }) => [hash]],
  ['debug_traceBlock', ({ raw }) => [raw, CALL_TRACER]],
  ['debug_traceBlockByHash', ({ hash }) => [hash, CALL_TRACER]],
  ['debug_traceBlockByNumber', ({ number }) => [number, CALL_TRACER]],
  ['debug_traceTransaction', ({ transaction }) => [transaction, CALL_TRACER]],
  ['devchain_traceTransaction', ({ transaction }) => [transaction]],
  [
    'eth_callMany',
    ({ number, keeper }) => [many(keeper), { blockNumber: number, transactionIndex: 1 }],
  ],
  ['eth_getAccount', ({ keeper, number }) => [keeper, number]],
  ['eth_getBlockReceipts', ({ number }) => [number]],
  ['eth_getBlockReceipts', ({ hash }) => [hash]],
  ['eth_getAccount', ({ keeper, hash }) => [keeper, { blockHash: hash }]],
  ['eth_getTransactionBySenderAndNonce', ({ sender, nonce }) => [sender, nonce]],
  ['ext_getRawTransactionReceiptByHash', ({ transaction }) => [transaction]],
  ['ext_getTransactionReceiptNodesByHash', ({ hash, transaction }) => [hash, transaction]],
  ['ots_getContractCreator', ({ keeper }) => [keeper]],
  ['ots_getInternalOperations', ({ transaction }) => [transaction]],
  ['ots_getTransactionBySenderAndNonce', ({ sender, nonce }) => [sender, nonce]],
  ['ots_getTransactionError', ({ transaction }) => [transaction]],
  ['ots_traceTransaction', ({ transaction }) => [transaction]],
  ['trace_block', ({ number }) => [number]],
  ['trace_blockOpcodeGas', ({ hash }) => [{ blockHash: hash }]],
  ['trace_filter', ({ number }) => [{ fromBlock: '0x0', toBlock: number, count: 30, after: 3 }]],
  ['trace_get', ({ transaction }) => [transaction, []]],
  ['trace_replayBlockTransactions', ({ number }) => [number, ['trace', 'stateDiff']]],
  ['trace_replayTransaction', ({ transaction }) => [transaction, ['trace', 'vmTrace']]],
  ['trace_transaction', ({ transaction }) => [transaction]],
  ['trace_transactionOpcodeGas', ({ transaction }) => [transaction]],
  ['debug_traceChain', ({ number }) => ['0x0', number, CALL_TRACER]],
]

/** What the network alone knows: the names of all its accounts and slots, and the roots of its tries. */
const THERE: readonly (readonly [string, Params])[] = [
  ['debug_accountRange', ({ number }) => [number, '0x', 20]],
  ['debug_dumpBlock', ({ number }) => [number]],
  ['debug_getModifiedAccountsByHash', ({ hash }) => [hash]],
  ['debug_getModifiedAccountsByNumber', ({ number }) => ['0x0', number]],
  ['debug_intermediateRoots', ({ hash }) => [hash]],
  ['debug_storageRangeAt', ({ hash, keeper }) => [hash, '0x1', keeper, '0x', 5]],
  ['ots_searchTransactionsAfter', ({ sender }) => [sender, 0, 2]],
  ['ots_searchTransactionsBefore', ({ sender, number }) => [sender, Number(number), 2]],
]

function many(keeper: string): readonly unknown[] {
  return [{ transactions: [{ to: keeper, data: '0x', gas: '0x80000' }] }]
}

async function placeAt({ ask }: Upstream, number: string, keeper: string): Promise<Place> {
  const block = (await ask('eth_getBlockByNumber', number, true)) as {
    hash: string
    transactions: { hash: string; from: string; nonce: string }[]
  }
  const { hash, from, nonce } = block.transactions[0]!
  const raw = (await ask('debug_getRawBlock', number)) as string
  return { keeper, hash: block.hash, number, transaction: hash, sender: from, nonce, raw }
}

/** The fork's block is 3 of 5. */
async function network(): Promise<{
  upstream: Upstream
  places: readonly Place[]
  keeper: string
}> {
  const upstream = await startUpstream()
  const keeper = await deployKeeper(upstream)
  for (const slot of [1, 2, 3]) await sendOn(upstream.ask, { to: keeper, data: setting(slot, 9) })
  await upstream.ask('evm_setAutomine', false)
  const numbers = ['0x1', '0x2', '0x3', '0x5']
  const places = await Promise.all(numbers.map((number) => placeAt(upstream, number, keeper)))
  return { upstream, places, keeper }
}

function onlyBasics({ method }: Asked): { code: number; message: string } | undefined {
  const isRefused =
    /^(debug|trace|ots|devchain|ext)_/.test(method) ||
    ['eth_getTransactionBySenderAndNonce', 'eth_getAccount', 'eth_getBlockReceipts'].includes(
      method,
    )
  return isRefused ? { code: -32601, message: `the method ${method} does not exist` } : undefined
}

describe.each([
  ['returns everything', undefined],
  ['returns blocks and states alone', onlyBasics],
] as const)('a fork of a network that %s', (_, refuse) => {
  let upstream: Upstream
  let places: readonly Place[]
  let fork: Fork

  beforeAll(async () => {
    const made = await network()
    upstream = made.upstream
    places = made.places
    upstream.faults.refuse = refuse
    fork = await forkOf(upstream, { fork: { url: upstream.url, block: 3 } })
  })

  afterAll(async () => {
    await fork.devchain.close()
    await upstream.close()
  })

  const cases = refuse === undefined ? [...EVERYWHERE, ...THERE] : EVERYWHERE

  test.each(cases)('returns %s of its old blocks as the network does', async (method, params) => {
    for (const place of places.slice(0, 3)) {
      const asked = params(place)
      const reported = await fork.ask(method, ...asked)
      expect(reported).toEqual(await upstream.ask(method, ...asked))
      expect(reported).not.toBeNull()
    }
  })

  if (refuse !== undefined) {
    test.each(THERE)('says that the network refuses %s', async (method, params) => {
      await expect(fork.ask(method, ...params(places[1]!))).rejects.toMatchObject({
        code: -32601,
        message: expect.stringContaining(`refuses ${method}`),
      })
    })
  }
})

describe('a block mined after the fork', () => {
  const byHash: readonly (readonly [string, Params])[] = [
    ['debug_getRawBlock', ({ hash }) => [hash]],
    ['debug_getRawHeader', ({ hash }) => [hash]],
    ['debug_getRawReceipts', ({ hash }) => [hash]],
    ['debug_executionWitness', ({ hash }) => [{ blockHash: hash }]],
    ['debug_traceBlockByHash', ({ hash }) => [hash]],
    ['debug_traceTransaction', ({ transaction }) => [transaction]],
    ['devchain_traceTransaction', ({ transaction }) => [transaction]],
    ['eth_getBlockTransactionCountByHash', ({ hash }) => [hash]],
    ['eth_getLogs', ({ hash }) => [{ blockHash: hash }]],
    ['eth_getProof', ({ hash, keeper }) => [keeper, [], { blockHash: hash }]],
    ['eth_getRawTransactionByBlockHashAndIndex', ({ hash }) => [hash, '0x0']],
    ['eth_getTransactionBySenderAndNonce', ({ sender, nonce }) => [sender, nonce]],
    ['eth_getUncleCountByBlockHash', ({ hash }) => [hash]],
    ['ots_getBlockDetailsByHash', ({ hash }) => [hash]],
    ['trace_transaction', ({ transaction }) => [transaction]],
  ]

  test('cannot be found by any of its names on the network', async () => {
    const { upstream, places } = await network()
    await using _ = upstream
    const fork = await forkOf(upstream, { fork: { url: upstream.url, block: 3 } })
    await using __ = fork
    const answers = byHash.map(async ([method, params]) => {
      const answer = await fork.ask(method, ...params(places[3]!)).catch((error: Error) => error)
      return [method, answer instanceof Error ? error(answer) : answer] as const
    })
    const error = ({ message }: Error): string => (/not found/.test(message) ? 'none' : message)
    for (const [method, answer] of await Promise.all(answers)) {
      expect([method, answer ?? 'none']).toEqual([method, 'none'])
    }
  })
})

describe('a request across the fork block', () => {
  async function grown(): Promise<{ upstream: Upstream; fork: Fork; keeper: string }> {
    const { upstream, keeper } = await network()
    const fork = await forkOf(upstream, { fork: { url: upstream.url, block: 3 } })
    await sendOn(fork.ask, { to: keeper, data: setting(1, 77) })
    await sendOn(fork.ask, { data: KEEPER_CODE })
    return { upstream, fork, keeper }
  }

  test('filters, skips and counts frames as on one chain', async () => {
    const { upstream, fork, keeper } = await grown()
    await using _ = upstream
    await using __ = fork
    const frames = async (filter: object): Promise<readonly { blockNumber: number }[]> =>
      (await fork.ask('trace_filter', filter)) as never
    const all = await frames({})
    expect(all.at(-1)?.blockNumber).toBe(5)
    expect(all[0]?.blockNumber).toBe(1)
    for (const after of [0, 3, all.length - 2, all.length - 1, all.length, all.length + 5]) {
      for (const count of [1, 2, all.length]) {
        const expected = all.slice(after, after + count)
        expect(await frames({ after, count })).toEqual(expected)
      }
    }
    const wanted = { toAddress: [keeper], fromBlock: '0x3' }
    expect((await frames(wanted)).map(({ blockNumber }) => blockNumber)).toEqual([3, 4])
    const traced = (await fork.ask('debug_traceChain', '0x2', '0x5', CALL_TRACER)) as {
      block: string
      traces: readonly object[]
    }[]
    expect(traced.map(({ block, traces }) => [block, traces.length])).toEqual([
      ['0x3', 1],
      ['0x4', 1],
      ['0x5', 1],
    ])
  })

  test('asks for frames that match both addresses, whatever the network takes two for', async () => {
    await using upstream = await startUpstream({ compat: 'anvil' })
    const [alice, bob, carol] = (await upstream.ask('eth_accounts')) as string[]
    for (const to of [bob, carol]) await sendOn(upstream.ask, { from: alice, to })
    await using fork = await forkOf(upstream)
    for (const to of [bob, carol]) await sendOn(fork.ask, { from: alice, to })
    const numbers = async (ask: Upstream['ask'], filter: object): Promise<readonly number[]> => {
      const addresses = { fromBlock: '0x0', fromAddress: [alice], toAddress: [bob] }
      const frames = (await ask('trace_filter', { ...addresses, ...filter })) as never[]
      return frames.map(({ blockNumber }) => blockNumber)
    }
    expect(await numbers(upstream.ask, {})).toEqual([1, 2])
    expect(await numbers(fork.ask, {})).toEqual([1, 3])
    expect(await numbers(fork.ask, { mode: 'union' })).toEqual([1, 2, 3, 4])
  })

  test('pages the transactions of an account, newest first', async () => {
    const { upstream, fork, keeper } = await grown()
    await using _ = upstream
    await using __ = fork
    const page = async (method: string, block: number, size: number): Promise<unknown> => {
      const found = (await fork.ask(method, keeper, block, size)) as {
        txs: { blockNumber: string }[]
        receipts: { blockNumber: string }[]
        firstPage: boolean
        lastPage: boolean
      }
      const { txs, receipts, firstPage, lastPage } = found
      expect(receipts.map(({ blockNumber }) => blockNumber)).toEqual(
        txs.map(({ blockNumber }) => blockNumber),
      )
      const numbers = [...new Set(txs.map(({ blockNumber }) => Number(blockNumber)))]
      return [numbers, firstPage, lastPage]
    }
    const before = 'ots_searchTransactionsBefore'
    expect(await page(before, 0, 1)).toEqual([[4], true, false])
    expect(await page(before, 0, 2)).toEqual([[4, 3], true, false])
    expect(await page(before, 4, 1)).toEqual([[3], false, false])
    expect(await page(before, 0, 500)).toEqual([[4, 3, 2, 1], true, true])
    const after = 'ots_searchTransactionsAfter'
    expect(await page(after, 0, 1)).toEqual([[1], false, true])
    expect(await page(after, 2, 1)).toEqual([[3], false, false])
    expect(await page(after, 2, 2)).toEqual([[4, 3], false, false])
    expect(await page(after, 3, 2)).toEqual([[4], true, false])
    expect(await page(after, 0, 500)).toEqual([[4, 3, 2, 1], true, true])
  })

  test('lists the changed accounts of both sides', async () => {
    const { upstream, fork, keeper } = await grown()
    await using _ = upstream
    await using __ = fork
    const [sender] = (await fork.ask('eth_accounts')) as readonly string[]
    const changed = (await fork.ask('debug_getModifiedAccountsByNumber', '0x0', '0x4')) as string[]
    expect(changed).toEqual(expect.arrayContaining([keeper, sender]))
    expect(new Set(changed).size).toBe(changed.length)
    const wrong = [
      [
        'debug_getModifiedAccountsByNumber',
        ['0x2', '0x1'],
        /^end: expected a block after 2, got 1/,
      ],
      ['debug_getModifiedAccountsByNumber', ['0x0'], /^block 0 has no parent/],
      ['debug_getModifiedAccountsByNumber', ['0x1', '0x63'], /^block 0x63 not found/],
      ['debug_getModifiedAccountsByHash', [`0x${'12'.repeat(32)}`], /^block 0x1212\w+ not found/],
    ] as const
    for (const [method, params, words] of wrong) {
      await expect(fork.ask(method, ...params)).rejects.toThrow(words)
    }
    const own = await fork.ask('debug_getModifiedAccountsByNumber', '0x4')
    expect(own).toEqual(expect.arrayContaining([keeper, sender]))
  })

  test('finds a contract and a transaction of the fork without the network', async () => {
    const { upstream, fork } = await grown()
    await using _ = upstream
    await using __ = fork
    const [sender] = (await fork.ask('eth_accounts')) as readonly string[]
    const { hash, contractAddress, nonce } = (await (async () => {
      const block = (await fork.ask('eth_getBlockByNumber', 'latest', true)) as never
      const [transaction] = (block as { transactions: { hash: string; nonce: string }[] })
        .transactions
      const receipt = await fork.ask('eth_getTransactionReceipt', transaction?.hash)
      return { ...transaction, ...(receipt as object) }
    })()) as { hash: string; contractAddress: string; nonce: string }
    const creator = { hash, creator: sender }
    expect(await fork.ask('ots_getContractCreator', contractAddress)).toEqual(creator)
    expect(await fork.ask('ots_getTransactionBySenderAndNonce', sender, nonce)).toBe(hash)
    expect(await fork.ask('ots_getTransactionBySenderAndNonce', sender, '0x999')).toBeNull()
  })
})

test('a fork reads slots of accounts without code and nonce, which test nodes write', async () => {
  await using upstream = await startUpstream()
  const bare = `0x${'b1'.repeat(20)}`
  const funded = `0x${'b2'.repeat(20)}`
  await upstream.ask('anvil_setBalance', funded, '0x1')
  for (const address of [bare, funded]) {
    await upstream.ask('anvil_setStorageAt', address, '0x3', `0x${'7'.padStart(64, '0')}`)
  }
  await upstream.ask('evm_mine')
  await using fork = await forkOf(upstream)
  await fork.ask('evm_mine')
  for (const address of [bare, funded]) {
    for (const params of [['0x3', 'latest'], ['3', '0x1'], ['0x4']]) {
      expect(await fork.ask('eth_getStorageAt', address, ...params)).toBe(
        await upstream.ask('eth_getStorageAt', address, ...params),
      )
    }
    await fork.ask('anvil_setStorageAt', address, '0x3', `0x${'9'.padStart(64, '0')}`)
    expect(BigInt((await fork.ask('eth_getStorageAt', address, '0x3')) as string)).toBe(9n)
  }
})

describe('a request in a form of devchain alone', () => {
  /** Nodes that take numbers in hex alone, all parameters, and whole words. */
  function strictly({ method, params }: Asked): { code: number; message: string } | undefined {
    const isWrong =
      (/^eth_getBlockBy/.test(method) && params.length < 2) ||
      (method === 'eth_getProof' &&
        (params[1] as readonly string[]).some(({ length }) => length !== 66)) ||
      (method === 'ots_getBlockTransactions' && params.some((each) => typeof each !== 'number')) ||
      (/Index$/.test(method) && !/^0x/.test(String(params[1]))) ||
      (method === 'debug_accountRange' && !isOfForm(params.slice(1), ACCOUNT_RANGE)) ||
      (method === 'debug_storageRangeAt' && !isOfForm(params.slice(1), STORAGE_RANGE)) ||
      (method === 'trace_replayTransaction' && params.length < 2) ||
      /^eth_getHeader/.test(method)
    return isWrong ? { code: -32602, message: `wrong: ${JSON.stringify(params)}` } : undefined
  }

  /** Types of all parameters but the first, as geth reads them. */
  const ACCOUNT_RANGE = ['string', 'number', 'boolean', 'boolean', 'boolean']
  const STORAGE_RANGE = ['number', 'string', 'string', 'number']

  function isOfForm(params: readonly unknown[], types: readonly string[]): boolean {
    return params.map((each) => typeof each).join() === types.join()
  }

  const cases: readonly (readonly [string, Params])[] = [
    ['debug_accountRange', ({ number }) => [number]],
    ['debug_storageRangeAt', ({ hash, keeper }) => [hash, '0x1', keeper]],
    ['trace_replayTransaction', ({ transaction }) => [transaction]],
    ['eth_getBlockByHash', ({ hash }) => [hash]],
    ['eth_getBlockByNumber', ({ number }) => [Number(number)]],
    ['eth_getHeaderByHash', ({ hash }) => [hash]],
    ['eth_getHeaderByNumber', ({ number }) => [number]],
    ['eth_getProof', ({ keeper, number }) => [keeper, ['0x1', 2], number]],
    ['eth_getProof', ({ keeper, number }) => [keeper, null, number]],
    ['eth_getTransactionByBlockHashAndIndex', ({ hash }) => [hash, 0]],
    ['eth_getTransactionByBlockNumberAndIndex', ({ number }) => [number, '0']],
    ['ots_getBlockTransactions', ({ number }) => [number, '0x0', 5]],
    ['ots_getBlockTransactions', ({ number }) => [Number(number), 0, 5]],
  ]

  test('reaches the network in the standard form', async () => {
    const { upstream, places } = await network()
    await using _ = upstream
    upstream.faults.refuse = strictly
    await using fork = await forkOf(upstream, { fork: { url: upstream.url, block: 3 } })
    for (const [method, params] of cases) {
      const asked = params(places[1]!)
      expect(await fork.ask(method, ...asked)).toEqual(await upstream.ask(method, ...asked))
    }
  })

  const wrong: readonly (readonly [string, readonly unknown[], RegExp])[] = [
    ['eth_getBlockByNumber', ['0x1', 'yes'], /^full: expected true or false/],
    ['eth_getBlockByHash', ['0x1'], /^hash: expected/],
    ['eth_getBlockByHash', [], /parameter 1 \(hash\) is missing/],
    ['eth_getProof', ['0x12', [], '0x1'], /^address: expected/],
    ['eth_getProof', [ZERO_ADDRESS, ['x'], '0x1'], /^storageKeys\[0\]: expected/],
    ['eth_getBlockByNumber', ['0x1', true, 5], /takes at most 2/],
    ['eth_getLogs', [{ fromBlock: '0x1', address: '0x12' }], /^filter.address: expected/],
    ['eth_getTransactionByBlockNumberAndIndex', ['0x1', 'x'], /^index: expected/],
    ['eth_feeHistory', ['x', '0x1'], /^blockCount: expected/],
    ['eth_feeHistory', [2, '0x1', [101]], /^rewardPercentiles/],
    ['trace_filter', [{ fromBlock: '0x1', toAddress: 5 }], /^filter.toAddress: expected/],
    ['ots_searchTransactionsBefore', ['0x12', 0, 5], /^address: expected/],
  ]

  test.each(wrong)('is refused without the network: %s %j', async (method, params, words) => {
    await using upstream = await startUpstream()
    await sendOn(upstream.ask, { data: KEEPER_CODE })
    await using fork = await forkOf(upstream)
    const sent = upstream.requests.length
    await expect(fork.ask(method, ...params)).rejects.toThrow(words)
    expect(upstream.requests).toHaveLength(sent)
  })
})

test.each([
  ['anvil', { fromBlock: '0x0' }, ['0x2', '0x3', '0x4', '0x5']],
  ['anvil', {}, ['0x5']],
  ['hardhat', { fromBlock: '0x0', toBlock: '0x3' }, ['0x2', '0x3']],
  ['hardhat', {}, ['0x4', '0x5']],
  ['geth', { fromBlock: '0x0' }, ['0x5']],
] as const)(
  'as %s, the first poll of a log filter %j has the logs of both sides',
  async (compat, query, blocks) => {
    const { upstream, keeper } = await network()
    await using _ = upstream
    await using fork = await forkOf(upstream, { fork: { url: upstream.url, block: 3 }, compat })
    const log = (value: number): Promise<unknown> =>
      sendOn(fork.ask, { to: keeper, data: setting(1, value), gasPrice: '0xffffffffff' })
    await log(7)
    const id = await fork.ask('eth_newFilter', { ...query, address: keeper })
    await log(8)
    const poll = async (): Promise<string[]> => {
      const logs = (await fork.ask('eth_getFilterChanges', id)) as { blockNumber: string }[]
      return [...new Set(logs.map(({ blockNumber }) => blockNumber))]
    }
    expect(await poll()).toEqual(blocks)
    expect(await poll()).toEqual([])
  },
)

test('a first poll that fails on the network returns its logs when retried', async () => {
  const { upstream, keeper } = await network()
  await using _ = upstream
  const own = { compat: 'anvil', forkRetries: 0 } as const
  await using fork = await forkOf(upstream, { fork: { url: upstream.url, block: 3 }, ...own })
  const id = await fork.ask('eth_newFilter', { fromBlock: '0x3', address: keeper })
  upstream.faults.isCut = true
  await expect(fork.ask('eth_getFilterChanges', id)).rejects.toThrow(/did not answer/)
  upstream.faults.isCut = false
  expect(await fork.ask('eth_getFilterChanges', id)).toHaveLength(1)
  expect(await fork.ask('eth_getFilterChanges', id)).toEqual([])
})

test('a deletion waits for the requests before it in a batch', async () => {
  const { upstream, keeper } = await network()
  await using _ = upstream
  const settings = { fork: { url: upstream.url, block: 3 }, compat: 'anvil' } as const
  await using fork = await forkOf(upstream, settings)
  const id = await fork.ask('eth_newFilter', { fromBlock: '0x3', address: keeper })
  const { port } = await fork.devchain.listen()
  const batch = ['eth_getFilterChanges', 'eth_uninstallFilter'].map((method, index) => ({
    jsonrpc: '2.0',
    id: index,
    method,
    params: [id],
  }))
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify(batch)
  const reply = await fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers, body })
  expect(await reply.json()).toMatchObject([{ result: [{ blockNumber: '0x3' }] }, { result: true }])
})
