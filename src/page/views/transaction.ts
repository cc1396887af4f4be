// A transaction: what it did, and what it cost.
import { useMemo, useState } from 'preact/hooks'
import { number as count, ether, fee, plural, short } from '../../core/format.ts'
import { argumentsIn, eventIn, type NamedValues } from '../data/abi.ts'
import { cut, nameText } from '../data/format.ts'
import { linkTo, type ViewProps } from '../data/route.ts'
import type { LinePlace } from '../data/run.ts'
import type { RpcLog, RpcSources, RpcTrace, RpcTraceNode, RpcTransaction } from '../data/shapes.ts'
import { NOTHING, useNames, useRead } from '../data/use.ts'
import { classes, html, type VNode } from '../html.ts'
import { Empty, Fact, Hex, HexLink, Linked, Long, Panel, Title, Waiting } from '../parts/basics.ts'
import { Cell, indentAt, List } from '../parts/list.ts'
import { Excerpt } from '../parts/source.ts'
import { ChangeGroup } from '../parts/storage.ts'
import {
  callText,
  hasFailed,
  OutcomeBadge,
  useDescription,
  useTransaction,
} from '../parts/transactions.ts'
import type { RpcContract } from './account.ts'

const MOST_EVENTS = 500

type Names = ReturnType<typeof useDescription>

export function TransactionView({ route: { parts } }: ViewProps): VNode {
  const hash = parts[1] ?? ''
  const { read, receipt, left } = useTransaction(hash, 'now')
  const names = useDescription(hash)
  if (read.value === undefined) return html`<h1>Transaction</h1><${Waiting} read=${read} />`
  if (read.value === null)
    return html`<h1>Transaction</h1><${Empty}>The chain has no such transaction. A reset may have dropped it.<//>`
  const transaction = read.value
  return html`
    <div class="title flow"><${Title} text=${callText(transaction, names)} /><${OutcomeBadge} receipt=${receipt} error=${names?.error} />
      ${left && html`<span class="badge warn">not in the chain: a revert or a reorg left it</span>`}
      ${receipt && html`<nav aria-label="Transaction"><a class="button" href=${linkTo(['debug', hash])}>Debug step by step</a></nav>`}
    </div>
    ${receipt && hasFailed(receipt, names?.error) && html`<${Explanation} hash=${hash} error=${names?.error ?? 'it failed'} />`}
    <${Panel} title="Transaction"><${TransactionFacts} ...${{ transaction, receipt, names, left }} /><//>
    ${names && names.console.length > 0 && html`<${Panel} title="Console"><ol class="inset">${names.console.map((line) => html`<li><code><${Linked} text=${line} /></code></li>`)}</ol><//>`}
    ${receipt && html`<${Trace} hash=${hash} />`}
    ${receipt && receipt.logs.length > 0 && html`<${Events} logs=${receipt.logs} names=${names} />`}`
}

/** Why it failed, where, and the source there. */
function Explanation({ hash, error }: { hash: string; error: string }): VNode {
  const explained = useRead<readonly string[] | null>('devchain_explainTransaction', [hash], 'era')
  const trace = useRead<RpcTrace>('devchain_traceTransaction', [hash], 'era')
  const failing = trace.value && innermostFailure(trace.value.call)
  const isCreation = failing?.type.startsWith('CREATE') === true
  const code = isCreation ? { creation: failing?.input } : failing?.to
  const sources = useRead<RpcSources | null>(code ? 'devchain_sources' : '', [code], 'era')
  const isBusy = [explained, trace, ...(code ? [sources] : [])].includes(NOTHING)
  const [reason = error, ...stack] = explained.value ?? []
  const place = placeOf(stack[0], sources.value)
  // a long reason is shortened
  const output = trace.value?.call.output
  return html`<${Panel} title="Why it failed" className="failed" isBusy=${isBusy}>
    <p class="inset strong bad" role="alert"><${Linked} text=${reason} /></p>
    ${!isBusy && stack.length > 0 && html`<ol class="inset dim" aria-label="Solidity stack">${stack.map((line) => html`<li><code><${Long} text=${line} /></code></li>`)}</ol>`}
    ${!isBusy && (output?.length ?? 0) > 2 && html`<div class="inset dim">It returned <${Bytes} data=${output} /></div>`}
    ${!isBusy && place && html`<${Excerpt} text=${place.text} place=${place} />`}
  <//>`
}

