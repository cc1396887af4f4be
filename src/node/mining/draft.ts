// A block in the making: transactions run one by one over one overlay, and their results are gathered.
import { isDeepStrictEqual } from 'node:util'
import { DevchainError, isInterruption } from '../../core/errors.ts'
import { isPromise, type MaybePromise } from '../../core/promises.ts'
import { yielder } from '../../core/yield.ts'
import type {
  BlockEnvironment,
  BlockStart,
  Executor,
  Outcome,
  TransactionJob,
} from '../../evm/executor.ts'
import { AccessParts } from '../../protocol/blocks/accesslist.ts'
import { EMPTY_BLOOM, mergeBlooms } from '../../protocol/blocks/bloom.ts'
import { OrderedTrie } from '../../protocol/blocks/orderedtrie.ts'
import { encodeReceipt, type Log, NO_GAS, withGasOf } from '../../protocol/blocks/receipt.ts'
import { blobGasOf, leastGas, maxBlobGas } from '../../protocol/fees.ts'
import { blockRoom } from '../../protocol/stategas.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import { Overlay } from '../../state/overlay.ts'
import { BEACON_ROOTS } from '../../state/predeploys.ts'
import { accountAt, stateRoot, type World } from '../../state/world.ts'
import type { ExecutedTransaction } from '../ledger/blockrecord.ts'
import { headOf } from '../ledger/blocktree.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import type { DroppedTransaction } from '../ledger/change.ts'
import type { Source } from '../pool/auction.ts'
import { type Conditions, requireConditions } from '../pool/conditions.ts'
import { systemWrites } from './emptyblocks.ts'
import { blockStart } from './environment.ts'
import { blockLimits } from './limits.ts'
import { isTooCheap } from './pricedout.ts'
import { executedAs } from './receipts.ts'

interface Choice {
  readonly transaction: Transaction
  readonly isTaken: boolean
}

export class BlockDraft {
  #block: BlockEnvironment
  readonly executed: ExecutedTransaction[] = []
  readonly dropped: DroppedTransaction[] = []
  readonly logs: Log[] = []
  readonly transactions: OrderedTrie = new OrderedTrie()
  readonly receipts: OrderedTrie = new OrderedTrie()
  readonly accesses: AccessParts = new AccessParts()
  readonly #state: ChainState
  #begun: World
  readonly #overlay: Overlay
  readonly #choices: Choice[] = []
  #cumulativeGas = 0n
  #counted = NO_GAS
  #blobGasLeft: bigint
  #dependsOnTime = false
  #logsBloom = EMPTY_BLOOM
  /** Transactions whose logs it has. */
  #bloomed = 0

  private constructor(state: ChainState, block: BlockEnvironment, { world, accesses }: BlockStart) {
    this.#block = block
    this.#state = state
    this.#begun = world
    this.#overlay = new Overlay(world)
    this.accesses.add(accesses)
    this.#blobGasLeft = maxBlobGas(block.hardfork, block.blobRules)
  }

  static async begin(
    executor: Executor,
    state: ChainState,
    block: BlockEnvironment,
  ): Promise<BlockDraft> {
    const begun = await executor.beginBlock(blockStart(block, headOf(state.tree)))
    return new BlockDraft(state, block, begun)
  }

  get block(): BlockEnvironment {
    return this.#block
  }

