// devchain: the forked network, and links: partitioning peers and reconnecting them.

import { number, plural } from '../../core/format.ts'
import type { Upstream } from '../../node/ledger/upstream.ts'
import { optional } from '../../rpc/method.ts'
import { boolean, hash, list, nullable, text } from '../../rpc/primitives.ts'
import { type Decoder, invalid, type Json } from '../../rpc/schema.ts'
import { trueCommand } from '../common/command.ts'
import { type Methods, method } from '../common/context.ts'
import { either, members, refined } from '../wire/decodeobject.ts'
import { field, plainInteger, quantityResult, shape } from '../wire/encodeobject.ts'
import { peerShape } from '../wire/peers/encodepeer.ts'

interface Order {
  /** Undefined: all, including future ones. */
  readonly peer: string | undefined
  readonly on: boolean
}

const orderMembers = members('order', { peer: text, on: boolean })

/** `{peer, on}`, or `on` alone. */
const order: Decoder<Order> = either(
  'on or {peer, on}',
  (value) => typeof value === 'boolean',
  refined(boolean, (on) => ({ peer: undefined, on })),
  refined(orderMembers, ({ peer, on = true }, path) => {
    if (peer !== '') return { peer, on }
    throw invalid(`${path}.peer`, 'the URL, name or id of a peer, or no peer for all', peer)
  }),
)

export const linkMethods: Methods = [
  method('devchain_forkInfo', {
    summary: 'Returns the forked network, its block and the requests sent; null if not a fork.',
    result: nullable(
      shape<Upstream>('fork', {
        chainId: field(quantityResult, ({ chainId }) => chainId),
        blockNumber: field(quantityResult, ({ number }) => number),
        blockHash: field(hash, (upstream) => upstream.hash),
        source: field(text, (upstream) => upstream.facts().name),
        proven: field(boolean, (upstream) => upstream.facts().isProven),
        stateRootsHold: field(boolean, (upstream) => upstream.facts().isRootKnown),
        requestsSent: field(plainInteger, (upstream) => upstream.facts().requests),
        itemsAsked: field(plainInteger, (upstream) => upstream.facts().asked),
        batchSize: field(plainInteger, (upstream) => upstream.facts().batch),
      }),
    ),
    example: { result: null },
    handle: ({ chain }) => chain.state.config.upstream ?? null,
  }),
  method('devchain_partition', {
    summary: 'Disconnects {peer}, or all peers without one; {on: false} reconnects.',
    params: [optional('order', order, { peer: undefined, on: true })],
    result: list(peerShape),
    example: { params: [{ on: true }], result: [] },
    effects: 'node',
    describe: ([{ peer, on }], peers) => {
      const meant = peer ?? `all peers, ${number((peers as readonly Json[]).length)} linked now`
      return on ? `disconnected from ${meant}` : `reconnected to ${meant}`
    },
    handle: async ({ peers }, { peer, on }) => (await peers.load()).partition(peer, on),
  }),
  method('devchain_unlink', {
    summary: 'Disconnects all peers and refuses links until devchain_link; returns their number.',
    result: quantityResult,
    example: { result: '0x0' },
    effects: 'node',
    describe: (_values, count) => `${plural(Number(count), 'link')} ended, none made or taken`,
    handle: async ({ peers }) => BigInt((await peers.load()).unlink()),
  }),
  trueCommand('devchain_link', {
    summary: 'Allows links to peers again after devchain_unlink.',
    effects: 'node',
    describe: () => 'links made and taken again',
    handle: ({ peers }) => {
      peers.now?.link()
    },
  }),
]
