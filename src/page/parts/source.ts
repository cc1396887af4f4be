// Source text: the files of a contract, one of which is seen, and the place that matters marked.
import { useState } from 'preact/hooks'
import type { LinePlace } from '../data/run.ts'
import { classes, html, typedIn, type VNode } from '../html.ts'
import { Empty } from './basics.ts'
import { List } from './list.ts'

/** Pixels. */
const LINE = 20

type SourceProps = Readonly<{ path: string; text: string; place?: LinePlace }>

/** The sources of a contract, a file at a time. */
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

/** A whole file; the marked line is scrolled into sight. */
export function Source({ path, text, place }: SourceProps): VNode {
  const lines = text.split('\n')
  return html`<${List} label=${path} kind="source" columns=${[path]} items=${lines.map((text, i) => ({ text, number: i + 1 }))} rowHeight=${LINE}
    keyOf=${({ number }: TextLine) => number} focus=${place && place.line - 1}
    row=${(line: TextLine) => html`<${Line} ...${line} place=${place} />`} />`
}

/** Lines before and after a place. */
const AROUND = 4

export function Excerpt({ text, place }: Required<Omit<SourceProps, 'path'>>): VNode {
  const { line } = place
  const first = Math.max(1, line - AROUND)
  const shown = text.split('\n').slice(first - 1, line + AROUND)
  return html`<div class="excerpt" role="table" tabindex="0" aria-label=${`Source around line ${line}`}>${shown.map(
    (each, i) =>
      html`<div role="row"><${Line} number=${first + i} text=${each} place=${place} /></div>`,
  )}</div>`
}

type TextLine = Readonly<{ number: number; text: string }>

function Line(props: TextLine & { place: LinePlace | undefined }): VNode {
  const { number, text, place } = props
  const isIn = place !== undefined && number >= place.line && number <= place.endLine
  const isFirst = number === place?.line
  const [from, to] =
    isFirst && place.endLine === place.line ? [place.column - 1, place.endColumn - 1] : [0, 0]
  return html`<div role="cell" class=${classes('line', isIn && 'in', isFirst && 'first')}><span class="line-number dim">${number}</span><code>${
    to > from
      ? html`${text.slice(0, from)}<mark>${text.slice(from, to)}</mark>${text.slice(to)}`
      : text
  }</code></div>`
}
