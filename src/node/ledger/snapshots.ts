// Finds the snapshots of a chain by id or name.
import { DevchainError, invalidParams, limitExceeded, printValue } from '../../core/errors.ts'
import { lazy } from '../../core/lrucache.ts'
import { nearest } from '../../core/nearest.ts'
import type { ChainState, Snapshot } from './chainstate.ts'

/** Most named snapshots of a chain. Each may keep a whole state in memory. */
export const MAX_NAMED = 1000

/** Names begin with a letter, so that none looks like an id. Lazy, as it takes half a millisecond of the start. */
const nameForm = lazy(() => /^\p{L}(?:[\p{L}\p{N} ._:/-]{0,62}[\p{L}\p{N}._:/-])?$/u)

const LISTED = 10

export function snapshotsOf({ newestSnapshot, namedSnapshots }: ChainState): Snapshot[] {
  const snapshots = [...namedSnapshots.values()]
  for (let each = newestSnapshot; each !== undefined; each = each.state.newestSnapshot) {
    snapshots.push(each)
  }
  return snapshots.sort((a, b) => a.id - b.id)
}

export function findSnapshot(state: ChainState, nameOrId: string | number): Snapshot | undefined {
  if (typeof nameOrId === 'string') return state.namedSnapshots.get(nameOrId)
  let snapshot = state.newestSnapshot
  while (snapshot !== undefined && snapshot.id > nameOrId) snapshot = snapshot.state.newestSnapshot
  if (snapshot?.id === nameOrId) return snapshot
  return [...state.namedSnapshots.values()].find(({ id }) => id === nameOrId)
}

/** @throws {DevchainError} `NOT_FOUND` with a list of the snapshots */
export function snapshotNamed(state: ChainState, nameOrId: string | number): Snapshot {
  const snapshot = findSnapshot(state, nameOrId)
  if (snapshot !== undefined) return snapshot
  const what = typeof nameOrId === 'number' ? `0x${nameOrId.toString(16)}` : printValue(nameOrId)
  throw new DevchainError('NOT_FOUND', `snapshot ${what} not found: ${presentOf(state, nameOrId)}`)
}

function presentOf(state: ChainState, wanted: string | number): string {
  const names = [...state.namedSnapshots.keys()]
  const meant = typeof wanted === 'string' ? nearest(wanted, names) : undefined
  if (meant !== undefined) return `did you mean ${printValue(meant)}?`
  const all = snapshotsOf(state).map(({ id, name }) => name ?? `0x${id.toString(16)}`)
  if (all.length === 0) return 'there is none; a reset forgets all'
  const more = all.length > LISTED ? ` and ${all.length - LISTED} older ones` : ''
  return `there is ${all.slice(-LISTED).join(', ')}${more}`
}

/** Removes it from named snapshots too: a revert to one of them would restore it. */
export function withoutSnapshot(state: ChainState, { id, name }: Snapshot): ChainState {
  const namedSnapshots = new Map(state.namedSnapshots)
  if (name !== undefined) {
    namedSnapshots.delete(name)
    return { ...state, namedSnapshots }
  }
  const rest = chainWithout(id)
  for (const [key, named] of namedSnapshots) {
    namedSnapshots.set(key, onTopOf(rest(named.state.newestSnapshot), named))
  }
  return { ...state, namedSnapshots, newestSnapshot: rest(state.newestSnapshot) }
}

/** Unnamed snapshots form a linked list, newest first. Removal copies each younger one once: lists share ends. */
function chainWithout(id: number): (newest: Snapshot | undefined) => Snapshot | undefined {
  const made = new Map<Snapshot, Snapshot>()
  return (newest) => {
    const younger: Snapshot[] = []
    let each = newest
    while (each !== undefined && each.id > id && !made.has(each)) {
      younger.push(each)
      each = each.state.newestSnapshot
    }
    let rest = each?.id === id ? each.state.newestSnapshot : each && (made.get(each) ?? each)
    for (const snapshot of younger.reverse()) {
      rest = onTopOf(rest, snapshot)
      made.set(snapshot, rest)
    }
    return rest
  }
}

function onTopOf(newestSnapshot: Snapshot | undefined, snapshot: Snapshot): Snapshot {
  if (newestSnapshot === snapshot.state.newestSnapshot) return snapshot
  return { ...snapshot, state: { ...snapshot.state, newestSnapshot } }
}

/** @throws {DevchainError} `INVALID_PARAMS` for an invalid name, `LIMIT_EXCEEDED` for too many */
export function checkName({ namedSnapshots }: ChainState, name: string): void {
  if (!nameForm().test(name)) {
    const message = `expected a name of 1 to 64 letters, digits, spaces and . _ - / : that begins with a letter, got ${printValue(name)}`
    throw invalidParams(message)
  }
  if (namedSnapshots.has(name) || namedSnapshots.size < MAX_NAMED) return
  const message = `too many named snapshots: there may be ${MAX_NAMED}; take one of their names anew, or drop one`
  throw limitExceeded(message)
}
