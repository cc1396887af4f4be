// Writes a dump: the whole chain as gzipped JSON in anvil's format.
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createGzip } from 'node:zlib'
import { limitExceeded } from '../../core/errors.ts'
import { EMPTY_BYTES, hexFromBytes, quantityFromBigint, wordFromBigint } from '../../core/hex.ts'
import { yielder } from '../../core/yield.ts'
import { type Cancellation, throwIfCancelled } from '../../evm/cancellation.ts'
import {
  type Account,
  accountsOf,
  emptyAccount,
  emptyWorld,
  type World,
} from '../../state/world.ts'
import type { Replayed } from '../calls/replay.ts'
import type { BlockRecord } from '../ledger/blockrecord.ts'
import { firstOwn, headOf } from '../ledger/blocktree.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import { KeptRecord } from '../ledger/packing/keptrecord.ts'
import { blobFeeIn } from '../mining/environment.ts'
import { analyzedCode, printJson } from './anvil.ts'
import { MAX_DUMP } from './members.ts'
import { genesisWorldOf } from './read.ts'
import { Spool } from './spool.ts'
import { tracesOf } from './traces.ts'
import { dumpedBlock, dumpedOutcomes } from './writeblocks.ts'

/** Least characters of JSON of an empty block. */
const LEAST_BLOCK = 1_000

/** Characters of JSON per write. */
const PIECE = 2 ** 19

/** Bytes that the compressor returns at a time. */
const COMPRESSED_PIECE = 2 ** 17

/**
 * The gzipped dump. A fork's dump has only its own blocks, and the accounts that are loaded here. Transactions are replayed
 * for anvil's call frames.
 * @param historical adds the accounts after each older block
 * @throws {DevchainError} `LIMIT_EXCEEDED` for more blocks than can be loaded, and if the disk is full; `CANCELLED`
 */
export async function dumpState(
  { state, executor }: Replayed,
  historical = false,
  cancellation?: Cancellation,
): Promise<Spool> {
  const blocks = state.tree.canonical.length - firstOwn(state.tree)
  if (blocks * LEAST_BLOCK > MAX_DUMP) {
    const message = `the dump of ${blocks} blocks has more than ${MAX_DUMP} bytes of JSON, the most that can be loaded`
    throw limitExceeded(message)
  }
  const spool = new Spool()
  const gzip = createGzip({ level: constants.Z_BEST_SPEED, chunkSize: COMPRESSED_PIECE })
  const json = Readable.from(dumpText({ state, executor }, historical, cancellation))
  await pipeline(json, gzip, async (parts) => {
    for await (const part of parts) await spool.add(part as Uint8Array)
  })
  return spool
}

/** The JSON of a dump in pieces, of any length. */
export async function* dumpText(
  chain: Replayed,
  historical: boolean,
  cancellation?: Cancellation,
): AsyncIterableIterator<Uint8Array> {
  const yieldIfDue = yielder()
  for await (const piece of piecesOf(chain, historical)) {
    yield piece
    throwIfCancelled(cancellation)
    await yieldIfDue()
  }
}

/** Transactions stand behind all blocks: until then they wait in a spool, or are made once more if it has no room. */
async function* piecesOf(chain: Replayed, historical: boolean): AsyncIterableIterator<Uint8Array> {
  yield* inPieces(beginningOf(chain.state))
  const spool = new Spool()
  let areSpooled = true
  for await (const { blocks, transactions } of listsOf(chain)) {
    areSpooled &&= (await spool.add(transactions).catch(() => false)) !== false
    yield blocks
  }
  yield* inPieces(['],"transactions":['])
  if (areSpooled) for (const read of spool.parts()) yield read()
  else for await (const { transactions } of listsOf(chain)) yield transactions
  yield* inPieces(endOf(chain.state, historical))
}

/** Pieces of both lists, as each block is unpacked once. */
async function* listsOf(
  chain: Replayed,
): AsyncIterableIterator<Record<'blocks' | 'transactions', Uint8Array>> {
  const [blocks, transactions] = [new Pieces(), new Pieces()]
  const { tree } = chain.state
  for (const record of tree.canonical.values(firstOwn(tree))) {
    const parts = KeptRecord.partsOf(record)
    const full = blocks.addEntry(printJson(dumpedBlock(parts.block)))
    if (full !== undefined) yield { blocks: full, transactions: EMPTY_BYTES }
    if (parts.executed.length === 0) continue
    for (const outcome of dumpedOutcomes(parts, await tracesOf(chain, record, parts))) {
      const full = transactions.addEntry(printJson(outcome))
      if (full !== undefined) yield { blocks: EMPTY_BYTES, transactions: full }
    }
  }
  yield { blocks: blocks.rest(), transactions: transactions.rest() }
}

function* inPieces(parts: Iterable<string>): IterableIterator<Uint8Array> {
  const pieces = new Pieces()
  for (const part of parts) {
    const full = pieces.add(part)
    if (full !== undefined) yield full
  }
  yield pieces.rest()
}

/** ASCII text as bytes, written down at once: a long text of many parts would be slow to collect. */
class Pieces {
  #bytes = Buffer.allocUnsafe(PIECE)
  #used = 0
  #separator = ''

