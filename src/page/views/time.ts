// Time: the chain at any of its blocks, its snapshots, what reverts left behind, and the difference of two points.
import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { number as count, ether, plural, time } from '../../core/format.ts'
import { useNames } from '../data/accounts.ts'
import { linkTo, replaceWith, type ViewProps } from '../data/route.ts'
import {
  type BlockParam,
  blockOn,
  type Point,
  placeOn,
  type TimeBranch,
  useBlock,
  useBranches,
  usePoint,
} from '../data/time.ts'
import { useChain, useRead, useReads, useSteady, useView } from '../data/use.ts'
import { html, typedIn } from '../html.ts'
import { Empty, Fact, Facts, HexLink, Panel, Waiting } from '../parts/basics.ts'
import { ChangesBetween } from '../parts/changes.ts'
import { type RpcSnapshot, titleOf } from '../parts/fields.ts'
import { Cell, List } from '../parts/list.ts'
import { BlockOffers, Offer } from '../parts/offers.ts'
import { Timeline } from '../parts/timeline.ts'
import type { RpcChain } from './network.ts'

/** Pixels. */
const ROW = 36
const MOST_ROWS = 12

export function TimeView({ route }: ViewProps): VNode {
  const point = usePoint(route)
  const branches = useBranches() ?? []
  const { value: snapshots = [] } = useRead<readonly RpcSnapshot[]>('devchain_snapshots', [], 'now')
  if (point === undefined)
    return html`<h1>Time</h1><p class="dim inset" aria-busy="true">Reading…</p>`
  if (point === null)
    return html`<h1>Time</h1><${Empty}>This block is not known any more. <a href=${linkTo(['time'])}>Back to now</a><//>`
  const { number } = point
  const branch = chosenOf(branches, point, route.query.branch)
  const from = Math.min(Number(route.query.from ?? Math.max(0, number - 1)) || 0, number)
  return html`<h1>Time</h1>
    <${Slider} point=${{ number, branch }} branches=${branches} snapshots=${snapshots} from=${route.query.from} />
    <${Difference} from=${from} number=${number} branch=${branch} />
    <${Snapshots} snapshots=${snapshots} />`
}

/** The branch along which somebody moves, also before it leaves the chain. */
function chosenOf(
  branches: readonly TimeBranch[],
  point: Point,
  tip: string | undefined,
): TimeBranch {
  const here = placeOn(point.branch, point.number)
  const isChosen = (each: TimeBranch): boolean =>
    each.left.at(-1)!.hash === tip && placeOn(each, point.number) === here
  return branches.find(isChosen) ?? point.branch
}

interface SliderProps {
  readonly point: Point
  readonly branches: readonly TimeBranch[]
  readonly snapshots: readonly RpcSnapshot[]
  readonly from: string | undefined
}

