// eth: the chain as a whole: who it is, how far it is, who mines it.
import { addresses } from '../../node/accounts.ts'
import { type BlockTree, headOf } from '../../node/blocktree.ts'
import { isMining } from '../../node/mining.ts'
import type { Method } from '../../rpc/method.ts'
import { address, boolean, list, text } from '../../rpc/primitives.ts'
import { type MethodContext, method } from '../context.ts'
import { quantityResult } from '../fields.ts'

/** The wire protocol that blocks of this form would be exchanged by: eth/68. */
export const PROTOCOL_VERSION = '0x44'

const SECONDS_PER_HOUR = 3600n

const chainId = method({
  name: 'eth_chainId',
  summary: 'Chain id that transactions are signed for (EIP-155).',
  params: [],
  result: quantityResult,
  example: { params: [], result: '0x21' },
  handle: ({ chain }) => chain.state.config.chainId,
})

const protocolVersion = method({
  name: 'eth_protocolVersion',
  summary: 'Version of the wire protocol.',
  params: [],
  result: text,
  example: { params: [], result: PROTOCOL_VERSION },
  handle: () => PROTOCOL_VERSION,
})

const syncing = method({
  name: 'eth_syncing',
  summary: 'False: this chain makes its own blocks and imports none.',
  params: [],
  result: boolean,
  example: { params: [], result: false },
  handle: () => false,
})

const coinbase = method({
  name: 'eth_coinbase',
  summary: 'Address that gets the fees of mined blocks.',
  params: [],
  result: address,
  example: { params: [], result: `0x${'00'.repeat(20)}` },
  handle: ({ chain }) => chain.state.settings.coinbase,
})

const mining = method({
  name: 'eth_mining',
  summary: 'True while blocks are mined without being asked for: instantly or on an interval.',
  params: [],
  result: boolean,
  example: { params: [], result: true },
  handle: ({ chain }) => isMining(chain.state.mining),
})

const hashrate = method({
  name: 'eth_hashrate',
  summary:
    'Hashes a second: difficulty of the blocks of the last hour, by 3600; 0 when not mining.',
  params: [],
  result: quantityResult,
  example: { params: [], result: '0x0' },
  handle: ({ chain }) => (isMining(chain.state.mining) ? hashrateOf(chain.state.tree) : 0n),
})

const accounts = method({
  name: 'eth_accounts',
  aliases: ['eth_requestAccounts'],
  summary: 'Addresses that this node holds keys for, locked ones included.',
  params: [],
  result: list(address),
  example: { params: [] },
  handle: ({ chain }) => addresses(chain.state.accounts),
})

const blockNumber = method({
  name: 'eth_blockNumber',
  summary: 'Number of the newest block.',
  params: [],
  result: quantityResult,
  example: { params: [], result: '0x0' },
  handle: ({ chain }) => headOf(chain.state.tree).block.header.number,
})

/** Difficulty of the blocks that are at most an hour older than the newest, by the seconds of an hour. */
function hashrateOf(tree: BlockTree): bigint {
  const head = headOf(tree)
  const since = head.block.header.timestamp - SECONDS_PER_HOUR
  // timestamps rise, so the oldest block of the hour is found in O(log n)
  let low = 0
  let high = tree.canonical.length - 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const record = tree.canonical.at(middle)
    if (record !== undefined && record.block.header.timestamp > since) high = middle
    else low = middle + 1
  }
  const before = low === 0 ? 0n : (tree.canonical.at(low - 1)?.totalDifficulty ?? 0n)
  return (head.totalDifficulty - before) / SECONDS_PER_HOUR
}

export const chainMethods: readonly Method<MethodContext>[] = [
  chainId,
  protocolVersion,
  syncing,
  coinbase,
  mining,
  hashrate,
  accounts,
  blockNumber,
]
