// One line of time to move along: the blocks of the chain with its snapshots, and below it the branches that were left.
import { useEffect, useRef, useState } from 'preact/hooks'
import { number as count, plural } from '../../core/format.ts'
import { type Point, placeOn, type TimeBranch } from '../data/time.ts'
import { useReads } from '../data/use.ts'
import { classes, html, type VNode } from '../html.ts'
import { useSize } from './list.ts'

/** Pixels: the line of the chain from the top, those of branches from each other, what the ends of the lines leave free. */
const LINE = 52
const LANE = 36
const END = 14

/** Branches that are drawn at first. */
const MOST_LANES = 4

/** Snapshots and chains that are marked, and pixels between two marks that are not one. */
const MOST_MARKED = 200
const BETWEEN_MARKS = 20

/** Milliseconds between two moves: browsers ignore more than 200 in ten seconds. */
const BETWEEN_MS = 60

interface Track {
  readonly branch: TimeBranch
  readonly lane: number
  /** Its first block that is on no track above it, and the lane of the block before that. */
  readonly start: number
  readonly parent: number
}

/** A snapshot, or another chain that begins after a block. */
type Landmark = Readonly<Record<'blockHash' | 'blockNumber' | 'label' | 'title', string>>

type Mark = Readonly<{ track: Track; number: number; label: string; title: string }>

/** A mark that is drawn, and the pixels behind it. */
type DrawnMark = Mark & { readonly room: number }

interface TimelineProps {
  readonly chain: TimeBranch
  readonly branches: readonly TimeBranch[]
  readonly landmarks: readonly Landmark[]
  readonly point: Point
  readonly linkOf: (point: Point) => string
  readonly move: (point: Point) => void
}

export function Timeline(props: TimelineProps): VNode {
  const { chain, branches, point, linkOf } = props
  const [shown, go] = useMoves(props)
  const box = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(800)
  useSize(box, ({ clientWidth }) => setWidth(clientWidth))
  const [most, setMost] = useState(MOST_LANES)
  const drawn = branches.filter((each, i) => i < most || each === point.branch)
  const { tracks, laneOf } = tracksOf([chain, ...drawn])
  const marks = useMarks(props.landmarks, tracks, laneOf)
  const end = Math.max(1, ...tracks.map(({ branch }) => branch.last))
  const share = (number: number): string => `${(100 * number) / end}%`
  const lane = laneOf.get(String(placeOn(shown.branch, shown.number))) ?? 0
  const text = `block ${count(shown.number)}`
  const names = marks.filter(({ track, number }) => track.lane === lane && number === shown.number)
  const drag = (event: PointerEvent): void => {
    const { left, top } = box.current!.getBoundingClientRect()
    const number = Math.round(((event.clientX - left) / width) * end)
    const nearest = Math.round((event.clientY - top - LINE) / LANE)
    const isNew = event.type === 'pointerdown'
    const track = tracks[Math.min(Math.max(nearest, 0), tracks.length - 1)]!
    go({ branch: isNew ? track.branch : shown.branch, number })
    if (isNew) box.current!.setPointerCapture(event.pointerId)
    if (isNew) box.current!.querySelector<HTMLElement>('[role=slider]')!.focus()
  }
  return html`${branches.length > drawn.length && html`<button type="button" class="quiet all" onClick=${() => setMost(branches.length)}>Show all ${count(branches.length)} branches</button>`}
  <div class="timeline" style=${{ height: `${LINE + Math.max(1, tracks.length - 1) * LANE + 30}px` }}>
    <div class="rails" ref=${box} style=${{ inset: `0 ${END}px` }} onPointerMove=${(event: PointerEvent) => event.buttons === 1 && box.current!.hasPointerCapture(event.pointerId) && drag(event)}
      onPointerDown=${(event: PointerEvent) => event.button === 0 && (event.target as Element).closest('a') === null && drag(event)}>
      <i class="rail" style=${{ top: `${LINE}px`, width: share(chain.last) }}></i>
      <i class="rail chosen" style=${{ top: `${LINE}px`, width: share(Math.min(shown.number, shown.branch.first - 1)) }}></i>
      ${tracks.slice(1).map(
        ({ branch, lane: at, start, parent }) => html`
          <i class=${classes('fork', branch === shown.branch && 'chosen')} style=${{ left: share(start - 1), width: share(branch.last - start + 1), top: `${LINE + parent * LANE}px`, height: `${(at - parent) * LANE}px` }}></i>
          <a class="lane" href=${linkOf({ branch, number: branch.last })} aria-current=${branch === shown.branch ? 'true' : undefined}
            style=${{ left: `max(0px, min(${share(start - 1)}, 100% - 190px))`, top: `${LINE + at * LANE + 7}px` }}>${laneText(branch)}</a>`,
      )}
      ${branches.length === 0 && html`<span class="lane" style=${{ top: `${LINE + LANE - 12}px` }}>No revert or reorg left a branch.</span>`}
      ${apart(marks, width, end).map(
        ({ track, number, label, title, room }) =>
          html`<a class="mark" href=${linkOf({ branch: track.branch, number })} title=${`${title}, block ${count(number)}`} aria-label=${`${title}, block ${count(number)}`}
            style=${{ left: share(number), top: `${LINE + track.lane * LANE}px` }}>${track.lane === 0 && label.length * 7 < room && html`<span>${label}</span>`}</a>`,
      )}
      <i class="cursor" style=${{ left: share(shown.number), height: `${LINE + lane * LANE - 20}px` }}></i>
      <output class="bubble" style=${{ left: `max(0px, min(${share(shown.number)} - 45px, 100% - 90px))` }}>${text}</output>
      <div role="slider" tabindex="0" class="thumb" aria-label="Block" aria-valuemin="0" aria-valuemax=${shown.branch.last} aria-valuenow=${shown.number}
        aria-valuetext=${[text, lane > 0 && 'of a branch that was left', ...names.map(({ title }) => title)].filter(Boolean).join(', ')}
        style=${{ left: share(shown.number), top: `${LINE + lane * LANE}px` }} onKeyDown=${(event: KeyboardEvent) => step(event, shown, marks, go)}></div>
    </div>
  </div>`
}

