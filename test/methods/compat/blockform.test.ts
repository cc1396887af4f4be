// Blocks in each node's form: what is null while they are pending, and whether difficulties are summed.
import { BrowserProvider } from 'ethers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createDevchain, type Devchain, type DevchainOptions } from '../../../src/devchain.ts'

type Block = Readonly<Record<string, unknown>>

const SUMS = ['totalDifficulty', 'cumulativeDifficulty']

async function open(options: DevchainOptions): Promise<Devchain> {
  const devchain = await createDevchain(options)
  onTestFinished(() => devchain.close())
  return devchain
}

const blockAt = (devchain: Devchain, tag: string): Promise<Block> =>
  devchain.request({ method: 'eth_getBlockByNumber', params: [tag, false] }) as Promise<Block>

const nullsOf = (block: Block): string[] => Object.keys(block).filter((key) => block[key] === null)

describe.each<[DevchainOptions, nulls: string[], sums: string[]]>([
  [{}, ['number', 'hash', 'logsBloom', 'nonce'], SUMS],
  [{ compat: 'geth' }, ['hash', 'miner', 'nonce'], []],
  [{ compat: 'anvil' }, [], SUMS],
  [{ compat: 'hardhat' }, ['number', 'mixHash', 'nonce'], SUMS],
  [{ compat: 'ganache' }, [], SUMS],
])('with %j', (options, nulls, sums) => {
  test('the pending block omits the fields that the node omits', async () => {
    const devchain = await open(options)
    expect(nullsOf(await blockAt(devchain, 'pending'))).toEqual(nulls)
    expect(nullsOf(await blockAt(devchain, 'latest'))).toEqual([])
  })

  test('either every block has the total difficulty or none has it', async () => {
    const devchain = await open({ ...options, difficulty: 1, hardfork: 'prague' })
    for (const tag of ['pending', 'latest', 'earliest']) {
      const block = await blockAt(devchain, tag)
      expect(SUMS.filter((key) => key in block)).toEqual(sums)
    }
  })
})

test.each<DevchainOptions>([{ compat: 'geth' }, { compat: 'anvil' }])(
  'with %j ethers reads the pending block',
  async (options) => {
    const devchain = await open(options)
    const provider = new BrowserProvider({
      request: ({ method, params = [] }: { method: string; params?: unknown }) =>
        devchain.request({ method, params: params as readonly unknown[] }),
    })
    onTestFinished(() => provider.destroy())
    expect((await provider.getBlock('pending'))?.number).toBe(1)
  },
)
