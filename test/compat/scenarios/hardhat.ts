// What Hardhat's node alone does so: values it refuses, its pool, its clock.
import {
  RAW_EMPTY,
  RAW_FOREIGN,
  RAW_FOREIGN_LEGACY,
  RAW_GAP,
  RAW_TRANSFER,
  RAW_UNSIGNED,
} from '../raw.ts'
import { ALICE, BOB, STRANGER, transfer, UNKNOWN_HASH } from '../requests.ts'
import type { Scenario, Step } from '../scenario.ts'

const ZERO = `0x${'0'.repeat(64)}`

const MANUAL: Step = ['evm_setAutomine', false]
const AUTOMATIC: Step = ['evm_setAutomine', true]

/** Base fee of the first block, in wei per gas. */
const FIRST_BASE_FEE = 875_000_000n

/** What Alice has left after three transfers at that price. */
const REST = `0x${(10n ** 22n - 3n * 21_000n * FIRST_BASE_FEE).toString(16)}`

/** A transfer that the first block takes, and no block after a full one. */
function atFirstBaseFee(members: Readonly<Record<string, unknown>>): Step {
  return transfer({ gasPrice: `0x${FIRST_BASE_FEE.toString(16)}`, ...members })
}

/** Requests that are refused, each a scenario of its own. */
const REFUSED: readonly (readonly [name: string, ask: Step])[] = [
  ['a storage value of one byte', ['hardhat_setStorageAt', BOB, '0x0', '0x00']],
  ['a storage key beyond 32 bytes', ['hardhat_setStorageAt', BOB, `0x1${'0'.repeat(64)}`, ZERO]],
  ['a block gas limit of nothing', ['evm_setBlockGasLimit', '0x0']],
  ['a time in the past for the next block', ['evm_setNextBlockTimestamp', 1]],
  ['a time in the past for a block', ['evm_mine', 1]],
  ['a fee history of no blocks', ['eth_feeHistory', '0x0', 'latest', []]],
  ['a fee history of too many blocks', ['eth_feeHistory', '0x401', 'latest', []]],
  ['a fee history up to a block that is not there', ['eth_feeHistory', '0x1', '0x99', []]],
  ['a percentile below 0', ['eth_feeHistory', '0x1', 'latest', [-1]]],
  ['a percentile above 100', ['eth_feeHistory', '0x1', 'latest', [10, 100.5]]],
  ['percentiles that fall', ['eth_feeHistory', '0x1', 'latest', [10, 5]]],
  ['a transaction for another chain', transfer({ chainId: '0x1' })],
  ['a creation without code', ['eth_sendTransaction', { from: ALICE, gas: '0x186a0' }]],
  ['a gas price and a tip', transfer({ gasPrice: '0xb2d05e00', maxPriorityFeePerGas: '0x1' })],
  [
    'a gas price and a fee cap, in a call',
    ['eth_call', { from: ALICE, to: BOB, gasPrice: '0x1', maxFeePerGas: '0x1' }, 'latest'],
  ],
  [
    'a tip above the fee cap, in a call',
    [
      'eth_call',
      { from: ALICE, to: BOB, maxFeePerGas: '0x1', maxPriorityFeePerGas: '0x2' },
      'latest',
    ],
  ],
  ['a call on a block that nobody knows', ['eth_call', { to: BOB }, { blockHash: UNKNOWN_HASH }]],
  ['a signature of an account that the node has not', ['eth_sign', STRANGER, '0x12']],
  ['logs of a block that nobody knows', ['eth_getLogs', { blockHash: UNKNOWN_HASH }]],
  ['a least gas price beside a base fee', ['hardhat_setMinGasPrice', '0x1']],
  ['a raw transaction for another chain', ['eth_sendRawTransaction', RAW_FOREIGN]],
  ['a raw legacy transaction for another chain', ['eth_sendRawTransaction', RAW_FOREIGN_LEGACY]],
  ['a raw transaction beyond the next nonce', ['eth_sendRawTransaction', RAW_GAP]],
  ['a raw transaction whose signature is none', ['eth_sendRawTransaction', RAW_UNSIGNED]],
  ['a raw creation without code', ['eth_sendRawTransaction', RAW_EMPTY]],
  ['a raw transaction without a byte', ['eth_sendRawTransaction', '0x']],
  [
    'code to create a contract that is too long',
    ['eth_sendTransaction', { from: ALICE, data: `0x${'00'.repeat(49_153)}`, gas: '0xf42400' }],
  ],
]

