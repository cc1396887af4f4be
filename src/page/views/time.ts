// Time: the chain at any of its blocks, its snapshots, what reverts left behind, and the difference of two points.
import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { useNames } from '../data/accounts.ts'
import { count, ether, hex, moment, plural } from '../data/format.ts'
import { linkTo, replaceWith, type ViewProps } from '../data/route.ts'
import type { RpcBlock, RpcLeftBlock } from '../data/shapes.ts'
import { useRead, useView } from '../data/use.ts'
import { html } from '../html.ts'
import { Empty, Facts, HexLink, Panel, Waiting } from '../parts/basics.ts'
import { ChangesBetween } from '../parts/changes.ts'
import type { RpcSnapshot } from '../parts/fields.ts'
import { Cell, Items } from '../parts/list.ts'
import { BlockOffers, Offer } from '../parts/offers.ts'

/** Pixels. */
const ROW = 36
const MOST_ROWS = 12

export function TimeView({ route }: ViewProps): VNode {
  const { head } = useView()
  if (head === undefined) return html`<h1>Time</h1><p class="empty" aria-busy="true">Reading…</p>`
  const at = Math.min(route.at ?? head.number, head.number)
  const from = Math.min(Number(route.query.from ?? Math.max(0, at - 1)) || 0, at)
  return html`<h1>Time</h1>
    <${Slider} at=${at} from=${route.query.from} head=${head.number} />
    <${Difference} from=${from} at=${at} />
    <${Snapshots} />
    <${LeftBehind} />`
}

function Slider({ at, from, head }: { at: number; from: string | undefined; head: number }): VNode {
  const { value: block } = useRead<RpcBlock | null>('eth_getBlockByNumber', [hex(at), false], 'era')
  const move = (to: number): void => {
    const number = Math.min(Math.max(Math.trunc(to) || 0, 0), head)
    replaceWith(linkTo(['time'], { at: number === head ? undefined : number, from }))
  }
  return html`<${Panel} title="Point in time" note=${at === head ? 'the newest block' : `${plural(head - at, 'block')} before the newest`}>
    <div class="slider">
      <button type="button" disabled=${at === 0} onClick=${() => move(at - 1)}>Earlier</button>
      <input type="range" min="0" max=${head} value=${at} aria-label="Block" onInput=${(event: Event) => move(Number(typedIn(event)))} />
      <button type="button" disabled=${at === head} onClick=${() => move(at + 1)}>Later</button>
      <input type="number" min="0" max=${head} value=${at} aria-label="Block number" onChange=${(event: Event) => move(Number(typedIn(event)))} />
      <button type="button" disabled=${at === head} onClick=${() => move(head)}>Now</button>
    </div>
    ${
      block &&
      html`<${Facts} of=${[
        ['Block', html`<a href=${linkTo(['block', at])}>${count(at)}</a>`],
        ['Time', `${moment(Number(block.timestamp))} UTC`],
        ['Transactions', count(block.transactions.length)],
        ['Hash', html`<${HexLink} value=${block.hash} to=${['block', block.hash]} />`],
        ['See it', html`<a href=${linkTo([], { at })}>Blocks and transactions up to here</a>`],
      ]} />`
    }
    <${BlockOffers} number=${at} />
  <//>`
}

function typedIn(event: Event): string {
  return (event.currentTarget as HTMLInputElement).value
}

function Difference({ from, at }: { from: number; at: number }): VNode {
  const read = useRead<readonly string[]>(
    from < at ? 'debug_getModifiedAccountsByNumber' : '',
    [hex(from), hex(at)],
    'era',
  )
  const accounts = read.value ?? []
  const names = useNames(accounts.slice(0, MOST_NAMED))
  const choose = (event: Event): void =>
    replaceWith(linkTo(['time'], { at, from: Math.min(Number(typedIn(event)) || 0, at) }))
  const note = html`<label>after block <input type="number" min="0" max=${at} value=${from} aria-label="Compare with block" onChange=${choose} /></label> up to ${count(at)}`
  return html`<${Panel} title="What changed" note=${note}>
    ${
      from >= at
        ? html`<${Empty}>Choose an earlier block to compare with.<//>`
        : read.value === undefined
          ? html`<${Waiting} read=${read} />`
          : html`<${Items} label="Changed accounts" kind="changes" columns=${['Account', 'Balance before', 'Balance after', 'Nonce', 'Code']} items=${accounts} most=${MOST_ROWS}
              rowHeight=${ROW} empty="Nothing changed." keyOf=${String}
              row=${(account: string) => html`<${ChangeCells} account=${account} from=${from} at=${at} name=${names.get(account)} />`} />
            ${[...accounts]
              .sort((a, b) => Number(names.has(b)) - Number(names.has(a)))
              .slice(0, MOST_COMPARED)
              .map(
                (each) =>
                  html`<${ChangesBetween} key=${each} address=${each} name=${names.get(each)} from=${hex(from)} at=${hex(at)} />`,
              )}`
    }
  <//>`
}

/** Accounts of a difference that get names, and whose storage is compared. */
const MOST_NAMED = 500
const MOST_COMPARED = 50

interface ChangeProps {
  readonly account: string
  readonly from: number
  readonly at: number
  readonly name: string | undefined
}

