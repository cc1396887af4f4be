// Chains at paths of a devchain that forks: they share what is fetched, and keep their fork when the default chain leaves it.
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { SharedFork } from '../../src/app/keeping/keptforks.ts'
import { createDevchain, type Devchain } from '../../src/devchain.ts'
import { call, post, result } from '../support/wire/testserver.ts'

const account = (index: number): string => `0x${index.toString(16).padStart(40, 'a')}`

/** A network whose accounts have balances of their own. */
async function network(chainId: number, wei: number): Promise<Devchain & { readonly url: string }> {
  const devchain = await createDevchain({ port: 0, chainId, noArtifacts: true })
  for (let i = 0; i < 6; i++) {
    await devchain.request({ method: 'hardhat_setBalance', params: [account(i), `0x${wei}`] })
  }
  await devchain.request({ method: 'evm_mine' })
  return { ...devchain, url: (await devchain.listen()).url }
}

let first: Awaited<ReturnType<typeof network>>
let second: Awaited<ReturnType<typeof network>>

beforeAll(async () => {
  first = await network(1, 1)
  second = await network(2, 2)
})
afterAll(async () => {
  await first.close()
  await second.close()
})

test('chains at paths fork what the default chain forked, and ask the network once for all', async () => {
  await using devchain = await createDevchain({
    fork: first.url,
    noForkCache: true,
    noArtifacts: true,
  })
  const [alice, bob] = [await devchain.branch('alice'), await devchain.branch('bob')]
  const balance = (of: Pick<Devchain, 'request'>, index: number): Promise<unknown> =>
    of.request({ method: 'eth_getBalance', params: [account(index), 'latest'] })
  const asked = async (): Promise<unknown> => {
    const info = await devchain.request({ method: 'devchain_forkInfo' })
    return (info as { readonly itemsAsked: number }).itemsAsked
  }
  expect(await balance(alice, 0)).toBe('0x1')
  const before = await asked()
  expect(await balance(bob, 0)).toBe('0x1')
  expect(await balance(devchain, 0)).toBe('0x1')
  expect(await asked()).toBe(before)
  await alice.request({ method: 'hardhat_setBalance', params: [account(1), '0x7'] })
  expect([await balance(alice, 1), await balance(bob, 1)]).toEqual(['0x7', '0x1'])

  await devchain.request({
    method: 'hardhat_reset',
    params: [{ forking: { jsonRpcUrl: second.url } }],
  })
  await devchain.request({
    method: 'hardhat_reset',
    params: [{ forking: { jsonRpcUrl: second.url } }],
  })
  await devchain.request({ method: 'hardhat_reset', params: [] })
  // what no chain has fetched yet
  expect(await balance(bob, 2)).toBe('0x1')
  await alice.close()
  await bob.request({ method: 'evm_mine' })
  expect(await balance(bob, 3)).toBe('0x1')
  // a chain that is made now still begins where the default chain began
  const carol = await devchain.branch('carol')
  expect(await balance(carol, 4)).toBe('0x1')
  await bob.request({ method: 'hardhat_reset', params: [{ forking: { jsonRpcUrl: second.url } }] })
  expect([await balance(bob, 5), await balance(carol, 5)]).toEqual(['0x2', '0x1'])
})

test('chains begin with the first fork even if nobody has used it since the default chain left it', async () => {
  await using devchain = await createDevchain({
    fork: first.url,
    noForkCache: true,
    noArtifacts: true,
  })
  for (let i = 0; i < 3; i++) {
    const forking = { jsonRpcUrl: second.url }
    await devchain.request({ method: 'hardhat_reset', params: [{ forking }] })
  }
  const branch = await devchain.branch()
  const balance = { method: 'eth_getBalance', params: [account(0), 'latest'] }
  expect([await branch.request(balance), await devchain.request(balance)]).toEqual(['0x1', '0x2'])
})

test('a chain may fork a network of its own', async () => {
  await using devchain = await createDevchain({ noArtifacts: true })
  const options = { fork: second.url, noForkCache: true, chainId: 'remote' as const }
  const fork = await devchain.branch('fork', { options })
  const balance = { method: 'eth_getBalance', params: [account(0), 'latest'] }
  expect([await fork.request(balance), await devchain.request(balance)]).toEqual(['0x2', '0x0'])
  expect(await fork.request({ method: 'eth_chainId' })).toBe('0x2')
})

