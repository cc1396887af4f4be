// What viem and whoever was tested against anvil read of its answers: refusals, what is filled in, receipts, members.
import {
  ALICE,
  BOB,
  CONTRACT,
  DEPLOY_REVERTING,
  REVERT_DATA,
  STRANGER,
  transfer,
  UNKNOWN_HASH,
} from '../requests.ts'
import type { Scenario, Step } from '../scenario.ts'

const LATER: Step = ['evm_mine', { timestamp: 2_000_000_000 }]

/** Its creation logs once. */
const LOGGING: Step = [
  'eth_sendTransaction',
  { from: ALICE, data: '0x60006000a000', gas: '0x186a0' },
]

const MANUAL: Step = ['evm_setAutomine', false]

/** So many times 10^9 wei, and some wei. */
function gwei(amount: bigint, wei = 0n): string {
  return `0x${(amount * 10n ** 9n + wei).toString(16)}`
}

function simulate(call: Readonly<Record<string, unknown>>): Step {
  return ['eth_simulateV1', { blockStateCalls: [{ calls: [call] }] }, 'latest']
}

const BLOBS = { blobVersionedHashes: [`0x01${'00'.repeat(31)}`], maxFeePerBlobGas: '0x3b9aca00' }

const FILLED = ['type', 'gas', 'gasPrice', 'maxFeePerGas', 'maxPriorityFeePerGas', 'nonce', 'value']

/** One request each. */
const SINGLE: readonly (readonly [name: string, ask: Step])[] = [
  [
    'a value that the sender of a simulated call has not',
    simulate({ from: STRANGER, to: BOB, value: '0xa' }),
  ],
  ['less gas than a transfer takes, simulated', simulate({ from: ALICE, to: BOB, gas: '0x64' })],
  [
    'more gas than a block has, in a call',
    ['eth_call', { from: ALICE, to: BOB, gas: '0x5f5e100' }],
  ],
  ['a fee cap below the tip that is filled in', transfer({ maxFeePerGas: '0x1' })],
  [
    'an estimate of a transfer from nobody',
    ['eth_estimateGas', { to: BOB, value: '0xde0b6b3a7640000' }],
  ],
  ['an estimate of a transfer with blobs', ['eth_estimateGas', { from: ALICE, to: BOB, ...BLOBS }]],
  [
    'a gas price and a fee cap, in an estimate',
    [
      'eth_estimateGas',
      { from: ALICE, to: BOB, gasPrice: '0xb2d05e00', maxFeePerGas: '0xb2d05e00' },
    ],
  ],
]

/** Estimates for a sender without funds: only those that run are held against anything. */
const OF_STRANGER: readonly (readonly [
  name: string,
  members: Readonly<Record<string, unknown>>,
])[] = [
  ['of a transfer', { to: BOB }],
  [
    'of a transfer with a tip above the cap',
    { to: BOB, maxFeePerGas: '0x1', maxPriorityFeePerGas: '0x2' },
  ],
  ['of a transfer to a precompile', { to: '0x0000000000000000000000000000000000000004' }],
  ['of a transfer with data', { to: BOB, data: '0x01' }],
  ['of a transfer with an empty access list', { to: BOB, accessList: [] }],
  ['of a creation', { data: '0x' }],
]

const MINED_100: Step = ['anvil_mine', '0x64']

/** What is asked of blocks that are not there. */
const BEYOND: readonly (readonly [name: string, ask: Step])[] = [
  ['logs from a block beyond the newest', ['eth_getLogs', { fromBlock: '0x5', toBlock: '0x9' }]],
  ['logs to a block beyond the newest', ['eth_getLogs', { fromBlock: '0x0', toBlock: '0x9' }]],
  ['logs of an unknown block', ['eth_getLogs', { blockHash: UNKNOWN_HASH }]],
  ['a call on an unknown block', ['eth_call', { to: BOB }, { blockHash: UNKNOWN_HASH }]],
  ['a trace of a block beyond the newest', ['debug_traceBlockByNumber', '0x9', {}]],
]

/** Transfers, and what becomes of them. */
const SENT: readonly (readonly [name: string, send: Step])[] = [
  ['a transfer without a sender', ['eth_sendTransaction', { to: BOB, value: '0x0' }]],
  ['a transfer of type 1 without a gas price', transfer({ type: '0x1', accessList: [] })],
  ['a transfer of type 0 with a fee cap', transfer({ type: '0x0', maxFeePerGas: '0xb2d05e00' })],
]

