// What happens on the chain: its blocks, and the transactions in the newest of them, as they come.
import type { VNode } from 'preact'
import { clockTime, count, gasPrice, hex, plural } from '../data/format.ts'
import { linkTo, type ViewProps } from '../data/route.ts'
import type { RpcBlock } from '../data/shapes.ts'
import { useRead, useView } from '../data/use.ts'
import { classes, html } from '../html.ts'
import { Empty, HexLink, Panel } from '../parts/basics.ts'
import { Cell, List } from '../parts/list.ts'
import { TRANSACTION_COLUMNS, TransactionCells } from '../parts/transactions.ts'

/** Pixels. */
const ROW = 40

/** Blocks whose transactions are listed. */
const NEWEST = 40

export function LiveView({ route }: ViewProps): VNode {
  const { head } = useView()
  const at = route.at ?? head?.number
  return html`<h1 class="hidden">Live</h1>
    <div class="live">
      <${Blocks} at=${at} /><${Newest} at=${at} />
    </div>`
}

function Blocks({ at }: { at: number | undefined }): VNode {
  const { era } = useView()
  return html`<${Panel} title="Blocks" note=${at === undefined ? '' : plural(at + 1, 'block')}>
    <${List} label="Blocks" kind="blocks" columns=${['Block', 'Time', 'Transactions', 'Gas used', 'Base fee', 'Hash']}
      total=${at === undefined ? 0 : at + 1} added=${at ?? 0} rowHeight=${ROW} empty="No block yet."
      keyOf=${(index: number) => `${era} ${at! - index}`} row=${(index: number) => html`<${BlockCells} number=${at! - index} />`} />
  <//>`
}

function BlockCells({ number }: { number: number }): VNode {
  const { value } = useRead<RpcBlock | null>('eth_getBlockByNumber', [hex(number), false], 'era')
  const gas = value ? Number(value.gasUsed) : 0
  const share = value ? gas / Math.max(1, Number(value.gasLimit)) : 0
  return html`
    <${Cell}><a class="number" href=${linkTo(['block', number])}>${count(number)}</a><//>
    <${Cell} className="dim">${value && clockTime(Number(value.timestamp))}<//>
    <${Cell} className=${classes(value?.transactions.length === 0 && 'dim')}>${value && (value.transactions.length === 0 ? 'none' : count(value.transactions.length))}<//>
    <${Cell} className="gas">${value && html`<span class="bar" aria-hidden="true"><i style=${{ width: `${Math.max(share * 100, gas > 0 ? 2 : 0)}%` }}></i></span>${count(gas)}`}<//>
    <${Cell} className="dim">${value?.baseFeePerGas !== undefined && gasPrice(BigInt(value.baseFeePerGas))}<//>
    <${Cell}>${value && html`<${HexLink} value=${value.hash} to=${['block', value.hash]} />`}<//>`
}

function Newest({ at }: { at: number | undefined }): VNode {
  const numbers = Array.from({ length: Math.min(NEWEST, (at ?? -1) + 1) }, (_, i) => at! - i)
  return html`<${NewestOf} key=${numbers.length} numbers=${numbers} />`
}

/** One hook a block, so its number never changes for one key. */
function NewestOf({ numbers }: { numbers: readonly number[] }): VNode {
  const { era } = useView()
  const blocks = numbers.map(
    (number) => useRead<RpcBlock | null>('eth_getBlockByNumber', [hex(number), false], 'era').value,
  )
  const hashes = blocks.flatMap((block) => [...(block?.transactions ?? [])].reverse())
  return html`<${Panel} title="Transactions" note=${`in the newest ${plural(numbers.length, 'block')}`}>
    ${
      hashes.length === 0
        ? html`<${Empty}>No transactions in these blocks. Send one to <code>${location.origin}${location.pathname}</code>.<//>`
        : html`<${List} label="Newest transactions" kind="transactions" columns=${TRANSACTION_COLUMNS} total=${hashes.length}
            rowHeight=${ROW} empty="" keyOf=${(index: number) => `${era} ${hashes[index]}`}
            row=${(index: number) => html`<${TransactionCells} hash=${hashes[index]} />`} />`
    }
  <//>`
}
