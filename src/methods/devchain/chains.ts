// devchain: the chains of the process, the forked network, and links: partitioning peers and reconnecting them.
import { number, plural } from '../../core/format.ts'
import { objectAt } from '../../core/objects.ts'
import type { Upstream } from '../../node/ledger/upstream.ts'
import { optional, param } from '../../rpc/method.ts'
import { boolean, hash, list, nullable, text } from '../../rpc/primitives.ts'
import { type Decoder, invalid, type Json } from '../../rpc/schema.ts'
import type { ChainInfo, ChainOrder } from '../common/chains.ts'
import { trueCommand } from '../common/command.ts'
import { type Methods, method } from '../common/context.ts'
import { blockReference } from '../wire/decodeblock.ts'
import { either, isText, members, refined } from '../wire/decodeobject.ts'
import {
  field,
  plain,
  plainInteger,
  plainShape,
  quantityResult,
  shape,
} from '../wire/encodeobject.ts'
import { peerShape } from '../wire/peers/encodepeer.ts'

const originShape = plainShape('origin', { blockNumber: quantityResult, blockHash: hash })

const chainShape = shape<ChainInfo>('chain', {
  ...plain({ name: nullable(text), path: text, chainId: nullable(plainInteger) }),
  ...plain({ blockNumber: nullable(quantityResult), blockHash: nullable(hash) }),
  origin: field(nullable(originShape), ({ origin }) => origin),
  age: field(plainInteger, ({ age }) => Math.floor(age)),
  ...plain({ requests: plainInteger, memory: plainInteger }),
})

const options: Decoder<Readonly<Record<string, unknown>>> = {
  name: 'options',
  json: { type: 'object' },
  decode: (value, path) => objectAt(path, value, 'an object with options, as in createDevchain'),
}

/** `{name, from, block, options}`, or the name alone. */
const order: Decoder<ChainOrder> = either(
  'name or {name, from, block, options}',
  isText,
  refined(text, (name) => ({ name })),
  members('order', { name: text, from: text, block: blockReference, options }),
)

/** `{peer, on}`, or `on` alone. Without a peer: all, including future ones. */
const partition = either(
  'on or {peer, on}',
  (value) => typeof value === 'boolean',
  refined(boolean, (on) => ({ peer: undefined, on })),
  refined(members('order', { peer: text, on: boolean }), ({ peer, on = true }, path) => {
    if (peer !== '') return { peer, on }
    throw invalid(`${path}.peer`, 'the URL, name or id of a peer, or no peer for all', peer)
  }),
)

export const chainsMethods: Methods = [
  method('devchain_chains', {
    summary: 'Lists the chains of the process, the default one first.',
    result: list(chainShape),
    describe: (_values, chains) => plural((chains as readonly unknown[]).length, 'chain'),
    handle: async ({ chains }) => chains.list(),
  }),
  method('devchain_newChain', {
    summary:
      'Makes a chain of a {name}, {from} a chain or snapshot (after a {block}), or with {options}.',
    params: [optional('order', order, {})],
    result: chainShape,
    example: { params: ['alice'] },
    effects: 'node',
    describe: (_values, chain) => `chain ${(chain as { path: string }).path} made`,
    handle: ({ chains }, given) => chains.create(given),
  }),
  trueCommand('devchain_dropChain', {
    summary: 'Drops the chain of a name or number, and ends its WebSockets.',
    params: [param('name', text)],
    example: { params: ['alice'] },
    effects: 'node',
    describe: ([name]) => `chain /${name.replace(/^\//, '')} dropped`,
    handle: ({ chains }, name) => chains.drop(name),
  }),
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
    params: [optional('order', partition, { peer: undefined, on: true })],
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
    handle: async ({ peers }) => BigInt((await peers.load()).links.unlink()),
  }),
  trueCommand('devchain_link', {
    summary: 'Allows links to peers again after devchain_unlink.',
    effects: 'node',
    describe: () => 'links made and taken again',
    handle: ({ peers }) => {
      peers.now?.links.relink()
    },
  }),
]
