// Forks by devchain, and by the programs that are named with their commands, of one network with latency: how long, and how many
// requests, as medians of processes that take turns. `node test/bench/fork.mjs [--runs N] ["NAME COMMAND…"]…`, where URL, CHAIN
// (its id), HASH (of a block) and PORT in a command are put in; `npm run build` first. Such as
// "anvil ANVIL --fork-url URL --port PORT --silent" and, with a Node of version 22 and a config that is empty but for a network
// `node`, "hardhat NODE hardhat/dist/src/cli.js --config CONFIG node --fork URL --hostname 127.0.0.1 --port PORT".
//
// Each program has been started before, on another network, and so has what it keeps of itself. `cold`: it knows nothing of this
// network; `warm`: it ran at the same block before. `floor` is what no program of Node goes below: one that asks the network
// one question, and then answers.
import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { createDevchain } from '../../dist/devchain.js'

const LATENCY_MS = 50

/** Slots that each of the three contracts reads. */
const SLOTS = 40

/** Accounts whose balances are asked for in one call. */
const ACCOUNTS = 100

/** Contracts of the burst: each is called twice, and an estimate is asked for from an account of its own. */
const TOKENS = 10

const push = (value, bytes) =>
  `${(0x5f + bytes).toString(16)}${value.toString(16).padStart(2 * bytes, '0')}`

/** Adds up slots, and puts the sum into the one after them. */
const PAIR = [
  push(0, 1),
  ...Array.from({ length: SLOTS }, (_, slot) => `${push(slot, 2)}5401`),
  `80${push(SLOTS, 2)}55${push(0, 1)}5260206000f3`,
].join('')

/** The slot that the input names holds the number of another: adds 1 to that, and returns what was there. */
const TOKEN = '6000355480548060010182555f5260205ff3'

const deploying = (code) =>
  `0x61${(code.length / 2).toString(16).padStart(4, '0')}80600a3d393df3${code}`

/** Calls the contracts one after another. */
const router = (targets) =>
  `${targets.map((target) => `6000600060006000600073${target.slice(2)}5af150`).join('')}00`

/** swap(uint256,uint256,address,bytes) of common pairs, with what the router does not look at. */
const SWAP = `0x022c0d9f${'00'.repeat(128)}`

/** Adds up balances of accounts that are there. */
const BALANCES = [
  push(0, 1),
  ...Array.from({ length: ACCOUNTS }, (_, index) => `73${accountAt(index).slice(2)}3101`),
  `${push(0, 1)}5260206000f3`,
].join('')

function accountAt(index) {
  return `0x${(0xabcdef0000 + index).toString(16).padStart(40, '0')}`
}

async function ask(url, method, ...params) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const headers = { 'content-type': 'application/json' }
  const answer = await (await fetch(url, { method: 'POST', headers, body })).json()
  if (answer.error) throw new Error(`${method}: ${answer.error.message}`)
  return answer.result
}

