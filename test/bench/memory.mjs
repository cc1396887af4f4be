// What a block with one transfer adds to the memory, by part: `npm run bench -- memory`, after `npm run build`. With
// `node --expose-gc test/bench/memory.mjs MODULE` it measures another build. `npm run bench -- memory 100000` says how much
// memory the command has after so many such blocks.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { getHeapSnapshot } from 'node:v8'

/** From the first to the second size: then the 8,191 slots of the system contracts are full, and many blocks are old. */
const SIZES = [9_000, 13_000]

/** The part that an object belongs to. */
const PARTS = [
  ['trie: branches', ({ has }) => has('children') && has('reference')],
  ['trie: children of branches', ({ kind, size }) => kind === 'array' && size === 144],
  ['trie: leaves', ({ has }) => has('reference') && has('key')],
  ['trie: hashes', ({ name, has, size }) => name === 'Object' && !has('kind') && size === 88],
  ['accounts and slots', ({ has }) => has('storage') || has('slot')],
  ['bytes: packed blocks, keys', ({ name }) => BYTES.has(name)],
  ['headers', ({ has }) => has('parentHash')],
  ['transactions', ({ has }) => has('maxFeePerGas')],
  ['receipts', ({ has }) => has('cumulativeGasUsed')],
  ['records', ({ name, has }) => RECORDS.has(name) || RECORD_MEMBERS.some(has)],
  ['index by hash', ({ kind, has, size }) => isOfMap(has) || (kind === 'array' && size < 144)],
  ['hashes and addresses as text', ({ kind, name }) => kind.endsWith('string') && /^0x/.test(name)],
  ['integers', ({ kind }) => kind === 'bigint'],
  ['the rest', () => true],
]

const BYTES = new Set(['Uint8Array', 'ArrayBuffer', 'system / JSArrayBufferData'])
const RECORDS = new Set(['KeptRecord', 'PackedBlock', 'WorldChanges'])
const RECORD_MEMBERS = ['world', 'executed', 'receipt', 'transactions']

function isOfMap(has) {
  return (has('key') && has('value')) || has('record') || (has('kind') && has('children'))
}

/** Bytes by part, as a map. */
async function partsNow() {
  globalThis.gc()
  globalThis.gc()
  let text = ''
  for await (const chunk of getHeapSnapshot()) text += chunk
  const { snapshot, nodes, edges, strings } = JSON.parse(text)
  const { node_fields: fields, edge_fields, node_types, edge_types } = snapshot.meta
  const sizes = new Map(PARTS.map(([part]) => [part, 0]))
  const members = new Set()
  const has = (name) => members.has(name)
  for (let at = 0, edge = 0; at < nodes.length; at += fields.length) {
    members.clear()
    for (
      let left = nodes[at + fields.indexOf('edge_count')];
      left > 0;
      left--, edge += edge_fields.length
    ) {
      if (edge_types[0][edges[edge]] === 'property') members.add(strings[edges[edge + 1]])
    }
    const [kind, name] = [node_types[0][nodes[at]], strings[nodes[at + 1]]]
    const size = nodes[at + fields.indexOf('self_size')]
    const [part] = PARTS.find(([, isPart]) => isPart({ kind, name, has, size }))
    sizes.set(part, sizes.get(part) + size)
  }
  return sizes
}

/** To an account that nobody knows yet. */
function transferOf(from, index) {
  const to = `0x${(2n ** 159n + BigInt(index)).toString(16)}`
  return { method: 'eth_sendTransaction', params: [{ from, to, value: '0x1', gas: '0x5208' }] }
}

const PORT = 8577
const agent = new Agent({ keepAlive: true })

function ask(method, params) {
  const options = { agent, port: PORT, host: '127.0.0.1', method: 'POST' }
  return new Promise((answer, refuse) => {
    const sent = request(options, async (response) => {
      const { result, error } = JSON.parse((await response.toArray()).join(''))
      if (error === undefined) answer(result)
      else refuse(new Error(error.message))
    })
    sent.on('error', refuse).end(JSON.stringify({ id: 1, method, params }))
  })
}

/** Prints the resident memory of the command while blocks of one transfer are mined, now and at its most. */
async function residentMemory(blocks) {
  const bin = fileURLToPath(new URL('../../bin/devchain.js', import.meta.url))
  const child = spawn(process.execPath, [bin, '--port', PORT, '--quiet', '--no-artifacts'])
  const megabytes = (name) => {
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
    return Math.round((Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)[1]) * 1024) / 1e6)
  }
  try {
    let from
    while (from === undefined) {
      await sleep(100)
      from = (await ask('eth_accounts', []).catch(() => [undefined]))[0]
    }
    for (let block = 1; block <= blocks; block++) {
      const { method, params } = transferOf(from, block)
      await ask(method, params)
      if (block % Math.ceil(blocks / 5) !== 0 && block !== blocks) continue
      console.log(`${block} blocks: ${megabytes('VmRSS')} MB, at most ${megabytes('VmHWM')}`)
    }
  } finally {
    child.kill()
  }
}

/** Prints the table, or the memory after so many blocks. */
export async function memory(given) {
  if (/^\d+$/.test(given ?? '')) return residentMemory(Number(given))
  return partsOfBlocks(given)
}

async function partsOfBlocks(
  module = fileURLToPath(new URL('../../dist/devchain.js', import.meta.url)),
) {
  const { createDevchain } = await import(pathToFileURL(resolve(module)).href)
  const devchain = await createDevchain({})
  const from = devchain.accounts[0].address
  const snapshots = []
  for (let block = 0; block < SIZES.at(-1); ) {
    await devchain.request(transferOf(from, block))
    block += 1
    if (SIZES.includes(block)) snapshots.push(await partsNow())
  }
  const [before, after] = snapshots
  const blocks = SIZES[1] - SIZES[0]
  const rows = [...after].map(([part, size]) => [
    part,
    Math.round((size - before.get(part)) / blocks),
  ])
  rows.push(['all', rows.reduce((sum, [, bytes]) => sum + bytes, 0)])
  for (const [part, bytes] of rows) console.log(`| ${part} | ${bytes.toLocaleString('en')} |`)
  await devchain.close()
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await memory(process.argv[2])
