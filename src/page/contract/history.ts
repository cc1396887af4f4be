// What transactions changed of an account: storage by name, balance, nonce and code, newest first.
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { count, ether, plural } from '../data/format.ts'
import { linkTo, type Route } from '../data/route.ts'
import type { RpcLeftBlock, RpcTrace, RpcTransaction } from '../data/shapes.ts'
import { usePoint } from '../data/time.ts'
import { type Reading, useRead, useReads } from '../data/use.ts'
import { html } from '../html.ts'
import { Empty, HexLink, Waiting } from '../parts/basics.ts'
import { Group } from '../parts/changes.ts'
import { callText, type RpcDescription } from '../parts/transactions.ts'

/** Transactions of one look, beside the rest of the last block. */
const PAGE = 10

/** Newest blocks of a branch off the chain whose transactions are searched. */
const MOST_LEFT = 40

interface RpcPage {
  readonly txs: readonly RpcTransaction[]
  readonly lastPage: boolean
}

interface HistoryProps {
  readonly address: string
  readonly route: Route
}

/** Transactions of an account up to a point, newest first. @param older those before this block */
export function useTransactionsOf(
  { address, route }: HistoryProps,
  size: number,
  older?: number,
): Reading<RpcPage> {
  const { branch, number = 0 } = usePoint(route) ?? {}
  const isLeft = ({ number: at, transactions }: RpcLeftBlock): boolean =>
    Number(at) <= number && transactions.length > 0
  const left = older === undefined ? (branch?.left.filter(isLeft).slice(-MOST_LEFT) ?? []) : []
  const blocks = useReads<{ readonly transactions: readonly RpcTransaction[] } | null>(
    left.map(({ hash }) => ['eth_getBlockByHash', [hash, true]]),
    'era',
  )
  const before = route.at === undefined ? 0 : Math.min(number + 1, branch?.first ?? 0)
  const params = [address, older ?? before, size]
  const read = useRead<RpcPage>(branch ? 'ots_searchTransactionsBefore' : '', params, 'now')
  if (read.value === undefined || left.length === 0) return read
  const mine = blocks
    .flatMap(({ value }) => value?.transactions ?? [])
    .filter(({ from, to }) => [from, to].some((each) => each?.toLowerCase() === address))
  return { ...read, value: { ...read.value, txs: [...mine.reverse(), ...read.value.txs] } }
}

export function History(props: HistoryProps): VNode {
  const [pages, setPages] = useState<readonly (number | undefined)[]>([undefined])
  const read = useTransactionsOf(props, PAGE, pages.at(-1))
  if (read.value === undefined) return html`<${Waiting} read=${read} />`
  const { txs, lastPage } = read.value
  const oldest = Number(txs.at(-1)?.blockNumber)
  return html`${txs.length === 0 && html`<${Empty}>No transactions.<//>`}
    ${txs.map((each) => html`<${Entry} key=${each.hash} transaction=${each} address=${props.address} />`)}
    <p class="more"><button type="button" disabled=${pages.length === 1} onClick=${() => setPages(pages.slice(0, -1))}>Newer</button> <button type="button" disabled=${lastPage} onClick=${() => setPages([...pages, oldest])}>Older</button></p>`
}

interface RpcAccountPart {
  readonly balance?: string
  readonly nonce?: number
  readonly code?: string
}

/** Of prestateTracer in diff mode: `post` has what differs. */
interface RpcDiff {
  readonly pre: Readonly<Record<string, RpcAccountPart>>
  readonly post: Readonly<Record<string, RpcAccountPart>>
}

const DIFF = { tracer: 'prestateTracer', tracerConfig: { diffMode: true } }

function Entry({ transaction, address }: { transaction: RpcTransaction; address: string }): VNode {
  const { hash, blockNumber } = transaction
  const trace = useRead<RpcTrace>('devchain_traceTransaction', [hash], 'era')
  const diff = useRead<RpcDiff>('debug_traceTransaction', [hash, DIFF], 'era')
  const names = useRead<RpcDescription | null>('devchain_describeTransaction', [hash], 'era').value
  if (trace.value === undefined) return html`<${Waiting} read=${trace} />`
  if (diff.value === undefined) return html`<${Waiting} read=${diff} />`
  const { pre, post } = diff.value
  const storage = trace.value.storage.find((each) => each.address.toLowerCase() === address)
  const lines = [...partTexts(pre[address] ?? {}, post[address] ?? {}), ...(storage?.changes ?? [])]
  const title = html`<a class="number" href=${linkTo(['block', Number(blockNumber)])}>${count(Number(blockNumber))}</a> <${HexLink} value=${hash} to=${['tx', hash]} /> <span class="dim">${callText(transaction, names)}</span>`
  return html`<${Group} title=${title} lines=${lines.length === 0 ? ['nothing changed'] : lines} />`
}

function partTexts(pre: RpcAccountPart, post: RpcAccountPart): readonly string[] {
  const texts: Readonly<Record<keyof RpcAccountPart, (value: string) => string>> = {
    balance: (value) => ether(BigInt(value)),
    nonce: (value) => count(Number(value)),
    code: (value) => (value.length <= 2 ? 'none' : plural(value.length / 2 - 1, 'byte')),
  }
  const usual = { balance: 0, nonce: 0, code: '0x' }
  return (Object.keys(texts) as (keyof RpcAccountPart)[])
    .filter((key) => post[key] !== undefined)
    .map((key) => {
      const [from, to] = [pre[key] ?? usual[key], post[key]]
      return `${key} ${texts[key](String(from))} → ${texts[key](String(to))}`
    })
}
