// Hints: each once a run, in one line that names the flag; and what a run says at its end.
import { request } from 'node:http'
import { mnemonicToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import type { Renderer } from '../../../src/cli/log/folding.ts'
import { createJsonRenderer } from '../../../src/cli/log/json.ts'
import { Logger } from '../../../src/cli/log/logger.ts'
import { PLAIN } from '../../../src/cli/log/palette.ts'
import { createPrettyRenderer } from '../../../src/cli/log/pretty.ts'
import { duration } from '../../../src/core/format.ts'
import { createDevchain, type DevchainOptions } from '../../../src/devchain.ts'
import { type LoggedChain, startLogged } from '../../support/chain/loggedchain.ts'
import { startUpstream } from '../../support/fork/upstream.ts'

const A = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
/** An endless loop. */
const LOOP = '0x5b600056'

async function hintsOf(
  options: DevchainOptions,
  live: (chain: LoggedChain) => Promise<unknown>,
  hasHints = true,
): Promise<string[]> {
  await using chain = await startLogged(options, { hasHints })
  for (let i = 0; i < 3; i++) await live(chain).catch(() => undefined)
  return chain.lines().filter((line) => line.startsWith('hint'))
}

const failingCall = ({ ask }: LoggedChain): Promise<unknown> =>
  ask('eth_call', { from: A, data: '0xfe' })
const starving = ({ ask }: LoggedChain): Promise<unknown> =>
  ask('eth_sendTransaction', { from: A, data: LOOP })

/** Answers the status of a request that names a host. */
async function askHost({ devchain }: LoggedChain, host: string): Promise<number | undefined> {
  const { port } = await devchain.listen()
  return new Promise((resolve, reject) => {
    const asked = request({ port, method: 'POST', headers: { host } }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode))
    })
    asked.on('error', reject)
    asked.end('{}')
  })
}

test('a hint after -32015 names clients that cannot decode it', async () => {
  const hint =
    'hint viem and ethers 5 cannot decode errors with code -32015; --compat geth returns errors as geth does'
  expect(await hintsOf({}, failingCall)).toEqual([hint])
  for (const compat of ['geth', 'anvil', 'hardhat', 'ganache'] as const) {
    expect(await hintsOf({ compat }, failingCall)).toEqual([])
  }
  expect(await hintsOf({}, ({ ask }) => ask('eth_call', { gas: 'x' }))).toEqual([])
})

test('a hint after a send that ran out of the default gas names --default-gas estimate', async () => {
  const hint =
    'hint the transaction set no gas limit and used up the default of 90,000; --default-gas estimate estimates it'
  expect(await hintsOf({}, starving)).toEqual([hint])
  const named = { from: A, data: LOOP, gas: '0x15f90' }
  expect(await hintsOf({}, ({ ask }) => ask('eth_sendTransaction', named))).toEqual([])
  expect(
    await hintsOf({ onRevert: 'throw', compat: 'geth', defaultGas: 90_000n }, starving),
  ).toEqual([hint])
  const reverting = { from: A, data: '0x60006000fd' }
  expect(await hintsOf({}, ({ ask }) => ask('eth_sendTransaction', reverting))).toEqual([])
})

test('a note explains why 21,000 gas do not suffice for a new account under amsterdam', async () => {
  await using chain = await startLogged({ hardfork: 'amsterdam' })
  const stranger = `0x${'57'.repeat(20)}`
  const transfer = { from: A, to: stranger, value: '0x1', gas: '0x5208' }
  await chain.ask('eth_sendTransaction', transfer)
  const note =
    'note 0x5757575757575757575757575757575757575757 would be a new account, which costs 183,600 gas of state'
  const notes = (): string[] => chain.lines().filter((line) => line.includes('note'))
  expect(notes().map((line) => line.trim())).toEqual([note])
  // the account is there now, or the gas suffices
  await chain.ask('eth_sendTransaction', { ...transfer, gas: '0x31f38' })
  await chain.ask('eth_sendTransaction', transfer)
  // nothing is sent
  await chain.ask('eth_sendTransaction', { from: A, data: LOOP, gas: '0x15f90' })
  expect(notes()).toEqual([])
})

test('a run that needs more execution gas than a transaction may have is explained under amsterdam', async () => {
  await using chain = await startLogged({ hardfork: 'amsterdam' })
  const cap =
    'it had all 16777216 execution gas that a transaction may have; more gas pays for state only'
  const endless = { from: A, data: LOOP, gas: '0x1c00000' }
  await chain.ask('eth_sendTransaction', endless)
  expect(chain.lines().filter((line) => line.includes('note'))).toEqual([`    note ${cap}`])
  const message = `VM Exception while processing transaction: out of gas: ${cap}`
  for (const method of ['eth_call', 'eth_estimateGas'])
    await expect(chain.ask(method, endless), method).rejects.toMatchObject({ message })
  const less = { ...endless, gas: '0xfffff' }
  await expect(chain.ask('eth_call', less)).rejects.toThrow(/out of gas$/)
})

test('a hint after a request for a refused host names --allow-host', async () => {
  let status: number | undefined
  const hints = await hintsOf({ port: 0 }, async (chain) => {
    status = await askHost(chain, 'devchain.test:8545')
    await askHost(chain, 'localhost')
  })
  expect(status).toBe(403)
  expect(hints).toEqual([
    'hint a request for the host devchain.test was refused; --allow-host devchain.test allows it',
  ])
})

