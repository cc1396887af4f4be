// Networks whose contracts are not all fetched: those of Arbitrum, and others that are code of their nodes.
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { Address } from '../../../src/core/hex.ts'
import { hexFromBytes } from '../../../src/core/hex.ts'
import { ownContractNotice } from '../../../src/fork/network/owncontracts.ts'
import { assemble, deploying, RETURN_WORD } from '../../support/evm/bytecode.ts'
import { forkOf, sendOn, startUpstream, type Upstream, word } from '../../support/fork/upstream.ts'

const ARBSYS = `0x${'64'.padStart(40, '0')}`
const GAS_INFO = `0x${'6c'.padStart(40, '0')}`

/** A network that looks like Arbitrum: blocks have that of the L1, and ArbSys has INVALID for its code. */
async function startArbitrum(chainId: number): Promise<Upstream> {
  const upstream = await startUpstream({ chainId })
  const ownOnes = ['64', '6c', '73'].map((digits) => `0x${digits.padStart(40, '0')}`)
  for (const address of ownOnes) await upstream.ask('anvil_setCode', address, '0xfe')
  upstream.faults.lie = ({ method }, result) =>
    method === 'eth_getBlockByNumber' && result !== null
      ? { ...(result as object), l1BlockNumber: l1Of((result as { number: string }).number) }
      : result
  return upstream
}

function l1Of(number: string): string {
  return `0x${(1_000 + Number(number) * 2).toString(16)}`
}

// One, and a network that somebody made of the same
const ARBITRUMS = [42_161, 660_279]

test.each(ARBITRUMS)(
  'a fork of Arbitrum (%i) has the L1 block number in contracts, and its own in ArbSys',
  async (chainId) => {
    await using upstream = await startArbitrum(chainId)
    const reader = hexFromBytes(deploying(assemble(`NUMBER ${RETURN_WORD}`)))
    const { contractAddress: l1Block } = await sendOn(upstream.ask, { data: reader })
    await upstream.ask('hardhat_mine', '0x4')
    await using fork = await forkOf(upstream, { clock: 'step:24' })
    const { ask, notices } = fork
    expect(await ask('eth_blockNumber')).toBe('0x5')
    expect(await ask('eth_call', { to: l1Block }, 'latest')).toBe(`0x${word(1_010)}`)
    expect(await ask('eth_call', { to: l1Block }, '0x3')).toBe(`0x${word(1_006)}`)
    const own = { to: ARBSYS, data: '0xa3b1b31d' }
    expect(await ask('eth_call', own, 'latest')).toBe(`0x${word(5)}`)
    expect(await ask('eth_call', { to: ARBSYS, data: '0xd127f54a' })).toBe(`0x${word(33)}`)
    await ask('evm_mine')
    const [before, after] = (await Promise.all(
      ['0x5', '0x6'].map((number) => ask('eth_getBlockByNumber', number, false)),
    )) as { timestamp: string }[]
    // blocks of the L1 are twelve seconds apart
    const passed = Math.floor((Number(after?.timestamp) - Number(before?.timestamp)) / 12)
    expect(passed).toBeGreaterThanOrEqual(2)
    expect(await ask('eth_call', { to: l1Block }, 'latest')).toBe(`0x${word(1_010 + passed)}`)
    expect(await ask('eth_call', own, 'latest')).toBe(`0x${word(6)}`)
    expect(notices).toEqual([])
    const other = { to: `0x${'73'.padStart(40, '0')}`, data: '0x41b247a8' }
    await expect(ask('eth_call', other)).rejects.toThrow(/invalid/)
    await expect(ask('eth_call', other)).rejects.toThrow(/invalid/)
    expect(notices).toEqual([
      expect.stringMatching(
        /73 is ArbNativeTokenManager, which is built into the nodes of Arbitrum/,
      ),
    ])
  },
)

