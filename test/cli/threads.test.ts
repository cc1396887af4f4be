// Chains in real threads (--threads), as users start them: the log, and a thread that ends.
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { createDevchain } from '../../src/devchain.ts'
import { type Ask, callData, deploy, initCode } from '../support/chain/deploy.ts'
import { ENDS, type NamedCall, SAME, SAME_SCRIPT, WRITES } from '../support/chain/writes.ts'
import { type Booted, boot, request, startProcess } from '../support/process/boot.ts'
import { compile, projectSources, writeProject } from '../support/solidity/solidity.ts'
import { call, post, result } from '../support/wire/testserver.ts'

let folder: string
let started: Booted | undefined

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'devchain-threads-'))
})

afterEach(async () => {
  await started?.stop()
  started = undefined
  rmSync(folder, { recursive: true })
})

async function start(...args: readonly string[]): Promise<string> {
  const env = { NODE_OPTIONS: `--require ${path.join(folder, 'crash.cjs')}` }
  started = await boot(['--threads', '2', ...args], { env, cwd: folder })
  return started.url
}

/** Loaded by node in each thread: the first one fails once there is a file. */
const CRASH = `
const { threadId } = require('node:worker_threads')
const { watch } = require('node:fs')
if (threadId === 1) watch(__dirname, (_, name) => {
  if (name === 'crash') throw new Error('as the test wants')
})
`

const mine = call(1, 'evm_mine')
const blockNumber = call(1, 'eth_blockNumber')

test('a thread that fails takes its chains along, and each says so once', async () => {
  writeFileSync(path.join(folder, 'crash.cjs'), CRASH)
  const url = await start()
  for (const each of ['/1', '/2', '/2']) await post(url + each, mine)
  const socket = new WebSocket(`${url.replace('http', 'ws')}/1`)
  await once(socket, 'open')
  const closed = once(socket, 'close')
  writeFileSync(path.join(folder, 'crash'), '')
  const why = 'its thread failed: as the test wants'
  expect(String((await closed)[1])).toBe(`the chain is lost: ${why}`)
  const message = `the chain at /1 is lost: ${why}; the next request begins it anew`
  expect(await post(`${url}/1`, call(7, 'eth_blockNumber'))).toEqual({
    jsonrpc: '2.0',
    id: 7,
    error: { code: -32000, message },
  })
  expect(await post(`${url}/1`, blockNumber)).toEqual(result(1, '0x0'))
  expect(await post(`${url}/2`, blockNumber)).toEqual(result(1, '0x2'))
  expect(await post(url, blockNumber)).toEqual(result(1, '0x0'))
  await started?.says(new RegExp(`a thread ended, and with it the chain /1: ${why}`))
})

test('a thread that fails is reported with --quiet too', async () => {
  writeFileSync(path.join(folder, 'crash.cjs'), CRASH)
  const file = path.join(folder, 'ready')
  const env = { NODE_OPTIONS: `--require ${path.join(folder, 'crash.cjs')}` }
  const args = ['--threads', '2', '--port', '0', '--quiet', '--ready-file', file]
  const quiet = startProcess(args, { env, cwd: folder })
  await expect.poll(() => existsSync(file)).toBe(true)
  const { url } = JSON.parse(readFileSync(file, 'utf8')) as { url: string }
  await post(`${url}/1`, mine)
  writeFileSync(path.join(folder, 'crash'), '')
  const said = /^devchain: a thread ended, and with it the chain \/1: /m
  await expect.poll(quiet.stderr).toMatch(said)
  quiet.child.kill()
  await quiet.ended
})

test('a request that a thread was working on when it failed gets the error itself', async () => {
  writeFileSync(path.join(folder, 'crash.cjs'), CRASH)
  const url = `${await start()}/1`
  await post(url, mine)
  // waits for a transaction that nobody sends
  await post(url, call(1, 'evm_setAutomine', [false]))
  const waiting = post(url, call(8, 'eth_sendTransactionSync', [await transfer(url), 30_000]))
  await post(url, blockNumber)
  writeFileSync(path.join(folder, 'crash'), '')
  expect(await waiting).toMatchObject({ id: 8, error: { code: -32000 } })
  expect(await post(url, blockNumber)).toEqual(result(1, '0x0'))
})

test('chains in threads are on disk: a thread that fails leaves them there, and so does the end', async () => {
  writeFileSync(path.join(folder, 'crash.cjs'), CRASH)
  const state = ['--state', path.join(folder, 'chains'), '--durability', 'block']
  const url = await start(...state)
  for (const each of ['/1', '/2', '/2', '', '/1']) await post(url + each, mine)
  writeFileSync(path.join(folder, 'crash'), '')
  await started?.says(/a thread ended, and with it the chain \/1/)
  const next = 'the next request opens it as it is on disk'
  expect(await post(`${url}/1`, blockNumber)).toMatchObject({
    error: { message: `the chain at /1 is lost: its thread failed: as the test wants; ${next}` },
  })
  expect(await post(`${url}/1`, mine)).toEqual(result(1, '0x0'))
  await started?.stop()
  rmSync(path.join(folder, 'crash'))
  const again = await start(...state, '--threads', '1')
  const heights = ['', '/1', '/2'].map((each) => post(again + each, blockNumber))
  expect(await Promise.all(heights)).toEqual(['0x1', '0x3', '0x2'].map((each) => result(1, each)))
})

