// Mined and pending transactions in words: what is called, why it failed, and its events.
import type { Address, Hash } from '../../core/hex.ts'
import type { Chain } from '../../node/chain/chain.ts'
import type { ExecutedTransaction } from '../../node/ledger/blockrecord.ts'
import { executedAt } from '../../node/ledger/blocktree.ts'
import { knownPlace } from '../../node/ledger/leftblocks.ts'
import { pooledByHash } from '../../node/pool/pool.ts'
import type { Names } from './names.ts'

export interface DescribedTransaction {
  /** `Vault.withdraw(5 ether)`; undefined if no name is known. */
  readonly call: string | undefined
  readonly from: string | undefined
  /** Of the contract that it creates, for a creation. */
  readonly to: string | undefined
  /** Why it failed. */
  readonly error: string | undefined
  /** What contracts printed, oldest first. */
  readonly console: readonly string[]
  /** In the order of the receipt's logs. */
  readonly events: readonly { readonly address: Address; readonly text: string | undefined }[]
}

/** Undefined for an unknown transaction. Names are those of the newest state. */
export function describeTransaction(
  chain: Chain,
  names: Names,
  hash: Hash,
): DescribedTransaction | undefined {
  const { state } = chain
  const place = knownPlace(state, hash)
  if (place !== undefined) return described(names, executedAt(place))
  const pooled = pooledByHash(state.pool, hash)
  return pooled && described(names, { transaction: pooled.transaction })
}

function described(
  names: Names,
  { transaction, receipt, failure, output, consoleLines = [] }: Mined,
): DescribedTransaction {
  const { world } = names
  const { from, to, data } = transaction
  const created = receipt?.contractAddress ?? null
  const call =
    to === null
      ? names.creation(world, data, created)
      : names.call(world, { from, to, input: data })
  const target = to ?? created
  return {
    call: call?.text,
    from: names.nameOf(world, from),
    to: target === null ? undefined : names.nameOf(world, target),
    error: failure && (names.error(world, to, output ?? new Uint8Array())?.text ?? failure.reason),
    console: consoleLines.map((line) => line.text),
    events: (receipt?.logs ?? []).map((log) => ({
      address: log.address,
      text: names.event(world, log, null)?.text,
    })),
  }
}

type Mined = Pick<ExecutedTransaction, 'transaction'> & Partial<ExecutedTransaction>
