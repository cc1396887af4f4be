// What Hardhat's node takes that others refuse, and what its calls see.
import { ALICE, BOB, STRANGER, transfer } from '../requests.ts'
import type { Scenario, Step } from '../scenario.ts'

const ZERO = `0x${'0'.repeat(64)}`

/** Returns BASEFEE and GASPRICE. */
const SEES_PRICES = { from: ALICE, data: '0x486000523a60205260406000f3', gas: '0x186a0' }

/** Returns CALLER, ORIGIN and the gas price, at any address. */
const SEES_SENDER = { [STRANGER]: { code: '0x335f52326020523a60405260605ff3' } }

/** Returns what is in slot 0. */
const READS_SLOT = '0x60005460005260206000f3'

const readingSlot = (override: object): Step => [
  'eth_call',
  { from: ALICE, to: STRANGER },
  'latest',
  { [STRANGER]: { code: READS_SLOT, ...override } },
]

/** Requests by what they are about; each list is one scenario. */
const TAKEN: readonly (readonly [name: string, ...ask: readonly Step[]])[] = [
  [
    'the prices that a call sees, by what it offers',
    ['eth_call', SEES_PRICES, 'latest'],
    ['eth_call', { ...SEES_PRICES, gasPrice: '0xb2d05e00' }, 'latest'],
    ['eth_call', { ...SEES_PRICES, gasPrice: '0x1' }, 'latest'],
    ['eth_call', { ...SEES_PRICES, maxFeePerGas: '0xb2d05e00' }, 'latest'],
    [
      'eth_call',
      { ...SEES_PRICES, maxFeePerGas: '0xb2d05e00', maxPriorityFeePerGas: '0x5' },
      'latest',
    ],
    ['eth_call', { ...SEES_PRICES, maxPriorityFeePerGas: '0x5' }, 'pending'],
  ],
  [
    'the sender that a call or an estimate has if it names none',
    ['eth_call', { to: STRANGER }, 'latest', SEES_SENDER],
    ['eth_call', { to: STRANGER, value: '0x1' }, 'pending', SEES_SENDER],
    ['eth_call', { data: '0x335f5260205ff3' }, 'latest'],
    ['eth_estimateGas', { data: '0x73f39fd6e51aad88f6f4ce6ab8827279cfffb922663318601a575f5ffd5b' }],
  ],
  [
    'slots that are read with few digits, or none',
    ['hardhat_setStorageAt', BOB, '0xA', ZERO.replace(/0$/, '7')],
    ['hardhat_setStorageAt', BOB, '0x', ZERO.replace(/0$/, '8')],
    ['eth_getStorageAt', BOB, 'A'],
    ['eth_getStorageAt', BOB, '0xA'],
    ['eth_getStorageAt', BOB, '0x0A'],
    ['eth_getStorageAt', BOB, '0x'],
    ['eth_getStorageAt', BOB, '0x0'],
  ],
  [
    'ranges of logs that end before they begin',
    ['eth_getLogs', { fromBlock: '0x1', toBlock: '0x0' }],
    ['eth_getLogs', { fromBlock: '0x9', toBlock: '0x5' }],
    ['eth_newFilter', { fromBlock: '0x1', toBlock: '0x0' }],
  ],
  [
    'a block gas limit that no transaction fits in',
    ['evm_setBlockGasLimit', '0x1'],
    ['evm_mine'],
    transfer(),
  ],
  [
    'storage that a call sees in place of what there is',
    readingSlot({ state: { [ZERO]: ZERO.replace(/0$/, '5') } }),
    readingSlot({ stateDiff: { [ZERO]: ZERO.replace(/0$/, '6') } }),
    readingSlot({ state: { [ZERO]: ZERO }, stateDiff: { [ZERO]: ZERO } }),
  ],
]

export const HARDHAT_LENIENT: readonly Scenario[] = [
  {
    name: 'what is subscribed to without a socket, and polled',
    nodes: ['hardhat'],
    setup: [
      ['eth_subscribe', 'newHeads'],
      ['eth_subscribe', 'logs', { address: BOB }],
      ['eth_subscribe', 'newPendingTransactions'],
    ],
    ask: [
      ['eth_getFilterChanges', '{0}'],
      ['eth_getFilterChanges', '{1}'],
      ['eth_getFilterLogs', '{1}'],
      ['eth_getFilterChanges', '{2}'],
      ['eth_unsubscribe', '{0}'],
      ['eth_unsubscribe', '{0}'],
      ['eth_unsubscribe', '{1}'],
      ['eth_unsubscribe', '{2}'],
      ['eth_unsubscribe', '0x99'],
    ],
    hide: ['hash'],
  },
  ...TAKEN.map(
    ([name, ...ask]): Scenario => ({
      name,
      nodes: ['hardhat'],
      errors: ['code', 'message'],
      hide: ['hash'],
      ask,
    }),
  ),
  {
    name: 'a trace of a call that its sender cannot pay',
    nodes: ['hardhat'],
    ask: [
      ['debug_traceCall', { from: STRANGER, to: BOB, value: '0x1', gas: '0x5208' }, 'latest', {}],
    ],
    members: ['failed', 'gas'],
  },
  {
    name: 'a transaction without a sender',
    nodes: ['hardhat'],
    setup: [['eth_sendTransaction', { to: BOB, gas: '0x5208' }]],
    ask: [['eth_getTransactionByHash', '{0}']],
    members: ['from', 'nonce'],
  },
  {
    name: 'the type of what is mined of transfers of old types without a price',
    nodes: ['hardhat'],
    setup: [transfer({ type: '0x0' }), transfer({ type: '0x1', accessList: [] })],
    ask: [
      ['eth_getTransactionByHash', '{0}'],
      ['eth_getTransactionByHash', '{1}'],
    ],
    members: ['type'],
  },
  {
    name: 'authorizations that are none',
    nodes: ['hardhat'],
    errors: ['code', 'message'],
    ask: [
      transfer({ authorizationList: [] }),
      ['eth_call', { from: ALICE, to: BOB, authorizationList: [] }, 'latest'],
    ],
  },
]
