// net: the network as clients see it. A devchain has no peers yet.
import type { Method } from '../rpc/method.ts'
import { boolean, list, text } from '../rpc/primitives.ts'
import { type MethodContext, method } from './common/context.ts'
import { quantityResult } from './wire/encodeobject.ts'

const version = method({
  name: 'net_version',
  aliases: ['eth_networkId'],
  summary: 'Network id, in decimal.',
  params: [],
  result: text,
  example: { params: [], result: '33' },
  handle: ({ chain }) => chain.state.config.networkId.toString(),
})

const listening = method({
  name: 'net_listening',
  summary: 'True while the node listens for connections.',
  params: [],
  result: boolean,
  example: { params: [], result: true },
  handle: (context) => context.listening,
})

const peerCount = method({
  name: 'net_peerCount',
  summary: 'Number of connected peers.',
  params: [],
  result: quantityResult,
  example: { params: [], result: '0x0' },
  handle: (context) => BigInt(peersOf(context).length),
})

const peerList = method({
  name: 'net_peerList',
  summary: 'Connected peers, each as `<short_id> | <host>/<ip>:<port>`.',
  params: [],
  result: list(text),
  example: { params: [], result: [] },
  handle: peersOf,
})

/** Nothing connects chains to each other yet, so nobody is a peer. */
function peersOf(_: MethodContext): readonly string[] {
  return []
}

export const netMethods: readonly Method<MethodContext>[] = [
  version,
  listening,
  peerCount,
  peerList,
]
