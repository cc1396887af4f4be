// devchain: named snapshots, and reorgs on request.
import { DevchainError, invalidParams, limitExceeded } from '../../core/errors.ts'
import { plural } from '../../core/format.ts'
import type { Hash } from '../../core/hex.ts'
import { isTestMnemonic } from '../../node/accounts/mnemonic.ts'
import { type ReplayedTransaction, replayBranch } from '../../node/commands/branches.ts'
import {
  dropSnapshot,
  returnTo,
  revertOptions,
  takeNamedSnapshot,
} from '../../node/commands/snapshots.ts'
import type { BlockRecord, ExecutedTransaction } from '../../node/ledger/blockrecord.ts'
import { headOf } from '../../node/ledger/blocktree.ts'
import type { BlockRange } from '../../node/ledger/canonicalchain.ts'
import type { ChainState, Snapshot } from '../../node/ledger/chainstate.ts'
import { leftBlocks } from '../../node/ledger/leftblocks.ts'
import { snapshotsOf } from '../../node/ledger/snapshots.ts'
import type { Reorganized } from '../../node/mining/reorganize.ts'
import type { Header } from '../../protocol/blocks/header.ts'
import { param } from '../../rpc/method.ts'
import { boolean, data, hash, list, nullable, quantity, text } from '../../rpc/primitives.ts'
import { type Decoder, invalid, type Json } from '../../rpc/schema.ts'
import { type Methods, method } from '../common/context.ts'
import { blocks, emptyBlocks, type Order, run } from '../common/reorganize.ts'
import { requireUnlinked } from '../common/require.ts'
import { blockHash } from '../wire/decodeblock.ts'
import {
  type Decoded,
  either,
  isObject,
  isText,
  members,
  refined,
  required,
} from '../wire/decodeobject.ts'
import { field, plain, plainInteger, quantityResult, shape } from '../wire/encodeobject.ts'

const snapshotShape = shape<Snapshot>('snapshot', {
  ...plain({ id: quantityResult, name: nullable(text) }),
  blockNumber: field(quantityResult, (snapshot) => headerOf(snapshot).number),
  blockHash: field(hash, ({ state }) => headOf(state.tree).block.hash),
  timestamp: field(quantityResult, (snapshot) => headerOf(snapshot).timestamp),
})

function headerOf({ state }: Snapshot): Header {
  return headOf(state.tree).block.header
}

/** `{name}`, or the name alone. */
const name: Decoder<string> = either(
  'name or {name}',
  isText,
  text,
  refined(members('order', { name: text }), (given, path) => {
    if (given.name !== undefined) return given.name
    const message = `${path}.name: expected a name for the snapshot, got nothing; evm_snapshot takes one without`
    throw invalidParams(message)
  }),
)

/** Names begin with a letter, so that they differ from ids. */
const nameOrId: Decoder<string | number> = {
  name: 'name or id',
  example: 'deployed',
  json: { anyOf: [text.json, quantity.json] },
  decode: (value, path) => {
    if (typeof value === 'string' && !/^\d/.test(value)) return value
    if (typeof value === 'string' || typeof value === 'number') {
      return Number(quantity.decode(value, path))
    }
    throw invalid(path, 'the name or the id of a snapshot', value)
  },
}

const reorgKinds = { depth: quantity, blocks, requeue: boolean }

/** `{depth, blocks, requeue}`, or the depth alone. */
const order: Decoder<Order> = refined(
  either(
    'depth or {depth, blocks, requeue}',
    isObject,
    members('reorganization', reorgKinds),
    refined(quantity, (depth): Decoded<typeof reorgKinds> => ({ depth })),
  ),
  ({ depth: given, requeue = true, blocks }, path) => {
    const depth = required(given, `${path}.depth`, 'how many blocks are replaced')
    return { depth, requeue, blocks: blocks ?? emptyBlocks(Number(depth), `${path}.depth`) }
  },
)

const hashes = list(hash)

/** Hashes only: in bulk-mined runs the blocks themselves would have to be made. */
function hashesOf(blocks: BlockRange): Hash[] {
  return Array.from({ length: blocks.length }, (_, index) => blocks.hashAt(index))
}

const reorganized = shape<Reorganized>('reorganization', {
  removed: field(hashes, ({ removed }) => hashesOf(removed).reverse()),
  added: field(hashes, ({ added }) => hashesOf(added)),
  requeued: field(hashes, ({ requeued }) => requeued.map((transaction) => transaction.hash)),
})

/** Bytes of a pack that clients of JSON-RPC take, in hex. */
const MAX_SENT = 128_000_000

/** A pack has the keys, and anybody who reaches the port may ask. */
function requirePublicKeys({ config }: ChainState): void {
  if (isTestMnemonic(config.options.mnemonic)) return
  const message =
    'a pack has the keys, and the mnemonic is not the public one: use save() of createDevchain, or --state DIR and devchain state export'
  throw new DevchainError('METHOD_NOT_SUPPORTED', message)
}

