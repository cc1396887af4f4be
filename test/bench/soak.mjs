// Eight clients at work, and how long a ninth waits for its ping: `npm run bench -- soak [SECONDS] [COMMAND]`, after `npm run build`.
// COMMAND starts another node, with PORT where its port goes. Says which methods were under way whenever the event loop was held.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { createServer } from 'node:net'
import { constants, setPriority } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { WebSocket } from 'ws'

const PING_MS = 20

/** Milliseconds of the processor that a hold has at least. */
const HELD_MS = 20

/** Adds 1 to the slot that the input names and to the caller's, and logs both. */
const TOKEN = `5f35805460010181553380546001018155${'7f'}${'ddf252ad'.padEnd(64, '0')}60205fa300`

/** Calls an address as often as the input says. */
const caller = (address) =>
  `5f355b805f525f5f60205f5f73${address.slice(2)}5af1506001900380600257${'00'}`

const deploying = (code) =>
  `0x61${(code.length / 2).toString(16).padStart(4, '0')}80600a5f395ff3${code}`

const hex = (value) => `0x${BigInt(value).toString(16)}`
const word = (value) => `0x${BigInt(value).toString(16).padStart(64, '0')}`

/** A server with nothing to do: what its client waits is the machine's part. */
const IDLE_SERVER = `require('node:http').createServer((request, response) => {
  request.resume().on('end', () => response.end('{}'))
}).listen(0, '127.0.0.1', function () { process.send(this.address().port) })`

/** Prints the figures. */
export async function soak(given = '60', command = undefined) {
  const seconds = Number(given)
  const port = await freePort()
  const { child, holds } = start(port, command)
  const idle = spawn(process.execPath, ['-e', IDLE_SERVER], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  try {
    const [idlePort] = await once(idle, 'message')
    const node = await connect(port)
    const stopAt = Date.now() + 1000 * seconds
    const pinger = new Worker(fileURLToPath(import.meta.url), {
      workerData: { pings: { port, idlePort, stopAt, pid: child.pid } },
    })
    const waits = new Promise((resolve, reject) =>
      pinger.once('message', resolve).once('error', reject),
    )
    // of this thread: on two cores, the ninth would wait for the other clients instead of the node
    setPriority(process.pid, constants.priority.PRIORITY_LOW)
    const done = await work(node, port, stopAt)
    report(await waits, holds, done, { pid: child.pid, began: stopAt - 1000 * seconds })
  } finally {
    child.kill()
    idle.kill()
  }
}

function start(port, command) {
  const holds = []
  const preload = new URL('holds.mjs', import.meta.url).href
  const own = `${process.execPath} --import ${preload} bin/devchain.js --port PORT --log json`
  const [program, ...options] = (command ?? own).replaceAll('PORT', port).split(' ')
  const child = spawn(program, options, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  child.on('message', ({ hold }) => holds.push(hold))
  return { child, holds }
}

async function connect(port) {
  const under = new Map()
  const calls = []
  let id = 0
  const ask = async (agent, method, ...params) => {
    const number = ++id
    const call = { method, from: now(), to: undefined }
    under.set(number, call)
    try {
      const text = await post(
        port,
        agent,
        JSON.stringify({ jsonrpc: '2.0', id: number, method, params }),
      )
      const { result, error } = JSON.parse(text)
      call.error = error?.message
      return result
    } finally {
      call.to = now()
      calls.push(call)
    }
  }
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })
  for (let tries = 0; ; tries++) {
    const accounts = await ask(agent, 'eth_accounts').catch(() => undefined)
    if (accounts !== undefined)
      return { ask, calls, agent, accounts, ...(await deployed(ask, agent, accounts)) }
    if (tries === 200) throw new Error('no answer')
    await delay(50)
  }
}

async function deployed(ask, agent, [from]) {
  const deploy = async (code) => {
    const hash = await ask(agent, 'eth_sendTransaction', {
      from,
      data: deploying(code),
      gas: hex(1_000_000),
    })
    await delay(100)
    return (await ask(agent, 'eth_getTransactionReceipt', hash)).contractAddress
  }
  const token = await deploy(TOKEN)
  return { token, many: await deploy(caller(token)) }
}

