// The sources of a contract, a file at a time.
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { html, typedIn } from '../html.ts'
import { Empty } from '../parts/basics.ts'
import { Source } from '../parts/source.ts'

export function Sources({ sources }: { sources: Readonly<Record<string, string>> }): VNode {
  const paths = Object.keys(sources)
  const [chosen, choose] = useState('')
  const path = paths.includes(chosen) ? chosen : paths[0]
  if (path === undefined)
    return html`<${Empty}>No source: the artifact has none, or the file changed after the compilation.<//>`
  return html`${
    paths.length > 1 &&
    html`<label class="inset"><span class="hidden">File</span><select value=${path} onChange=${(event: Event) => choose(typedIn(event))}>${paths.map(
      (each) => html`<option>${each}</option>`,
    )}</select></label>`
  }<div class="whole-source"><${Source} path=${path} text=${sources[path]} /></div>`
}
