// What clients learn of peers: how far an import has come, who is linked, and what is refused meanwhile.
import { once } from 'node:events'
import { afterEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { createDevchain, type Devchain } from '../../../src/devchain.ts'
import { eventually } from '../../support/waiting/eventually.ts'

const opened: Devchain[] = []

afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()))
})

async function open(options: object = {}): Promise<{ devchain: Devchain; wsUrl: string }> {
  const devchain = await createDevchain({ port: 0, timestamp: 1_600_000_000, ...options })
  opened.push(devchain)
  return { devchain, wsUrl: (await devchain.listen()).wsUrl }
}

test('syncing subscribers see an import begin and end, then eth_syncing is false', async () => {
  const source = await open({ nodeName: 'alice' })
  await source.devchain.request({ method: 'hardhat_mine', params: ['0x100'] })
  const { devchain, wsUrl } = await open()
  const socket = new WebSocket(wsUrl)
  await once(socket, 'open')
  const heard: unknown[] = []
  socket.on('message', (text) => {
    const { params } = JSON.parse(String(text)) as { params?: { result: unknown } }
    if (params !== undefined) heard.push(params.result)
  })
  const request = { jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['syncing'] }
  socket.send(JSON.stringify(request))
  await once(socket, 'message')
  await devchain.peers.add(source.wsUrl)
  await eventually(() => heard.length === 3)
  socket.terminate()
  expect(heard).toEqual([
    false,
    { syncing: true, status: { startingBlock: '0x0', currentBlock: '0x0', highestBlock: '0x100' } },
    false,
  ])
  expect(await devchain.request({ method: 'eth_syncing' })).toBe(false)
  expect(await devchain.request({ method: 'eth_blockNumber' })).toBe('0x100')
})

test('admin_peers lists peers with counts and scores', async () => {
  const source = await open({ nodeName: 'alice' })
  const { devchain } = await open({ peer: [source.wsUrl] })
  const ask = (method: string, ...params: unknown[]): Promise<unknown> =>
    devchain.request({ method, params })
  const port = new URL(source.wsUrl).port
  const self = await source.devchain.request({ method: 'admin_nodeInfo' })
  const { id, name } = self as { readonly id: string; readonly name: string }
  expect(await ask('admin_peers')).toMatchObject([{ id, name }])
  expect(await ask('net_peerCount')).toBe('0x1')
  expect(await ask('net_peerList')).toEqual([`${id.slice(0, 8)} | 127.0.0.1/127.0.0.1:${port}`])
  expect(await ask('debug_wireProtocolQueueSize')).toBe('0x0')
  await source.devchain.request({ method: 'evm_mine' })
  await eventually(async () => (await ask('eth_blockNumber')) === '0x1')
  await eventually(async () => {
    const [first] = (await ask('sco_peerList')) as { validBlocks: number }[]
    return first?.validBlocks === 1
  })
  expect(await ask('sco_reputationSummary')).toMatchObject({
    count: 2,
    successfulHandshakes: 2,
    validBlocks: 2,
    peersTotalScore: 4,
    goodReputationCount: 2,
  })
  expect(await ask('sco_clearPeerScoring', id)).toMatchObject([{ id: '127.0.0.1' }])
})

test.each([
  ['evm_revert', ['0x1'], 'revert to a snapshot'],
  ['devchain_revert', ['0x1'], 'revert to a snapshot'],
  ['evm_reset', [], 'reset the chain'],
  ['hardhat_reset', [], 'reset the chain'],
  ['debug_setHead', ['0x0'], 'take blocks off the chain'],
  ['anvil_rollback', ['0x1'], 'take blocks off the chain'],
  ['anvil_loadState', ['0x7b7d'], 'load a state'],
])('%s is refused while a peer would undo it', async (method, params, what) => {
  const source = await open({ nodeName: 'alice' })
  const { devchain } = await open({ peer: [source.wsUrl] })
  await devchain.request({ method: 'evm_snapshot' })
  await expect(devchain.request({ method, params })).rejects.toMatchObject({
    code: -32000,
    message: `cannot ${what} while linked to alice: its branch would then be the heavier one, and this node would take it again. Call devchain_unlink first, or start with --follow off`,
  })
  await devchain.peers.partition(true)
  await devchain.request({ method: 'evm_revert', params: ['0x1'] })
})

test('a fork of a network cannot be linked, and says so', async () => {
  const source = await open()
  await source.devchain.request({ method: 'evm_mine' })
  const forked = await createDevchain({ port: 0, fork: source.wsUrl.replace('ws', 'http') })
  opened.push(forked)
  const { wsUrl } = await forked.listen()
  const message = 'a fork of another network cannot be linked to other chains'
  const params = [source.wsUrl]
  await expect(forked.request({ method: 'admin_addPeer', params })).rejects.toMatchObject({
    code: -32004,
    message,
  })
  const socket = new WebSocket(`${wsUrl}/.link`)
  const [, response] = (await once(socket, 'unexpected-response')) as [
    unknown,
    { statusCode: number },
  ]
  expect(response.statusCode).toBe(403)
  socket.on('error', () => undefined)
  socket.terminate()
  const peer = [source.wsUrl]
  await expect(createDevchain({ fork: source.wsUrl.replace('ws', 'http'), peer })).rejects.toThrow(
    message,
  )
})
