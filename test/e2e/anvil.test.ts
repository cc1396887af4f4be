// Dumps go from anvil's own program to devchain and back: what one wrote the other answers alike.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createDevchain, type DevchainOptions } from '../../src/devchain.ts'
import {
  comparable,
  type DumpedChain,
  growChain,
  olderQuestionsOf,
  type Question,
  questionsOf,
} from '../support/chain/dumpedchain.ts'
import { temporaryFolder } from '../support/process/boot.ts'
import { type Ask, anvilProgram, startAnvil } from '../support/tools/anvil.ts'

/** Written anew from the program's own answers by `RECORD=1`. */
const FIXTURE = new URL('../../fixtures/dumps/anvil-1.7.1.json.gz', import.meta.url)

const CHAIN_ID = 31_337
const { RECORD } = process.env

const program = await anvilProgram()

async function anvil(): Promise<Ask> {
  const { ask, stop } = await startAnvil(program!)
  onTestFinished(stop)
  return ask
}

async function devchain(options: DevchainOptions = {}): Promise<Ask> {
  const { request, close } = await createDevchain(options)
  onTestFinished(close)
  return (method, ...params) => request({ method, params })
}

async function answersOf(ask: Ask, questions: readonly Question[]): Promise<Map<string, unknown>> {
  const answers = new Map<string, unknown>()
  for (const question of questions) {
    answers.set(JSON.stringify(question), comparable(await ask(...question)))
  }
  return answers
}

/** Everything that can be asked of a chain and that a dump with historical states carries. */
const allQuestions = (chain: DumpedChain): Question[] => [
  ...questionsOf(chain),
  ...olderQuestionsOf(chain),
]

/** Every transaction can be run again, and uses the gas that it used there. */
async function expectTraces(ask: Ask, { hashes }: DumpedChain): Promise<void> {
  for (const hash of Object.values(hashes)) {
    const trace = await ask('debug_traceTransaction', hash, { tracer: 'callTracer' })
    const { gasUsed } = (await ask('eth_getTransactionReceipt', hash)) as { gasUsed: string }
    expect(trace).toMatchObject({ gasUsed })
  }
}

