// A chain that is no fork loads nothing of forks.
import { expect, test, vi } from 'vitest'
import { createDevchain } from '../../../src/devchain.ts'

vi.mock('../../../src/fork/door.ts', () => {
  throw new Error('forks were loaded')
})

test('a chain without --fork loads no file of src/fork', async () => {
  await using devchain = await createDevchain()
  const ask = (method: string, ...params: readonly unknown[]): Promise<unknown> =>
    devchain.request({ method, params })
  const [from] = (await ask('eth_accounts')) as readonly string[]
  await ask('eth_sendTransaction', { from, to: from, value: '0x1' })
  await ask('hardhat_reset')
  await ask('hardhat_mine', '0x3')
  expect(await ask('eth_getLogs', { fromBlock: '0x0' })).toEqual([])
  expect(await ask('devchain_forkInfo')).toBeNull()
  await expect(createDevchain({ fork: 'http://127.0.0.1:1' })).rejects.toThrow(/vi\.mock/)
})
