// The sources of a contract, with numbered lines.
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { html } from '../html.ts'
import { Empty } from '../parts/basics.ts'

export function Source({ sources }: { sources: Readonly<Record<string, string>> }): VNode {
  const paths = Object.keys(sources)
  const [chosen, choose] = useState('')
  const path = paths.includes(chosen) ? chosen : paths[0]
  if (path === undefined)
    return html`<${Empty}>No source: the artifact has none, or the file changed after the compilation.<//>`
  const lines = (sources[path] ?? '').split('\n')
  return html`
    ${
      paths.length > 1 &&
      html`<label class="files"><span class="hidden">File</span><select value=${path} onChange=${(event: Event) => choose((event.currentTarget as HTMLSelectElement).value)}>${paths.map(
        (each) => html`<option>${each}</option>`,
      )}</select></label>`
    }
    <pre class="source" tabindex="0" aria-label=${path}>${lines.map((line) => html`<span>${line}${'\n'}</span>`)}</pre>`
}
