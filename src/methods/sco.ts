// sco: scores of peers, and banned addresses.
import { REPUTATION_EVENTS, type Reputation } from '../node/peers.ts'
import { param } from '../rpc/method.ts'
import { boolean, list, text } from '../rpc/primitives.ts'
import type { Encoder } from '../rpc/schema.ts'
import { nullCommand } from './common/command.ts'
import { type Methods, method } from './common/context.ts'
import { field, plain, plainInteger, type ShapeField, shape } from './wire/encodeobject.ts'

function integer<T>(get: (value: T) => number): ShapeField<T> {
  return field(plainInteger, (value: T) => BigInt(Math.round(get(value))))
}

const reputationShape: Encoder<Reputation> = shape<Reputation>('reputation', {
  ...Object.fromEntries(
    REPUTATION_EVENTS.map((event) => [event, integer<Reputation>((one) => one.counts[event])]),
  ),
  score: integer(({ score }) => score),
  punishments: integer(({ punishments }) => punishments),
  goodReputation: field(boolean, ({ isGood }) => isGood),
  punishedUntil: integer(({ punishedUntil }) => punishedUntil),
  ...plain({ id: text, type: text }),
})

type All = readonly Reputation[]

function sum(get: (one: Reputation) => number): ShapeField<All> {
  return integer((all) => all.reduce((total, one) => total + get(one), 0))
}

const summaryShape: Encoder<All> = shape<All>('reputation summary', {
  count: integer(({ length }) => length),
  ...Object.fromEntries(
    REPUTATION_EVENTS.map((event) => [event, sum(({ counts }) => counts[event])]),
  ),
  peersTotalScore: sum(({ score }) => score),
  punishments: sum(({ punishments }) => punishments),
  goodReputationCount: sum(({ isGood }) => (isGood ? 1 : 0)),
  badReputationCount: sum(({ isGood }) => (isGood ? 0 : 1)),
})

export const scoMethods: Methods = [
  method('sco_peerList', {
    summary: 'Returns the peer scores, by node and by address.',
    result: list(reputationShape),
    example: { result: [] },
    handle: ({ peers }) => peers.now?.reputations() ?? [],
  }),
  method('sco_reputationSummary', {
    summary: 'Returns the sums over sco_peerList.',
    result: summaryShape,
    handle: ({ peers }) => peers.now?.reputations() ?? [],
  }),
  nullCommand('sco_banAddress', {
    summary: 'Bans an address or address range: ends its links and refuses new ones.',
    params: [param('address', text)],
    example: { params: ['10.0.0.0/8'], result: null },
    effects: 'node',
    describe: ([address]) => `banned ${address}`,
    handle: async ({ peers }, address) => (await peers.load()).ban(address),
  }),
  nullCommand('sco_unbanAddress', {
    summary: 'Ends a ban of sco_banAddress; null also if there is none.',
    params: [param('address', text)],
    example: { params: ['10.0.0.0/8'], result: null },
    effects: 'node',
    describe: ([address]) => `no longer banned ${address}`,
    handle: async ({ peers }, address) => (await peers.load()).unban(address),
  }),
  method('sco_bannedAddresses', {
    summary: 'Returns the bans of sco_banAddress: addresses first, then ranges.',
    result: list(text),
    example: { result: [] },
    handle: ({ peers }) => peers.now?.banned() ?? [],
  }),
  method('sco_clearPeerScoring', {
    summary: "Clears a peer's score and ban, by node id or address; returns all scores.",
    params: [param('peer', text)],
    result: list(reputationShape),
    example: { params: ['10.0.0.7'], result: [] },
    effects: 'node',
    handle: ({ peers }, peer) => {
      peers.now?.clearReputation(peer)
      return peers.now?.reputations() ?? []
    },
  }),
]
