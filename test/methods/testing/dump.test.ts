// Dumps over the RPC: what anvil recorded is answered as anvil answered it, what devchain dumps comes back the same, and what
// is wrong is refused before anything changes.
import { readFileSync } from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createDevchain, type DevchainOptions } from '../../../src/devchain.ts'
import {
  comparable,
  type DumpedChain,
  growChain,
  olderQuestionsOf,
} from '../../support/chain/dumpedchain.ts'
import type { Ask } from '../../support/tools/anvil.ts'

const FIXTURE = new URL('../../../fixtures/dumps/anvil-1.7.1.json.gz', import.meta.url)

// biome-ignore lint/suspicious/noExplicitAny: dumps are taken apart to be spoilt
type Json = Record<string, any>

interface Recorded {
  readonly chain: DumpedChain
  readonly dump: Json
  readonly answers: readonly (readonly [question: string, answer: unknown])[]
}

const recorded = (): Recorded => JSON.parse(gunzipSync(readFileSync(FIXTURE)).toString())

const { chain, answers } = recorded()

const [SENDER, OTHER] = chain.accounts as [string, string]

const OUT_OF_RANGE = `BlockOutOfRangeError: block height is ${chain.height} but requested was 2`

const TRACER = { tracer: 'callTracer' }

/** A dump as the wire has it. */
const packed = (dump: unknown): string => `0x${gzipSync(JSON.stringify(dump)).toString('hex')}`

const unpacked = (text: unknown): Json =>
  JSON.parse(gunzipSync(Buffer.from(String(text).slice(2), 'hex')).toString())

async function devchain(options: DevchainOptions = {}): Promise<Ask> {
  const { request, close } = await createDevchain(options)
  onTestFinished(close)
  return (method, ...params) => request({ method, params })
}

/** Everything of a chain that a caller can see of its blocks and newest accounts. */
async function sight(ask: Ask): Promise<unknown> {
  const height = Number(await ask('eth_blockNumber'))
  const blocks = []
  for (let number = 0; number <= height; number++) {
    const tag = `0x${number.toString(16)}`
    blocks.push(
      await ask('eth_getBlockByNumber', tag, true),
      await ask('eth_getBlockReceipts', tag),
    )
  }
  return { blocks, accounts: await ask('debug_accountRange', 'latest', '0x', 256, false, false) }
}

/** What ran within each transaction, without what no reader asks for. */
function framesIn({ transactions }: Json): unknown {
  const byHash = transactions.map(({ info }: Json): [string, unknown] => [
    info.transaction_hash,
    info.traces.map(({ trace, ...node }: Json) => {
      const { maybe_precompile, gas_refund_counter, gas_used, ...others } = trace
      // anvil shows the gas of a halted frame up to there, though all of it is gone
      const hasEnded = ['Stop', 'Return', 'Revert'].includes(others.status)
      return { ...node, trace: hasEnded ? { ...others, gas_used } : others }
    }),
  ])
  return Object.fromEntries(byHash)
}

describe('the dump of a creation', () => {
  const MADE = '0x5fbdb2315678afecb367f032d93f642f64180aa3'

  /** As anvil 1.7.1 has it. */
  test.each([
    ['that fails', '60006000fd', 'Revert'],
    ['that halts', 'fe', 'InvalidFEOpcode'],
    ['that makes a contract without code', '00', 'Return'],
  ])('%s names the contract', async (_, code, exit) => {
    const ask = await devchain()
    await ask('eth_sendTransaction', { from: SENDER, data: `0x${code}`, gas: '0x30000' })
    const [{ info }] = unpacked(await ask('anvil_dumpState')).transactions
    expect(info).toMatchObject({ contract_address: MADE, exit })
    expect(info.traces).toMatchObject([{ trace: { address: MADE, status: exit } }])
  })
})

test('a call of a precompile is dumped as a frame that anvil shows', async () => {
  const ask = await devchain()
  const identity = '0x0000000000000000000000000000000000000004'
  await ask('eth_sendTransaction', { from: SENDER, to: identity, data: '0x01' })
  const [{ info }] = unpacked(await ask('anvil_dumpState')).transactions
  expect(info.traces).toMatchObject([{ trace: { address: identity, maybe_precompile: null } }])
})

