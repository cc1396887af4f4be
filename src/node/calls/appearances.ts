// Finds transactions by participant (sender, receiver, creator or within it) for explorers. Inner frames need a replay
// of the block; results are cached with its record.
import type { Address } from '../../core/hex.ts'
import { yielder } from '../../core/yield.ts'
import { type Cancellation, throwIfCancelled } from '../../evm/cancellation.ts'
import type { CallFrame } from '../../evm/tracers/calls.ts'
import { TRANSACTION_GAS } from '../../protocol/fees.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import type { Chain } from '../chain/chain.ts'
import type { BlockRecord, ExecutedTransaction } from '../ledger/blockrecord.ts'
import {
  type BlockTree,
  blockByNumber,
  recordToRead,
  type TransactionPlace,
} from '../ledger/blocktree.ts'
import { hasCodeAfter } from '../ledger/packing/oldstate.ts'
import { replayFrames, type TraceBudget } from './replay.ts'

type Appearances = readonly ReadonlySet<Address>[]

const known = new WeakMap<BlockRecord, Appearances>()

/** Stops once at least `count` are found. Throws `LIMIT_EXCEEDED` over the step budget, and `CANCELLED`. */
export async function findAppearances(
  chain: Chain,
  address: Address,
  { from, step, count }: { readonly from: bigint; readonly step: 1n | -1n; readonly count: number },
  budget: TraceBudget,
  cancellation?: Cancellation,
): Promise<{ readonly places: readonly TransactionPlace[]; readonly isComplete: boolean }> {
  const places: TransactionPlace[] = []
  const yieldIfDue = yielder()
  for (const record of filledFrom(chain.state.tree, from, step)) {
    if (places.length >= count) return { places, isComplete: false }
    throwIfCancelled(cancellation)
    const found = await placesIn(chain, record, address, budget)
    places.push(...(step === 1n ? found : found.reverse()))
    await yieldIfDue()
  }
  return { places, isComplete: true }
}

function filledFrom({ canonical }: BlockTree, from: bigint, step: 1n | -1n): Iterable<BlockRecord> {
  if (step === 1n) return canonical.filled(Number(from))
  return [...canonical.filled(0, Number(from) + 1)].reverse()
}

/** Undefined without code, for a delegation (EIP-7702), and for contracts from genesis or cheats. */
export async function creationOf(
  chain: Chain,
  address: Address,
  budget: TraceBudget,
): Promise<{ readonly place: TransactionPlace; readonly creator: Address } | undefined> {
  const record = firstWithCode(chain.state.tree, address, 0n)
  if (record === undefined) return undefined
  const direct = record.executed.findIndex((each) => hasMade(each, address))
  if (direct >= 0) {
    const { from } = record.executed[direct]!.transaction
    return { place: { record, index: direct }, creator: from }
  }
  let index = 0
  for await (const top of replayFrames(chain, record, { budget })) {
    const creator = creatorWithin(top, address)
    if (creator !== undefined) return { place: { record, index }, creator }
    index += 1
  }
  return undefined
}

/** The chain's own creation transaction of a contract; undefined if another contract created it. */
export function deploymentOf(tree: BlockTree, address: Address): Transaction | undefined {
  const record = firstWithCode(tree, address, BigInt((tree.network?.number ?? -1) + 1))
  return record?.executed.find((each) => hasMade(each, address))?.transaction
}

function hasMade({ receipt }: ExecutedTransaction, address: Address): boolean {
  return receipt.contractAddress === address && receipt.status
}

/** Binary search for the first block with code: looking at each block would take as long as the chain. */
function firstWithCode(tree: BlockTree, address: Address, from: bigint): BlockRecord | undefined {
  const hasCode = (number: bigint): boolean => {
    const record = blockByNumber(tree, number)
    return record !== undefined && hasCodeAfter(record, address)
  }
  let [low, high] = [from, BigInt(tree.canonical.length) - 1n]
  if (low > high || !hasCode(high)) return undefined
  while (low < high) {
    const middle = (low + high) / 2n
    if (hasCode(middle)) high = middle
    else low = middle + 1n
  }
  const record = blockByNumber(tree, low)
  return record && recordToRead(tree, record)
}

async function placesIn(
  chain: Chain,
  record: BlockRecord,
  address: Address,
  budget: TraceBudget,
): Promise<TransactionPlace[]> {
  if (record.executed.length === 0) return []
  const appearances = known.get(record) ?? (await appearancesIn(chain, record, budget))
  known.set(record, appearances)
  return appearances.flatMap((accounts, index) =>
    accounts.has(address) ? [{ record, index }] : [],
  )
}

async function appearancesIn(
  chain: Chain,
  record: BlockRecord,
  budget: TraceBudget,
): Promise<Appearances> {
  const direct = record.executed.map(
    ({ transaction: { from, to }, receipt: { contractAddress } }) =>
      new Set([from, to, contractAddress].filter((each) => each !== null)),
  )
  if (record.executed.every(runsNothing)) return direct
  let index = 0
  for await (const top of replayFrames(chain, record, { budget })) {
    const accounts = direct[index++]
    if (accounts !== undefined) collect(top, accounts)
  }
  return direct
}

function runsNothing({ transaction, receipt }: ExecutedTransaction): boolean {
  const isPlain = transaction.to !== null && transaction.data.length === 0
  return isPlain && receipt.gasUsed === TRANSACTION_GAS && receipt.blockGas === undefined
}

function collect(frame: CallFrame, accounts: Set<Address>): void {
  accounts.add(frame.from)
  if (frame.to !== null) accounts.add(frame.to)
  for (const inner of frame.calls) collect(inner, accounts)
}

function creatorWithin(frame: CallFrame, address: Address): Address | undefined {
  if (frame.failure !== undefined) return undefined
  if (frame.kind.startsWith('CREATE') && frame.to === address) return frame.from
  for (const inner of frame.calls) {
    const creator = creatorWithin(inner, address)
    if (creator !== undefined) return creator
  }
  return undefined
}
