// The schedules of known networks, held against what another library has of them, and that against its fork hashes.
import { type ChainConfig, Hoodi, Mainnet, Sepolia } from '@ethereumjs/common'
import { describe, expect, test } from 'vitest'
import { type Hash, hexFromBytes, ZERO_HASH } from '../../../src/core/hex.ts'
import { readBlock } from '../../../src/fork/network/header.ts'
import { rulesOf } from '../../../src/fork/network/rules.ts'
import { forkIdAt } from '../../../src/protocol/forkid.ts'
import { HARDFORKS, type Hardfork } from '../../../src/protocol/forks.ts'

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

describe.each(NETWORKS)('the schedule of %s', (_, chain, genesis) => {
  const steps = stepsOf(chain)

  test('has the fork hashes of EIP-2124 in the library that it is held against', () => {
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

  test('begins each fork where that library has it begin, and not before', () => {
    const hardforkAt = rulesOf(BigInt(chain.chainId), BLOCK, undefined)
    const lastBlock = steps.flatMap(({ block }) => block ?? []).at(-1) ?? 0n
    const rules = steps.filter(({ name }) => !NO_RULES.has(name))
    rules.forEach(({ name, block, time }, index) => {
      const next = rules[index + 1]
      // forks that begin together rule as the newest of them
      if (next !== undefined && startOf(next) === startOf({ block, time })) return
      const at = hardforkAt(block ?? lastBlock, time ?? 0n)
      expect([name, at]).toEqual([name, ownName(name)])
      const isLater = startOf({ block, time }) > 0n
      const before = hardforkAt(
        block === undefined ? lastBlock : block - 1n,
        time === undefined ? 0n : time - 1n,
      )
      if (isLater) expect([name, before]).not.toEqual([name, at])
    })
    expect(hardforkAt(lastBlock, 2n ** 40n)).toBe(ownName(rules.at(-1)?.name ?? ''))
  })
})