function Slider({ point, branches, snapshots, from }: SliderProps): VNode {
  const head = useView().head!.number
  const chain: TimeBranch = { first: head + 1, last: head, left: [] }
  const { number, branch } = point
  const isLeft = number >= branch.first
  const place = placeOn(branch, number)
  const block = useSteady(useBlock(place, 'era'))
  const linkOf = (to: Point): string => {
    const tip = to.branch.left.at(-1)?.hash
    const isNow = tip === undefined && to.number === head
    return linkTo(['time'], {
      at: isNow ? undefined : placeOn(to.branch, to.number),
      from,
      branch: tip,
    })
  }
  const move = (to: Point): void => replaceWith(linkOf(to))
  const walk = (to: number): void =>
    move({ branch, number: Math.min(Math.max(Math.trunc(to) || 0, 0), branch.last) })
  const { path: here } = useChain()
  const { value: chains = [] } = useRead<readonly RpcChain[]>('devchain_chains', [], 'now')
  // all chains begin after the genesis, or after blocks of their own
  const branched = chains.flatMap(({ path, origin }) =>
    path === here || origin === null || Number(origin.blockNumber) === 0
      ? []
      : [{ ...origin, label: path, title: `Chain ${path}` }],
  )
  const isHere = ({ blockHash }: { blockHash: string }): boolean => blockHash === block?.hash
  const names = snapshots.filter(isHere).map(titleOf)
  const begun = branched.filter(isHere)
  const landmarks = [
    ...snapshots.map((each) => {
      const label = titleOf(each)
      return { ...each, label, title: each.name === null ? label : `Snapshot ${label}` }
    }),
    ...branched,
  ]
  const note = isLeft
    ? 'off the chain: a revert or a reorg left it'
    : number === head
      ? 'the newest block'
      : `${plural(head - number, 'block')} before the newest`
  return html`<${Panel} title="Point in time" note=${note}>
    <${Timeline} chain=${chain} branches=${branches} landmarks=${landmarks} point=${point} linkOf=${linkOf} move=${move} />
    <div class="flow inset">
      <button type="button" disabled=${number === 0} onClick=${() => walk(number - 1)}>Earlier</button>
      <button type="button" disabled=${number === branch.last} onClick=${() => walk(number + 1)}>Later</button>
      <input type="number" min="0" max=${branch.last} value=${number} aria-label="Block number" onChange=${(event: Event) => walk(Number(typedIn(event)))} />
      <button type="button" disabled=${!isLeft && number === head} onClick=${() => move({ branch: chain, number: head })}>Now</button>
      <span class="legend dim flow"><i class="mark"></i> snapshot or chain <i class="rail"></i> left by a revert or a reorg</span>
    </div>
    ${
      block &&
      html`<${Facts}>
        <${Fact} name="Block"><a href=${linkTo(['block', isLeft ? place : number])}>${count(number)}</a><//>
        <${Fact} name="Time">${time(BigInt(block.timestamp))} UTC<//>
        <${Fact} name="Transactions">${count(block.transactions.length)}<//>
        <${Fact} name="Hash"><${HexLink} value=${block.hash} to=${['block', block.hash]} /><//>
        <${Fact} name="Snapshots">${names.length === 0 ? 'none of this block' : names.join(', ')}<//>
        <${Fact} name="Chains">${begun.length === 0 ? undefined : begun.map(({ label }) => html`<a href=${`${label}#/time`}>${label}</a> `)}<//>
        <${Fact} name="See it"><a href=${linkTo([], { at: place })}>Blocks and transactions up to here</a><//>
      <//>`
    }
    <${BlockOffers} number=${number} hash=${isLeft ? place : undefined} />
  <//>`
}

interface DifferenceProps extends Point {
  readonly from: number
}

function Difference({ from, number, branch }: DifferenceProps): VNode {
  const [start, end] = [blockOn(branch, from), blockOn(branch, number)]
  const read = useRead<readonly string[]>(
    from < number ? 'debug_getModifiedAccountsByNumber' : '',
    [start, end],
    'era',
  )
  const steady = useSteady(read.value)
  const accounts = steady ?? []
  const names = useNames(accounts.slice(0, MOST_NAMED))
  const choose = (event: Event): void => {
    const tip = branch.left.at(-1)?.hash
    const to = Math.min(Number(typedIn(event)) || 0, number)
    replaceWith(linkTo(['time'], { at: placeOn(branch, number), from: to, branch: tip }))
  }
  const note = html`<label>after block <input type="number" min="0" max=${number} value=${from} aria-label="Compare with block" onChange=${choose} /></label> up to ${count(number)}`
  return html`<${Panel} title="What changed" note=${note}>
    ${
      from >= number
        ? html`<${Empty}>Choose an earlier block to compare with.<//>`
        : steady === undefined || read.error !== undefined
          ? html`<${Waiting} read=${read} />`
          : html`<${List} label="Changed accounts" kind="changes" columns=${['Account', 'Balance before', 'Balance after', 'Nonce', 'Code']} items=${accounts} most=${MOST_ROWS}
              rowHeight=${ROW} empty="Nothing changed." keyOf=${String}
              row=${(account: string) => html`<${ChangeCells} account=${account} start=${start} end=${end} name=${names.get(account)} />`} />
            ${[...accounts]
              .sort((a, b) => Number(names.has(b)) - Number(names.has(a)))
              .slice(0, MOST_COMPARED)
              .map(
                (each) =>
                  html`<${ChangesBetween} key=${each} address=${each} name=${names.get(each)} from=${start} at=${end} />`,
              )}`
    }
  <//>`
}

/** Accounts of a difference that get names, and whose storage is compared. */
const MOST_NAMED = 500
const MOST_COMPARED = 50

interface ChangeProps {
  readonly account: string
  readonly start: BlockParam
  readonly end: BlockParam
  readonly name: string | undefined
}

