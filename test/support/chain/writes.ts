// Calls that change a chain, and those that show what they left: for tests that compare chains after the same calls.
import { methods } from '../../../src/methods/index.ts'
import { changesChain } from '../../../src/rpc/method.ts'

export interface NamedCall {
  readonly method: string
  readonly params: readonly unknown[]
}

/** They would end with the test's time or ask another node, or are about all chains. */
const ELSEWHERE = [
  ...['anvil_setRpcUrl', 'evm_setIntervalMining'],
  ...['devchain_newChain', 'devchain_dropChain'],
]

/** The example of every method that changes a chain, and reads that show more than the head does. */
export const WRITES: readonly NamedCall[] = [
  ...methods
    .filter((method) => changesChain(method) && !ELSEWHERE.includes(method.name))
    .map(({ name, example }) => ({ method: name, params: example?.params ?? [] })),
  { method: 'eth_newBlockFilter', params: [] },
  { method: 'eth_getFilterChanges', params: ['0x1'] },
  { method: 'eth_accounts', params: [] },
  { method: 'txpool_content', params: [] },
  { method: 'devchain_snapshots', params: [] },
]

/** What they leave. */
export const ENDS: readonly NamedCall[] = [
  { method: 'eth_getBlockByNumber', params: ['latest', true] },
  { method: 'eth_getBlockByNumber', params: ['pending', false] },
  { method: 'debug_dumpBlock', params: ['latest'] },
  { method: 'txpool_content', params: [] },
  { method: 'eth_accounts', params: [] },
  { method: 'devchain_snapshots', params: [] },
]

/** The same keys, ids and time in every chain of this process. */
export const SAME: {
  readonly now: () => number
  readonly random: (length: number) => Uint8Array
} = {
  now: () => 1_700_000_000_000,
  random: (length) => new Uint8Array(length).fill(7),
}

/** The same in each thread of a command: a script that node loads first. */
export const SAME_SCRIPT: string = `
const crypto = require('node:crypto')
Date.now = () => 1_700_000_000_000
crypto.randomBytes = (length) => Buffer.alloc(length, 7)
require('node:module').syncBuiltinESMExports()
`
