// A transaction: what it did, and what it cost.
import type { VNode } from 'preact'
import { count, ether, gasPrice, plural } from '../data/format.ts'
import { linkTo, type ViewProps } from '../data/route.ts'
import type { RpcReceipt, RpcTransaction } from '../data/shapes.ts'
import { useRead } from '../data/use.ts'
import { html } from '../html.ts'
import { Badge, Empty, Facts, Hex, HexLink, Panel, Waiting } from '../parts/basics.ts'
import { callText, type RpcDescription } from '../parts/transactions.ts'

export function TransactionView({ route: { parts } }: ViewProps): VNode {
  const hash = parts[1] ?? ''
  const read = useRead<RpcTransaction | null>('eth_getTransactionByHash', [hash], 'now')
  const { value: receipt } = useRead<RpcReceipt | null>('eth_getTransactionReceipt', [hash], 'now')
  const { value: names } = useRead<RpcDescription | null>(
    'devchain_describeTransaction',
    [hash],
    'era',
  )
  if (read.value === undefined) return html`<h1>Transaction</h1><${Waiting} read=${read} />`
  if (read.value === null)
    return html`<h1>Transaction</h1><${Empty}>The chain has no such transaction. A revert may have dropped it.<//>`
  const transaction = read.value
  return html`
    <div class="title"><h1>${callText(transaction, names)}</h1><${OutcomeBadge} receipt=${receipt} /></div>
    ${names?.error && html`<p class="failure" role="alert">${names.error}</p>`}
    <${Panel} title="Transaction"><${Facts} of=${factsOf(transaction, receipt, names)} /><//>`
}

export function OutcomeBadge({
  receipt,
}: {
  receipt: RpcReceipt | null | undefined
}): VNode | false {
  if (receipt === undefined) return false
  if (receipt === null) return html`<${Badge} kind="waiting">Pending<//>`
  return receipt.status === '0x0'
    ? html`<${Badge} kind="bad">Failed<//>`
    : html`<${Badge} kind="good">Succeeded<//>`
}

function factsOf(
  transaction: RpcTransaction,
  receipt: RpcReceipt | null | undefined,
  names: RpcDescription | null | undefined,
): readonly (readonly [string, unknown])[] {
  const { hash, from, to, value, nonce, gas, type, input, blockNumber } = transaction
  const created = receipt?.contractAddress
  const used = receipt && BigInt(receipt.gasUsed)
  const price = receipt && BigInt(receipt.effectiveGasPrice)
  return [
    ['Hash', html`<${Hex} value=${hash} isWhole />`],
    [
      'Block',
      blockNumber === null
        ? 'in the pool'
        : html`<a href=${linkTo(['block', Number(blockNumber)])}>${count(Number(blockNumber))}</a>`,
    ],
    [
      'From',
      html`<${HexLink} value=${from} to=${['address', from]} name=${names?.from ?? undefined} isWhole />`,
    ],
    [
      'To',
      to === null
        ? undefined
        : html`<${HexLink} value=${to} to=${['address', to]} name=${names?.to ?? undefined} isWhole />`,
    ],
    [
      'Created',
      created
        ? html`<${HexLink} value=${created} to=${['address', created]} name=${names?.to ?? undefined} isWhole />`
        : undefined,
    ],
    ['Value', ether(BigInt(value))],
    [
      'Gas',
      html`${used == null ? '' : `${count(used)} used `}<span class="dim">limit ${count(Number(gas))}</span>`,
    ],
    [
      'Fee',
      used == null || price == null
        ? undefined
        : html`${ether(used * price)} <span class="dim">${gasPrice(price)} per gas</span>`,
    ],
    ['Nonce', count(Number(nonce))],
    ['Type', ['legacy', 'access list', 'dynamic fee', 'blob', 'set code'][Number(type)] ?? type],
    [
      'Input',
      input === '0x'
        ? 'none'
        : html`<details><summary>${plural(input.length / 2 - 1, 'byte')}</summary><code class="bytes">${input}</code></details>`,
    ],
  ]
}