/** As anvil 1.7.1 has it. */
test.each([
  ['PrecompileOOG', '02', '0x', '0x523c'],
  ['PrecompileError', '09', '0x01', '0x186a0'],
])('a precompile that fails is dumped as %s, also in a call', async (exit, name, data, gas) => {
  const ask = await devchain({ gasPrice: 0n })
  const caller = `0x${'aa'.repeat(20)}`
  const size = exit === 'PrecompileOOG' ? 0 : 1
  // PUSH0 PUSH0 PUSH1 size PUSH0 PUSH0 PUSH1 name PUSH1 gas CALL
  await ask('anvil_setCode', caller, `0x5f5f600${size}5f5f60${name}600af1`)
  const precompile = `0x${name.padStart(40, '0')}`
  await ask('eth_sendTransaction', { from: SENDER, to: precompile, data, gas })
  await ask('eth_sendTransaction', { from: SENDER, to: caller, gas: '0x186a0' })
  const { transactions } = unpacked(await ask('anvil_dumpState'))
  const statusesOf = ({ info }: Json): unknown => info.traces.map(({ trace }: Json) => trace.status)
  expect(transactions.map(statusesOf)).toEqual(expect.arrayContaining([[exit], ['Stop', exit]]))
  expect(transactions.map(({ info }: Json) => info.exit).sort()).toEqual([exit, 'Stop'])
})

test('transfers are dumped with the frames that a replay has', async () => {
  const ask = await devchain()
  const stopping = `0x${'77'.repeat(20)}`
  await ask('anvil_setCode', stopping, '0x00')
  const send = async (more: object): Promise<void> => {
    await ask('eth_sendTransaction', { from: SENDER, gas: '0x7530', value: '0x1', ...more })
  }
  for (const to of [OTHER, stopping]) {
    await send({ to })
    // with data, the block is replayed
    await send({ to, data: '0x01' })
  }
  const { transactions } = unpacked(await ask('anvil_dumpState'))
  const frames = transactions.map(({ info }: Json) => info.traces)
  for (const [plain, replayed] of [frames.slice(0, 2), frames.slice(2)]) {
    const { gas_limit, data, ...same } = replayed[0].trace
    const trace = { ...same, data: '0x', gas_limit: 0x7530 - 21_000 }
    expect(plain).toEqual([{ ...replayed[0], trace }])
  }
})

