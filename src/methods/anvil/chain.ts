// anvil: chain information, and dumps of the state.

import { DevchainError } from '../../core/errors.ts'
import type { Chain } from '../../node/chain/chain.ts'
import { loadState } from '../../node/dump/load.ts'
import { dumpInMemory } from '../../node/dump/source.ts'
import type { Spool } from '../../node/dump/spool.ts'
import { dumpState } from '../../node/dump/write.ts'
import { blockByNumber, headOf } from '../../node/ledger/blocktree.ts'
import type { Upstream } from '../../node/ledger/upstream.ts'
import { type NextRules, nextRules } from '../../node/mining/environment.ts'
import { gasPrice } from '../../node/sending/gasoracle.ts'
import { readForkUrl, showFork } from '../../options/fork.ts'
import { JsonText } from '../../rpc/jsontext.ts'
import { optional, param, secret } from '../../rpc/method.ts'
import { boolean, data, hash, quantity, text } from '../../rpc/primitives.ts'
import { type Encoder, invalid } from '../../rpc/schema.ts'
import { command, trueCommand } from '../common/command.ts'
import { type MethodContext, type Methods, method } from '../common/context.ts'
import { requireUnlinked } from '../common/peers.ts'
import { field, plainInteger, quantityResult, shape } from '../wire/encodeobject.ts'

/** The highest chain id that clients represent exactly. */
const MAX_CHAIN_ID = BigInt(Number.MAX_SAFE_INTEGER)

/** The forked network in the members that anvil's clients read, without keys. */
const forkConfig: Encoder<Upstream | undefined> = {
  name: 'fork',
  json: { type: 'object' },
  encode: (upstream) => ({
    forkUrl: upstream?.facts().name ?? null,
    forkBlockNumber: upstream === undefined ? null : Number(upstream.number),
    forkRetryBackoff: null,
  }),
}

const environmentShape: Encoder<MethodContext> = shape<MethodContext>('environment', {
  baseFee: field(quantityResult, ({ chain }) => nextRulesOf(chain).baseFee),
  chainId: field(plainInteger, ({ chain }) => chain.state.config.chainId),
  gasLimit: field(quantityResult, ({ chain }) => chain.state.settings.blockGasLimit),
  gasPrice: field(quantityResult, ({ chain }) => gasPrice(chain.state)),
})

export const anvilChainMethods: Methods = [
  method('anvil_nodeInfo', {
    aliases: ['hardhat_nodeInfo'],
    summary: 'Returns the head, the rules of the next block, and the order of transactions.',
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
      forkConfig: field(forkConfig, ({ chain }) => chain.state.config.upstream),
    }),
    handle: (context) => context,
  }),
  method('anvil_getGenesisTime', {
    summary: 'Returns the timestamp of block 0, in seconds since 1970, as a JSON number.',
    result: plainInteger,
    handle: ({ chain }) => blockByNumber(chain.state.tree, 0n)!.block.header.timestamp,
  }),
  method('anvil_getLastBlockWallTime', {
    summary: 'Returns the system time at which the last block was made, in milliseconds.',
    result: plainInteger,
    handle: ({ chain }) => BigInt(chain.headMadeAt),
  }),
  command('anvil_setChainId', {
    aliases: ['hardhat_setChainId'],
    summary: 'Sets the chain id for new transactions; a revert restores the old one.',
    params: [param('chainId', quantity)],
    example: { params: ['0x7a69'], result: null },
    describe: ([chainId]) => `chain id ${chainId}`,
    handle: async ({ chain }, chainId) => {
      if (chainId < 1n || chainId > MAX_CHAIN_ID) {
        throw invalid('chainId', `1 to ${MAX_CHAIN_ID}`, chainId)
      }
      await chain.update((state) => ({
        state: { ...state, config: { ...state.config, chainId } },
        value: undefined,
      }))
    },
  }),
  method('anvil_dumpState', {
    aliases: ['hardhat_dumpState'],
    summary: 'Dumps the chain as gzipped JSON; {historical} adds the state of each block.',
    params: [optional('historical', boolean, false)],
    result: data,
    handle: async ({ chain, caller }, historical) =>
      hexText(await dumpState(chain, historical, caller)),
  }),
  trueCommand('anvil_loadState', {
    aliases: ['hardhat_loadState'],
    summary: 'Loads a dump of anvil_dumpState; one without blocks only sets accounts.',
    params: [param('state', data)],
    example: { params: [`0x${Buffer.from('{"accounts":{}}').toString('hex')}`], result: true },
    describe: () => 'state loaded',
    handle: async ({ chain, peers }, bytes) => {
      requireUnlinked({ peers }, 'load a state')
      const source = dumpInMemory(bytes)
      await chain.update((state) => loadState(state, source, chain.environment.now()))
    },
  }),
  command('anvil_setRpcUrl', {
    aliases: ['hardhat_setRpcUrl'],
    summary: 'Switches a fork to another RPC URL, which must have the forked block.',
    params: [secret(param('url', text))],
    example: { params: ['http://127.0.0.1:8546'] },
    effects: 'node',
    handle: async ({ chain, forking, profile }, url) => {
      const read = readForkUrl(url)
      const [node] = read?.urls ?? []
      if (node === undefined || read?.block !== undefined) {
        const message = `url: expected a node URL, https://… or http://…, and no block, got ${showFork(url)}`
        throw new DevchainError('INVALID_PARAMS', message)
      }
      const isForked = chain.state.tree.network !== undefined
      if (isForked || profile.refusesUrlWithoutFork) await forking.move(node)
    },
  }),
]

/** Hex digits in pieces, so that a dump may be longer than a string. */
function hexText(bytes: Spool): JsonText {
  const pieces = bytes.parts().map((read) => async () => {
    const part = await read()
    return Buffer.from(
      Buffer.from(part.buffer, part.byteOffset, part.length).toString('hex'),
      'latin1',
    )
  })
  const written = {
    size: 2 * bytes.size + 4,
    pieces: [Buffer.from('"0x'), ...pieces, Buffer.from('"')],
  }
  return new JsonText(() => written)
}

function nextRulesOf({ state, environment }: Chain): NextRules {
  return nextRules(state, environment.now())
}
