// What a project's names cost: the same requests to a chain that has read artifacts and to one that has not, both with their log in a file.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { callData, deploy, initCode, SENDER } from '../support/chain/deploy.ts'
import {
  type Compilation,
  compile,
  projectSources,
  writeProject,
} from '../support/solidity/solidity.ts'
import type { Figure } from './measure.ts'

/** Pairs of processes: what V8 makes of one is not what it makes of the next. */
const PAIRS = 3

/** Rounds of a pair, and requests of one to each of the two: many times as long as lines wait to be logged. */
const ROUNDS = 20
const REQUESTS = 100

/** Requests before the first round: V8 compiles meanwhile. */
const WARM_UP = 1_200

interface Node {
  readonly child: ChildProcess
  readonly ask: (method: string, ...params: unknown[]) => Promise<unknown>
  readonly coin: string
}

/** What is asked, each time with other values: the log makes one line of equal calls. */
type Work = (node: Node, i: number) => Promise<unknown>

interface Cost {
  /** Microseconds of the processor for each request, all threads together. */
  readonly processor: number
  /** Microseconds until the answer: the mean, as what is logged between two answers delays few of them, and those much. */
  readonly answer: number
}

/** A round of both: with names, and without. */
type Round = readonly [reported: Cost, plain: Cost]

/** Processor time and answers' times with names, and what of them the names take. */
export async function* namingFigures(): AsyncIterableIterator<Figure> {
  const folder = await mkdtemp(path.join(tmpdir(), 'devchain-naming-'))
  const project = compile(projectSources())
  const artifacts = writeProject(folder, 'foundry', project)
  const works = Object.entries(worksOf(project))
  const rounds = works.map((): Round[] => [])
  try {
    for (let pair = 0; pair < PAIRS; pair++) {
      const files = path.join(folder, `${pair}`)
      const reported = await startNode(`${files}-named`, project, ['--artifacts', artifacts])
      const plain = await startNode(`${files}-plain`, project, ['--no-artifacts'])
      try {
        for (const [i, [, work]] of works.entries()) {
          rounds[i]!.push(...(await inTurns(reported, plain, work)))
        }
      } finally {
        for (const { child } of [reported, plain]) child.kill()
      }
    }
  } finally {
    await rm(folder, { recursive: true })
  }
  for (const [i, [name]] of works.entries()) yield* figuresOf(name, rounds[i]!)
}

function* figuresOf(name: string, rounds: readonly Round[]): IterableIterator<Figure> {
  for (const part of ['processor', 'answer'] as const) {
    const what = part === 'processor' ? `processor time of ${name}` : `answer to ${name}`
    const value = middle(rounds.map(([reported]) => reported[part]))
    yield { name: `${what}, logged by name`, value, unit: 'µs' }
    const more = middle(rounds.map(([reported, plain]) => reported[part] / plain[part] - 1))
    yield { name: '  more than without names', value: 100 * more, unit: '%' }
  }
}

function worksOf(project: Compilation): Readonly<Record<string, Work>> {
  const to = (i: number): string => `0x${(i + 0x10_000).toString(16).padStart(40, '0')}`
  const coin = (name: string, ...args: unknown[]): string => callData(project, 'Coin', name, args)
  return {
    'a transfer': ({ ask }, i) =>
      ask('eth_sendTransaction', { from: SENDER, to: to(i), value: '0x1', gas: '0x5208' }),
    'a token transfer': ({ ask, coin: at }, i) => {
      const data = coin('transfer', to(i), 1n)
      return ask('eth_sendTransaction', { from: SENDER, to: at, data, gas: '0x186a0' })
    },
    'a call': ({ ask, coin: at }, i) =>
      ask('eth_call', { from: SENDER, to: at, data: coin('balanceOf', to(i)) }, 'latest'),
    'a call that fails': ({ ask, coin: at }, i) =>
      ask('eth_call', { from: to(1), to: at, data: coin('transfer', to(i), 10n ** 40n) }, 'latest'),
  }
}

/** Each round of one beside one of the other: what else the machine does falls on both. */
async function inTurns(reported: Node, plain: Node, work: Work): Promise<readonly Round[]> {
  for (const node of [reported, plain]) await answersOf(node, work, 0, WARM_UP)
  const rounds: Round[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const first = WARM_UP + round * REQUESTS
    const before = await processorsOf(reported, plain)
    const answers = new Map<Node, number>()
    for (const node of round % 2 === 0 ? [reported, plain] : [plain, reported]) {
      answers.set(node, await answersOf(node, work, first, REQUESTS))
    }
    // what is logged while the other is asked is counted too
    const after = await processorsOf(reported, plain)
    const cost = (node: Node, i: 0 | 1): Cost => ({
      processor: (after[i] - before[i]) / REQUESTS,
      answer: answers.get(node) ?? Number.NaN,
    })
    rounds.push([cost(reported, 0), cost(plain, 1)])
  }
  return rounds
}

/** Microseconds until an answer, in the mean of some requests one after another. */
async function answersOf(node: Node, work: Work, first: number, count: number): Promise<number> {
  const began = performance.now()
  for (let i = first; i < first + count; i++) await work(node, i)
  return (1000 * (performance.now() - began)) / count
}

async function processorsOf(reported: Node, plain: Node): Promise<readonly [number, number]> {
  return [await processorOf(reported), await processorOf(plain)]
}

/** Microseconds of the processor that a process has taken, as Linux counts them. */
async function processorOf({ child }: Node): Promise<number> {
  const folder = `/proc/${child.pid}/task`
  const threads = await readdir(folder)
  const stats = await Promise.all(
    threads.map((id) => readFile(`${folder}/${id}/schedstat`, 'utf8').catch(() => '0')),
  )
  return stats.reduce((sum, stat) => sum + Number(stat.split(' ')[0]) / 1000, 0)
}

function middle(list: readonly number[]): number {
  const sorted = [...list].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

async function startNode(
  name: string,
  project: Compilation,
  args: readonly string[],
): Promise<Node> {
  const ready = `${name}.json`
  const fixed = ['--port', '0', '--log-file', `${name}.log`, '--quiet', '--exit-with-parent']
  const child = spawn(
    process.execPath,
    ['bin/devchain.js', ...fixed, '--ready-file', ready, ...args],
    { stdio: 'ignore' },
  )
  const ask = asking(await urlIn(ready, child))
  const coin = await deploy(ask, initCode(project, 'Coin', [10n ** 30n]))
  // artifacts are read in the background
  await delay(500)
  return { child, ask, coin }
}

async function urlIn(ready: string, child: ChildProcess): Promise<string> {
  for (;;) {
    try {
      return (JSON.parse(await readFile(ready, 'utf8')) as { readonly url: string }).url
    } catch {
      if (child.exitCode !== null) throw new Error(`devchain ended with ${child.exitCode}`)
      await delay(5)
    }
  }
}

/** Asks over one connection, and reads no more of an answer than its end. */
function asking(url: string): Node['ask'] {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return async (method, ...params) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const text = await new Promise<string>((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'content-length': body.length }
      const sent = request(url, { method: 'POST', agent, headers }, (response) => {
        let whole = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => {
          whole += chunk
        })
        response.on('end', () => resolve(whole))
      })
      sent.on('error', reject)
      sent.end(body)
    })
    return (JSON.parse(text) as { readonly result?: unknown }).result
  }
}