describe('a dump of anvil', () => {
  test('has the same responses as on anvil', async () => {
    const ask = await devchain()
    expect(await ask('anvil_loadState', packed(recorded().dump))).toBe(true)
    for (const [question, answer] of answers) {
      const [method, ...params] = JSON.parse(question)
      expect([question, comparable(await ask(method, ...params))]).toEqual([question, answer])
    }
  })

  test('may be plain JSON', async () => {
    const ask = await devchain()
    const plain = Buffer.from(JSON.stringify(recorded().dump)).toString('hex')
    await ask('anvil_loadState', `0x${plain}`)
    expect(await ask('eth_blockNumber')).toBe(`0x${chain.height.toString(16)}`)
  })

  test('has traces of transactions signed for its own chain id', async () => {
    const ask = await devchain()
    await ask('anvil_loadState', packed(recorded().dump))
    for (const hash of Object.values(chain.hashes)) {
      const { gasUsed } = (await ask('eth_getTransactionReceipt', hash)) as { gasUsed: string }
      const trace = await ask('debug_traceTransaction', hash, { tracer: 'callTracer' })
      expect(trace).toMatchObject({ gasUsed })
    }
  })

  test('is dumped again with the same frames', async () => {
    const ask = await devchain()
    const { dump } = recorded()
    await ask('anvil_loadState', packed(dump))
    expect(framesIn(unpacked(await ask('anvil_dumpState')))).toEqual(framesIn(dump))
  })

  test('without historical states has the newest, and says so of others', async () => {
    const ask = await devchain()
    const { dump } = recorded()
    await ask('anvil_loadState', packed({ ...dump, historical_states: null }))
    const newest = answers.find(([question]) =>
      question.includes(`eth_getBalance","${SENDER}","latest`),
    )!
    expect(await ask('eth_getBalance', SENDER, 'latest')).toBe(newest[1])
    const unknown = {
      code: -32001,
      message: expect.stringMatching(
        /^state after block \d+ \(0x.*\) not found: the block was loaded/,
      ),
    }
    for (const [method, ...params] of olderQuestionsOf(chain)) {
      await expect(ask(method, ...params)).rejects.toMatchObject(unknown)
    }
    const { legacy } = chain.hashes
    await expect(ask('debug_traceTransaction', legacy)).rejects.toMatchObject(unknown)
    await expect(ask('trace_transaction', legacy)).rejects.toMatchObject(unknown)
    await expect(ask('debug_setHead', '0x3')).rejects.toMatchObject(unknown)
    expect(await ask('eth_blockNumber')).toBe(`0x${chain.height.toString(16)}`)
    // what was sent is found without the states by which it would be found faster
    for (const [nonce, name] of ['legacy', 'accessList', 'creation'].entries()) {
      const found = ask('eth_getTransactionBySenderAndNonce', SENDER, `0x${nonce}`)
      expect(await found).toMatchObject({ hash: chain.hashes[name] })
    }
    // what was missing comes with a dump that has it
    await ask('anvil_loadState', packed(dump))
    expect(await ask('debug_traceTransaction', legacy)).toMatchObject({ failed: false })
  })

  test.each<readonly [method: string, params: readonly unknown[], code: number, message: string]>([
    ['eth_getBalance', [SENDER, '0x2'], -32602, OUT_OF_RANGE],
    ['eth_call', [{ to: OTHER }, '0x2'], -32602, OUT_OF_RANGE],
    ['eth_getProof', [SENDER, [], '0x2'], -32602, OUT_OF_RANGE],
    ['debug_traceCall', [{ to: OTHER }, '0x2'], -32602, OUT_OF_RANGE],
    ['anvil_rollback', ['0x1'], -32603, 'Required data unavailable'],
    ['anvil_reorg', ['0x1', []], -32603, 'Required data unavailable'],
    ['debug_traceTransaction', [chain.hashes.legacy, TRACER], -32001, 'Resource not found'],
  ])('without historical states has none on request, as on anvil: %s', async (...asked) => {
    const [method, params, code, message] = asked
    const ask = await devchain({ compat: 'anvil' })
    await ask('anvil_loadState', packed({ ...recorded().dump, historical_states: null }))
    await expect(ask(method, ...params)).rejects.toMatchObject({ code, message })
  })

  test('is built upon: number, time, parent, base fee and nonces continue', async () => {
    const ask = await devchain({ clock: 'frozen' })
    await ask('anvil_loadState', packed(recorded().dump))
    const before = (await ask('eth_getBlockByNumber', 'latest', false)) as Record<string, string>
    const hash = await ask('eth_sendTransaction', { from: SENDER, to: OTHER, value: '0x1' })
    const receipt = (await ask('eth_getTransactionReceipt', hash)) as Record<string, string>
    const after = (await ask('eth_getBlockByNumber', 'latest', false)) as Record<string, string>
    expect(receipt).toMatchObject({
      status: '0x1',
      blockNumber: `0x${(chain.height + 1).toString(16)}`,
    })
    expect(after).toMatchObject({ parentHash: before.hash, transactions: [hash] })
    expect(Number(after.timestamp)).toBe(Number(before.timestamp) + 1)
    // a block without transactions takes an eighth off
    const baseFee = BigInt(before.baseFeePerGas!)
    expect(BigInt(after.baseFeePerGas!)).toBe(baseFee - baseFee / 8n)
  })

  test('is undone by a revert', async () => {
    const ask = await devchain()
    await ask('eth_sendTransaction', { from: SENDER, to: OTHER, value: '0x1' })
    const before = await sight(ask)
    const id = await ask('evm_snapshot')
    await ask('anvil_loadState', packed(recorded().dump))
    expect(await sight(ask)).not.toEqual(before)
    expect(await ask('evm_revert', id)).toBe(true)
    expect(await sight(ask)).toEqual(before)
  })

  test('is removed by a reset', async () => {
    const ask = await devchain()
    const before = await sight(ask)
    await ask('anvil_loadState', packed(recorded().dump))
    await ask('evm_reset')
    expect(await sight(ask)).toEqual(before)
  })

  test('is a head change for filters, with its logs as new', async () => {
    const ask = await devchain()
    const [heads, logs] = [await ask('eth_newBlockFilter'), await ask('eth_newFilter', {})]
    await ask('anvil_loadState', packed(recorded().dump))
    const { hash } = (await ask('eth_getBlockByNumber', 'latest', false)) as { hash: string }
    expect(await ask('eth_getFilterChanges', heads)).toHaveLength(chain.height + 1)
    expect(await ask('eth_getFilterChanges', logs)).toEqual(
      await ask('eth_getLogs', { fromBlock: 'earliest' }),
    )
    expect(await ask('anvil_nodeInfo')).toMatchObject({ currentBlockHash: hash })
    expect(await ask('hardhat_metadata')).toMatchObject({
      latestBlockNumber: chain.height,
      latestBlockHash: hash,
    })
  })

  test('keeps waiting transactions that can still be mined', async () => {
    const ask = await devchain({ noMining: true })
    const gasPrice = '0x4a817c800'
    const send = (nonce: string): Promise<unknown> =>
      ask('eth_sendTransaction', { from: SENDER, to: OTHER, nonce, gasPrice })
    const [used, next] = [await send('0x0'), await send('0xb')]
    await ask('anvil_loadState', packed(recorded().dump))
    expect(await ask('eth_getTransactionByHash', used)).toBeNull()
    expect(await ask('eth_getTransactionByHash', next)).toMatchObject({ blockNumber: null })
  })

  test('with blocks outside its chain has them skipped', async () => {
    const ask = await devchain()
    const { dump } = recorded()
    const [stale] = dump.blocks
    const other = { ...stale, header: { ...stale.header, extraData: '0x01' } }
    await ask('anvil_loadState', packed({ ...dump, blocks: [...dump.blocks, other] }))
    for (const [question, answer] of answers.filter(([text]) =>
      text.includes('getBlockByNumber'),
    )) {
      const [method, ...params] = JSON.parse(question)
      expect(comparable(await ask(method, ...params))).toEqual(answer)
    }
  })
})

