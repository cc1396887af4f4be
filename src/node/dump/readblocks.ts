// The blocks of a dump, with their original headers so that hashes stay, and the results of each transaction.
import { keccakHash } from '../../core/crypto/crypto.ts'
import { DevchainError, unlessRefused } from '../../core/errors.ts'
import { scratchRlp } from '../../core/fastrlp/writer.ts'
import { type Address, EMPTY_BYTES, type Hash, ZERO_HASH } from '../../core/hex.ts'
import { getOrMake } from '../../core/lrucache.ts'
import { type Block, sizeOf } from '../../protocol/blocks/block.ts'
import { bloomOf, EMPTY_BLOOM } from '../../protocol/blocks/bloom.ts'
import {
  type Header,
  headerFrom,
  headerItems,
  transactionsRoot,
  unclesHash,
} from '../../protocol/blocks/header.ts'
import { EMPTY_TRIE_ROOT } from '../../protocol/blocks/orderedtrie.ts'
import { type Receipt, receiptsRoot } from '../../protocol/blocks/receipt.ts'
import { withdrawalsRoot } from '../../protocol/blocks/withdrawal.ts'
import { blobGasOf, effectiveGasPrice } from '../../protocol/fees.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import type { BlockRecord, ExecutedTransaction } from '../ledger/blockrecord.ts'
import type { ChainConfig } from '../ledger/chainstate.ts'
import { blobFeeIn } from '../mining/environment.ts'
import { createdBy, failureOf } from './anvil.ts'
import { hashAt, logOf, Members, noDump, withdrawalOf } from './members.ts'
import { decodedTransaction, type EncodedTransaction, readTransaction } from './readtransaction.ts'

const NONE: readonly never[] = []

/** Blocks off the chain may be wrong, so an error is kept until the block is needed. */
type Kept<T> = T | DevchainError

export interface GivenBlock {
  readonly header: Header
  readonly hash: Hash
  /** Bytes of the encoded header. */
  readonly headerSize: number
  readonly path: string
  readonly contents: Kept<Contents>
}

interface Contents extends Pick<Block, 'uncles' | 'withdrawals'> {
  readonly given: readonly EncodedTransaction[]
}

export type ReadBlock = Pick<BlockRecord, 'block' | 'executed'>

/** What a dump says of a transaction besides its block. */
interface Outcome {
  readonly path: string
  readonly index: number
  readonly transactionHash: unknown
  readonly from: Kept<Address | undefined>
  readonly exit: unknown
  readonly output: Kept<Uint8Array>
  readonly receipt: Kept<GivenReceipt>
}

interface GivenReceipt
  extends Pick<
    Receipt,
    'status' | 'root' | 'cumulativeGasUsed' | 'blockGas' | 'logs' | 'logsBloom'
  > {
  readonly path: string
}

/** By block hash; two of a transaction where anvil gives it two hashes. */
export type Outcomes = Map<Hash, Outcome[]>

export function addOutcome(outcomes: Outcomes, entry: unknown, path: string): void {
  const members = new Members(entry, path)
  const info = new Members(members.value('info'), `${path}.info`)
  const hash = members.hash('block_hash')
  const outcome: Outcome = {
    path: info.path,
    index: Number(info.integer('transaction_index', 32)),
    transactionHash: info.value('transaction_hash'),
    from: kept(() => info.optional('from', (name) => info.address(name))),
    exit: info.value('exit'),
    output: kept(() => info.optional('out', (name) => info.bytes(name)) ?? EMPTY_BYTES),
    receipt: kept(() => givenReceipt(members.value('receipt'), `${path}.receipt`)),
  }
  getOrMake(outcomes, hash, () => []).push(outcome)
}

function kept<T>(read: () => T): Kept<T> {
  return unlessRefused(read, (error) => error)
}

function needed<T>(value: Kept<T>): T {
  if (value instanceof DevchainError) throw value
  return value
}

/** @param readHeader of `headerReader`, for the headers of a dump, one after another */
export function givenBlock(
  value: unknown,
  path: string,
  readHeader: ReturnType<typeof headerReader>,
): GivenBlock {
  const members = new Members(value, path)
  const header = readHeader(members.value('header'), `${path}.header`)
  const encoded = scratchRlp(headerItems(header))
  const headerSize = encoded.length
  const hash = keccakHash(encoded)
  const contents = kept(() => ({
    given: members.each('transactions', readTransaction),
    uncles: members.has('ommers')
      ? members.each('ommers', (each, at) => headerReader()(each, at))
      : NONE,
    withdrawals: members.has('withdrawals') ? members.each('withdrawals', withdrawalOf) : NONE,
  }))
  return { header, hash, headerSize, path, contents }
}

/** @throws {DevchainError} `INVALID_PARAMS` for a malformed block, wrong roots, or a transaction without receipt */
export function readBlock(
  { header, hash, headerSize, path, contents }: GivenBlock,
  outcomes: Outcomes,
  config: ChainConfig,
): ReadBlock {
  const { given, uncles, withdrawals } = needed(contents)
  const sent = givenTransactions(given, outcomes.get(hash) ?? NONE, header, config)
  const transactions = sent.map(({ transaction }) => transaction)
  // anvil's transactions root includes blobs, so blob transactions are checked only by their own hashes
  if (transactions.every(({ type }) => type !== 3)) {
    requireRoot(path, 'transactionsRoot', header, transactionsRoot(transactions))
  }
  requireRoot(path, 'sha3Uncles', header, unclesHash(uncles))
  if (header.withdrawalsRoot !== undefined) {
    requireRoot(path, 'withdrawalsRoot', header, withdrawalsRoot(withdrawals))
  }
  const executed = executedOf(sent, header, config)
  requireRoot(path, 'receiptsRoot', header, receiptsRoot(executed.map(({ receipt }) => receipt)))
  const named = executed.map(({ transaction }) => transaction)
  const size = sizeOf({ header, transactions: named, uncles, withdrawals }, headerSize)
  return { block: { header, hash, transactions: named, uncles, withdrawals, size }, executed }
}

