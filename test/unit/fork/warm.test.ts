// A fork of a block that was forked before asks nothing of what it read then: whatever names what it needs is kept too.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  deployKeeper,
  type Fork,
  forkOf,
  setting,
  startUpstream,
  word,
} from '../../support/fork/upstream.ts'

let folder = ''
const cacheHome = process.env.XDG_CACHE_HOME

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'devchain-warm-'))
  process.env.XDG_CACHE_HOME = folder
})

afterEach(() => {
  if (cacheHome === undefined) delete process.env.XDG_CACHE_HOME
  else process.env.XDG_CACHE_HOME = cacheHome
  rmSync(folder, { recursive: true, force: true })
})

/** Calls and estimates of each account, one after another. */
async function burst({ ask }: Fork, to: string): Promise<readonly unknown[]> {
  const answers: unknown[] = []
  for (const [index, from] of ((await ask('eth_accounts')) as string[]).entries()) {
    answers.push(await ask('eth_call', { to, data: `0x${word(1000 * (index + 1))}` }))
    answers.push(await ask('eth_estimateGas', { from, to, data: setting(index, 7) }))
  }
  return answers
}

describe.each([false, true])('the fork cache with proofs: %s', (forkProofs) => {
  test('lets a second process request only the newest block, and nothing for calls and estimates', async () => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    const run = async (): Promise<readonly unknown[]> => {
      await using fork = await forkOf(upstream, { noForkCache: false, forkProofs })
      const begun = upstream.requests.length
      const answers = await burst(fork, keeper)
      return [upstream.requests.length - begun, ...answers]
    }
    const [asked, ...cold] = await run()
    expect(asked).toBeGreaterThan(0)
    expect(await run()).toEqual([0, ...cold])
  })
})

test('a request fetches an item once, even if a trace returns it meanwhile', async () => {
  await using upstream = await startUpstream()
  const keeper = await deployKeeper(upstream)
  await using fork = await forkOf(upstream)
  const begun = upstream.requests.length
  await fork.ask('eth_call', { to: keeper, data: `0x${word(5)}` })
  const asked = upstream.requests.slice(begun).flat()
  const keys = asked.map(({ method, params }) => JSON.stringify([method, params]))
  expect(keys).toEqual([...new Set(keys)])
})
