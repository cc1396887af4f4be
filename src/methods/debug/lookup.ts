// debug: look-ups by hash or key, what blocks changed, and blocks as the bytes that are hashed.
import { DevchainError } from '../../core/errors.ts'
import {
  type Address,
  bytesFromHex,
  type Hash,
  hashFromBytes,
  paddedBytes,
} from '../../core/hex.ts'
import type { MaybePromise } from '../../core/promises.ts'
import { yielding } from '../../core/yield.ts'
import { combineTracers } from '../../evm/tracers/combine.ts'
import { recordBlockHashes } from '../../evm/tracers/recorders.ts'
import { accessListOfBlock } from '../../node/calls/blockaccesslist.ts'
import { replay, replayOne } from '../../node/calls/replay.ts'
import { type Sight, witnessOf } from '../../node/calls/witness.ts'
import type { Chain } from '../../node/chain/chain.ts'
import { recordAt, stateAt } from '../../node/chain/lookup.ts'
import type { BlockRecord } from '../../node/ledger/blockrecord.ts'
import { blockByNumber, headOf } from '../../node/ledger/blocktree.ts'
import { knownParent } from '../../node/ledger/leftblocks.ts'
import { withWorldReady } from '../../node/ledger/packing/keptrecord.ts'
import type { BlockReference } from '../../node/ledger/references.ts'
import { reorganize } from '../../node/mining/reorganize.ts'
import { encodeAccessList } from '../../protocol/blocks/accesslist.ts'
import { encodeBlock } from '../../protocol/blocks/block.ts'
import { encodeHeader } from '../../protocol/blocks/header.ts'
import { optional, param } from '../../rpc/method.ts'
import {
  address,
  asJson,
  data,
  hash,
  list,
  nullable,
  quantity,
  quantityNumber,
} from '../../rpc/primitives.ts'
import { type Decoder, invalid } from '../../rpc/schema.ts'
import {
  accountAt,
  accountOrEmpty,
  accountsOf,
  isSameAccount,
  stateRoot,
  type World,
} from '../../state/world.ts'
import { nullCommand } from '../common/command.ts'
import { type MethodContext, type Methods, method } from '../common/context.ts'
import { requireUnlinked } from '../common/require.ts'
import { newTraceWork, recordBlock } from '../tracing/recording.ts'
import { touchRecorder } from '../tracing/tracers.ts'
import { block, blockHash, blockOrLatest, blockReference } from '../wire/decodeblock.ts'
import { accountInfo, plainShape, quantityResult } from '../wire/encodeobject.ts'
import { encodedReceipts } from '../wire/encodereceipt.ts'
import { ACCOUNT, UNKNOWN } from '../wire/examples.ts'

/** geth's prefix of code keys: the letter c. */
const CODE_PREFIX = 0x63

const CODE_KEY_LENGTH = 33

/**
 * geth's database key of code: the letter c and the code's hash, as 0x hex or text.
 * @see https://github.com/paradigmxyz/reth/blob/main/crates/rpc/rpc/src/debug.rs debug_db_get
 */
const codeKey: Decoder<Hash> = {
  name: 'key of code',
  json: { title: 'key', type: 'string' },
  decode: (value, path) => {
    const bytes =
      typeof value === 'string' && !value.startsWith('0x')
        ? Uint8Array.from(value, (letter) => letter.charCodeAt(0))
        : data.decode(value, path)
    if (bytes.length === CODE_KEY_LENGTH && bytes[0] === CODE_PREFIX) {
      return hashFromBytes(bytes.subarray(1))
    }
    throw invalid(
      path,
      "0x63 and the 32 bytes of a code's hash, as there is no database with other keys",
      value,
    )
  },
}

/**
 * reth's form: lists without hashes, which the reader computes.
 * @see https://github.com/alloy-rs/alloy/blob/main/crates/rpc-types-debug/src/execution_witness.rs
 */
const witness = plainShape('execution witness', {
  state: list(data),
  codes: list(data),
  keys: list(data),
  headers: list(data),
})

const earliest = { params: [blockOrLatest], example: { params: ['earliest'] } } as const

/** A handler that refuses unknown blocks. */
function ofKnown<R>(
  handle: (record: BlockRecord, context: MethodContext) => MaybePromise<R>,
): (context: MethodContext, block: BlockReference) => Promise<R> {
  return async (context, block) =>
    handle(await recordAt(context.chain, block, context.caller), context)
}

