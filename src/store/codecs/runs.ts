// Runs of blocks. One that grows is written anew with every commit, but its entries go into a list, which shares what was there.
import { getOrMake, memoizeByIdentity } from '../../core/lrucache.ts'
import { emptyList, type PersistentList } from '../../core/persistent.ts'
import { ENTRY } from '../../node/bulk/runlog.ts'
import { SealedRun } from '../../node/bulk/sealedrun.ts'
import type { BlockRecord, BlockRun } from '../../node/ledger/blockrecord.ts'
import type { TimeRows } from '../../node/ledger/clock.ts'
import { DerivedRun } from '../../node/mining/derivedrun.ts'
import type { SystemWrites } from '../../node/mining/emptyblocks.ts'
import { CorruptStore } from '../bytes.ts'
import { type Codec, type Input, type Objects, type Output, optional } from '../objects.ts'
import { persistentListOf } from './collections.ts'
import { plainly } from './plain.ts'
import { bytes } from './single.ts'

const SEALED = 0
const DERIVED = 1
const FORKED = 2

/** Blocks of a piece. The last ones of a run, fewer than these, are written with every commit. */
const PIECE = 64

/** A run as it was last written, or read. */
interface Written {
  readonly position: number
  readonly count: number
  /** The position of the run as it was first written: versions of one run have it in common. */
  readonly first: number
}

interface Kept {
  /** By the run, and by its name. */
  readonly written: WeakMap<object, Written>
  /** The same. Writing that pauses goes on with the same pieces, of which it knows those that are written. */
  readonly pieces: WeakMap<object, PersistentList<Uint8Array>>
  /** By `first`, so that all versions that are read are one run. */
  readonly runs: Map<number, WeakRef<SealedRun>>
  /** By position. */
  readonly names: Map<number, object>
}

const keptOf = memoizeByIdentity(
  (_: Objects): Kept => ({
    written: new WeakMap(),
    pieces: new WeakMap(),
    runs: new Map(),
    names: new Map(),
  }),
)

/** Of runs that were read: one that is read again has the same name, as long as it does not grow. */
const names = new WeakMap<SealedRun, { readonly name: object; readonly count: number }>()

function nameOf(run: SealedRun): object {
  const named = names.get(run)
  return named?.count === run.count ? named.name : run
}

const pieces = persistentListOf(bytes)

const optionalPosition = optional<number>({
  write: (position, to) => to.refer(position),
  read: (from) => from.position(),
})

const writes = plainly<SystemWrites>()
const times = plainly<TimeRows>()

/** The blocks of a fork's network. */
const forked: Codec<BlockRun> = {
  write({ fork }, to) {
    if (fork === undefined) throw new Error('a run of unknown kind cannot be stored')
    to.byte(FORKED)
    to.text(fork)
  },
  read: (from) => from.store.fork(from.text()).ancestors,
}

/** @param record writes and reads the block before a run */
export function runOf(record: Codec<BlockRecord>): Codec<BlockRun> {
  const derived: Codec<DerivedRun> = {
    write({ template }, to) {
      to.byte(DERIVED)
      to.count(template.abandoned)
      record.write(template.parent, to)
      to.count(template.count)
      times.write(template.times, to)
    },
    read: (from) =>
      new DerivedRun({
        abandoned: from.count(),
        parent: record.read(from),
        count: from.count(),
        times: times.read(from),
      }),
  }
  return {
    write(run, to) {
      if (run instanceof SealedRun) writeSealed(run, to, record)
      else if (run instanceof DerivedRun) to.reference(run, derived)
      else to.reference(run, forked)
    },
    read(from) {
      const position = from.position()
      const { store } = from
      // a sealed run is no object of the store: it grows
      const body = store.open(position)
      const kind = body.byte()
      if (kind === FORKED) return forked.read(body)
      if (kind === SEALED) return readSealed(body, position, record)
      if (kind !== DERIVED) throw new CorruptStore(`unknown kind of run ${kind}`)
      return store.at(position, () => derived.read(body))
    },
  }
}

function writeSealed(run: SealedRun, to: Output, record: Codec<BlockRecord>): void {
  const { written, runs } = keptOf(to.store)
  const name = nameOf(run)
  const before = written.get(run) ?? written.get(name)
  const { count, log, template } = run
  if (before?.count === count) {
    to.refer(before.position)
    return
  }
  const all = piecesOf(run, to)
  const position = to.append(() => {
    to.byte(SEALED)
    to.count(template.abandoned)
    record.write(template.parent, to)
    optionalPosition.write(before?.first, to)
    writes.write(run.writes, to)
    pieces.write(all, to)
    to.bytes(log.entries(PIECE * all.length, count))
  })
  const first = before?.first ?? position
  for (const key of new Set([run, name])) {
    const last = written.get(key)
    to.store.onRollBack(() => (last === undefined ? written.delete(key) : written.set(key, last)))
    written.set(key, { position, count, first })
  }
  runs.set(first, new WeakRef(run))
  to.refer(position)
}

/** All but the last blocks of a run, fewer than a piece. */
function piecesOf(run: SealedRun, to: Output): PersistentList<Uint8Array> {
  const kept = keptOf(to.store).pieces
  const name = nameOf(run)
  let all = kept.get(run) ?? kept.get(name) ?? emptyList<Uint8Array>()
  for (let end = PIECE * (all.length + 1); end <= run.count; end += PIECE) {
    all = all.push(run.log.entries(end - PIECE, end))
    for (const key of [run, name]) kept.set(key, all)
    to.pauseIfDue()
  }
  return all
}

function readSealed(from: Input, position: number, record: Codec<BlockRecord>): SealedRun {
  const { written, runs, names: known, pieces: kept } = keptOf(from.store)
  const abandoned = from.count()
  const parent = record.read(from)
  const first = optionalPosition.read(from) ?? position
  const contracts = writes.read(from)
  const all = pieces.read(from)
  const rest = from.bytes()
  const count = PIECE * all.length + rest.length / ENTRY
  const run = runs.get(first)?.deref() ?? new SealedRun({ parent, abandoned }, contracts)
  runs.set(first, new WeakRef(run))
  if (run.count >= count) return run
  const whole = Math.floor(run.count / PIECE)
  let at = PIECE * whole
  for (const piece of [...all.values(whole), rest]) {
    run.log.push(piece.subarray(ENTRY * (run.count - at)))
    at += piece.length / ENTRY
  }
  written.set(run, { position, count, first })
  kept.set(run, all)
  const name = getOrMake(known, position, () => ({}))
  names.set(run, { name, count })
  return run
}
