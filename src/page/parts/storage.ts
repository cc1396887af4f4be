// The storage of accounts, and what changed in it: by name where the compiler's layout is known, or else by slot.
import { number as count, short } from '../../core/format.ts'
import { cut } from '../data/format.ts'
import type { RpcSlot } from '../data/shapes.ts'
import type { BlockParam } from '../data/time.ts'
import { useRead } from '../data/use.ts'
import { type Children, html, type VNode } from '../html.ts'
import { Copy, Empty, HexLink, Long, Waiting } from './basics.ts'
import { Cell, List } from './list.ts'

/** Slots that are read. */
const MOST_SLOTS = 1_000

export function Storage({ address, block }: { address: string; block: BlockParam }): VNode {
  const read = useRead<readonly RpcSlot[]>('devchain_storage', [address, block], 'now')
  const slots = read.value
  if (slots === undefined) return html`<${Waiting} read=${read} />`
  const hasNames = slots.length === 0 || slots.some(({ name }) => name !== null)
  const noNames = html`<${Empty}>Names need <code>storageLayout</code> in the output of the compiler.<//>`
  const isCut = new Set(slots.map(({ slot }) => slot)).size >= MOST_SLOTS
  return html`${!hasNames && noNames}${isCut && html`<${Empty}>Of more than ${count(MOST_SLOTS)} slots, the first in the order of their hashes are shown.<//>`}<${List} label="Storage" kind="slots" columns=${['Name', 'Value', 'Type', 'Slot']} items=${slots} most=${18} rowHeight=${36}
      empty="The storage is empty." keyOf=${({ slot, name }: RpcSlot) => `${slot} ${name}`} row=${(slot: RpcSlot) => html`<${SlotCells} slot=${slot} />`} />`
}

function SlotCells({ slot: { slot, name, type, value, word } }: { slot: RpcSlot }): VNode {
  return html`
    <${Cell}><span title=${cut(name ?? '')}>${name ?? html`<span class="dim">slot ${placeOf(slot)}</span>`}</span><//>
    <${Cell} className="mono"><span title=${`${cut(value)}\n${word}`}>${cut(value)}</span> ${value.length > 40 && html`<${Copy} text=${value} />`}<//>
    <${Cell} className="dim">${type}<//>
    <${Cell} className="dim mono"><span title=${slot}>${placeOf(slot)}</span><//>`
}

type ChangeProps = Readonly<{ address: string; name?: string; changes: readonly string[] }>

export function ChangeGroup({ address, name, changes }: ChangeProps): VNode {
  const title = html`<${HexLink} value=${address} to="address" name=${name} />`
  return html`<${Group} title=${title} lines=${changes} />`
}

export function Group({ title, lines }: { title: Children; lines: readonly string[] }): VNode {
  return html`<div class="group"><h3>${title}</h3>
    <ul>${lines.map((each) => html`<li><code><${Long} text=${each} /></code></li>`)}</ul></div>`
}

export interface BetweenProps {
  readonly address: string
  readonly name: string | undefined
  readonly from: BlockParam
  readonly at: BlockParam
}

/** What changed between two blocks; nothing for an account whose storage did not. */
export function ChangesBetween({ address, name, from, at }: BetweenProps): VNode | false {
  const method = 'devchain_storageChanges'
  const { value: changes = [] } = useRead<readonly string[]>(method, [address, from, at], 'era')
  return changes.length > 0 && html`<${ChangeGroup} ...${{ address, name, changes }} />`
}

/** A slot or a word without zeros before it, shortened. */
export function placeOf(word: string): string {
  return short(`0x${word.replace(/^(0x)?0*(?=.)/, '')}`)
}
