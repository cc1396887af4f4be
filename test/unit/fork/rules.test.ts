// The schedules of known networks, held against what another library has of them, and that against its fork hashes.
import { type ChainConfig, Hoodi, Mainnet, Sepolia } from '@ethereumjs/common'
import * as chains from 'viem/chains'
import { describe, expect, test } from 'vitest'
import { type Hash, hexFromBytes, ZERO_HASH } from '../../../src/core/hex.ts'
import { readBlock } from '../../../src/fork/network/header.ts'
import { requireEvm, rulesOf } from '../../../src/fork/network/rules.ts'
import { forkIdAt } from '../../../src/protocol/forkid.ts'
import { HARDFORKS, type Hardfork } from '../../../src/protocol/forks.ts'
import { forkOf, startUpstream, type Upstream } from '../../support/fork/upstream.ts'

const NETWORKS: readonly (readonly [name: string, chain: ChainConfig, genesis: Hash])[] = [
  [
    'the main network',
    Mainnet,
    '0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3' as Hash,
  ],
  [
    'Sepolia',
    Sepolia,
    '0x25a5cc106eea7138acab33231d7160d69cb777ee0c2c553fcddf5138993e6dd9' as Hash,
  ],
  ['Hoodi', Hoodi, '0xbbe312868b376a3001692a646dd2d7d1e4406380dfd86b98aa8a34d1557c971b' as Hash],
]

const BLOCK = readBlock({ number: '0x1', timestamp: '0x1', hash: ZERO_HASH, parentHash: ZERO_HASH })

/** What is no rule of its own here: the bombs, the fork of the DAO, and what separates the peers of a merge. */
const NO_RULES = new Set([
  'dao',
  'muirGlacier',
  'arrowGlacier',
  'grayGlacier',
  'mergeNetsplitBlock',
])

interface Step {
  readonly name: string
  readonly block: bigint | undefined
  readonly time: bigint | undefined
  readonly hash: string | undefined
}

/** The forks of a network that have a date, in order. */
function stepsOf({ hardforks }: ChainConfig): readonly Step[] {
  const steps = hardforks.map(({ name, block, timestamp, forkHash }) => ({
    name: String(name),
    block: block === null ? undefined : BigInt(block),
    time: timestamp === undefined ? undefined : BigInt(timestamp),
    hash: forkHash ?? undefined,
  }))
  return steps.filter(({ block, time }) => block !== undefined || time !== undefined)
}

function startOf({ block, time }: Pick<Step, 'block' | 'time'>): bigint {
  return time ?? block ?? 0n
}

/** The name that a fork has here. */
function ownName(name: string): Hardfork {
  const own = name === 'chainstart' ? 'frontier' : name
  expect(HARDFORKS).toContain(own)
  return own as Hardfork
}

/** What @ethereumjs/common does not know yet. */
const AHEAD: ReadonlyMap<string, { readonly fork: Hardfork; readonly time: bigint }> = new Map([
  ['Sepolia', { fork: 'amsterdam', time: 1_791_294_816n }],
])

describe.each(NETWORKS)('the schedule of %s', (name, chain, genesis) => {
  const steps = stepsOf(chain)

  test('has the fork hashes of EIP-2124 that @ethereumjs/common has', () => {
    // the merge of a network is no point of its id: that is where its peers part
    const points = steps.filter(({ name }) => name !== 'paris')
    const blocks = [...new Set(points.flatMap(({ block }) => (block ? [block] : [])))]
    const times = [...new Set(points.flatMap(({ time }) => (time ? [time] : [])))]
    const checked = points.filter(({ hash }) => hash !== undefined)
    expect(checked.length).toBeGreaterThan(14)
    for (const { name, block, time, hash } of checked) {
      const passed = time === undefined ? blocks.filter((each) => each <= (block ?? 0n)) : blocks
      const id = hexFromBytes(forkIdAt(genesis, { blocks: passed, times }, time ?? 0n))
      expect([name, id]).toEqual([name, hash])
    }
  })

  test('begins each fork when @ethereumjs/common does', () => {
    const hardforkAt = rulesOf(BigInt(chain.chainId), BLOCK, undefined)
    const lastBlock = steps.flatMap(({ block }) => block ?? []).at(-1) ?? 0n
    const rules = steps.filter(({ name }) => !NO_RULES.has(name))
    rules.forEach(({ name: step, block, time }, index) => {
      const next = rules[index + 1]
      // forks that begin together rule as the newest of them
      if (next !== undefined && startOf(next) === startOf({ block, time })) return
      const at = hardforkAt(block ?? lastBlock, time ?? 0n)
      expect([step, at]).toEqual([step, ownName(step)])
      const isLater = startOf({ block, time }) > 0n
      const before = hardforkAt(
        block === undefined ? lastBlock : block - 1n,
        time === undefined ? 0n : time - 1n,
      )
      if (isLater) expect([step, before]).not.toEqual([step, at])
    })
    const last = ownName(rules.at(-1)?.name ?? '')
    const ahead = AHEAD.get(name)
    expect(hardforkAt(lastBlock, ahead === undefined ? 2n ** 40n : ahead.time - 1n)).toBe(last)
    if (ahead !== undefined) expect(hardforkAt(lastBlock, ahead.time)).toBe(ahead.fork)
  })
})

