// What links cost: importing the blocks of a peer, and sending while a peer listens. Processes of their own, as users have them.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Figure } from './measure.ts'

const BLOCKS = 10_000

/** A pair is two processes, one alone and one linked; each round sends so much to both, in turns. */
const PAIRS = 3
const ROUNDS = 6
const SENDS = 500

interface Running {
  readonly url: string
  readonly accounts: readonly { readonly address: string }[]
  readonly child: ChildProcess
}

/** Blocks of a peer in a second, the longest answer meanwhile, and what a link takes of the speed of sends. */
export async function* linkFigures(): AsyncIterableIterator<Figure> {
  const folder = await mkdtemp(path.join(tmpdir(), 'devchain-links-'))
  const running: Running[] = []
  let started = 0
  const start = async (...args: string[]): Promise<Running> => {
    const node = await startNode(path.join(folder, `${started++}`), args)
    running.push(node)
    return node
  }
  try {
    const a = await start('--timestamp', '1700000000')
    await sendMany(a, BLOCKS)
    const { ms, longestMs } = await importOf(a, start)
    yield {
      name: `blocks of one transfer imported from a peer, of ${BLOCKS}`,
      value: (1000 * BLOCKS) / ms,
      unit: '/s',
    }
    yield { name: 'longest answer meanwhile', value: longestMs, unit: 'ms' }
    const costs: Cost[] = []
    for (let pair = 0; pair < PAIRS; pair++) {
      const alone = await start()
      const linked = await start()
      const peer = await start('--peer', linked.url.replace('http', 'ws'))
      await sendMany(alone, 2_000)
      await sendMany(linked, 2_000)
      // what the peer lacks of these is asked for later
      while ((await heightOf(peer)) < (await heightOf(linked))) await delay(10)
      costs.push(...(await costsOf(alone, linked)))
      for (const { child } of running.splice(-3)) child.kill()
    }
    yield { name: 'a send, alone', value: median(costs.map(({ alone }) => alone)), unit: 'µs' }
    yield { name: 'a send, linked', value: median(costs.map(({ linked }) => linked)), unit: 'µs' }
    const ratios = costs.map(({ alone, linked }) => 100 * (linked / alone - 1))
    yield { name: 'what the link adds, median of rounds', value: median(ratios), unit: '%' }
  } finally {
    for (const { child } of running) child.kill()
    await rm(folder, { recursive: true })
  }
}

async function startNode(ready: string, args: readonly string[]): Promise<Running> {
  const child = spawn(
    process.execPath,
    [
      'bin/devchain.js',
      '--port',
      '0',
      '--quiet',
      '--exit-with-parent',
      '--ready-file',
      ready,
      ...args,
    ],
    { stdio: 'ignore' },
  )
  for (;;) {
    try {
      const { url, accounts } = JSON.parse(await readFile(ready, 'utf8'))
      return { url, accounts, child }
    } catch {
      if (child.exitCode !== null) throw new Error(`devchain ended with ${child.exitCode}`)
      await delay(5)
    }
  }
}

async function ask(url: string, body: unknown): Promise<unknown> {
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) })
  return response.json()
}

function transfer({ accounts: [from, to] }: Running, id: number): object {
  const value = { from: from?.address, to: to?.address, value: '0x1', gas: '0x5208' }
  return { jsonrpc: '2.0', id, method: 'eth_sendTransaction', params: [value] }
}

async function heightOf({ url }: Running): Promise<number> {
  const asked = { jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] }
  return Number(((await ask(url, asked)) as { readonly result: string }).result)
}

/** Sends so many, a block each. */
async function sendMany(node: Running, count: number): Promise<void> {
  for (let at = 0; at < count; at += 500) {
    await ask(
      node.url,
      Array.from({ length: 500 }, (_, i) => transfer(node, i)),
    )
  }
}

/** Microseconds of the processor that a send takes of two nodes. */
interface Cost {
  readonly alone: number
  readonly linked: number
}

/** The two in turns, whoever is first: what else the machine does falls on both. */
async function costsOf(alone: Running, linked: Running): Promise<readonly Cost[]> {
  const costs: Cost[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const [first, second] = round % 2 === 0 ? [alone, linked] : [linked, alone]
    const times = [await sendOneByOne(first), await sendOneByOne(second)] as [number, number]
    const [ofAlone, ofLinked] = round % 2 === 0 ? times : [times[1], times[0]]
    costs.push({ alone: ofAlone, linked: ofLinked })
  }
  return costs
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

/** @returns microseconds of the processor that the node takes for one */
async function sendOneByOne(node: Running): Promise<number> {
  const begin = await workedMs(node)
  for (let i = 0; i < SENDS; i++) await ask(node.url, transfer(node, i))
  return (1000 * ((await workedMs(node)) - begin)) / SENDS
}

/** Milliseconds that all threads of a process have run so far. */
async function workedMs({ child }: Running): Promise<number> {
  const folder = `/proc/${child.pid}/task`
  const threads = await readdir(folder)
  const texts = await Promise.all(
    threads.map((id) => readFile(`${folder}/${id}/schedstat`, 'utf8')),
  )
  return texts.reduce((sum, text) => sum + Number(text.split(' ')[0]) / 1e6, 0)
}

async function importOf(
  source: Running,
  start: (...args: string[]) => Promise<Running>,
): Promise<{ readonly ms: number; readonly longestMs: number }> {
  const begin = performance.now()
  const node = await start('--timestamp', '1700000000', '--peer', source.url.replace('http', 'ws'))
  let longestMs = 0
  for (;;) {
    const asked = performance.now()
    const { result } = (await ask(node.url, {
      jsonrpc: '2.0',
      id: 1,
      method: 'eth_blockNumber',
      params: [],
    })) as { readonly result: string }
    const now = performance.now()
    longestMs = Math.max(longestMs, now - asked)
    if (Number(result) === BLOCKS) return { ms: now - begin, longestMs }
    await delay(10)
  }
}
