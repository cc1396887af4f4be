// The rules that a chain reports, present and future.
import { describe, expect, test } from 'vitest'
import { hexFromBytes } from '../../../../src/core/hex.ts'
import { mine } from '../../../../src/node/commands/mine.ts'
import { forkConfigsOf } from '../../../../src/node/ledger/forkconfig.ts'
import { parseGenesis } from '../../../../src/state/genesis.ts'
import { testChain } from '../chains.ts'

const BLOCKS = Object.fromEntries(
  [
    'homestead',
    'eip150',
    'eip155',
    'eip158',
    'byzantium',
    'constantinople',
    'petersburg',
    'istanbul',
    'berlin',
    'london',
    'mergeNetsplit',
  ].map((name) => [`${name}Block`, 0]),
)

describe('the rules of a chain', () => {
  test('without a schedule are one set for all blocks', async () => {
    const { current, next, last } = forkConfigsOf((await testChain()).state)
    expect([next, last]).toEqual([undefined, undefined])
    expect(current).toMatchObject({
      activationTime: 0n,
      chainId: 33n,
      blobRules: { target: 14n, max: 21n },
    })
    expect(current.forkId).toHaveLength(4)
    expect(current.precompiles.get('P256VERIFY')).toBe(`0x${'100'.padStart(40, '0')}`)
    expect([...current.systemContracts.keys()]).toHaveLength(5)
  })

  test('omit blobs and system contracts before cancun', async () => {
    const { current } = forkConfigsOf((await testChain({ hardfork: 'london' })).state)
    expect(current.blobRules).toBeUndefined()
    expect(current.systemContracts.size).toBe(0)
    expect(current.precompiles.size).toBe(9)
  })

  test('change with time: next becomes current, and last is the end of the schedule', async () => {
    const genesis = parseGenesis({
      config: {
        chainId: 7,
        ...BLOCKS,
        shanghaiTime: 0,
        cancunTime: 2_000,
        pragueTime: 3_000,
        osakaTime: 4_000,
        depositContractAddress: `0x${'de'.repeat(20)}`,
      },
      timestamp: '0x3e8',
      gasLimit: '0x1c9c380',
      difficulty: '0x1',
      alloc: {},
    })
    const chain = await testChain({ genesis, clock: { kind: 'frozen' } })
    const mineAt = (timestamp: bigint): Promise<unknown> =>
      chain.update((state) => mine(chain.executor, state, { now: 0, timestamp }))
    const times = (): unknown[] => {
      const { current, next, last } = forkConfigsOf(chain.state)
      return [current, next, last].map((each) => each?.activationTime)
    }
    const before = forkConfigsOf(chain.state)
    expect(times()).toEqual([0n, 2_000n, 4_000n])
    expect([
      before.current.blobRules,
      before.next?.blobRules?.target,
      before.last?.blobRules?.target,
    ]).toEqual([undefined, 3n, 6n])
    expect([...before.next!.systemContracts.keys()]).toEqual(['BEACON_ROOTS_ADDRESS'])
    expect(before.last?.systemContracts.get('DEPOSIT_CONTRACT_ADDRESS')).toBe(
      `0x${'de'.repeat(20)}`,
    )
    await mineAt(2_500n)
    expect(times()).toEqual([2_000n, 3_000n, 4_000n])
    const { current } = forkConfigsOf(chain.state)
    expect(hexFromBytes(current.forkId)).toBe(hexFromBytes(before.next!.forkId))
    expect(hexFromBytes(current.forkId)).not.toBe(hexFromBytes(before.current.forkId))
    await mineAt(4_000n)
    expect(times()).toEqual([4_000n, undefined, undefined])
  })
})