test.each(ARBITRUMS)(
  'a fork of Arbitrum (%i) shows l1BlockNumber in blocks and receipts',
  async (chainId) => {
    await using upstream = await startArbitrum(chainId)
    await upstream.ask('evm_mine')
    await using fork = await forkOf(upstream, { clock: 'step:24' })
    const { ask } = fork
    expect(await ask('eth_getBlockByNumber', '0x1', false)).toMatchObject({
      l1BlockNumber: l1Of('0x1'),
    })
    const receipt = await sendOn(ask, { to: GAS_INFO, value: '0x0' })
    const block = (await ask('eth_getBlockByNumber', '0x2', true)) as Record<string, string>
    const first = (await ask('eth_getBlockByNumber', '0x1', false)) as Record<string, string>
    const passed = Math.floor((Number(block.timestamp) - Number(first.timestamp)) / 12)
    const l1BlockNumber = `0x${(Number(l1Of('0x1')) + passed).toString(16)}`
    expect(passed).toBeGreaterThan(0)
    expect(block).toMatchObject({ number: '0x2', l1BlockNumber })
    expect(await ask('eth_getBlockByHash', block.hash, true)).toEqual(block)
    expect(await ask('eth_getBlockByNumber', 'latest', false)).toMatchObject({ l1BlockNumber })
    expect(receipt).toMatchObject({ l1BlockNumber, gasUsedForL1: '0x0' })
    expect(await ask('eth_getBlockReceipts', '0x2')).toEqual([receipt])
    const pending = (await ask('eth_getBlockByNumber', 'pending', false)) as Record<string, string>
    expect(Number(pending.l1BlockNumber)).toBeGreaterThan(Number(l1BlockNumber))
    expect(await ask('eth_getBlockByNumber', '0x9', false)).toBeNull()
    expect(await ask('eth_getTransactionReceipt', `0x${word(1)}`)).toBeNull()
  },
)

test('every method with a block or receipt of a fork of Arbitrum shows l1BlockNumber', async () => {
  await using upstream = await startArbitrum(42_161)
  await upstream.ask('evm_mine')
  await using fork = await forkOf(upstream, { clock: 'step:24', port: 0 })
  const { ask, devchain } = fork
  const { wsUrl } = await devchain.listen()
  const socket = new WebSocket(wsUrl)
  await once(socket, 'open')
  const heard: Record<string, unknown>[] = []
  const both = new Promise<void>((resolve) => {
    socket.on('message', (text) => {
      const { params } = JSON.parse(`${text}`) as { params?: { result: object } }
      if (params !== undefined && heard.push([params.result].flat()[0] as never) === 2) resolve()
    })
  })
  for (const kind of ['newHeads', 'transactionReceipts']) {
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: [kind] }))
    await once(socket, 'message')
  }
  const receipt = await sendOn(ask, { to: GAS_INFO })
  await both
  socket.terminate()
  const { l1BlockNumber } = receipt
  expect(Number(l1BlockNumber)).toBeGreaterThan(Number(l1Of('0x1')))
  const [from] = (await ask('eth_accounts')) as readonly string[]
  const reported: Readonly<Record<string, unknown>> = {
    head: heard.find((each) => 'parentHash' in each),
    receipt: heard.find((each) => 'transactionHash' in each),
    header: await ask('eth_getHeaderByNumber', '0x2'),
    details: member(await ask('ots_getBlockDetails', '0x2'), 'block'),
    page: member(await ask('ots_getBlockTransactions', '0x2', 0, 9), 'fullblock'),
    pageReceipts: member(member(await ask('ots_getBlockTransactions', '0x2', 0, 9), 'receipts'), 0),
    found: member(member(await ask('ots_searchTransactionsAfter', from, 1, 1), 'receipts'), -1),
    simulated: member(await ask('eth_simulateV1', { blockStateCalls: [{}] }, '0x1'), 0),
    mined: member(await ask('anvil_mine_detailed'), 0),
  }
  for (const [name, json] of Object.entries(reported)) {
    expect([name, Number((json as Record<string, string>).l1BlockNumber)]).toEqual([
      name,
      name === 'mined' || name === 'simulated' ? expect.any(Number) : Number(l1BlockNumber),
    ])
  }
  expect(Number(member(reported.mined, 'l1BlockNumber'))).toBeGreaterThan(Number(l1BlockNumber))
})

function member(value: unknown, name: string | number): unknown {
  if (Array.isArray(value)) return value.at(Number(name))
  return (value as Record<string, unknown>)[name]
}

