// The functions of a contract as forms: read, or simulate and send.
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { impersonating } from '../acts/acts.ts'
import type { RpcCall } from '../acts/callcode.ts'
import {
  type AbiFunction,
  dataOf,
  functionsOf,
  hintOf,
  isRead,
  labelOf,
  resultsOf,
  signatureOf,
} from '../data/abi.ts'
import { useOwned } from '../data/accounts.ts'
import { hex } from '../data/format.ts'
import { parseAddress, parseEther } from '../data/parse.ts'
import type { BlockParam } from '../data/time.ts'
import { html } from '../html.ts'
import { Empty, Linked } from '../parts/basics.ts'
import { CallCode, type Run, RunResult, useRun } from '../parts/calls.ts'
import { FormField } from '../parts/fields.ts'

type FunctionsProps = Readonly<{ address: string; abi: readonly unknown[]; block: BlockParam }>

export function Functions({ address, abi, block }: FunctionsProps): VNode {
  const all = functionsOf(abi)
  const groups = [
    ['Read', all.filter(isRead)],
    ['Write', all.filter((each) => !isRead(each))],
  ] as const
  if (all.length === 0) return html`<${Empty}>The ABI has no functions.<//>`
  return html`<div>${groups.map(
    ([title, items]) =>
      items.length > 0 &&
      html`<section aria-label=${title}><h3 class="inset">${title}</h3>${items.map(
        (item) =>
          html`<${FunctionForm} key=${signatureOf(item)} address=${address} item=${item} block=${block} />`,
      )}</section>`,
  )}</div>`
}

type FormProps = Readonly<{ address: string; item: AbiFunction; block: BlockParam }>

function FunctionForm(props: FormProps): VNode {
  const { item } = props
  const [isOpen, setOpen] = useState(false)
  return html`<details class="function" onToggle=${(event: Event) => setOpen((event.currentTarget as HTMLDetailsElement).open)}>
    <summary class="inset"><code class="dim"><b>${item.name}</b>${signatureOf(item).slice(item.name.length)}</code>
      ${item.stateMutability === 'payable' && html`<span class="badge warn">payable</span>`}</summary>
    ${isOpen && html`<${FunctionBody} ...${props} />`}
  </details>`
}

function FunctionBody({ address, item, block }: FormProps): VNode {
  const owned = useOwned()
  const [texts, setTexts] = useState<readonly string[]>(item.inputs.map(() => ''))
  const [order, setOrder] = useState({ from: '', value: '' })
  const [run, start] = useRun()
  const from = order.from || (owned[0] ?? '')
  const isPayable = item.stateMutability === 'payable'
  const calls = callsOf(item, {
    address,
    block,
    texts,
    from,
    owned,
    value: isPayable ? order.value : '',
  })
  const submit = (event: Event): void => {
    event.preventDefault()
    if (typeof calls !== 'string') void start(calls.first)
  }
  const isWrong = typeof calls === 'string'
  const isBusy = run.state === 'running'
  return html`<form class="form inset" onSubmit=${submit}>
    ${item.inputs.map(
      (input, i) =>
        html`<${FormField} key=${i} label=${labelOf(input, i)} kind=${input.type === 'address' ? 'account' : 'text'}
          hint=${[input.type, hintOf(input)].filter(Boolean).join(': ')} value=${texts[i]} onValue=${(
            value: string,
          ) => setTexts((before) => before.map((each, at) => (at === i ? value : each)))} />`,
    )}
    ${!isRead(item) && html`<${FormField} label="From" kind="account" value=${from} onValue=${(value: string) => setOrder((before) => ({ ...before, from: value }))} />`}
    ${isPayable && html`<${FormField} label="Value" kind="text" hint="1.5 ether" isOptional value=${order.value} onValue=${(value: string) => setOrder((before) => ({ ...before, value }))} />`}
    <div class="flow">
      ${isRead(item) ? html`<button type="submit" class="main" disabled=${isWrong || isBusy}>Read</button>` : html`<button type="submit" disabled=${isWrong || isBusy}>Simulate</button><button type="button" class="main" disabled=${isWrong || isBusy} onClick=${() => typeof calls !== 'string' && void start(calls.send)}>Send</button>`}
      ${isWrong && html`<span class="dim">${calls}</span>`}
    </div>
    <${Outcome} run=${run} item=${item} />
    ${typeof calls !== 'string' && html`<${CallCode} calls=${isRead(item) ? calls.first : calls.send} />`}
  </form>`
}

interface CallOrder {
  readonly address: string
  readonly block: BlockParam
  readonly texts: readonly string[]
  readonly from: string
  readonly value: string
  readonly owned: readonly string[]
}

interface Calls {
  /** Changes nothing. */
  readonly first: readonly RpcCall[]
  readonly send: readonly RpcCall[]
}

/** The calls, or which field is missing or wrong. */
function callsOf(item: AbiFunction, order: CallOrder): Calls | string {
  try {
    const data = dataOf(item, order.texts)
    const to = order.address
    if (isRead(item))
      return { first: [{ method: 'eth_call', params: [{ to, data }, order.block] }], send: [] }
    const from = parseAddress(order.from)
    const value = order.value.trim() === '' ? undefined : hex(parseEther(order.value))
    const transaction = { from, to, data, value }
    return {
      first: [{ method: 'eth_call', params: [transaction, 'latest'] }],
      send: [
        ...impersonating(from, order.owned),
        { method: 'eth_sendTransaction', params: [transaction] },
      ],
    }
  } catch (error) {
    return (error as Error).message
  }
}

function Outcome({ run, item }: { run: Run; item: AbiFunction }): VNode {
  if (run.state !== 'done' || run.method !== 'eth_call') return html`<${RunResult} run=${run} />`
  const results = resultsIn(item, String(run.result))
  if (typeof results === 'string')
    return html`<div class="result" aria-live="polite"><p class="notice warn">${results}</p></div>`
  return html`<div class="result" aria-live="polite"><div class="notice success">${
    results.length === 0
      ? html`<p>${isRead(item) ? 'It returns nothing.' : 'It would succeed.'}</p>`
      : html`<dl>${results.map(([name, text]) => html`<div><dt>${name}</dt><dd><${Linked} text=${text} /></dd></div>`)}</dl>`
  }</div></div>`
}

function resultsIn(item: AbiFunction, data: string): ReturnType<typeof resultsOf> | string {
  try {
    return resultsOf(item, data)
  } catch {
    return `The result is not what the ABI says: ${data}`
  }
}
