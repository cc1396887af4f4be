// The storage of a contract: variables by the layout of the compiler, then slots without a name.
import type { VNode } from 'preact'
import { cut } from '../data/format.ts'
import type { RpcSlot } from '../data/shapes.ts'
import { useRead } from '../data/use.ts'
import { html } from '../html.ts'
import { Copy, Empty, Waiting } from '../parts/basics.ts'
import { placeOf } from '../parts/changes.ts'
import { Cell, List } from '../parts/list.ts'

const ROW = 36

export function Storage({ address, block }: { address: string; block: string }): VNode {
  const read = useRead<readonly RpcSlot[]>('devchain_storage', [address, block], 'now')
  const slots = read.value
  if (slots === undefined) return html`<${Waiting} read=${read} />`
  if (slots.length === 0) return html`<${Empty}>The storage is empty.<//>`
  const hasNames = slots.some(({ name }) => name !== null)
  return html`${
    !hasNames &&
    html`<${Empty}>Names need <code>storageLayout</code> in the output of the compiler.<//>`
  }<div style=${{ height: `${(Math.min(slots.length, 18) + 1) * ROW}px` }}>
    <${List} label="Storage" kind="slots" columns=${['Name', 'Value', 'Type', 'Slot']} total=${slots.length} rowHeight=${ROW} empty=""
      keyOf=${(index: number) => `${slots[index]!.slot} ${slots[index]!.name}`}
      row=${(index: number) => html`<${SlotCells} slot=${slots[index]} />`} /></div>`
}

function SlotCells({ slot: { slot, name, type, value, word } }: { slot: RpcSlot }): VNode {
  return html`
    <${Cell}><span title=${cut(name ?? '')}>${name ?? html`<span class="dim">slot ${placeOf(slot)}</span>`}</span><//>
    <${Cell} className="mono"><span title=${`${cut(value)}\n${word}`}>${cut(value)}</span> ${value.length > 40 && html`<${Copy} text=${value} />`}<//>
    <${Cell} className="dim">${type}<//>
    <${Cell} className="dim mono"><span title=${slot}>${placeOf(slot)}</span><//>`
}