test('coverage counts what chains in all threads ran, once each', async () => {
  writeFileSync(path.join(folder, 'crash.cjs'), '')
  const project = compile(projectSources(), { optimizer: { enabled: true } })
  writeProject(folder, 'foundry', project)
  const file = path.join(folder, 'lcov.info')
  const url = await start('--artifacts', path.join(folder, 'out'), '--coverage', file)
  const data = initCode(project, 'Rates')
  const asked = callData(project, 'Rates', 'withInterest', [100n, 5n])
  for (const each of ['', '/1', '/2', '/3']) {
    const ask: Ask = (method, ...params) => request(url + each, method, ...params)
    const to = await deploy(ask, data)
    await ask('eth_call', { to, data: asked })
  }
  for (const each of ['', '/2']) {
    const { lcov } = (await request(url + each, 'devchain_coverage')) as { readonly lcov: string }
    expect(lcov).toContain('FNDA:4,Rates.withInterest\n')
  }
  await request(url, 'devchain_dropChain', '1')
  await started?.stop()
  expect(readFileSync(file, 'utf8')).toContain('FNDA:4,Rates.withInterest\n')
})

test('the gas report counts the first transaction of a chain in a new thread', async () => {
  writeFileSync(path.join(folder, 'crash.cjs'), '')
  const project = compile(projectSources())
  writeProject(folder, 'foundry', project)
  const url = `${await start('--artifacts', path.join(folder, 'out'))}/1`
  await deploy((method, ...params) => request(url, method, ...params), initCode(project, 'Rates'))
  expect(await request(url, 'devchain_gasReport')).toMatchObject([
    { contract: 'Rates', function: '(deployment)', calls: 1 },
  ])
})

test('each of twenty chains in threads replies and ends as it does alone', async () => {
  writeFileSync(path.join(folder, 'crash.cjs'), SAME_SCRIPT)
  const url = await start('--threads', '3', '--accounts', '3', '--clock', 'step:3')
  const schedule = fc.array(fc.constantFrom(...WRITES), { minLength: 3, maxLength: 10 })
  const calls = fc.sample(schedule, { numRuns: 20, seed: 31 }).map((each) => [...each, ...ENDS])
  const replies = await Promise.all(calls.map((each, i) => repliesTo(`${url}/${i + 1}`, each)))
  for (const [i, each] of calls.entries()) {
    await using alone = await createDevchain(
      { clock: 'step:3', noArtifacts: true, accounts: 3, port: 0 },
      { environment: SAME },
    )
    const { url: own } = await alone.listen()
    expect(replies[i]).toEqual(await repliesTo(`${own}/1`, each))
  }
})

async function repliesTo(url: string, calls: readonly NamedCall[]): Promise<readonly unknown[]> {
  const replies: unknown[] = []
  for (const { method, params } of calls) replies.push(await post(url, call(1, method, params)))
  return replies
}

async function transfer(url: string): Promise<object> {
  const { result: accounts } = (await post(url, call(1, 'eth_accounts'))) as {
    readonly result: readonly string[]
  }
  return { from: accounts[0], to: accounts[1], value: '0x1' }
}

test('the log has the calls of each chain in their order, numbered once, and one sum', async () => {
  writeFileSync(path.join(folder, 'crash.cjs'), '')
  const url = await start('--log', 'json')
  const paths = ['/1', '/2', '', '/alice']
  await post(url, call(1, 'devchain_newChain', ['alice']))
  const ROUNDS = 20
  await Promise.all(
    paths.map(async (each) => {
      for (let i = 0; i < ROUNDS; i++) await post(url + each, call(i, 'evm_increaseTime', [i]))
    }),
  )
  await started?.stop()
  const lines = started!
    .stdout()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as LogLine)
  const calls = lines.filter(({ method }) => method === 'evm_increaseTime')
  for (const each of paths) {
    const own = calls.filter(({ chain = '' }) => chain === each.slice(1))
    expect(own.map(({ params }) => params[0])).toEqual(Array.from({ length: ROUNDS }, (_, i) => i))
  }
  const ids = lines.flatMap(({ id }) => id ?? [])
  expect(new Set(ids).size).toBe(ids.length)
  expect(lines.at(-1)).toMatchObject({ event: 'end', calls: paths.length * ROUNDS + 1 })
})

interface LogLine {
  readonly event: string
  readonly id?: number
  readonly chain?: string
  readonly method?: string
  readonly params: readonly unknown[]
  readonly calls?: number
}

test('devchain exec logs chains in threads as others', async () => {
  writeFileSync(path.join(folder, 'crash.cjs'), '')
  const asked = `fetch(process.env.DEVCHAIN_URL + '/7', { method: 'POST', body: '${mine}' })`
  const command = [process.execPath, '-e', `${asked}.then((each) => each.text()).then(console.log)`]
  const args = ['exec', '--no-artifacts', '--threads', '2', '--log', 'always', '--', ...command]
  const exec = startProcess(args)
  expect(await exec.ended).toBe(0)
  expect(JSON.parse(exec.stdout())).toEqual(result(1, '0x0'))
  expect(exec.stderr()).toMatch(/^7 {2}evm_mine .* 1 block$/m)
  expect(exec.stderr()).toMatch(/1 call, 0 transactions, 1 block/)
})