describe('a dump of devchain', () => {
  test('makes the same chain elsewhere, and the same dump', async () => {
    const [one, other] = [await devchain({ baseFee: '1gwei' }), await devchain({ clock: 'frozen' })]
    const grown = await growChain(one, 33)
    const dump = await one('anvil_dumpState', true)
    await other('anvil_loadState', dump)
    expect(await sight(other)).toEqual(await sight(one))
    for (const [method, ...params] of olderQuestionsOf(grown)) {
      expect(await other(method, ...params)).toEqual(await one(method, ...params))
    }
    expect(unpacked(await other('anvil_dumpState', true))).toEqual(unpacked(dump))
  })

  test('has state roots in receipts before byzantium, and which transactions failed', async () => {
    const options: DevchainOptions = { hardfork: 'homestead' }
    const [one, other] = [await devchain(options), await devchain(options)]
    for (const data of ['0x00', '0xfe']) await one('eth_sendTransaction', { from: SENDER, data })
    const dump = await one('anvil_dumpState', true)
    await other('anvil_loadState', dump)
    expect(await sight(other)).toEqual(await sight(one))
    expect(unpacked(await other('anvil_dumpState', true))).toEqual(unpacked(dump))
  })

  test('has blocks that are kept as bytes, and finds them and their transactions by hash', async () => {
    const [one, other] = [await devchain(), await devchain({ clock: 'frozen' })]
    const impersonated = '0x00000000000000000000000000000000000000aa'
    await one('anvil_impersonateAccount', impersonated)
    await one('anvil_setBalance', impersonated, '0xde0b6b3a7640000')
    const hashes: unknown[] = []
    for (const from of [SENDER, impersonated, OTHER]) {
      hashes.push(await one('eth_sendTransaction', { from, to: OTHER, value: '0x1' }))
    }
    await one('hardhat_mine', '0x500')
    hashes.push(await one('eth_sendTransaction', { from: OTHER, to: SENDER }))
    await other('anvil_loadState', await one('anvil_dumpState'))
    for (const hash of hashes) {
      const mined = await one('eth_getTransactionByHash', hash)
      expect(await other('eth_getTransactionByHash', hash)).toEqual(mined)
      const { blockHash } = mined as Json
      const block = await one('eth_getBlockByHash', blockHash, true)
      expect(await other('eth_getBlockByHash', blockHash, true)).toEqual(block)
    }
    expect(await sight(other)).toEqual(await sight(one))
    await other('evm_mine')
    expect(await other('eth_blockNumber')).toBe('0x505')
    await expect(other('eth_getBalance', SENDER, '0x1')).rejects.toMatchObject({
      message: expect.stringContaining('the block was loaded from a dump without it'),
    })
  })

  test('has older states only on request', async () => {
    const ask = await devchain()
    await ask('evm_mine')
    const [plain, whole] = [await ask('anvil_dumpState'), await ask('anvil_dumpState', true)]
    expect(unpacked(plain).historical_states).toBeNull()
    expect(unpacked(whole).historical_states).toHaveLength(1)
    expect({ ...unpacked(whole), historical_states: null }).toEqual(unpacked(plain))
  })

  test('returns its own chain to the earlier state', async () => {
    const ask = await devchain()
    await ask('evm_increaseTime', 1_000)
    const code = '0x60016000556000600052602060006000a0' // stores and logs nothing
    await ask('eth_sendTransaction', { from: SENDER, data: code, gas: '0x30d40' })
    const before = await sight(ask)
    const dump = await ask('anvil_dumpState')
    const filter = await ask('eth_newBlockFilter')
    await ask('eth_sendTransaction', { from: SENDER, data: code, gas: '0x30d40' })
    await ask('hardhat_setBalance', OTHER, '0x1')
    expect(await ask('eth_getFilterChanges', filter)).toHaveLength(1)
    await ask('anvil_loadState', dump)
    expect(await sight(ask)).toEqual(before)
    // the blocks that stayed keep their states, and are no news
    expect(await ask('eth_getTransactionCount', SENDER, '0x0')).toBe('0x0')
    expect(await ask('eth_getFilterChanges', filter)).toEqual([])
    // nothing of what came after is in the way of doing it again
    const hash = await ask('eth_sendTransaction', { from: SENDER, data: code, gas: '0x30d40' })
    expect(await ask('eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1' })
  })

  test('is refused at once for more blocks than a dump can have', async () => {
    const ask = await devchain()
    await ask('hardhat_mine', '0x3b9aca00')
    const refusal = {
      code: -32005,
      message: expect.stringContaining('the dump of 1000000001 blocks'),
    }
    await expect(ask('anvil_dumpState')).rejects.toMatchObject(refusal)
  })

  test('deletes genesis accounts that it lists as deleted', async () => {
    const [one, other] = [await devchain(), await devchain()]
    await one('hardhat_setBalance', OTHER, '0x0')
    await other('anvil_loadState', await one('anvil_dumpState'))
    expect(await other('eth_getBalance', OTHER)).toBe('0x0')
  })

  test('keeps nonces beyond what a number holds exactly', async () => {
    const [one, other] = [await devchain(), await devchain()]
    await one('hardhat_setNonce', OTHER, '0x20000000000001')
    await other('anvil_loadState', await one('anvil_dumpState'))
    expect(await other('eth_getTransactionCount', OTHER)).toBe('0x20000000000001')
  })

  test('keeps genesis accounts that it does not list', async () => {
    const one = await devchain()
    const other = await devchain({
      mnemonic: 'legal winner thank year wave sausage worth useful legal winner thank yellow',
    })
    const [own] = (await other('eth_accounts')) as string[]
    const before = await other('eth_getBalance', own)
    await other('hardhat_setBalance', own, '0x1')
    await other('anvil_loadState', await one('anvil_dumpState'))
    expect(await other('eth_getBalance', own)).toBe(before)
    expect(await other('eth_getBalance', OTHER)).toBe(before)
  })

  test('continues the time of a chain that had jumped ahead', async () => {
    const [one, other] = [await devchain(), await devchain()]
    await one('evm_increaseTime', 1_000_000)
    await one('evm_mine')
    const head = (await one('eth_getBlockByNumber', 'latest', false)) as { timestamp: string }
    await other('anvil_loadState', await one('anvil_dumpState'))
    await other('evm_mine')
    const next = (await other('eth_getBlockByNumber', 'latest', false)) as { timestamp: string }
    const passed = Number(next.timestamp) - Number(head.timestamp)
    expect(passed).toBeGreaterThan(0)
    expect(passed).toBeLessThan(100)
  })
})

