// The subscriptions of WebSocket sessions: which notifications a change of the chain sends to which session.
import { DevchainError } from '../../core/errors.ts'
import { type Hex, hexFromBytes } from '../../core/hex.ts'
import type { Chain } from '../../node/chain/chain.ts'
import { type Announcements, announcementsOf } from '../../node/events/changes.ts'
import type { SyncStatus } from '../../node/peers.ts'
import type { Json } from '../../rpc/schema.ts'
import type { Session } from '../../rpc/session.ts'
import { syncShape } from '../wire/peers/encodesync.ts'

/** What subscribers of `syncing` are told, as geth does: an object while blocks are imported, else false. */
export function syncChange(status: SyncStatus | undefined): Json {
  return status === undefined ? false : { syncing: true, status: syncShape.encode(status) }
}

/** Selects what one subscription is notified of when the chain changes. */
export type Selector = (announcements: Announcements) => Selection

/** The `result` of each notification, made when it is sent. */
export interface Selection {
  /** How many there are at most. */
  readonly most: number
  /** `undefined` for what was looked at and is not wanted. */
  readonly results: Iterable<Json | undefined>
}

/** In what order the subscriptions of a session are notified of the same change. */
export type SubscriptionKind =
  | 'newPendingTransactions'
  | 'logs'
  | 'transactionReceipts'
  | 'newHeads'
  | 'syncing'

interface Subscription {
  readonly id: Hex
  readonly kind: SubscriptionKind
  readonly session: Session
  readonly chain: Chain
  readonly select: Selector
}

/** The subscriptions to one chain; the chain has one listener for all of them. */
interface Audience {
  readonly members: Map<Session, Set<Subscription>>
  readonly stopListening: () => void
}

const ORDER: readonly SubscriptionKind[] = [
  'newPendingTransactions',
  'logs',
  'transactionReceipts',
  'newHeads',
  'syncing',
]

/** Subscriptions that one session may hold. */
const MAX_PER_SESSION = 1000

/** All subscriptions of a process. */
export class Subscriptions {
  readonly #bySession = new Map<Session, Map<Hex, Subscription>>()
  readonly #audiences = new Map<Chain, Audience>()

  /**
   * Tells `session` of what `select` finds in each change of `chain`, until it unsubscribes or closes.
   * @returns the subscription's id: 16 random bytes
   * @throws {DevchainError} `LIMIT_EXCEEDED` when the session holds 1,000 subscriptions
   */
  add(session: Session, chain: Chain, kind: SubscriptionKind, select: Selector): Hex {
    const own = this.#ofSession(session)
    if (own.size >= MAX_PER_SESSION) {
      const message = `too many subscriptions: a connection may hold ${MAX_PER_SESSION}`
      throw new DevchainError('LIMIT_EXCEEDED', message)
    }
    const id = hexFromBytes(chain.environment.random(16))
    const subscription: Subscription = { id, kind, session, chain, select }
    own.set(id, subscription)
    const { members } = this.#audienceOf(chain)
    const sameChain = members.get(session)
    if (sameChain === undefined) members.set(session, new Set([subscription]))
    else sameChain.add(subscription)
    return id
  }

  /** Tells those who subscribed to it that an import began, or that none goes on. */
  tellSyncing(chain: Chain, status: SyncStatus | undefined): void {
    for (const [session, subscriptions] of this.#audiences.get(chain)?.members ?? []) {
      const params = [...subscriptions]
        .filter(({ kind }) => kind === 'syncing')
        .map(({ id }) => ({ subscription: id, result: syncChange(status) }))
      if (params.length > 0) session.notify('eth_subscription', { most: params.length, params })
    }
  }

  /** Ends a subscription of this session; false when it has none of that id. */
  remove(session: Session, id: string): boolean {
    const own = this.#bySession.get(session)
    const subscription = own?.get(id.toLowerCase() as Hex)
    if (own === undefined || subscription === undefined) return false
    own.delete(subscription.id)
    this.#leave(subscription)
    return true
  }

  #ofSession(session: Session): Map<Hex, Subscription> {
    const known = this.#bySession.get(session)
    if (known !== undefined) return known
    const own = new Map<Hex, Subscription>()
    this.#bySession.set(session, own)
    session.onClose(() => {
      this.#bySession.delete(session)
      for (const subscription of own.values()) this.#leave(subscription)
    })
    return own
  }

  #audienceOf(chain: Chain): Audience {
    const known = this.#audiences.get(chain)
    if (known !== undefined) return known
    const members: Audience['members'] = new Map()
    const stopListening = chain.onChange((change) => notify(members, announcementsOf(change)))
    const audience = { members, stopListening }
    this.#audiences.set(chain, audience)
    return audience
  }

  #leave(subscription: Subscription): void {
    const { chain, session } = subscription
    const audience = this.#audiences.get(chain)
    const own = audience?.members.get(session)
    if (audience === undefined || own === undefined) return
    own.delete(subscription)
    if (own.size === 0) audience.members.delete(session)
    if (audience.members.size > 0) return
    audience.stopListening()
    this.#audiences.delete(chain)
  }
}

function notify(members: Audience['members'], announcements: Announcements): void {
  for (const [session, subscriptions] of members) {
    // pending transactions first, heads last: a client that learns of a block has its logs and receipts already
    const selected = [...subscriptions]
      .sort((one, other) => ORDER.indexOf(one.kind) - ORDER.indexOf(other.kind))
      .map((subscription) => ({ subscription, selection: subscription.select(announcements) }))
    const most = selected.reduce((sum, { selection }) => sum + selection.most, 0)
    if (most > 0)
      session.notify('eth_subscription', { most, params: notificationsOf(subscriptions, selected) })
  }
}

/** The parameters of each notification of one change to one session. A subscription that has ended meanwhile gets none. */
function* notificationsOf(
  subscriptions: ReadonlySet<Subscription>,
  selected: readonly { readonly subscription: Subscription; readonly selection: Selection }[],
): IterableIterator<Json | undefined> {
  for (const { subscription, selection } of selected) {
    for (const result of selection.results) {
      if (!subscriptions.has(subscription)) break
      yield result === undefined ? undefined : { subscription: subscription.id, result }
    }
  }
}
