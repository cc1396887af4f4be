// anvil: mining, reorgs, the pool, chain information, and dumps of the state.
import { invalidParams, limitExceeded } from '../../core/errors.ts'
import { number } from '../../core/format.ts'
import { revertText } from '../../evm/reasons.ts'
import type { Chain } from '../../node/chain/chain.ts'
import { setBlockInterval } from '../../node/commands/time.ts'
import type { Spool } from '../../node/dump/spool.ts'
import type { BlockRecord } from '../../node/ledger/blockrecord.ts'
import {
  blockByNumber,
  executedAt,
  headOf,
  type TransactionPlace,
} from '../../node/ledger/blocktree.ts'
import type { Upstream } from '../../node/ledger/upstream.ts'
import { dropTransaction, dropTransactions } from '../../node/mining/drop.ts'
import { type NextRules, nextRules } from '../../node/mining/environment.ts'
import { blobByHash, blobsOfTransaction } from '../../node/sending/blobs.ts'
import { gasPrice } from '../../node/sending/gasoracle.ts'
import { readForkUrl, showFork } from '../../options/fork.ts'
import { JsonText } from '../../rpc/jsontext.ts'
import { optional, param, secret } from '../../rpc/method.ts'
import {
  address,
  asJson,
  boolean,
  data,
  hash,
  list,
  nothing,
  nullable,
  quantity,
  quantityNumber,
  text,
} from '../../rpc/primitives.ts'
import { type Encoder, invalid } from '../../rpc/schema.ts'
import { command, increasedTime, nullCommand, trueCommand } from '../common/command.ts'
import { headBlock, type MethodContext, type Methods, method } from '../common/context.ts'
import { mineOn, mineParameters, ONE_BLOCK } from '../common/mine.ts'
import { emptyBlocks, item, run } from '../common/reorganize.ts'
import { requireUnlinked } from '../common/require.ts'
import { pair } from '../wire/decodeobject.ts'
import { transactionHash } from '../wire/decodetransaction.ts'
import { blockFields, viewOfBlock } from '../wire/encodeblock.ts'
import {
  encodedAs,
  field,
  fieldIfAny,
  plainInteger,
  quantityResult,
  reached,
  shape,
} from '../wire/encodeobject.ts'
import { transactionFields, viewOfPlaced } from '../wire/encodetransaction.ts'

/** With its return data, and its revert reason if any (anvil's members). */
const minedTransaction: Encoder<TransactionPlace> = shape('mined transaction', {
  ...reached(transactionFields, (place: TransactionPlace) => viewOfPlaced(place, false)),
  output: field(data, (place) => executedAt(place).output),
  revertReason: fieldIfAny(text, (place) => {
    const { failure, output } = executedAt(place)
    return failure?.kind === 'revert' ? revertText(output) : undefined
  }),
})

interface MinedBlock {
  readonly record: BlockRecord
  readonly upstream: Upstream | undefined
}

const minedBlockShape = shape<MinedBlock>('mined block', {
  ...reached(blockFields, ({ record, upstream }: MinedBlock) => viewOfBlock(record, upstream)),
  transactions: field(
    encodedAs(list(minedTransaction), ({ record }: MinedBlock) =>
      record.executed.map((_, index) => ({ record, index })),
    ),
    (block) => block,
  ),
})

/** Limit of full blocks in one reply. */
const MAX_DETAILED = 1_000n

/** anvil's pair of a transaction and the index of its new block, from 0. */
const placedItem = pair('[transaction, index of a new block]', item, quantityNumber)

const UNKNOWN = `0x01${'ab'.repeat(31)}`

/** The highest chain id that clients represent exactly. */
const MAX_CHAIN_ID = BigInt(Number.MAX_SAFE_INTEGER)

/** The forked network in the members that anvil's clients read, without keys. */
const forkConfig: Encoder<Upstream | undefined> = shape<Upstream | undefined>('fork', {
  forkUrl: field(nullable(text), (upstream) => upstream?.facts().name),
  forkBlockNumber: field(nullable(plainInteger), (upstream) => upstream?.number),
  forkRetryBackoff: field(nothing, () => null),
})

