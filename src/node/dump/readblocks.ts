// The blocks of a dump, with their original headers so that hashes stay, and the results of each transaction.
import type { Hash } from '../../core/hex.ts'
import { yielder } from '../../core/yield.ts'
import { type Block, sealBlock } from '../../protocol/blocks/block.ts'
import {
  FIELDS_AHEAD,
  type Header,
  hashHeader,
  headerFrom,
  transactionsRoot,
  unclesHash,
} from '../../protocol/blocks/header.ts'
import { bloomOf, type Log, type Receipt, receiptsRoot } from '../../protocol/blocks/receipt.ts'
import { type Withdrawal, withdrawalsRoot } from '../../protocol/blocks/withdrawal.ts'
import { blobGasOf, effectiveGasPrice } from '../../protocol/fees.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import type { ExecutedTransaction } from '../ledger/blockrecord.ts'
import type { ChainConfig } from '../ledger/chainstate.ts'
import { blobFeeIn } from '../mining/environment.ts'
import { createdBy, failureOf } from './anvil.ts'
import { hashAt, Members, noDump } from './members.ts'
import { type ReadTransaction, readTransaction } from './readtransaction.ts'

export interface GivenBlock {
  readonly header: Header
  readonly hash: Hash
  readonly members: Members
}

export interface ReadBlock {
  readonly block: Block
  readonly executed: readonly ExecutedTransaction[]
}

/** By block hash and index; two entries where anvil gives a transaction two hashes. */
type Outcomes = ReadonlyMap<Hash, ReadonlyMap<number, readonly Members[]>>

export async function outcomesOf(entries: readonly unknown[]): Promise<Outcomes> {
  const outcomes = new Map<Hash, Map<number, Members[]>>()
  const yieldIfDue = yielder()
  for (const [index, entry] of entries.entries()) {
    const members = new Members(entry, `transactions[${index}]`)
    const info = infoOf(members)
    const hash = members.hash('block_hash')
    const ofBlock = outcomes.get(hash) ?? new Map<number, Members[]>()
    const place = Number(info.integer('transaction_index', 32))
    outcomes.set(hash, ofBlock.set(place, [...(ofBlock.get(place) ?? []), members]))
    await yieldIfDue()
  }
  return outcomes
}

export function givenBlock(value: unknown, path: string): GivenBlock {
  const members = new Members(value, path)
  const header = headerOf(members.value('header'), `${path}.header`)
  return { header, hash: hashHeader(header), members }
}

/** @throws {DevchainError} `INVALID_PARAMS` for a malformed block, wrong roots, or a transaction without receipt */
export function readBlock(
  { header, hash, members }: GivenBlock,
  outcomes: Outcomes,
  config: ChainConfig,
): ReadBlock {
  const { path } = members
  const uncles = members.has('ommers') ? members.each('ommers', headerOf) : []
  const withdrawals = members.has('withdrawals') ? members.each('withdrawals', withdrawalOf) : []
  const ofBlock = outcomes.get(hash)
  const hardfork = config.hardforkAt(header.number, header.timestamp)
  const rules = { hardfork, allowsImpersonated: true }
  const given = members.each('transactions', (each, at) => readTransaction(each, at, rules))
  const transactions = given.map(({ transaction }) => transaction)
  // anvil's transactions root includes blobs, so blob transactions are checked only by their own hashes
  if (transactions.every(({ type }) => type !== 3)) {
    requireRoot(path, 'transactionsRoot', header, transactionsRoot(transactions))
  }
  requireRoot(path, 'sha3Uncles', header, unclesHash(uncles))
  if (header.withdrawalsRoot !== undefined) {
    requireRoot(path, 'withdrawalsRoot', header, withdrawalsRoot(withdrawals))
  }
  const executed = executedOf(given, ofBlock, header, config)
  requireRoot(path, 'receiptsRoot', header, receiptsRoot(executed.map(({ receipt }) => receipt)))
  const named = executed.map(({ transaction }) => transaction)
  return { block: { ...sealBlock(header, named, uncles, withdrawals), hash }, executed }
}

type Root = 'transactionsRoot' | 'sha3Uncles' | 'withdrawalsRoot' | 'receiptsRoot'