/** @param salt makes its chain id, and the code of its contracts, others than those of another salt */
async function startNetwork(salt) {
  const chainId = 31337 + salt
  const chain = await createDevchain({ chainId, port: 0, hardfork: 'prague' })
  const request = (method, ...params) => chain.request({ method, params })
  const [from] = await request('eth_accounts')
  const deploy = async (code) => {
    const hash = await request('eth_sendTransaction', {
      from,
      data: deploying(`${code}${push(salt, 1)}`),
      gas: '0x500000',
    })
    return (await request('eth_getTransactionReceipt', hash)).contractAddress
  }
  const pairs = [await deploy(PAIR), await deploy(PAIR), await deploy(PAIR)]
  for (const pair of pairs) {
    for (let slot = 0; slot < SLOTS; slot++) {
      const position = `0x${slot.toString(16)}`
      await request(
        'anvil_setStorageAt',
        pair,
        position,
        `0x${(slot + 1).toString(16).padStart(64, '0')}`,
      )
    }
  }
  for (let index = 0; index < ACCOUNTS; index++) {
    await request('anvil_setBalance', accountAt(index), '0x5')
  }
  const contracts = { swap: await deploy(router(pairs)), balances: await deploy(BALANCES) }
  contracts.tokens = []
  for (let index = 0; index < TOKENS; index++) {
    const token = await deploy(`${TOKEN}${push(index, 1)}`)
    for (const slot of [0, 1, 2]) {
      await request('anvil_setStorageAt', token, `0x${slot}`, `0x${`1${slot}`.padStart(64, '0')}`)
      await request('anvil_setStorageAt', token, `0x1${slot}`, `0x${'7'.padStart(64, '0')}`)
    }
    contracts.tokens.push(token)
  }
  await request('hardhat_mine', '0x2')
  const { hash } = await request('eth_getBlockByNumber', 'latest', false)
  const { url } = await chain.listen()
  let requests = 0
  const agent = new http.Agent({ keepAlive: true })
  const proxy = http.createServer((incoming, outgoing) => {
    requests += 1
    const parts = []
    incoming.on('data', (part) => parts.push(part))
    incoming.on('end', () => {
      setTimeout(() => {
        const body = Buffer.concat(parts)
        const headers = { 'content-type': 'application/json', 'content-length': body.length }
        const passed = http.request(url, { method: 'POST', agent, headers }, (answer) => {
          outgoing.writeHead(answer.statusCode, { 'content-type': 'application/json' })
          answer.pipe(outgoing)
        })
        passed.end(body)
      }, LATENCY_MS)
    })
  })
  await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${proxy.address().port}`,
    contracts,
    chainId,
    hash,
    count: () => requests,
    close: async () => {
      proxy.closeAllConnections()
      proxy.close()
      await chain.close()
    },
  }
}

async function freePort() {
  const server = createServer()
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** A program on a free port, and what it wrote. */
async function start({ name, command }, network, home) {
  const port = await freePort()
  const [program, ...args] = command.map((word) =>
    word
      .replace('URL', network.url)
      .replace('CHAIN', String(network.chainId))
      .replace('HASH', network.hash)
      .replace('PORT', String(port)),
  )
  const env = { ...process.env, HOME: home, XDG_CACHE_HOME: path.join(home, 'cache') }
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'], cwd: home })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text) => {
      output += text
    })
  const url = `http://127.0.0.1:${port}`
  const firstAnswer = async () => {
    for (let left = 4_000; ; left--) {
      try {
        await ask(url, 'eth_blockNumber')
        return
      } catch (error) {
        if (left === 0 || child.exitCode !== null) throw new Error(`${name}: ${output || error}`)
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
    }
  }
  const stop = async () => {
    if (child.exitCode !== null) return
    const exited = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    await exited
  }
  return { url, firstAnswer, stop }
}

/** @returns for each row milliseconds and requests */
async function run(program, network, home) {
  const figures = {}
  const measure = async (row, work) => {
    const [began, before] = [performance.now(), network.count()]
    const result = await work()
    figures[row] = { ms: performance.now() - began, requests: network.count() - before }
    return result
  }
  let started
  try {
    await measure('start to first answer', async () => {
      started = await start(program, network, home)
      await started.firstAnswer()
    })
    if (program.name !== 'floor') await use(started.url, network, measure)
  } finally {
    await started?.stop()
  }
  return figures
}

async function use(url, { contracts }, measure) {
  const [from] = await ask(url, 'eth_accounts')
  const swap = async () => {
    const hash = await ask(url, 'eth_sendTransaction', {
      from,
      to: contracts.swap,
      gas: '0x200000',
      data: SWAP,
    })
    for (;;) {
      const receipt = await ask(url, 'eth_getTransactionReceipt', hash)
      if (receipt?.status === '0x1') return
      if (receipt !== null) throw new Error('the swap failed')
    }
  }
  const balances = () => ask(url, 'eth_call', { to: contracts.balances }, 'latest')
  await measure('first swap, 3 contracts, 120 slots', swap)
  await measure('second swap', swap)
  await measure(`call of ${ACCOUNTS} balances`, balances)
  const accounts = await ask(url, 'eth_accounts')
  await measure(`burst, ${3 * TOKENS} calls and estimates`, async () => {
    for (const [index, to] of contracts.tokens.entries()) {
      const data = (slot) => `0x${slot.toString(16).padStart(64, '0')}`
      await ask(url, 'eth_call', { to, data: data(0) }, 'latest')
      await ask(url, 'eth_call', { to, data: data(1) }, 'latest')
      await ask(url, 'eth_estimateGas', { from: accounts[index], to, data: data(2) })
    }
  })
}

/** Starts a program on a network of its own, so that its home has what it keeps of itself. */
async function prepare(program, home) {
  const other = await startNetwork(1)
  try {
    await run(program, other, home)
  } finally {
    await other.close()
  }
}

/** Asks the network one question with what Node has, and answers every request with it. */
const FLOOR = `
const http = require('node:http')
const [url, port] = process.argv.slice(1)
const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] })
const headers = { 'content-type': 'application/json', 'content-length': body.length }
http.request(url, { method: 'POST', headers }, (answer) => {
  let text = ''
  answer.on('data', (part) => { text += part })
  answer.on('end', () => http.createServer((_, reply) => reply.end(text)).listen(+port, '127.0.0.1'))
}).end(body)`

const OWN = [process.execPath, path.resolve('bin/devchain.js'), '--port', 'PORT', '--quiet']

const { values, positionals } = parseArgs({
  options: { runs: { type: 'string', default: '5' } },
  allowPositionals: true,
})
const runs = Number(values.runs)
if (!Number.isSafeInteger(runs) || runs < 1) {
  throw new Error(`expected --runs to be a whole number from 1, got "${values.runs}"`)
}
const programs = [
  { name: 'floor', command: [process.execPath, '-e', FLOOR, 'URL', 'PORT'] },
  { name: 'devchain', command: [...OWN, '--fork', 'URL'] },
  // the block is known by name, and the network need not be asked which one that is
  { name: 'devchain @', command: [...OWN, '--fork', 'URL@HASH', '--fork-chain-id', 'CHAIN'] },
  ...positionals.map((text) => {
    const [name, ...command] = text.split(' ')
    return { name, command }
  }),
]

const network = await startNetwork(0)
const homes = new Map()
const found = new Map()
for (const program of programs) {
  const home = mkdtempSync(path.join(tmpdir(), 'devchain-fork-bench-'))
  await prepare(program, home)
  homes.set(program, home)
}
for (let round = 0; round < runs; round++) {
  for (const program of programs) {
    const home = mkdtempSync(path.join(tmpdir(), 'devchain-fork-bench-'))
    cpSync(homes.get(program), home, { recursive: true })
    for (const state of ['cold', 'warm']) {
      const figures = await run(program, network, home)
      for (const [row, figure] of Object.entries(figures)) {
        const key = `${program.name.padEnd(10)} ${state}  ${row.padEnd(36)}`
        found.set(key, [...(found.get(key) ?? []), figure])
      }
    }
    rmSync(home, { recursive: true, force: true })
  }
}
for (const [key, figures] of found) {
  const sorted = figures.toSorted((a, b) => a.ms - b.ms)
  const { ms, requests } = sorted[Math.floor(sorted.length / 2)]
  const spread = `${Math.round(sorted[0].ms)} to ${Math.round(sorted.at(-1).ms)}`
  console.log(`${key} ${Math.round(ms)} ms (${spread}), ${requests} requests`)
}
for (const home of homes.values()) rmSync(home, { recursive: true, force: true })
await network.close()
