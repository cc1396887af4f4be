// hardhat: chain information, reset, logging, and compilations.

import { keccakHash } from '../../core/crypto/crypto.ts'
import { DevchainError, printValue } from '../../core/errors.ts'
import { concatBytes, paddedBytes } from '../../core/hex.ts'
import { isObject } from '../../core/objects.ts'
import { RESET, reset, resetTo } from '../../node/commands/snapshots.ts'
import { headOf } from '../../node/ledger/blocktree.ts'
import type { ChainState, Snapshot } from '../../node/ledger/chainstate.ts'
import { snapshotsOf } from '../../node/ledger/snapshots.ts'
import type { Upstream } from '../../node/ledger/upstream.ts'
import { FORK_BLOCKS, isForkBlock, readForkUrl, showFork } from '../../options/fork.ts'
import { optional, param, secret } from '../../rpc/method.ts'
import { boolean, hash, text } from '../../rpc/primitives.ts'
import { type Decoder, type Encoder, invalid, type Json } from '../../rpc/schema.ts'
import { command, trueCommand, unsupported } from '../common/command.ts'
import { type ForkOrder, type Methods, method } from '../common/context.ts'
import { requireUnlinked } from '../common/peers.ts'
import { clientVersionOf } from '../common/version.ts'
import { members } from '../wire/decodeobject.ts'
import { field, fieldIfAny, plainInteger, shape } from '../wire/encodeobject.ts'

/** A block of the forked network; also a JSON integer. */
const forkBlock: Decoder<string> = {
  name: 'block of a network',
  json: {
    title: 'block of a network',
    anyOf: [{ type: 'string' }, { type: 'integer' }],
  },
  decode: (value, path) => {
    const isText = typeof value === 'string' && isForkBlock(value)
    if (isText || Number.isSafeInteger(value)) return String(value)
    throw invalid(path, `${FORK_BLOCKS}`, value)
  },
}

const forkMembers = { jsonRpcUrl: text, blockNumber: forkBlock }

const forkingMember = members('forking', forkMembers)

/** Anvil also accepts the fork members without `forking` around them. */
const optionMembers = members('options', { forking: forkingMember, ...forkMembers })

/** The fork after the reset: undefined for none, or the initial one. */
const resetOptions: Decoder<ForkOrder | undefined> = {
  name: 'options',
  json: optionMembers.json,
  decode: (value, path, notes) => {
    requireMeant(value, path, ['forking', 'jsonRpcUrl', 'blockNumber'])
    const { forking, ...order } = optionMembers.decode(value, path, notes)
    if (forking === undefined) {
      return Object.keys(order).length === 0 ? undefined : orderOf(order, path)
    }
    const inside = (value as { readonly forking: unknown }).forking
    requireMeant(inside, `${path}.forking`, ['jsonRpcUrl', 'blockNumber'])
    return orderOf(forking, `${path}.forking`)
  },
}

/** @throws {DevchainError} `INVALID_PARAMS` for a list, and for an object with only unknown members */
function requireMeant(value: unknown, path: string, known: readonly string[]): void {
  const names = Object.keys(value ?? {})
  const isMeant = names.length === 0 || names.some((name) => known.includes(name))
  if (!Array.isArray(value) && isMeant) return
  const got = Array.isArray(value) ? printValue(value) : `the members ${names.join(', ')}`
  const message = `${path}: expected {forking: {jsonRpcUrl, blockNumber}} or nothing, got ${got}`
  throw new DevchainError('INVALID_PARAMS', message)
}

function orderOf(
  { jsonRpcUrl, blockNumber }: { readonly [Name in keyof typeof forkMembers]?: string | undefined },
  path: string,
): ForkOrder {
  if (jsonRpcUrl === undefined) return { url: undefined, block: blockNumber }
  const read = readForkUrl(jsonRpcUrl)
  if (read === undefined) {
    const message = `${path}.jsonRpcUrl: expected a node URL, https://… or http://…, got ${showFork(jsonRpcUrl)}`
    throw new DevchainError('INVALID_PARAMS', message)
  }
  if (read.block !== undefined && blockNumber !== undefined) {
    const message = `${path}: expected one block, got @${read.block} and blockNumber ${blockNumber}`
    throw new DevchainError('INVALID_PARAMS', message)
  }
  return { url: read.urls[0], block: blockNumber ?? read.block }
}

