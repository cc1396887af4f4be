// Small parts of all views: hashes and addresses to copy, states of a read, panels and facts.
import { useState } from 'preact/hooks'
import { number as count, seen, short } from '../../core/format.ts'
import { cut, isAddress, isHash, nameText } from '../data/format.ts'
import { linkTo } from '../data/route.ts'
import { type Reading, useNames } from '../data/use.ts'
import { type Children, classes, html, type VNode } from '../html.ts'

/** Milliseconds for which a button says that it copied. */
const COPIED_MS = 1_200

export function Copy({ text, label = 'Copy' }: { text: string; label?: string }): VNode {
  const [isDone, setDone] = useState(false)
  const copy = async (): Promise<void> => {
    // only safe origins have a clipboard: localhost, but no address of a network
    if (navigator.clipboard === undefined) copyBySelection(text)
    else await navigator.clipboard.writeText(text)
    setDone(true)
    setTimeout(() => setDone(false), COPIED_MS)
  }
  return html`<button type="button" class=${classes('copy', isDone && 'done')} title=${label}
    aria-label=${isDone ? 'Copied' : label} onClick=${copy}></button>`
}

function copyBySelection(text: string): void {
  const area = document.createElement('textarea')
  area.value = text
  document.body.append(area)
  area.select()
  document.execCommand('copy')
  area.remove()
}

type HexProps = Readonly<{ value: string; isWhole?: boolean }>

/** A hash or an address: shortened, whole when pointed at, with a button that copies it. */
export function Hex({ value, isWhole = false }: HexProps): VNode {
  return html`<span class="hex"><span class="cut mono" title=${value}>${isWhole ? value : short(value)}</span><${Copy} text=${value} /></span>`
}

interface HexLinkProps extends HexProps {
  /** The view that shows it. */
  readonly to: 'address' | 'block' | 'tx'
  readonly name?: string | null
}

export function HexLink({ value, to, name, isWhole = false }: HexLinkProps): VNode {
  const text = name == null ? (isWhole ? value : short(value)) : nameText(name, value)
  return html`<span class="hex"><a href=${linkTo([to, value.toLowerCase()])} title=${value}
    class=${classes('cut', name == null && 'mono')}>${text}</a><${Copy} text=${value} /></span>`
}

/** Text of any length: its beginning, and all of it behind a disclosure. */
export function Long({ text, most = 300 }: { text: string; most?: number }): VNode | string {
  if (text.length <= most) return seen(text)
  return html`<details class="long"><summary>${cut(text, most)} <span class="dim">${count(text.length)} characters</span></summary>${text}</details>`
}

/** The heading of a view. */
export function Title({ text }: { text: string }): VNode {
  return html`<h1 title=${cut(text, MOST_TITLE) === text ? undefined : cut(text, 2_000)}>${cut(text, MOST_TITLE)}</h1>`
}

const MOST_TITLE = 80

/** Addresses and hashes of a text that become links. */
const MOST_LINKED = 40

/** Text whose addresses are links with names, and whose hashes can be copied. */
export function Linked({ text }: { text: string }): VNode | string {
  const parts = text.split(/(0x[\da-f]{64}|0x[\da-f]{40})(?![\da-f])/i, 2 * MOST_LINKED)
  const names = useNames(parts.filter(isAddress))
  if (parts.length === 1) return html`<${Long} text=${text} />`
  const rest = text.slice(parts.join('').length)
  return html`${parts.map((part) =>
    isAddress(part)
      ? html`<${HexLink} value=${part} to="address" name=${names.get(part.toLowerCase())} />`
      : isHash(part)
        ? html`<${Hex} value=${part} />`
        : html`<${Long} text=${part} />`,
  )}${rest !== '' && html`<${Long} text=${rest} />`}`
}

export function Panel(props: {
  readonly title: string
  readonly note?: Children
  readonly children?: Children
  readonly className?: string
  readonly isBusy?: boolean
}): VNode {
  const { title, note, children, className, isBusy } = props
  return html`<section class=${classes('panel', className)} aria-label=${title} aria-busy=${isBusy ? 'true' : undefined}>
    <header class="flow inset"><h2>${title}</h2>${note && html`<div class="note dim">${note}</div>`}</header>
    ${children}
  </section>`
}

/** Nothing if the value is undefined. */
export function Fact({ name, children }: { name: string; children?: Children }): VNode | false {
  return children !== undefined && html`<div><dt>${name}</dt><dd>${children}</dd></div>`
}

export function Empty({ children }: { children?: Children }): VNode {
  return html`<p class="dim inset">${children}</p>`
}

export function Failure({ error }: { error: Error }): VNode {
  return html`<p class="failure notice bad" role="alert"><${Long} text=${error.message} /></p>`
}

/** What stands for a value that is not there yet, or failed. */
export function Waiting({ read }: { read: Reading<unknown> }): VNode {
  return read.error === undefined
    ? html`<p class="dim inset" aria-busy="true">Reading…</p>`
    : html`<${Failure} error=${read.error} />`
}
