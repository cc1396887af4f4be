// The storage of a contract: variables by the layout of the compiler, then slots without a name.
import type { VNode } from 'preact'
import { cut } from '../data/format.ts'
import type { RpcSlot } from '../data/shapes.ts'
import type { BlockParam } from '../data/time.ts'
import { useRead } from '../data/use.ts'
import { html } from '../html.ts'
import { Copy, Empty, Waiting } from '../parts/basics.ts'
import { placeOf } from '../parts/changes.ts'
import { Cell, List } from '../parts/list.ts'

export function Storage({ address, block }: { address: string; block: BlockParam }): VNode {
  const read = useRead<readonly RpcSlot[]>('devchain_storage', [address, block], 'now')
  const slots = read.value
  if (slots === undefined) return html`<${Waiting} read=${read} />`
  const hasNames = slots.length === 0 || slots.some(({ name }) => name !== null)
  return html`${
    !hasNames &&
    html`<${Empty}>Names need <code>storageLayout</code> in the output of the compiler.<//>`
  }<${List} label="Storage" kind="slots" columns=${['Name', 'Value', 'Type', 'Slot']} items=${slots} most=${18} rowHeight=${36}
      empty="The storage is empty." keyOf=${({ slot, name }: RpcSlot) => `${slot} ${name}`} row=${(slot: RpcSlot) => html`<${SlotCells} slot=${slot} />`} />`
}

function SlotCells({ slot: { slot, name, type, value, word } }: { slot: RpcSlot }): VNode {
  return html`
    <${Cell}><span title=${cut(name ?? '')}>${name ?? html`<span class="dim">slot ${placeOf(slot)}</span>`}</span><//>
    <${Cell} className="mono"><span title=${`${cut(value)}\n${word}`}>${cut(value)}</span> ${value.length > 40 && html`<${Copy} text=${value} />`}<//>
    <${Cell} className="dim">${type}<//>
    <${Cell} className="dim mono"><span title=${slot}>${placeOf(slot)}</span><//>`
}
