// Time: the chain at any of its blocks, its snapshots, what reverts left behind, and the difference of two points.
import { useEffect, useState } from 'preact/hooks'
import { number as count, ether, plural, time } from '../../core/format.ts'
import { call } from '../acts/callcode.ts'
import { client } from '../data/chain.ts'
import { linkTo, replaceWith, type ViewProps } from '../data/route.ts'
import {
  blockOn,
  type Point,
  placeOn,
  type TimeBranch,
  useBlock,
  useBranches,
  usePoint,
} from '../data/time.ts'
import { useNames, useRead, useReads, useSteady, useView } from '../data/use.ts'
import { html, typedIn, type VNode } from '../html.ts'
import { Empty, Fact, HexLink, Panel, Waiting } from '../parts/basics.ts'
import { BlockOffers, Offer, type RpcSnapshot, titleOf } from '../parts/form.ts'
import { Cell, List } from '../parts/list.ts'
import { type BetweenProps, ChangesBetween } from '../parts/storage.ts'
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
  const { from: given, branch: tip } = route.query
  // the branch along which somebody moves, also before it leaves the chain
  const here = placeOn(point.branch, number)
  const isChosen = (each: TimeBranch): boolean =>
    tipOf(each) === tip && placeOn(each, number) === here
  const branch = branches.find(isChosen) ?? point.branch
  const first = Math.min(Number(given ?? Math.max(0, number - 1)) || 0, number)
  return html`<h1>Time</h1>
    <${Slider} point=${{ number, branch }} branches=${branches} snapshots=${snapshots} from=${given} />
    <${Difference} first=${first} number=${number} branch=${branch} />
    <${Snapshots} snapshots=${snapshots} />`
}

function tipOf({ left }: TimeBranch): string | undefined {
  return left.at(-1)?.hash
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
    const tip = tipOf(to.branch)
    const isNow = tip === undefined && to.number === head
    const at = isNow ? undefined : placeOn(to.branch, to.number)
    return linkTo(['time'], { at, from, branch: tip })
  }
  const move = (to: Point): void => replaceWith(linkOf(to))
  const walk = (to: number): void =>
    move({ branch, number: Math.min(Math.max(Math.trunc(to) || 0, 0), branch.last) })
  const { value: chains = [] } = useRead<readonly RpcChain[]>('devchain_chains', [], 'now')
  // all chains begin after the genesis, or after blocks of their own
  const branched = chains
    .filter(({ path, origin }) => path !== client.path && Number(origin?.blockNumber ?? 0) > 0)
    .map(({ path, origin }) => ({ ...origin!, label: path, title: `Chain ${path}` }))
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
      html`<dl class="facts">
        <${Fact} name="Block"><a href=${linkTo(['block', place])}>${count(number)}</a><//>
        <${Fact} name="Time">${time(BigInt(block.timestamp))} UTC<//>
        <${Fact} name="Transactions">${count(block.transactions.length)}<//>
        <${Fact} name="Hash"><${HexLink} value=${block.hash} to="block" /><//>
        <${Fact} name="Snapshots">${names.length === 0 ? 'none of this block' : names.join(', ')}<//>
        <${Fact} name="Chains">${begun.length === 0 ? undefined : begun.map(({ label }) => html`<a href=${`${label}#/time`}>${label}</a> `)}<//>
        <${Fact} name="See it"><a href=${linkTo([], { at: place })}>Blocks and transactions up to here</a><//>
      </dl>`
    }
    <${BlockOffers} number=${number} hash=${isLeft ? place : undefined} />
  <//>`
}