export const HARDHAT: readonly Scenario[] = [
  ...REFUSED.map(
    ([what, ask]): Scenario => ({
      name: what,
      nodes: ['hardhat'],
      ask: [ask],
      hide: ['time', 'place'],
    }),
  ),
  {
    name: 'a raw transaction sent twice, waiting',
    nodes: ['hardhat'],
    setup: [MANUAL, ['eth_sendRawTransaction', RAW_TRANSFER]],
    ask: [['eth_sendRawTransaction', RAW_TRANSFER]],
  },
  {
    name: 'a raw transaction sent twice, mined',
    nodes: ['anvil', 'hardhat'],
    setup: [['eth_sendRawTransaction', RAW_TRANSFER]],
    ask: [['eth_sendRawTransaction', RAW_TRANSFER]],
  },
  {
    name: 'a nonce that was used, without automining',
    nodes: ['hardhat'],
    setup: [transfer(), MANUAL],
    ask: [transfer({ nonce: '0x0' })],
  },
  {
    name: 'a replacement whose tip is too low',
    nodes: ['hardhat'],
    setup: [MANUAL, transfer({ nonce: '0x0', maxFeePerGas: '0xb2d05e00' })],
    ask: [transfer({ nonce: '0x0', maxFeePerGas: '0x12a05f200', maxPriorityFeePerGas: '0x1' })],
  },
  {
    name: 'the time of the newest block for the next one',
    nodes: ['hardhat'],
    setup: [['evm_setNextBlockTimestamp', 2_000_000_000], ['evm_mine']],
    ask: [['evm_setNextBlockTimestamp', 2_000_000_000]],
  },
  {
    name: 'automining that begins leaves the pool until the next transaction',
    nodes: ['anvil', 'hardhat'],
    setup: [MANUAL, transfer(), transfer({ to: ALICE })],
    ask: [
      AUTOMATIC,
      ['eth_blockNumber'],
      ['eth_sendTransaction', { from: BOB, to: ALICE, gas: '0x5208' }],
      ['eth_blockNumber'],
      ['eth_getBlockTransactionCountByNumber', 'latest'],
      ['eth_getTransactionCount', ALICE, 'latest'],
    ],
    hide: ['hash'],
  },
  ...(['0x0', REST] as const).map(
    (value): Scenario => ({
      name: `a send ${value === '0x0' ? 'after what waits, while full blocks raise the base fee' : 'that nothing is left for after what waits'}`,
      nodes: ['hardhat'],
      setup: [
        ['evm_setBlockGasLimit', '0xafc8'],
        MANUAL,
        atFirstBaseFee({ nonce: '0x0' }),
        atFirstBaseFee({ nonce: '0x1' }),
        atFirstBaseFee({ nonce: '0x2', value }),
        AUTOMATIC,
      ],
      ask: [
        atFirstBaseFee({ value: '0x64' }),
        ['eth_blockNumber'],
        ['eth_getBlockTransactionCountByNumber', '0x2'],
        ['eth_getBlockTransactionCountByNumber', '0x3'],
        ['eth_getTransactionCount', ALICE, 'latest'],
      ],
      hide: ['hash'],
    }),
  ),
  {
    name: 'a nonce that is taken back',
    nodes: ['hardhat'],
    setup: [['hardhat_setNonce', BOB, '0x5']],
    ask: [['hardhat_setNonce', BOB, '0x1']],
  },
  {
    name: 'a nonce that is set while a transaction waits',
    nodes: ['hardhat'],
    setup: [MANUAL, transfer()],
    ask: [['hardhat_setNonce', STRANGER, '0x5']],
  },
  {
    name: 'a block gas limit below what waits',
    nodes: ['hardhat'],
    setup: [MANUAL, transfer({ gas: '0x186a0' })],
    ask: [['evm_setBlockGasLimit', '0x7530'], ['eth_pendingTransactions']],
  },
  {
    name: 'the transactions that wait, one beyond a gap among them',
    nodes: ['hardhat'],
    setup: [MANUAL, transfer({ nonce: '0x5' })],
    ask: [['eth_getTransactionByHash', '{1}'], ['eth_pendingTransactions']],
    members: ['nonce', 'blockHash', 'blockNumber', 'transactionIndex'],
  },
  {
    name: 'impersonation that ends where none was',
    nodes: ['hardhat'],
    ask: [['hardhat_stopImpersonatingAccount', BOB]],
  },
  {
    name: 'a fee history without percentiles',
    nodes: ['hardhat'],
    ask: [['eth_feeHistory', '0x1', 'latest', []]],
  },
  {
    name: 'a filter that nobody knows',
    nodes: ['hardhat'],
    ask: [
      ['eth_getFilterChanges', '0x99'],
      ['eth_getFilterLogs', '0x99'],
      ['eth_uninstallFilter', '0x99'],
    ],
  },
  {
    name: 'the first poll of a block filter',
    nodes: ['hardhat'],
    setup: [['eth_newBlockFilter']],
    ask: [
      ['eth_getFilterChanges', '{0}'],
      ['eth_getFilterChanges', '{0}'],
    ],
    hide: ['hash'],
  },
  {
    name: 'a call below the base fee',
    nodes: ['anvil', 'hardhat', 'ganache'],
    ask: [
      ['eth_call', { from: ALICE, to: BOB, gasPrice: '0x1' }, 'latest'],
      ['eth_call', { from: ALICE, to: BOB, maxFeePerGas: '0x1' }, 'latest'],
    ],
  },
  {
    name: 'the base fee that a call sees',
    nodes: ['anvil', 'hardhat', 'ganache'],
    ask: [
      ['eth_call', { from: ALICE, data: '0x4860005260206000f3', gas: '0x186a0' }, 'latest'],
      [
        'eth_call',
        { from: ALICE, data: '0x4860005260206000f3', gas: '0x186a0', gasPrice: '0xb2d05e00' },
        'latest',
      ],
    ],
  },
  {
    name: 'blocks that share a time',
    nodes: ['hardhat'],
    settings: { sameTimestamp: true },
    setup: [
      ['evm_setNextBlockTimestamp', 2_000_000_000],
      ['evm_mine'],
      ['evm_setNextBlockTimestamp', 2_000_000_000],
      ['evm_mine'],
    ],
    ask: [
      ['eth_getBlockByNumber', '0x1', false],
      ['eth_getBlockByNumber', '0x2', false],
    ],
    members: ['timestamp'],
  },
  {
    name: 'what is sent to a node without transactions at the start of interval mining',
    nodes: ['hardhat'],
    setup: [MANUAL, transfer(), ['evm_setIntervalMining', 100_000]],
    ask: [['eth_blockNumber']],
  },
  {
    name: 'snapshots and what is no snapshot',
    nodes: ['hardhat'],
    ask: [['evm_snapshot'], ['evm_revert', '0x99'], ['evm_revert', '{0}'], ['evm_revert', '{0}']],
  },
  {
    name: 'randomness after one that was set',
    nodes: ['hardhat'],
    setup: [
      ['hardhat_setPrevRandao', UNKNOWN_HASH],
      ['hardhat_mine', '0x3'],
    ],
    ask: ['0x1', '0x2', '0x3'].map((number) => ['eth_getBlockByNumber', number, false]),
    members: ['mixHash'],
  },
  {
    name: 'the nonce and the randomness of blocks before paris',
    nodes: ['hardhat'],
    settings: { hardfork: 'london' },
    setup: [['evm_mine'], transfer()],
    ask: ['0x0', '0x1', '0x2'].map((number) => ['eth_getBlockByNumber', number, false]),
    members: ['nonce', 'mixHash'],
  },
  {
    name: 'ids of snapshots after a reset',
    nodes: ['hardhat'],
    likeHardhat2: 'version 3 does not have the method',
    setup: [['evm_snapshot'], ['evm_mine'], ['evm_snapshot']],
    ask: [['hardhat_reset'], ['evm_snapshot'], ['evm_revert', '0x2'], ['evm_revert', '0x1']],
  },
  {
    name: 'a block mined on demand',
    nodes: ['anvil', 'hardhat', 'ganache'],
    ask: [['evm_mine']],
  },
]