test('a chain that began as a fork of its own goes on after a restart when that chain was dropped', async () => {
  await using devchain = await createDevchain({ port: 0, noArtifacts: true })
  const { url } = await devchain.listen()
  const options = { fork: second.url, noForkCache: true }
  const fork = await devchain.branch('fork', { options })
  const branch = await devchain.branch('branch', { from: 'fork' })
  await fork.close()
  await fetch(`${url}/branch/restart`, { method: 'POST' })
  const balance = { method: 'eth_getBalance', params: [account(0), 'latest'] }
  expect(await branch.request(balance)).toBe('0x2')
})

test('a chain that is refused because there are as many as allowed holds no fork open', async () => {
  await using devchain = await createDevchain({
    fork: first.url,
    maxChains: 1,
    noForkCache: true,
    noArtifacts: true,
  })
  const options = { fork: second.url, noForkCache: true }
  await using fork = await devchain.branch('fork', { options })
  const [joined, left] = (['join', 'leave'] as const).map((name) =>
    vi.spyOn(SharedFork.prototype, name),
  )
  onTestFinished(() => void vi.restoreAllMocks())
  for (const from of ['/', fork.name]) {
    await expect(devchain.branch('other', { from })).rejects.toThrow('too many chains')
  }
  expect(joined!.mock.calls.length).toBe(left!.mock.calls.length)
})

test('chains in threads fork what the default chain forked, with what the set-up left', async () => {
  await using devchain = await createDevchain({
    port: 0,
    fork: first.url,
    noForkCache: true,
    noArtifacts: true,
    threads: 2,
  })
  const { url } = await devchain.listen()
  const ask = async (
    path: string,
    method: string,
    ...params: readonly unknown[]
  ): Promise<unknown> => {
    const reply = (await post(`${url}/${path}`, call(1, method, params))) as { result: unknown }
    return reply.result
  }
  const set = ['0x7', '0x8']
  await devchain.setUp(() =>
    devchain.request({ method: 'hardhat_setBalance', params: [account(1), set[0]] }),
  )
  await devchain.request({ method: 'hardhat_reset', params: [] })
  const balances = async (path: string): Promise<readonly unknown[]> => [
    await ask(path, 'eth_getBalance', account(0), 'latest'),
    await ask(path, 'eth_getBalance', account(1), 'latest'),
  ]
  for (const path of ['1', '2', '3']) expect(await balances(path)).toEqual(['0x1', '0x7'])
  await ask('1', 'hardhat_setBalance', account(1), set[1])
  await ask('', 'devchain_newChain', { name: 'four', from: '1' })
  await ask('', 'devchain_dropChain', '1')
  for (let time = 0; time < 2; time++) {
    expect(await balances('four')).toEqual(['0x1', '0x8'])
    expect(await ask('four', 'eth_getBalance', account(2 + time), 'latest')).toBe('0x1')
    await fetch(`${url}/four/restart`, { method: 'POST' })
  }
  expect(await balances('2')).toEqual(['0x1', '0x7'])
  await ask('2', 'hardhat_reset', { forking: { jsonRpcUrl: second.url } })
  expect(await ask('2', 'eth_getBalance', account(5), 'latest')).toBe('0x2')
})

test('chains that fork a provider stay in its thread', async () => {
  const options = { port: 0, fork: { provider: first }, noArtifacts: true, threads: 2 }
  await using devchain = await createDevchain(options)
  const { url } = await devchain.listen()
  const ask = (path: string, method: string, ...params: readonly unknown[]): Promise<unknown> =>
    post(`${url}/${path}`, call(1, method, params))
  expect(await ask('1', 'eth_getBalance', account(0), 'latest')).toEqual(result(1, '0x1'))
  await ask('', 'devchain_newChain', { name: 'own', options: { accounts: 2 } })
  expect(await ask('own', 'eth_getBalance', account(0), 'latest')).toEqual(result(1, '0x1'))
  await ask('', 'devchain_newChain', { name: 'plain', options: { genesis: { alloc: {} } } })
  expect(await ask('plain', 'eth_getBalance', account(0), 'latest')).toEqual(result(1, '0x0'))
})
