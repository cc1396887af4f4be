// A block with the results of its transactions. Senders are part of it, so that no signature is recovered again.
import { scratchRlp } from '../../core/fastrlp/writer.ts'
import { lazy } from '../../core/lrucache.ts'
import { decodeRlp } from '../../core/rlp.ts'
import {
  type BlockParts,
  executedOf,
  itemsOf,
  type RareOutcomes,
} from '../../node/ledger/packing/blockbytes.ts'
import type { Block } from '../../protocol/blocks/block.ts'
import { decodeHeader, encodeHeader, type Header } from '../../protocol/blocks/header.ts'
import type { Withdrawal } from '../../protocol/blocks/withdrawal.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import { decodeBlockTransaction } from '../../protocol/transactions/transactiondecoding.ts'
import { type Codec, type Input, listOf, type Output } from '../objects.ts'
import { plainly } from './plain.ts'
import { address, hash } from './single.ts'

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

const headers = listOf(header)
const withdrawals = plainly<readonly Withdrawal[]>()
const outcomes = plainly<RareOutcomes>()

export function writeParts({ block, executed }: BlockParts, to: Output): void {
  hash.write(block.hash, to)
  to.count(block.size)
  if (block.size === 0) plainHeader.write(block.header, to)
  else header.write(block.header, to)
  headers.write(block.uncles, to)
  withdrawals.write(block.withdrawals, to)
  const results = itemsOf(executed)
  to.bytes(scratchRlp(results.items))
  outcomes.write(results.outcomes, to)
}

/** A start reads the header of a head, which may have a thousand transactions: they are read when they are asked for. */
export function readParts(open: () => Input): BlockParts {
  const top = readTop(open())
  const rest = lazy(() => {
    const from = open()
    const { header } = readTop(from)
    const executed = executedOf(decodeRlp(from.bytes()), outcomes.read(from), header)
    return { executed, transactions: executed.map(({ transaction }) => transaction) }
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
