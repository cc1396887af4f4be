// Blocks and transactions in a dump, with anvil's names and formats.
import { keccakHash } from '../../core/crypto/crypto.ts'
import { bytesFromHex, concatBytes, type Hash, hexFromBytes } from '../../core/hex.ts'
import { encodeRlp } from '../../core/rlp.ts'
import type { Block } from '../../protocol/blocks/block.ts'
import { FIELDS, type Header } from '../../protocol/blocks/header.ts'
import type { Receipt } from '../../protocol/blocks/receipt.ts'
import { isImpersonated, type Transaction } from '../../protocol/transactions/transaction.ts'
import type { ExecutedTransaction } from '../ledger/blockrecord.ts'
import type { BlockParts } from '../ledger/packing/blockbytes.ts'
import { createdBy, type DumpedJson } from './anvil.ts'
import { outermostOf } from './traces.ts'

export function dumpedBlock({ header, transactions, uncles, withdrawals }: Block): DumpedJson {
  return {
    header: dumpedHeader(header),
    transactions: transactions.map((each) => ({
      transaction: signedMembers(each),
      impersonated_sender: isImpersonated(each) ? each.from : null,
    })),
    ommers: uncles.map(dumpedHeader),
    withdrawals:
      header.withdrawalsRoot === undefined
        ? null
        : withdrawals.map(({ amountGwei, ...others }) => ({ ...others, amount: amountGwei })),
  }
}

export function dumpedOutcomes(
  { block, executed }: BlockParts,
  traces: readonly (readonly DumpedJson[] | undefined)[],
): DumpedJson[] {
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

function dumpedHeader(header: Header): DumpedJson {
  const members: Record<string, unknown> = {}
  for (const [name] of FIELDS) members[name] = header[name]
  return members
}

function signedMembers(transaction: Transaction): DumpedJson {
  const { type, maxFeePerGas, maxPriorityFeePerGas, blobs, v } = transaction
  return {
    type: `0x${type}`,
    chainId: transaction.chainId,
    nonce: transaction.nonce,
    ...(type < 2 ? { gasPrice: maxFeePerGas } : { maxFeePerGas, maxPriorityFeePerGas }),
    gas: transaction.gasLimit,
    to: transaction.to,
    value: transaction.value,
    accessList: type === 0 ? undefined : transaction.accessList,
    authorizationList:
      type === 4
        ? transaction.authorizationList.map(({ yParity, ...others }) => ({
            ...others,
            yParity: BigInt(yParity),
          }))
        : undefined,
    maxFeePerBlobGas: blobs?.maxFeePerBlobGas,
    blobVersionedHashes: blobs?.versionedHashes,
    input: transaction.data,
    r: transaction.r,
    s: transaction.s,
    yParity: type === 0 ? undefined : v,
    v,
    hash: transaction.hash,
  }
}

function dumpedInfo(
  executed: ExecutedTransaction,
  index: number,
  traces: readonly DumpedJson[] = outermostOf(executed),
): DumpedJson {
  const { transaction, receipt, output } = executed
  return {
    transaction_index: index,
    from: transaction.from,
    to: transaction.to,
    contract_address: createdBy(transaction),
    traces,
    exit: (traces[0]!.trace as DumpedJson).status,
    out: hexFromBytes(output),
    nonce: Number(transaction.nonce),
    gas_used: Number(receipt.gasUsed),
  }
}

/** With members that anvil ignores: the gas of both dimensions. */
function dumpedReceipt(receipt: Receipt): DumpedJson {
  const { type, status, root, cumulativeGasUsed, logs, logsBloom, blockGas } = receipt
  return {
    type: `0x${type}`,
    status: status ? '0x1' : '0x0',
    root,
    cumulativeGasUsed,
    logs: logs.map(({ address, topics, data }) => ({ address, topics, data })),
    logsBloom,
    executionGasUsed: blockGas?.execution,
    stateGasUsed: blockGas?.state,
  }
}
