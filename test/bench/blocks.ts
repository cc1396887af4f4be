// What a change of the trie, a block and a snapshot cost, in small and large chains: micro-benchmarks of the state.
import { setImmediate } from 'node:timers/promises'
import type { Address } from '../../src/core/hex.ts'
import { addresses } from '../../src/node/accounts/accounts.ts'
import { type Chain, systemEnvironment } from '../../src/node/chain/chain.ts'
import { mine } from '../../src/node/commands/mine.ts'
import { revertTo, takeSnapshot } from '../../src/node/commands/snapshots.ts'
import { createChain } from '../../src/node/create.ts'
import { sendTransaction } from '../../src/node/sending/send.ts'
import { parseGenesis } from '../../src/state/genesis.ts'
import { addressKey } from '../../src/state/keys.ts'
import {
  emptyAccount,
  emptyWorld,
  stateRoot,
  type World,
  withAccounts,
  withBalance,
} from '../../src/state/world.ts'
import { eachOf, type Figure, timed } from './measure.ts'

/** All figures, one after another: half a minute. */
export async function* blockFigures(): AsyncIterableIterator<Figure> {
  for (const accounts of [20, 10_000, 100_000]) yield await trieFigure(accounts)
  yield* emptyBlocks()
  for (const accounts of [20, 100_000]) yield await transferFigure(accounts)
  yield await snapshotFigure()
  yield await bulkFigure()
}

/** One account changed, and the root. */
async function trieFigure(accounts: number): Promise<Figure> {
  let world = crowd(accounts)
  stateRoot(world)
  const value = await eachOf((index) => {
    // a prime, so that the accounts follow each other as if by chance
    world = withBalance(world, addressAt((7919 * index) % accounts), BigInt(index + 2))
    stateRoot(world)
  })
  return { name: `one account of ${accounts} changed, and the root`, value, unit: 'µs' }
}

/** Empty blocks at the beginning of a chain, and after 50,000. */
async function* emptyBlocks(): AsyncIterableIterator<Figure> {
  const chain = await createChain()
  // the code is compiled as it runs: a chain of its own for that
  await mineOneByOne(await createChain(), 5000)
  await mineOneByOne(chain, 4)
  yield {
    name: 'an empty block after 5',
    value: await eachOf(() => mineMany(chain, 1n)),
    unit: 'µs',
  }
  const before = await memoryUsed()
  await mineOneByOne(chain, 50_000)
  const value = ((await memoryUsed()) - before) / 50_000
  yield { name: 'memory of an empty block', value, unit: 'bytes' }
  const late = await eachOf(() => mineMany(chain, 1n))
  yield { name: 'an empty block after 50,000', value: late, unit: 'µs' }
}

/** A transfer in a block of its own, sent and signed here. */
async function transferFigure(accounts: number): Promise<Figure> {
  const alloc = Object.fromEntries(
    Array.from({ length: accounts }, (_, index) => [addressAt(index), { balance: '1' }]),
  )
  const chain = await createChain({ genesis: parseGenesis({ alloc }), accounts: 1 })
  const [from] = addresses(chain.state.accounts)
  let sent = 0
  const send = async (): Promise<void> => {
    sent += 1
    await sendTransaction(chain, { from: from!, to: addressAt(sent % accounts), value: 1n })
  }
  const value = await eachOf(send)
  return { name: `a transfer among ${accounts} accounts, with its block`, value, unit: 'µs' }
}

async function snapshotFigure(): Promise<Figure> {
  const chain = await createChain()
  const cycle = async (): Promise<void> => {
    const id = await chain.update(takeSnapshot)
    await chain.update((state) => revertTo(state, id))
  }
  return { name: 'a snapshot and its revert', value: await eachOf(cycle), unit: 'µs' }
}

async function bulkFigure(): Promise<Figure> {
  const chain = await createChain()
  const times: number[] = []
  for (let round = 0; round < 3; round++) {
    times.push(await timed(() => mineMany(chain, 100_000n)))
  }
  return { name: '100,000 empty blocks at once', value: Math.min(...times), unit: 'ms' }
}

async function mineOneByOne(chain: Chain, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await mineMany(chain, 1n)
}

function mineMany(chain: Chain, blocks: bigint): Promise<unknown> {
  const now = systemEnvironment.now()
  const { bulk } = chain.execution
  return chain.update((state) => mine(chain.executor, state, { now, blocks, bulk }))
}

function crowd(accounts: number): World {
  const all = Array.from({ length: accounts }, (_, index) => addressAt(index))
  return withAccounts(
    emptyWorld,
    all.map((address) => ({
      key: addressKey(address),
      value: { ...emptyAccount(address), balance: 1n },
    })),
  )
}

function addressAt(index: number): Address {
  return `0x${(index + 0x10_000).toString(16).padStart(40, '0')}` as Address
}

/** Bytes of values and of buffers, after what nobody holds is gone. Buffers go in the turn after their owners. */
async function memoryUsed(): Promise<number> {
  if (globalThis.gc === undefined) throw new Error('memory is measured under node --expose-gc only')
  for (let turn = 0; turn < 3; turn++) {
    globalThis.gc()
    await setImmediate()
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
