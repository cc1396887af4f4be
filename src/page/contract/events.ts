// The events of a contract, newest first, a stretch of blocks at a time.
import { useState } from 'preact/hooks'
import { number as count, plural, short } from '../../core/format.ts'
import { eventIn } from '../data/abi.ts'
import { cut, hex } from '../data/format.ts'
import { linkTo, type Route } from '../data/route.ts'
import type { RpcLog } from '../data/shapes.ts'
import { leftUpTo, usePoint } from '../data/time.ts'
import { useRead, useReads } from '../data/use.ts'
import { html, type VNode } from '../html.ts'
import { HexLink, Linked, Waiting } from '../parts/basics.ts'
import { Cell, List } from '../parts/list.ts'

/** Blocks that are searched at first, and how many times more at each press of the button. */
const FIRST_BLOCKS = 1_000
const FURTHER = 10

type EventsProps = Readonly<{ address: string; abi: readonly unknown[]; route: Route }>

export function Events({ address, abi, route }: EventsProps): VNode {
  const { branch, number = 0 } = usePoint(route) ?? {}
  const [blocks, setBlocks] = useState(FIRST_BLOCKS)
  const last = Math.min(number, (branch?.first ?? 1) - 1)
  const first = Math.max(0, last - blocks + 1)
  // the newest block as a tag: what was read stays in sight while the next is read
  const toBlock = route.at === undefined ? 'latest' : hex(last)
  const fromBlock = hex(Math.floor(first / FIRST_BLOCKS) * FIRST_BLOCKS)
  const read = useRead<readonly RpcLog[]>('eth_getLogs', [{ address, fromBlock, toBlock }], 'now')
  const left = branch ? leftUpTo({ branch, number }) : []
  const calls = left.map(({ hash }) => ['eth_getLogs', [{ address, blockHash: hash }]] as const)
  const others = useReads<readonly RpcLog[]>(calls, 'era')
  if (read.value === undefined) return html`<${Waiting} read=${read} />`
  const logs = [...read.value, ...others.flatMap(({ value }) => value ?? [])].reverse()
  const further =
    first > 0 &&
    html`<p class="inset"><span class="dim">since block ${count(first)}</span> <button type="button" onClick=${() => setBlocks((before) => before * FURTHER)}>Search ${plural(blocks * FURTHER, 'block')}</button></p>`
  return html`<${List} label="Events" kind="events" columns=${['Block', 'Event', 'Values', 'Transaction']} items=${logs} most=${16} empty="No events."
      keyOf=${({ blockNumber, logIndex }: RpcLog) => `${blockNumber} ${logIndex}`}
      row=${(log: RpcLog) => html`<${EventCells} abi=${abi} log=${log} />`} />${further}`
}

function EventCells({ abi, log }: { abi: readonly unknown[]; log: RpcLog }): VNode {
  const known = eventIn(abi, log)
  const values = known?.values ?? [['data', log.data] as const]
  const whole = values.map(([name, text]) => `${name} ${text}`).join('\n')
  return html`
    <${Cell}><a class="strong" href=${linkTo(['block', Number(log.blockNumber)])}>${count(Number(log.blockNumber))}</a><//>
    <${Cell}>${known?.name ?? html`<code title=${log.topics[0]}>${short(log.topics[0] ?? 'anonymous')}</code>`}<//>
    <${Cell}><span title=${cut(whole)}>${values.map(([name, text], i) => html`${i > 0 && ' '}<span class="dim">${name}</span> <${Linked} text=${text} />`)}</span><//>
    <${Cell}><${HexLink} value=${log.transactionHash} to="tx" /><//>`
}
