// A fork equals its network: accounts, slots, logs, receipts and calls at its block, and what comes of the same transactions.
import { beforeAll, describe, expect, test } from 'vitest'
import { createDevchain, type Devchain } from '../../../src/devchain.ts'
import type { Hardfork } from '../../../src/protocol/forks.ts'
import { HISTORY_STORAGE } from '../../../src/state/predeploys.ts'
import { askOf, randomNetwork, type UpstreamRequest } from '../../support/fork/randomnetwork.ts'
import {
  type Asked,
  deployKeeper,
  forkOf,
  sendOn,
  setting,
  startUpstream,
  word,
} from '../../support/fork/upstream.ts'

/** Blocks of the network, and from one fork to the next. */
const BLOCKS = 60
const STEP = 10

interface Block {
  readonly hash: string
  readonly number: string
  readonly timestamp: string
  readonly stateRoot: string
  readonly transactions: readonly string[]
}

interface DumpedAccount {
  readonly address: string
  readonly balance: string
  readonly nonce: number
  readonly code?: string
  readonly storage?: Readonly<Record<string, string>>
}

const numberOf = (number: number): string => `0x${number.toString(16)}`

/** How to ask a network for what stays as it is, each thing once. */
function remembering(ask: UpstreamRequest): UpstreamRequest {
  const answers = new Map<string, Promise<unknown>>()
  return (method, ...params) => {
    const key = JSON.stringify([method, params])
    const answer = answers.get(key) ?? ask(method, ...params)
    answers.set(key, answer)
    return answer
  }
}

/** All accounts of a network after a block, with their slots. */
async function accountsOf(ask: UpstreamRequest, block: string): Promise<readonly DumpedAccount[]> {
  const { accounts } = (await ask('debug_dumpBlock', block)) as {
    accounts: Record<string, DumpedAccount>
  }
  return Object.values(accounts)
}

/** Accounts as reading methods return them at a block, and the results of calls to them. */
function reported(
  ask: UpstreamRequest,
  accounts: readonly DumpedAccount[],
  block: string,
): Promise<unknown> {
  return Promise.all(accounts.map((account) => accountFacts(ask, account, block)))
}

async function accountFacts(
  ask: UpstreamRequest,
  { address, storage }: DumpedAccount,
  block: string,
): Promise<readonly unknown[]> {
  const slots = [...Object.keys(storage ?? {}), '0x0', '0x1', '0x3e7']
  const call = { to: address, data: `0x${word(3)}`, gas: '0x80000' }
  return Promise.all([
    address,
    ask('eth_getBalance', address, block),
    ask('eth_getTransactionCount', address, block),
    ask('eth_getCode', address, block),
    ask('eth_getStorageValues', { [address]: slots }, block),
    ask('eth_call', call, block).catch((error: Error) => error.message),
  ])
}

/** What a receipt has that does not depend on block hashes. */
function outcomeOf(receipt: Record<string, unknown>): unknown {
  const { status, gasUsed, contractAddress, transactionHash } = receipt
  const logs = (receipt.logs as Record<string, unknown>[]).map(({ address, topics, data }) => ({
    address,
    topics,
    data,
  }))
  return { status, gasUsed, contractAddress, transactionHash, logs }
}

/** Sends the transactions of a block to another chain, and mines them at the block's time. */
async function repeat(
  from: UpstreamRequest,
  to: UpstreamRequest,
  number: number,
): Promise<readonly [Block, Block]> {
  const block = (await from('eth_getBlockByNumber', number, false)) as Block
  for (const hash of block.transactions) {
    await to('eth_sendRawTransaction', await from('eth_getRawTransactionByHash', hash))
  }
  await to('evm_mine', Number(block.timestamp))
  return [block, (await to('eth_getBlockByNumber', number, false)) as Block]
}

/** What a block has besides its header. */
async function contentsOf(ask: UpstreamRequest, number: number): Promise<readonly unknown[]> {
  const [receipts, traces, diffs] = await Promise.all([
    ask('eth_getBlockReceipts', numberOf(number)) as Promise<Record<string, unknown>[]>,
    ask('debug_traceBlockByNumber', numberOf(number), { tracer: 'callTracer' }),
    ask('debug_traceBlockByNumber', numberOf(number), {
      tracer: 'prestateTracer',
      tracerConfig: { diffMode: true },
    }),
  ])
  return [receipts.map(outcomeOf), traces, diffs]
}

