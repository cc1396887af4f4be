// A block with its transactions and receipts as bytes. Senders are part of it, so that no signature is recovered again.
import { keccakHash } from '../../../core/crypto/crypto.ts'
import { scratchRlp } from '../../../core/fastrlp/writer.ts'
import { EMPTY_BYTES, equalBytes, type Hash, hashFromBytes, putHex } from '../../../core/hex.ts'
import {
  decodeRlp,
  decodeRlpItem,
  encodedItems,
  type RlpItem,
  type RlpValue,
} from '../../../core/rlp.ts'
import type { Block } from '../../../protocol/blocks/block.ts'
import { type BloomTest, bloomOf, EMPTY_BLOOM, mayHave } from '../../../protocol/blocks/bloom.ts'
import {
  FIELDS,
  type Header,
  type HeaderName,
  headerFrom,
} from '../../../protocol/blocks/header.ts'
import { type BlockGas, type Log, logItem, type Receipt } from '../../../protocol/blocks/receipt.ts'
import { blobGasOf } from '../../../protocol/fees.ts'
import { ListFields } from '../../../protocol/fields.ts'
import { decodeBlockTransaction } from '../../../protocol/transactions/transactiondecoding.ts'
import type { BlockRecord, ExecutedTransaction, LoggedBlock } from '../blockrecord.ts'
import { StoredBytes } from './slab.ts'

export type BlockParts = Pick<BlockRecord, 'block' | 'executed'>

/**
 * Hash, bloom if there are logs, then a list of two: the header's other fields that are not the template's, and the
 * transactions with their results.
 */
export class PackedBlock extends StoredBytes {
  readonly hasLogs: boolean
  readonly template: Header
  /** What few blocks have, as it is. */
  readonly rest: Rest | undefined
  readonly size: number

  constructor(
    bytes: Uint8Array,
    { hasLogs, template, rest, size }: Pick<PackedBlock, 'hasLogs' | 'template' | 'rest' | 'size'>,
  ) {
    super(bytes)
    this.hasLogs = hasLogs
    this.template = template
    this.rest = rest
    this.size = size
  }

  /** Reads the bloom in place: a view of each is slow where many are looked at. */
  mayHave(test: BloomTest): boolean {
    if (!this.hasLogs) return mayHave(test, EMPTY_BLOOM)
    return mayHave(test, this.slab, this.start + HASH_LENGTH)
  }
}

const HASH_LENGTH = 32
const BLOOM_LENGTH = EMPTY_BLOOM.length

interface Rest extends Pick<Block, 'uncles' | 'withdrawals'> {
  readonly outcomes: RareOutcomes
}

/** What few transactions have, by their index. */
export type RareOutcomes = ReadonlyMap<number, OutcomeRest>

interface OutcomeRest extends Pick<ExecutedTransaction, 'failure' | 'consoleLines'> {
  /** Undefined: it is among the bytes. */
  readonly output: Uint8Array | undefined
}

/** Most fields that differ from a template's, of 23: amsterdam has two more that are new in each block. */
const MOST_CHANGES = 12

/** Bytes. Longer output is not copied: most of it is code, which the world has too. */
const LONG_OUTPUT = 256

const NONE: readonly never[] = []

/** Places in the list of a transaction. */
const RAW_ITEM = 0
const LOGS_ITEM = 8

const STATUS = 1n
const IS_ALONE = 2n
const IS_NOT_ALONE = 4n

/** @param near a header of the same chain, with which this one may share its fields */
export function packBlock({ block, executed }: BlockParts, near: Header | undefined): PackedBlock {
  const { header, uncles, withdrawals, size } = block
  const changed = near && changedFields(header, near)
  const template = near !== undefined && changed !== undefined ? near : header
  const { items, outcomes } = itemsOf(executed)
  const isPlain = outcomes.size === 0 && uncles.length === 0 && withdrawals.length === 0
  const rest = isPlain ? undefined : { outcomes, uncles, withdrawals }
  const { logsBloom } = header
  const hasLogs = logsBloom !== EMPTY_BLOOM && logsBloom.some((byte) => byte !== 0)
  const start = partsStart(hasLogs)
  const bytes = scratchRlp([changed ?? [0n], items], start)
  putHex(bytes, 0, block.hash)
  if (hasLogs) bytes.set(logsBloom, HASH_LENGTH)
  return new PackedBlock(bytes, { hasLogs, template, rest, size })
}