function namesAny({ url, block }: ForkOrder): boolean {
  return url !== undefined || block !== undefined
}

interface Metadata {
  readonly clientVersion: string
  readonly state: ChainState
  readonly instanceId: string
  readonly snapshots: readonly Snapshot[]
}

/** By id: number and hash of the block of each snapshot. */
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

/** The forked network in hardhat's form. */
const forkedNetwork: Encoder<Upstream> = shape<Upstream>('forked network', {
  chainId: field(plainInteger, ({ chainId }) => chainId),
  forkBlockNumber: field(plainInteger, ({ number }) => number),
  forkBlockHash: field(hash, (upstream) => upstream.hash),
})

const compilerJson: Decoder<object> = {
  name: 'JSON of a compiler',
  json: { type: 'object' },
  decode: (value, path) => {
    if (isObject(value)) return value
    throw invalid(path, 'standard JSON of the compiler', value)
  },
}

export const hardhatChainMethods: Methods = [
  method('hardhat_metadata', {
    aliases: ['anvil_metadata'],
    summary: 'Returns client version, chain and head; {instanceId} changes with each reset.',
    result: shape<Metadata>('metadata', {
      clientVersion: field(text, ({ clientVersion }) => clientVersion),
      chainId: field(plainInteger, ({ state }) => state.config.chainId),
      instanceId: field(text, ({ instanceId }) => instanceId),
      latestBlockNumber: field(plainInteger, ({ state }) => headOf(state.tree).block.header.number),
      latestBlockHash: field(hash, ({ state }) => headOf(state.tree).block.hash),
      snapshots: field(snapshotsShape, ({ snapshots }) => snapshots),
      forkedNetwork: fieldIfAny(forkedNetwork, ({ state }) => state.config.upstream),
    }),
    handle: (context) => {
      const { chain } = context
      const { state } = chain
      const instanceId = keccakHash(
        concatBytes(chain.instance, paddedBytes(BigInt(state.resets), 8)),
      )
      const clientVersion = clientVersionOf(context)
      return { clientVersion, state, instanceId, snapshots: snapshotsOf(state) }
    },
  }),
  command('hardhat_reset', {
    aliases: ['anvil_reset'],
    summary: 'Restarts the chain, or forks a network; forgets snapshots, pool and imported keys.',
    // a URL may contain a key
    params: [secret(optional('options', resetOptions))],
    effects: 'reset',
    handle: async ({ chain, peers, forking }, order) => {
      requireUnlinked({ peers }, 'reset the chain')
      const isFork = chain.state.config.upstream !== undefined
      // viem sends {forking: {blockNumber: null}} for a plain reset
      const forks = order !== undefined && (forking.knowsNetwork() || namesAny(order))
      if (!forks && !isFork) await chain.update(reset, RESET)
      else {
        const origin = await (forks ? forking.begin(order) : forking.leave())
        await chain.update((state) => resetTo(state, origin), RESET)
      }
    },
  }),
  command('hardhat_setLoggingEnabled', {
    aliases: ['anvil_setLoggingEnabled'],
    summary: 'Turns the log of calls and blocks on or off.',
    params: [param('enabled', boolean)],
    example: { params: [true], result: null },
    effects: 'node',
    describe: ([enabled]) => `log ${enabled ? 'on' : 'off'}`,
    handle: ({ logging }, enabled) => {
      logging.isEnabled = enabled
    },
  }),
  trueCommand('hardhat_addCompilationResult', {
    summary: "Adds artifacts from a compilation, as Hardhat's node does.",
    params: [
      param('solcVersion', text),
      param('compilerInput', compilerJson),
      param('compilerOutput', compilerJson),
    ],
    example: { params: ['0.8.37', { sources: {} }, { contracts: {} }], result: true },
    effects: 'node',
    handle: async ({ project }, solcVersion, input, output) => {
      const name = `compilation by solc ${solcVersion}`
      await project.addArtifacts({ given: { input, output }, name })
    },
  }),
  ...unsupported(
    'it counts stack traces that Hardhat makes within its own process',
    'hardhat_getStackTraceFailuresCount',
  ),
]
