// Chains that talk, as users have them: processes of their own on this machine, clients over HTTP and WebSocket.
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import {
  type Address,
  createPublicClient,
  createTestClient,
  createWalletClient,
  defineChain,
  type Hex,
  http,
} from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { afterAll, afterEach, describe, expect, inject, test } from 'vitest'
import { WebSocket } from 'ws'
import { hexFromBytes } from '../../../src/core/hex.ts'
import { blobOf, kzg } from '../../support/evm/blobs.ts'
import { type Started, startProcess } from '../../support/process/boot.ts'
import type { Contract } from '../../support/solidity/contracts.ts'
import { eventually } from '../../support/waiting/eventually.ts'

const ZERO = `0x${'00'.repeat(20)}` as const

const MNEMONIC = 'test test test test test test test test test test test junk'
const { abi, bytecode } = inject('contracts').Vault as Contract

interface Node {
  readonly name: string
  readonly url: string
  readonly wsUrl: string
  readonly port: number
  readonly process: Started
  readonly ask: (method: string, ...params: unknown[]) => Promise<unknown>
}

const folder = mkdtempSync(path.join(tmpdir(), 'devchain-link-'))
const running: Node[] = []
let started = 0

afterEach(async () => {
  for (const { process } of running) process.child.kill()
  await Promise.all(running.splice(0).map(({ process }) => process.ended))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function start(name: string, ...args: string[]): Promise<Node> {
  const ready = path.join(folder, `${name}-${started++}`)
  const flags = ['--port', '0', '--node-name', name, '--ready-file', ready, '--exit-with-parent']
  const process = startProcess([...flags, ...args])
  await process.says(/Listening on/)
  const { url } = JSON.parse(readFileSync(ready, 'utf8')) as Node
  const [wsUrl, port] = [url.replace('http', 'ws'), Number(new URL(url).port)]
  const ask: Node['ask'] = async (method, ...params) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const response = await fetch(url, { method: 'POST', body })
    const { result, error } = (await response.json()) as { result: unknown; error?: Error }
    if (error !== undefined) throw new Error(error.message)
    return result
  }
  const node = { name, url, wsUrl, port, process, ask }
  running.push(node)
  return node
}

async function headOf({ ask }: Node): Promise<string> {
  const block = (await ask('eth_getBlockByNumber', 'latest', false)) as { readonly hash: string }
  return block.hash
}

/** Waits until all have the same newest block. */
async function agree(nodes: readonly Node[]): Promise<string> {
  const heads = await eventually(
    () => Promise.all(nodes.map(headOf)),
    (hashes) => new Set(hashes).size === 1,
  )
  return heads[0]!
}

function clientsOf({ url }: Node, index: number) {
  const chain = defineChain({
    id: 33,
    name: 'devchain',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  })
  const account = mnemonicToAccount(MNEMONIC, { addressIndex: index })
  const transport = http(url, { retryCount: 0 })
  return {
    account,
    public: createPublicClient({ chain, transport, pollingInterval: 20 }),
    wallet: createWalletClient({ chain, transport, account }),
    test: createTestClient({ chain, transport, mode: 'anvil' }),
  }
}

interface HeardLog {
  readonly removed: boolean
  readonly transactionHash: string
}

/** All logs of a contract that a node announces from now on. */
async function logsOf({ wsUrl }: Node, address: string) {
  const socket = new WebSocket(wsUrl)
  await once(socket, 'open')
  const heard: HeardLog[] = []
  socket.on('message', (text) => {
    const { params } = JSON.parse(String(text)) as { params?: { result: HeardLog } }
    if (params !== undefined) heard.push(params.result)
  })
  const params = ['logs', { address }]
  socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params }))
  await once(socket, 'message')
  return { heard, stop: () => socket.terminate() }
}

async function transfer(node: Node, from: string, count: number): Promise<string[]> {
  const hashes: string[] = []
  for (let i = 0; i < count; i++) {
    const to = `0x${'11'.repeat(20)}`
    hashes.push((await node.ask('eth_sendTransaction', { from, to, value: '0x1' })) as string)
  }
  return hashes
}