describe('a hint for a transaction of another chain id', () => {
  const account = mnemonicToAccount('test test test test test test test test test test test junk')
  const signedFor = (chainId: number, nonce = 0): Promise<string> =>
    account.signTransaction({ chainId, nonce, to: A, gas: 21_000n, gasPrice: 0n })

  test.each<[DevchainOptions['compat'], number, number]>([
    [undefined, 31_337, 33],
    ['geth', 31_337, 1337],
    ['anvil', 33, 31_337],
    ['hardhat', 1, 31_337],
  ])('with --compat %s names the flag that gives %i instead of %i', async (compat, given, own) => {
    const raw = await signedFor(given)
    const options = compat === undefined ? {} : { compat }
    expect(await hintsOf(options, ({ ask }) => ask('eth_sendRawTransaction', raw))).toEqual([
      `hint the transaction is signed for chain id ${given}, but this chain has ${own}, so it was refused; --chain-id ${given} sets that id`,
    ])
  })

  test('is the same if a request names the chain id', async () => {
    const request = { from: A, to: A, chainId: '0x7a69' }
    const hints = await hintsOf({}, ({ ask }) => ask('eth_sendTransaction', request))
    expect(hints).toEqual([expect.stringContaining('--chain-id 31337 sets that id')])
  })

  test('on a fork names --chain-id remote, for clients that would run it again', async () => {
    await using upstream = await startUpstream({ chainId: 5 })
    const hash = await upstream.ask('eth_sendRawTransaction', await signedFor(5))
    const look = ({ ask }: LoggedChain): Promise<unknown> => ask('eth_getTransactionByHash', hash)
    const fork = { fork: upstream.url, noForkCache: true }
    expect(await hintsOf(fork, look)).toEqual([
      'hint the transaction is signed for chain id 5, but this chain has 33, so clients such as cast run refuse to replay it; --chain-id remote sets that id',
    ])
    expect(await hintsOf({ ...fork, chainId: 'remote' }, look)).toEqual([])
    const raw = await signedFor(5, 1)
    const hints = await hintsOf(fork, ({ ask }) => ask('eth_sendRawTransaction', raw))
    expect(hints).toEqual([expect.stringContaining('it was refused; --chain-id remote')])
  })

  test('is left out for one that was mined before anvil_setChainId', async () => {
    const hints = await hintsOf({}, async ({ ask }) => {
      await ask('anvil_setChainId', 33)
      const hash = await ask('eth_sendTransaction', { from: A, to: A })
      await ask('anvil_setChainId', 44)
      await ask('eth_getTransactionByHash', hash)
    })
    expect(hints).toEqual([])
  })
})

test('--no-hints removes all hints', async () => {
  expect(await hintsOf({}, failingCall, false)).toEqual([])
  expect(await hintsOf({}, starving, false)).toEqual([])
  expect(await hintsOf({ port: 0 }, (chain) => askHost(chain, 'x.test'), false)).toEqual([])
})

test('a hint is below its call, and in JSON an object with the flag', async () => {
  await using chain = await startLogged({}, { hasHints: true, columns: 80 })
  await failingCall(chain).catch(() => undefined)
  await failingCall(chain).catch(() => undefined)
  const text = chain.lines()
  expect(text.slice(0, 4)).toEqual([
    'eth_call  1.0 ms  new contract ✗ invalid opcode 0xfe',
    'hint viem and ethers 5 cannot decode errors with code -32015; --compat geth',
    '    returns errors as geth does',
    'eth_call  1.0 ms  new contract ✗ invalid opcode 0xfe',
  ])
  await using json = await startLogged({}, { hasHints: true, json: true })
  await failingCall(json).catch(() => undefined)
  expect(JSON.parse(json.lines()[1] ?? '')).toMatchObject({
    event: 'hint',
    flag: '--compat geth',
    hint: expect.stringContaining('viem'),
  })
})

test.each([
  [
    createPrettyRenderer(PLAIN, false),
    /^ended after 0 s: 3 calls \(1 failed\), 2 transactions \(1 failed\), 2 blocks\n$/,
  ],
  [
    createJsonRenderer(() => 0, false),
    /^\{"time":"1970.*","event":"end","calls":3,"failedCalls":1,"transactions":2,"failedTransactions":1,"blocks":2,"durationMs":\d+\}\n$/,
  ],
])('the last line summarizes the session', async (renderer: Renderer, line) => {
  const written: string[] = []
  const log = new Logger({ renderer, writer: { write: (text) => written.push(text) } })
  await using devchain = await createDevchain({}, { observer: log })
  const ask = (method: string, ...params: unknown[]): Promise<unknown> =>
    devchain.request({ method, params })
  await ask('eth_sendTransaction', { from: A, to: A })
  await ask('eth_sendTransaction', { from: A, data: LOOP })
  await ask('eth_call', { data: '0xfe' }).catch(() => undefined)
  log.end()
  expect(written.at(-1)).toMatch(line)
})

test.each([
  [0, '0 s'],
  [59_999, '59 s'],
  [200_000, '3 m 20 s'],
  [7_500_000, '2 h 5 m'],
  [345_600_000, '4 d 0 h'],
])('%i ms are printed as %s', (milliseconds, text) => {
  expect(duration(milliseconds)).toBe(text)
})
