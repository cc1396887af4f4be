// What ganache takes where nodes differ: prices of both kinds, types without a price, mining that begins again.
import { ALICE, transfer } from '../requests.ts'
import type { Scenario, Step } from '../scenario.ts'

const PRICE = '0xb2d05e00'

const FILLED = ['type', 'gas', 'gasPrice', 'maxFeePerGas', 'maxPriorityFeePerGas']

/** Transfers, and the members of what is mined of them that are compared. */
const SENT: readonly (readonly [name: string, send: Step, members: readonly string[]])[] = [
  [
    'with a gas price and a tip',
    transfer({ gasPrice: PRICE, maxPriorityFeePerGas: '0x1' }),
    FILLED,
  ],
  [
    'with a gas price, a fee cap and a tip',
    transfer({ gasPrice: PRICE, maxFeePerGas: '0xb2d05e01', maxPriorityFeePerGas: '0x1' }),
    FILLED,
  ],
  ['of type 0 without a gas price', transfer({ type: '0x0' }), ['type', 'maxPriorityFeePerGas']],
  [
    'with an access list, without a gas price',
    transfer({ accessList: [] }),
    ['type', 'maxPriorityFeePerGas', 'accessList'],
  ],
]

export const GANACHE: readonly Scenario[] = [
  ...SENT.map(
    ([name, send, members]): Scenario => ({
      name: `what is mined of a transfer ${name}`,
      nodes: ['ganache'],
      setup: [send],
      ask: [['eth_getTransactionByHash', '{0}']],
      members,
    }),
  ),
  {
    name: 'the prices offered after empty blocks',
    nodes: ['ganache'],
    setup: [['evm_mine'], ['evm_mine'], ['evm_mine']],
    ask: [['eth_gasPrice'], ['eth_maxPriorityFeePerGas']],
  },
  {
    name: 'the price offered before there was a base fee',
    nodes: ['ganache'],
    settings: { hardfork: 'berlin' },
    ask: [['eth_gasPrice']],
  },
  {
    name: 'a creation without gas whose code is too dear for 90,000',
    nodes: ['ganache'],
    setup: [['eth_sendTransaction', { from: ALICE, data: '0x6103e86000f3' }]],
    ask: [
      ['eth_getTransactionReceipt', '{0}'],
      ['eth_getTransactionByHash', '{0}'],
    ],
    members: ['status', 'gasUsed', 'gas', 'contractAddress'],
  },
  {
    name: 'mining that begins again takes all that waits',
    nodes: ['ganache'],
    setup: [['miner_stop'], transfer(), transfer({ to: ALICE })],
    ask: [['miner_start'], ['eth_blockNumber'], ['eth_getBlockTransactionCountByNumber', 'latest']],
  },
]
