// net: the network as clients see it.
import { type PeerInfo, printEndpoint } from '../node/peers.ts'
import { boolean, list, text } from '../rpc/primitives.ts'
import { type Methods, method } from './common/context.ts'
import { quantityResult } from './wire/encodeobject.ts'

export const netMethods: Methods = [
  method('net_version', {
    aliases: ['eth_networkId'],
    summary: 'Returns the network id, in decimal.',
    result: text,
    example: { result: '33' },
    handle: ({ chain }) => chain.state.config.networkId.toString(),
  }),
  method('net_listening', {
    summary: 'Returns whether the node listens and accepts links from peers.',
    result: boolean,
    example: { result: true },
    handle: ({ listening, peers }) => listening && peers.takesLinks,
  }),
  method('net_peerCount', {
    summary: 'Returns the number of connected peers.',
    result: quantityResult,
    example: { result: '0x0' },
    handle: ({ peers }) => BigInt(peers.now?.list().length ?? 0),
  }),
  method('net_peerList', {
    summary: 'Returns the connected peers, each as `<short_id> | <host>/<ip>:<port>`.',
    result: list(text),
    example: { result: [] },
    handle: ({ peers }) => peers.now?.list().map(entryOf) ?? [],
  }),
]

function entryOf(peer: PeerInfo): string {
  return `${peer.id.slice(0, 8)} | ${peer.host}/${printEndpoint(peer)}`
}
