// Forks across programs: anvil and Hardhat fork us, we fork them, and forks are forked again.
import { describe, expect, onTestFinished, test } from 'vitest'
import { createDevchain, type DevchainOptions } from '../../src/devchain.ts'
import { deployKeeper, SUMMED, sendOn, setting, word } from '../support/fork/upstream.ts'
import { type Ask, anvilProgram, startAnvil } from '../support/tools/anvil.ts'
import { eventually } from '../support/waiting/eventually.ts'
import { hardhatNode } from './hardhatnode.ts'

interface Node {
  readonly url: string
  readonly ask: Ask
}

const TWO_MINUTES = 120_000

const SUM = BigInt((SUMMED * (SUMMED - 1)) / 2 + 100 * SUMMED)

const [anvil, hardhat] = await Promise.all([anvilProgram(), hardhatNode()])

async function devchain(options: DevchainOptions = {}): Promise<Node> {
  const chain = await createDevchain({ port: 0, noForkCache: true, ...options })
  onTestFinished(chain.close)
  const { url } = await chain.listen()
  return { url, ask: (method, ...params) => chain.request({ method, params }) }
}

async function anvilNode(...args: string[]): Promise<Node> {
  const { url, ask, stop } = await startAnvil(anvil!, ...args)
  onTestFinished(stop)
  // it answers a send before its block is there
  const mined: Ask = async (method, ...params) => {
    if (method !== 'eth_getTransactionReceipt') return await ask(method, ...params)
    return await eventually(() => ask(method, ...params))
  }
  return { url, ask: mined }
}

async function hardhatNodeOf(...args: string[]): Promise<Node> {
  const { url, ask, stop } = await hardhat!(...args)
  onTestFinished(stop)
  return { url, ask }
}

/** A network with a contract, and one of its transactions. */
interface Grown {
  readonly keeper: string
  readonly hash: string
  readonly number: string
}

async function grow(node: Node): Promise<Grown> {
  const keeper = await deployKeeper(node)
  const { transactionHash, blockNumber } = await sendOn(node.ask, {
    to: keeper,
    data: setting(0, 7),
  })
  return { keeper, hash: transactionHash ?? '', number: blockNumber ?? '' }
}

/** A fork has what the network has, and goes on alone. */
async function holds(
  fork: Node,
  network: Node,
  { keeper, hash, number }: Grown,
  callsOldBlocks = true,
): Promise<void> {
  const sum = SUM - 100n + 7n
  expect(await fork.ask('eth_blockNumber')).toBe(number)
  if (callsOldBlocks) {
    expect(await fork.ask('eth_call', { to: keeper }, 'latest')).toBe(`0x${word(sum)}`)
  }
  expect(await fork.ask('eth_getCode', keeper, 'latest')).toBe(
    await network.ask('eth_getCode', keeper, 'latest'),
  )
  expect(await fork.ask('eth_getTransactionReceipt', hash)).toMatchObject({
    blockNumber: number,
    transactionHash: hash,
  })
  const older = `0x${(BigInt(number) - 1n).toString(16)}`
  expect(await fork.ask('eth_getStorageAt', keeper, '0x0', older)).toBe(`0x${word(100)}`)
  const own = await sendOn(fork.ask, { to: keeper, data: setting(0, 9) })
  expect(own.status).toBe('0x1')
  expect(await fork.ask('eth_call', { to: keeper }, 'latest')).toBe(`0x${word(sum + 2n)}`)
  expect(await fork.ask('eth_getStorageAt', keeper, '0x0', number)).toBe(`0x${word(7)}`)
  expect(await network.ask('eth_call', { to: keeper }, 'latest')).toBe(`0x${word(sum)}`)
  const filter = { address: keeper, fromBlock: number, toBlock: 'latest' }
  expect(await fork.ask('eth_getLogs', filter)).toHaveLength(2)
}

describe('a devchain fork', () => {
  test('can be made of devchain, and of a fork of devchain', { timeout: TWO_MINUTES }, async () => {
    const network = await devchain()
    const grown = await grow(network)
    const fork = await devchain({ fork: network.url })
    const again = await devchain({ fork: fork.url })
    await holds(again, fork, grown)
    await holds(fork, network, grown)
  })

  test.skipIf(anvil === undefined)('can be made of anvil', { timeout: TWO_MINUTES }, async () => {
    const network = await anvilNode()
    const grown = await grow(network)
    await holds(await devchain({ fork: network.url }), network, grown)
  })

  test.skipIf(hardhat === undefined)(
    'can be made of Hardhat',
    { timeout: TWO_MINUTES },
    async () => {
      const network = await hardhatNodeOf()
      const grown = await grow(network)
      await holds(await devchain({ fork: network.url }), network, grown)
    },
  )
})

describe('a fork of devchain', () => {
  test.skipIf(anvil === undefined)(
    'can be made by anvil, and forked again by devchain',
    { timeout: TWO_MINUTES },
    async () => {
      const network = await devchain({ hardfork: 'prague' })
      const grown = await grow(network)
      const fork = await anvilNode('--fork-url', network.url, '--no-storage-caching')
      const again = await devchain({ fork: fork.url })
      await holds(again, fork, grown)
      await holds(fork, network, grown)
    },
  )

  test.skipIf(hardhat === undefined)(
    'can be made by Hardhat',
    { timeout: TWO_MINUTES },
    async () => {
      const network = await devchain({ hardfork: 'prague' })
      const grown = await grow(network)
      // of networks that it does not know it runs nothing in blocks up to the fork
      await holds(await hardhatNodeOf('--fork', network.url), network, grown, false)
    },
  )
})
