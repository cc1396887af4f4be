// The subscriptions of WebSocket sessions: decides which notifications a change sends to which session.
import { limitExceeded } from '../../core/errors.ts'
import { type Hex, hexFromBytes } from '../../core/hex.ts'
import { getOrMake } from '../../core/lrucache.ts'
import type { Chain } from '../../node/chain/chain.ts'
import { type Announcements, announcementsOf } from '../../node/events/changes.ts'
import { headChange } from '../../node/ledger/blocktree.ts'
import type { SyncStatus } from '../../node/peers.ts'
import type { Json } from '../../rpc/schema.ts'
import type { Session } from '../../rpc/session.ts'
import { syncShape } from '../wire/peers/encodepeer.ts'

/** The result for subscribers of `syncing`, as in geth: an object while blocks are imported, else false. */
export function syncChange(status: SyncStatus | undefined): Json {
  return status === undefined ? false : { syncing: true, status: syncShape.encode(status) }
}

/** Selects a subscription's notifications for a change of the chain. */
export type Selector = (announcements: Announcements) => Selection

/** The `result` of each notification, made when it is sent. */
export interface Selection {
  /** Upper bound of the count. */
  readonly most: number
  /** `undefined` for items that do not match. */
  readonly results: Iterable<Json | undefined>
}

/** The order of a session's notifications of one change. */
const ORDER = [
  'newPendingTransactions',
  'logs',
  'transactionReceipts',
  'newHeads',
  'changes',
  'calls',
  'syncing',
] as const

export type SubscriptionKind = (typeof ORDER)[number]

interface Subscription {
  readonly id: Hex
  readonly kind: SubscriptionKind
  readonly select: Selector
}

type Own = Map<Hex, Subscription>

/** Sessions of one chain with subscriptions; they share one listener on the chain. */
interface Audience {
  readonly members: Map<Session, Own>
  readonly stopListening: () => void
}

const MAX_PER_SESSION = 1000

/** Of all connections. A session belongs to one chain. */
export class Subscriptions {
  readonly #audiences = new Map<Chain, Audience>()
  /** Subscriptions of `calls`, by their ids. */
  readonly #callWatchers = new Map<Hex, { readonly session: Session; readonly chain: Chain }>()

  /** False: nobody needs reports of calls here. */
  get watchesCalls(): boolean {
    return this.#callWatchers.size > 0
  }

  /**
   * Notifies `session` of what `select` finds in each change of `chain`, until it unsubscribes or closes.
   * @returns the subscription's id: 16 random bytes
   * @throws {DevchainError} `LIMIT_EXCEEDED` when the session holds 1,000 subscriptions
   */
  add(session: Session, chain: Chain, kind: SubscriptionKind, select: Selector): Hex {
    const own = this.#ofSession(session, chain)
    if (own.size >= MAX_PER_SESSION) {
      throw limitExceeded(`too many subscriptions: a connection may hold ${MAX_PER_SESSION}`)
    }
    const id = hexFromBytes(chain.environment.random(16))
    own.set(id, { id, kind, select })
    session.hold()
    if (kind === 'calls') this.#callWatchers.set(id, { session, chain })
    return id
  }

  /** Notifies of a call, but not the connection that made it: whoever reads what a call is about would get no end. */
  notifyCall(chain: Chain, caller: Session | undefined, describe: () => Json): void {
    let result: Json | undefined
    for (const [subscription, watcher] of this.#callWatchers) {
      if (watcher.chain !== chain || watcher.session === caller) continue
      result ??= describe()
      watcher.session.notify('eth_subscription', { most: 1, params: [{ subscription, result }] })
    }
  }

  /** Notifies subscribers of `changes` on all chains that accounts or contracts got other names: no state changed. */
  notifyNames(): void {
    for (const [{ state }, { members }] of this.#audiences) {
      const head = headChange(state.tree, state.tree)
      notify(members, announcementsOf({ before: state, after: state, head, dropped: [] }))
    }
  }

  /** Notifies subscribers that an import began or ended. */
  notifySyncing(chain: Chain, status: SyncStatus | undefined): void {
    for (const [session, own] of this.#audiences.get(chain)?.members ?? []) {
      const params = [...own.values()]
        .filter(({ kind }) => kind === 'syncing')
        .map(({ id }) => ({ subscription: id, result: syncChange(status) }))
      if (params.length > 0) session.notify('eth_subscription', { most: params.length, params })
    }
  }

  /** False if this session has no such subscription. */
  remove(session: Session, chain: Chain, id: string): boolean {
    const known = id.toLowerCase() as Hex
    this.#callWatchers.delete(known)
    return this.#audiences.get(chain)?.members.get(session)?.delete(known) === true
  }

  #ofSession(session: Session, chain: Chain): Own {
    const { members, stopListening } = this.#audienceOf(chain)
    return getOrMake(members, session, () => {
      const own: Own = new Map()
      session.onClose(() => {
        for (const id of own.keys()) this.#callWatchers.delete(id)
        own.clear()
        members.delete(session)
        if (members.size > 0) return
        stopListening()
        this.#audiences.delete(chain)
      })
      return own
    })
  }

  #audienceOf(chain: Chain): Audience {
    return getOrMake(this.#audiences, chain, () => {
      const members: Audience['members'] = new Map()
      const stopListening = chain.onChange((change) => notify(members, announcementsOf(change)))
      return { members, stopListening }
    })
  }
}

function notify(members: Audience['members'], announcements: Announcements): void {
  for (const [session, own] of members) {
    // pending transactions first, heads last: a client that gets a block has its logs and receipts already
    const selected = [...own.values()]
      .sort((one, other) => ORDER.indexOf(one.kind) - ORDER.indexOf(other.kind))
      .map((subscription) => ({ subscription, selection: subscription.select(announcements) }))
    const most = selected.reduce((sum, { selection }) => sum + selection.most, 0)
    if (most > 0)
      session.notify('eth_subscription', { most, params: notificationsOf(own, selected) })
  }
}

/** Notifications of one change for one session; a subscription that has ended meanwhile gets none. */
function* notificationsOf(
  own: ReadonlyMap<Hex, Subscription>,
  selected: readonly { readonly subscription: Subscription; readonly selection: Selection }[],
): IterableIterator<Json | undefined> {
  for (const { subscription, selection } of selected) {
    const { id } = subscription
    for (const result of selection.results) {
      if (!own.has(id)) break
      yield result === undefined ? undefined : { subscription: id, result }
    }
  }
}