  /** Gives the block another time. False: the draft is of another block, or its transactions may depend on the time. */
  async moveTo(executor: Executor, block: BlockEnvironment): Promise<boolean> {
    const old = this.#block
    if (!isSameButForTime(block, old)) return false
    if (block.timestamp === old.timestamp) return true
    const parent = headOf(this.#state.tree)
    if (this.#dependsOnTime || systemWrites(parent.world, block) === undefined) return false
    const { world, accesses } = await executor.beginBlock(blockStart(block, parent))
    const { address } = BEACON_ROOTS
    const replaced = accountAt(this.#begun, address)
    if (!this.#overlay.replaceUnchanged(replaced, accountAt(world, address))) return false
    this.#begun = world
    this.#block = block
    this.accesses.restart(accesses)
    return true
  }

  /** What the roots share with those of the whole block is hashed once, and its access list is in order. */
  hash(): void {
    stateRoot(this.settle())
    void this.transactions.root
    void this.receipts.root
    this.accesses.enter()
    void this.logsBloom
  }

  get logsBloom(): Uint8Array {
    const added = this.executed.slice(this.#bloomed).map(({ receipt }) => receipt.logsBloom)
    this.#logsBloom = mergeBlooms([this.#logsBloom, ...added])
    this.#bloomed = this.executed.length
    return this.#logsBloom
  }

  /** After the transactions so far. */
  settle(): World {
    return this.#overlay.settle()
  }

  /** Adds transactions while there is room. One that does not fit is skipped; one that may not be in the block is dropped. */
  async fill(
    executor: Executor,
    candidates: Source,
    isFull: (executed: number) => boolean = () => false,
  ): Promise<void> {
    const yieldIfDue = yielder(undefined, () => executor.rest())
    const limits = blockLimits(this.#state.config)
    const least = leastGas(this.block.hardfork)
    while (
      !isFull(this.executed.length) &&
      this.block.gasLimit - this.#counted.execution >= least
    ) {
      const { best: transaction, conditions } = candidates
      if (transaction === undefined) return
      this.#dependsOnTime ||= conditions !== undefined
      const tried = this.#hasRoom(transaction)
        ? this.#attempt(executor, { transaction, limits }, conditions)
        : undefined
      const outcome = isPromise(tried) ? await tried : tried
      const isTaken = outcome !== undefined && !(outcome instanceof DevchainError)
      if (isTaken) this.#take(transaction, outcome)
      else if (outcome !== undefined) this.dropped.push({ transaction, error: outcome })
      this.#choices.push({ transaction, isTaken })
      if (isTaken) candidates.advance()
      else candidates.skip()
      const pause = isFull(this.executed.length) ? undefined : yieldIfDue()
      if (pause !== undefined) await pause
    }
  }

  /** Moves past the candidates that the draft was filled with. False: these are not the same, or not in this order. */
  isBegunWith(candidates: Source): boolean {
    return this.#choices.every(({ transaction, isTaken }) => {
      if (candidates.best !== transaction) return false
      if (isTaken) candidates.advance()
      else candidates.skip()
      return true
    })
  }

  #hasRoom(transaction: Transaction): boolean {
    const { gasLimit, hardfork } = this.block
    const { needed, left } = blockRoom(transaction.gasLimit, gasLimit, this.#counted, hardfork)
    return (
      needed <= left &&
      blobGasOf(transaction) <= this.#blobGasLeft &&
      !isTooCheap(this.#state, transaction, hardfork)
    )
  }

  #take(transaction: Transaction, outcome: Outcome): void {
    this.#dependsOnTime ||= outcome.dependsOnTime
    this.accesses.add(outcome.accesses)
    this.#overlay.absorb(outcome.changes)
    this.#counted = withGasOf(this.#counted, outcome)
    this.#blobGasLeft -= blobGasOf(transaction)
    this.#cumulativeGas += outcome.gasUsed
    const executed = executedAs(
      transaction,
      outcome,
      this.block,
      this.#cumulativeGas,
      this.#overlay,
    )
    this.executed.push(executed)
    for (const log of outcome.logs) this.logs.push(log)
    this.transactions.push(transaction.raw)
    this.receipts.push(encodeReceipt(executed.receipt))
  }

  /** The outcome, or why the transaction may not be in the block. Other errors are bugs and are rethrown. */
  #attempt(
    executor: Executor,
    { transaction, limits }: Pick<TransactionJob, 'transaction' | 'limits'>,
    conditions: Conditions | undefined,
  ): MaybePromise<Outcome | DevchainError> {
    const { block } = this
    try {
      if (conditions !== undefined) requireConditions(conditions, this.settle(), block)
      const world = this.#begun
      const job = { world, draft: this.#overlay, block, transaction, limits }
      const outcome = executor.transact(job)
      return isPromise(outcome) ? outcome.catch(refusalIn) : outcome
    } catch (error) {
      return refusalIn(error)
    }
  }
}

function isSameButForTime(one: BlockEnvironment, other: BlockEnvironment): boolean {
  const names = Object.keys(one) as (keyof BlockEnvironment)[]
  return names.every((name) => TIME_MEMBERS.has(name) || isDeepStrictEqual(one[name], other[name]))
}

/** `blockHash` is of the same parent. */
const TIME_MEMBERS: ReadonlySet<keyof BlockEnvironment> = new Set(['timestamp', 'blockHash'])

function refusalIn(error: unknown): DevchainError {
  if (error instanceof DevchainError && !isInterruption(error)) return error
  throw error
}
