// A process that forks a network with faults, as its user sees it: answers, the terminal, and no key anywhere.
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { type Asked, sendOn, startUpstream } from '../support/fork/upstream.ts'
import { boot, request, temporaryFolder } from '../support/process/boot.ts'
import { eventually } from '../support/waiting/eventually.ts'

const KEY = '0123456789abcdef0123456789abcdef'

const accountOf = (each: number): string => `0x${(each + 0x1000).toString(16).padStart(40, '0')}`

/** Kinds of transactions that only their networks have: Optimism's, Celo's, Arbitrum's, and one of nobody. */
const KINDS = [
  { type: '0x7e', sourceHash: `0x${'11'.repeat(32)}`, mint: '0x5', isSystemTx: true },
  { type: '0x7b', feeCurrency: `0x${'22'.repeat(20)}`, gatewayFee: null },
  { type: '0x6a', requestId: '0x1', retryTo: null },
  { type: '0x7f', notes: [{ of: 'nobody' }] },
]

test('the terminal reports a network that limits, prunes, disconnects and reorgs, without its key', async () => {
  const folder = temporaryFolder(onTestFinished)
  await using upstream = await startUpstream({ chainId: '1' })
  for (let each = 0; each < 9; each++) {
    await upstream.ask('anvil_setBalance', accountOf(each), `0x${each + 1}`)
  }
  await upstream.ask('hardhat_mine', '0x5')
  const { faults } = upstream
  const ready = path.join(mkdtempSync(path.join(folder, 'ready-')), 'ready.json')
  const args = ['--fork-header', `authorization: Bearer ${KEY}`, '--fork-retries', '1']
  const fork = await boot(['--fork', `${upstream.url}/v3/${KEY}`, '--ready-file', ready, ...args], {
    env: { XDG_CACHE_HOME: folder },
  })
  const balance = (each: number): Promise<unknown> =>
    request(fork.url, 'eth_getBalance', accountOf(each), 'latest').catch(String)
  const answers: unknown[] = []
  const limits = [
    { status: 429, body: `Bearer ${KEY} asks too often`, headers: { 'retry-after': '0' } },
    { status: 429, body: `<html>${KEY}</html>`, headers: { 'retry-after': '0' } },
    {
      status: 200,
      body: `{"jsonrpc":"2.0","error":{"code":-32005,"message":"rate limit of ${KEY}"}}`,
      headers: { 'retry-after': '0' },
    },
  ]
  for (const [each, answer] of limits.entries()) {
    faults.next.push(answer)
    answers.push(await balance(each))
  }
  expect(answers).toEqual(['0x1', '0x2', '0x3'])

  faults.refuse = ({ method }: Asked) =>
    /^eth_get(Balance|TransactionCount|Code|Storage)/.test(method)
      ? { code: -32000, message: `missing trie node 5a1f (path ) for ${KEY}` }
      : undefined
  answers.push(await balance(3))
  expect(answers.at(-1)).toMatch(/does not keep the state of block 5.*, or fork a newer block$/)
  expect(await balance(0)).toBe('0x1')
  faults.refuse = undefined
  expect(await balance(3)).toBe('0x4')

  faults.isCut = true
  answers.push(await balance(4))
  expect(answers.at(-1)).toMatch(
    /the forked network did not answer: http:\/\/127\.0\.0\.1:\d+\/…: /,
  )
  faults.isCut = false
  expect(await balance(4)).toBe('0x5')

  await upstream.ask('anvil_rollback', 1)
  await upstream.ask('evm_increaseTime', 100)
  await upstream.ask('evm_mine')
  answers.push(await balance(5))
  expect(answers.at(-1)).toMatch(/a reorg below the fork; start a new fork, at a deeper block$/)
  expect(await balance(4)).toBe('0x5')

  answers.push(await request(fork.url, 'devchain_forkInfo'))
  const said = (): string => stripVTControlCharacters(fork.stdout() + fork.stderr())
  for (const words of [
    /waiting 0 s for http:\/\/127\.0\.0\.1:\d+\/…, \d+ requests?: 429 … asks too often/,
    /rate limit of …/,
    /✗ .*does not keep the state of block 5.*, or fork a newer block\n/,
    /✗ the forked network did not answer: /,
    /✗ block 5 .*a reorg below the fork; start a new fork, at a deeper block\n/,
  ]) {
    await eventually(() => words.test(said()))
  }
  const kept = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const items = kept.filter((name) => /\.(items|hex)$/.test(name))
  expect(items.length).toBeGreaterThan(0)
  const texts = [ready, ...items.map((name) => path.join(folder, name))]
  const shown = [
    said(),
    JSON.stringify(answers),
    ...kept,
    ...texts.map((name) => readFileSync(name, 'utf8')),
  ]
  await fork.stop()
  expect([...shown, said()].filter((text) => text.includes(KEY))).toEqual([])
})

test('a fork returns unknown transaction types as they are, and the log goes on', async () => {
  await using upstream = await startUpstream({ chainId: '10' })
  const hashes: string[] = []
  for (const _ of KINDS) {
    const { transactionHash = '' } = await sendOn(upstream.ask, { to: accountOf(1), value: '0x1' })
    hashes.push(transactionHash)
  }
  const changed = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(changed)
    if (typeof value !== 'object' || value === null) return value
    const own = value as { hash?: string; transactionHash?: string; transactions?: unknown }
    if (own.transactions !== undefined) return { ...own, transactions: changed(own.transactions) }
    const kind = KINDS[hashes.indexOf(own.transactionHash ?? own.hash ?? '')]
    return kind === undefined ? own : { ...own, ...kind, v: undefined, r: undefined, s: undefined }
  }
  upstream.faults.lie = (_, result) => JSON.parse(JSON.stringify(changed(result)))
  const fork = await boot(['--fork', upstream.url, '--no-fork-cache'])
  onTestFinished(() => void fork.child.kill('SIGKILL'))
  for (const [index, hash] of hashes.entries()) {
    const number = `0x${index + 1}`
    const asked: readonly (readonly [string, ...unknown[]])[] = [
      ['eth_getBlockByNumber', number, true],
      ['eth_getTransactionByHash', hash],
      ['eth_getTransactionByBlockNumberAndIndex', number, '0x0'],
      ['eth_getTransactionReceipt', hash],
      ['eth_getBlockReceipts', number],
    ]
    for (const [method, ...params] of asked) {
      const answer = await request(fork.url, method, ...params)
      expect(answer).toEqual(
        JSON.parse(JSON.stringify(changed(await upstream.ask(method, ...params)))),
      )
      expect(JSON.stringify(answer)).toContain(`"type":"${KINDS[index]?.type}"`)
    }
  }
  expect(await request(fork.url, 'eth_getLogs', { fromBlock: '0x0', toBlock: 'latest' })).toEqual(
    [],
  )
  const [from] = (await request(fork.url, 'eth_accounts')) as readonly string[]
  await request(fork.url, 'eth_sendTransaction', { from, to: accountOf(2), value: '0x1' })
  const mined = (await request(fork.url, 'eth_getBlockByNumber', 'latest', true)) as object
  expect(mined).toMatchObject({ number: '0x5', transactions: [{ to: accountOf(2) }] })
  await fork.says(/eth_getBlockReceipts[^\n]*1 receipt\n/)
  await fork.says(/eth_sendTransaction/)
  await fork.stop()
  expect(fork.stdout() + fork.stderr()).not.toMatch(/internal error|✗/)
})
