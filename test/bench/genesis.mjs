// How long devchain takes to start from a genesis file: `node test/bench/genesis.mjs [ANVIL]`, after `npm run build`. ANVIL is the
// path of anvil's program, which starts from the same files in turns.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const DEVCHAIN = fileURLToPath(new URL('../../bin/devchain.js', import.meta.url))

/** Of /proc: clock ticks of a second. */
const TICKS = 100

/** Milliseconds of the processor, all threads, until the first answer: for a row of the growth table. */
export async function genesisStart(accounts) {
  return withGenesis(accounts, async (file) => (await startFrom(devchainFrom(file))).cpu)
}

const devchainFrom = (file) => (port) => [
  process.execPath,
  [DEVCHAIN, '--genesis', file, '--port', port],
]

function anvilFrom(anvil, file) {
  return (port) => [anvil, ['--init', file, '--port', port, '--silent']]
}

async function withGenesis(accounts, run) {
  const folder = mkdtempSync(join(tmpdir(), 'genesis-'))
  const file = join(folder, 'genesis.json')
  const alloc = Array.from({ length: accounts }, (_, i) => {
    const hash = createHash('sha256').update(`${i}`).digest('hex')
    return `"0x${hash.slice(0, 40)}":{"balance":"0x${hash.slice(40, 55)}"}`
  })
  writeFileSync(file, `{"config":{"chainId":31337},"alloc":{${alloc.join(',')}}}`)
  try {
    return await run(file)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Milliseconds until the first answer, of the clock and of the processor, and MB then. */
async function startFrom(commandFor) {
  const port = await freePort()
  const began = performance.now()
  const [command, options] = commandFor(`${port}`)
  const child = spawn(command, options, { stdio: 'ignore' })
  const ended = new Promise((resolve) => child.on('exit', resolve))
  const body = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}'
  const headers = { 'content-type': 'application/json' }
  const isReady = () =>
    fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers, body }).then(
      () => true,
      () => false,
    )
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error(`${command} ended with ${child.exitCode}`)
    await sleep(5)
  }
  const wall = performance.now() - began
  const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1].split(' ')
  const cpu = (1000 * (Number(fields[11]) + Number(fields[12]))) / TICKS
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))
  child.kill('SIGKILL')
  await ended
  return { wall, cpu, memory: kilobytes / 1024 }
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}

/** Starts of each program, in turns. A start of 10,000 accounts is short, and varies by half. */
const ROUNDS = [
  [10_000, 15],
  [100_000, 7],
  [1_000_000, 3],
]

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1]

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const anvil = process.argv[2]
  for (const [accounts, rounds] of ROUNDS) {
    await withGenesis(accounts, async (file) => {
      const programs = { devchain: devchainFrom(file) }
      if (anvil !== undefined) programs.anvil = anvilFrom(anvil, file)
      const starts = { devchain: [], anvil: [] }
      for (let round = 0; round < rounds; round++) {
        for (const [name, commandFor] of Object.entries(programs)) {
          starts[name].push(await startFrom(commandFor))
        }
      }
      for (const name of Object.keys(programs)) {
        const [wall, cpu, memory] = ['wall', 'cpu', 'memory'].map((each) =>
          median(starts[name].map((start) => start[each])).toFixed(0),
        )
        const times = `${wall} ms, ${cpu} of the processor, ${memory} MB`
        console.log(`${accounts.toLocaleString('en')} accounts, ${name}: ${times}`)
      }
    })
  }
}