function ChangeCells({ account, start: before, end: after, name }: ChangeProps): VNode {
  const calls = ['eth_getBalance', 'eth_getTransactionCount', 'eth_getCode'].flatMap((method) =>
    [before, after].map((block) => [method, [account, block]] as const),
  )
  const values = useReads<string>(calls, 'era').map(({ value }) => value)
  const [old, now] = values
    .slice(0, 2)
    .map((each) => (each === undefined ? undefined : BigInt(each)))
  const grew = old !== undefined && now !== undefined ? now - old : 0n
  return html`
    <${Cell}><${HexLink} value=${account} to=${['address', account]} name=${name} /><//>
    <${Cell} className="dim">${old !== undefined && ether(old)}<//>
    <${Cell}>${now !== undefined && ether(now)} ${grew !== 0n && html`<span class=${grew > 0n ? 'good' : 'bad'}>${grew > 0n ? `+${ether(grew)}` : `−${ether(-grew)}`}</span>`}<//>
    <${Cell}>${changeText(values.slice(2, 4), (value) => count(Number(value)))}<//>
    <${Cell}>${changeText(values.slice(4), (value) => plural(value.length / 2 - 1, 'byte'))}<//>`
}

function changeText(
  [before, after]: readonly (string | undefined)[],
  text: (value: string) => string,
): VNode | string {
  if (before === undefined || after === undefined) return ''
  return before === after
    ? html`<span class="dim">${text(after)}</span>`
    : `${text(before)} to ${text(after)}`
}

function Snapshots({ snapshots }: { snapshots: readonly RpcSnapshot[] }): VNode {
  const [name, setName] = useState('')
  return html`<${Panel} title="Snapshots" note=${count(snapshots.length)}>
    <div class="flow inset"><input aria-label="Name of a new snapshot" placeholder="Name" value=${name} onInput=${(event: Event) => setName(typedIn(event))} /></div>
    ${name !== '' && html`<${Offer} key=${name} label=${`Take the snapshot ${name}`} about="Keeps the chain as it is now under this name." calls=${[{ method: 'devchain_snapshot', params: [{ name }] }]} />`}
    ${snapshots.length === 0 && html`<${Empty}>There is no snapshot.<//>`}
    ${[...snapshots].reverse().map((each) => html`<${SnapshotRow} key=${each.id} ...${each} />`)}
  <//>`
}

function SnapshotRow({ id, name, blockNumber, blockHash, timestamp }: RpcSnapshot): VNode {
  const named = name ?? Number(id)
  const title = titleOf({ id, name })
  return html`<div class="group"><h3>${title}</h3>
    <p><a href=${linkTo(['time'], { at: blockHash })}>block ${count(Number(blockNumber))}</a> <span class="dim">${time(BigInt(timestamp))} UTC</span></p>
    <${Offer} label=${`Revert to ${title}`} isDangerous about="Restores blocks, accounts, pool and clock as they were. The snapshot stays." calls=${[{ method: 'devchain_revert', params: [named] }]} />
    ${name !== null && html`<${Offer} label=${`Branch from ${title}`} about="Makes another chain that begins here, at a path of its own." calls=${[{ method: 'devchain_newChain', params: [{ from: name }] }]} />`}
    <${Offer} label=${`Drop ${title}`} about="Deletes the snapshot. The chain does not change." calls=${[{ method: 'devchain_dropSnapshot', params: [named] }]} />
  </div>`
}

/** Says on every view that it shows the past, and leads back. */
export function PastBar({ route }: ViewProps): VNode | false {
  useEffect(() => {
    document.body.classList.toggle('past', route.at !== undefined)
  }, [route.at])
  const point = usePoint(route)
  if (route.at === undefined || route.parts[0] === 'time') return false
  const number = point && count(point.number)
  const isLeft = point && point.number >= point.branch.first
  return html`<div class="notice warn flow" role="note">
    <span>${point === null ? 'This block is not known any more.' : html`You see the chain after block <a href=${linkTo(['block', route.at])}>${number}</a>${isLeft ? ', which a revert or a reorg left.' : '.'}`}</span>
    <a href=${linkTo(['time'])}>Move in time</a>
    <a href=${linkTo(route.parts, { ...route.query, at: undefined })}>Back to now</a>
  </div>`
}
