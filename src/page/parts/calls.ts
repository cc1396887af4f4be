// Calls that the page makes for somebody: shown before, to be copied, and with their result after.
import { useState } from 'preact/hooks'
import { number as count, plural } from '../../core/format.ts'
import { CALL_FORMS, type RpcCall } from '../acts/callcode.ts'
import { client } from '../data/chain.ts'
import { isHash } from '../data/format.ts'
import type { RpcReceipt, RpcReplayed, RpcRun } from '../data/shapes.ts'
import { CallError } from '../data/socket.ts'
import { useRead } from '../data/use.ts'
import { html, type VNode } from '../html.ts'
import { Copy, HexLink, Long } from './basics.ts'
import { Cell, List } from './list.ts'
import { Outcome } from './transactions.ts'

/** The calls as JSON, curl or viem, with a button that copies them. */
export function CallCode({ calls }: { calls: readonly RpcCall[] }): VNode {
  const [form, setForm] = useState('JSON-RPC')
  const url = `${location.origin}${location.pathname}`.replace(/(?<=\w)\/$/, '')
  const text = CALL_FORMS[form]!(calls, url)
  const forms = Object.keys(CALL_FORMS)
  return html`<div class="code panel">
    <div class="choices flow" role="group" aria-label="Form of the call">${forms.map(
      (each) =>
        html`<button type="button" class="quiet" aria-pressed=${each === form} onClick=${() => setForm(each)}>${each}</button>`,
    )}<${Copy} text=${text} label=${`Copy as ${form}`} /></div>
    <pre tabindex="0" aria-label=${`The call as ${form}`}>${text}</pre>
  </div>`
}

export interface Run {
  readonly state: 'idle' | 'running' | 'done' | 'failed'
  /** Of the last call. */
  readonly result?: unknown
  readonly error?: Error
  readonly method?: string
}

/** Makes calls one after the other, until one fails. */
export function useRun(): readonly [Run, (calls: readonly RpcCall[]) => Promise<void>] {
  const [run, setRun] = useState<Run>({ state: 'idle' })
  const start = async (calls: readonly RpcCall[]): Promise<void> => {
    setRun({ state: 'running' })
    let last: Run = { state: 'idle' }
    try {
      for (const { method, params } of calls) {
        last = { state: 'done', method, result: await client.request(method, ...params) }
      }
    } catch (error) {
      last = { state: 'failed', error: error as Error }
    }
    setRun(last)
  }
  return [run, start]
}

/** What came of a run: a link to the transaction, a value, or why it failed. */
export function RunResult({ run }: { run: Run }): VNode {
  return html`<div class="result" aria-live="polite" aria-busy=${run.state === 'running'}>
    ${run.state === 'failed' && html`<p class="failure notice bad" role="alert"><${Long} text=${reasonOf(run.error)} most=${1_000} /></p>`}
    ${run.state === 'done' && html`<${Result} run=${run} />`}
  </div>`
}

/** The error and the lines of the source, if they are known, else what the method said. */
function reasonOf(error: Error | undefined): string {
  if (error instanceof CallError && error.solidityStack.length > 0)
    return error.solidityStack.join('\n')
  return error?.message ?? ''
}

function Result({ run: { method, result } }: { run: Run }): VNode {
  if (method === 'eth_sendTransaction' && isHash(String(result)))
    return html`<${Sent} hash=${result} />`
  if (method === 'devchain_newChain') {
    const { path } = result as { readonly path: string }
    return html`<p class="success notice flow">Made. <a href=${`${path}#/time`}>Open ${path}</a></p>`
  }
  if (method === 'devchain_replay') return html`<${Replayed} all=${result} />`
  const text = typeof result === 'string' ? result : JSON.stringify(result, null, 2)
  return result === null || result === true
    ? html`<p class="success notice flow">Done.</p>`
    : html`<div class="success notice flow"><code><${Long} text=${text} most=${2_000} /></code><${Copy} text=${text} label="Copy the result" /></div>`
}

function Replayed({ all }: { all: readonly RpcReplayed[] }): VNode {
  const others = all.filter(({ before, after }) => JSON.stringify(before) !== JSON.stringify(after))
  return html`<div class="success notice flow"><p>Replayed ${plural(all.length, 'transaction')}: ${others.length === 0 ? 'all did the same' : `${count(others.length)} did not do the same`}.</p></div>
    <${List} label="Replayed" kind="left" columns=${['Transaction', 'Was', 'Is now']} items=${all} most=${8} rowHeight=${36} empty="They have no transactions."
      keyOf=${({ hash }: RpcReplayed) => hash} row=${(each: RpcReplayed) => html`<${ReplayedCells} ...${each} />`} />`
}

function ReplayedCells({ hash, before, after, refusal }: RpcReplayed): VNode {
  return html`
    <${Cell}><${HexLink} value=${hash} to="tx" /><//>
    <${Cell} className="dim">${runText(before)}<//>
    <${Cell} className=${after?.status ? '' : 'bad'}>${after === null ? `refused: ${refusal}` : runText(after)}<//>`
}

function runText({ status, error, gasUsed }: RpcRun): string {
  return `${status ? 'succeeded' : (error ?? 'failed')}, ${count(Number(gasUsed))} gas`
}

function Sent({ hash }: { hash: string }): VNode {
  const { value: receipt } = useRead<RpcReceipt | null>('eth_getTransactionReceipt', [hash], 'now')
  const created = receipt?.contractAddress
  return html`<div class="success notice flow"><${Outcome} receipt=${receipt} />
    <span>${receipt === null ? 'Waits in the pool' : receipt?.status === '0x0' ? 'Failed' : 'Mined'}</span>
    <${HexLink} value=${hash} to="tx" />
    ${created && html`<span>created</span><${HexLink} value=${created} to="address" />`}
  </div>`
}
