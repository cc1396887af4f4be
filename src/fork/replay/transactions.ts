// Parses transactions of other nodes to run them here.
import { Members } from '../../node/dump/members.ts'
import { unsignedOf } from '../../node/dump/readtransaction.ts'
import {
  encodeTransaction,
  type Transaction,
  type TransactionType,
} from '../../protocol/transactions/transaction.ts'
import type { Json } from '../../rpc/schema.ts'
import { isObject, type JsonObject, reading, unexpected } from '../network/answers.ts'

/** Higher types belong to single networks. */
const NEWEST_TYPE = 4

/**
 * Undefined: only its network can run this type.
 * @throws {NoAnswer} for what is no transaction
 */
export function readTransaction(json: Json): Transaction | undefined {
  if (!isObject(json)) throw unexpected('a transaction', json)
  const type = Number(json.type ?? 0)
  if (!(type >= 0 && type <= NEWEST_TYPE)) return undefined
  const { gasPrice, maxFeePerGas = gasPrice } = json
  return reading('a transaction', json, () =>
    transactionIn({ ...json, maxFeePerGas }, type as TransactionType, (members) => {
      const part = (name: string): bigint | undefined =>
        members.optional(name, (given) => members.integer(given))
      return { v: part('v') ?? part('yParity') ?? 0n, r: part('r') ?? 0n, s: part('s') ?? 0n }
    }),
  )
}

/** To run it as its network did: some test nodes mine a tip above the fee cap, which is the price then. */
export function asMined(transaction: Transaction): Transaction {
  const { maxFeePerGas, maxPriorityFeePerGas } = transaction
  if (maxPriorityFeePerGas <= maxFeePerGas) return transaction
  return { ...transaction, maxPriorityFeePerGas: maxFeePerGas }
}

/** @param signatureIn reads what unsigned transactions have in place of a signature */
export function transactionIn(
  { input, data, ...json }: JsonObject,
  type: TransactionType,
  signatureIn: (members: Members) => Pick<Transaction, 'v' | 'r' | 's'>,
): Transaction {
  const members = new Members({ ...json, input: input ?? data ?? '0x' }, 'transaction')
  const sent = { ...unsignedOf(members, type), ...signatureIn(members) }
  const [from, hash] = [members.address('from'), members.hash('hash')]
  return { ...sent, from, hash, raw: encodeTransaction(sent) }
}
