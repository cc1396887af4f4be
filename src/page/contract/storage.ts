// The storage of a contract: variables by the layout of the compiler, then slots without a name.
import type { VNode } from 'preact'
import { short } from '../data/format.ts'
import { useRead } from '../data/use.ts'
import { html } from '../html.ts'
import { Empty, Waiting } from '../parts/basics.ts'
import { Cell, List } from '../parts/list.ts'

const ROW = 36

interface RpcSlot {
  readonly slot: string
  readonly name: string | null
  readonly type: string | null
  readonly value: string
  readonly word: string
}

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
  const place = slot.replace(/^0x0*(?=.)/, '0x')
  return html`
    <${Cell}><span title=${name}>${name ?? html`<span class="dim">slot ${short(place)}</span>`}</span><//>
    <${Cell} className="mono"><span title=${`${value}\n${word}`}>${value}</span><//>
    <${Cell} className="dim">${type}<//>
    <${Cell} className="dim mono"><span title=${slot}>${short(place)}</span><//>`
}