describe.each<Hardfork>(['bpo2', 'shanghai'])('a fork of 60 random blocks of %s', (hardfork) => {
  let network: Devchain
  let ask: UpstreamRequest
  beforeAll(async () => {
    network = await randomNetwork(BLOCKS, hardfork)
    ask = remembering(askOf(network))
    return () => network.close()
  })

  test.each([false, true])(
    'equals the network at each tenth block, and mines the same blocks; proofs: %s',
    async (forkProofs) => {
      for (let number = STEP; number < BLOCKS; number += STEP) {
        await using fork = await createDevchain({
          fork: { provider: network, block: number },
          chainId: 'remote',
          forkProofs,
          accounts: 0,
          noMining: true,
        })
        const here = askOf(fork)
        const at = numberOf(number)
        const accounts = await accountsOf(ask, at)
        expect(await reported(here, accounts, 'latest')).toEqual(await reported(ask, accounts, at))
        const range = { fromBlock: numberOf(number - STEP + 1), toBlock: at }
        expect(await here('eth_getLogs', range)).toEqual(await ask('eth_getLogs', range))
        expect(await contentsOf(here, number)).toEqual(await contentsOf(ask, number))
        for (let next = number + 1; next <= number + STEP; next++) {
          const [theirs, ours] = await repeat(ask, here, next)
          expect([next, ...(await contentsOf(here, next))]).toEqual([
            next,
            ...(await contentsOf(ask, next)),
          ])
          // with the state root the whole header is the network's
          if (forkProofs) expect([next, ours]).toEqual([next, theirs])
        }
        const after = numberOf(number + STEP)
        // where roots are not the network's, hashes of blocks are not either
        const known = (await accountsOf(ask, after)).filter(
          ({ address }) => forkProofs || address !== HISTORY_STORAGE.address,
        )
        expect(await reported(here, known, 'latest')).toEqual(await reported(ask, known, after))
      }
    },
  )
})

describe('--fork-proofs', () => {
  const LIES: readonly (readonly [string, (asked: Asked, result: never) => unknown, RegExp])[] = [
    [
      'a balance',
      ({ method }, result: { accountProof: string[] }) =>
        method === 'eth_getProof'
          ? { ...result, accountProof: result.accountProof.map(withOtherEnd) }
          : result,
      /a wrong proof of account 0x[0-9a-f]{40}: a node has another hash/,
    ],
    [
      'code',
      ({ method }, result) => (method === 'eth_getCode' ? '0x6001' : result),
      /a wrong proof of the code of 0x[0-9a-f]{40}: it has another hash/,
    ],
    [
      'a slot',
      ({ method }, result: { storageProof: { proof: string[] }[] }) =>
        method === 'eth_getProof'
          ? {
              ...result,
              storageProof: result.storageProof.map((each) => ({
                ...each,
                proof: each.proof.slice(0, -1),
              })),
            }
          : result,
      /a wrong proof of slot 0x[0-9a-f]+ of 0x[0-9a-f]{40}: it ends too early/,
    ],
  ]

  test.each(LIES)('detects and names a lie about %s', async (_, lie, message) => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    upstream.faults.lie = lie as (asked: Asked, result: unknown) => unknown
    await using fork = await createDevchain({
      fork: { url: upstream.url },
      noForkCache: true,
      forkProofs: true,
    })
    await expect(askOf(fork)('eth_call', { to: keeper })).rejects.toThrow(message)
    // nothing of it stays
    upstream.faults.lie = undefined
    expect(await askOf(fork)('eth_call', { to: keeper })).toBe(
      await upstream.ask('eth_call', { to: keeper }),
    )
    expect(await askOf(fork)('devchain_forkInfo')).toMatchObject({ proven: true })
  })
})

/** A node with another last byte. */
function withOtherEnd(node: string): string {
  return `${node.slice(0, -2)}${node.endsWith('00') ? '01' : '00'}`
}

describe('a faulty network', () => {
  test.each(['eth_getBalance', 'eth_getCode', 'eth_getStorageAt', 'eth_getTransactionCount'])(
    'without %s of the block is an error in its own words, and leaves nothing behind',
    async (method) => {
      await using upstream = await startUpstream()
      const keeper = await deployKeeper(upstream)
      await using fork = await createDevchain({ fork: { url: upstream.url }, noForkCache: true })
      const here = askOf(fork)
      upstream.faults.unknown.add('eth_getStorageValues')
      upstream.faults.refuse = (asked) =>
        asked.method === method ? { code: -32000, message: 'missing trie node' } : undefined
      const [from] = (await here('eth_accounts')) as string[]
      const request = { from, to: keeper, data: setting(0, 9), gas: '0x60000' }
      await expect(here('eth_sendTransaction', request)).rejects.toThrow(/missing trie node/)
      await expect(here('eth_call', { to: keeper })).rejects.toThrow(/missing trie node/)
      upstream.faults.refuse = undefined
      expect(await here('eth_blockNumber')).toBe(await upstream.ask('eth_blockNumber'))
      expect((await sendOn(here, { to: keeper, data: setting(0, 9) })).status).toBe('0x1')
    },
  )

  test.each([null, '', '0x', 'nonsense', 5, {}])(
    'with %j for a balance is an error',
    async (answer) => {
      await using upstream = await startUpstream()
      const keeper = await deployKeeper(upstream)
      await using fork = await forkOf(upstream, { forkRetries: 0 })
      upstream.faults.lie = ({ method }, result) => (method === 'eth_getBalance' ? answer : result)
      await expect(fork.ask('eth_getBalance', keeper)).rejects.toThrow(
        /the forked network answered .*, not a number/,
      )
      upstream.faults.lie = undefined
      expect(await fork.ask('eth_getBalance', keeper)).toBe('0x0')
    },
  )
})
