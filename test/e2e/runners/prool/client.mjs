// Prool's own client of a server, pointed at devchain.
import assert from 'node:assert'
import { Server } from 'prool/vitest'
import { rpc } from '../check.cjs'

process.env.VITEST_POOL_ID = '4'
const server = Server.get({ url: process.env.DEVCHAIN_URL })
const height = () => rpc(server.url, 'eth_blockNumber')
for (const act of [server.reset, server.restart]) {
  await rpc(server.url, 'evm_mine')
  assert.equal(await height(), '0x1')
  await act()
  assert.equal(await height(), '0x0')
}
const { web, node } = Server.get({ web: { url: server.url.replace('/4', '') }, node: server })
assert.match(web.url, /:\d+\/4$/)
assert.match(node.url, /\/4\/4$/)
console.log('done')
