// Transactions and other requests that are refused before anything runs.
import { ALICE, BOB, STRANGER, transfer, UNKNOWN_HASH } from '../requests.ts'
import type { Scenario, Step } from '../scenario.ts'

const MORE_THAN_ALL = '0x21e19e0c9bab2400001'

/** A transfer with data that costs 37,000 gas, or 61,000 at least from prague on. */
const WITH_DATA = { from: ALICE, to: BOB, data: `0x${'01'.repeat(1_000)}` }
const BELOW_INTRINSIC = { ...WITH_DATA, gas: '0x9087' }
const BELOW_FLOOR = { ...WITH_DATA, gas: '0xee47' }

export const REFUSALS: readonly Scenario[] = [
  {
    name: 'a value that the sender has not',
    likeHardhat2: 'the numbers follow from the fees that are filled in',
    errors: ['code', 'message'],
    ask: [transfer({ value: MORE_THAN_ALL })],
  },
  {
    name: 'a value that the sender has not, without gas',
    likeHardhat2: 'the numbers follow from the fees that are filled in',
    errors: ['code', 'message'],
    ask: [['eth_sendTransaction', { from: ALICE, to: BOB, value: MORE_THAN_ALL }]],
  },
  {
    name: 'a value that the sender of a call has not',
    ask: [['eth_call', { from: STRANGER, to: BOB, value: '0xa' }, 'latest']],
  },
  {
    name: 'a value that the sender of an estimate has not',
    ask: [['eth_estimateGas', { from: STRANGER, to: BOB, value: '0xa' }]],
  },
  {
    name: 'a nonce that was used',
    setup: [transfer()],
    ask: [transfer({ nonce: '0x0' })],
  },
  {
    name: 'a nonce beyond the next while automining',
    ask: [transfer({ nonce: '0x5' }), ['eth_blockNumber']],
    hide: ['hash'],
    // ganache answers nothing until the nonces before are used
    nodes: ['anvil', 'hardhat'],
  },
  {
    name: 'a transaction sent twice, mined',
    setup: [transfer(), ['eth_getRawTransactionByHash', '{0}']],
    ask: [['eth_sendRawTransaction', '{1}']],
    nodes: ['anvil'],
  },
  {
    name: 'less gas than a transfer takes',
    ask: [transfer({ gas: '0x1' })],
  },
  {
    name: 'less gas than a transfer takes, in a call',
    ask: [['eth_call', { from: ALICE, to: BOB, gas: '0x64' }, 'latest']],
  },
  {
    name: 'less gas than a transfer takes, in an estimate',
    ask: [['eth_estimateGas', { from: ALICE, to: BOB, gas: '0x64' }]],
  },
  {
    name: 'less gas than data costs at least',
    // anvil answers a hash, and never mines the transaction
    nodes: ['hardhat'],
    ask: [BELOW_INTRINSIC, BELOW_FLOOR].map((request) => ['eth_sendTransaction', request]),
  },
  {
    name: 'less gas than data costs at least, in a call and an estimate',
    nodes: ['anvil', 'hardhat'],
    ask: [BELOW_INTRINSIC, BELOW_FLOOR].flatMap((request): Step[] => [
      ['eth_call', request, 'latest'],
      ['eth_estimateGas', request],
      ['debug_traceCall', request, 'latest', {}],
    ]),
  },
  {
    name: 'more gas than a block has',
    ask: [transfer({ gas: '0x5f5e100' })],
  },
  {
    name: 'a fee cap below the base fee',
    ask: [transfer({ maxFeePerGas: '0x1', maxPriorityFeePerGas: '0x1' })],
  },
  {
    name: 'a gas price below the base fee',
    ask: [transfer({ gasPrice: '0x1' })],
  },
  {
    name: 'a tip above the fee cap',
    ask: [transfer({ maxFeePerGas: '0xb2d05e00', maxPriorityFeePerGas: '0xb2d05e01' })],
  },
  {
    name: 'a gas price and a fee cap',
    ask: [transfer({ gasPrice: '0xb2d05e00', maxFeePerGas: '0xb2d05e00' })],
    hide: ['hash'],
  },
  {
    name: 'a sender that the node has no key of',
    ask: [['eth_sendTransaction', { from: STRANGER, to: BOB, gas: '0x5208' }]],
  },
  {
    name: 'a replacement that offers too little',
    likeHardhat2: 'the numbers follow from the fees that are filled in',
    errors: ['code', 'message'],
    setup: [['evm_setAutomine', false], transfer({ nonce: '0x0' })],
    ask: [transfer({ nonce: '0x0', value: '0x1' })],
    nodes: ['anvil', 'hardhat'],
  },
  {
    name: 'a raw transaction that is none',
    ask: [['eth_sendRawTransaction', '0x1234']],
  },
  {
    name: 'a method that does not exist',
    ask: [['eth_doesNotExist']],
  },
  {
    name: 'a block that does not exist yet',
    ask: [
      ['eth_getBalance', ALICE, '0x999'],
      ['eth_call', { from: ALICE, to: BOB }, '0x999'],
      ['eth_getBlockByNumber', '0x999', false],
    ],
  },
  {
    name: 'a transaction that does not exist, traced',
    ask: [['debug_traceTransaction', UNKNOWN_HASH]],
    nodes: ['anvil', 'hardhat'],
  },
]
