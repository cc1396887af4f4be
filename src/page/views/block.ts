// A block: its header and its transactions.
import type { VNode } from 'preact'
import { count, duration, gasPrice, hex, moment, plural } from '../data/format.ts'
import { linkTo, type ViewProps } from '../data/route.ts'
import type { RpcBlock, RpcLeftBlock } from '../data/shapes.ts'
import { useRead, useView } from '../data/use.ts'
import { html } from '../html.ts'
import { Badge, Empty, Facts, Hex, HexLink, Panel, Waiting } from '../parts/basics.ts'
import { BlockOffers } from '../parts/offers.ts'
import { TransactionList } from '../parts/transactions.ts'

export function BlockView({ route: { parts } }: ViewProps): VNode {
  const id = parts[1] ?? ''
  const isNumber = /^\d+$/.test(id)
  const read = useRead<RpcBlock | null>(
    isNumber ? 'eth_getBlockByNumber' : 'eth_getBlockByHash',
    [isNumber ? hex(Number(id)) : id, false],
    'now',
  )
  if (read.value === undefined) return html`<h1>Block ${id}</h1><${Waiting} read=${read} />`
  if (read.value === null) return html`<${LeftBlock} id=${id} />`
  return html`<${Block} block=${read.value} />`
}

/** A block of a revert, which methods for blocks do not know; what there is of it. */
function LeftBlock({ id }: { id: string }): VNode {
  const read = useRead<readonly RpcLeftBlock[]>('devchain_leftBlocks', [], 'now')
  const block = read.value?.find(({ hash }) => hash === id)
  if (read.value === undefined) return html`<h1>Block ${id}</h1><${Waiting} read=${read} />`
  if (block === undefined)
    return html`<h1>Block ${id}</h1><${Empty}>The chain has no such block. It may come, or a revert dropped it.<//>`
  const number = Number(block.number)
  return html`<div class="title"><h1>Block ${count(number)}</h1><${Badge} kind="left">not in the chain: a revert left it<//></div>
    <${Panel} title="Header"><${Facts} of=${[
      ['Time', `${moment(Number(block.timestamp))} UTC`],
      ['Hash', html`<${Hex} value=${id} isWhole />`],
      [
        'Parent',
        html`<${HexLink} value=${block.parentHash} to=${['block', block.parentHash]} isWhole />`,
      ],
      ['Transactions', block.transactions.map((hash) => html`<${Hex} value=${hash} /> `)],
    ]} /><${BlockOffers} number=${number} hash=${id} /><//>`
}

function Block({ block }: { block: RpcBlock }): VNode {
  const number = Number(block.number)
  const { head } = useView()
  const { value: here } = useRead<RpcBlock | null>(
    'eth_getBlockByNumber',
    [block.number, false],
    'era',
  )
  const { value: parent } = useRead<RpcBlock | null>(
    'eth_getBlockByHash',
    [block.parentHash, false],
    'era',
  )
  const isLeft = here !== undefined && here?.hash !== block.hash
  const spent = parent && Number(block.timestamp) - Number(parent.timestamp)
  const { transactions } = block
  return html`
    <div class="title"><h1>Block ${count(number)}</h1>
      ${isLeft && html`<${Badge} kind="left">not in the chain: a reorg left it<//>`}
      <nav aria-label="Neighbours">
        <a class="button" href=${linkTo(['block', Math.max(0, number - 1)])} aria-disabled=${number === 0}>Previous</a>
        <a class="button" href=${linkTo(['block', number + 1])} aria-disabled=${number === head?.number}>Next</a>
      </nav>
    </div>
    <${Panel} title="Header">
      <${Facts} of=${[
        [
          'Time',
          html`${moment(Number(block.timestamp))} UTC ${spent ? html`<span class="dim">${duration(spent)} after its parent</span>` : ''}`,
        ],
        [
          'Gas used',
          html`${count(Number(block.gasUsed))} <span class="dim">of ${count(Number(block.gasLimit))}</span>`,
        ],
        ['Base fee', block.baseFeePerGas && gasPrice(BigInt(block.baseFeePerGas))],
        ['Size', plural(Number(block.size), 'byte')],
        ['Miner', html`<${HexLink} value=${block.miner} to=${['address', block.miner]} />`],
        ['Hash', html`<${Hex} value=${block.hash} isWhole />`],
        [
          'Parent',
          html`<${HexLink} value=${block.parentHash} to=${['block', block.parentHash]} isWhole />`,
        ],
        ['State root', html`<${Hex} value=${block.stateRoot} isWhole />`],
      ]} />
      <${BlockOffers} number=${number} hash=${isLeft ? block.hash : undefined} />
    <//>
    <${Panel} title="Transactions" note=${count(transactions.length)}><${TransactionList} hashes=${transactions} /><//>`
}
