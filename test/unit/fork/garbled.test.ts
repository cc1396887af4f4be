// What is no answer: nothing, too little or something else, of each method that a network is asked. It is an error of the network, or
// does not matter; it is never a bug here, and nothing of it stays.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { RpcError } from '../../../src/rpc/errors.ts'
import {
  type Asked,
  deployKeeper,
  forkOf,
  startUpstream,
  type Upstream,
  word,
} from '../../support/fork/upstream.ts'

const INTERNAL = -32603
const OTHER = `0x${'ab'.repeat(20)}`

/** What a network may say in place of an answer. */
const GARBLED: readonly (readonly [unknown])[] = [[null], ['none'], [[null]], [{}], [{ hash: 1 }]]

interface Place {
  readonly keeper: string
  readonly sender: string
  readonly hash: string
  readonly block: string
}

type Request = (place: Place) => readonly [string, ...unknown[]]

const call: Request = ({ keeper }) => ['eth_call', { to: keeper, data: `0x${word(5)}` }, 'latest']

/** A method that the network answers, and what is asked here that needs it. */
const NEEDED: readonly (readonly [string, Request])[] = [
  ['eth_getBlockByNumber', call],
  ['eth_getBlockByNumber', () => ['eth_getBalance', OTHER, '0x1']],
  ['eth_getBlockByNumber', () => ['eth_getHeaderByNumber', '0x1']],
  ['eth_getBlockByHash', ({ block }) => ['eth_getBlockByHash', block, false]],
  ['eth_getBlockByHash', ({ block }) => ['eth_getBalance', OTHER, { blockHash: block }]],
  ['eth_getBalance', call],
  ['eth_getTransactionCount', call],
  ['eth_getCode', call],
  ['eth_getStorageAt', call],
  ['debug_traceCall', call],
  ['eth_getTransactionCount', ({ sender }) => ['eth_getTransactionCount', sender, 'latest']],
  ['eth_getStorageValues', ({ keeper }) => ['eth_call', { to: keeper }, 'latest']],
  ['eth_getProof', ({ keeper }) => ['eth_getProof', keeper, ['0x1', '0x2'], '0x1']],
  ['eth_getProof', ({ keeper }) => ['eth_getAccount', keeper, '0x1']],
  ['eth_getLogs', () => ['eth_getLogs', { fromBlock: '0x0', toBlock: 'latest' }]],
  ['eth_getLogs', ({ block }) => ['eth_getLogs', { blockHash: block }]],
  ['eth_feeHistory', () => ['eth_feeHistory', '0x2', 'latest', []]],
  ['eth_feeHistory', () => ['eth_feeHistory', '0x2', '0x1', []]],
  ['eth_getTransactionByHash', ({ hash }) => ['eth_getTransactionByHash', hash]],
  ['eth_getTransactionByHash', ({ hash }) => ['eth_getTransactionReceipt', hash]],
  ['eth_getTransactionReceipt', ({ hash }) => ['eth_getTransactionReceipt', hash]],
  ['eth_getBlockReceipts', () => ['eth_getBlockReceipts', '0x1']],
  ['debug_traceBlockByNumber', () => ['debug_traceBlockByNumber', '0x1']],
  ['debug_traceBlockByNumber', () => ['debug_traceChain', '0x0', '0x1']],
  ['trace_block', () => ['trace_block', '0x1']],
  ['trace_filter', () => ['trace_filter', { fromBlock: '0x0', toBlock: '0x1' }]],
  ['trace_transaction', ({ hash }) => ['trace_transaction', hash]],
  ['debug_getRawBlock', () => ['debug_getRawBlock', '0x1']],
  ['eth_getUncleCountByBlockNumber', () => ['eth_getUncleCountByBlockNumber', '0x1']],
  ['ots_searchTransactionsBefore', ({ sender }) => ['ots_searchTransactionsBefore', sender, 0, 5]],
  ['ots_getContractCreator', ({ keeper }) => ['ots_getContractCreator', keeper]],
  ['eth_getCode', ({ keeper }) => ['ots_getContractCreator', keeper]],
  [
    'eth_getTransactionBySenderAndNonce',
    ({ sender }) => ['eth_getTransactionBySenderAndNonce', sender, '0x0'],
  ],
  ['debug_getModifiedAccountsByNumber', () => ['debug_getModifiedAccountsByNumber', '0x0', '0x1']],
]

/** Where the network refuses the first, what it needs is asked for. */
const MADE_HERE: readonly (readonly [string, string, Request])[] = [
  [
    'debug_traceTransaction',
    'eth_getBlockByNumber',
    ({ hash }) => ['debug_traceTransaction', hash],
  ],
  [
    'debug_traceTransaction',
    'eth_getBlockReceipts',
    ({ hash }) => ['debug_traceTransaction', hash],
  ],
  ['debug_traceTransaction', 'eth_getBalance', ({ hash }) => ['debug_traceTransaction', hash]],
]

async function network(): Promise<{ upstream: Upstream; place: Place }> {
  const upstream = await startUpstream()
  const keeper = await deployKeeper(upstream)
  const [sender = ''] = (await upstream.ask('eth_accounts')) as string[]
  const { hash: block, transactions } = (await upstream.ask(
    'eth_getBlockByNumber',
    '0x1',
    false,
  )) as { hash: string; transactions: string[] }
  return { upstream, place: { keeper, sender, block, hash: transactions[0]! } }
}

function garbling(method: string, value: unknown): (asked: Asked, result: unknown) => unknown {
  return (asked, result) => (asked.method === method ? value : result)
}

async function outcomeOf(asked: Promise<unknown>): Promise<unknown> {
  try {
    return { result: await asked }
  } catch (error) {
    const { code, message } = error as RpcError
    expect([code, message]).not.toEqual([INTERNAL, expect.anything()])
    expect(code).not.toBe(-32602)
    expect(message).toMatch(/network|refuses|^block 0x\w+ not found/)
    return 'an error of the network'
  }
}

let upstream: Upstream
let place: Place

beforeAll(async () => {
  ;({ upstream, place } = await network())
})

afterEach(() => {
  upstream.faults.lie = undefined
  upstream.faults.unknown.clear()
})

afterAll(() => upstream.close())

describe.each(GARBLED)('the garbled response %j', (value) => {
  test.each(NEEDED)(
    'to %s is an error of the network, and is not kept',
    async (method, request) => {
      await using fork = await forkOf(upstream, { forkRetries: 0 })
      const truth = await upstream.ask(...request(place))
      upstream.faults.lie = garbling(method, value)
      const outcome = await outcomeOf(fork.ask(...request(place)))
      upstream.faults.lie = undefined
      expect(await fork.ask(...request(place))).toEqual(truth)
      // what is passed on as it is may be nothing, where that may be the answer
      const given = (outcome as { result?: unknown }).result
      if (given !== undefined && given !== null && given !== value) expect(given).toEqual(truth)
    },
  )

  test.each(MADE_HERE)(
    'during %s on the fork, to %s is an error of the network, and is not kept',
    async (refused, method, request) => {
      await using fork = await forkOf(upstream, { forkRetries: 0 })
      const truth = await upstream.ask(...request(place))
      upstream.faults.unknown.add(refused)
      upstream.faults.lie = garbling(method, value)
      await outcomeOf(fork.ask(...request(place)))
      upstream.faults.lie = undefined
      expect(await fork.ask(...request(place))).toEqual(truth)
    },
  )
})
