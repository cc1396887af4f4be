// admin: links to other nodes, under geth's names.
import { headOf } from '../node/ledger/blocktree.ts'
import { LINK_PATH, type OwnNode } from '../node/peers.ts'
import { readPeerUrl } from '../options/values.ts'
import { param } from '../rpc/method.ts'
import { boolean, list, text } from '../rpc/primitives.ts'
import { type Decoder, invalid } from '../rpc/schema.ts'
import { headBlock, type MethodContext, type Methods, method } from './common/context.ts'
import { programVersion } from './common/version.ts'
import { field, quantityResult, shape } from './wire/encodeobject.ts'
import { peerShape } from './wire/peers/encodepeer.ts'

/** `ws://127.0.0.1:8546`, in any form of the option --peer. */
const peerUrl: Decoder<string> = {
  name: 'url',
  json: { type: 'string' },
  decode: (value, path) => {
    const url = typeof value === 'string' ? readPeerUrl(value.trim()) : undefined
    if (url !== undefined) return url
    throw invalid(path, 'the WebSocket URL of another devchain, such as ws://127.0.0.1:8546', value)
  },
}

const selfShape = shape<MethodContext & { readonly self: OwnNode }>('node', {
  id: field(text, ({ self }) => self.id),
  name: field(text, ({ self: { name }, info }) =>
    name === '' ? programVersion(info) : `${programVersion(info)}/${name}`,
  ),
  listening: field(boolean, ({ listening, peers }) => listening && peers.takesLinks),
  path: field(text, () => LINK_PATH),
  partitioned: field(boolean, ({ peers }) => peers.now?.links.isAllCut ?? false),
  network: field(quantityResult, ({ chain }) => chain.state.config.networkId),
  genesis: field(text, ({ chain }) => chain.state.tree.canonical.hashAt(0) ?? ''),
  head: field(text, (context) => headBlock(context).hash),
  totalDifficulty: field(quantityResult, ({ chain }) => headOf(chain.state.tree).totalDifficulty),
})

export const adminMethods: Methods = [
  method('admin_addPeer', {
    summary: 'Connects to another devchain, and reconnects when needed; false if already added.',
    params: [param('url', peerUrl)],
    result: boolean,
    example: { params: ['ws://127.0.0.1:8546'], result: true },
    effects: 'node',
    handle: async ({ peers }, url) => (await peers.load()).links.add(url),
  }),
  method('admin_removePeer', {
    summary: 'Disconnects and stops dialing a peer, by URL, node id or name; false if unknown.',
    params: [param('peer', text)],
    result: boolean,
    example: { params: ['ws://127.0.0.1:8546'], result: false },
    effects: 'node',
    handle: ({ peers }, peer) => peers.now?.links.remove(peer) ?? false,
  }),
  method('admin_peers', {
    summary: 'Returns the connected and the partitioned peers, with their heads.',
    result: list(peerShape),
    example: { result: [] },
    handle: ({ peers }) => peers.now?.all() ?? [],
  }),
  method('admin_nodeInfo', {
    summary: 'Returns what peers see of this node: id, name, network, genesis and head.',
    result: selfShape,
    handle: async (context) => ({ ...context, self: (await context.peers.load()).self }),
  }),
]
