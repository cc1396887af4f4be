// What Hardhat's node refuses before the fork that brought it, and methods it does not have.
import { RAW_ACCESS_LIST, RAW_TRANSFER } from '../raw.ts'
import { ALICE, BOB, transfer, UNKNOWN_HASH } from '../requests.ts'
import type { Scenario, Settings, Step } from '../scenario.ts'

const CALL = { from: ALICE, to: BOB }

const CAPITALS = 'the name of the fork is written in other letters'

/** Requests that are refused at a fork, each a scenario of its own. */
const EARLY: readonly (readonly [
  name: string,
  hardfork: NonNullable<Settings['hardfork']>,
  ask: Step,
  likeHardhat2?: string,
])[] = [
  ['an access list before berlin', 'istanbul', transfer({ accessList: [] })],
  [
    'a call with an access list before berlin',
    'istanbul',
    ['eth_call', { ...CALL, accessList: [] }, 'latest'],
  ],
  ['a raw access list before berlin', 'istanbul', ['eth_sendRawTransaction', RAW_ACCESS_LIST]],
  ['a fee cap before london', 'berlin', transfer({ maxFeePerGas: '0xb2d05e00' })],
  [
    'a call with a fee cap before london',
    'berlin',
    ['eth_call', { ...CALL, maxFeePerGas: '0x1' }, 'latest'],
  ],
  [
    'an estimate with a tip before london',
    'berlin',
    ['eth_estimateGas', { ...CALL, maxPriorityFeePerGas: '0x1' }, 'latest'],
  ],
  ['a raw fee cap before london', 'berlin', ['eth_sendRawTransaction', RAW_TRANSFER]],
  ['a fee history before london', 'berlin', ['eth_feeHistory', '0x1', 'latest', []]],
  ['a base fee to come before london', 'berlin', ['hardhat_setNextBlockBaseFeePerGas', '0x1']],
  ['the safe block before paris', 'london', ['eth_getBlockByNumber', 'safe', false], CAPITALS],
  [
    'a balance at the finalized block before paris',
    'london',
    ['eth_getBalance', BOB, 'finalized'],
    CAPITALS,
  ],
  [
    'logs up to the safe block before paris',
    'london',
    ['eth_getLogs', { toBlock: 'safe' }],
    CAPITALS,
  ],
  [
    'a random value to come before paris',
    'london',
    ['hardhat_setPrevRandao', UNKNOWN_HASH],
    CAPITALS,
  ],
  ['authorizations before prague', 'cancun', transfer({ authorizationList: [] })],
]

const RETURNED = ['type', 'chainId', 'gasPrice', 'maxFeePerGas', 'accessList'] as const

/** What a transaction has, by forks: no member before the fork that it came with. */
const TRANSACTIONS: readonly Scenario[] = (
  ['byzantium', 'istanbul', 'berlin', 'london', 'prague'] as const
).map((hardfork) => ({
  name: `the members of a transaction and its receipt at ${hardfork}`,
  nodes: ['hardhat'],
  settings: { hardfork },
  setup: [
    ['eth_sendTransaction', { from: ALICE, to: BOB, gas: '0x5208', gasPrice: '0x1dcd65000' }],
    ['evm_setAutomine', false],
    ['eth_sendTransaction', { from: ALICE, to: BOB, gas: '0x5208', gasPrice: '0x1dcd65000' }],
  ],
  ask: [
    ['eth_getTransactionByHash', '{0}'],
    ['eth_getTransactionByBlockNumberAndIndex', '0x1', '0x0'],
    ['eth_getTransactionByHash', '{2}'],
    ['eth_pendingTransactions'],
    ['eth_getTransactionReceipt', '{0}'],
  ],
  members: [...RETURNED, 'effectiveGasPrice', 'status', 'root'],
}))

export const HARDHAT_FORKS: readonly Scenario[] = [
  ...TRANSACTIONS,
  {
    name: 'the price offered, and what is filled in, before london',
    nodes: ['hardhat'],
    settings: { hardfork: 'berlin' },
    setup: [['eth_sendTransaction', { from: ALICE, to: BOB, gas: '0x5208' }]],
    ask: [['eth_gasPrice'], ['eth_getTransactionByHash', '{0}']],
    members: ['gasPrice', 'maxFeePerGas', 'type'],
  },
  ...EARLY.map(
    ([name, hardfork, ask, likeHardhat2]): Scenario => ({
      name,
      nodes: ['hardhat'],
      settings: { hardfork },
      ask: [ask],
      ...(likeHardhat2 === undefined ? {} : { likeHardhat2, errors: ['code', 'message'] }),
    }),
  ),
  {
    name: 'transactions that offer less than the least price, before london',
    nodes: ['hardhat'],
    settings: { hardfork: 'berlin' },
    setup: [
      ['evm_setAutomine', false],
      ['hardhat_setMinGasPrice', '0x14'],
      transfer({ nonce: '0x0', gasPrice: '0x13' }),
      transfer({ nonce: '0x1', gasPrice: '0x14' }),
      transfer({ from: BOB, to: ALICE, nonce: '0x0', gasPrice: '0x14' }),
    ],
    ask: [
      ['eth_pendingTransactions'],
      ['evm_mine'],
      ['eth_pendingTransactions'],
      ['hardhat_setMinGasPrice', '0x13'],
      ['evm_mine'],
      ['eth_pendingTransactions'],
    ],
    members: ['from', 'nonce', 'gasPrice', 'blockNumber'],
  },
  {
    name: 'a price below the least while automining, before london',
    nodes: ['hardhat'],
    settings: { hardfork: 'berlin' },
    setup: [['hardhat_setMinGasPrice', '0x14']],
    ask: [transfer({ gasPrice: '0x13' })],
  },
  {
    name: 'methods that are not there, asked before their parameters are looked at',
    nodes: ['hardhat'],
    ask: [
      ['eth_getUncleByBlockHashAndIndex'],
      ['eth_getUncleByBlockNumberAndIndex'],
      ['eth_getUncleCountByBlockHash'],
      ['eth_getUncleCountByBlockNumber'],
      ['eth_getWork'],
      ['eth_hashrate'],
      ['eth_protocolVersion'],
      ['eth_signTransaction'],
      ['eth_signTypedData'],
      ['eth_signTypedData_v3'],
      ['eth_submitHashrate'],
      ['eth_submitWork'],
    ],
  },
  {
    name: 'whether blocks are mined before they are asked for',
    nodes: ['hardhat'],
    ask: [['eth_mining']],
    likeHardhat2: 'version 3 does not have the method',
  },
]