const environmentShape: Encoder<MethodContext> = shape<MethodContext>('environment', {
  baseFee: field(quantityResult, ({ chain }) => nextRulesOf(chain).baseFee),
  chainId: field(plainInteger, ({ chain }) => chain.state.config.chainId),
  gasLimit: field(quantityResult, ({ chain }) => chain.state.settings.blockGasLimit),
  gasPrice: field(quantityResult, ({ chain }) => gasPrice(chain.state)),
})

export const anvilChainMethods: Methods = [
  command('anvil_mine', {
    summary: 'Mines 1 block or more; every timestamp is {interval} seconds after the one before.',
    params: [optional('blocks', quantity, 1n), optional('interval', quantity)],
    example: { params: ['0x3e8', '0x3c'], result: null },
    handle: ({ chain, caller }, blocks, interval) =>
      mineOn(
        chain,
        ({ tree }) => {
          // with interval 0 the first block has the clock's time, because block times must differ
          const isSpaced = interval !== undefined && interval > 0n
          const { timestamp } = headOf(tree).block.header
          return { blocks, interval, timestamp: isSpaced ? timestamp + interval : undefined }
        },
        caller,
      ),
  }),
  method('anvil_mine_detailed', {
    aliases: ['evm_mine_detailed', 'anvil_mineDetailed', 'hardhat_mineDetailed'],
    summary: 'Mines like evm_mine; returns the blocks with outputs and revert reasons.',
    params: [optional('order', mineParameters, ONE_BLOCK)],
    result: list(minedBlockShape),
    effects: 'chain',
    handle: async ({ chain, caller }, order) => {
      if (order.blocks > MAX_DETAILED) {
        const message = `order.blocks: expected at most ${MAX_DETAILED} blocks to be answered in full, got ${order.blocks}`
        throw limitExceeded(message)
      }
      const mined = await mineOn(chain, () => order, caller)
      const { upstream } = chain.state.config
      return [...mined].map((record) => ({ record, upstream }))
    },
  }),
  method('anvil_getIntervalMining', {
    aliases: ['hardhat_getIntervalMining'],
    summary: 'Returns the seconds between blocks of interval mining; null if it is off.',
    result: nullable(asJson<number>('number', { type: 'number' })),
    example: { result: null },
    handle: ({ chain }) => {
      const { mode } = chain.state.mining
      return mode.kind === 'interval' ? mode.intervalMs / 1000 : null
    },
  }),
  command('anvil_setBlockTimestampInterval', {
    aliases: ['hardhat_setBlockTimestampInterval'],
    summary: 'Sets the seconds between block timestamps, whatever the clock says.',
    params: [param('seconds', quantity)],
    example: { params: ['0x3c'], result: null },
    describe: ([seconds]) => `blocks ${number(seconds)} s apart`,
    handle: ({ chain }, seconds) => chain.update((state) => setBlockInterval(state, seconds)),
  }),
  method('anvil_removeBlockTimestampInterval', {
    aliases: ['hardhat_removeBlockTimestampInterval'],
    summary: 'Ends anvil_setBlockTimestampInterval; false if none was set.',
    result: boolean,
    example: { result: false },
    effects: 'chain',
    describe: () => 'blocks at the time of the clock',
    handle: ({ chain }) =>
      chain.update((state) => {
        const isSet = state.clock.interval !== undefined
        return { ...setBlockInterval(state, undefined), value: isSet }
      }),
  }),
  /** Anvil's clients accept only a JSON number. */
  method('anvil_increaseTime', {
    summary: 'Moves the clock ahead like evm_increaseTime, but returns a JSON number.',
    params: [param('seconds', quantity)],
    result: plainInteger,
    example: { params: ['0xe10'], result: 3600 },
    effects: 'chain',
    handle: ({ chain }, seconds) => increasedTime(chain, seconds),
  }),
  nullCommand('anvil_reorg', {
    summary: 'Replaces the last {depth} blocks by as many with only the given transactions.',
    params: [param('depth', quantity), optional('transactions', list(placedItem), [])],
    example: { params: ['0x1', []] },
    handle: async ({ chain, caller }, depth, placed) => {
      const empty = emptyBlocks(Number(depth), 'depth')
      const outside = placed.find(([, index]) => index >= empty.length)
      if (outside !== undefined) {
        throw invalid(
          'transactions',
          `an index of a new block, 0 to ${empty.length - 1}`,
          outside[1],
        )
      }
      const filled = empty.map((_, i) => placed.filter(([, at]) => at === i).map(([each]) => each))
      await run(chain, { depth, blocks: filled, requeue: false }, caller)
    },
  }),
  nullCommand('anvil_rollback', {
    summary: 'Removes the last block, or several, with their transactions.',
    params: [optional('depth', quantity, 1n)],
    example: { params: ['0x1'] },
    handle: async ({ chain, caller, peers }, depth) => {
      requireUnlinked({ peers }, 'take blocks off the chain')
      await run(chain, { depth, blocks: [], requeue: false }, caller)
    },
  }),
  method('anvil_dropTransaction', {
    summary: 'Removes a transaction from the pool; returns its hash, or null if unknown.',
    params: [transactionHash],
    result: nullable(hash),
    example: { params: [UNKNOWN], result: null },
    effects: 'chain',
    describe: ([wanted], result) =>
      result === null ? 'none of that hash waits' : `dropped ${wanted}`,
    handle: async ({ chain }, wanted) =>
      (await chain.update((state) => dropTransaction(state, wanted))) ? wanted : null,
  }),
  command('anvil_dropAllTransactions', {
    aliases: ['hardhat_dropAllTransactions', 'debug_clearTxpool'],
    summary: 'Removes all transactions from the pool.',
    describe: () => 'dropped all that waited',
    handle: ({ chain }) => chain.update((state) => dropTransactions(state)),
  }),
  command('anvil_removePoolTransactions', {
    aliases: ['hardhat_removePoolTransactions'],
    summary: 'Removes all transactions of a sender from the pool.',
    params: [param('sender', address)],
    describe: ([sender]) => `dropped what waited of ${sender}`,
    handle: ({ chain }, sender) => chain.update((state) => dropTransactions(state, sender)),
  }),
  method('anvil_getBlobByHash', {
    summary: 'Returns a blob by its versioned hash, among the 512 last sent; null if unknown.',
    params: [param('versionedHash', hash)],
    result: nullable(data),
    example: { params: [UNKNOWN], result: null },
    handle: ({ chain }, versionedHash) => blobByHash(chain.state, versionedHash) ?? null,
  }),
  method('anvil_getBlobsByTransactionHash', {
    summary: 'Returns the blobs of a mined or pending transaction; null if it has none.',
    params: [transactionHash],
    result: nullable(list(data)),
    example: { params: [UNKNOWN], result: null },
    onFork: 'here',
    handle: ({ chain }, transaction) => blobsOfTransaction(chain.state, transaction) ?? null,
  }),
  method('anvil_nodeInfo', {
    aliases: ['hardhat_nodeInfo'],
    summary: 'Returns the head, the rules of the next block, and the order of transactions.',
    result: shape<MethodContext>('node info', {
      currentBlockNumber: field(quantityResult, (context) => headBlock(context).header.number),
      currentBlockTimestamp: field(plainInteger, (context) => headBlock(context).header.timestamp),
      currentBlockHash: field(hash, (context) => headBlock(context).hash),
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
    handle: async ({ chain, caller }, historical) => {
      const { dumpState } = await import('../../node/dump/write.ts')
      return hexText(await dumpState(chain, historical, caller))
    },
  }),
  trueCommand('anvil_loadState', {
    aliases: ['hardhat_loadState'],
    summary: 'Loads a dump of anvil_dumpState; one without blocks only sets accounts.',
    params: [param('state', data)],
    example: { params: [`0x${Buffer.from('{"accounts":{}}').toString('hex')}`], result: true },
    describe: () => 'state loaded',
    handle: async ({ chain, peers, notes }, bytes) => {
      requireUnlinked({ peers }, 'load a state')
      const { loadState } = await import('../../node/dump/load.ts')
      const { dumpInMemory } = await import('../../node/dump/source.ts')
      const source = dumpInMemory(bytes)
      const notice = await chain.update((state) =>
        loadState(state, source, chain.environment.now()),
      )
      if (notice !== undefined) notes.push(notice)
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
        const message = `url: expected a node URL (http, https, ws or wss) and no block, got ${showFork(url)}`
        throw invalidParams(message)
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
