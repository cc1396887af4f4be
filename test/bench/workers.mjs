// Tests side by side: 100 test files of 50 sends, 50 calls and a revert on eight workers, each with a chain of its own. On one
// devchain, and on the commands that are given: `npm run bench -- workers ["anvil … --port PORT" …]`, one process a worker.
// A command with URLS in place of PORT serves all workers at /1, /2 … as prool does. Besides wall time it prints processor time
// (Linux): of the nodes, of their busiest thread, which bounds them where there are more cores, and of the clients.
import { execFileSync, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { Agent, request as httpRequest } from 'node:http'
import { createServer } from 'node:net'
import path from 'node:path'

const WORKERS = 8
const FILES = 100
const SENDS = 50
const RUNS = 3

const COMMAND = path.resolve(import.meta.dirname, '../../bin/devchain.js')

/** Milliseconds between two looks at the memory of all processes. */
const LOOK_MS = 250

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  return port
}

/** A connection that is kept, as test clients have. */
export function clientOf(url) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return (method, ...params) =>
    new Promise((resolve, reject) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
      const headers = {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      }
      const sent = httpRequest(url, { method: 'POST', agent, headers }, (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (part) => {
          text += part
        })
        response.on('end', () => {
          const { result, error } = JSON.parse(text)
          if (error) reject(new Error(`${method}: ${error.message}`))
          else resolve(result)
        })
      })
      sent.on('error', reject)
      sent.end(body)
    })
}

async function testFile(ask) {
  const [from, to] = await ask('eth_accounts')
  const snapshot = await ask('evm_snapshot')
  for (let i = 0; i < SENDS; i++) {
    const hash = await ask('eth_sendTransaction', { from, to, value: '0x1', gas: '0x5208' })
    // a rival's instant mining answers before it has mined
    while ((await ask('eth_getTransactionReceipt', hash)) === null);
    await ask('eth_call', { from, to }, 'latest')
  }
  await ask('evm_revert', snapshot)
}

/** In a worker process: runs as many files as it is sent, one after another. */
async function work(url) {
  const ask = clientOf(url)
  process.send('ready')
  process.on('message', async () => {
    await testFile(ask)
    process.send('done')
  })
}

/** Bytes that these processes and their children hold. */
export function residentOf(pids) {
  const rows = execFileSync('ps', ['-eo', 'pid=,ppid=,rss='], { encoding: 'utf8' })
    .trim()
    .split('\n')
  const wanted = new Set(pids)
  let bytes = 0
  for (const row of rows) {
    const [pid, parent, kilobytes] = row.trim().split(/\s+/).map(Number)
    if (!wanted.has(pid) && !wanted.has(parent)) continue
    wanted.add(pid)
    bytes += kilobytes * 1024
  }
  return bytes
}

/** Milliseconds that each thread of a process had the processor, by its id. */
export function threadsOf(pid) {
  const folder = `/proc/${pid}/task`
  if (!existsSync(folder)) return []
  return readdirSync(folder).map((id) => {
    const stat = readFileSync(`${folder}/${id}/stat`, 'utf8')
    const [user, system] = stat.split(') ')[1].split(' ').slice(11, 13).map(Number)
    return [id, (user + system) * 10]
  })
}

function busySince(before, pids) {
  return pids.flatMap(threadsOf).map(([id, ms]) => ms - (before.get(id) ?? 0))
}

export const sum = (values) => values.reduce((total, value) => total + value, 0)

export async function waitFor(url) {
  for (;;) {
    try {
      await clientOf(url)('eth_chainId')
      return
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}

/** @returns the nodes' processes, and the URL of each worker */
async function startNodes(command) {
  const shared = command.includes('URLS')
  const nodes = await Promise.all(
    Array.from({ length: shared ? 1 : WORKERS }, async () => {
      const port = await freePort()
      const [program, ...args] = command.replace(/PORT|URLS/g, port).split(' ')
      return { port, child: spawn(program, args, { stdio: 'ignore' }) }
    }),
  )
  const urls = Array.from({ length: WORKERS }, (_, i) =>
    shared ? `http://127.0.0.1:${nodes[0].port}/${i + 1}` : `http://127.0.0.1:${nodes[i].port}`,
  )
  const failed = nodes.map(async ({ child }) => {
    const [code] = await once(child, 'exit')
    throw new Error(`${command} ended with ${code} before it answered`)
  })
  await Promise.race([Promise.all(urls.map(waitFor)), ...failed])
  for (const each of failed) each.catch(() => undefined)
  return { children: nodes.map(({ child }) => child), urls }
}

async function run(command) {
  const { children, urls } = await startNodes(command)
  const workers = urls.map((url) => fork(import.meta.filename, ['--worker', url]))
  await Promise.all(workers.map((worker) => once(worker, 'message')))
  let highest = 0
  const look = () => {
    highest = Math.max(highest, residentOf(children.map(({ pid }) => pid)))
  }
  const timer = setInterval(look, LOOK_MS)
  const nodes = children.map(({ pid }) => pid)
  const clients = workers.map(({ pid }) => pid)
  const before = new Map([...nodes, ...clients].flatMap(threadsOf))
  let left = FILES
  const began = performance.now()
  await Promise.all(
    workers.map(async (worker) => {
      while (left > 0) {
        left -= 1
        worker.send('file')
        await once(worker, 'message')
      }
    }),
  )
  const wallMs = performance.now() - began
  clearInterval(timer)
  look()
  const busy = busySince(before, nodes)
  const clientsMs = sum(busySince(before, clients))
  for (const child of [...workers, ...children]) child.kill()
  await Promise.all(children.map((child) => child.exitCode ?? once(child, 'exit')))
  const [nodesMs, busiestMs] = [sum(busy), Math.max(...busy)]
  return { wallMs, nodesMs, busiestMs, clientsMs, megabytes: highest / 1e6 }
}

export const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)]

/** Prints a line for each command: medians of times and of the highest memory. */
export async function workers(...rivals) {
  const own = `${process.execPath} ${COMMAND} --quiet --port URLS`
  const commands = [own, `${own} --threads 1`, `${own} --threads 2`, ...rivals]
  const results = commands.map(() => [])
  for (let i = 0; i < RUNS; i++) {
    for (const [which, command] of commands.entries()) results[which].push(await run(command))
  }
  for (const [which, command] of commands.entries()) {
    const of = (name) => median(results[which].map((each) => each[name])).toFixed(0)
    console.log(command)
    console.log(
      `  wall ${of('wallMs')} ms, processor ${of('nodesMs')} ms (busiest thread ${of('busiestMs')} ms), clients ${of('clientsMs')} ms, ${of('megabytes')} MB`,
    )
  }
}

if (process.argv[2] === '--worker') await work(process.argv[3])
