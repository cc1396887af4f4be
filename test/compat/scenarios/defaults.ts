// What the nodes are at their start: identity, accounts, fees, gas, the first blocks.
import { ALICE, BOB, transfer } from '../requests.ts'
import type { Scenario } from '../scenario.ts'

export const DEFAULTS: readonly Scenario[] = [
  { name: 'the chain id', ask: [['eth_chainId']] },
  // ganache's is the time of its start
  { name: 'the network id', ask: [['net_version']], nodes: ['anvil', 'hardhat'] },
  { name: 'the accounts', ask: [['eth_accounts']] },
  { name: 'the balance of an account', ask: [['eth_getBalance', ALICE, 'latest']] },
  { name: 'the prices offered', ask: [['eth_gasPrice'], ['eth_maxPriorityFeePerGas']] },
  {
    name: 'the limits and fees of the genesis',
    ask: [['eth_getBlockByNumber', '0x0', false]],
    members: ['gasLimit', 'baseFeePerGas', 'difficulty', 'nonce', 'extraData', 'miner'],
  },
  {
    name: 'the limits and fees of the first block',
    setup: [['evm_mine']],
    ask: [['eth_getBlockByNumber', '0x1', false]],
    members: ['gasLimit', 'baseFeePerGas', 'difficulty', 'nonce', 'extraData', 'miner'],
  },
  {
    name: 'the pending block',
    ask: [['eth_getBlockByNumber', 'pending', false]],
    members: ['number', 'hash', 'nonce', 'logsBloom', 'miner', 'difficulty', 'transactions'],
    hide: ['hash'],
  },
  {
    name: 'what is filled in of a transfer',
    likeHardhat2: 'the node fills in; in Hardhat 3 its client side does, with an estimate',
    setup: [['eth_sendTransaction', { from: ALICE, to: BOB, value: '0x1' }]],
    ask: [['eth_getTransactionByHash', '{0}']],
    members: ['type', 'gas', 'gasPrice', 'maxFeePerGas', 'maxPriorityFeePerGas', 'nonce', 'input'],
  },
  {
    name: 'what is filled in of a transfer with a gas price',
    setup: [transfer({ gasPrice: '0xb2d05e00' })],
    ask: [['eth_getTransactionByHash', '{0}']],
    members: ['type', 'gas', 'gasPrice', 'maxFeePerGas', 'maxPriorityFeePerGas'],
  },
  {
    name: 'what is filled in of a transfer with a fee cap',
    setup: [transfer({ maxFeePerGas: '0xb2d05e00' })],
    ask: [['eth_getTransactionByHash', '{0}']],
    members: ['type', 'gas', 'maxFeePerGas', 'maxPriorityFeePerGas'],
  },
  {
    name: 'what is filled in of a transfer with a tip',
    likeHardhat2: 'the node fills in; in Hardhat 3 its client side does, with an estimate',
    setup: [transfer({ maxPriorityFeePerGas: '0x77359400' })],
    ask: [['eth_getTransactionByHash', '{0}']],
    members: ['type', 'gas', 'maxFeePerGas', 'maxPriorityFeePerGas'],
  },
  {
    name: 'an estimate of a transfer',
    ask: [['eth_estimateGas', { from: ALICE, to: BOB, value: '0x1' }]],
  },
]
