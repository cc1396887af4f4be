// Fork ids of the main network, as EIP-2124 and other nodes have them.
import { describe, expect, test } from 'vitest'
import { type Hash, hexFromBytes } from '../../../src/core/hex.ts'
import { forkIdAt, forkPointsOf } from '../../../src/protocol/forkid.ts'

const GENESIS = '0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3' as Hash

/** The main network's own: names as in geth's genesis files. */
const MAINNET = {
  chainId: 1,
  homesteadBlock: 1_150_000,
  daoForkBlock: 1_920_000,
  daoForkSupport: true,
  eip150Block: 2_463_000,
  eip155Block: 2_675_000,
  eip158Block: 2_675_000,
  byzantiumBlock: 4_370_000,
  constantinopleBlock: 7_280_000,
  petersburgBlock: 7_280_000,
  istanbulBlock: 9_069_000,
  muirGlacierBlock: 9_200_000,
  berlinBlock: 12_244_000,
  londonBlock: 12_965_000,
  arrowGlacierBlock: 13_773_000,
  grayGlacierBlock: 15_050_000,
  terminalTotalDifficulty: '58750000000000000000000',
  shanghaiTime: 1_681_338_455,
  cancunTime: 1_710_338_135,
  pragueTime: 1_746_612_311,
}

describe('a fork id', () => {
  test.each([
    { name: 'before any fork', upTo: 'chainId', id: '0xfc64ec04' },
    { name: 'homestead', upTo: 'homesteadBlock', id: '0x97c2c34c' },
    { name: 'the DAO fork', upTo: 'daoForkBlock', id: '0x91d1f948' },
    { name: 'tangerineWhistle', upTo: 'eip150Block', id: '0x7a64da13' },
    { name: 'spuriousDragon, named twice', upTo: 'eip158Block', id: '0x3edd5b10' },
    { name: 'byzantium', upTo: 'byzantiumBlock', id: '0xa00bc324' },
    { name: 'petersburg', upTo: 'petersburgBlock', id: '0x668db0af' },
    { name: 'istanbul', upTo: 'istanbulBlock', id: '0x879d6e30' },
    { name: 'muirGlacier', upTo: 'muirGlacierBlock', id: '0xe029e991' },
    { name: 'berlin', upTo: 'berlinBlock', id: '0x0eb440f6' },
    { name: 'london', upTo: 'londonBlock', id: '0xb715077d' },
    { name: 'arrowGlacier', upTo: 'arrowGlacierBlock', id: '0x20c327fc' },
    { name: 'grayGlacier', upTo: 'grayGlacierBlock', id: '0xf0afd0e3' },
  ])('of mainnet at $name is $id', ({ upTo, id }) => {
    const entries = Object.entries(MAINNET)
    const config = Object.fromEntries(
      entries.slice(0, entries.findIndex(([key]) => key === upTo) + 1),
    )
    expect(hexFromBytes(forkIdAt(GENESIS, forkPointsOf(config, 0n), 0n))).toBe(id)
  })

  test.each([
    { time: 1_681_338_454n, id: '0xf0afd0e3' },
    { time: 1_681_338_455n, id: '0xdce96c2d' },
    { time: 1_710_338_135n, id: '0x9f3d2254' },
    { time: 1_746_612_311n, id: '0xc376cf8b' },
  ])('of mainnet is $id at $time', ({ time, id }) => {
    expect(hexFromBytes(forkIdAt(GENESIS, forkPointsOf(MAINNET, 0n), time))).toBe(id)
  })

  test('ignores forks that begin with the genesis', () => {
    const config = {
      londonBlock: 0,
      shanghaiTime: 1_000,
      cancunTime: '0x3e8',
      pragueTime: null,
      note: 'x',
    }
    expect(forkPointsOf(config, 1_000n)).toEqual({ blocks: [], times: [] })
    expect(forkPointsOf(config, 999n)).toEqual({ blocks: [], times: [1_000n] })
  })
})