async function work(node, port, stopAt) {
  const { accounts, token, many } = node
  let count = 0
  /** A client: one connection, one request after another. */
  const client = async (run) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const ask = (method, ...params) => node.ask(agent, method, ...params)
    for (let i = 0; Date.now() < stopAt; i++) await run(ask, i)
    agent.destroy()
  }
  const send = (ask, from, to, data = '0x') => {
    count += 1
    return ask('eth_sendTransaction', {
      from,
      to,
      data,
      value: data === '0x' ? '0x1' : '0x0',
      gas: hex(data === '0x' ? 21_000 : 5_000_000),
    })
  }
  let last
  const clients = [
    client((ask, i) => send(ask, accounts[0], hexAddress(i))),
    client(async (ask, i) => {
      const hash = await send(
        ask,
        accounts[1],
        i % 20 === 0 ? many : token,
        word(i % 20 === 0 ? 50 : i),
      )
      if (i % 20 === 0) last = hash
      await ask('eth_getTransactionReceipt', hash)
    }),
    client(async (ask, i) => {
      await ask('eth_call', { from: accounts[2], to: token, data: word(i) }, 'latest')
      await ask('eth_call', { from: accounts[2], to: many, data: word(300) }, 'latest')
      await ask('eth_estimateGas', { from: accounts[2], to: token, data: word(i) })
      await ask('eth_getProof', token, [word(i)], 'latest')
    }),
    client(async (ask, i) => {
      await ask('eth_nothing', i)
      await ask('eth_getBalance', 'nobody', 'latest')
      await ask('eth_sendRawTransaction', word(i))
      await ask('eth_call', { to: token, data: '0x1' }, hex(2 ** 40))
      await ask('eth_sendTransaction', { from: token, to: token })
    }),
    client(async (ask, i) => {
      const head = Number(await ask('eth_blockNumber'))
      await ask('eth_getLogs', {
        fromBlock: '0x0',
        toBlock: 'latest',
        address: token,
        topics: [null, null, word(i)],
      })
      await ask('eth_getLogs', { fromBlock: hex(Math.max(0, head - 1000)), toBlock: 'latest' })
      const filter = await ask('eth_newFilter', { address: token })
      await delay(20)
      await ask('eth_getFilterChanges', filter)
      await ask('eth_uninstallFilter', filter)
      await ask('eth_getBlockByNumber', hex(Math.max(0, head - (i % 500))), true)
      if (i % 5 === 0)
        await ask('eth_getLogs', { fromBlock: '0x0', toBlock: 'latest', address: token })
      if (i % 10 === 0) await ask('eth_feeHistory', hex(1024), 'latest', [10, 50, 90])
    }),
    client(async (ask, i) => {
      if (last === undefined) return delay(10)
      await ask('debug_traceTransaction', last, { tracer: 'callTracer' })
      await ask('debug_traceTransaction', last, { tracer: 'prestateTracer' })
      if (i % 5 === 0) await ask('debug_traceTransaction', last)
      await ask('trace_transaction', last)
      const head = await ask('eth_blockNumber')
      await ask('debug_traceBlockByNumber', head, { tracer: 'callTracer' })
      await ask('trace_filter', { fromBlock: hex(Math.max(0, Number(head) - 20)), toBlock: head })
    }),
    client(async (ask, i) => {
      const id = await ask('evm_snapshot')
      await ask('evm_setAutomine', i % 4 !== 0)
      const from = accounts[3]
      await Promise.all(Array.from({ length: 20 }, (_, n) => send(ask, from, hexAddress(n))))
      if (i % 4 === 0) {
        await ask('eth_getBlockByNumber', 'pending', true)
        await ask('evm_mine')
        await ask('evm_setAutomine', true)
      }
      if (i % 10 === 0) await ask('anvil_mine', hex(200))
      if (i % 10 === 5) await ask('anvil_setStorageAt', token, word(i), word(i))
      await delay(50)
      if (i % 2 === 0) await ask('evm_revert', id)
    }),
    socketClient(node, port, stopAt, token),
  ]
  await Promise.all(clients)
  return { calls: node.calls, count }
}

