// Searches for the transactions of an account.
import { expect, test } from 'vitest'
import { findAppearances } from '../../../../src/node/calls/appearances.ts'
import { TraceBudget } from '../../../../src/node/calls/replay.ts'
import { account, testChain } from '../chains.ts'

test('findAppearances ends once its client is gone', async () => {
  const chain = await testChain()
  const wanted = { from: 0n, step: 1n, count: 1 } as const
  const search = (aborted: boolean): ReturnType<typeof findAppearances> =>
    findAppearances(chain, account(chain, 0), wanted, new TraceBudget(1_000), { aborted })
  expect(await search(false)).toEqual({ places: [], isComplete: true })
  await expect(search(true)).rejects.toThrow(expect.objectContaining({ word: 'CANCELLED' }))
})
