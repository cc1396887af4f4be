// States that go from one thread to another.
import type { ChainState } from '../../node/ledger/chainstate.ts'
import type { DevchainSettings } from '../../options/derived.ts'
import { packState, unpackState } from '../../store/pack.ts'
import type { Origin } from '../backend.ts'
import type { Common } from '../common.ts'
import { Forking } from '../forking.ts'
import type { SentState } from './messages.ts'

/** Neither a function nor a file that one thread writes. */
export function hasPlainFork({ fork, forkRecord }: DevchainSettings): boolean {
  return fork?.provider === undefined && forkRecord === undefined
}

/** A fork needs URLs, so that another thread can open it, and no recording, which one thread writes. */
export function canBeSent(
  { state, forking }: Origin,
  { forkRecord }: Pick<DevchainSettings, 'forkRecord'>,
): boolean {
  const { upstream } = state.config
  if (upstream === undefined) return !forking.knowsNetwork()
  return upstream.source.urls.length > 0 && forkRecord === undefined
}

export function sentState(state: ChainState): SentState {
  return { pack: packState(state), fork: state.config.upstream?.source }
}

/** Without forks yet: the thread that began one has logged what there is to say of it. */
export function silentForking({
  settings,
  engines,
  keeping,
}: Pick<Common, 'settings' | 'engines' | 'keeping'>): Forking {
  const executor = engines.executorFor(settings)
  return new Forking({ settings, executor, onNotice: () => undefined, kept: keeping?.forks })
}

/** The fork is opened once more; it stays open until `forking.leaveAll`. */
export async function receivedState({ pack, fork }: SentState, common: Common): Promise<Origin> {
  const forking = silentForking(common)
  const base = fork && (await forking.beginAgain(fork))
  return { state: unpackState(pack, base), forking }
}
