// The functions of a contract as forms: read, or simulate and send.
import { useState } from 'preact/hooks'
import { encodeFunctionData } from 'viem/utils'
import { sending } from '../acts/acts.ts'
import { call, type RpcCall } from '../acts/callcode.ts'
import { type FormValues, FROM, VALUE } from '../acts/fields.ts'
import {
  type AbiFunction,
  fieldOf,
  functionsOf,
  isRead,
  resultsOf,
  signatureOf,
} from '../data/abi.ts'
import type { BlockParam } from '../data/time.ts'
import { useOwned } from '../data/use.ts'
import { html, type VNode } from '../html.ts'
import { Empty, Linked, Waiting } from '../parts/basics.ts'
import { type Run, RunResult } from '../parts/calls.ts'
import { CallForm } from '../parts/form.ts'

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

function FunctionBody({ address: to, item, block }: FormProps): VNode {
  const read = useOwned()
  const { value: owned } = read
  if (owned === undefined) return html`<${Waiting} read=${read} />`
  const orderOf = ({ from, value, ...args }: FormValues): FormValues => {
    const data = encodeFunctionData({ abi: [item], args: Object.values(args) })
    return { from, to, data, value }
  }
  const callAt = (at: BlockParam) => (values: FormValues) => [call('eth_call', orderOf(values), at)]
  const send = (values: FormValues): readonly RpcCall[] => sending(orderOf(values), owned)
  const isPayable = item.stateMutability === 'payable'
  const sent = [FROM, ...(isPayable ? [VALUE] : [])]
  const fields = [...item.inputs.map(fieldOf), ...(isRead(item) ? [] : sent)]
  const buttons = isRead(item)
    ? { Read: callAt(block) }
    : { Simulate: callAt('latest'), Send: send }
  return html`<${CallForm} fields=${fields} buttons=${buttons} start=${{ from: owned[0] }}
    result=${(run: Run) => html`<${Outcome} run=${run} item=${item} />`} />`
}

function Outcome({ run, item }: { run: Run; item: AbiFunction }): VNode {
  if (run.state !== 'done' || run.method !== 'eth_call') return html`<${RunResult} run=${run} />`
  const results = resultsOf(item, String(run.result))
  if (results === undefined)
    return html`<div class="result" aria-live="polite"><p class="notice warn">The result is not what the ABI says: ${run.result}</p></div>`
  return html`<div class="result" aria-live="polite"><div class="notice success">${
    results.length === 0
      ? html`<p>${isRead(item) ? 'It returns nothing.' : 'It would succeed.'}</p>`
      : html`<dl>${results.map(([name, text]) => html`<div><dt>${name}</dt><dd><${Linked} text=${text} /></dd></div>`)}</dl>`
  }</div></div>`
}