function ChangeCells({ account, from, at, name }: ChangeProps): VNode {
  const [before, after] = [hex(from), hex(at)]
  const balances = [
    useAt('eth_getBalance', account, before),
    useAt('eth_getBalance', account, after),
  ]
  const nonces = [
    useAt('eth_getTransactionCount', account, before),
    useAt('eth_getTransactionCount', account, after),
  ]
  const codes = [useAt('eth_getCode', account, before), useAt('eth_getCode', account, after)]
  const [old, now] = balances.map((each) => (each === undefined ? undefined : BigInt(each)))
  const grew = old !== undefined && now !== undefined ? now - old : 0n
  return html`
    <${Cell}><${HexLink} value=${account} to=${['address', account]} name=${name} at=${at} /><//>
    <${Cell} className="dim">${old !== undefined && ether(old)}<//>
    <${Cell}>${now !== undefined && ether(now)} ${grew !== 0n && html`<span class=${grew > 0n ? 'good' : 'bad'}>${grew > 0n ? '+' : ''}${ether(grew)}</span>`}<//>
    <${Cell}>${changeText(nonces, (value) => count(Number(value)))}<//>
    <${Cell}>${changeText(codes, (value) => plural(value.length / 2 - 1, 'byte'))}<//>`
}

function useAt(method: string, account: string, block: string): string | undefined {
  return useRead<string>(method, [account, block], 'era').value
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

function Snapshots(): VNode {
  const read = useRead<readonly RpcSnapshot[]>('devchain_snapshots', [], 'now')
  const [name, setName] = useState('')
  const snapshots = read.value ?? []
  return html`<${Panel} title="Snapshots" note=${count(snapshots.length)}>
    <div class="slider"><input aria-label="Name of a new snapshot" placeholder="Name" value=${name} onInput=${(event: Event) => setName(typedIn(event))} /></div>
    ${name !== '' && html`<${Offer} key=${name} label=${`Take the snapshot ${name}`} about="Keeps the chain as it is now under this name." calls=${[{ method: 'devchain_snapshot', params: [{ name }] }]} />`}
    ${snapshots.length === 0 && html`<${Empty}>There is no snapshot.<//>`}
    ${[...snapshots].reverse().map((each) => html`<${SnapshotRow} key=${each.id} snapshot=${each} />`)}
  <//>`
}

function SnapshotRow({
  snapshot: { id, name, blockNumber, timestamp },
}: {
  snapshot: RpcSnapshot
}): VNode {
  const number = Number(blockNumber)
  const named = name ?? Number(id)
  const title = name ?? `Snapshot ${Number(id)}`
  return html`<div class="snapshot"><h3>${title}</h3>
    <p><a href=${linkTo(['time'], { at: number })}>block ${count(number)}</a> <span class="dim">${moment(Number(timestamp))} UTC</span></p>
    <${Offer} label=${`Revert to ${title}`} isDangerous about="Restores blocks, accounts, pool and clock as they were. The snapshot stays." calls=${[{ method: 'devchain_revert', params: [named] }]} />
    ${name !== null && html`<${Offer} label=${`Branch from ${title}`} about="Makes another chain that begins here, at a path of its own." calls=${[{ method: 'devchain_newChain', params: [{ from: name }] }]} />`}
    <${Offer} label=${`Drop ${title}`} about="Deletes the snapshot. The chain does not change." calls=${[{ method: 'devchain_dropSnapshot', params: [named] }]} />
  </div>`
}

/** Blocks that reverts and reorgs took off the chain. */
function LeftBehind(): VNode {
  const read = useRead<readonly RpcLeftBlock[]>('devchain_leftBlocks', [], 'now')
  const left = read.value
  return html`<${Panel} title="Left behind" note=${left && count(left.length)}>${
    left === undefined
      ? html`<${Waiting} read=${read} />`
      : html`<${Items} label="Blocks left behind" kind="left" columns=${['Block', 'Hash', 'Transactions']} items=${left} most=${MOST_ROWS} rowHeight=${ROW}
        empty="No revert or reorg took a block away." keyOf=${({ hash }: RpcLeftBlock) => hash} row=${(each: RpcLeftBlock) => html`<${LeftCells} ...${each} />`} />`
  }<//>`
}

function LeftCells({ number, hash, transactions }: RpcLeftBlock): VNode {
  return html`
    <${Cell} className="gone">${count(Number(number))}<//>
    <${Cell} className="gone"><${HexLink} value=${hash} to=${['block', hash]} /><//>
    <${Cell} className="dim">${count(transactions.length)}<//>`
}

/** Says on every view that it shows the past, and leads back. */
export function PastBar({ route }: ViewProps): VNode | false {
  useEffect(() => {
    document.body.classList.toggle('past', route.at !== undefined)
  }, [route.at])
  if (route.at === undefined) return false
  const { at: _, ...query } = route.query
  return html`<div class="past-bar" role="note">
    <span>You see the chain after block <a href=${linkTo(['block', route.at])}>${count(route.at)}</a>.</span>
    <a href=${linkTo(['time'], { at: route.at })}>Move in time</a>
    <a href=${linkTo(route.parts, query)}>Back to now</a>
  </div>`
}
