// A node: a chain with its filters and miners' work.
import type { Chain } from './chain/chain.ts'
import type { ChainOptions } from './chainoptions.ts'
import { createChain } from './create.ts'
import { Filters } from './events/filters.ts'
import { GetWork } from './sealing/getwork.ts'

/** Everything ends when the chain is closed. */
export interface Node {
  readonly chain: Chain
  readonly filters: Filters
  readonly getWork: GetWork
}

export async function createNode(options: ChainOptions = {}): Promise<Node> {
  return nodeOf(await createChain(options))
}

export function nodeOf(chain: Chain): Node {
  const { filterTimeout } = chain.state.config.options
  return {
    chain,
    filters: new Filters(chain, { timeoutMs: filterTimeout }),
    getWork: new GetWork(chain),
  }
}
