// What is asked of a pool with many waiting transactions is answered in turns.
import { expect, test } from 'vitest'
import { createDevchain } from '../../../src/devchain.ts'
import { countTurns, slowClock } from '../../support/waiting/turns.ts'
import { ALICE } from '../../support/wire/stage.ts'

const COUNT = 800

type Half = Record<string, unknown>

/** The nonces in a half of the pool. */
const noncesOf = (half: Half | undefined): string[] => Object.keys(half ?? {})

test.each([
  { method: 'txpool_content', nonces: (half: Half) => noncesOf(half[ALICE] as Half) },
  { method: 'txpool_inspect', nonces: (half: Half) => noncesOf(half[ALICE] as Half) },
  { method: 'txpool_contentFrom', params: [ALICE], nonces: noncesOf },
  { method: 'eth_pendingTransactions' },
])('$method lets other work go on beside a large pool', async ({ method, params = [], nonces }) => {
  await using devchain = await createDevchain({ noMining: true, noArtifacts: true })
  const ask = (name: string, ...given: unknown[]) =>
    devchain.request({ method: name, params: given })
  const send = (nonce: number) =>
    ask('eth_sendTransaction', {
      from: ALICE,
      to: ALICE,
      gas: '0x5208',
      nonce: `0x${nonce.toString(16)}`,
    })
  for (let nonce = 0; nonce < COUNT; nonce++) await send(nonce)
  await send(COUNT + 1)
  using _time = slowClock(10)
  using others = countTurns()
  const answer = await ask(method, ...params)
  expect(others.count()).toBeGreaterThan(1)
  if (nonces === undefined) {
    expect(answer).toHaveLength(COUNT)
    return
  }
  const { pending, queued } = answer as { readonly pending: Half; readonly queued: Half }
  expect(nonces(pending)).toEqual(Array.from({ length: COUNT }, (_, nonce) => `${nonce}`))
  expect(nonces(queued)).toEqual([`${COUNT + 1}`])
})