/** Members of headers that came since london: networks of their own leave them out. */
const NEWER_MEMBERS = [
  'withdrawalsRoot',
  'withdrawals',
  'blobGasUsed',
  'excessBlobGas',
  'parentBeaconBlockRoot',
  'requestsHash',
  'blockAccessListHash',
  'slotNumber',
]

/** A network that does not say by which rules it goes, and whose headers are as those of london. */
async function startSilent(hardfork: Hardfork): Promise<Upstream> {
  const upstream = await startUpstream({ hardfork, chainId: 137 })
  upstream.faults.unknown.add('anvil_nodeInfo')
  upstream.faults.lie = ({ method }, result) =>
    method === 'eth_getBlockByNumber'
      ? Object.fromEntries(
          Object.entries(result as object).filter(([name]) => !NEWER_MEMBERS.includes(name)),
        )
      : result
  return upstream
}

test.each<[Hardfork, Hardfork]>([
  ['london', 'london'],
  ['shanghai', 'shanghai'],
  ['cancun', 'cancun'],
  ['prague', 'prague'],
  ['osaka', 'bpo2'],
  ['bpo2', 'bpo2'],
  ['amsterdam', 'amsterdam'],
])('a network with the unknown rules of %s is forked with those of %s', async (rules, expected) => {
  await using upstream = await startSilent(rules)
  await using fork = await forkOf(upstream)
  expect(await fork.ask('anvil_nodeInfo')).toMatchObject({ hardFork: expected })
})

test('a network whose EVM cannot be probed is forked with the rules of its headers', async () => {
  await using upstream = await startSilent('bpo2')
  upstream.faults.unknown.add('eth_call')
  await using fork = await forkOf(upstream)
  expect(await fork.ask('anvil_nodeInfo')).toMatchObject({ hardFork: 'london' })
})

test('a header proves newer rules than an EVM that has a part of them', async () => {
  await using upstream = await startUpstream({ hardfork: 'london', chainId: 999 })
  upstream.faults.unknown.add('anvil_nodeInfo')
  upstream.faults.lie = ({ method }, result) =>
    method === 'eth_getBlockByNumber' ? { ...(result as object), requestsHash: ZERO_HASH } : result
  await using fork = await forkOf(upstream)
  // a machine of london passes no question, so that the header alone decides
  expect(await fork.ask('anvil_nodeInfo')).toMatchObject({ hardFork: 'bpo2' })
})

test.each<[number, Hardfork]>([
  [0, 'prague'],
  [10, 'london'],
  [11, 'shanghai'],
  [20, 'cancun'],
  [32, 'cancun'],
  [40, 'prague'],
  [51, 'bpo2'],
])('blocks of Arbitrum with ArbOS version %i have the rules of %s', (version, expected) => {
  const words = [7, 23_000_000, version, 0].map((each) => each.toString(16).padStart(16, '0'))
  const mixHash = `0x${words.join('')}`
  const block = readBlock({
    number: '0x9',
    timestamp: '0x9',
    hash: ZERO_HASH,
    parentHash: ZERO_HASH,
    baseFeePerGas: '0x1',
    difficulty: '0x1',
    l1BlockNumber: '0x15ef3c0',
    mixHash,
  })
  expect(rulesOf(42_161n, block, undefined)(9n, 9n)).toBe(expected)
})

