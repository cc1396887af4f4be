// What happens on the chain: its blocks, and the transactions in the newest of them, as they come.
import { useMemo } from 'preact/hooks'
import { number as count, fee, plural, time } from '../../core/format.ts'
import { linkTo, type ViewProps } from '../data/route.ts'
import type { RpcBlock } from '../data/shapes.ts'
import { blockCall, placeOn, type TimeBranch, useBlock, usePoint } from '../data/time.ts'
import { useReads, useView } from '../data/use.ts'
import { classes, html, type VNode } from '../html.ts'
import { HexLink, Panel } from '../parts/basics.ts'
import { Cell, List } from '../parts/list.ts'
import { TransactionList } from '../parts/transactions.ts'

/** Blocks that are listed. */
const MOST_LISTED = 200_000

/** Blocks whose transactions are listed. */
const NEWEST = 40

export function LiveView({ route }: ViewProps): VNode {
  const { branch, number = -1 } = usePoint(route) ?? {}
  const below = useBlock(branch?.left.length ? branch.first - 1 : undefined, 'era')
  // the older blocks of a long branch are not known any more
  const lowest = below && below.hash !== branch?.left[0]?.parentHash ? branch!.first : 0
  const props = { branch, number, total: number + 1 - lowest }
  return html`<h1 class="hidden">Live</h1>
    <div class="live fill">
      <${Blocks} ...${props} /><${Newest} ...${props} />
    </div>`
}

type BlocksProps = Readonly<{ branch: TimeBranch; number: number; total: number }>

function Blocks({ branch, number, total }: BlocksProps): VNode {
  const { era } = useView()
  const length = Math.min(total, MOST_LISTED)
  const numbers = useMemo(() => Array.from({ length }, (_, i) => number - i), [length, number])
  return html`<${Panel} title="Blocks" note=${total === 0 ? '' : plural(total, 'block')}>
    <${List} label="Blocks" kind="blocks" columns=${['Block', 'Time', 'Transactions', 'Gas used', 'Base fee', 'Hash']}
      items=${numbers} added=${Math.max(0, number)} empty="No block yet." keyOf=${(each: number) => `${era} ${placeOn(branch, each)}`}
      row=${(each: number) => html`<${BlockCells} branch=${branch} number=${each} />`} />
  <//>`
}

function BlockCells({ branch, number }: { branch: TimeBranch; number: number }): VNode {
  const value = useBlock(placeOn(branch, number), 'era')
  const gas = value ? Number(value.gasUsed) : 0
  const share = value ? gas / Math.max(1, Number(value.gasLimit)) : 0
  return html`
    <${Cell}><a class="strong" href=${linkTo(['block', placeOn(branch, number)])}>${count(number)}</a><//>
    <${Cell} className="dim">${value && time(BigInt(value.timestamp)).replace(/^\d{4}-\S+ /, '')}<//>
    <${Cell} className=${classes(value?.transactions.length === 0 && 'dim')}>${value && (value.transactions.length === 0 ? 'none' : count(value.transactions.length))}<//>
    <${Cell}>${value && html`<i class="bar" aria-hidden="true" style=${{ '--share': `${Math.max(share * 100, gas > 0 ? 2 : 0)}%` }}></i>${count(gas)}`}<//>
    <${Cell} className="dim">${value?.baseFeePerGas && fee(BigInt(value.baseFeePerGas))}<//>
    <${Cell}>${value && html`<${HexLink} value=${value.hash} to="block" />`}<//>`
}

function Newest({ branch, number, total }: BlocksProps): VNode {
  const { era } = useView()
  const length = Math.min(NEWEST, total)
  const calls = Array.from({ length }, (_, i) => blockCall(placeOn(branch, number - i)))
  const blocks = useReads<RpcBlock | null>(calls, 'era')
  const hashes = blocks.flatMap(({ value }) => [...(value?.transactions ?? [])].reverse())
  return html`<${Panel} title="Transactions" note=${`in the newest ${plural(length, 'block')}`}>
    <${TransactionList} label="Newest transactions" hashes=${hashes} most=${undefined} keyOf=${(hash: string) => `${era} ${hash}`}
      empty=${html`No transactions in these blocks. Send one to <code>${location.origin}${location.pathname}</code>.`} />
  <//>`
}
