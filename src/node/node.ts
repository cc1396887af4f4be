// The chains of one process, by name.
import { DevchainError } from '../core/errors.ts'
import type { Chain } from './chain/chain.ts'

/** The name of the chain that is meant where none is named. */
export const DEFAULT_CHAIN = 'default'

/** Chains by name. There is always the default one. */
export class Node {
  readonly #chains = new Map<string, Chain>()

  constructor(defaultChain: Chain) {
    this.#chains.set(DEFAULT_CHAIN, defaultChain)
  }

  /**
   * The chain of a name; the default one without a name.
   * @throws {DevchainError} `NOT_FOUND`
   */
  chain(name: string = DEFAULT_CHAIN): Chain {
    const chain = this.#chains.get(name)
    if (chain !== undefined) return chain
    const known = [...this.#chains.keys()].join(', ')
    throw new DevchainError('NOT_FOUND', `chain ${name} not found: there are ${known}`)
  }

  /** Closes all chains. */
  close(): void {
    for (const chain of this.#chains.values()) chain.close()
  }
}