test('old blocks of a network without a schedule have the rules of their headers', () => {
  const block = (number: number, members: object) =>
    readBlock({
      number: `0x${number.toString(16)}`,
      timestamp: '0x9',
      hash: ZERO_HASH,
      parentHash: ZERO_HASH,
      ...members,
    })
  const london = { baseFeePerGas: '0x1', difficulty: '0x2' }
  const paris = { baseFeePerGas: '0x1' }
  const shanghai = { ...paris, withdrawalsRoot: ZERO_HASH }
  const cancun = { ...shanghai, blobGasUsed: '0x0', excessBlobGas: '0x0' }
  const prague = { ...cancun, requestsHash: ZERO_HASH }
  const amsterdam = { ...prague, blockAccessListHash: ZERO_HASH, slotNumber: '0x1' }
  const members = [{}, london, paris, shanghai, cancun, prague, amsterdam]
  const headers = members.map((each, number) => block(number, each).header)
  const fork = block(members.length, amsterdam)
  const hardforkAt = rulesOf(8_453n, fork, 'amsterdam', (number) => headers[Number(number)])
  const found = headers.map(({ number }) => hardforkAt(number, 9n))
  expect(found).toEqual([
    ...['berlin', 'london', 'paris', 'shanghai', 'cancun', 'bpo2', 'amsterdam'],
  ])
  expect(hardforkAt(8n, 9n)).toBe('amsterdam')
  // headers of the network never had the members
  const plain = rulesOf(137n, block(6, london), 'prague', (number) => headers[Number(number)])
  expect([plain(0n, 9n), plain(1n, 9n), plain(6n, 9n)]).toEqual(['berlin', 'prague', 'prague'])
})

test('old blocks of Arbitrum have the rules of their ArbOS version', () => {
  const block = (number: number, version: number) =>
    readBlock({
      number: `0x${number}`,
      timestamp: '0x9',
      hash: ZERO_HASH,
      parentHash: ZERO_HASH,
      l1BlockNumber: '0x1',
      mixHash: `0x${'0'.repeat(32)}${version.toString(16).padStart(16, '0')}${'0'.repeat(16)}`,
    })
  const hardforkAt = rulesOf(42_161n, block(9, 51), undefined, () => block(3, 20).header)
  expect([hardforkAt(3n, 9n), hardforkAt(9n, 9n)]).toEqual(['cancun', 'bpo2'])
})

/** Those whose blocks are read as ZKsync's. */
const OF_ZKSYNC = Object.values(chains).filter(({ formatters }) => {
  const { block } = (formatters ?? {}) as {
    readonly block?: { readonly format: (block: object) => object }
  }
  return block !== undefined && 'l1BatchNumber' in block.format({ transactions: [] })
})

test('every ZKsync network in viem is refused by name', () => {
  expect(OF_ZKSYNC.length).toBeGreaterThan(10)
  for (const { id } of OF_ZKSYNC) {
    const refused = (): void => requireEvm(BigInt(id), { isOfZksync: false })
    expect(refused).toThrow(/^fork: (?!a network)/)
  }
})

test('an unlisted ZKsync network is refused by its blocks', async () => {
  await using upstream = await startUpstream({ chainId: 123_456 })
  upstream.faults.lie = ({ method }, result) =>
    method === 'eth_getBlockByNumber' ? { ...(result as object), l1BatchNumber: null } : result
  await expect(forkOf(upstream)).rejects.toThrow(
    /a network made of ZKsync \(chain 123456\) cannot be forked: it runs bytecode of its own virtual machine/,
  )
})

test('a header with an access list proves the rules of amsterdam', async () => {
  await using upstream = await startUpstream({ hardfork: 'amsterdam', chainId: 137 })
  for (const method of ['anvil_nodeInfo', 'eth_call']) upstream.faults.unknown.add(method)
  await using fork = await forkOf(upstream)
  expect(await fork.ask('anvil_nodeInfo')).toMatchObject({ hardFork: 'amsterdam' })
})