export const debugLookupMethods: Methods = [
  method('debug_getModifiedAccountsByNumber', {
    summary: 'Returns the accounts that one block or a range changed, by block number.',
    params: [block, optional('end', blockReference)],
    result: list(address),
    example: { params: ['0x1'] },
    onFork: 'modifiedAccounts',
    handle: modified,
  }),
  method('debug_getModifiedAccountsByHash', {
    summary: 'Returns the accounts that one block or a range changed, by block hash.',
    params: [param('hash', blockHash), optional('end', blockHash)],
    result: list(address),
    example: { params: [blockHash.example!] },
    onFork: 'modifiedAccounts',
    handle: modified,
  }),
  method('debug_intermediateRoots', {
    summary: 'Returns the state root after each transaction of a block.',
    params: [param('hash', blockHash)],
    result: list(hash),
    onFork: 'network',
    handle: async ({ chain }, block) => {
      const roots: Hash[] = []
      const record = await recordAt(chain, block)
      for await (const { outcome } of replay(chain, record, () => undefined)) {
        roots.push(stateRoot(outcome.world))
      }
      return roots
    },
  }),
  method('debug_codeByHash', {
    summary: 'Returns code by its Keccak-256, if an account has it after a block; otherwise null.',
    params: [param('hash', hash), blockOrLatest],
    result: nullable(data),
    example: { params: [UNKNOWN], result: null },
    onFork: 'code',
    handle: async ({ chain, caller }, codeHash, block) =>
      codeIn((await stateAt(chain, block, caller)).world, codeHash),
  }),
  method('debug_dbGet', {
    summary: "Returns code by geth's database key: 0x63 and the code hash.",
    params: [param('key', codeKey)],
    result: nullable(data),
    example: { params: [`0x63${'ab'.repeat(32)}`], result: null },
    handle: ({ chain }, codeHash) => codeIn(newestWorld(chain), codeHash),
  }),
  method('debug_preimage', {
    summary: 'Returns the address or storage slot whose Keccak-256 is a key of the newest state.',
    params: [param('hash', hash)],
    result: data,
    handle: ({ chain }, wanted) => preimageIn(newestWorld(chain), wanted),
  }),
  method('debug_accountInfoAt', {
    summary: 'Returns an account after the transaction at an index of a block; null if none.',
    params: [block, param('index', quantityNumber), param('address', address)],
    result: nullable(accountInfo),
    example: { params: ['latest', '0x0', ACCOUNT], result: null },
    onFork: 'replay',
    handle: async ({ chain, caller }, block, index, account) => {
      const record = await recordAt(chain, block, caller)
      if (index >= record.block.transactions.length) return null
      const { outcome } = await replayOne(chain, { record, index }, () => undefined)
      return accountOrEmpty(outcome.world, account)
    },
  }),
  method('debug_getBadBlocks', {
    summary: 'Returns rejected blocks: always an empty list.',
    result: list(asJson('bad block', { type: 'object', required: ['hash', 'block', 'rlp'] })),
    example: { result: [] },
    handle: () => [],
  }),
  nullCommand('debug_freeOSMemory', {
    summary: 'Runs the garbage collector; all requests wait for it.',
    effects: 'node',
    handle: () => {
      collectGarbage()
    },
  }),
  method('debug_wireProtocolQueueSize', {
    summary: 'Returns how many peer messages wait to be sent or handled.',
    result: quantityResult,
    example: { result: '0x0' },
    handle: ({ peers }) => BigInt(peers.now?.links.queued ?? 0),
  }),
  nullCommand('debug_setHead', {
    summary: 'Removes all blocks after a number, as a reorg does, with their transactions.',
    params: [param('number', quantity)],
    example: { params: ['0x0'], result: null },
    handle: async ({ chain, caller, peers }, number) => {
      requireUnlinked({ peers }, 'take blocks off the chain')
      const now = chain.environment.now()
      await chain.update(
        (state, executor) => {
          const head = headOf(state.tree).block.header.number
          if (number === head) return { state, value: undefined }
          if (number > head) throw invalid('number', `a block up to the newest, ${head}`, number)
          const depth = head - number
          return reorganize(executor, state, { depth, blocks: [], requeue: false, now })
        },
        { cancellation: caller },
      )
    },
  }),
  method('debug_getRawBlock', {
    ...earliest,
    summary: 'Returns a block as RLP: header, transactions, uncles, withdrawals.',
    result: data,
    onFork: 'rawBlock',
    handle: ofKnown(({ block }) => encodeBlock(block)),
  }),
  method('debug_getRawHeader', {
    ...earliest,
    summary: 'Returns a header as RLP; its Keccak-256 is the block hash.',
    result: data,
    onFork: 'rawHeader',
    handle: ofKnown(({ block }) => encodeHeader(block.header)),
  }),
  method('debug_getRawReceipts', {
    ...earliest,
    summary: 'Returns the encoded receipts of a block.',
    result: list(data, 'receipt'),
    example: { params: ['earliest'], result: [] },
    onFork: 'rawReceipts',
    handle: ofKnown(encodedReceipts),
  }),
  method('debug_getRawTransactions', {
    ...earliest,
    summary: 'Returns the encoded transactions of a block.',
    result: list(data, 'transaction'),
    example: { params: ['earliest'], result: [] },
    onFork: 'rawTransactions',
    handle: ofKnown(({ block }) => block.transactions.map(({ raw }) => raw)),
  }),
  method('debug_getRawBlockAccessList', {
    aliases: ['debug_getBlockAccessList'],
    summary: 'Returns the access list of a block as RLP (EIP-7928).',
    params: [blockOrLatest],
    result: data,
    onFork: 'accessList',
    handle: ofKnown(async (record, { chain, caller }) =>
      encodeAccessList(await accessListOfBlock(chain, record, caller)),
    ),
  }),
  method('debug_executionWitness', {
    summary: 'Returns the trie nodes, codes and headers that a block needs to run statelessly.',
    params: [block],
    result: witness,
    example: { params: ['0x1'] },
    onFork: 'network',
    handle: ofKnown(async (record, context) =>
      witnessOf(context.chain, record, await sightOf(context, record)),
    ),
  }),
]