/** The place that a line of a stack names, in one of the sources of the innermost account that failed. */
function placeOf(
  line = '',
  found: RpcSources | null | undefined,
): (LinePlace & { readonly text: string }) | undefined {
  const [, path = '', number = '0', column = '1'] =
    /\((?:about )?(.+):(\d+):(\d+)\)$/.exec(line) ?? []
  const text = found?.sources.find((each) => each.path === path)?.text
  const at = Number(number)
  const rest = { source: 0, line: at, column: Number(column), endLine: at, endColumn: 0 }
  return text === undefined ? undefined : { text, ...rest }
}

function innermostFailure(node: RpcTraceNode): RpcTraceNode {
  const inner = (node.steps ?? []).findLast(({ error }) => error !== undefined)
  return inner === undefined ? node : innermostFailure(inner)
}

function Trace({ hash }: { hash: string }): VNode {
  const read = useRead<RpcTrace>('devchain_traceTransaction', [hash], 'era')
  if (read.value === undefined) return html`<${Panel} title="Calls"><${Waiting} read=${read} /><//>`
  const { call, storage } = read.value
  return html`
    <${Panel} title="Calls"><${CallTree} call=${call} /><//>
    ${storage.length > 0 && html`<${Panel} title="Storage changes">${storage.map((each) => html`<${ChangeGroup} ...${each} />`)}<//>`}`
}

function Events({ logs, names }: { logs: readonly RpcLog[]; names: Names }): VNode {
  const shown = logs.slice(0, MOST_EVENTS)
  return html`<${Panel} title="Events" note=${count(logs.length)}>
    <ol class="inset">${shown.map((log, i) => html`<${Event} log=${log} text=${names?.events[i]?.text} />`)}</ol>
    ${logs.length > MOST_EVENTS && html`<${Empty}>Only the first ${MOST_EVENTS} are shown.<//>`}
  <//>`
}

/** In words, then the values that lead somewhere. */
function Event({ log, text }: { log: RpcLog; text: string | null | undefined }): VNode {
  const { address, topics, data } = log
  const name = useNames([address]).get(address.toLowerCase())
  const { value } = useRead<RpcContract | null>('devchain_contract', [address], 'era')
  const values = useMemo(() => eventIn(value?.abi ?? [], log)?.values ?? [], [value, log])
  return html`<li><${HexLink} value=${address} to="address" name=${name} /> ${
    text
      ? html`<code><${Long} text=${text} /></code>`
      : html`<code class="dim"><${Long} text=${[...topics, data].join(' ')} /></code>`
  } <${Values} of=${values.filter(([, each]) => /0x[\da-f]{40}/i.test(each))} /></li>`
}

function Values({ of }: { of: NamedValues }): VNode {
  return html`${of.map(([name, text]) => html`<span class="value"><span class="dim">${name}</span> <${Linked} text=${text} /></span> `)}`
}

function Bytes({ data }: { data: string }): VNode {
  return html`<details><summary>${plural(data.length / 2 - 1, 'byte')}</summary><code class="bytes">${data}</code></details>`
}

/** The arguments of a call by name, then its bytes. */
function Input({ to, input }: { to: string | null; input: string }): VNode {
  const method = to === null || input.length < 10 ? '' : 'devchain_contract'
  const { value } = useRead<RpcContract | null>(method, [to], 'era')
  const values = argumentsIn(value?.abi ?? [], input) ?? []
  return html`<${Values} of=${values} /><${Bytes} data=${input} />`
}

interface TransactionFactsProps extends Omit<ReturnType<typeof useTransaction>, 'read'> {
  readonly transaction: RpcTransaction
  readonly names: Names
}