describe('linked processes', () => {
  test('stay in sync under load, and a third that joins late catches up', async () => {
    const a = await start('alice')
    const b = await start('bob', '--peer', a.wsUrl)
    const [one, other] = (await a.ask('eth_accounts')) as [string, string]
    const sent = await Promise.all([transfer(a, one, 100), transfer(b, other, 100)])
    const c = await start('carol', '--peer', b.wsUrl)
    await a.ask('evm_mine')
    await agree([a, b, c])
    // what was mined on a branch that lost waits: the next block takes it
    await a.ask('evm_mine')
    await agree([a, b, c])
    for (const node of [a, b, c]) {
      const nonces = await Promise.all(
        [one, other].map((from) => node.ask('eth_getTransactionCount', from, 'latest')),
      )
      expect(nonces).toEqual(['0x64', '0x64'])
      for (const hash of sent.flat()) {
        expect(await node.ask('eth_getTransactionReceipt', hash), hash).not.toBeNull()
      }
    }
    expect(await c.ask('eth_syncing')).toBe(false)
  })

  test('in a line of three pass on blocks and transactions', async () => {
    const a = await start('alice', '--no-mining')
    const b = await start('bob', '--no-mining', '--peer', a.wsUrl)
    const c = await start('carol', '--no-mining', '--peer', b.wsUrl)
    const names = (await b.ask('admin_peers')) as { readonly name: string }[]
    expect(names.map(({ name }) => name.split('/').at(-1)).sort()).toEqual(['alice', 'carol'])
    const [from] = (await a.ask('eth_accounts')) as [string]
    const [hash] = await transfer(a, from, 1)
    await eventually(
      () => c.ask('eth_getTransactionByHash', hash),
      (found) => found !== null,
    )
    await c.ask('evm_mine')
    await agree([a, b, c])
    expect(await a.ask('eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1' })
  })

  test('mine each other’s impersonated and blob transactions, and those of a losing branch', async () => {
    const a = await start('alice', '--no-mining')
    const b = await start('bob', '--no-mining', '--peer', a.wsUrl)
    const stranger = `0x${'5a'.repeat(20)}`
    await a.ask('hardhat_impersonateAccount', stranger)
    const order = { from: stranger, to: stranger, gasPrice: '0x0' }
    const blobs = [hexFromBytes(blobOf(1))]
    const sent = [
      (await a.ask('eth_sendTransaction', order)) as string,
      await clientsOf(a, 2).wallet.sendTransaction({ blobs, kzg, maxFeePerBlobGas: 9n, to: ZERO }),
    ]
    const waiting = (node: Node) => async (): Promise<unknown> =>
      ((await node.ask('txpool_status')) as { readonly pending: string }).pending
    await eventually(waiting(b), (count) => count === '0x2')
    expect(await b.ask('anvil_getBlobsByTransactionHash', sent[1])).toEqual(blobs)
    await b.ask('devchain_partition', { on: true })
    await b.ask('evm_mine')
    await a.ask('anvil_dropAllTransactions')
    await a.ask('hardhat_mine', '0x3')
    await b.ask('devchain_partition', { on: false })
    await agree([a, b])
    for (const node of [a, b]) await eventually(waiting(node), (count) => count === '0x2')
    expect(await a.ask('anvil_getBlobsByTransactionHash', sent[1])).toEqual(blobs)
    await a.ask('evm_mine')
    await agree([a, b])
    for (const hash of sent) {
      expect(await b.ask('eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1' })
    }
  })

  test('after a partition have the same head and contracts, and each removed log once', async () => {
    const a = await start('alice')
    const b = await start('bob', '--peer', a.wsUrl)
    const [alice, bob] = [clientsOf(a, 0), clientsOf(b, 1)]
    const hash = await alice.wallet.deployContract({ abi, bytecode: bytecode as Hex, args: [0n] })
    const { contractAddress } = await alice.public.waitForTransactionReceipt({ hash })
    await agree([a, b])
    const vault = { address: contractAddress as Address, abi }
    const { heard, stop } = await logsOf(b, vault.address)
    await eventually(
      async () => (await b.ask('eth_blockNumber')) as string,
      (number) => number === '0x1',
    )
    await b.ask('devchain_partition', { peer: 'alice', on: true })
    await eventually(
      () => a.ask('net_peerCount'),
      (count) => count === '0x0',
    )
    const deposit = async (clients: typeof alice, value: bigint): Promise<Hex> => {
      const order = { ...vault, functionName: 'deposit', args: ['note'], value }
      const sent = await clients.wallet.writeContract(order as never)
      await clients.public.waitForTransactionReceipt({ hash: sent })
      return sent
    }
    const lost = await deposit(bob, 7n)
    const kept = await deposit(alice, 5n)
    await a.ask('hardhat_mine', '0x3')
    await b.ask('devchain_partition', { peer: 'alice', on: false })
    await agree([a, b])
    // the deposit that lost waits at both
    for (const node of [a, b]) {
      await eventually(
        () => node.ask('eth_getTransactionByHash', lost),
        (found) => (found as { readonly blockHash: unknown } | null)?.blockHash === null,
      )
    }
    await a.ask('evm_mine')
    await agree([a, b])
    const reported = await eventually(
      async () => heard.map(({ removed, transactionHash }) => [transactionHash, removed] as const),
      (logs) => logs.length >= 4,
    )
    stop()
    expect(reported).toEqual([
      [lost, false],
      [lost, true],
      [kept, false],
      [lost, false],
    ])
    for (const clients of [alice, bob]) {
      expect(await clients.public.getBalance({ address: vault.address })).toBe(12n)
    }
    const uncles = await Promise.all(
      [2, 3, 4, 5, 6].map((number) =>
        a.ask('eth_getUncleCountByBlockNumber', `0x${number.toString(16)}`),
      ),
    )
    expect(uncles.map(Number).reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(1)
  })

  test('fetch everything again after a restart, by the other’s dialing', async () => {
    const a = await start('alice', '--timestamp', '1700000000')
    const b = await start('bob', '--timestamp', '1700000000', '--peer', a.wsUrl)
    await a.ask('hardhat_mine', '0x40')
    const head = await agree([a, b])
    a.process.child.kill()
    await a.process.ended
    await eventually(
      () => b.ask('net_peerCount'),
      (count) => count === '0x0',
    )
    const again = await start('alice', '--timestamp', '1700000000', '--port', `${a.port}`)
    expect(await agree([again, b])).toBe(head)
  })

  test('refuse a revert, and allow it after devchain_unlink', async () => {
    const a = await start('alice')
    const b = await start('bob', '--peer', a.wsUrl)
    const id = await b.ask('evm_snapshot')
    await a.ask('evm_mine')
    await agree([a, b])
    await expect(b.ask('evm_revert', id)).rejects.toThrow(
      /^cannot revert to a snapshot while linked to alice: .* devchain_unlink first, or start with --follow off$/,
    )
    expect(await b.ask('devchain_unlink')).toBe('0x1')
    expect(await b.ask('evm_revert', id)).toBe(true)
    expect(await b.ask('eth_blockNumber')).toBe('0x0')
    await b.ask('devchain_link')
    await agree([a, b])
    const leader = await start('carol', '--follow', 'off', '--peer', b.wsUrl)
    await leader.ask('evm_reset')
    expect(await leader.ask('eth_blockNumber')).toBe('0x0')
  })

  test.each([
    ['127.0.0.2', '127.0.0.2', '127.0.0.2'],
    ['::1', '[::1]', '[::1]'],
  ])('accept, list and ban links to and from %s', async (host, inUrl, listed) => {
    const a = await start('alice', '--host', host)
    const b = await start('bob', '--peer', `ws://${inUrl}:${a.port}`)
    const { id } = (await a.ask('admin_nodeInfo')) as { readonly id: string }
    expect(await b.ask('net_peerList')).toEqual([
      `${id.slice(0, 8)} | ${inUrl}/${listed}:${a.port}`,
    ])
    const [peer] = (await a.ask('admin_peers')) as [{ network: { remoteAddress: string } }]
    const { remoteAddress } = peer.network
    expect(remoteAddress).toMatch(host === '::1' ? /^\[::1\]:\d+$/ : /^127\.0\.0\.\d:\d+$/)
    const from = new URL(`ws://${remoteAddress}`).hostname.replace(/[[\]]/g, '')
    await a.ask('sco_banAddress', `${from}/${host === '::1' ? 64 : 24}`)
    expect(await a.ask('net_peerCount')).toBe('0x0')
    await b.process.says(/cannot reach ws:\S+: \S+ is banned; retrying/)
  })

  test('refuse links from web pages and refused hosts', async () => {
    const a = await start('alice', '--no-link')
    expect(await a.ask('net_listening')).toBe(false)
    const b = await start('bob', '--peer', a.wsUrl)
    await b.process.says(/cannot reach ws:\S+: this node refuses links \(--no-link\); retrying/)
    await a.process.says(
      /refused the link with 127\.0\.0\.1:\d+: this node refuses links \(--no-link\)/,
    )
    const headers = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      origin: 'https://example.org',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    }
    const status = await new Promise((resolve, reject) => {
      const { port } = b
      const asked = request({ host: '127.0.0.1', port, path: '/.link', headers })
      asked.on('response', ({ statusCode }) => resolve(statusCode))
      asked.on('error', reject)
      asked.end()
    })
    expect(status).toBe(403)
  })
})
