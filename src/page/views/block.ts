// A block: its header and its transactions.
import { number as count, duration, fee, plural, time } from '../../core/format.ts'
import { linkTo, type ViewProps } from '../data/route.ts'
import type { RpcBlock } from '../data/shapes.ts'
import { blockCall, placeOn, useBlock, useBranches } from '../data/time.ts'
import { useRead, useView } from '../data/use.ts'
import { html, type VNode } from '../html.ts'
import { Empty, Fact, Hex, HexLink, Panel, Waiting } from '../parts/basics.ts'
import { BlockOffers } from '../parts/form.ts'
import { TransactionList } from '../parts/transactions.ts'

export function BlockView({ route: { parts } }: ViewProps): VNode {
  const id = parts[1] ?? ''
  const place = /^\d+$/.test(id) ? Number(id) : id
  const read = useRead<RpcBlock | null>(...blockCall(place), 'now')
  if (read.value === undefined) return html`<h1>Block ${id}</h1><${Waiting} read=${read} />`
  if (read.value === null)
    return html`<h1>Block ${id}</h1><${Empty}>The chain has no such block. It may come, or a revert dropped it.<//>`
  return html`<${Block} block=${read.value} />`
}

function Block({ block }: { block: RpcBlock }): VNode {
  const number = Number(block.number)
  const { head } = useView()
  const branch = useBranches()?.find(({ left }) => left.some(({ hash }) => hash === block.hash))
  const here = useBlock(number, 'era')
  const parent = useBlock(block.parentHash, 'era')
  const isLeft = here !== undefined && here?.hash !== block.hash
  const spent = parent && Number(block.timestamp) - Number(parent.timestamp)
  const { transactions } = block
  return html`
    <div class="title flow"><h1>Block ${count(number)}</h1>
      ${isLeft && html`<span class="badge warn">not in the chain: a revert or a reorg left it</span>`}
      <nav class="flow" aria-label="Neighbours">
        <a class="button" href=${linkTo(['block', isLeft ? block.parentHash : Math.max(0, number - 1)])} aria-disabled=${number === 0}>Previous</a>
        <a class="button" href=${linkTo(['block', branch ? placeOn(branch, number + 1) : number + 1])} aria-disabled=${number === (branch?.last ?? head?.number)}>Next</a>
      </nav>
    </div>
    <${Panel} title="Header">
      <dl class="facts">
        <${Fact} name="Time">${time(BigInt(block.timestamp))} UTC ${spent ? html`<span class="dim">${duration(1000 * spent)} after its parent</span>` : ''}<//>
        <${Fact} name="Gas used">${count(BigInt(block.gasUsed))} <span class="dim">of ${count(BigInt(block.gasLimit))}</span><//>
        <${Fact} name="Base fee">${block.baseFeePerGas && fee(BigInt(block.baseFeePerGas))}<//>
        <${Fact} name="Size">${plural(Number(block.size), 'byte')}<//>
        <${Fact} name="Miner"><${HexLink} value=${block.miner} to="address" /><//>
        <${Fact} name="Hash"><${Hex} value=${block.hash} isWhole /><//>
        <${Fact} name="Parent"><${HexLink} value=${block.parentHash} to="block" isWhole /><//>
        <${Fact} name="State root"><${Hex} value=${block.stateRoot} isWhole /><//>
      </dl>
      <${BlockOffers} number=${number} hash=${isLeft ? block.hash : undefined} />
    <//>
    <${Panel} title="Transactions" note=${count(transactions.length)}><${TransactionList} hashes=${transactions} /><//>`
}