export const ANVIL: readonly Scenario[] = [
  ...OF_STRANGER.map(
    ([name, members]): Scenario => ({
      name: `an estimate ${name} for a sender without funds`,
      nodes: ['anvil'],
      ask: [['eth_estimateGas', { from: STRANGER, value: '0x1', ...members }]],
    }),
  ),
  ...(['safe', 'finalized'] as const).flatMap((tag): Scenario[] => [
    {
      name: `the ${tag} block of a young chain`,
      nodes: ['anvil'],
      setup: [transfer()],
      ask: [['eth_getBlockByNumber', tag, false]],
      members: ['number'],
    },
    {
      name: `the ${tag} block of a chain of 101`,
      nodes: ['anvil'],
      setup: [transfer(), MINED_100],
      ask: [['eth_getBlockByNumber', tag, false]],
      members: ['number'],
    },
    {
      name: `a balance at the ${tag} block`,
      nodes: ['anvil'],
      setup: [transfer({ value: '0x5' }), MINED_100, transfer({ value: '0x7' })],
      ask: [['eth_getBalance', BOB, tag]],
    },
  ]),
  ...BEYOND.map(([name, ask]): Scenario => ({ name, nodes: ['anvil'], ask: [ask] })),
  {
    name: 'an access list of a call that reverts',
    nodes: ['anvil'],
    setup: [DEPLOY_REVERTING],
    ask: [['eth_createAccessList', { from: ALICE, to: CONTRACT, data: REVERT_DATA.text }]],
  },
  {
    name: 'an access list of a creation that halts',
    nodes: ['anvil'],
    ask: [['eth_createAccessList', { from: ALICE, data: '0xfe' }]],
  },
  ...SINGLE.map(([name, ask]): Scenario => ({ name, nodes: ['anvil'], ask: [ask] })),
  ...SENT.map(
    ([name, send]): Scenario => ({
      name: `what is mined of ${name}`,
      nodes: ['anvil'],
      setup: [send],
      ask: [['eth_getTransactionByHash', '{0}']],
      members: ['from', ...FILLED],
    }),
  ),
  {
    name: 'a transfer that is filled in and not sent',
    nodes: ['anvil'],
    ask: [['eth_fillTransaction', { from: ALICE, to: BOB, value: '0x1' }]],
  },
  {
    name: 'what is mined of a transaction without gas that reverts',
    nodes: ['anvil'],
    setup: [
      DEPLOY_REVERTING,
      ['eth_sendTransaction', { from: ALICE, to: CONTRACT, data: REVERT_DATA.text }],
    ],
    ask: [
      ['eth_getTransactionByHash', '{1}'],
      ['eth_getTransactionReceipt', '{1}'],
    ],
    members: ['gas', 'status', 'blockNumber'],
  },
  {
    name: 'the receipt of a transfer',
    nodes: ['anvil'],
    setup: [['evm_setNextBlockTimestamp', 2_000_000_000], transfer()],
    ask: [['eth_getTransactionReceipt', '{1}']],
    hide: ['hash'],
  },
  {
    name: 'a proof of a slot of an account without storage',
    nodes: ['anvil', 'hardhat'],
    ask: [['eth_getProof', STRANGER, [UNKNOWN_HASH], 'latest']],
    members: ['storageHash', 'storageProof'],
  },
  {
    name: 'the first poll of a log filter that begins in the past',
    setup: [
      LOGGING,
      LOGGING,
      ['eth_newFilter', { fromBlock: '0x0' }],
      ['eth_newFilter', { fromBlock: '0x2', toBlock: 'latest' }],
      ['eth_newFilter', { fromBlock: 'latest' }],
      ['eth_newFilter', { fromBlock: '0x0', toBlock: '0x1' }],
      ['eth_newFilter', {}],
      LOGGING,
    ],
    ask: [2, 2, 3, 4, 5, 6].map((step) => ['eth_getFilterChanges', `{${step}}`] as const),
    members: ['blockNumber', 'logIndex'],
  },
  {
    name: 'a filter that is not there',
    nodes: ['anvil', 'ganache'],
    ask: [
      ['eth_getFilterChanges', '0x9'],
      ['eth_getFilterLogs', '0x9'],
      ['eth_uninstallFilter', '0x9'],
    ],
  },
  {
    name: 'a block with the time of its parent',
    nodes: ['anvil', 'ganache'],
    setup: [LATER, LATER],
    ask: [
      ['eth_getBlockByNumber', '0x1', false],
      ['eth_getBlockByNumber', '0x2', false],
    ],
    members: ['timestamp'],
  },
  {
    name: 'a time before that of the newest block',
    nodes: ['anvil'],
    setup: [LATER],
    ask: [
      ['evm_setNextBlockTimestamp', 1_999_999_999],
      ['evm_mine', 1_999_999_999],
    ],
  },
  {
    name: 'a transaction sent twice, waiting',
    nodes: ['anvil'],
    setup: [MANUAL, transfer({ nonce: '0x5' })],
    ask: [transfer({ nonce: '0x5' })],
  },
  {
    name: 'a waiting transaction that is sent again for another price',
    nodes: ['anvil'],
    setup: [MANUAL],
    ask: (
      [
        { maxFeePerGas: gwei(10n) },
        { maxFeePerGas: gwei(20n) },
        { maxFeePerGas: gwei(20n), maxPriorityFeePerGas: gwei(2n) },
        { maxFeePerGas: gwei(20n, 1n), maxPriorityFeePerGas: '0x1' },
        { maxFeePerGas: gwei(20n), maxPriorityFeePerGas: gwei(5n) },
        { gasPrice: gwei(20n, 1n) },
        { gasPrice: gwei(20n, 2n) },
        { gasPrice: gwei(20n, 2n), value: '0x1' },
      ] as const
    ).map((prices) => transfer({ nonce: '0x5', ...prices })),
  },
  {
    name: 'the prices offered after the base fee was set, fell, and a tip was paid',
    nodes: ['anvil', 'hardhat'],
    ask: [
      ['hardhat_setNextBlockBaseFeePerGas', gwei(10n)],
      ['eth_gasPrice'],
      ['evm_mine'],
      ['eth_gasPrice'],
      ['eth_maxPriorityFeePerGas'],
      ['evm_mine'],
      ['eth_gasPrice'],
      transfer({ maxFeePerGas: gwei(100n), maxPriorityFeePerGas: gwei(50n) }),
      ['eth_gasPrice'],
      ['eth_maxPriorityFeePerGas'],
      ['evm_setBlockGasLimit', '0x5208'],
      transfer({ maxFeePerGas: gwei(100n), maxPriorityFeePerGas: gwei(50n) }),
      ['eth_gasPrice'],
      ['eth_maxPriorityFeePerGas'],
    ],
    hide: ['hash'],
  },
  {
    name: 'transactions that cannot pay the base fee of the block that is mined',
    nodes: ['anvil'],
    setup: [
      MANUAL,
      transfer({ gasPrice: gwei(2n) }),
      transfer({ gasPrice: gwei(200n) }),
      transfer({ gasPrice: gwei(200n), from: BOB, to: ALICE }),
      transfer({ gasPrice: gwei(2n), from: BOB, to: ALICE }),
      transfer({ gasPrice: gwei(2n), nonce: '0x9' }),
      ['anvil_setNextBlockBaseFeePerGas', gwei(10n)],
    ],
    ask: [
      ['txpool_status'],
      ['evm_mine'],
      ['txpool_status'],
      ['eth_getTransactionByHash', '{1}'],
      ['eth_getTransactionByHash', '{2}'],
      ['eth_getBlockTransactionCountByNumber', 'latest'],
    ],
  },
  {
    name: 'blocks after an interval between them ended',
    nodes: ['anvil'],
    setup: [
      LATER,
      ['anvil_setBlockTimestampInterval', 60],
      ['evm_mine'],
      ['evm_mine'],
      ['anvil_removeBlockTimestampInterval'],
      ['evm_mine'],
      ['evm_mine'],
      ['anvil_mine', '0x3'],
    ],
    ask: ['0x2', '0x3', '0x4', '0x5', '0x6', '0x7', '0x8'].map((number) => [
      'eth_getBlockByNumber',
      number,
      false,
    ]),
    members: ['timestamp'],
  },
  {
    name: 'the name and version of the program',
    nodes: ['anvil'],
    ask: [['web3_clientVersion']],
    hide: ['version'],
  },
  {
    name: 'a URL for forks where there is no fork',
    nodes: ['anvil'],
    ask: [['anvil_setRpcUrl', 'http://127.0.0.1:1']],
  },
  {
    name: 'what is filled in of transfers with a tip, after a large one was paid',
    nodes: ['anvil'],
    setup: [
      transfer({ maxFeePerGas: gwei(100n), maxPriorityFeePerGas: gwei(50n) }),
      ...['0x0', '0x5'].map((tip): Step => transfer({ maxPriorityFeePerGas: tip })),
      transfer(),
    ],
    ask: [
      ['eth_getTransactionByHash', '{1}'],
      ['eth_getTransactionByHash', '{2}'],
      ['eth_getTransactionByHash', '{3}'],
    ],
    members: FILLED,
  },
  {
    name: 'the prices offered after blocks with tips, and after an empty one',
    nodes: ['anvil', 'hardhat', 'ganache'],
    ask: [
      ...[2n, 1n, 5n].flatMap((tip): Step[] => [
        transfer({ maxFeePerGas: gwei(100n), maxPriorityFeePerGas: gwei(tip) }),
        ['eth_maxPriorityFeePerGas'],
        ['eth_gasPrice'],
      ]),
      ['evm_mine'],
      ['eth_maxPriorityFeePerGas'],
    ],
    hide: ['hash'],
  },
  {
    name: 'the tip offered after a block with two',
    nodes: ['anvil'],
    setup: [
      MANUAL,
      transfer({ maxFeePerGas: gwei(100n), maxPriorityFeePerGas: gwei(7n) }),
      transfer({ maxFeePerGas: gwei(100n), maxPriorityFeePerGas: gwei(4n), from: BOB, to: ALICE }),
      ['evm_mine'],
    ],
    ask: [['eth_maxPriorityFeePerGas']],
  },
  {
    name: 'the blocks of frames from one account and to another',
    nodes: ['anvil'],
    setup: [transfer(), transfer({ to: STRANGER }), transfer({ from: BOB, to: STRANGER })],
    ask: [{}, { mode: 'union' }, { mode: 'intersection' }].map((mode) => [
      'trace_filter',
      { fromBlock: '0x0', toBlock: '0x3', fromAddress: [ALICE], toAddress: [BOB], ...mode },
    ]),
    members: ['blockNumber'],
  },
  {
    name: 'a block whose time was set before the clock moved on',
    nodes: ['anvil', 'hardhat'],
    setup: [['evm_setNextBlockTimestamp', 2_000_000_000], ['evm_increaseTime', 100], ['evm_mine']],
    ask: [['eth_getBlockByNumber', 'latest', false]],
    members: ['timestamp'],
  },
  {
    name: 'logs from a block to an earlier one',
    nodes: ['anvil', 'hardhat'],
    setup: [LOGGING, LOGGING, ['eth_newFilter', { fromBlock: '0x2', toBlock: '0x1' }]],
    ask: [
      ['eth_getLogs', { fromBlock: '0x2', toBlock: '0x1' }],
      ['eth_getLogs', { toBlock: '0x1' }],
      ['eth_getFilterLogs', '{2}'],
    ],
  },
  {
    name: 'logs with fewer topics than a query has wildcards',
    nodes: ['anvil', 'hardhat', 'ganache'],
    // logs once with a topic and once without
    setup: [
      ['eth_sendTransaction', { from: ALICE, data: '0x60015f5fa15f5fa000', gas: '0x186a0' }],
      ['eth_newFilter', { topics: [null] }],
    ],
    ask: [
      ...[[], [null], [null, null], [`0x${'0'.repeat(63)}1`, null]].map(
        (topics) => ['eth_getLogs', { topics }] as const,
      ),
      ['eth_getFilterLogs', '{1}'],
    ],
    members: ['topics'],
  },
  {
    name: 'data that is empty text',
    nodes: ['anvil', 'hardhat'],
    ask: [transfer({ data: '' }), ['eth_call', { from: ALICE, to: BOB, input: '' }, 'latest']],
    hide: ['hash'],
  },
  {
    name: 'a tip above the fee cap that is filled in',
    nodes: ['anvil'],
    ask: [transfer({ maxPriorityFeePerGas: gwei(5n) })],
  },
  {
    name: 'the pending block in full',
    nodes: ['anvil'],
    setup: [MANUAL, transfer()],
    ask: [['eth_getBlockByNumber', 'pending', true]],
    members: ['number', 'nonce', 'difficulty', 'totalDifficulty', 'gasLimit', 'baseFeePerGas'],
  },
  ...(['0x1', 'pending'] as const).map(
    (tag): Scenario => ({
      name: `the names and the order of members: block ${tag}`,
      nodes: ['anvil'],
      setup: [transfer()],
      ask: [['eth_getBlockByNumber', tag, false]],
      members: 'names',
    }),
  ),
  {
    name: 'the names and the order of members: transaction and receipt',
    nodes: ['anvil'],
    setup: [transfer()],
    ask: [
      ['eth_getTransactionByHash', '{0}'],
      ['eth_getTransactionReceipt', '{0}'],
    ],
    members: 'names',
  },
]