/** Subscribes over WebSocket, and sends. */
async function socketClient({ accounts, calls }, port, stopAt, token) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}`)
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  const waiting = new Map()
  socket.on('message', (text) => {
    const { id } = JSON.parse(text)
    waiting.get(id)?.()
    waiting.delete(id)
  })
  let id = 0
  const ask = async (method, ...params) => {
    const call = { method, from: now(), to: undefined }
    await new Promise((resolve) => {
      waiting.set(++id, resolve)
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    })
    call.to = now()
    calls.push(call)
  }
  await ask('eth_subscribe', 'newHeads')
  await ask('eth_subscribe', 'logs', { address: token })
  await ask('eth_subscribe', 'newPendingTransactions')
  for (let i = 0; Date.now() < stopAt; i++) {
    await ask('eth_sendTransaction', {
      from: accounts[4],
      to: token,
      data: word(i),
      gas: hex(100_000),
    })
    await ask('eth_getTransactionCount', accounts[4], 'pending')
  }
  socket.terminate()
}

/** The ninth client, in a thread of its own: the others' work in this process must not delay it. */
async function ping({ port, idlePort, stopAt, pid }) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const idleAgent = new Agent({ keepAlive: true, maxSockets: 1 })
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] })
  const waits = []
  while (Date.now() < stopAt) {
    const [from, used] = [now(), processorMs(pid)]
    await post(port, agent, body)
    const answered = now()
    const ranMs = processorMs(pid) - used
    await post(idlePort, idleAgent, body)
    waits.push({ ms: answered - from, ranMs, idleMs: now() - answered })
    await delay(PING_MS)
  }
  agent.destroy()
  idleAgent.destroy()
  parentPort.postMessage(waits)
}

function report(waits, holds, { calls, count }, { pid, began }) {
  const errors = new Set(calls.map(({ error }) => error).filter((each) => each !== undefined))
  line('requests', calls.length)
  line('transactions', count)
  line('kinds of errors', errors.size)
  // on a busy machine, what node's main thread ran meanwhile is what the ping waited for
  for (const [name, of] of [
    ["a ping's wait", ({ ms }) => ms],
    ["node's processor meanwhile", ({ ranMs }) => ranMs],
    ["an idle server's ping", ({ idleMs }) => idleMs],
  ]) {
    const sorted = waits.map(of).sort((a, b) => a - b)
    for (const share of [0.5, 0.9, 0.99]) {
      line(`${name}, ${100 * share} of 100 under`, sorted[Math.floor(share * sorted.length)], 'ms')
    }
    line(`${name}, most`, sorted.at(-1), 'ms')
  }
  line('resident memory', residentMb(pid), 'MB')
  const long = holds.filter(({ ms }) => ms >= HELD_MS)
  line(`holds of the loop over ${HELD_MS} ms`, long.length)
  line('of them mostly collecting garbage', long.filter(({ ms, gcMs }) => 2 * gcMs > ms).length)
  const [longest] = long.toSorted((one, other) => other.ms - one.ms)
  if (longest !== undefined) {
    line('the longest hold, of its thread', longest.ms, 'ms')
    line('of that collecting garbage', longest.gcMs, 'ms')
    line('it began after', (longest.from - began) / 1000, 's')
  }
  const blamed = new Map()
  for (const hold of long.filter(({ ms, gcMs }) => 2 * gcMs <= ms)) {
    // held by one that was under way all the time and answered soon after
    const under = calls.filter(
      ({ from, to }) => from <= hold.to && to >= hold.from + hold.ms / 2 && to <= hold.to + 15,
    )
    for (const { method } of under) {
      const [sum, times, most] = blamed.get(method) ?? [0, 0, 0]
      blamed.set(method, [sum + hold.ms / under.length, times + 1, Math.max(most, hold.ms)])
    }
  }
  for (const [method, [sum, times, most]] of [...blamed].sort(([, [a]], [, [b]]) => b - a)) {
    console.log(
      `  ${method.padEnd(34)} ${times} holds, most ${most.toFixed(0)} ms, share ${sum.toFixed(0)} ms`,
    )
  }
}

function line(name, value = 0, unit = '') {
  console.log(
    `${name.padEnd(52)} ${value.toFixed(value < 10 && unit !== '' ? 2 : 0).padStart(8)} ${unit}`,
  )
}

/** Of a process's main thread. */
function processorMs(pid) {
  const [ran] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')
  return Number(ran) / 1e6
}

function residentMb(pid) {
  const [, kilobytes = 0] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return kilobytes / 1024
}

const now = () => performance.timeOrigin + performance.now()

const hexAddress = (i) => `0x${(0x1_0000 + i).toString(16).padStart(40, '0')}`

function post(port, agent, body) {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    }
    const asked = request(
      { port, host: '127.0.0.1', method: 'POST', agent, headers },
      (response) => {
        const parts = []
        response.on('data', (part) => parts.push(part)).on('error', reject)
        response.on('end', () => resolve(Buffer.concat(parts).toString()))
      },
    )
    asked.on('error', reject).end(body)
  })
}

async function freePort() {
  const server = createServer().listen(0)
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address()
  await new Promise((resolve) => server.close(resolve))
  return port
}

if (!isMainThread && workerData?.pings !== undefined) await ping(workerData.pings)
