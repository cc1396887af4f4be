// Rows of transactions: what was called, by whom, and whether it succeeded.
import { number as count, ether, short } from '../../core/format.ts'
import type { Lifetime } from '../data/chain.ts'
import { cut, hex } from '../data/format.ts'
import { linkTo } from '../data/route.ts'
import type { RpcLeftBlock, RpcReceipt, RpcTransaction } from '../data/shapes.ts'
import { NOTHING, type Reading, useRead } from '../data/use.ts'
import { html, type VNode } from '../html.ts'
import { HexLink } from './basics.ts'
import { Cell, List } from './list.ts'

interface RpcDescription {
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
type Names = RpcDescription | null | undefined

export function useDescription(hash: string): Names {
  return useRead<RpcDescription | null>('devchain_describeTransaction', [hash], 'era').value
}

/** @param rest what else a list takes */
export function TransactionList({ hashes, ...rest }: { hashes: readonly string[] }): VNode {
  return html`<${List} label="Transactions" kind="transactions" columns=${['Transaction', 'Call', 'From', 'To', 'Value', 'Gas used']} items=${hashes} most=${15}
    empty="No transactions." keyOf=${String} row=${(hash: string) => html`<${TransactionCells} hash=${hash} />`} ...${rest} />`
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
  // it may have thousands of events, and stays the same once there is one
  const lasting = own.value?.blockNumber ? 'era' : span
  const receipt = useRead<RpcReceipt | null>('eth_getTransactionReceipt', [hash], lasting).value
  const method = own.value === null ? 'devchain_leftBlocks' : ''
  const blocks = useRead<readonly RpcLeftBlock[]>(method, [], 'now')
  const left = blocks.value?.find(({ transactions }) => transactions.includes(hash))
  const index = left?.transactions.indexOf(hash) ?? 0
  const byIndex = left ? 'eth_getTransactionByBlockHashAndIndex' : ''
  const read = useRead<RpcTransaction | null>(byIndex, [left?.hash, hex(index)], 'era')
  const ofBlock = left ? 'eth_getBlockReceipts' : ''
  const receipts = useRead<readonly RpcReceipt[]>(ofBlock, [{ blockHash: left?.hash }], 'era')
  if (left !== undefined) return { read, receipt: receipts.value?.[index], left }
  const isSearched = method !== '' && blocks.value === undefined && blocks.error === undefined
  return { read: isSearched ? NOTHING : own, receipt, left }
}

function TransactionCells({ hash }: { hash: string }): VNode {
  const { read, receipt } = useTransaction(hash, 'era')
  const { value: transaction } = read
  const names = useDescription(hash)
  const target = transaction?.to ?? receipt?.contractAddress
  const call = callText(transaction, names)
  const text = names?.error ? `${call}: ${names.error}` : call
  return html`
    <${Cell}><${Outcome} receipt=${receipt} error=${names?.error} /><a class="mono" href=${linkTo(['tx', hash])} title=${hash}>${short(hash)}</a><//>
    <${Cell} className="call"><span class=${names?.error && 'bad'} title=${cut(text, 2_000)}>${cut(text)}</span><//>
    <${Cell}>${transaction && html`<${HexLink} value=${transaction.from} to="address" name=${names?.from} />`}<//>
    <${Cell}>${target && html`<${HexLink} value=${target} to="address" name=${names?.to} />`}<//>
    <${Cell}>${transaction && (BigInt(transaction.value) === 0n ? html`<span class="dim">0</span>` : ether(BigInt(transaction.value)))}<//>
    <${Cell} className="dim">${receipt && count(Number(receipt.gasUsed))}<//>`
}

export function callText(transaction: RpcTransaction | null | undefined, names: Names): string {
  if (!transaction) return ''
  if (transaction.to === null) return names?.call ?? 'contract creation'
  if (transaction.input === '0x') return 'transfer'
  return names?.call ?? transaction.input.slice(0, 10)
}

interface OutcomeProps {
  readonly receipt: RpcReceipt | null | undefined
  /** Why it failed: receipts before Byzantium have no status. */
  readonly error?: string | null | undefined
}

/** Success, failure or waiting, as a form and a colour. */
export function Outcome({ receipt, error }: OutcomeProps): VNode {
  if (receipt === undefined) return html`<span class="outcome"></span>`
  const [kind, word] = outcomeOf(receipt, error)
  return html`<span class=${`outcome ${kind}`} role="img" aria-label=${word} title=${word}></span>`
}

/** The same in a word. */
export function OutcomeBadge({ receipt, error }: OutcomeProps): VNode | false {
  if (receipt === undefined) return false
  const [kind, word] = outcomeOf(receipt, error)
  return html`<span class=${`badge ${kind}`}>${word}</span>`
}

export function hasFailed({ status }: RpcReceipt, error: OutcomeProps['error']): boolean {
  return status === undefined ? typeof error === 'string' : status === '0x0'
}

function outcomeOf(
  receipt: RpcReceipt | null,
  error: OutcomeProps['error'],
): readonly [kind: string, word: string] {
  if (receipt === null) return ['warn', 'Pending']
  return hasFailed(receipt, error) ? ['bad', 'Failed'] : ['good', 'Succeeded']
}
