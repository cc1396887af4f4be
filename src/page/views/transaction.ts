// A transaction: what it did, and what it cost.
import type { VNode } from 'preact'
import { number as count, ether, fee, plural } from '../../core/format.ts'
import { argumentsIn, eventIn, type NamedValues } from '../data/abi.ts'
import { useNames } from '../data/accounts.ts'
import { linkTo, type ViewProps } from '../data/route.ts'
import type { LinePlace } from '../data/run.ts'
import type {
  RpcLeftBlock,
  RpcLog,
  RpcReceipt,
  RpcSources,
  RpcTrace,
  RpcTraceNode,
  RpcTransaction,
} from '../data/shapes.ts'
import { NOTHING, useRead } from '../data/use.ts'
import { html } from '../html.ts'
import {
  Badge,
  Empty,
  Fact,
  Facts,
  Hex,
  HexLink,
  Linked,
  Long,
  Panel,
  Title,
  Waiting,
} from '../parts/basics.ts'
import { CallTree } from '../parts/calltree.ts'
import { ChangeGroup } from '../parts/changes.ts'
import { Excerpt } from '../parts/source.ts'
import {
  callText,
  type RpcDescription,
  useDescription,
  useTransaction,
} from '../parts/transactions.ts'
import type { RpcContract } from './account.ts'

const MOST_EVENTS = 500

export function TransactionView({ route: { parts } }: ViewProps): VNode {
  const hash = parts[1] ?? ''
  const { read, receipt, left } = useTransaction(hash, 'now')
  const names = useDescription(hash)
  if (read.value === undefined) return html`<h1>Transaction</h1><${Waiting} read=${read} />`
  if (read.value === null)
    return html`<h1>Transaction</h1><${Empty}>The chain has no such transaction. A reset may have dropped it.<//>`
  const transaction = read.value
  return html`
    <div class="title flow"><${Title} text=${callText(transaction, names)} /><${OutcomeBadge} receipt=${receipt} />
      ${left && html`<${Badge} kind="warn">not in the chain: a revert or a reorg left it<//>`}
      ${receipt && html`<nav aria-label="Transaction"><a class="button" href=${linkTo(['debug', hash])}>Debug step by step</a></nav>`}
    </div>
    ${receipt?.status === '0x0' && html`<${Explanation} hash=${hash} error=${names?.error ?? 'it failed'} />`}
    <${Panel} title="Transaction"><${TransactionFacts} ...${{ transaction, receipt, names, left }} /><//>
    ${names && names.console.length > 0 && html`<${Panel} title="Console"><ol class="inset">${names.console.map((line) => html`<li><code><${Linked} text=${line} /></code></li>`)}</ol><//>`}
    ${receipt && html`<${Trace} hash=${hash} />`}
    ${receipt && receipt.logs.length > 0 && html`<${Events} receipt=${receipt} names=${names} />`}`
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
    ${
      storage.length > 0 &&
      html`<${Panel} title="Storage changes">${storage.map((each) => html`<${ChangeGroup} ...${each} />`)}<//>`
    }`
}

function Events(props: { receipt: RpcReceipt; names: RpcDescription | null | undefined }): VNode {
  const { receipt, names } = props
  return html`<${Panel} title="Events" note=${count(receipt.logs.length)}><ol class="inset">${receipt.logs
    .slice(0, MOST_EVENTS)
    .map((log, i) => html`<${Event} log=${log} text=${names?.events[i]?.text} />`)}</ol>${
    receipt.logs.length > MOST_EVENTS &&
    html`<${Empty}>Only the first ${MOST_EVENTS} are shown.<//>`
  }<//>`
}

/** In words, then the values that lead somewhere. */
function Event({ log, text }: { log: RpcLog; text: string | null | undefined }): VNode {
  const { address, topics, data } = log
  const name = useNames([address]).get(address.toLowerCase())
  const { value } = useRead<RpcContract | null>('devchain_contract', [address], 'era')
  const values = eventIn(value?.abi ?? [], log)?.values ?? []
  return html`<li><${HexLink} value=${address} to=${['address', address]} name=${name} /> ${
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

type OutcomeProps = Readonly<{ receipt: RpcReceipt | null | undefined }>

function OutcomeBadge({ receipt }: OutcomeProps): VNode | false {
  if (receipt === undefined) return false
  if (receipt === null) return html`<${Badge} kind="warn">Pending<//>`
  return receipt.status === '0x0'
    ? html`<${Badge} kind="bad">Failed<//>`
    : html`<${Badge} kind="good">Succeeded<//>`
}

interface TransactionFactsProps {
  readonly transaction: RpcTransaction
  readonly receipt: RpcReceipt | null | undefined
  readonly names: RpcDescription | null | undefined
  readonly left: RpcLeftBlock | undefined
}

function TransactionFacts({ transaction, receipt, names, left }: TransactionFactsProps): VNode {
  const { hash, from, to, value, nonce, gas, type, input, blockNumber } = transaction
  const created = receipt?.contractAddress
  const used = receipt ? BigInt(receipt.gasUsed) : undefined
  const price = BigInt(receipt?.effectiveGasPrice ?? 0)
  const target = names?.to ?? undefined
  const account = (address: string, name: string | undefined): VNode =>
    html`<${HexLink} value=${address} to=${['address', address]} name=${name} isWhole />`
  const block = (number: number): VNode =>
    html`<a href=${linkTo(['block', left?.hash ?? number])}>${count(number)}</a>`
  return html`<${Facts}>
    <${Fact} name="Hash"><${Hex} value=${hash} isWhole /><//>
    <${Fact} name="Block">${blockNumber === null ? 'in the pool' : block(Number(blockNumber))}<//>
    <${Fact} name="From">${account(from, names?.from ?? undefined)}<//>
    <${Fact} name="To">${to === null ? undefined : account(to, target)}<//>
    <${Fact} name="Created">${created ? account(created, target) : undefined}<//>
    <${Fact} name="Value">${ether(BigInt(value))}<//>
    <${Fact} name="Gas">${used !== undefined && `${count(used)} used `}<span class="dim">limit ${count(Number(gas))}</span><//>
    <${Fact} name="Fee">${used && html`${ether(used * price)} <span class="dim">${fee(price)} per gas</span>`}<//>
    <${Fact} name="Nonce">${count(Number(nonce))}<//>
    <${Fact} name="Type">${['legacy', 'access list', 'dynamic fee', 'blob', 'set code'][Number(type)] ?? type}<//>
    <${Fact} name="Input">${input === '0x' ? 'none' : html`<${Input} to=${to} input=${input} />`}<//>
  <//>`
}
