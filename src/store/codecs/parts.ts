// A block with the results of its transactions. Senders are part of it, so that no signature is recovered again.
import type { Address } from '../../core/hex.ts'
import { lazy } from '../../core/lrucache.ts'
import type { BlockRecord, ExecutedTransaction } from '../../node/ledger/blockrecord.ts'
import type { Block } from '../../protocol/blocks/block.ts'
import { decodeHeader, encodeHeader, type Header } from '../../protocol/blocks/header.ts'
import { EMPTY_BLOOM, type Log, type Receipt } from '../../protocol/blocks/receipt.ts'
import type { Withdrawal } from '../../protocol/blocks/withdrawal.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import { decodeBlockTransaction } from '../../protocol/transactions/transactiondecoding.ts'
import {
  type Codec,
  flag,
  type Input,
  listOf,
  type Output,
  objectOf,
  optional,
} from '../objects.ts'
import { plain, plainly } from './plain.ts'
import { address, byte, bytes, hash, integer } from './single.ts'

export type Parts = Pick<BlockRecord, 'block' | 'executed'>

const header: Codec<Header> = {
  write: (value, to) => to.bytes(encodeHeader(value)),
  read: (from) => decodeHeader(from.bytes()),
}

/** Of a forked block, which has no size: its network may have header fields of its own. */
const plainHeader = plainly<Header>()

export const transaction: Codec<Transaction> = {
  write({ raw, from }, to) {
    to.bytes(raw)
    address.write(from, to)
  },
  read(from) {
    const raw = from.bytes()
    const sender = address.read(from)
    return decodeBlockTransaction(raw, { hardfork: 'frontier', allowsImpersonated: true, sender })
  },
}

/** The bytes that are not zero, and where: a log sets some fifteen bits. */
const bloom: Codec<Uint8Array> = {
  write(bytes, to) {
    if (bytes === EMPTY_BLOOM) return to.count(0)
    const set: number[] = []
    for (let at = 0; at < bytes.length; at++) if (bytes[at] !== 0) set.push(at)
    to.count(set.length)
    for (const at of set) {
      to.byte(at)
      to.byte(bytes[at]!)
    }
  },
  read(from) {
    const count = from.count()
    if (count === 0) return EMPTY_BLOOM
    const bytes = new Uint8Array(EMPTY_BLOOM.length)
    for (let left = count; left > 0; left--) {
      const at = from.byte()
      bytes[at] = from.byte()
    }
    return bytes
  },
}

const logs = listOf(objectOf<Log>({ address, topics: listOf(hash), data: bytes }))

type MoreGas = Pick<Receipt, 'blobGas' | 'blockGas'>

/** Blob gas alone, as before amsterdam, or both in an object. */
const moreGas: Codec<MoreGas> = {
  write({ blobGas, blockGas }, to) {
    plain.write(blockGas === undefined ? blobGas : { blobGas, blockGas }, to)
  },
  read(from) {
    const gas = plain.read(from) as Receipt['blobGas'] | MoreGas
    return gas === undefined || 'used' in gas ? { blobGas: gas } : gas
  },
}

const optionalAddress = optional(address)

const contractAddress: Codec<Address | null> = {
  write: (value, to) => optionalAddress.write(value ?? undefined, to),
  read: (from) => optionalAddress.read(from) ?? null,
}

const otherMembers = objectOf<Omit<Receipt, keyof MoreGas>>({
  type: byte as Codec<Receipt['type']>,
  status: flag,
  root: optional(hash),
  cumulativeGasUsed: integer,
  gasUsed: integer,
  effectiveGasPrice: integer,
  logsBloom: bloom,
  logs,
  contractAddress,
})

const receipt: Codec<Receipt> = {
  write(value, to) {
    otherMembers.write(value, to)
    moreGas.write(value, to)
  },
  read: (from) => ({ ...otherMembers.read(from), ...moreGas.read(from) }),
}

type Outcome = Omit<ExecutedTransaction, 'transaction' | 'receipt' | 'output'>

const outcome = plainly<Outcome | undefined>()

function writeExecuted(executed: ExecutedTransaction, to: Output): void {
  const { transaction: _, receipt: result, output, ...rest } = executed
  receipt.write(result, to)
  to.bytes(output)
  const { failure, consoleLines, isAlone } = rest
  const isUsual = failure === undefined && consoleLines.length === 0 && isAlone !== undefined
  to.byte(isUsual ? (isAlone ? ALONE : NOT_ALONE) : OTHER)
  if (!isUsual) outcome.write(rest, to)
}

const ALONE = 0
const NOT_ALONE = 1
const OTHER = 2

function readExecuted(from: Input, sent: Transaction): ExecutedTransaction {
  const common = { transaction: sent, receipt: receipt.read(from), output: from.bytes() }
  const kind = from.byte()
  if (kind === OTHER) return { ...common, ...(outcome.read(from) as Outcome) }
  return { ...common, failure: undefined, consoleLines: [], isAlone: kind === ALONE }
}

const headers = listOf(header)
const transactions = listOf(transaction)
const withdrawals = plainly<readonly Withdrawal[]>()

export function writeParts({ block, executed }: Parts, to: Output): void {
  hash.write(block.hash, to)
  to.count(block.size)
  if (block.size === 0) plainHeader.write(block.header, to)
  else header.write(block.header, to)
  headers.write(block.uncles, to)
  withdrawals.write(block.withdrawals, to)
  transactions.write(block.transactions, to)
  to.count(executed.length)
  for (const each of executed) writeExecuted(each, to)
}

/** A start reads the header of a head, which may have a thousand transactions: they are read when they are asked for. */
export function readParts(open: () => Input): Parts {
  const top = readTop(open())
  const rest = lazy(() => {
    const from = open()
    readTop(from)
    return readRest(from)
  })
  return {
    block: {
      ...top,
      get transactions() {
        return rest().transactions
      },
    },
    get executed() {
      return rest().executed
    },
  }
}

function readTop(from: Input): Omit<Block, 'transactions'> {
  const [blockHash, size] = [hash.read(from), from.count()]
  return {
    hash: blockHash,
    header: (size === 0 ? plainHeader : header).read(from),
    size,
    uncles: headers.read(from),
    withdrawals: withdrawals.read(from),
  }
}

function readRest(from: Input): Pick<Block, 'transactions'> & Pick<Parts, 'executed'> {
  const sent = transactions.read(from)
  const executed: ExecutedTransaction[] = []
  const count = from.count()
  for (let index = 0; index < count; index++) executed.push(readExecuted(from, sent[index]!))
  return { transactions: sent, executed }
}
