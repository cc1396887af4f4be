// Rows of transactions: what was called, by whom, and whether it succeeded.
import type { VNode } from 'preact'
import { number as count, ether, short } from '../../core/format.ts'
import type { Lifetime } from '../data/chain.ts'
import { cut, hex } from '../data/format.ts'
import { linkTo } from '../data/route.ts'
import type { RpcLeftBlock, RpcReceipt, RpcTransaction } from '../data/shapes.ts'
import { NOTHING, type Reading, useRead } from '../data/use.ts'
import { html } from '../html.ts'
import { HexLink } from './basics.ts'
import { Cell, List } from './list.ts'

export const TRANSACTION_COLUMNS: readonly string[] = [
  'Transaction',
  'Call',
  'From',
  'To',
  'Value',
  'Gas used',
]

export interface RpcDescription {
  /** What was called, `Vault.withdraw(5)`; null if no name is known. */
  readonly call: string | null
  /** Why it failed; null if it succeeded or is pending. */
  readonly error: string | null
  readonly from: string | null
  readonly to: string | null
  readonly console: readonly string[]
  readonly events: readonly { readonly address: string; readonly text: string | null }[]
}

/** What is known of a transaction by name; null of one that is not known. */
export function useDescription(hash: string): RpcDescription | null | undefined {
  return useRead<RpcDescription | null>('devchain_describeTransaction', [hash], 'era').value
}

export function TransactionList({ hashes }: { hashes: readonly string[] }): VNode {
  return html`<${List} label="Transactions" kind="transactions" columns=${TRANSACTION_COLUMNS} items=${hashes} most=${15}
    empty="No transactions." keyOf=${String} row=${(hash: string) => html`<${TransactionCells} hash=${hash} />`} />`
}

interface FoundTransaction {
  readonly read: Reading<RpcTransaction | null>
  readonly receipt: RpcReceipt | null | undefined
  /** Its block, if that is off the chain. */
  readonly left: RpcLeftBlock | undefined
}

/** A transaction of the chain or the pool, or else of a block that a revert or a reorg left. */
export function useTransaction(hash: string, span: Lifetime): FoundTransaction {
  const own = useRead<RpcTransaction | null>('eth_getTransactionByHash', [hash], span)
  const receipt = useRead<RpcReceipt | null>('eth_getTransactionReceipt', [hash], span).value
  const isIt = (each: string): boolean => each === hash
  const method = own.value === null ? 'devchain_leftBlocks' : ''
  const blocks = useRead<readonly RpcLeftBlock[]>(method, [], 'now')
  const left = blocks.value?.find(({ transactions }) => transactions.some(isIt))
  const index = left?.transactions.findIndex(isIt) ?? 0
  const read = useRead<RpcTransaction | null>(
    left ? 'eth_getTransactionByBlockHashAndIndex' : '',
    [left?.hash, hex(index)],
    'era',
  )
  const receipts = useRead<readonly RpcReceipt[]>(
    left ? 'eth_getBlockReceipts' : '',
    [{ blockHash: left?.hash }],
    'era',
  )
  if (left !== undefined) return { read, receipt: receipts.value?.[index], left }
  const isSearched = method !== '' && blocks.value === undefined && blocks.error === undefined
  return { read: isSearched ? NOTHING : own, receipt, left }
}

export function TransactionCells({ hash }: { hash: string }): VNode {
  const { read, receipt } = useTransaction(hash, 'era')
  const { value: transaction } = read
  const names = useDescription(hash)
  const target = transaction?.to ?? receipt?.contractAddress
  const call = callText(transaction, names)
  const text = names?.error ? `${call}: ${names.error}` : call
  return html`
    <${Cell}><${Outcome} receipt=${receipt} /><a class="mono" href=${linkTo(['tx', hash])} title=${hash}>${short(hash)}</a><//>
    <${Cell} className="call"><span class=${names?.error && 'bad'} title=${cut(text, 2_000)}>${cut(text)}</span><//>
    <${Cell}>${transaction && html`<${HexLink} value=${transaction.from} to=${['address', transaction.from]} name=${names?.from ?? undefined} />`}<//>
    <${Cell}>${target && html`<${HexLink} value=${target} to=${['address', target]} name=${names?.to ?? undefined} />`}<//>
    <${Cell}>${transaction && (BigInt(transaction.value) === 0n ? html`<span class="dim">0</span>` : ether(BigInt(transaction.value)))}<//>
    <${Cell} className="dim">${receipt && count(Number(receipt.gasUsed))}<//>`
}

export function callText(
  transaction: RpcTransaction | null | undefined,
  names: RpcDescription | null | undefined,
): string {
  if (transaction === null || transaction === undefined) return ''
  if (transaction.to === null) return names?.call ?? 'contract creation'
  if (transaction.input === '0x') return 'transfer'
  return names?.call ?? transaction.input.slice(0, 10)
}

/** Success, failure or waiting, as a form and a colour. */
export function Outcome({ receipt }: { receipt: RpcReceipt | null | undefined }): VNode {
  if (receipt === undefined) return html`<span class="outcome"></span>`
  const [kind, word] =
    receipt === null
      ? ['warn', 'Pending']
      : receipt.status === '0x0'
        ? ['bad', 'Failed']
        : ['good', 'Succeeded']
  return html`<span class=${`outcome ${kind}`} role="img" aria-label=${word} title=${word}></span>`
}