  /** @returns the bytes before, if there is no room behind them */
  add(text: string): Uint8Array | undefined {
    const full = this.#used + text.length > this.#bytes.length ? this.rest() : undefined
    if (full !== undefined) this.#bytes = Buffer.allocUnsafe(Math.max(PIECE, text.length))
    this.#used += this.#bytes.write(text, this.#used, 'latin1')
    return full
  }

  addEntry(text: string): Uint8Array | undefined {
    const full = this.add(this.#separator + text)
    this.#separator = ','
    return full
  }

  rest(): Uint8Array {
    const used = this.#bytes.subarray(0, this.#used)
    this.#used = 0
    return used
  }
}

function* beginningOf(state: ChainState): IterableIterator<string> {
  const { config } = state
  const head = headOf(state.tree)
  const genesis = ownGenesisOf(state)
  yield `{"block":${environmentOf(state, head)},"chain_id":${config.chainId}`
  yield `,"best_block_number":${head.block.header.number},"accounts":{`
  yield* joined(accountsWith(head.world, genesis), accountParts)
  yield '},"blocks":['
}

function* endOf(state: ChainState, historical: boolean): IterableIterator<string> {
  const { canonical } = state.tree
  const first = firstOwn(state.tree)
  yield '],"historical_states":'
  if (historical && canonical.length > first) {
    const genesis = ownGenesisOf(state)
    const records = filtered(
      canonical.values(first, canonical.length - 1),
      ({ isStateless }) => isStateless !== true,
    )
    yield '['
    yield* joined(records, (record) => olderState(record, genesis))
    yield ']'
  } else yield 'null'
  yield '}'
}

type Parts = readonly string[] | IterableIterator<string>

function* joined<T>(items: Iterable<T>, print: (item: T) => Parts): IterableIterator<string> {
  let separator = ''
  for (const item of items) {
    yield separator
    yield* print(item)
    separator = ','
  }
}

/** A fork has no genesis of its own. */
function ownGenesisOf(state: ChainState): World {
  return state.tree.network === undefined ? genesisWorldOf(state) : emptyWorld
}

/** Includes empty accounts for deleted ones of the genesis, because a loader starts with its genesis. */
function* accountsWith(world: World, genesis: World): IterableIterator<Account> {
  yield* accountsOf(world)
  if (world === genesis) return
  for (const [key, { address }] of genesis.accounts.entries()) {
    if (world.accounts.get(key, address) === undefined) yield emptyAccount(address)
  }
}

/** Written out because limits and fees may exceed JavaScript's exact numbers. */
function environmentOf(state: ChainState, { block: { header } }: BlockRecord): string {
  const { number, timestamp, excessBlobGas = 0n } = header
  const blobPrice = blobFeeIn(state, header)
  const members = [
    `"number":"${quantityFromBigint(number)}"`,
    `"beneficiary":"${header.miner}"`,
    `"timestamp":"${quantityFromBigint(timestamp)}"`,
    `"gas_limit":${header.gasLimit}`,
    `"basefee":${header.baseFeePerGas ?? 0n}`,
    `"difficulty":"${quantityFromBigint(header.difficulty)}"`,
    `"prevrandao":"${header.mixHash}"`,
    `"blob_excess_gas_and_price":{"excess_blob_gas":${excessBlobGas},"blob_gasprice":${blobPrice}}`,
    '"slot_num":0',
  ]
  return `{${members.join()}}`
}

function* accountParts(account: Account): IterableIterator<string> {
  const { address, nonce, balance, code, storage } = account
  const members = `"${address}":{"nonce":${nonce},"balance":"${quantityFromBigint(balance)}","code":"${hexFromBytes(code)}","storage":`
  if (storage.isEmpty) {
    yield `${members}{}}`
    return
  }
  yield members
  yield* storageParts(account)
  yield '}'
}

function* storageParts({ storage }: Account): IterableIterator<string> {
  yield '{'
  yield* joined(storage.values(), ({ slot, value }) => [
    `"${wordFromBigint(slot)}":"${wordFromBigint(value)}"`,
  ])
  yield '}'
}

function* olderState({ block, world }: BlockRecord, genesis: World): IterableIterator<string> {
  yield `["${block.hash}",{"accounts":{`
  yield* joined(accountsWith(world, genesis), (account) => [olderAccount(account)])
  yield '},"storage":{'
  const withStorage = filtered(accountsOf(world), ({ storage }) => !storage.isEmpty)
  yield* joined(withStorage, storageOf)
  yield '},"block_hashes":{}}]'
}

function* filtered<T>(items: Iterable<T>, isWanted: (item: T) => boolean): IterableIterator<T> {
  for (const item of items) if (isWanted(item)) yield item
}

function* storageOf(account: Account): IterableIterator<string> {
  yield `"${account.address}":`
  yield* storageParts(account)
}

function olderAccount({ address, nonce, balance, codeHash, code }: Account): string {
  return `"${address}":{"balance":"${quantityFromBigint(balance)}","nonce":${nonce},"code_hash":"${codeHash}","code":${analyzedCode(code)}}`
}
