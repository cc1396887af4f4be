// Forms of parameters that Hardhat's node refuses, and what it says of them.
import { ALICE, BOB } from '../requests.ts'
import type { Scenario, Step } from '../scenario.ts'

const BARE = ALICE.slice(2)
const ZERO = `0x${'0'.repeat(64)}`
const CHANGES = ['hardhat_setBalance', 'hardhat_setNonce', 'hardhat_setCode'] as const

function overriding(account: object): Step {
  return ['eth_call', { from: ALICE, to: BOB }, 'latest', { [BOB]: account }]
}

/** Requests by what they are about; each list is one scenario. */
const REFUSED: readonly (readonly [name: string, ...ask: readonly Step[]])[] = [
  [
    'the form of addresses to be changed',
    ...CHANGES.flatMap((method): Step[] => [
      [method, '0x1234', '0x00'],
      [method, BARE, '0x00'],
    ]),
    ['hardhat_setStorageAt', '0x1234', '0x0', '0x63'],
    ['hardhat_setStorageAt', BARE, '0x0', ZERO],
  ],
  [
    'the form of addresses to be impersonated',
    ['hardhat_impersonateAccount', '0x1234'],
    ['hardhat_impersonateAccount', BARE],
    ['hardhat_stopImpersonatingAccount', '0x1234'],
    ['hardhat_stopImpersonatingAccount', BARE],
  ],
  [
    'the form of values to be set',
    ...CHANGES.map((method): Step => [method, BOB, 'xyz']),
    ['hardhat_setBalance', BOB, '12'],
    ['hardhat_setNonce', BOB, '12'],
    ['hardhat_setCode', BOB, ''],
    ['hardhat_setCode', BOB, '0x1'],
    ['hardhat_setStorageAt', BOB, 'xyz', '0x63'],
    ['hardhat_setStorageAt', BOB, '0x0', 'xyz'],
  ],
  [
    'the form of storage values of another length than 32 bytes',
    ...[0, 1, 2, 31, 33, 64].map(
      (length): Step => ['hardhat_setStorageAt', BOB, '0x0', `0x${'ff'.repeat(length)}`],
    ),
  ],
  [
    'the form of slots that are read, and of numbers that are set',
    ['eth_getStorageAt', BOB, 0],
    ['eth_getStorageAt', BOB, ''],
    ['eth_getStorageAt', BOB, '0xABCDEFG'],
    ['eth_getStorageAt', BOB, `0x${'0'.repeat(65)}`],
    ['eth_getStorageAt', BOB, '0'.repeat(65)],
    ['eth_getStorageAt', BOB, '0'.repeat(64)],
    ['hardhat_setStorageAt', BOB, 1, ZERO],
    ['hardhat_setStorageAt', BOB, `0x${'0'.repeat(66)}`, ZERO],
    ['hardhat_setNonce', BOB, 5],
    ['hardhat_setBalance', BOB, 5],
  ],
  [
    'the form of addresses that are asked about',
    ...(
      ['eth_getBalance', 'eth_getCode', 'eth_getTransactionCount', 'eth_getStorageAt'] as const
    ).flatMap((method): Step[] => [
      [method, '0x12', '0x0'],
      [method, BARE, '0x0'],
      [method, 12, '0x0'],
    ]),
  ],
  [
    'the form of times, and of numbers of 64 bits',
    ...['evm_increaseTime', 'evm_mine', 'evm_setNextBlockTimestamp'].flatMap((method): Step[] => [
      [method, '0x10000000000000000'],
      [method, 'abc'],
      [method, -1],
      [method, 1.5],
      [method, 1e20],
    ]),
    ['hardhat_mine', '0x10000000000000000'],
    ['hardhat_mine', '0x5', '0x10000000000000000'],
    ['evm_setBlockGasLimit', '0x10000000000000000'],
  ],
  [
    'the form of slots in overrides',
    ...['0x1', '0x01', '0x', `${ZERO}00`].map((slot) =>
      overriding({ stateDiff: { [slot]: ZERO } }),
    ),
    overriding({ state: { '0x0': ZERO } }),
    overriding({ stateDiff: { [ZERO]: '0x1' } }),
  ],
  [
    'calls and estimates that would create nothing',
    ...['eth_call', 'eth_estimateGas'].flatMap((method): Step[] => [
      [method, { from: ALICE, data: '0x' }, 'latest'],
      [method, { from: ALICE }, 'latest'],
    ]),
  ],
  [
    'the form of blocks that are canonical by number',
    ['eth_getBalance', BOB, { blockNumber: '0x0', requireCanonical: true }],
    ['eth_call', { to: BOB }, { blockNumber: '0x0', requireCanonical: false }],
    ['eth_getStorageAt', BOB, ZERO, { blockNumber: '0x0', requireCanonical: true }],
  ],
]

export const HARDHAT_FORMS: readonly Scenario[] = REFUSED.map(
  ([name, ...ask]): Scenario => ({
    name,
    nodes: ['hardhat'],
    errors: ['code', 'message'],
    hide: ['place'],
    ask,
  }),
)