describe('a transaction mined under another chain id', () => {
  test('is replayed under that id', async () => {
    const ask = await devchain()
    const hash = await ask('eth_sendTransaction', { from: SENDER, to: OTHER })
    await ask('anvil_setChainId', '0x7')
    const trace = await ask('debug_traceTransaction', hash, { tracer: 'callTracer' })
    expect(trace).toMatchObject({ gasUsed: '0x5208' })
  })
})

describe('a dump of accounts alone', () => {
  test('replaces those accounts and nothing else', async () => {
    const ask = await devchain()
    await ask('hardhat_setStorageAt', OTHER, '0x1', `0x${'00'.repeat(31)}07`)
    await ask('evm_mine')
    const account = { nonce: 3, balance: '0x7', code: '0x00', storage: { '0x2': '0x5' } }
    // as devchain wrote it before it wrote blocks
    const old = { block: { number: '0x9' }, best_block_number: 9, blocks: [], transactions: [] }
    await ask('anvil_loadState', packed({ ...old, accounts: { [OTHER]: account } }))
    expect(await ask('eth_blockNumber')).toBe('0x1')
    expect(await ask('eth_getBalance', OTHER)).toBe('0x7')
    expect(await ask('eth_getTransactionCount', OTHER)).toBe('0x3')
    expect(await ask('eth_getStorageAt', OTHER, '0x1', 'latest')).toBe(`0x${'00'.repeat(32)}`)
    expect(await ask('eth_getStorageAt', OTHER, '0x2', 'latest')).toBe(`0x${'00'.repeat(31)}05`)
    expect(await ask('eth_getTransactionCount', SENDER)).toBe('0x0')
  })
})