function Difference({ first, number, branch }: Point & { first: number }): VNode {
  const [from, at] = [blockOn(branch, first), blockOn(branch, number)]
  const method = first < number ? 'debug_getModifiedAccountsByNumber' : ''
  const read = useRead<readonly string[]>(method, [from, at], 'era')
  const steady = useSteady(read.value)
  const accounts = steady ?? []
  const names = useNames(accounts.slice(0, MOST_NAMED))
  const choose = (event: Event): void => {
    const from = Math.min(Number(typedIn(event)) || 0, number)
    replaceWith(linkTo(['time'], { at: placeOn(branch, number), from, branch: tipOf(branch) }))
  }
  const note = html`<label>after block <input type="number" min="0" max=${number} value=${first} aria-label="Compare with block" onChange=${choose} /></label> up to ${count(number)}`
  const panel = (shown: VNode): VNode =>
    html`<${Panel} title="What changed" note=${note}>${shown}<//>`
  if (first >= number) return panel(html`<${Empty}>Choose an earlier block to compare with.<//>`)
  if (steady === undefined || read.error !== undefined)
    return panel(html`<${Waiting} read=${read} />`)
  const namedFirst = accounts.toSorted((a, b) => Number(names.has(b)) - Number(names.has(a)))
  const propsOf = (address: string): BetweenProps => ({
    address,
    name: names.get(address),
    from,
    at,
  })
  return panel(html`<${List} label="Changed accounts" kind="changes" columns=${['Account', 'Balance before', 'Balance after', 'Nonce', 'Code']} items=${accounts} most=${MOST_ROWS}
      rowHeight=${ROW} empty="Nothing changed." keyOf=${String} row=${(each: string) => html`<${ChangeCells} ...${propsOf(each)} />`} />
    ${namedFirst.slice(0, MOST_COMPARED).map((each) => html`<${ChangesBetween} key=${each} ...${propsOf(each)} />`)}`)
}

/** Accounts of a difference that get names, and whose storage is compared. */
const MOST_NAMED = 500
const MOST_COMPARED = 50

function ChangeCells({ address, from, at, name }: BetweenProps): VNode {
  const calls = ['eth_getBalance', 'eth_getTransactionCount', 'eth_getCode'].flatMap((method) =>
    [from, at].map((block) => [method, [address, block]] as const),
  )
  const values = useReads<string>(calls, 'era').map(({ value }) => value)
  const [old, now] = values.slice(0, 2).map((each) => (each ? BigInt(each) : undefined))
  const grew = old !== undefined && now !== undefined ? now - old : 0n
  return html`
    <${Cell}><${HexLink} value=${address} to="address" name=${name} /><//>
    <${Cell} className="dim">${old !== undefined && ether(old)}<//>
    <${Cell}>${now !== undefined && ether(now)} ${grew !== 0n && html`<span class=${grew > 0n ? 'good' : 'bad'}>${grew > 0n ? `+${ether(grew)}` : `−${ether(-grew)}`}</span>`}<//>
    <${Cell}>${changeText(values.slice(2, 4), (value) => count(BigInt(value)))}<//>
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

/** Snapshots that are listed at first: some tests take one each. */
const MOST_SNAPSHOTS = 20

function Snapshots({ snapshots }: { snapshots: readonly RpcSnapshot[] }): VNode {
  const [name, setName] = useState('')
  const [most, setMost] = useState(MOST_SNAPSHOTS)
  return html`<${Panel} title="Snapshots" note=${count(snapshots.length)}>
    <div class="flow inset"><input aria-label="Name of a new snapshot" placeholder="Name" value=${name} onInput=${(event: Event) => setName(typedIn(event))} /></div>
    ${name !== '' && html`<${Offer} key=${name} label=${`Take the snapshot ${name}`} about="Keeps the chain as it is now under this name." call=${call('devchain_snapshot', { name })} />`}
    ${snapshots.length === 0 && html`<${Empty}>There is no snapshot.<//>`}
    ${snapshots
      .slice(-most)
      .reverse()
      .map((each) => html`<${SnapshotRow} key=${each.id} ...${each} />`)}
    ${snapshots.length > most && html`<p class="inset"><button type="button" onClick=${() => setMost(snapshots.length)}>Show all ${count(snapshots.length)} snapshots</button></p>`}
  <//>`
}

function SnapshotRow({ id, name, blockNumber, blockHash, timestamp }: RpcSnapshot): VNode {
  const named = name ?? Number(id)
  const title = titleOf({ id, name })
  return html`<div class="group"><h3>${title}</h3>
    <p><a href=${linkTo(['time'], { at: blockHash })}>block ${count(Number(blockNumber))}</a> <span class="dim">${time(BigInt(timestamp))} UTC</span></p>
    <${Offer} label=${`Revert to ${title}`} isDangerous about="Restores blocks, accounts, pool and clock as they were. The snapshot stays." call=${call('devchain_revert', named)} />
    ${name !== null && html`<${Offer} label=${`Branch from ${title}`} about="Makes another chain that begins here, at a path of its own." call=${call('devchain_newChain', { from: name })} />`}
    <${Offer} label=${`Drop ${title}`} about="Deletes the snapshot. The chain does not change." call=${call('devchain_dropSnapshot', named)} />
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
