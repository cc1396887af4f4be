// A chain kept in a file.
import type { MaybePromise } from '../../../src/core/promises.ts'
import type { Chain, Commit } from '../../../src/node/chain/chain.ts'
import type { ChainOptions } from '../../../src/node/chainoptions.ts'
import { createChain } from '../../../src/node/create.ts'
import type { ChainState } from '../../../src/node/ledger/chainstate.ts'
import { type ChainStore, openStore, type StoreOptions } from '../../../src/store/chainstore.ts'
import type { TestEnvironment } from '../node/chains.ts'

export interface Kept {
  readonly chain: Chain
  readonly store: ChainStore
  readonly notices: string[]
  /** The file had no chain. */
  readonly isNew: boolean
}

interface Opening
  extends Partial<Pick<StoreOptions, 'durability' | 'files' | 'leastCompacted' | 'turnMs'>> {
  /** Of a new chain. */
  readonly options?: ChainOptions
}

/** Goes on with the chain of the file, if there is one. */
export async function openKept(
  file: string,
  environment: TestEnvironment,
  { options, ...opening }: Opening = {},
): Promise<Kept> {
  const notices: string[] = []
  const store = openStore({
    path: file,
    durability: 'interval',
    onNotice: (text) => notices.push(text),
    hold: async (swap) => {
      await chain.exchange(() => {
        swap()
        return store.at('/')!.state
      })
      return true
    },
    ...opening,
  })
  const keep = (after: ChainState): MaybePromise<void> =>
    store.keep('/', { about: {}, state: after })
  const state = store.at('/')?.state
  const commit: Commit = ({ after }) => keep(after)
  const chain: Chain = await createChain({
    ...options,
    environment,
    scryptCost: 2,
    kept: state,
    commit,
  })
  if (state === undefined) await keep(chain.state)
  return { chain, store, notices, isNew: state === undefined }
}

export async function close({ chain, store }: Kept): Promise<void> {
  chain.close()
  await store.close()
}