describe('an invalid dump', () => {
  /** A block of the recorded dump, by its number. */
  const block = (dump: Json, number: number): Json =>
    dump.blocks.find(({ header }: Json) => Number(header.number) === number)

  const without = (dump: Json, number: number): void => {
    dump.blocks = dump.blocks.filter((each: Json) => each !== block(dump, number))
  }

  const cases: readonly (readonly [string, (dump: Json) => unknown, string | RegExp])[] = [
    [
      'accounts that are a list',
      (dump) => (dump.accounts = []),
      'accounts: expected an object, got []',
    ],
    [
      'accounts by what is no address',
      (dump) => (dump.accounts = { '0x12': {} }),
      'accounts: expected a 20-byte address, got "0x12"',
    ],
    [
      'an account that is none',
      (dump) => (dump.accounts[SENDER] = 'rich'),
      /accounts\.0x.*: expected an object, got "rich"/,
    ],
    [
      'a negative balance',
      (dump) => (dump.accounts[SENDER].balance = -1),
      /\.balance: expected an integer below 2\^256, got -1/,
    ],
    [
      'a nonce beyond 64 bits',
      (dump) => (dump.accounts[SENDER].nonce = '0x10000000000000000'),
      /\.nonce: expected an integer below 2\^64/,
    ],
    [
      'code that is no hex',
      (dump) => (dump.accounts[SENDER].code = '0xzz'),
      /\.code: expected 0x-prefixed bytes, got "0xzz"/,
    ],
    [
      'storage that is a list',
      (dump) => (dump.accounts[SENDER].storage = []),
      /\.storage: expected an object, got \[\]/,
    ],
    ['blocks that are none', (dump) => (dump.blocks = {}), 'blocks: expected a list, got {}'],
    [
      'a missing block',
      (dump) => without(dump, 5),
      /blocks: block 6 follows 0x.*, and none has that hash/,
    ],
    [
      'another number than its place',
      (dump) => (block(dump, 5).header.number = '0x9'),
      /blocks: block 6 follows 0x.*, and none has that hash/,
    ],
    [
      'no newest block',
      (dump) => (dump.best_block_number = 99),
      'blocks: expected block 99, the newest one by best_block_number, among them',
    ],
    [
      'a header without a root',
      (dump) => delete block(dump, 3).header.stateRoot,
      /header\.stateRoot: expected a 32-byte hash, got nothing/,
    ],
    [
      'a time beyond 64 bits',
      (dump) => (block(dump, 3).header.timestamp = `0x1${'00'.repeat(8)}`),
      /timestamp: expected an integer below 2\^64/,
    ],
    [
      'a changed transaction',
      (dump) => (block(dump, 1).transactions[0].transaction.value = '0x9'),
      /block 1 has the transactionsRoot 0x.*, but its contents give 0x/,
    ],
    [
      'a lost transaction',
      (dump) => block(dump, 1).transactions.pop(),
      /block 1 has the transactionsRoot/,
    ],
    [
      'a transaction of an unknown type',
      (dump) => (block(dump, 1).transactions[0].transaction.type = '0x7e'),
      /type: expected 0 to 4, got 126/,
    ],
    [
      'a signature of nobody',
      (dump) => (block(dump, 1).transactions[0].transaction.r = '0x0'),
      /block 1 has the transactionsRoot 0x.*, but its contents give 0x/,
    ],
    [
      'a missing receipt',
      (dump) => dump.transactions.pop(),
      /transactions: 0x.* is missing, index \d+ of block \d+/,
    ],
    [
      'a changed receipt',
      (dump) => (dump.transactions[0].receipt.status = '0x0'),
      /block \d+ has the receiptsRoot 0x/,
    ],
    [
      'another hash of a transaction',
      (dump) => (dump.transactions[0].info.transaction_hash = `0x${'11'.repeat(32)}`),
      /transaction_hash: expected 0x.*, the hash of its encoding/,
    ],
    [
      'an older state of other code',
      (dump) => spoilCode(dump),
      /expected code with the hash 0x.*, got 0x/,
    ],
    [
      'an older state that is none',
      (dump) => (dump.historical_states[0][1] = 7),
      /historical_states\[0\]\[1\]: expected an object, got 7/,
    ],
  ]

  /** A bit of code changes, and its hash does not. */
  function spoilCode(dump: Json): void {
    for (const [, { accounts }] of dump.historical_states) {
      for (const { code } of Object.values<Json>(accounts)) {
        const analyzed = code?.LegacyAnalyzed
        if (analyzed?.original_len > 0) analyzed.bytecode = `0xff${analyzed.bytecode.slice(4)}`
      }
    }
  }

  test.each(cases)('(%s) is refused and changes nothing', async (_, spoil, problem) => {
    const ask = await devchain()
    const before = await sight(ask)
    const { dump } = recorded()
    spoil(dump)
    const message =
      typeof problem === 'string'
        ? `state: expected a result of anvil_dumpState: ${problem}`
        : problem
    const refusal = {
      code: -32602,
      message:
        typeof message === 'string'
          ? expect.stringContaining(message)
          : expect.stringMatching(message),
    }
    await expect(ask('anvil_loadState', packed(dump))).rejects.toMatchObject(refusal)
    expect(await sight(ask)).toEqual(before)
  })

  test('that decompresses to too much is refused', async () => {
    const ask = await devchain()
    const spaces = Buffer.alloc(2 ** 20, ' ')
    const member = gzipSync(spaces)
    // gzip has members one after another: half a gigabyte and a bit of spaces
    const bomb = Buffer.concat(Array.from({ length: 513 }, () => member))
    const refusal = { code: -32005, message: 'state: expected at most 536870912 bytes unzipped' }
    await expect(ask('anvil_loadState', `0x${bomb.toString('hex')}`)).rejects.toMatchObject(refusal)
  })

  test('that is truncated is refused', async () => {
    const ask = await devchain()
    const whole = packed(recorded().dump)
    const message = /it cannot be unzipped: unexpected end of file/
    await expect(ask('anvil_loadState', whole.slice(0, 2_002))).rejects.toThrow(message)
    const text = `0x${Buffer.from('{"accounts":{').toString('hex')}`
    await expect(ask('anvil_loadState', text)).rejects.toThrow(/it is not JSON/)
  })
})