function requireSendable(pack: Uint8Array): Uint8Array {
  if (pack.length <= MAX_SENT) return pack
  const message = `the pack has ${pack.length} bytes, and may have ${MAX_SENT} here: use save() of createDevchain, or --state DIR and devchain state export`
  throw limitExceeded(message)
}

const leftShape = shape<BlockRecord>('block', {
  number: field(quantityResult, ({ block }) => block.header.number),
  hash: field(hash, ({ block }) => block.hash),
  parentHash: field(hash, ({ block }) => block.header.parentHash),
  timestamp: field(quantityResult, ({ block }) => block.header.timestamp),
  transactions: field(hashes, ({ block }) => block.transactions.map((each) => each.hash)),
})

const runShape = shape<ExecutedTransaction>('run', {
  status: field(boolean, ({ receipt }) => receipt.status),
  gasUsed: field(quantityResult, ({ receipt }) => receipt.gasUsed),
  logs: field(plainInteger, ({ receipt }) => receipt.logs.length),
  output: field(data, ({ output }) => output),
  error: field(nullable(text), ({ failure }) => failure?.reason),
})

const replayedShape = shape<ReplayedTransaction>('replayed', {
  hash: field(hash, ({ before }) => before.transaction.hash),
  blockNumber: field(quantityResult, ({ was }) => was.block.header.number),
  ...plain({ before: runShape, after: nullable(runShape), refusal: nullable(text) }),
})

export const snapshotMethods: Methods = [
  method('devchain_snapshot', {
    summary: 'Takes a snapshot under a {name}; it stays until replaced, dropped, or a reset.',
    params: [param('order', name)],
    result: snapshotShape,
    example: { params: [{ name: 'deployed' }] },
    effects: 'chain',
    handle: ({ chain }, given) => chain.update((state) => takeNamedSnapshot(state, given)),
  }),
  method('devchain_snapshots', {
    summary: 'Returns all snapshots, oldest first; those of evm_snapshot have no name.',
    result: list(snapshotShape, 'snapshot'),
    example: { result: [] },
    handle: ({ chain }) => snapshotsOf(chain.state),
  }),
  method('devchain_revert', {
    summary: 'Restores a snapshot, by name or id, and keeps it for more reverts.',
    params: [param('snapshot', nameOrId)],
    result: snapshotShape,
    effects: 'revert',
    handle: ({ chain, peers }, wanted) => {
      requireUnlinked({ peers }, 'revert to a snapshot')
      return chain.update((state) => returnTo(state, wanted), revertOptions(chain.state, wanted))
    },
  }),
  method('devchain_dropSnapshot', {
    summary: 'Deletes a snapshot, by name or id, and returns it; the chain does not change.',
    params: [param('snapshot', nameOrId)],
    result: snapshotShape,
    effects: 'chain',
    describe: (_values, dropped) => {
      const { name, id } = dropped as Readonly<Record<'name' | 'id', Json>>
      return `dropped snapshot ${name ?? id}`
    },
    handle: ({ chain }, unwanted) => chain.update((state) => dropSnapshot(state, unwanted)),
  }),
  method('devchain_save', {
    summary: 'Returns a pack: the chain with its snapshots, as the bytes of a file for --from.',
    result: data,
    handle: async ({ chain: { state }, options: { compat } }) => {
      requirePublicKeys(state)
      const { writePack } = await import('../../store/packfile.ts')
      return requireSendable(await writePack({ state, compat }))
    },
  }),
  method('devchain_reorg', {
    summary: 'Replaces the last {depth} blocks by {blocks}: a count, or lists of transactions.',
    params: [param('order', order)],
    result: reorganized,
    example: { params: [{ depth: '0x2' }] },
    effects: 'chain',
    handle: ({ chain, caller }, given) => run(chain, given, caller),
  }),
  method('devchain_leftBlocks', {
    summary: 'Returns the known blocks that reverts and reorgs took off the chain, newest first.',
    result: list(leftShape, 'block'),
    example: { result: [] },
    handle: ({ chain }) => [...leftBlocks(chain.state)],
  }),
  method('devchain_replay', {
    summary: 'Runs blocks off the chain again on it, up to one: what was, and what is now.',
    params: [param('block', blockHash)],
    result: list(replayedShape, 'transaction'),
    onFork: 'here',
    effects: 'chain',
    describe: (_values, replayed) => {
      const runs = replayed as unknown as readonly { readonly after: Json }[]
      const refused = runs.filter(({ after }) => after === null).length
      return `ran ${plural(runs.length, 'transaction')} again${refused > 0 ? `, of which ${refused} may not be in their block any more` : ''}`
    },
    handle: ({ chain, caller }, { hash: wanted }) => {
      const now = chain.environment.now()
      return chain.update((state, executor) => replayBranch(executor, state, wanted, now), {
        cancellation: caller,
      })
    },
  }),
]
