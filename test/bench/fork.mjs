// Forks by devchain, and by the programs that are named with their commands, of one network with latency: how long, and how many
// requests. `node test/bench/fork.mjs ["NAME COMMAND…"]…`, where URL and PORT in a command are put in; `npm run build` first. Such
// as "anvil ANVIL --fork-url URL --port PORT --silent" and, with a Node of version 22 and a config that is empty but for a network
// `node`, "hardhat NODE hardhat/dist/src/cli.js --config CONFIG node --fork URL --hostname 127.0.0.1 --port PORT".
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createDevchain } from '../../dist/devchain.js'

const LATENCY_MS = 50

/** Slots that each of the three contracts reads. */
const SLOTS = 40

/** Accounts whose balances are asked for in one call. */
const ACCOUNTS = 100

const push = (value, bytes) =>
  `${(0x5f + bytes).toString(16)}${value.toString(16).padStart(2 * bytes, '0')}`

/** Adds up slots, and puts the sum into the one after them. */
const PAIR = [
  push(0, 1),
  ...Array.from({ length: SLOTS }, (_, slot) => `${push(slot, 2)}5401`),
  `80${push(SLOTS, 2)}55${push(0, 1)}5260206000f3`,
].join('')

const deploying = (code) =>
  `0x61${(code.length / 2).toString(16).padStart(4, '0')}80600a3d393df3${code}`

/** Calls the contracts one after another. */
const router = (targets) =>
  `${targets.map((target) => `6000600060006000600073${target.slice(2)}5af150`).join('')}00`

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

async function startNetwork() {
  const chain = await createDevchain({ chainId: 31337, port: 0, hardfork: 'prague' })
  const request = (method, ...params) => chain.request({ method, params })
  const [from] = await request('eth_accounts')
  const deploy = async (code) => {
    const hash = await request('eth_sendTransaction', {
      from,
      data: deploying(code),
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
  await request('hardhat_mine', '0x2')
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

async function run(name, command, network, home) {
  const port = await freePort()
  const [program, ...args] = command.map((word) =>
    word.replace('URL', network.url).replace('PORT', String(port)),
  )
  const env = { ...process.env, HOME: home, XDG_CACHE_HOME: path.join(home, 'cache') }
  const figures = {}
  const measure = async (row, work) => {
    const [began, before] = [performance.now(), network.count()]
    await work()
    figures[row] =
      `${Math.round(performance.now() - began)} ms, ${network.count() - before} requests`
  }
  const url = `http://127.0.0.1:${port}`
  let child
  let output = ''
  try {
    await measure('start to first answer', async () => {
      child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'], cwd: home })
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (text) => {
          output += text
        })
      for (let left = 2_000; ; left--) {
        try {
          await ask(url, 'eth_blockNumber')
          return
        } catch (error) {
          if (left === 0 || child.exitCode !== null) throw new Error(`${name}: ${output || error}`)
          await new Promise((resolve) => setTimeout(resolve, 5))
        }
      }
    })
    const [from] = await ask(url, 'eth_accounts')
    const swap = async () => {
      const gas = '0x200000'
      const hash = await ask(url, 'eth_sendTransaction', { from, to: network.contracts.swap, gas })
      for (;;) {
        const receipt = await ask(url, 'eth_getTransactionReceipt', hash)
        if (receipt?.status === '0x1') return
        if (receipt !== null) throw new Error(`${name}: the swap failed`)
      }
    }
    await measure('first swap, 3 contracts, 120 slots', swap)
    await measure('second swap', swap)
    await measure(`call of ${ACCOUNTS} balances`, () =>
      ask(url, 'eth_call', { to: network.contracts.balances }, 'latest'),
    )
  } finally {
    child?.kill('SIGTERM')
    await new Promise((resolve) =>
      child === undefined || child.exitCode !== null ? resolve() : child.once('exit', resolve),
    )
  }
  return figures
}

const network = await startNetwork()
const own = [
  process.execPath,
  path.resolve('bin/devchain.js'),
  '--fork',
  'URL',
  '--port',
  'PORT',
  '--quiet',
]
const programs = [['devchain', own]]
for (const text of process.argv.slice(2)) {
  const [name, ...command] = text.split(' ')
  programs.push([name, command])
}
for (const [name, command] of programs) {
  const home = mkdtempSync(path.join(tmpdir(), 'devchain-fork-bench-'))
  for (const state of ['cold', 'warm']) {
    const figures = await run(name, command, network, home)
    for (const [row, figure] of Object.entries(figures)) {
      console.log(`${name.padEnd(10)} ${state}  ${row.padEnd(36)} ${figure}`)
    }
  }
  rmSync(home, { recursive: true, force: true })
}
await network.close()
