// What a method changes decides how it is run on a fork: nothing that has an effect is done on a guess.
import { expect, test } from 'vitest'
import { reach } from '../../../src/fork/door.ts'
import { missed } from '../../../src/fork/network/gather.ts'
import { methods } from '../../../src/methods/index.ts'
import type { MissSource } from '../../../src/state/misses.ts'

/** Runs work as a method that needs a hash of the network; how often it went on past that. */
async function timesDone(name: string): Promise<number> {
  const method = methods.find((each) => each.name === name)!
  let isKnown = false
  let done = 0
  const source: MissSource = {
    fetch: async () => {
      isKnown = true
    },
  }
  const context = { chain: { state: { config: {} } } }
  await reach(context as never, method, [], () => {
    if (!isKnown) missed({ kind: 'hash', number: 1n }, source)
    done += 1
    return null
  })
  return done
}

test.each([
  'eth_getFilterChanges',
  'eth_newFilter',
  'eth_subscribe',
  'eth_sendTransaction',
  'evm_snapshot',
  'mnr_getWork',
  'devchain_label',
])('%s runs once, after all its state is fetched', async (name) => {
  expect(await timesDone(name)).toBe(1)
})

test('a method without effects continues with guesses, to find what else it needs', async () => {
  expect(await timesDone('eth_call')).toBe(2)
})
