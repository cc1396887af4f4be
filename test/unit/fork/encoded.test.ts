// Encodings of old blocks that the network refuses: made of its JSON, or refused with the reason.
import { expect, onTestFinished, test } from 'vitest'
import { bytesFromHex, hexFromBytes, parseAddress } from '../../../src/core/hex.ts'
import { encodeBlock, sealBlock } from '../../../src/protocol/blocks/block.ts'
import { decodeBlock } from '../../../src/protocol/blocks/blockdecoding.ts'
import { encodeHeader, unclesHash } from '../../../src/protocol/blocks/header.ts'
import { EMPTY_TRIE_ROOT } from '../../../src/protocol/blocks/orderedtrie.ts'
import { withdrawalsRoot } from '../../../src/protocol/blocks/withdrawal.ts'
import {
  type Fork,
  forkOf,
  sendOn,
  startUpstream,
  type Upstream,
} from '../../support/fork/upstream.ts'

const RAW = /^debug_getRaw/

interface Forked {
  readonly upstream: Upstream
  readonly fork: Fork
}

/** A fork at block 3 of a network that gives no encodings. */
async function forked(): Promise<Forked> {
  const upstream = await startUpstream()
  onTestFinished(upstream.close)
  for (const value of ['0x1', '0x2', '0x3']) {
    await sendOn(upstream.ask, { to: `0x${'12'.repeat(20)}`, value })
  }
  upstream.faults.refuse = ({ method }) =>
    RAW.test(method) ? { code: -32601, message: `the method ${method} does not exist` } : undefined
  const fork = await forkOf(upstream, { forkRetries: 0 })
  onTestFinished(() => fork.devchain.close())
  return { upstream, fork }
}

type Members = Record<string, unknown>

/** Has the network answer another block 2. */
function lieOfBlock({ upstream }: Forked, change: (block: Members) => Members): void {
  upstream.faults.lie = ({ method, params }, result) =>
    method === 'eth_getBlockByNumber' && params[0] === '0x2' ? change(result as Members) : result
}

test.each([
  ['debug_getRawHeader', { gasUsed: '0x1' }, 'the header'],
  ['debug_getRawBlock', { extraData: '0x01' }, 'the header'],
  ['debug_getRawBlock', { transactions: [] }, 'the transactions'],
  ['debug_getRawTransactions', { transactions: [] }, 'the transactions'],
  ['debug_getRawReceipts', { transactions: [] }, 'the receipts'],
] as const)('%s of a block with a wrong %j is refused', async (method, change, what) => {
  const { upstream, fork } = await forked()
  lieOfBlock({ upstream, fork }, (block) => ({ ...block, ...change }))
  await expect(fork.ask(method, '0x2')).rejects.toMatchObject({
    code: -32000,
    message: expect.stringMatching(
      new RegExp(`refuses ${method}: .*; encoding ${what} of block 2 here gives hash 0x`),
    ),
  })
})

test('debug_getRawBlock encodes a block with its uncles and withdrawals', async () => {
  const { upstream, fork } = await forked()
  const reported = (await upstream.ask('eth_getBlockByNumber', '0x2', true)) as Members
  const raw = bytesFromHex(String(await upstream.ask('debug_getRawBlock', '0x2')))
  const { header } = decodeBlock(raw)
  const uncle = sealBlock({ ...header, number: 1n, extraData: Uint8Array.of(7) }, [])
  const address = parseAddress(`0x${'12'.repeat(20)}`)
  const withdrawals = [{ index: 5n, validatorIndex: 6n, address, amountGwei: 7n }]
  const roots = {
    transactionsRoot: EMPTY_TRIE_ROOT,
    sha3Uncles: unclesHash([uncle.header]),
    withdrawalsRoot: withdrawalsRoot(withdrawals),
  }
  const block = sealBlock({ ...header, ...roots }, [], [uncle.header], withdrawals)
  const answers: Readonly<Record<string, Members>> = {
    eth_getBlockByNumber: {
      ...reported,
      ...roots,
      hash: block.hash,
      transactions: [],
      uncles: [uncle.hash],
      withdrawals: [{ index: '0x5', validatorIndex: '0x6', address, amount: '0x7' }],
    },
    eth_getUncleByBlockHashAndIndex: {
      ...reported,
      number: '0x1',
      extraData: '0x07',
      hash: uncle.hash,
    },
  }
  upstream.faults.lie = ({ method, params }, result) =>
    params[0] === '0x2' || params[0] === block.hash ? (answers[method] ?? result) : result
  expect(await fork.ask('debug_getRawBlock', '0x2')).toBe(hexFromBytes(encodeBlock(block)))
  expect(await fork.ask('debug_getRawHeader', '0x2')).toBe(hexFromBytes(encodeHeader(block.header)))
})
