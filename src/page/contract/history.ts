// What changed an account, newest first: transactions and what was set without one; storage by name, balance, nonce and code.
import { useState } from 'preact/hooks'
import { number as count, ether, plural } from '../../core/format.ts'
import { hex } from '../data/format.ts'
import { linkTo, type Route } from '../data/route.ts'
import type { RpcTrace, RpcTransaction } from '../data/shapes.ts'
import { leftUpTo, stateOf, usePoint } from '../data/time.ts'
import { type Reading, useRead, useReads, useSteady } from '../data/use.ts'
import { html, type VNode } from '../html.ts'
import { Empty, HexLink, Waiting } from '../parts/basics.ts'
import { Group } from '../parts/storage.ts'
import { callText, useDescription } from '../parts/transactions.ts'

/** Transactions of one look, beside the rest of the last block. */
const PAGE = 10

type RpcPage = Readonly<{ txs: readonly RpcTransaction[]; lastPage: boolean }>

export type HistoryProps = Readonly<{ address: string; route: Route }>

/** Transactions of an account up to a point, newest first. @param older those before this block */
export function useTransactionsOf(
  { address, route }: HistoryProps,
  size: number,
  older?: number,
): Reading<RpcPage> {
  const { branch, number = 0 } = usePoint(route) ?? {}
  const left = branch && older === undefined ? leftUpTo({ branch, number }) : []
  const calls = left.map(({ hash }) => ['eth_getBlockByHash', [hash, true]] as const)
  const blocks = useReads<{ readonly transactions: readonly RpcTransaction[] } | null>(calls, 'era')
  const before = route.at === undefined ? 0 : Math.min(number + 1, branch?.first ?? 0)
  const params = [address, older ?? before, size]
  const read = useRead<RpcPage>(branch ? 'ots_searchTransactionsBefore' : '', params, 'now')
  if (read.value === undefined || left.length === 0) return read
  const mine = blocks
    .flatMap(({ value }) => value?.transactions ?? [])
    .filter(({ from, to }) => [from, to].some((each) => each?.toLowerCase() === address))
  return { ...read, value: { ...read.value, txs: [...mine.reverse(), ...read.value.txs] } }
}

/** Blocks that are searched at first for changes without a transaction, and the most that are. */
const FIRST_BLOCKS = 1_000
const MOST_BLOCKS = 10_000

export function History(props: HistoryProps): VNode {
  const { address, route } = props
  const [pages, setPages] = useState<readonly (number | undefined)[]>([undefined])
  const [most, setMost] = useState(FIRST_BLOCKS)
  const older = pages.at(-1)
  const { number: now = 0 } = usePoint(route) ?? {}
  const read = useTransactionsOf(props, PAGE, older)
  const { txs = [], lastPage = true } = read.value ?? {}
  const oldest = Number(txs.at(-1)?.blockNumber)
  const newest = older === undefined ? now : older - 1
  const all = newest + 1 - (lastPage ? 0 : oldest)
  const blocks = Math.min(all, most)
  const upTo = older === undefined ? stateOf(route) : hex(newest)
  const method = read.value ? 'devchain_directChanges' : ''
  const params = [address, upTo, hex(blocks)]
  const changes = useRead<readonly RpcDirectChange[]>(method, params, 'now')
  const direct = useSteady(changes.value) ?? []
  if (read.value === undefined) return html`<${Waiting} read=${read} />`
  // what was set after a block is newer than its transactions, and sorting keeps the order of equals
  const entries = [...direct, ...txs].sort((a, b) => Number(b.blockNumber) - Number(a.blockNumber))
  return html`${entries.length === 0 && html`<${Empty}>Nothing changed it.<//>`}
    ${entries.map((each) => html`<${'hash' in each ? Entry : DirectEntry} key=${'hash' in each ? each.hash : each.blockHash} of=${each} address=${address} />`)}
    ${changes.error && html`<${Waiting} read=${changes} />`}
    ${blocks < all && html`<p class="inset"><span class="dim">Changes without a transaction: in the newest ${plural(blocks, 'block')} of ${count(all)}</span> ${most < MOST_BLOCKS && html`<button type="button" onClick=${() => setMost(MOST_BLOCKS)}>Search ${plural(Math.min(all, MOST_BLOCKS), 'block')}</button>`}</p>`}
    <p class="inset"><button type="button" disabled=${pages.length === 1} onClick=${() => setPages(pages.slice(0, -1))}>Newer</button> <button type="button" disabled=${lastPage} onClick=${() => setPages([...pages, oldest])}>Older</button></p>`
}

/** Balance, nonce and code, as far as they are known; the nonce as the tracer has it, or as hex. */
type RpcAccountPart = Readonly<Record<string, string | number>>

/** Of prestateTracer in diff mode: `post` has what differs. */
type RpcDiff = Readonly<Record<'pre' | 'post', Readonly<Record<string, RpcAccountPart>>>>

const DIFF = { tracer: 'prestateTracer', tracerConfig: { diffMode: true } }

function Entry({ of, address }: { of: RpcTransaction; address: string }): VNode {
  const { hash, blockNumber } = of
  const trace = useRead<RpcTrace>('devchain_traceTransaction', [hash], 'era')
  const diff = useRead<RpcDiff>('debug_traceTransaction', [hash, DIFF], 'era')
  const names = useDescription(hash)
  if (trace.value === undefined) return html`<${Waiting} read=${trace} />`
  if (diff.value === undefined) return html`<${Waiting} read=${diff} />`
  const { pre, post } = diff.value
  const storage = trace.value.storage.find((each) => each.address.toLowerCase() === address)
  const lines = [...partTexts(pre[address] ?? {}, post[address] ?? {}), ...(storage?.changes ?? [])]
  const title = html`<a class="strong" href=${linkTo(['block', Number(blockNumber)])}>${count(Number(blockNumber))}</a> <${HexLink} value=${hash} to="tx" /> <span class="dim">${callText(of, names)}</span>`
  return html`<${Group} title=${title} lines=${lines.length === 0 ? ['nothing changed'] : lines} />`
}

/** Of devchain_directChanges: an account after a block, before and after what was set; null: there is none. */
interface RpcDirectChange {
  readonly blockNumber: string
  readonly blockHash: string
  readonly before: RpcAccountPart | null
  readonly after: RpcAccountPart | null
  readonly storage: readonly string[]
}

function DirectEntry({ of }: { of: RpcDirectChange }): VNode {
  const { blockNumber, blockHash, before, after, storage } = of
  const title = html`<a class="strong" href=${linkTo(['block', blockHash])}>${count(Number(blockNumber))}</a> <span class="dim">set after this block, without a transaction</span>`
  const parts = partTexts(before ?? {}, after ?? { balance: '0x0', nonce: '0x0', code: '0x' })
  return html`<${Group} title=${title} lines=${[...parts, ...storage]} />`
}

/** The parts of an account: what one has that nobody used, and how a value is shown. */
const PARTS = {
  balance: ['0x0', (value: string) => ether(BigInt(value))],
  nonce: ['0x0', (value: string) => count(BigInt(value))],
  code: ['0x', (value: string) => (value === '0x' ? 'none' : plural(value.length / 2 - 1, 'byte'))],
} as const

function partTexts(pre: RpcAccountPart, post: RpcAccountPart): readonly string[] {
  return Object.entries(PARTS).flatMap(([part, [unused, text]]) => {
    const [from, to] = [pre[part] ?? unused, post[part]]
    return to === undefined || to === from ? [] : [`${part} ${text(`${from}`)} → ${text(`${to}`)}`]
  })
}
