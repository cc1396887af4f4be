// Waiting for a transaction's block, and finding a transaction by its sender and nonce.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Chain } from '../../../../src/node/chain/chain.ts'
import { mine } from '../../../../src/node/commands/mine.ts'
import { setMiningMode } from '../../../../src/node/commands/miningmode.ts'
import { reset, revertTo, takeSnapshot } from '../../../../src/node/commands/snapshots.ts'
import { inclusionOf, sentWithNonce } from '../../../../src/node/sending/inclusion.ts'
import { sendRawTransaction } from '../../../../src/node/sending/send.ts'
import { account, signed, testChain } from '../chains.ts'

/** A chain that mines on request. */
async function patientChain(): Promise<Chain> {
  const chain = await testChain()
  await chain.update((state) => setMiningMode(chain.executor, state, { kind: 'manual' }, 0))
  return chain
}

const mineOne = (chain: Chain): Promise<unknown> =>
  chain.update((state) => mine(chain.executor, state, { now: chain.environment.now() }))

describe('waiting for a transaction', () => {
  test('ends at once if it is in a block', async () => {
    const chain = await testChain()
    const hash = await sendRawTransaction(chain, signed(chain).raw)
    const place = await inclusionOf(chain, hash, 1)
    expect(place.record.block.transactions[place.index]?.hash).toBe(hash)
  })

  test('ends with the block that includes it, and not before', async () => {
    const chain = await patientChain()
    const hash = await sendRawTransaction(chain, signed(chain).raw)
    let place: Awaited<ReturnType<typeof inclusionOf>> | undefined
    const waiting = inclusionOf(chain, hash, 10_000).then((found) => {
      place = found
    })
    await sendRawTransaction(chain, signed(chain, { index: 1 }).raw)
    expect(place).toBeUndefined()
    await mineOne(chain)
    await waiting
    expect(place?.record.block.header.number).toBe(1n)
  })

  test('ends in an error with the hash after the timeout', async () => {
    const chain = await patientChain()
    const hash = await sendRawTransaction(chain, signed(chain).raw)
    const error = {
      word: 'NOT_MINED_IN_TIME',
      data: hash,
      message: expect.stringContaining('1 milliseconds'),
    }
    await expect(inclusionOf(chain, hash, 1)).rejects.toMatchObject(error)
  })

  test('ends with the reason when the transaction is dropped', async () => {
    const chain = await patientChain()
    const worth = 10n ** 22n
    const [first, second] = [
      signed(chain, { value: worth - 1n, to: account(chain, 1) }),
      signed(chain, { nonce: 1n, value: 2n }),
    ]
    await sendRawTransaction(chain, first.raw)
    const hash = await sendRawTransaction(chain, second.raw)
    const waiting = expect(inclusionOf(chain, hash, 10_000)).rejects.toMatchObject({
      word: 'INSUFFICIENT_FUNDS',
    })
    await mineOne(chain)
    await waiting
  })

  test('removes its listener, however it ends', async () => {
    const chain = await patientChain()
    const onChange = chain.onChange.bind(chain)
    let open = 0
    chain.onChange = (listener) => {
      open += 1
      const stop = onChange(listener)
      return () => {
        open -= 1
        stop()
      }
    }
    const hash = await sendRawTransaction(chain, signed(chain).raw)
    await expect(inclusionOf(chain, hash, 1)).rejects.toThrow()
    expect(open).toBe(0)
    const waiting = inclusionOf(chain, hash, 10_000)
    expect(open).toBe(1)
    await mineOne(chain)
    await waiting
    expect(open).toBe(0)
  })
})

describe('a transaction by sender and nonce', () => {
  test('is found in block or pool like by a full search, also after a revert', async () => {
    const step = fc.oneof(
      { weight: 5, arbitrary: fc.record({ kind: fc.constant('send' as const), index: fc.nat(2) }) },
      { weight: 2, arbitrary: fc.constant({ kind: 'mine' as const }) },
      { weight: 1, arbitrary: fc.constant({ kind: 'snapshot' as const }) },
      { weight: 1, arbitrary: fc.constant({ kind: 'revert' as const }) },
      { weight: 1, arbitrary: fc.constant({ kind: 'reset' as const }) },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20, size: 'max' }), async (steps) => {
        const chain = await patientChain()
        for (const each of steps) {
          if (each.kind === 'send') {
            const { index } = each
            const found = [0n, 1n, 2n, 3n, 4n, 5n, 6n].find(
              (nonce) => sentWithNonce(chain.state, account(chain, index), nonce) === undefined,
            )
            if (found !== undefined)
              await sendRawTransaction(chain, signed(chain, { index, nonce: found }).raw)
          } else if (each.kind === 'mine') await mineOne(chain)
          else if (each.kind === 'snapshot') await chain.update(takeSnapshot)
          else if (each.kind === 'revert')
            await chain.update((state) => revertTo(state, state.nextSnapshotId - 1))
          else await chain.update(reset)
        }
        const { tree, pool } = chain.state
        const mined = [...tree.canonical.values(0)].flatMap(({ block }) => block.transactions)
        const waiting = [...pool.byHash.entries()].map(([, { transaction }]) => transaction)
        for (const { hash, from, nonce } of mined) {
          const place = sentWithNonce(chain.state, from, nonce)?.place
          expect(place?.record.block.transactions[place.index]?.hash).toBe(hash)
        }
        for (const { hash, from, nonce } of waiting) {
          expect(sentWithNonce(chain.state, from, nonce)?.waiting?.hash).toBe(hash)
        }
        expect(sentWithNonce(chain.state, account(chain, 0), 99n)).toBeUndefined()
      }),
      { numRuns: 30, seed: 11 },
    )
  })
})
