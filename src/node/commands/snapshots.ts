// Commands that take snapshots of a chain and revert to them.
import { number } from '../../core/format.ts'
import type { CommandOptions } from '../chain/discards.ts'
import { type BlockTree, headChange } from '../ledger/blocktree.ts'
import type { ChainState, Snapshot } from '../ledger/chainstate.ts'
import type { Change } from '../ledger/change.ts'
import { checkName, findSnapshot, snapshotNamed, withoutSnapshot } from '../ledger/snapshots.ts'

/** Ids start at 1 and are never reused. A snapshot lives, and stays in memory, until an older revert or a reset. */
export function takeSnapshot(state: ChainState): Change<number> {
  const id = state.nextSnapshotId
  const newestSnapshot: Snapshot = { id, name: undefined, state: alone(state) }
  return { state: { ...state, newestSnapshot, nextSnapshotId: id + 1 }, value: id }
}

/** Replaces a snapshot of the same name. It lives until a reset, however often the chain reverts. */
export function takeNamedSnapshot(state: ChainState, name: string): Change<Snapshot> {
  checkName(state, name)
  const id = state.nextSnapshotId
  const snapshot: Snapshot = { id, name, state: alone(state) }
  const namedSnapshots = new Map(state.namedSnapshots).set(name, snapshot)
  return { state: { ...state, namedSnapshots, nextSnapshotId: id + 1 }, value: snapshot }
}

/**
 * Reverts to a snapshot: blocks, accounts, pool, clock, settings, mining mode, keys. Drops later snapshots without
 * names, and the snapshot itself if it has no name and the chain consumes snapshots.
 * @returns false for an unknown id; then nothing changes
 */
export function revertTo(state: ChainState, id: number): Change<boolean> {
  const snapshot = findSnapshot(state, id)
  if (snapshot === undefined) return { state, value: false }
  const after = backAt(state, snapshot)
  if (!state.config.options.consumeSnapshots) return { state: after, value: true }
  return { state: { ...after, newestSnapshot: snapshot.state.newestSnapshot }, value: true }
}

/** Keeps the snapshot even where the chain consumes them. */
export function returnTo(state: ChainState, nameOrId: string | number): Change<Snapshot> {
  const snapshot = snapshotNamed(state, nameOrId)
  return { state: backAt(state, snapshot), value: snapshot }
}

/** The name may be used again; an id may not. */
export function dropSnapshot(state: ChainState, nameOrId: string | number): Change<Snapshot> {
  const snapshot = snapshotNamed(state, nameOrId)
  return { state: withoutSnapshot(state, snapshot), value: snapshot }
}

/** The state of a snapshot, with what never goes back. Its unnamed snapshots exist again. */
function backAt(state: ChainState, snapshot: Snapshot): ChainState {
  const { namedSnapshots, nextSnapshotId, resets, origin } = state
  const kept = snapshot.state
  const newestSnapshot = snapshot.name === undefined ? snapshot : kept.newestSnapshot
  const left = leftAfter(state, kept)
  return { ...kept, newestSnapshot, namedSnapshots, left, nextSnapshotId, resets, origin }
}

/** Bounds of what reverts left: states, and their blocks together. */
const MOST_LEFT = 16
const MOST_LEFT_BLOCKS = 1_024

function leftAfter(before: ChainState, { tree }: ChainState): readonly ChainState[] {
  const left = { ...alone(before), newestSnapshot: undefined }
  if (goneFrom(left, tree) === 0) return before.left
  let blocks = 0
  // a revert that goes further back than an earlier one takes more of its blocks away
  return [left, ...before.left].slice(0, MOST_LEFT).filter((each) => {
    blocks += goneFrom(each, tree)
    return blocks <= MOST_LEFT_BLOCKS
  })
}

/** Whether a revert, or the blocks that it took away, are not in `left` for want of room. */
export function forgotLeft(before: ChainState, after: ChainState): boolean {
  const isRevert = before.left !== after.left && before.resets === after.resets
  return isRevert && after.left.length <= before.left.length
}

/** What it says when some are forgotten. */
export const LEFT_BOUND: string = `devchain_leftBlocks has the blocks that the newest ${MOST_LEFT} reverts left, at most ${number(MOST_LEFT_BLOCKS)}; older ones are forgotten`

/** How many blocks of the state are not on the chain. */
function goneFrom(state: ChainState, tree: BlockTree): number {
  return headChange(state.tree, tree).removed.length
}

/** The state without what never goes back, which it would otherwise hold in memory. */
function alone(state: ChainState): ChainState {
  return { ...state, namedSnapshots: NO_NAMES, left: [], origin: undefined }
}

const NO_NAMES: ChainState['namedSnapshots'] = new Map()

export const RESET: CommandOptions = { discards: 'was reset', endsReads: true }

/** If the snapshot exists, the revert cancels running commands. */
export function revertOptions(state: ChainState, nameOrId: string | number): CommandOptions {
  return findSnapshot(state, nameOrId) === undefined
    ? {}
    : { discards: 'was reverted to a snapshot' }
}

/** Drops snapshots, the pool and imported keys; ids continue, or restart where the chain behaves so. */
export function reset(state: ChainState): Change<undefined> {
  return resetTo(state, state.origin ?? state)
}

export function resetTo(state: ChainState, origin: ChainState): Change<undefined> {
  const { resets, config } = state
  const { nextSnapshotId } = config.behaviour.snapshotIdsGoOn ? state : origin
  return { state: { ...origin, origin, nextSnapshotId, resets: resets + 1 }, value: undefined }
}