type Root = 'transactionsRoot' | 'sha3Uncles' | 'withdrawalsRoot' | 'receiptsRoot'

function requireRoot(path: string, name: Root, header: Header, computed: Hash): void {
  // anvil 1.4 and older leave roots of an empty genesis out
  const isLeftOut =
    header[name] === ZERO_HASH && header.number === 0n && computed === EMPTY_TRIE_ROOT
  if (header[name] === computed || isLeftOut) return
  const message = `${path}: block ${header.number} has the ${name} ${header[name]}, but its contents give ${computed}`
  throw noDump(message)
}

/** Headers share the values in which they do not differ from the one before. */
export function headerReader(): (value: unknown, path: string) => Header {
  let before = new Members({}, '')
  let known: Partial<Header> = {}
  return (value, path) => {
    const members = new Members(value, path)
    const header = headerFrom((name, { kind, size, since }) => {
      const given = members.value(name)
      if (given !== undefined && given === before.value(name)) return known[name]
      return since === undefined || given !== undefined ? members.read(kind, name, size) : undefined
    })
    before = members
    known = header
    return header
  }
}

interface Sent {
  readonly transaction: Transaction
  readonly isImpersonated: boolean
  readonly outcome: Outcome
}

function givenTransactions(
  given: readonly EncodedTransaction[],
  outcomes: readonly Outcome[],
  { number, timestamp }: Header,
  config: ChainConfig,
): Sent[] {
  const hardfork = config.hardforkAt(number, timestamp)
  const byIndex = new Map<number, Outcome[]>()
  for (const each of outcomes) getOrMake(byIndex, each.index, () => []).push(each)
  return given.map((each, index) => {
    const entries = byIndex.get(index) ?? []
    const [first] = entries
    const transaction = decodedTransaction(each, hardfork, first && needed(first.from))
    const { hash } = transaction
    const outcome = entries.find(({ transactionHash }) => transactionHash === hash) ?? first
    if (outcome === undefined) {
      throw noDump(`transactions: ${hash} is missing, index ${index} of block ${number}`)
    }
    return { transaction, isImpersonated: each.impersonatedSender !== undefined, outcome }
  })
}

function executedOf(
  sent: readonly Sent[],
  header: Header,
  config: ChainConfig,
): ExecutedTransaction[] {
  let used = 0n
  return sent.map((each) => {
    const { outcome } = each
    const transaction = { ...each.transaction, hash: hashOf(each) }
    const receipt = receiptOf(transaction, needed(outcome.receipt), used, header, config)
    used = receipt.cumulativeGasUsed
    const output = needed(outcome.output)
    const failure = receipt.status ? undefined : failureOf(outcome.exit, output)
    return { transaction, receipt, output, failure, consoleLines: [] }
  })
}

/** The dump says the hash of an impersonated transaction, which includes the sender. */
function hashOf({ transaction: { hash }, isImpersonated, outcome }: Sent): Hash {
  const at = `${outcome.path}.transaction_hash`
  const written = hashAt(outcome.transactionHash, at)
  if (written === hash || isImpersonated) return written
  throw noDump(`${at}: expected ${hash}, the hash of its encoding, got ${written}`)
}

function givenReceipt(value: unknown, path: string): GivenReceipt {
  const members = new Members(value, path)
  const root = members.optional('root', (name) => members.hash(name))
  const logs = members.each('logs', logOf)
  // the receipts' root is checked, of which it is part
  const given = members.optional('logsBloom', (name) => members.bytes(name, EMPTY_BLOOM.length))
  return {
    path,
    status: (root !== undefined && !members.has('status')) || members.integer('status', 8) === 1n,
    root,
    cumulativeGasUsed: members.integer('cumulativeGasUsed', 64),
    blockGas: members.has('executionGasUsed')
      ? {
          execution: members.integer('executionGasUsed', 64),
          state: members.integer('stateGasUsed', 64),
        }
      : undefined,
    logs,
    logsBloom: logs.length === 0 ? EMPTY_BLOOM : (given ?? bloomOf(logs)),
  }
}

function receiptOf(
  transaction: Transaction,
  { path, status, root, cumulativeGasUsed, blockGas, logs, logsBloom }: GivenReceipt,
  usedBefore: bigint,
  header: Header,
  config: ChainConfig,
): Receipt {
  if (cumulativeGasUsed < usedBefore) {
    const expected = `at least the ${usedBefore} of the transactions before it`
    throw noDump(`${path}.cumulativeGasUsed: expected ${expected}, got ${cumulativeGasUsed}`)
  }
  return {
    type: transaction.type,
    status,
    root,
    cumulativeGasUsed,
    gasUsed: cumulativeGasUsed - usedBefore,
    effectiveGasPrice: effectiveGasPrice(transaction, header.baseFeePerGas ?? 0n),
    logsBloom,
    logs,
    contractAddress: createdBy(transaction),
    blobGas: transaction.blobs && {
      used: blobGasOf(transaction),
      price: blobFeeIn({ config }, header),
    },
    blockGas,
  }
}
