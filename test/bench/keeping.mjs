// Chains that outlive their process, beside the commands that are given, with PORT and FILE in place of port and state:
// `npm run bench -- durable ["anvil --port PORT --state FILE" …]` sends one transfer after another with each durability;
// `npm run bench -- restart [BLOCKS] ["anvil …" …]` starts with that many blocks of one transfer, and reads 100 of them.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { clientOf, freePort, median, residentOf, sum, threadsOf, waitFor } from './workers.mjs'

const COMMAND = path.resolve(import.meta.dirname, '../../bin/devchain.js')
const OWN = `${process.execPath} ${COMMAND} --quiet --port PORT`

const SENDS = 1_000
const BATCH = 250
const READS = 100
const RUNS = 5

/** Runs work with a folder that is gone afterwards. */
async function withFolder(work) {
  const folder = mkdtempSync(path.join(tmpdir(), 'devchain-bench-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function start(command, folder) {
  const port = await freePort()
  const words = command.replace('PORT', port).replace('FILE', path.join(folder, 'state.json'))
  const [program, ...args] = words.replace('DIR', path.join(folder, 'chains')).split(' ')
  const began = performance.now()
  const child = spawn(program, args, { stdio: 'ignore' })
  const url = `http://127.0.0.1:${port}`
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${command} ended with ${code}`)
  })
  await Promise.race([waitFor(url), ended])
  ended.catch(() => undefined)
  const ms = performance.now() - began
  const stop = async () => {
    child.kill('SIGINT')
    await ended.catch(() => undefined)
  }
  return { ask: clientOf(url), url, ms, pid: child.pid, stop }
}

const processorOf = (pid) => sum(threadsOf(pid).map(([, ms]) => ms))

async function transfer(ask, [from, to]) {
  const hash = await ask('eth_sendTransaction', { from, to, value: '0x1', gas: '0x5208' })
  // a rival's instant mining answers before it has mined
  while ((await ask('eth_getTransactionReceipt', hash)) === null);
}

async function sends(command) {
  return await withFolder(async (folder) => {
    const { ask, pid, stop } = await start(command, folder)
    const accounts = await ask('eth_accounts')
    for (let i = 0; i < SENDS / 4; i++) await transfer(ask, accounts)
    const [began, before] = [performance.now(), processorOf(pid)]
    for (let i = 0; i < SENDS; i++) await transfer(ask, accounts)
    const wall = (performance.now() - began) / SENDS
    const processor = (processorOf(pid) - before) / SENDS
    await stop()
    return { wall, processor }
  })
}

/** A send and its receipt: milliseconds, and those of the processor. Medians of runs in turns. */
export async function durable(...rivals) {
  const own = [OWN, `${OWN} --state DIR`, `${OWN} --state DIR --durability block`]
  const commands = [...own, ...rivals]
  const results = commands.map(() => [])
  for (let i = 0; i < RUNS; i++) {
    for (const [which, command] of commands.entries()) results[which].push(await sends(command))
  }
  for (const [which, command] of commands.entries()) {
    const of = (name) => median(results[which].map((each) => each[name])).toFixed(2)
    console.log(`${command}\n  ${of('wall')} ms a send, processor ${of('processor')} ms`)
  }
}

/** Blocks of one transfer each, as fast as a batch at a time mines them. */
async function fill({ url, ask }, blocks) {
  const [from, to] = await ask('eth_accounts')
  const params = [{ from, to, value: '0x1', gas: '0x5208' }]
  for (let left = blocks; left > 0; left -= BATCH) {
    const calls = Array.from({ length: Math.min(BATCH, left) }, (_, i) => [
      { jsonrpc: '2.0', id: 2 * i, method: 'eth_sendTransaction', params },
      { jsonrpc: '2.0', id: 2 * i + 1, method: 'evm_mine', params: [] },
    ])
    const body = JSON.stringify(calls.flat())
    const headers = { 'content-type': 'application/json' }
    await (await fetch(url, { method: 'POST', headers, body })).text()
  }
}

async function read({ ask }, blocks) {
  const newest = Number(await ask('eth_blockNumber'))
  if (newest < blocks) throw new Error(`it begins with ${newest} blocks`)
  const began = performance.now()
  for (let i = 1; i <= READS; i++) {
    const tag = `0x${Math.floor((newest * i) / READS).toString(16)}`
    const { hash } = await ask('eth_getBlockByNumber', tag, false)
    if (hash === undefined) throw new Error(`${tag} has no hash`)
    await ask('eth_getBlockReceipts', tag)
  }
  return performance.now() - began
}

async function restarts(command, blocks) {
  return await withFolder(async (folder) => {
    const first = await start(command, folder)
    await fill(first, blocks)
    const stopping = performance.now()
    await first.stop()
    const stopMs = performance.now() - stopping
    const results = []
    for (let i = 0; i < RUNS; i++) {
      const again = await start(command, folder)
      const megabytes = residentOf([again.pid]) / 1e6
      results.push({ start: again.ms, reads: await read(again, blocks), megabytes })
      await again.stop()
    }
    const of = (name) => median(results.map((each) => each[name])).toFixed(0)
    return `start ${of('start')} ms, ${of('megabytes')} MB, then ${READS} blocks with receipts ${of('reads')} ms; the first stop took ${stopMs.toFixed(0)} ms`
  })
}

/** Until the first answer. Medians of starts with the same state. */
export async function restart(blocks = '100000', ...rivals) {
  const plain = await restarts(OWN, 0)
  console.log(`${OWN}, for comparison\n  ${plain}`)
  for (const command of [`${OWN} --no-mining --state DIR`, ...rivals]) {
    console.log(`${command}, ${blocks} blocks\n  ${await restarts(command, Number(blocks))}`)
  }
}
