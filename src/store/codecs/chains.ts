// The chains of a file, by name.
import { lazy } from '../../core/lrucache.ts'
import type { PersistentMap } from '../../core/persistent.ts'
import type { ChainState } from '../../node/ledger/chainstate.ts'
import type { ForkSource } from '../../node/ledger/upstream.ts'
import { type Codec, objectOf, optional, shared } from '../objects.ts'
import { mapOf } from './collections.ts'
import { plainly } from './plain.ts'
import { text } from './single.ts'
import { state, stateObject } from './states.ts'

export interface KeptChain {
  /** What the chain began with, as far as its state does not say: a plain value. */
  readonly about: object
  readonly state: ChainState
}

/** A chain in a file: the fork that must be open before its state is read, too. */
export interface StoredChain extends KeptChain {
  readonly fork: ForkSource | undefined
}

const aboutObject = shared(plainly<object>())

/** With a block of the network: written once. */
const forkSource = optional(shared(plainly<ForkSource>()))

/** Its state is read when it is asked for. */
export const keptChain: Codec<KeptChain> = {
  write({ about, state: now }, to) {
    aboutObject.write(about, to)
    forkSource.write(now.config.upstream?.source, to)
    state.write(now, to)
  },
  read(from): StoredChain {
    const [about, fork, position] = [aboutObject.read(from), forkSource.read(from), from.position()]
    const { store } = from
    const now = lazy(() => store.read(position, stateObject))
    return {
      about,
      fork,
      get state() {
        return now()
      },
    }
  },
}

const keptObject: Codec<KeptChain> = shared(keptChain)

export interface KeptChains {
  readonly byName: PersistentMap<string, KeptChain>
}

export const chainsObject: Codec<KeptChains> = objectOf<KeptChains>({
  byName: mapOf(text, keptObject),
})