export function hashOfPacked(packed: PackedBlock): Hash {
  return hashFromBytes(packed.view(0, HASH_LENGTH))
}

/** To be read at once. */
export function logsBloomOfPacked(packed: PackedBlock): Uint8Array {
  return packed.hasLogs ? packed.view(HASH_LENGTH, BLOOM_LENGTH) : EMPTY_BLOOM
}

/** Decodes nothing else. */
export function loggedInPacked(packed: PackedBlock): LoggedBlock {
  const [fields, transactions] = encodedItems(packed.view(partsStart(packed.hasLogs)), 2)
  const { number, timestamp } = headerOf(decodeRlp(fields!), packed.template, EMPTY_BLOOM)
  const executed = encodedItems(transactions!, Number.POSITIVE_INFINITY).map((item) => ({
    transaction: { hash: keccakHash(decodeRlpItem(item, RAW_ITEM) as Uint8Array) },
    receipt: { logs: (decodeRlpItem(item, LOGS_ITEM) as readonly RlpItem[]).map(logOf) },
  }))
  return { block: { hash: hashOfPacked(packed), header: { number, timestamp } }, executed }
}

export function unpackBlock(packed: PackedBlock): BlockParts {
  const { template, rest, size } = packed
  const parts = decodeRlp(packed.read(partsStart(packed.hasLogs))) as readonly RlpItem[]
  const logsBloom = packed.hasLogs ? logsBloomOfPacked(packed).slice() : EMPTY_BLOOM
  const header = headerOf(parts[0]!, template, logsBloom)
  const { uncles = NONE, withdrawals = NONE, outcomes } = rest ?? {}
  const executed = executedOf(parts[1]!, outcomes, header)
  const transactions = executed.map(({ transaction }) => transaction)
  const hash = hashOfPacked(packed)
  return { block: { header, hash, transactions, uncles, withdrawals, size }, executed }
}

function partsStart(hasLogs: boolean): number {
  return HASH_LENGTH + (hasLogs ? BLOOM_LENGTH : 0)
}

type FieldValue = Header[HeaderName]

/** Which fields differ, a bit each, then their values; undefined if too many do. */
function changedFields(header: Header, template: Header): RlpValue[] | undefined {
  let changed = 0
  const values: RlpValue[] = [0n]
  for (let at = 0; at < FIELDS.length; at++) {
    const [name] = FIELDS[at]!
    const value = header[name]
    if (name === 'logsBloom' || isSame(value, template[name])) continue
    if (value === undefined || template[name] === undefined) return undefined
    changed |= 1 << at
    values.push(value)
  }
  values[0] = BigInt(changed)
  return values.length <= MOST_CHANGES + 1 ? values : undefined
}

function isSame(one: FieldValue, other: FieldValue): boolean {
  return (
    one === other ||
    (one instanceof Uint8Array && other instanceof Uint8Array && equalBytes(one, other))
  )
}

function headerOf(item: RlpItem, template: Header, logsBloom: Uint8Array): Header {
  const fields = new ListFields(item, 'packed header', 1, MOST_CHANGES + 1)
  const changed = Number(fields.integer('changed'))
  let at = 0
  return headerFrom((name, { kind }) => {
    if (((changed >> at++) & 1) === 1) return fields.read(kind, name)
    return name === 'logsBloom' ? logsBloom : template[name]
  })
}