describe.skipIf(program === undefined)('anvil (skipped if npm has no build of it)', () => {
  test('writes a dump that devchain loads with blocks, transactions and states', async () => {
    const [theirs, ours] = [await anvil(), await devchain()]
    const chain = await growChain(theirs, CHAIN_ID)
    const dump = await theirs('anvil_dumpState', true)
    expect(await ours('anvil_loadState', dump)).toBe(true)
    const questions = allQuestions(chain)
    expect(await answersOf(ours, questions)).toEqual(await answersOf(theirs, questions))
    await expectTraces(ours, chain)
  })

  test('loads a dump of devchain', async () => {
    const options: DevchainOptions = { chainId: CHAIN_ID, baseFee: '1gwei', difficulty: 0 }
    const [ours, theirs] = [await devchain(options), await anvil()]
    const chain = await growChain(ours, CHAIN_ID)
    const dump = await ours('anvil_dumpState', true)
    expect(await theirs('anvil_loadState', dump)).toBe(true)
    const questions = allQuestions(chain)
    for (const hash of Object.values(chain.hashes)) {
      const receipt = (await ours('eth_getTransactionReceipt', hash)) as Receipt
      const trace = await theirs('debug_traceTransaction', hash)
      // what anvil calls a transaction's gas is that of its block up to there
      const gas = Number(receipt.cumulativeGasUsed)
      expect(trace).toMatchObject({ gas, failed: receipt.status !== '0x1' })
    }
    const renamed = await renamedBy(theirs, chain)
    const answers = renamed(await answersOf(theirs, questions))
    expect(answers).toEqual([...(await answersOf(ours, questions))])
  })

  test('loads a file of --dump-state, and writes one that devchain loads', async () => {
    const folder = temporaryFolder(onTestFinished)
    const [theirs, ours] = [path.join(folder, 'theirs.json'), path.join(folder, 'ours.json')]
    const grown = await startAnvil(program!, '--dump-state', theirs, '--preserve-historical-states')
    const chain = await growChain(grown.ask, CHAIN_ID)
    const answers = await answersOf(grown.ask, allQuestions(chain))
    await grown.stop()
    const options = { loadState: theirs, dumpState: ours, preserveHistoricalStates: true }
    const loaded = await createDevchain({ chainId: CHAIN_ID, ...options })
    const ask: Ask = (method, ...params) => loaded.request({ method, params })
    expect(await answersOf(ask, allQuestions(chain))).toEqual(answers)
    await loaded.close()
    const again = await startAnvil(program!, '--load-state', ours)
    onTestFinished(again.stop)
    expect(await answersOf(again.ask, questionsOf(chain))).toEqual(
      await answersOf(await devchain({ chainId: CHAIN_ID, loadState: ours }), questionsOf(chain)),
    )
  })

  test('loads a dump of a fork into the same fork', async () => {
    const network = await startAnvil(program!)
    onTestFinished(network.stop)
    await network.ask('anvil_mine', '0x3')
    const [from] = (await network.ask('eth_accounts')) as string[]
    const to = `0x${'12'.repeat(20)}`
    const ours = await devchain({ fork: { url: network.url, block: 2 } })
    const hash = await ours('eth_sendTransaction', { from, to, value: '0x5' })
    const fork = ['--fork-url', network.url, '--fork-block-number', '2']
    const theirs = await startAnvil(program!, ...fork)
    onTestFinished(theirs.stop)
    expect(await theirs.ask('anvil_loadState', await ours('anvil_dumpState'))).toBe(true)
    expect(await theirs.ask('eth_getBalance', to, 'latest')).toBe('0x5')
    const receipt = (await theirs.ask('eth_getTransactionReceipt', hash)) as Receipt | null
    expect(receipt).toMatchObject({ transactionHash: hash, blockNumber: '0x3', status: '0x1' })
  })

  test.runIf(RECORD)('writes the dump that is recorded for other tests', async () => {
    const ask = await anvil()
    const chain = await growChain(ask, CHAIN_ID, false)
    const dump = unzipped(await ask('anvil_dumpState', true))
    const answers = [...(await answersOf(ask, allQuestions(chain)))]
    writeFileSync(FIXTURE, gzipSync(JSON.stringify({ chain, dump, answers })))
  })
})

interface Receipt {
  readonly cumulativeGasUsed: string
  readonly status: string
}

interface Block {
  readonly transactions: readonly string[]
}

/** anvil mixes the sender into the hash of a transaction that nobody signed, and finds it by both. */
async function renamedBy(ask: Ask, { hashes }: DumpedChain): Promise<(answers: object) => unknown> {
  const names: [string, string][] = []
  for (const name of ['stranger', 'typedStranger']) {
    const ours = hashes[name]!
    const { blockNumber } = (await ask('eth_getTransactionByHash', ours)) as { blockNumber: string }
    const block = (await ask('eth_getBlockByNumber', blockNumber, false)) as Block
    const theirs = block.transactions[0]!
    for (const transactionHash of [ours, theirs]) {
      const receipt = await ask('eth_getTransactionReceipt', transactionHash)
      expect(receipt).toMatchObject({ transactionHash, blockNumber })
    }
    names.push([theirs, ours])
  }
  const rename = (text: string): string =>
    names.reduce((changed, [theirs, ours]) => changed.replaceAll(theirs, ours), text)
  return (answers) => JSON.parse(rename(JSON.stringify([...(answers as Map<string, unknown>)])))
}

function unzipped(dump: unknown): unknown {
  return JSON.parse(gunzipSync(Buffer.from(String(dump).slice(2), 'hex')).toString())
}
