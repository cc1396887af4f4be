// A foreign branch: validated beside the chain, which adopts it if it is heavier.
import type { Executor } from '../../evm/executor.ts'
import type { EncodedBlock } from '../../protocol/blocks/blockdecoding.ts'
import { brokenRule, unequal } from '../../protocol/blocks/headerrules.ts'
import type { BlockRecord } from '../ledger/blockrecord.ts'
import {
  appendBlock,
  blockByHash,
  hashByNumber,
  headOf,
  isCanonical,
  truncateTo,
} from '../ledger/blocktree.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import type { Change } from '../ledger/change.ts'
import { adopt } from '../mining/reorganize.ts'
import { BlockImport, ofBlock, onTop } from './importblocks.ts'

export class ForeignBranch {
  readonly #blocks: BlockImport
  readonly #base: ChainState
  #records: BlockRecord[] = []

  constructor(state: ChainState, parent: BlockRecord) {
    this.#base = state
    const beside: BlockRecord[] = []
    let fork: BlockRecord | undefined = parent
    while (fork !== undefined && !isCanonical(state.tree, fork)) {
      beside.unshift(fork)
      fork = blockByHash(state.tree, fork.block.header.parentHash)
    }
    const tree = truncateTo(state.tree, fork?.block.header.number ?? 0n)
    this.#blocks = new BlockImport({ ...state, tree: beside.reduce(appendBlock, tree) })
    this.#records = beside
  }

  get head(): BlockRecord {
    return headOf(this.#blocks.state.tree)
  }

  get state(): ChainState {
    return this.#blocks.state
  }

  get waiting(): number {
    return this.#records.length
  }

  /** Skips the run of a known block. Throws `INVALID_BLOCK` as `importBlocks`, also if the block does not follow. */
  async add(executor: Executor, block: EncodedBlock): Promise<void> {
    const { parentHash, number } = block.header
    const problem = unequal(this.head.block.hash, parentHash)
    if (problem !== undefined) throw ofBlock(number, brokenRule('parent hash', problem))
    const known = blockByHash(this.#base.tree, block.hash)
    if (known === undefined) await this.#blocks.add(executor, block)
    else this.#blocks.state = { ...this.state, tree: appendBlock(this.state.tree, known) }
    this.#records.push(this.head)
  }

  /** Runs in a command; call `adopted` after the commit. A few lighter blocks are kept as side blocks. */
  adoptedBy(state: ChainState): Change<undefined> {
    const change = adopt(state, this.#records)
    const after = change.state
    if (after === state || after.tree.canonical === state.tree.canonical) return change
    const { config } = this.state
    if (config === this.#base.config) return change
    return { ...change, state: onTop(state, { ...after, config }) }
  }

  adopted({ tree }: ChainState): void {
    const last = this.#records.at(-1)
    if (last !== undefined && hashByNumber(tree, last.block.header.number) === last.block.hash) {
      this.#records = []
    }
  }
}