/** Transactions with their results: a list each, and what few have. */
export function itemsOf(executed: readonly ExecutedTransaction[]): {
  readonly items: RlpValue[]
  readonly outcomes: RareOutcomes
} {
  const outcomes = new Map<number, OutcomeRest>()
  const items = executed.map((each, index) => {
    const { failure, consoleLines, output } = each
    const isLong = output.length > LONG_OUTPUT
    if (isLong || failure !== undefined || consoleLines.length > 0) {
      outcomes.set(index, { failure, consoleLines, output: isLong ? output : undefined })
    }
    return itemOf(each, isLong ? EMPTY_BYTES : output)
  })
  return { items, outcomes }
}

/** What `itemsOf` made of the transactions of the header's block. */
export function executedOf(
  items: RlpItem,
  outcomes: RareOutcomes | undefined,
  { logsBloom }: Header,
): ExecutedTransaction[] {
  const all = items as readonly RlpItem[]
  const bloom = all.length === 1 ? logsBloom : undefined
  return all.map((item, index) => fromItem(item, outcomes?.get(index), bloom))
}

function itemOf(executed: ExecutedTransaction, output: Uint8Array): RlpValue[] {
  const { transaction, receipt, isAlone } = executed
  const { status, root, cumulativeGasUsed, gasUsed, effectiveGasPrice, logs, blockGas } = receipt
  let flags = status ? STATUS : 0n
  if (isAlone !== undefined) flags |= isAlone ? IS_ALONE : IS_NOT_ALONE
  const items = [
    transaction.raw,
    transaction.from,
    flags,
    cumulativeGasUsed,
    gasUsed,
    effectiveGasPrice,
    receipt.contractAddress ?? EMPTY_BYTES,
    output,
    logs.map(logItem),
    receipt.blobGas?.price ?? 0n,
    root ?? EMPTY_BYTES,
  ]
  if (blockGas !== undefined) items.push(blockGas.execution, blockGas.state)
  return items
}

function fromItem(
  item: RlpItem,
  rest: OutcomeRest | undefined,
  bloom: Uint8Array | undefined,
): ExecutedTransaction {
  const fields = new ListFields(item, 'packed transaction', 11, 13)
  const raw = fields.bytes('raw')
  const sender = fields.address('from')
  const transaction = decodeBlockTransaction(raw, {
    hardfork: 'frontier',
    allowsImpersonated: true,
    sender,
  })
  const flags = fields.integer('flags')
  const [cumulativeGasUsed, gasUsed] = [fields.integer('cumulative'), fields.integer('gasUsed')]
  const effectiveGasPrice = fields.integer('price')
  const contractAddress = fields.addressOrNull('contractAddress')
  const output = fields.bytes('output')
  const logs = fields.list('logs').map(logOf)
  const blobPrice = fields.integer('blobPrice')
  const root = fields.bytes('root')
  const receipt: Receipt = {
    type: transaction.type,
    status: (flags & STATUS) !== 0n,
    root: root.length === 0 ? undefined : hashFromBytes(root),
    cumulativeGasUsed,
    gasUsed,
    effectiveGasPrice,
    logsBloom: bloom ?? bloomOf(logs),
    logs,
    contractAddress,
    blobGas: transaction.blobs && { used: blobGasOf(transaction), price: blobPrice },
    blockGas: blockGasOf(fields),
  }
  const isAlone =
    (flags & IS_ALONE) !== 0n ? true : (flags & IS_NOT_ALONE) !== 0n ? false : undefined
  return {
    transaction,
    receipt,
    output: rest?.output ?? output,
    failure: rest?.failure,
    consoleLines: rest?.consoleLines ?? NONE,
    isAlone,
  }
}

function blockGasOf(fields: ListFields): BlockGas | undefined {
  if (!fields.hasNext) return undefined
  return { execution: fields.integer('executionGas'), state: fields.integer('stateGas') }
}

function logOf(item: RlpItem): Log {
  const fields = new ListFields(item, 'packed log', 3, 3)
  const address = fields.address('address')
  const topics = fields.list('topics').map((topic) => hashFromBytes(topic as Uint8Array))
  return { address, topics, data: fields.bytes('data').slice() }
}
