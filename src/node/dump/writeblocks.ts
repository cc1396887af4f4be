// Blocks and transactions in a dump, with anvil's names and formats.
import { keccakHash } from '../../core/crypto/crypto.ts'
import {
  bytesFromHex,
  concatBytes,
  type Hash,
  hexFromBytes,
  quantityFromBigint,
} from '../../core/hex.ts'
import { encodeRlp } from '../../core/rlp.ts'
import type { Block } from '../../protocol/blocks/block.ts'
import { FIELDS, type Header } from '../../protocol/blocks/header.ts'
import type { Receipt } from '../../protocol/blocks/receipt.ts'
import type { Withdrawal } from '../../protocol/blocks/withdrawal.ts'
import {
  type Authorization,
  isImpersonated,
  type Transaction,
} from '../../protocol/transactions/transaction.ts'
import type { BlockRecord, ExecutedTransaction } from '../ledger/blockrecord.ts'
import { createdBy } from './created.ts'
import { exitOf } from './exits.ts'
import { outermostOf } from './traces.ts'

type Json = Readonly<Record<string, unknown>>

export function dumpedBlock({ header, transactions, uncles, withdrawals }: Block): Json {
  return {
    header: dumpedHeader(header),
    transactions: transactions.map(dumpedTransaction),
    ommers: uncles.map(dumpedHeader),
    withdrawals: header.withdrawalsRoot === undefined ? null : withdrawals.map(dumpedWithdrawal),
  }
}

export function dumpedOutcomes(
  { block, executed }: BlockRecord,
  traces: readonly (readonly Json[] | undefined)[],
): Json[] {
  return executed.flatMap((each, index) => {
    const { transaction, receipt } = each
    const hashes = new Set([transaction.hash, foreignHash(transaction)])
    return [...hashes].map((hash) => ({
      info: { transaction_hash: hash, ...dumpedInfo(each, index, traces[index]) },
      receipt: dumpedReceipt(receipt),
      block_hash: block.hash,
      block_number: Number(block.header.number),
    }))
  })
}

/** Anvil's hash of an impersonated transaction includes the sender. */
function foreignHash(transaction: Transaction): Hash {
  if (!isImpersonated(transaction)) return transaction.hash
  const { type, raw, from } = transaction
  return keccakHash(concatBytes(type === 0 ? raw : encodeRlp(raw), bytesFromHex(from)))
}

function dumpedHeader(header: Header): Json {
  return Object.assign({}, ...FIELDS.map(([name]) => optional(name, header[name])))
}

function optional(name: string, value: bigint | string | Uint8Array | undefined): Json {
  if (value === undefined) return {}
  if (value instanceof Uint8Array) return { [name]: hexFromBytes(value) }
  return { [name]: typeof value === 'bigint' ? quantityFromBigint(value) : value }
}

function dumpedWithdrawal({ index, validatorIndex, address, amountGwei }: Withdrawal): Json {
  return {
    index: quantityFromBigint(index),
    validatorIndex: quantityFromBigint(validatorIndex),
    address,
    amount: quantityFromBigint(amountGwei),
  }
}

function dumpedTransaction(transaction: Transaction): Json {
  const sender = isImpersonated(transaction) ? transaction.from : null
  return { transaction: signedMembers(transaction), impersonated_sender: sender }
}

function signedMembers(transaction: Transaction): Json {
  const { type, chainId, accessList, authorizationList, blobs } = transaction
  const price = quantityFromBigint(transaction.maxFeePerGas)
  const tip = quantityFromBigint(transaction.maxPriorityFeePerGas)
  return {
    type: `0x${type}`,
    ...optional('chainId', chainId),
    nonce: quantityFromBigint(transaction.nonce),
    ...(type < 2 ? { gasPrice: price } : { maxFeePerGas: price, maxPriorityFeePerGas: tip }),
    gas: quantityFromBigint(transaction.gasLimit),
    to: transaction.to,
    value: quantityFromBigint(transaction.value),
    ...(type === 0 ? {} : { accessList }),
    ...(type === 4 ? { authorizationList: authorizationList.map(dumpedAuthorization) } : {}),
    ...(blobs && {
      maxFeePerBlobGas: quantityFromBigint(blobs.maxFeePerBlobGas),
      blobVersionedHashes: blobs.versionedHashes,
    }),
    input: hexFromBytes(transaction.data),
    r: quantityFromBigint(transaction.r),
    s: quantityFromBigint(transaction.s),
    ...(type === 0 ? {} : { yParity: quantityFromBigint(transaction.v) }),
    v: quantityFromBigint(transaction.v),
    hash: transaction.hash,
  }
}

function dumpedAuthorization(authorization: Authorization): Json {
  const { chainId, address, nonce, yParity, r, s } = authorization
  return {
    chainId: quantityFromBigint(chainId),
    address,
    nonce: quantityFromBigint(nonce),
    yParity: quantityFromBigint(BigInt(yParity)),
    r: quantityFromBigint(r),
    s: quantityFromBigint(s),
  }
}

function dumpedInfo(
  executed: ExecutedTransaction,
  index: number,
  traces: readonly Json[] = outermostOf(executed),
): Json {
  const { transaction, receipt, output, failure } = executed
  return {
    transaction_index: index,
    from: transaction.from,
    to: transaction.to,
    contract_address: createdBy(transaction),
    traces,
    exit: exitOf(failure, output, transaction.to === null),
    out: hexFromBytes(output),
    nonce: Number(transaction.nonce),
    gas_used: Number(receipt.gasUsed),
  }
}

function dumpedReceipt({ type, status, cumulativeGasUsed, logs, logsBloom }: Receipt): Json {
  return {
    type: `0x${type}`,
    status: status ? '0x1' : '0x0',
    cumulativeGasUsed: quantityFromBigint(cumulativeGasUsed),
    logs: logs.map(({ address, topics, data }) => ({ address, topics, data: hexFromBytes(data) })),
    logsBloom: hexFromBytes(logsBloom),
  }
}