/**
 * Accounts that differ between two blocks, or before and after one block.
 * @throws {DevchainError} `NOT_FOUND` for unknown blocks, `INVALID_PARAMS` if the end is not after the start
 */
async function modified(
  { chain, caller }: MethodContext,
  first: BlockReference,
  last: BlockReference | undefined,
): Promise<Address[]> {
  const start = await recordAt(chain, first, caller)
  const end = last === undefined ? start : await recordAt(chain, last, caller)
  const before = last === undefined ? parentOf(chain, start) : start
  const [from, to] = [before.block.header.number, end.block.header.number]
  if (from >= to) throw invalid('end', `a block after ${from}`, to)
  await withWorldReady(before)
  await withWorldReady(end)
  return differences(before.world, end.world)
}

function parentOf({ state }: Chain, record: BlockRecord): BlockRecord {
  const { number } = record.block.header
  const parent = knownParent(state, record) ?? blockByNumber(state.tree, number - 1n)
  if (parent !== undefined) return parent
  const message = `block ${number} has no parent here to compare it with`
  throw new DevchainError('NOT_FOUND', message)
}

async function differences(before: World, after: World): Promise<Address[]> {
  const addresses: Address[] = []
  for await (const account of yielding(accountsOf(after))) {
    if (!isSameAccount(accountAt(before, account.address), account)) addresses.push(account.address)
  }
  for await (const { address: gone } of yielding(accountsOf(before))) {
    if (accountAt(after, gone) === undefined) addresses.push(gone)
  }
  return addresses
}

function newestWorld({ state }: Chain): World {
  return headOf(state.tree).world
}

async function codeIn(world: World, codeHash: Hash): Promise<Uint8Array | null> {
  for await (const account of yielding(accountsOf(world))) {
    if (account.codeHash === codeHash) return account.code
  }
  return null
}

/** @throws {DevchainError} `NOT_FOUND` for a hash without a known key */
async function preimageIn(world: World, wanted: Hash): Promise<Uint8Array> {
  const key = bytesFromHex(wanted)
  const account = world.accounts.get(key)
  if (account !== undefined) return bytesFromHex(account.address)
  for await (const { storage } of yielding(accountsOf(world))) {
    const slot = storage.get(key)
    if (slot !== undefined) return paddedBytes(slot.slot, 32)
  }
  const message = `unknown preimage: ${wanted} is no hash of an address or a slot of the newest state`
  throw new DevchainError('NOT_FOUND', message)
}

/** V8 exposes this function only under a flag, which is reset: cached bytecode is valid for one set of flags. */
function collectGarbage(): void {
  const { setFlagsFromString } = process.getBuiltinModule('node:v8')
  const { runInNewContext } = process.getBuiltinModule('node:vm')
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  setFlagsFromString('--no-expose-gc')
  collect()
}

/** Re-executes the block's transactions and records what they read. */
async function sightOf(context: MethodContext, record: BlockRecord): Promise<Sight> {
  const touched = new Map<Address, readonly bigint[]>()
  const hashes = recordBlockHashes(record.block.header.number)
  await recordBlock(context.chain, record, newTraceWork(context), ({ target }) => {
    const touches = touchRecorder(target)
    const write = async (): Promise<void> => {
      for (const [address, slots] of touches.touched) {
        touched.set(address, [...new Set([...(touched.get(address) ?? []), ...slots])])
      }
    }
    return { tracer: combineTracers([touches.tracer, hashes.tracer]), write }
  })
  return { touched, oldest: hashes.oldest() }
}
