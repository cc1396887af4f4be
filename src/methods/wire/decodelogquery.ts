// Decodes log queries: eth_getLogs, filters and subscriptions.
import type { Hash } from '../../core/hex.ts'
import type { LogQuery, TopicFilter } from '../../node/events/logs.ts'
import { address, hash } from '../../rpc/primitives.ts'
import { type Decoder, invalid } from '../../rpc/schema.ts'
import { blockReference } from './decodeblock.ts'
import { members, oneOrMore, refined, same } from './decodeobject.ts'

/** A position of `topics`: null for any, a topic, or a list of alternatives, where null also means any. */
const topicFilter: Decoder<TopicFilter> = {
  name: 'topic',
  json: {
    anyOf: [
      { type: 'null' },
      hash.json,
      { type: 'array', items: { anyOf: [hash.json, { type: 'null' }] } },
    ],
  },
  decode: (value, path) => {
    if (value === null) return null
    if (!Array.isArray(value)) return [hash.decode(value, path)]
    const alternatives = value.map((each, i) =>
      each === null ? null : hash.decode(each, `${path}[${i}]`),
    )
    return alternatives.some((each) => each === null) ? null : (alternatives as Hash[])
  },
}

const topics: Decoder<readonly TopicFilter[]> = {
  name: 'topics',
  json: { anyOf: [hash.json, { type: 'array', items: topicFilter.json, maxItems: 4 }] },
  decode: (value, path) => {
    if (typeof value === 'string') return [topicFilter.decode(value, path)]
    if (!Array.isArray(value) || value.length > 4) {
      throw invalid(path, 'a list of at most 4 topics', value)
    }
    return value.map((each, i) => topicFilter.decode(each, `${path}[${i}]`))
  },
}

export const logQuery: Decoder<LogQuery> = refined(
  members('filter', {
    fromBlock: blockReference,
    toBlock: blockReference,
    blockHash: hash,
    blockhash: hash,
    address: oneOrMore(address),
    topics,
  }),
  (given, path) => ({
    from: given.fromBlock,
    to: given.toBlock,
    blockHash: same(
      given.blockHash,
      given.blockhash,
      (a, b) => a === b,
      `${path}: blockHash and blockhash`,
    ),
    addresses: given.address ?? [],
    topics: given.topics ?? [],
  }),
)
