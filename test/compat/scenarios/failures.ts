// Executions that fail: reverts of each kind and halts, in calls, estimates and transactions.
import { ALICE, CONTRACT, DEPLOY_REVERTING, deploy, REVERT_DATA } from '../requests.ts'
import { NODES, type Scenario } from '../scenario.ts'

const KINDS = Object.entries(REVERT_DATA).map(([kind, data]) => ({
  kind: kind.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`),
  data,
}))

const HALTS = [
  { kind: 'an invalid opcode', code: 'fe' },
  { kind: 'an unknown opcode', code: '0c' },
  { kind: 'an endless loop', code: '5b5f56' },
  { kind: 'a jump into nowhere', code: '5f56' },
  { kind: 'an empty stack', code: '50' },
]

export const FAILURES: readonly Scenario[] = [
  ...KINDS.map(
    ({ kind, data }): Scenario => ({
      name: `a call that reverts with data: ${kind}`,
      nodes: NODES,
      setup: [DEPLOY_REVERTING],
      ask: [['eth_call', { from: ALICE, to: CONTRACT, data }, 'latest']],
    }),
  ),
  ...KINDS.map(
    ({ kind, data }): Scenario => ({
      name: `an estimate that reverts with data: ${kind}`,
      nodes: NODES,
      setup: [DEPLOY_REVERTING],
      ask: [['eth_estimateGas', { from: ALICE, to: CONTRACT, data }]],
      hide: ['counter'],
    }),
  ),
  ...KINDS.map(
    ({ kind, data }): Scenario => ({
      name: `a transaction that reverts with data: ${kind}`,
      nodes: NODES,
      setup: [DEPLOY_REVERTING],
      ask: [
        ['eth_sendTransaction', { from: ALICE, to: CONTRACT, data, gas: '0x186a0' }],
        ['eth_blockNumber'],
      ],
      hide: ['hash'],
    }),
  ),
  ...HALTS.flatMap(({ kind, code }): readonly Scenario[] => {
    const request = { from: ALICE, to: CONTRACT, gas: '0x186a0' }
    return [
      {
        name: `a call that halts: ${kind}`,
        nodes: NODES,
        setup: [deploy(code)],
        ask: [['eth_call', request, 'latest']],
      },
      {
        name: `an estimate that halts: ${kind}`,
        nodes: NODES,
        setup: [deploy(code)],
        ask: [['eth_estimateGas', request]],
        hide: ['counter'],
      },
      {
        name: `a transaction that halts: ${kind}`,
        nodes: NODES,
        setup: [deploy(code)],
        ask: [['eth_sendTransaction', request], ['eth_blockNumber']],
        hide: ['hash'],
      },
    ]
  }),
  {
    name: 'a transaction without gas that reverts',
    // Hardhat 3 asks itself for an estimate before, which is what its clients do anyway
    nodes: ['anvil', 'hardhat2', 'ganache'],
    setup: [DEPLOY_REVERTING],
    ask: [
      ['eth_sendTransaction', { from: ALICE, to: CONTRACT, data: REVERT_DATA.text }],
      ['eth_blockNumber'],
    ],
    hide: ['hash'],
  },
  {
    name: 'a call of a precompile that takes no such input',
    nodes: ['anvil'],
    ask: [
      ['eth_call', { from: ALICE, to: '0x0000000000000000000000000000000000000006', data: '0xff' }],
    ],
  },
  {
    name: 'a call that reverts, from an account without funds',
    setup: [DEPLOY_REVERTING],
    ask: [['eth_call', { to: CONTRACT, data: REVERT_DATA.text }, 'latest']],
  },
]
