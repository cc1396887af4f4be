// Old blocks with their transactions, to be run again here where their own network does not trace them.
import { DevchainError } from '../../core/errors.ts'
import { EMPTY_BYTES, type Hash, quantityFromBigint } from '../../core/hex.ts'
import type { BlockRecord, ExecutedTransaction } from '../../node/ledger/blockrecord.ts'
import { EMPTY_BLOOM, type Receipt } from '../../protocol/blocks/receipt.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import type { Json } from '../../rpc/schema.ts'
import type { World } from '../../state/world.ts'
import { RefusedByUpstream } from '../client/client.ts'
import { quantity } from '../network/answers.ts'
import { readBlock, recordOf } from '../network/header.ts'
import type { BlockPoint, Network } from '../network/network.ts'
import { type Members, readTransaction } from './transactions.ts'

/**
 * A block of the network with its transactions and the gas that each used there.
 * @throws {DevchainError} `METHOD_NOT_SUPPORTED` for one with transactions that only its network can run
 */
export async function wholeBlock(
  network: Network,
  fork: BlockPoint,
  number: bigint,
  worldAfter: (point: BlockPoint) => World,
): Promise<BlockRecord> {
  const params = [quantityFromBigint(number), true]
  const json = await network.askBelow(fork, 'eth_getBlockByNumber', params, number)
  const block = readBlock(json)
  const { transactions: list } = json as { transactions?: readonly Json[] }
  const transactions = (list ?? []).map((each) => readTransaction(each) ?? refuse(each, number))
  const receipts = await receiptsOf(network, fork, number, transactions)
  const executed = transactions.map((transaction, index) =>
    executedOf(transaction, receipts[index]),
  )
  const { hash, header } = block
  const record = recordOf(block, 0, () => worldAfter({ number, hash, stateRoot: header.stateRoot }))
  return {
    block: { ...record.block, transactions },
    executed,
    // a getter, which a spread would read
    get world() {
      return record.world
    },
    isLoaded: true,
    totalDifficulty: block.totalDifficulty,
  }
}

async function receiptsOf(
  network: Network,
  fork: BlockPoint,
  number: bigint,
  transactions: readonly Transaction[],
): Promise<readonly Json[]> {
  try {
    const params = [quantityFromBigint(number)]
    const all = await network.askBelow(fork, 'eth_getBlockReceipts', params, number)
    if (Array.isArray(all) && all.length === transactions.length) return all
  } catch (error) {
    if (!(error instanceof RefusedByUpstream)) throw error
  }
  return await Promise.all(
    transactions.map(({ hash }) =>
      network.askBelow(fork, 'eth_getTransactionReceipt', [hash], number),
    ),
  )
}

function executedOf(transaction: Transaction, json: Json | undefined): ExecutedTransaction {
  const { status, gasUsed, cumulativeGasUsed, effectiveGasPrice } = (json ?? {}) as Members
  const receipt: Receipt = {
    type: transaction.type,
    status: status !== '0x0',
    root: undefined,
    cumulativeGasUsed: quantity(cumulativeGasUsed),
    gasUsed: quantity(gasUsed),
    effectiveGasPrice: quantity(effectiveGasPrice ?? '0x0'),
    logsBloom: EMPTY_BLOOM,
    logs: [],
    contractAddress: null,
  }
  const failure = receipt.status ? undefined : ({ kind: 'revert', reason: 'revert' } as const)
  return { transaction, receipt, output: EMPTY_BYTES, failure, consoleLines: [] }
}

function refuse(json: Json, number: bigint): never {
  const { type, hash } = json as { type?: Json; hash?: Hash }
  const message = `block ${number} cannot be run again here: ${String(hash)} is a transaction of type ${String(type)}, which only its own network has`
  throw new DevchainError('METHOD_NOT_SUPPORTED', message)
}
