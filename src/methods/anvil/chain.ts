// The chain as a whole: what it is, going back to its beginning, its accounts as a file, and its log.
import { keccakHash } from '../../core/crypto.ts'
import { DevchainError, printValue } from '../../core/errors.ts'
import { concatBytes, paddedBytes } from '../../core/hex.ts'
import type { Chain } from '../../node/chain/chain.ts'
import { RESET, reset } from '../../node/commands/commands.ts'
import { loadState } from '../../node/dump/load.ts'
import { dumpState } from '../../node/dump/write.ts'
import { blockByNumber, headOf } from '../../node/ledger/blocktree.ts'
import type { ChainState, Snapshot } from '../../node/ledger/chainstate.ts'
import { snapshotsOf } from '../../node/ledger/snapshots.ts'
import { type NextRules, nextRules } from '../../node/mining/miner.ts'
import { gasPrice } from '../../node/sending/gasoracle.ts'
import { type Method, optional, param } from '../../rpc/method.ts'
import { boolean, data, hash, quantity, text } from '../../rpc/primitives.ts'
import type { Decoder, Encoder, Json } from '../../rpc/schema.ts'
import { type MethodContext, method } from '../common/context.ts'
import { ack } from '../compat/profile.ts'
import { clientVersionOf } from '../web3.ts'
import { field, plainInteger, quantityResult, shape } from '../wire/encodeobject.ts'

/** The highest chain id that clients count with exactly. */
const MAX_CHAIN_ID = BigInt(Number.MAX_SAFE_INTEGER)

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

/** That the chain is no fork of another, in the members that anvil's clients read. */
const noFork: Encoder<null> = {
  name: 'fork',
  json: { type: 'object' },
  encode: () => ({ forkUrl: null, forkBlockNumber: null, forkRetryBackoff: null }),
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

const environmentShape: Encoder<MethodContext> = shape<MethodContext>('environment', {
  baseFee: field(quantityResult, ({ chain }) => nextRulesOf(chain).baseFee),
  chainId: field(plainInteger, ({ chain }) => chain.state.config.chainId),
  gasLimit: field(quantityResult, ({ chain }) => chain.state.settings.blockGasLimit),
  gasPrice: field(quantityResult, ({ chain }) => gasPrice(chain.state)),
})

const nodeInfo = method({
  name: 'anvil_nodeInfo',
  aliases: ['hardhat_nodeInfo'],
  summary: 'The newest block, the rules of the next one, and how transactions are ordered.',
  params: [],
  result: shape<MethodContext>('node info', {
    currentBlockNumber: field(
      quantityResult,
      ({ chain }) => headOf(chain.state.tree).block.header.number,
    ),
    currentBlockTimestamp: field(
      plainInteger,
      ({ chain }) => headOf(chain.state.tree).block.header.timestamp,
    ),
    currentBlockHash: field(hash, ({ chain }) => headOf(chain.state.tree).block.hash),
    hardFork: field(text, ({ chain }) => nextRulesOf(chain).hardfork),
    transactionOrder: field(text, () => 'fees'),
    environment: field(environmentShape, (context) => context),
    forkConfig: field(noFork, () => null),
  }),
  example: { params: [] },
  handle: (context) => context,
})

const getGenesisTime = method({
  name: 'anvil_getGenesisTime',
  summary: 'The time of block 0, in seconds since 1970, as a JSON number.',
  params: [],
  result: plainInteger,
  example: { params: [] },
  handle: ({ chain }) => blockByNumber(chain.state.tree, 0n)!.block.header.timestamp,
})

const getLastBlockWallTime = method({
  name: 'anvil_getLastBlockWallTime',
  summary:
    'When the last block came by the wall clock, in milliseconds since 1970, whatever its timestamp.',
  params: [],
  result: plainInteger,
  example: { params: [] },
  handle: ({ chain }) => BigInt(chain.headMadeAt),
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
  handle: async ({ chain, profile }) => {
    await chain.update(reset, RESET)
    return profile.ack
  },
})

const setChainId = method({
  name: 'anvil_setChainId',
  aliases: ['hardhat_setChainId'],
  summary: 'Sets the chain id that transactions are signed for from now on; a revert restores it.',
  params: [param('chainId', quantity)],
  result: ack,
  example: { params: ['0x7a69'], result: null },
  writes: 'chain',
  tell: ([chainId]) => `chain id ${chainId}`,
  handle: async ({ chain, profile }, chainId) => {
    if (chainId < 1n || chainId > MAX_CHAIN_ID) {
      const message = `chainId: expected 1 to ${MAX_CHAIN_ID}, got ${chainId}`
      throw new DevchainError('INVALID_PARAMS', message)
    }
    await chain.update((state) => ({
      state: { ...state, config: { ...state.config, chainId } },
      value: undefined,
    }))
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

const dump = method({
  name: 'anvil_dumpState',
  aliases: ['hardhat_dumpState'],
  summary:
    'The chain as gzipped JSON, which anvil reads too: accounts, blocks, transactions; historical: also the accounts after each older block.',
  params: [optional('historical', boolean, false)],
  result: data,
  example: { params: [] },
  handle: ({ chain }, historical) => dumpState(chain, historical),
})

const load = method({
  name: 'anvil_loadState',
  aliases: ['hardhat_loadState'],
  summary:
    'Loads what anvil_dumpState answered, here or on anvil: its blocks and accounts take the place of those here. A dump without blocks changes its accounts alone.',
  params: [param('state', data)],
  result: boolean,
  example: { params: [`0x${Buffer.from('{"accounts":{}}').toString('hex')}`], result: true },
  writes: 'chain',
  tell: () => 'state loaded',
  handle: async ({ chain }, bytes) => {
    await chain.update((state) => loadState(state, bytes, chain.environment.now()))
    return true
  },
})

function nextRulesOf({ state, environment }: Chain): NextRules {
  return nextRules(state, environment.now())
}

export const testingChainMethods: readonly Method<MethodContext>[] = [
  metadata,
  nodeInfo,
  getGenesisTime,
  getLastBlockWallTime,
  resetTo,
  setChainId,
  setLoggingEnabled,
  dump,
  load,
]
