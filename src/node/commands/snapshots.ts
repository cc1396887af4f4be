// Commands that keep states of a chain and go back to them.
import type { CommandOptions } from '../chain/recall.ts'
import type { ChainState, Snapshot } from '../ledger/chainstate.ts'
import type { Change } from '../ledger/change.ts'
import { checkName, findSnapshot, snapshotNamed, withoutSnapshot } from '../ledger/snapshots.ts'

/**
 * Keeps the state under a new id, from 1 on and never given twice. Nothing is copied. A snapshot lives until an older
 * one is reverted to, or the chain is reset: what it holds beyond the present state stays in memory until then.
 */
export function takeSnapshot(state: ChainState): Change<number> {
  const id = state.nextSnapshotId
  const newestSnapshot: Snapshot = { id, name: undefined, state: withoutNames(state) }
  return { state: { ...state, newestSnapshot, nextSnapshotId: id + 1 }, value: id }
}

/** Takes the place of what had the name before. It lives until the chain is reset, whatever is reverted to, and however often. */
export function takeNamedSnapshot(state: ChainState, name: string): Change<Snapshot> {
  checkName(state, name)
  const id = state.nextSnapshotId
  const snapshot: Snapshot = { id, name, state: withoutNames(state) }
  const namedSnapshots = new Map(state.namedSnapshots).set(name, snapshot)
  return { state: { ...state, namedSnapshots, nextSnapshotId: id + 1 }, value: snapshot }
}

/**
 * Goes back to a snapshot: blocks, accounts, pool, clock, settings, mining mode, keys. Snapshots taken after it are
 * forgotten but for those with names; it stays itself, unless it has no name and the chain consumes snapshots.
 * @returns false when there is no snapshot of that id, and then nothing changes
 */
export function revertTo(state: ChainState, id: number): Change<boolean> {
  const snapshot = findSnapshot(state, id)
  if (snapshot === undefined) return { state, value: false }
  const after = backAt(state, snapshot)
  if (!state.config.options.consumeSnapshots) return { state: after, value: true }
  return { state: { ...after, newestSnapshot: snapshot.state.newestSnapshot }, value: true }
}

/** Keeps the snapshot, also where the chain consumes them. */
export function returnTo(state: ChainState, nameOrId: string | number): Change<Snapshot> {
  const snapshot = snapshotNamed(state, nameOrId)
  return { state: backAt(state, snapshot), value: snapshot }
}

/** A name is free again; an id is not. */
export function dropSnapshot(state: ChainState, nameOrId: string | number): Change<Snapshot> {
  const snapshot = snapshotNamed(state, nameOrId)
  return { state: withoutSnapshot(state, snapshot), value: snapshot }
}

/** The state of a snapshot, with what no way back brings back. Those without names that it had are there again. */
function backAt(state: ChainState, snapshot: Snapshot): ChainState {
  const { namedSnapshots, nextSnapshotId, resets } = state
  const kept = snapshot.state
  const newestSnapshot = snapshot.name === undefined ? snapshot : kept.newestSnapshot
  return { ...kept, newestSnapshot, namedSnapshots, nextSnapshotId, resets }
}

/** A state to be kept: with its names it would keep what they stood for, long after they were taken anew. */
function withoutNames(state: ChainState): ChainState {
  return state.namedSnapshots.size === 0 ? state : { ...state, namedSnapshots: new Map() }
}

export const RESET: CommandOptions = { takesBack: 'was reset' }

/** How a revert is asked for: where there is such a snapshot, what still runs is given up. */
export function revertOptions(state: ChainState, nameOrId: string | number): CommandOptions {
  return findSnapshot(state, nameOrId) === undefined
    ? {}
    : { takesBack: 'was reverted to a snapshot' }
}

/** Snapshots, the pool and imported keys are forgotten; ids go on, or begin anew where the chain behaves so. */
export function reset(state: ChainState): Change<undefined> {
  return resetTo(state, state.origin ?? state)
}

export function resetTo(state: ChainState, origin: ChainState): Change<undefined> {
  const { resets, config } = state
  const { nextSnapshotId } = config.behaviour.snapshotIdsGoOn ? state : origin
  return { state: { ...origin, origin, nextSnapshotId, resets: resets + 1 }, value: undefined }
}
