// What chains cost: an unchanged one next to nothing, a used one what its blocks cost, a dropped one nothing.
import { expect, test } from 'vitest'
import { type BranchedChain, createDevchain, type Devchain } from '../../src/devchain.ts'
import { usedBytes } from '../support/process/memory.ts'

async function make(devchain: Devchain, count: number): Promise<readonly BranchedChain[]> {
  const chains: BranchedChain[] = []
  for (let i = 0; i < count; i++) chains.push(await devchain.branch())
  return chains
}

async function send(
  { request, accounts: [one, two] }: BranchedChain,
  count: number,
): Promise<void> {
  const transfer = { from: one!.address, to: two!.address, value: '0x1', gas: '0x5208' }
  for (let i = 0; i < count; i++) {
    await request({ method: 'eth_sendTransaction', params: [transfer] })
  }
}

const dropAll = (chains: readonly BranchedChain[]): Promise<unknown> =>
  Promise.all(chains.map(({ close }) => close()))

test('a thousand chains cost under 50 kB each, and a dropped one gives back what it took', async () => {
  await using devchain = await createDevchain({ noArtifacts: true })
  // whatever is loaded or compiled on first use
  for (let i = 0; i < 3; i++) {
    const warm = await make(devchain, 100)
    await send(warm[0]!, 50)
    await dropAll(warm)
  }
  const before = usedBytes()
  const costOfEach = async (): Promise<number> => {
    const chains = await make(devchain, 1_000)
    const cost = (usedBytes() - before) / 1_000
    await dropAll(chains)
    return cost
  }
  expect(await costOfEach()).toBeLessThan(50_000)
  expect(usedBytes() - before).toBeLessThan(1_000_000)
})

test('fifty transactions cost as much on a chain at a path as on the default chain', async () => {
  await using devchain = await createDevchain({ noArtifacts: true })
  const defaultChain = { ...devchain, name: '', path: '/' } as BranchedChain
  const costOf = async (work: () => Promise<void>): Promise<number> => {
    const before = usedBytes()
    await work()
    return usedBytes() - before
  }
  const [warm] = await make(devchain, 1)
  await send(warm!, 500)
  const chains = await make(devchain, 20)
  const each = await costOf(async () => {
    for (const chain of chains) await send(chain, 50)
  })
  const alone = await costOf(() => send(defaultChain, 1_000))
  expect(each).toBeLessThan(1.5 * alone)
  await dropAll(chains)
})

test('the memory that is listed for a chain is about what it takes', async () => {
  await using devchain = await createDevchain({ noArtifacts: true })
  const listed = async ({ name }: BranchedChain): Promise<number> =>
    (await devchain.chains()).find((each) => each.name === name)!.memory
  const [warm] = await make(devchain, 1)
  await send(warm!, 500)
  const before = usedBytes()
  const [chain] = await make(devchain, 1)
  expect(await listed(chain!)).toBe(0)
  await send(chain!, 1_000)
  const taken = usedBytes() - before
  expect(await listed(chain!)).toBeGreaterThan(taken / 2)
  expect(await listed(chain!)).toBeLessThan(2 * taken)
})
