// What a project's names cost: the same requests to a chain that has read artifacts and to one that has not, both with their log in a file.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { callData, deploy, initCode, SENDER } from '../support/deploy.ts'
import { type Compilation, compile, projectSources, writeProject } from '../support/solidity.ts'
import type { Figure } from './measure.ts'

/** Requests of one round, and rounds of which the middle one counts. */
const REQUESTS = 300
const ROUNDS = 15

/** Requests before the first round: V8 compiles meanwhile. */
const WARM_UP = 2_000

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
  /** Microseconds until the answer, the middle one. */
  readonly answer: number
}

/** Processor time and answers' times with names, and what of them the names take. */
export async function* tellingFigures(): AsyncIterableIterator<Figure> {
  const folder = await mkdtemp(path.join(tmpdir(), 'devchain-telling-'))
  const project = compile(projectSources())
  const artifacts = writeProject(folder, 'foundry', project)
  const nodes: Node[] = []
  const begin = async (...args: string[]): Promise<Node> => {
    const node = await startNode(path.join(folder, `${nodes.length}`), project, args)
    nodes.push(node)
    return node
  }
  try {
    const told = await begin('--artifacts', artifacts)
    const plain = await begin('--no-artifacts')
    for (const [name, work] of Object.entries(worksOf(project))) {
      const costs = await inTurns(told, plain, work)
      for (const part of ['processor', 'answer'] as const) {
        const what = part === 'processor' ? `processor time of ${name}` : `answer to ${name}`
        const pairs = costs.map((pair) => pair.map((each) => each[part]) as [number, number])
        yield { name: `${what}, told by name`, value: middle(pairs.map(([a]) => a)), unit: 'µs' }
        const more = middle(pairs.map(([a, b]) => a / b - 1))
        yield { name: '  more than without names', value: 100 * more, unit: '%' }
      }
    }
  } finally {
    for (const { child } of nodes) child.kill()
    await rm(folder, { recursive: true })
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
async function inTurns(
  told: Node,
  plain: Node,
  work: Work,
): Promise<readonly (readonly [Cost, Cost])[]> {
  for (const node of [told, plain]) for (let i = 0; i < WARM_UP; i++) await work(node, i)
  const costs: [Cost, Cost][] = []
  for (let round = 0; round < ROUNDS; round++) {
    const first = WARM_UP + round * REQUESTS
    const isEven = round % 2 === 0
    const [a, b] = isEven ? [told, plain] : [plain, told]
    const pair: [Cost, Cost] = [await costOf(a, work, first), await costOf(b, work, first)]
    costs.push(isEven ? pair : [pair[1], pair[0]])
  }
  return costs
}

async function costOf(node: Node, work: Work, first: number): Promise<Cost> {
  const before = await processorOf(node)
  const answers: number[] = []
  for (let i = first; i < first + REQUESTS; i++) {
    const began = performance.now()
    await work(node, i)
    answers.push(1000 * (performance.now() - began))
  }
  // what is told after the last answer belongs to it too
  await delay(60)
  return { processor: ((await processorOf(node)) - before) / REQUESTS, answer: middle(answers) }
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
