// The state of a chain: every member has its codec here, or is plain.
import { lazy } from '../../core/lrucache.ts'
import type { AccountBook } from '../../node/accounts/accounts.ts'
import { configFromSource } from '../../node/chainconfig.ts'
import {
  type ChainConfig,
  type ChainState,
  type ConfigSource,
  mergedFrom,
  type Snapshot,
} from '../../node/ledger/chainstate.ts'
import type { Pool, PooledTransaction } from '../../node/pool/pool.ts'
import { type Codec, listOf, objectOf, optional, shared } from '../objects.ts'
import { signers, tree } from './blocks.ts'
import { mapOf } from './collections.ts'
import { transaction } from './parts.ts'
import { plain, plainly } from './plain.ts'
import { address, hash } from './single.ts'

/** What differs from the configuration that the source gives. */
type ConfigChanges = Pick<
  ChainConfig,
  'chainId' | 'networkId' | 'ruleset' | 'initialBaseFee' | 'mergedAt'
>

const config: Codec<ChainConfig> = {
  write(value, to) {
    const { source, upstream, chainId, networkId, ruleset, initialBaseFee, mergedAt } = value
    const changes: ConfigChanges = { chainId, networkId, ruleset, initialBaseFee, mergedAt }
    plain.write(upstream?.source.name, to)
    plain.write(source, to)
    plain.write(changes, to)
  },
  read(from) {
    const fork = plain.read(from) as string | undefined
    const source = plain.read(from) as ConfigSource
    const made = configFromSource(source, fork === undefined ? undefined : from.store.fork(fork))
    const changes = plain.read(from) as ConfigChanges
    const { mergedAt } = changes
    return { ...(mergedAt === undefined ? made : mergedFrom(made, mergedAt)), ...changes }
  },
}

const pooled = shared(
  objectOf<PooledTransaction>({ transaction, arrival: plainly(), conditions: plainly() }),
)

type Queue = Parameters<Pool['bySender']['set']>[1]

const pool = objectOf<Pool>({
  size: plainly(),
  lastArrival: plainly(),
  byHash: mapOf(hash, pooled),
  bySender: mapOf(address, objectOf<Queue>({ byNonce: mapOf(plainly(), pooled), runs: plainly() })),
})

const accounts = objectOf<AccountBook>({
  held: mapOf(address, plainly()),
  order: shared(listOf(address)),
  impersonated: mapOf(address, plainly()),
  autoImpersonate: plainly(),
  signers,
})

/** Older states are read when a snapshot is reverted to. */
const snapshot: Codec<Snapshot> = {
  write({ id, name, state: then }, to) {
    plain.write(id, to)
    plain.write(name, to)
    state.write(then, to)
  },
  read(from) {
    const [id, name, position] = [plain.read(from), plain.read(from), from.position()]
    const { store } = from
    const then = lazy(() => store.read(position, members))
    return {
      id: id as number,
      name: name as string | undefined,
      get state() {
        return then()
      },
    }
  },
}

const snapshotObject = shared(snapshot)
const optionalSnapshot = optional(snapshotObject)

/** The oldest first, as each has the one before it: a thousand in a row would be as many calls in each other. */
const newestSnapshot: Codec<Snapshot | undefined> = {
  write(newest, to) {
    const unknown: Snapshot[] = []
    let each = newest
    while (each !== undefined && to.store.known(each) === undefined) {
      unknown.push(each)
      each = each.state.newestSnapshot
    }
    for (const older of unknown.reverse()) to.positionOf(older, snapshot)
    optionalSnapshot.write(newest, to)
  },
  read: optionalSnapshot.read,
}

const named = listOf<readonly [string, Snapshot]>({
  write([name, each], to) {
    to.text(name)
    snapshotObject.write(each, to)
  },
  read: (from) => [from.text(), snapshotObject.read(from)],
})

const namedSnapshots: Codec<ReadonlyMap<string, Snapshot>> = {
  write: (all, to) => named.write([...all], to),
  read: (from) => new Map(named.read(from)),
}

const members: Codec<ChainState> = objectOf<ChainState>({
  config: shared(config),
  tree: shared(tree),
  pool: shared(pool),
  blobs: shared(listOf(shared(plainly()))),
  batches: shared(listOf(shared(plainly()))),
  clock: shared(plainly()),
  settings: shared(plainly()),
  mining: shared(plainly()),
  accounts: shared(accounts),
  parentChainHeight: plainly(),
  newestSnapshot,
  namedSnapshots: shared(namedSnapshots),
  // what reverts left is for the life of the process
  left: { write: () => undefined, read: () => [] },
  nextSnapshotId: plainly(),
  resets: plainly(),
  origin: optional({
    write: (value, to) => state.write(value, to),
    read: (from) => state.read(from),
  }),
})

export const state: Codec<ChainState> = shared(members)

/** The object itself, in place of a reference to it. */
export const stateObject: Codec<ChainState> = members
