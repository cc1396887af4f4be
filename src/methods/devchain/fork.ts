// devchain_forkInfo: what is known of the network that the chain is a fork of.
import type { Upstream } from '../../node/ledger/upstream.ts'
import { boolean, hash, nullable, text } from '../../rpc/primitives.ts'
import { type Methods, method } from '../common/context.ts'
import { field, plainInteger, quantityResult, shape } from '../wire/encodeobject.ts'

export const forkMethods: Methods = [
  method({
    name: 'devchain_forkInfo',
    summary:
      'The network that the chain is a fork of, its block, and how much it was asked; null for no fork.',
    params: [],
    result: nullable(
      shape<Upstream>('fork', {
        chainId: field(quantityResult, ({ chainId }) => chainId),
        blockNumber: field(quantityResult, ({ number }) => number),
        blockHash: field(hash, (upstream) => upstream.hash),
        source: field(text, (upstream) => upstream.facts().name),
        proven: field(boolean, (upstream) => upstream.facts().isProven),
        stateRootsHold: field(boolean, (upstream) => upstream.facts().isRootKnown),
        requestsSent: field(plainInteger, (upstream) => BigInt(upstream.facts().requests)),
        itemsAsked: field(plainInteger, (upstream) => BigInt(upstream.facts().asked)),
        batchSize: field(plainInteger, (upstream) => BigInt(upstream.facts().batch)),
      }),
    ),
    example: { params: [], result: null },
    handle: ({ chain }) => chain.state.config.upstream ?? null,
  }),
]