function TransactionFacts({ transaction, receipt, names, left }: TransactionFactsProps): VNode {
  const { hash, from, to, value, nonce, gas, type, input, blockNumber } = transaction
  const created = receipt?.contractAddress
  const used = receipt ? BigInt(receipt.gasUsed) : undefined
  const price = BigInt(receipt?.effectiveGasPrice ?? 0)
  const blobs = BigInt(receipt?.blobGasUsed ?? 0) * BigInt(receipt?.blobGasPrice ?? 0)
  const account = (address: string, name?: string | null): VNode =>
    html`<${HexLink} value=${address} to="address" name=${name} isWhole />`
  const block = (number: number): VNode =>
    html`<a href=${linkTo(['block', left?.hash ?? number])}>${count(number)}</a>`
  return html`<dl class="facts">
    <${Fact} name="Hash"><${Hex} value=${hash} isWhole /><//>
    <${Fact} name="Block">${blockNumber === null ? 'in the pool' : block(Number(blockNumber))}<//>
    <${Fact} name="From">${account(from, names?.from)}<//>
    <${Fact} name="To">${to === null ? undefined : account(to, names?.to)}<//>
    <${Fact} name="Created">${created ? account(created, names?.to) : undefined}<//>
    <${Fact} name="Value">${ether(BigInt(value))}<//>
    <${Fact} name="Gas">${used !== undefined && `${count(used)} used `}<span class="dim">limit ${count(BigInt(gas))}</span><//>
    <${Fact} name="Fee">${used && html`${ether(used * price + blobs)} <span class="dim">${fee(price)} per gas${blobs > 0n && `, ${ether(blobs)} for blobs`}</span>`}<//>
    <${Fact} name="Nonce">${count(BigInt(nonce))}<//>
    <${Fact} name="Type">${['legacy', 'access list', 'dynamic fee', 'blob', 'set code'][Number(type)] ?? type}<//>
    <${Fact} name="Input">${input === '0x' ? 'none' : html`<${Input} to=${to} input=${input} />`}<//>
  </dl>`
}

type TreeRow = Readonly<{ key: string; depth: number; node: RpcTraceNode; isClosed: boolean }>

function CallTree({ call }: { call: RpcTraceNode }): VNode {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set())
  const rows = useMemo(() => rowsOf(call, closed), [call, closed])
  const toggle = (key: string): void => {
    const next = new Set(closed)
    if (!next.delete(key)) next.add(key)
    setClosed(next)
  }
  return html`<${List} label="Calls" kind="calls" columns=${['Call', 'Value', 'Gas used']} items=${rows} most=${24} rowHeight=${30}
    keyOf=${({ key }: TreeRow) => key} row=${(row: TreeRow) => html`<${NodeCells} row=${row} toggle=${toggle} />`} />`
}

function rowsOf(call: RpcTraceNode, closed: ReadonlySet<string>): readonly TreeRow[] {
  const rows: TreeRow[] = []
  const visit = (node: RpcTraceNode, depth: number, key: string): void => {
    const isClosed = closed.has(key)
    rows.push({ key, depth, node, isClosed })
    if (isClosed) return
    for (const [i, step] of (node.steps ?? []).entries()) visit(step, depth + 1, `${key}.${i}`)
  }
  visit(call, 0, '0')
  return rows
}

function NodeCells({ row, toggle }: { row: TreeRow; toggle: (key: string) => void }): VNode {
  const { key, depth, node, isClosed } = row
  const { type, name, value = '0x0', gasUsed, steps = [] } = node
  const isEvent = type === 'EVENT'
  const [word, colour] = KINDS[type] ?? [type.toLowerCase(), 'dim']
  // a contract may be called as an address looks
  const shown = node.to ? cut(nameText(name.split(/[.(]/, 1)[0]!, node.to)) : ''
  const text = shown.startsWith('“') ? `${cut(name)} ${short(node.to!)}` : cut(name)
  return html`
    <${Cell} className="node"><span style=${{ flex: 'none', width: indentAt(18 * depth) }}></span>
      ${
        steps.length > 0
          ? html`<button type="button" class="quiet fold" aria-expanded=${!isClosed} aria-label=${`Steps of ${cut(name, 100)}`} onClick=${() => toggle(key)}>${isClosed ? '+' : '−'}</button>`
          : html`<span class="fold"></span>`
      }
      <span class=${`badge ${colour}`}>${word}</span>
      <span class=${classes('cut', node.error !== undefined && 'bad')} title=${cut(name, 2_000)}>${
        node.to
          ? html`<a href=${linkTo(['address', node.to])} title=${node.to}>${text}</a>`
          : cut(name)
      }${node.result === undefined ? '' : html`<span class="dim"> → ${cut(node.result)}</span>`}${node.error === undefined ? '' : html`: ${cut(node.error)}`}</span>
    <//>
    <${Cell}>${!isEvent && BigInt(value) > 0n && ether(BigInt(value))}<//>
    <${Cell} className="dim">${gasUsed === undefined ? '' : count(Number(gasUsed))}<//>`
}

/** Word and colour. */
const KINDS: Readonly<Record<string, readonly [string, string]>> = {
  EVENT: ['event', 'accent'],
  STATICCALL: ['static', 'dim'],
  DELEGATECALL: ['delegate', 'dim'],
  CREATE: ['create', 'good'],
  CREATE2: ['create2', 'good'],
  SELFDESTRUCT: ['destroy', 'dim'],
}
