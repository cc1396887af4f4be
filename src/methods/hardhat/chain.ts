// hardhat: what the chain is, going back to its beginning, and its log.

import { keccakHash } from '../../core/crypto/crypto.ts'
import { DevchainError, printValue } from '../../core/errors.ts'
import { concatBytes, paddedBytes } from '../../core/hex.ts'
import { RESET, reset } from '../../node/commands/snapshots.ts'
import { headOf } from '../../node/ledger/blocktree.ts'
import type { ChainState, Snapshot } from '../../node/ledger/chainstate.ts'
import { snapshotsOf } from '../../node/ledger/snapshots.ts'
import { type Method, optional, param } from '../../rpc/method.ts'
import { boolean, hash, text } from '../../rpc/primitives.ts'
import type { Decoder, Encoder, Json } from '../../rpc/schema.ts'
import { type MethodContext, method } from '../common/context.ts'
import { requireUnlinked } from '../common/peers.ts'
import { clientVersionOf } from '../common/version.ts'
import { ack } from '../compat/profile.ts'
import { field, plainInteger, shape } from '../wire/encodeobject.ts'

/** Options of a reset, which may name a chain to fork: there is none here. */
const resetOptions: Decoder<null> = {
  name: 'options',
  json: { type: 'object' },
  decode: (value, path) => {
    if (!Array.isArray(value) && isEmpty(value)) return null
    const message = `${path}: expected none, as this chain is no fork of another, got ${printValue(value)}`
    throw new DevchainError('INVALID_PARAMS', message)
  },
}

/** True of an object in which nothing is said: clients write members that they were not given as null. */
function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).every((member) => member === null || isEmpty(member))
}

/** What is said of a chain as a whole. */
interface Metadata {
  readonly clientVersion: string
  readonly state: ChainState
  readonly instanceId: string
  readonly snapshots: readonly Snapshot[]
}

/** By id, the number and the hash of the block at which each was taken. */
const snapshotsShape: Encoder<readonly Snapshot[]> = {
  name: 'snapshots',
  json: { type: 'object', additionalProperties: { type: 'array' } },
  encode: (snapshots) =>
    Object.fromEntries(
      snapshots.map(({ id, state }): [string, Json] => {
        const { header, hash: blockHash } = headOf(state.tree).block
        return [`0x${id.toString(16)}`, [Number(header.number), blockHash]]
      }),
    ),
}

const metadata = method({
  name: 'hardhat_metadata',
  aliases: ['anvil_metadata'],
  summary: 'The program, the chain and its newest block; instanceId changes with each reset.',
  params: [],
  result: shape<Metadata>('metadata', {
    clientVersion: field(text, ({ clientVersion }) => clientVersion),
    chainId: field(plainInteger, ({ state }) => state.config.chainId),
    instanceId: field(text, ({ instanceId }) => instanceId),
    latestBlockNumber: field(plainInteger, ({ state }) => headOf(state.tree).block.header.number),
    latestBlockHash: field(hash, ({ state }) => headOf(state.tree).block.hash),
    snapshots: field(snapshotsShape, ({ snapshots }) => snapshots),
  }),
  example: { params: [] },
  handle: (context) => {
    const { chain } = context
    const { state } = chain
    const instanceId = keccakHash(concatBytes(chain.instance, paddedBytes(BigInt(state.resets), 8)))
    const clientVersion = clientVersionOf(context)
    return { clientVersion, state, instanceId, snapshots: snapshotsOf(state) }
  },
})

const resetTo = method({
  name: 'hardhat_reset',
  aliases: ['anvil_reset'],
  summary:
    'Goes back to genesis; forgets snapshots and the pool. There are no forks of other chains.',
  params: [optional('options', resetOptions)],
  result: ack,
  example: { params: [], result: null },
  writes: 'chain',
  handle: async ({ chain, peers, profile }) => {
    requireUnlinked({ peers }, 'reset the chain')
    await chain.update(reset, RESET)
    return profile.ack
  },
})

const setLoggingEnabled = method({
  name: 'hardhat_setLoggingEnabled',
  aliases: ['anvil_setLoggingEnabled'],
  summary: 'Turns the log of calls and blocks off and on.',
  params: [param('enabled', boolean)],
  result: ack,
  example: { params: [true], result: null },
  tell: ([enabled]) => `log ${enabled ? 'on' : 'off'}`,
  handle: ({ logging, profile }, enabled) => {
    logging.isEnabled = enabled
    return profile.ack
  },
})

export const hardhatChainMethods: readonly Method<MethodContext>[] = [
  metadata,
  resetTo,
  setLoggingEnabled,
]
