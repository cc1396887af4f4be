// Receipts and logs of transactions.
import { writeTypedRlp } from '../../core/fastrlp/writer.ts'
import type { Address, Hash } from '../../core/hex.ts'
import type { RlpValue } from '../../core/rlp.ts'
import type { TransactionType } from '../transactions/transaction.ts'
import { orderedTrieRoot } from './orderedtrie.ts'

export interface Log {
  readonly address: Address
  /** At most four. */
  readonly topics: readonly Hash[]
  readonly data: Uint8Array
}

/** Yellow Paper, 4.4.1, with further members for clients. */
export interface Receipt {
  readonly type: TransactionType
  /** From byzantium on: true for success. */
  readonly status: boolean
  /** Before byzantium: the state root after this transaction, encoded in place of the status. */
  readonly root: Hash | undefined
  /** Of the block up to and including this transaction. */
  readonly cumulativeGasUsed: bigint
  readonly gasUsed: bigint
  /** Wei per gas. */
  readonly effectiveGasPrice: bigint
  readonly logsBloom: Uint8Array
  readonly logs: readonly Log[]
  /** Of a creation, even a failed one, as in geth; else null. */
  readonly contractAddress: Address | null
  /** Type 3 only: blob gas, and wei for each unit. */
  readonly blobGas?: { readonly used: bigint; readonly price: bigint } | undefined
  /** From amsterdam on: what the block counts, before refunds (EIP-7778, EIP-8037). */
  readonly blockGas?: BlockGas | undefined
}

/** Gas in the two dimensions of a block. */
export type BlockGas = Readonly<Record<'execution' | 'state', bigint>>

/** Status or root, gas, bloom and logs, after the type's byte except for type 0 (EIP-2718). */
export function encodeReceipt(receipt: Receipt): Uint8Array {
  const { type, status, root, cumulativeGasUsed, logsBloom, logs } = receipt
  const outcome = root ?? (status ? 1n : 0n)
  return writeTypedRlp(type, [outcome, cumulativeGasUsed, logsBloom, logs.map(logItem)])
}

/** The header's: the larger dimension from amsterdam on (EIP-8037). */
export function blockGasUsed(receipts: readonly Receipt[]): bigint {
  if (receipts[0]?.blockGas === undefined) return receipts.at(-1)?.cumulativeGasUsed ?? 0n
  const { execution, state } = sumOfBlockGas(receipts)
  return execution > state ? execution : state
}

export function sumOfBlockGas(receipts: readonly Receipt[]): BlockGas {
  return receipts.reduce(withGasOf, NO_GAS)
}

export const NO_GAS: BlockGas = { execution: 0n, state: 0n }

export function withGasOf(
  sum: BlockGas,
  { blockGas, gasUsed }: Pick<Receipt, 'blockGas' | 'gasUsed'>,
): BlockGas {
  const { execution, state } = blockGas ?? { execution: gasUsed, state: 0n }
  return { execution: sum.execution + execution, state: sum.state + state }
}

export function receiptsRoot(receipts: readonly Receipt[]): Hash {
  return orderedTrieRoot(receipts.map(encodeReceipt))
}

export function logItem({ address, topics, data }: Log): RlpValue {
  return [address, topics, data]
}
