// Deposits of the OP Stack, which L1 orders: unsigned, without gas fees, and they mint even if they fail.
import type { Address } from '../../core/hex.ts'
import type { CallJob, TransactionJob } from '../../evm/executor.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import type { Json } from '../../rpc/schema.ts'
import { balanceAt, nonceAt, type World, withBalance, withNonce } from '../../state/world.ts'
import { isObject, quantity, reading } from '../network/answers.ts'
import { transactionIn } from './transactions.ts'

/** @see https://specs.optimism.io/protocol/deposits.html */
const DEPOSIT = 0x7e

/** Wei that deposits mint, by their local transaction. */
const mints = new WeakMap<Transaction, bigint>()

export function readDeposit(json: Json): Transaction | undefined {
  if (!isObject(json) || Number(json.type ?? 0) !== DEPOSIT) return undefined
  return reading('a transaction', json, () => {
    const unpaid = { ...json, chainId: undefined, nonce: '0x0', gasPrice: '0x0' }
    const transaction = transactionIn(unpaid, 0, (members) => {
      // as for an impersonated account: the sender's address in place of a signature
      const signature = BigInt(members.address('from'))
      return { v: 0n, r: signature, s: signature }
    })
    mints.set(transaction, json.mint ? quantity(json.mint) : 0n)
    return transaction
  })
}

/** Runs a deposit like its network: mints first, pays no gas, ignores the nonce. */
export function asDeposit<Job extends TransactionJob | CallJob>(job: Job): Job {
  if (!('transaction' in job)) return job
  const { transaction, world, block } = job
  const mint = mints.get(transaction)
  if (mint === undefined) return job
  const minted = withMint(world, transaction.from, mint)
  const nonce = nonceAt(world, transaction.from)
  return {
    ...job,
    world: minted,
    // only a base fee of 0 lets it pay nothing
    block: { ...block, baseFee: 0n },
    transaction: { ...transaction, nonce },
  }
}

/** The accounts after a deposit that cannot run; undefined for any other transaction. */
export function afterFailure(world: World, transaction: Transaction): World | undefined {
  const mint = mints.get(transaction)
  if (mint === undefined) return undefined
  const { from } = transaction
  return withNonce(withMint(world, from, mint), from, nonceAt(world, from) + 1n)
}

function withMint(world: World, address: Address, mint: bigint): World {
  return mint === 0n ? world : withBalance(world, address, balanceAt(world, address) + mint)
}