function laneText({ first, last, left }: TimeBranch): string {
  const blocks =
    left.length === 1 ? `Block ${count(last)}` : `Blocks ${count(first)} to ${count(last)}`
  const sent = left.reduce((sum, { transactions }) => sum + transactions.length, 0)
  return `${blocks}, ${plural(sent, 'transaction')}`
}

/** The point that is shown, and what moves it: at once here, and some times a second on the page. */
function useMoves({ point, move }: TimelineProps): readonly [Point, (to: Point) => void] {
  const [ahead, setAhead] = useState<Point | undefined>(undefined)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const newest = useRef(point)
  useEffect(() => () => clearTimeout(timer.current), [])
  const go = ({ branch, number }: Point): void => {
    newest.current = { branch, number: Math.min(Math.max(number, 0), branch.last) }
    setAhead(newest.current)
    const { hash } = location
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      setAhead(undefined)
      // unless a link was followed meanwhile
      if (location.hash === hash) move(newest.current)
    }, BETWEEN_MS)
  }
  return [ahead ?? point, go]
}

/** Tracks from top to bottom, and the lane of each block off the chain. */
function tracksOf(branches: readonly TimeBranch[]): {
  readonly tracks: readonly Track[]
  readonly laneOf: ReadonlyMap<string, number>
} {
  const laneOf = new Map<string, number>()
  const tracks = branches.map((branch, lane) => {
    const { first, left } = branch
    const own = left.findIndex(({ hash }) => !laneOf.has(hash))
    const parent = laneOf.get(left[own - 1]?.hash ?? '') ?? 0
    for (const { hash } of left.slice(own)) laneOf.set(hash, lane)
    return { branch, lane, start: first + own, parent }
  })
  return { tracks, laneOf }
}

/** Snapshots of one block are one mark; those whose block is not known any more have none. */
function useMarks(
  landmarks: readonly Landmark[],
  tracks: readonly Track[],
  laneOf: ReadonlyMap<string, number>,
): readonly Mark[] {
  const newest = landmarks.slice(-MOST_MARKED)
  const method = 'eth_getBlockTransactionCountByHash'
  const calls = newest.map(({ blockHash }) => [method, [blockHash]] as const)
  const known = useReads<string | null>(calls, 'era')
  const marks = new Map<string, Mark>()
  for (const [i, { blockHash, blockNumber, label, title }] of newest.entries()) {
    if (known[i]?.value == null) continue
    const track = tracks[laneOf.get(blockHash) ?? 0]!
    const mark = { track, number: Number(blockNumber), label, title }
    const others = marks.get(blockHash)
    marks.set(blockHash, others === undefined ? mark : together([others, mark]))
  }
  return [...marks.values()]
    .filter(({ track, number }) => number <= track.branch.last)
    .sort((a, b) => a.track.lane - b.track.lane || a.number - b.number)
}

/** The last of some marks, for all of them. */
function together(marks: readonly Mark[]): Mark {
  const textOf = (key: 'label' | 'title'): string => marks.map((each) => each[key]).join(', ')
  return { ...marks.at(-1)!, label: textOf('label'), title: textOf('title') }
}

/** Marks that can be hit, of which each stands for those too near before it. */
function apart(marks: readonly Mark[], width: number, end: number): readonly DrawnMark[] {
  const shown: DrawnMark[] = []
  let near: readonly Mark[] = []
  for (const [i, mark] of marks.entries()) {
    near = [...near, mark]
    const next = marks[i + 1]
    const isLast = next?.track !== mark.track
    const blocks = (isLast ? end : next.number) - mark.number
    const room = (blocks / end) * width + (isLast ? END : 0)
    if (room < BETWEEN_MARKS && !isLast) continue
    shown.push({ ...together(near), room })
    near = []
  }
  return shown
}

/** Arrows go by blocks, with Shift by snapshots and forks. */
function step(
  event: KeyboardEvent,
  { branch, number }: Point,
  marks: readonly Mark[],
  go: (to: Point) => void,
): void {
  const page = Math.max(1, Math.round(branch.last / 10))
  const ways: Readonly<Record<string, number>> = {
    ...{ ArrowRight: 1, ArrowUp: 1, PageUp: page, End: Number.POSITIVE_INFINITY },
    ...{ ArrowLeft: -1, ArrowDown: -1, PageDown: -page, Home: Number.NEGATIVE_INFINITY },
  }
  const way = ways[event.key]
  if (way === undefined || event.ctrlKey || event.metaKey || event.altKey) return
  event.preventDefault()
  const isOn = ({ track, number: at }: Mark): boolean =>
    placeOn(track.branch, at) === placeOn(branch, at)
  const stops = [0, ...marks.filter(isOn).map((mark) => mark.number), branch.first - 1, branch.last]
  const further = stops.filter((each) => (each - number) * way > 0)
  const stop = way > 0 ? Math.min(...further) : Math.max(...further)
  go({ branch, number: event.shiftKey ? stop : number + way })
}