function requireRoot(path: string, name: Root, header: Header, computed: Hash): void {
  if (header[name] === computed) return
  const message = `${path}: block ${header.number} has the ${name} ${header[name]}, but its contents give ${computed}`
  throw noDump(message)
}

function headerOf(value: unknown, path: string): Header {
  const header = new Members(value, path)
  const ahead = FIELDS_AHEAD.find((name) => header.has(name))
  if (ahead !== undefined) {
    throw noDump(`${path}: it has ${ahead}, of a fork that is not known here`)
  }
  return headerFrom((name, { kind, size, since }) =>
    since === undefined || header.has(name) ? header.read(kind, name, size) : undefined,
  )
}

function withdrawalOf(value: unknown, path: string): Withdrawal {
  const members = new Members(value, path)
  return {
    index: members.integer('index', 64),
    validatorIndex: members.integer('validatorIndex', 64),
    address: members.address('address'),
    amountGwei: members.integer('amount', 64),
  }
}

function executedOf(
  given: readonly ReadTransaction[],
  outcomes: ReadonlyMap<number, readonly Members[]> | undefined,
  header: Header,
  config: ChainConfig,
): ExecutedTransaction[] {
  let used = 0n
  return given.map((each, index) => {
    const { hash } = each.transaction
    const entries = outcomes?.get(index)
    const members =
      entries?.find((entry) => infoOf(entry).value('transaction_hash') === hash) ?? entries?.[0]
    if (members === undefined) {
      throw noDump(`transactions: ${hash} is missing, index ${index} of block ${header.number}`)
    }
    const executed = executedAs(each, members, used, header, config)
    used = executed.receipt.cumulativeGasUsed
    return executed
  })
}

function executedAs(
  given: ReadTransaction,
  members: Members,
  usedBefore: bigint,
  header: Header,
  config: ChainConfig,
): ExecutedTransaction {
  const info = infoOf(members)
  const transaction = { ...given.transaction, hash: hashOf(given, info) }
  const receipt = receiptOf(transaction, members, usedBefore, header, config)
  const output = info.optional('out', (name) => info.bytes(name)) ?? new Uint8Array(0)
  const failure = receipt.status ? undefined : failureOf(info.value('exit'), output)
  return { transaction, receipt, output, failure, consoleLines: [] }
}

function infoOf(members: Members): Members {
  return new Members(members.value('info'), `${members.path}.info`)
}

/** The dump says the hash of an impersonated transaction, which includes the sender. */
function hashOf({ transaction: { hash }, isImpersonated }: ReadTransaction, info: Members): Hash {
  const written = info.hash('transaction_hash')
  if (written === hash || isImpersonated) return written
  throw noDump(
    `${info.path}.transaction_hash: expected ${hash}, the hash of its encoding, got ${written}`,
  )
}

function receiptOf(
  transaction: Transaction,
  members: Members,
  usedBefore: bigint,
  header: Header,
  config: ChainConfig,
): Receipt {
  const receipt = new Members(members.value('receipt'), `${members.path}.receipt`)
  const logs = receipt.each('logs', logOf)
  const cumulativeGasUsed = receipt.integer('cumulativeGasUsed', 64)
  if (cumulativeGasUsed < usedBefore) {
    const expected = `at least the ${usedBefore} of the transactions before it`
    throw noDump(
      `${receipt.path}.cumulativeGasUsed: expected ${expected}, got ${cumulativeGasUsed}`,
    )
  }
  const root = receipt.optional('root', (name) => receipt.hash(name))
  return {
    type: transaction.type,
    status: root !== undefined || receipt.integer('status', 8) === 1n,
    root,
    cumulativeGasUsed,
    gasUsed: cumulativeGasUsed - usedBefore,
    effectiveGasPrice: effectiveGasPrice(transaction, header.baseFeePerGas ?? 0n),
    logsBloom: bloomOf(logs),
    logs,
    contractAddress: createdBy(transaction),
    blobGas: transaction.blobs && {
      used: blobGasOf(transaction),
      price: blobFeeIn({ config }, header),
    },
  }
}

function logOf(value: unknown, path: string): Log {
  const members = new Members(value, path)
  const topics = members.each('topics', hashAt)
  if (topics.length > 4) throw noDump(`${path}.topics: expected at most 4, got ${topics.length}`)
  return { address: members.address('address'), topics, data: members.bytes('data') }
}
