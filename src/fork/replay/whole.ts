// Old blocks with their transactions, to replay here if the network does not trace them.
import { DevchainError } from '../../core/errors.ts'
import { EMPTY_BYTES, type Hash, quantityFromBigint } from '../../core/hex.ts'
import { logOf, Members } from '../../node/dump/members.ts'
import type { ExecutedTransaction } from '../../node/ledger/blockrecord.ts'
import { bloomOf } from '../../protocol/blocks/bloom.ts'
import type { Receipt } from '../../protocol/blocks/receipt.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import type { Json } from '../../rpc/schema.ts'
import { RefusedByUpstream } from '../client/client.ts'
import { NoAnswer } from '../client/provider.ts'
import { isObject, reading, something, unexpected } from '../network/answers.ts'
import type { BlockBody } from '../network/header.ts'
import type { BlockPoint, ForkedNetwork } from '../network/network.ts'
import { readDeposit } from './deposits.ts'
import { asMined, readTransaction } from './transactions.ts'

/** @throws {DevchainError} `METHOD_NOT_SUPPORTED` if only the network can run some of them */
export async function bodyOf(
  network: ForkedNetwork,
  fork: BlockPoint,
  number: bigint,
): Promise<BlockBody> {
  const params = [quantityFromBigint(number), true]
  const json = await network.askHistory(fork, 'eth_getBlockByNumber', params, number, something)
  const transactions = transactionsOf(json, number).map(asMined)
  return { transactions, executed: await executedIn(network, fork, number, transactions) }
}

/** @throws as `bodyOf` */
export function transactionsOf(block: Json, number: bigint): readonly Transaction[] {
  const { transactions } = (block ?? {}) as { transactions?: unknown }
  if (!Array.isArray(transactions)) throw unexpected(`block ${number}`, block)
  return transactions.map(
    (each: Json) => readTransaction(each) ?? readDeposit(each) ?? refuse(each, number),
  )
}

async function executedIn(
  network: ForkedNetwork,
  fork: BlockPoint,
  number: bigint,
  transactions: readonly Transaction[],
): Promise<readonly ExecutedTransaction[]> {
  try {
    const params = [quantityFromBigint(number)]
    return await network.askHistory(fork, 'eth_getBlockReceipts', params, number, (all) => {
      if (!Array.isArray(all) || all.length !== transactions.length) {
        throw unexpected(`the receipts of block ${number}`, all)
      }
      return transactions.map((each, index) => executedOf(each, all[index]))
    })
  } catch (error) {
    if (!(error instanceof RefusedByUpstream || error instanceof NoAnswer)) throw error
  }
  return await Promise.all(
    transactions.map((each) =>
      network.askHistory(fork, 'eth_getTransactionReceipt', [each.hash], number, (receipt) =>
        executedOf(each, receipt),
      ),
    ),
  )
}

function isOf(receipt: Json | undefined, { hash }: Transaction): boolean {
  if (!isObject(receipt)) return false
  const { transactionHash = hash } = receipt
  return String(transactionHash).toLowerCase() === hash
}

function executedOf(transaction: Transaction, json: Json | undefined): ExecutedTransaction {
  const what = `the receipt of ${transaction.hash}`
  if (!isOf(json, transaction)) throw unexpected(what, json)
  return reading(what, json, () => readExecuted(transaction, json))
}

function readExecuted(transaction: Transaction, json: Json | undefined): ExecutedTransaction {
  const members = new Members(json, 'receipt')
  const integer = (name: string): bigint => members.integer(name)
  const logs = members.has('logs') ? members.each('logs', logOf) : []
  const hasStatus = members.has('status')
  const receipt: Receipt = {
    type: transaction.type,
    status: !hasStatus || integer('status') !== 0n,
    root: hasStatus ? undefined : members.optional('root', (name) => members.hash(name)),
    cumulativeGasUsed: integer('cumulativeGasUsed'),
    gasUsed: integer('gasUsed'),
    effectiveGasPrice: members.optional('effectiveGasPrice', integer) ?? 0n,
    logsBloom: bloomOf(logs),
    logs,
    contractAddress: members.optional('contractAddress', (name) => members.address(name)) ?? null,
    blobGas: members.has('blobGasPrice')
      ? { used: integer('blobGasUsed'), price: integer('blobGasPrice') }
      : undefined,
  }
  const failure = receipt.status ? undefined : ({ kind: 'revert', reason: 'revert' } as const)
  return { transaction, receipt, output: EMPTY_BYTES, failure, consoleLines: [] }
}

function refuse(json: Json, number: bigint): never {
  const { type, hash } = json as { type?: Json; hash?: Hash }
  const message = `cannot re-execute block ${number} here: transaction ${String(hash)} has type ${String(type)}, which only its network runs`
  throw new DevchainError('METHOD_NOT_SUPPORTED', message)
}