test('a fork of another network shows no l1BlockNumber', async () => {
  await using upstream = await startUpstream()
  await using fork = await forkOf(upstream)
  const receipt = await sendOn(fork.ask, { to: GAS_INFO })
  expect(receipt).not.toHaveProperty('l1BlockNumber')
  expect(await fork.ask('eth_getBlockByNumber', 'latest', false)).not.toHaveProperty(
    'l1BlockNumber',
  )
})

test('a warning about a network’s own contract comes once, from a call, transaction, trace or estimate', async () => {
  await using upstream = await startUpstream({ chainId: 56 })
  const own = `0x${'66'.padStart(40, '0')}`
  const calling = hexFromBytes(deploying(assemble(`0 0 0 0 0 ${own} GAS CALL ${RETURN_WORD}`)))
  const { contractAddress: to } = await sendOn(upstream.ask, { data: calling })
  const used: Readonly<Record<string, (ask: Upstream['ask']) => Promise<unknown>>> = {
    'a call': (ask) => ask('eth_call', { to }),
    'a direct call': (ask) => ask('eth_call', { to: own }),
    'an estimate': (ask) => ask('eth_estimateGas', { to }),
    'a transaction': (ask) => sendOn(ask, { to }),
    'a trace of a call': (ask) => ask('debug_traceCall', { to }, 'latest'),
    'an access list': (ask) => ask('eth_createAccessList', { to }),
    'a simulation': (ask) => ask('eth_simulateV1', { blockStateCalls: [{ calls: [{ to }] }] }),
  }
  for (const [name, use] of Object.entries(used)) {
    await using fork = await forkOf(upstream)
    await use(fork.ask)
    await use(fork.ask)
    expect([name, fork.notices]).toEqual([
      name,
      [
        expect.stringMatching(
          /66 is blsSignatureVerify, which is built into the nodes of BNB Smart Chain/,
        ),
      ],
    ])
  }
})

test.each<[bigint, string, string, RegExp | undefined]>([
  [1_284n, '400', '0x', /is sha3FIPS256, which is built into the nodes of Moonbeam/],
  [1_285n, '401', '0x', /is dispatch, which is built into the nodes of Moonbeam/],
  [42_161n, '73', '0xfe', /is ArbNativeTokenManager, which is built into the nodes of Arbitrum/],
  [296n, '16b', '0x', /is schedule service, which is built into the nodes of Hedera/],
  [43_114n, '200000000000000000000000000000000000005', '0x01', /has only ADD as code/],
  [56n, '64', '0x', /is tmHeaderValidate, which is built into the nodes of BNB Smart Chain/],
  [
    1_284n,
    '802',
    '0x60006000fd',
    /is the native token as ERC-20, which is built into the nodes of Moonbeam/,
  ],
  [42_161n, '70', '0xfe', /is ArbOwner, which is built into the nodes of Arbitrum/],
  [
    8_453n,
    'b20f000000000000000000000000000000000000',
    '0x',
    /is B20 factory, which is built into the nodes of Base/,
  ],
  [
    84_532n,
    'b20000000000000000000078ee7ce2fe4908108c',
    '0x01',
    /is a B20 token, which is built into the nodes of Base/,
  ],
  [8_453n, 'b200000000000000000100000000000000000000', '0x', undefined],
  [1n, 'b20000000000000000000078ee7ce2fe4908108c', '0x', undefined],
  [999n, '807', '0x', /is oraclePx, which is built into the nodes of HyperEVM/],
  [143n, '1000', '0x', /is staking, which is built into the nodes of Monad/],
  [1_329n, '1008', '0x', /is oracle, which is built into the nodes of Sei/],
  [30n, '1000006', '0x', /is Bridge, which is built into the nodes of Rootstock/],
  [11_142_220n, 'fd', '0x', /is transfer of CELO, which is built into the nodes of Celo/],
  [99_999n, '1234', '0xfe', /has only INVALID as code/],
  [1n, '64', '0x', undefined],
  [56n, '6400', '0x', undefined],
])(
  'ownContractNotice on chain %i for the account 0x%s with code %s is right',
  (chainId, digits, code, notice) => {
    const address = `0x${digits.padStart(40, '0')}` as Address
    const reported = ownContractNotice(
      chainId,
      chainId === 42_161n,
      address,
      Buffer.from(code.slice(2), 'hex'),
    )
    if (notice === undefined) expect(reported).toBeUndefined()
    else expect(reported).toMatch(notice)
  },
)
