// The calls of a transaction within each other, with their events in between.
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { number as count, ether, short } from '../../core/format.ts'
import { cut, nameText } from '../data/format.ts'
import { linkTo } from '../data/route.ts'
import type { RpcTraceNode } from '../data/shapes.ts'
import { classes, html } from '../html.ts'
import { Cell, List } from './list.ts'

type TreeRow = Readonly<{ key: string; depth: number; node: RpcTraceNode; isClosed: boolean }>

export function CallTree({ call }: { call: RpcTraceNode }): VNode {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set())
  const rows = rowsOf(call, closed)
  const toggle = (key: string): void => {
    const next = new Set(closed)
    if (!next.delete(key)) next.add(key)
    setClosed(next)
  }
  return html`<${List} label="Calls" kind="calls" columns=${['Call', 'Value', 'Gas used']} items=${rows} most=${24} rowHeight=${30}
    keyOf=${({ key }: TreeRow) => key} row=${(row: TreeRow) => html`<${NodeCells} row=${row} toggle=${toggle} />`} />`
}

function rowsOf(call: RpcTraceNode, closed: ReadonlySet<string>): readonly TreeRow[] {
  const rows: TreeRow[] = []
  const visit = (node: RpcTraceNode, depth: number, key: string): void => {
    const isClosed = closed.has(key)
    rows.push({ key, depth, node, isClosed })
    if (isClosed) return
    for (const [i, step] of (node.steps ?? []).entries()) visit(step, depth + 1, `${key}.${i}`)
  }
  visit(call, 0, '0')
  return rows
}

function NodeCells({ row, toggle }: { row: TreeRow; toggle: (key: string) => void }): VNode {
  const { key, depth, node, isClosed } = row
  const { type, name, value = '0x0', gasUsed, steps = [] } = node
  const isEvent = type === 'EVENT'
  const [word, colour] = KINDS[type] ?? [type.toLowerCase(), 'dim']
  // a contract may be called as an address looks
  const shown = node.to ? cut(nameText(name.split(/[.(]/, 1)[0]!, node.to)) : ''
  const text = shown.startsWith('“') ? `${cut(name)} ${short(node.to!)}` : cut(name)
  return html`
    <${Cell} className="node"><span class="indent" style=${{ width: `${depth * 18}px` }}></span>
      ${
        steps.length > 0
          ? html`<button type="button" class="quiet fold" aria-expanded=${!isClosed} aria-label=${`Steps of ${cut(name, 100)}`} onClick=${() => toggle(key)}>${isClosed ? '+' : '−'}</button>`
          : html`<span class="fold"></span>`
      }
      <span class=${`badge ${colour}`}>${word}</span>
      <span class=${classes('cut', node.error !== undefined && 'bad')} title=${cut(name, 2_000)}>${
        node.to
          ? html`<a href=${linkTo(['address', node.to])} title=${node.to}>${text}</a>`
          : cut(name)
      }${node.result === undefined ? '' : html`<span class="dim"> → ${cut(node.result)}</span>`}${node.error === undefined ? '' : html`: ${cut(node.error)}`}</span>
    <//>
    <${Cell}>${!isEvent && BigInt(value) > 0n && ether(BigInt(value))}<//>
    <${Cell} className="dim">${gasUsed === undefined ? '' : count(Number(gasUsed))}<//>`
}

/** Word and colour. */
const KINDS: Readonly<Record<string, readonly [string, string]>> = {
  EVENT: ['event', 'accent'],
  STATICCALL: ['static', 'dim'],
  DELEGATECALL: ['delegate', 'dim'],
  CREATE: ['create', 'good'],
  CREATE2: ['create2', 'good'],
  SELFDESTRUCT: ['destroy', 'dim'],
}
