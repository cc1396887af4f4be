// The chains of a file, by name.

import { lazy } from '../../core/lrucache.ts'
import type { PersistentMap } from '../../core/persistent.ts'
import type { ChainState } from '../../node/ledger/chainstate.ts'
import { type Codec, objectOf, shared } from '../objects.ts'
import { mapOf } from './collections.ts'
import { plain } from './plain.ts'
import { state, stateObject } from './states.ts'

export interface KeptChain {
  /** What the chain began with, as far as its state does not say: a plain value. */
  readonly about: unknown
  readonly state: ChainState
}

/** Its state is read when it is asked for. */
export const keptChain: Codec<KeptChain> = {
  write({ about, state: now }, to) {
    plain.write(about, to)
    state.write(now, to)
  },
  read(from) {
    const [about, position] = [plain.read(from), from.position()]
    const { store } = from
    const now = lazy(() => store.read(position, stateObject))
    return {
      about,
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

const name: Codec<string> = {
  write: (text, to) => to.text(text),
  read: (from) => from.text(),
}

export const chainsObject: Codec<KeptChains> = objectOf<KeptChains>({
  byName: mapOf(name, keptObject),
})
