// The live log: calls of all clients but this page, filtered and searched.
import { useMemo, useState } from 'preact/hooks'
import { bytes, plural, short } from '../../core/format.ts'
import { callLog, type LoggedCall } from '../data/calllog.ts'
import { cut, isHash } from '../data/format.ts'
import { linkTo } from '../data/route.ts'
import { useEvents } from '../data/use.ts'
import { html, typedIn, type VNode } from '../html.ts'
import { Panel } from '../parts/basics.ts'
import { Cell, List } from '../parts/list.ts'

const FILTERS: Readonly<Record<string, (call: LoggedCall) => boolean>> = {
  'All calls': () => true,
  'Failed calls': ({ error }) => error !== null,
  'Console lines': ({ method }) => method === 'console.log',
  Transactions: ({ method }) => /send.*Transaction|sendCalls/.test(method),
  'Calls of contracts': ({ method }) => /^eth_(call|estimateGas|simulate)/.test(method),
  'Acts on the chain': ({ method }) =>
    /^(evm|hardhat|anvil|devchain|debug_set|miner)_?/.test(method),
}

const FILTER_NAMES = Object.keys(FILTERS)

export function LogView(): VNode {
  const log = callLog()
  useEvents(log, 'change')
  const [filter, setFilter] = useState('All calls')
  const [word, setWord] = useState('')
  const { calls } = log
  const last = calls.at(-1)?.id
  const found = useMemo(
    () => calls.filter((call) => FILTERS[filter]!(call) && includes(call, word)).reverse(),
    [calls, last, filter, word],
  )
  return html`<h1 class="hidden">Log</h1>
    <${Panel} title="Calls" note=${plural(calls.length, 'call')} className="fill">
      <div class="filter flow inset">
        <select aria-label="Kind of calls" value=${filter} onChange=${(event: Event) => setFilter(typedIn(event))}>${FILTER_NAMES.map((each) => html`<option>${each}</option>`)}</select>
        <input type="search" aria-label="Search calls" placeholder="Search method, parameters, errors" value=${word}
          onInput=${(event: Event) => setWord(typedIn(event))} />
        <button type="button" onClick=${() => log.clear()}>Clear</button>
      </div>
      <${List} key=${`${filter} ${word}`} label="Calls" kind="logged" columns=${['Time', 'Method', 'Call', 'Result', 'Took']} items=${found} added=${found.length} rowHeight=${36}
        empty=${calls.length === 0 ? 'No calls yet. Calls of other clients appear here as they come.' : 'No call matches.'}
        keyOf=${({ id }: LoggedCall) => id} row=${(call: LoggedCall) => html`<${CallCells} call=${call} />`} />
    <//>`
}

function includes({ method, text, params, error, result }: LoggedCall, word: string): boolean {
  const wanted = word.trim().toLowerCase()
  if (wanted === '') return true
  const all = `${method} ${text ?? ''} ${error?.message ?? ''} ${JSON.stringify([params, result])}`
  return all.toLowerCase().includes(wanted)
}

function CallCells({ call }: { call: LoggedCall }): VNode {
  const { at, method, params, durationMs, result, error, text } = call
  const shown = JSON.stringify(params) ?? ''
  const outcome =
    error?.message ?? (typeof result === 'string' ? result : (JSON.stringify(result) ?? ''))
  return html`
    <${Cell} className="dim">${new Date(at).toTimeString().slice(0, 8)}<//>
    <${Cell} className=${error === null ? '' : 'bad'}>${method}<//>
    <${Cell} className=${text === null ? 'dim mono' : ''}><span title=${cut(text ?? shown, 2_000)}>${text ?? shown.slice(1, -1)}</span><//>
    <${Cell} className=${error === null ? 'dim' : 'bad'}>${
      // the words that other methods return may look like hashes
      error === null && /send.*Transaction/i.test(method) && isHash(outcome)
        ? html`<a class="mono" href=${linkTo(['tx', outcome])} title=${outcome}>${short(outcome)}</a>`
        : html`<span title=${outcome}>${isHash(outcome) ? bytes(outcome) : outcome}</span>`
    }<//>
    <${Cell} className="dim">${method !== 'console.log' && `${durationMs < 10 ? durationMs.toFixed(1) : Math.round(durationMs)} ms`}<//>`
}
