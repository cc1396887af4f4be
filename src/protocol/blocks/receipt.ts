// Receipts and logs of transactions.
import { keccak256 } from '../../core/crypto/crypto.ts'
import { writeTypedRlp } from '../../core/fastrlp/writer.ts'
import { type Address, bytesFromHex, type Hash } from '../../core/hex.ts'
import { memoize } from '../../core/lrucache.ts'
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

const BLOOM_BYTES = 256

const ROOM = 32 * BLOOM_BYTES

export const EMPTY_BLOOM: Uint8Array = new Uint8Array(BLOOM_BYTES)

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

/** Three bits for each address and topic (Yellow Paper, 4.4.1). */
export function bloomOf(logs: readonly Log[]): Uint8Array {
  if (logs.length === 0) return EMPTY_BLOOM
  const bloom = blooms.next()
  for (const { address, topics } of logs) {
    addTo(bloom, address)
    for (const topic of topics) addTo(bloom, topic)
  }
  return bloom
}

/** Blooms are parts of larger arrays: each array of its own has memory outside of V8's heap, which is allocated and freed alone. */
class Blooms {
  #room = EMPTY_BLOOM.subarray(BLOOM_BYTES)

  next(): Uint8Array {
    if (this.#room.length === 0) this.#room = new Uint8Array(ROOM)
    const bloom = this.#room.subarray(0, BLOOM_BYTES)
    this.#room = this.#room.subarray(BLOOM_BYTES)
    return bloom
  }
}

const blooms = new Blooms()

function addTo(bloom: Uint8Array, item: Address | Hash): void {
  for (const bit of bloomBits(item)) bloom[BLOOM_BYTES - 1 - (bit >> 3)]! |= 1 << (bit & 7)
}

export function mergeBlooms(blooms: readonly Uint8Array[]): Uint8Array {
  const filled = blooms.filter((bloom) => bloom !== EMPTY_BLOOM)
  const [first = EMPTY_BLOOM] = filled
  if (filled.length <= 1) return first
  const merged = first.slice()
  for (const bloom of filled) {
    for (let i = 0; i < BLOOM_BYTES; i++) merged[i]! |= bloom[i]!
  }
  return merged
}

export function logItem({ address, topics, data }: Log): RlpValue {
  return [address, topics, data]
}

/** Remembered, as tokens, events and accounts occur again: hashing them took most of a log's time. */
const bloomBits = memoize(1_000, (item: Address | Hash): readonly number[] => {
  const hash = keccak256(bytesFromHex(item))
  const bit = (at: number): number => ((hash[at]! << 8) | hash[at + 1]!) & 2047
  return [bit(0), bit(2), bit(4)]
})
