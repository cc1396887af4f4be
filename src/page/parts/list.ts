// A list of rows of one height, of which only those in sight exist.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type Children, html, type VNode } from '../html.ts'
import { moveByArrows } from './keys.ts'

interface ListProps<T> {
  readonly label: string
  /** Columns for the header, and for CSS the name of their grid. */
  readonly columns: readonly string[]
  readonly kind: string
  readonly items: readonly T[]
  /** Pixels. */
  readonly rowHeight?: number
  readonly keyOf: (item: T) => string | number
  readonly row: (item: T) => Children
  /** What to say in place of an empty list. */
  readonly empty?: Children
  /** Rows in sight: the list is as high as its items, up to these. Without it, it is as high as there is room. */
  readonly most?: number
  /** Rows that came in at the top since the list was first drawn: who has scrolled down keeps their place. */
  readonly added?: number
  /** A row that is scrolled into sight when it changes. */
  readonly focus?: number | undefined
}

/** Rows beyond the edges of what is in sight. */
const BEYOND = 6

/** Browsers draw nothing below some ten million pixels. */
const MOST_PIXELS = 8_000_000

export function List<T>(props: ListProps<T>): VNode {
  const { items, most, rowHeight = 40, empty } = props
  if (items.length === 0 && empty) return html`<p class="dim inset">${empty}</p>`
  const rows = html`<${Rows} ...${props} rowHeight=${rowHeight} />`
  if (most === undefined) return rows
  const height = `${(Math.min(items.length, most) + 1) * rowHeight + 4}px`
  return html`<div style=${{ height }}>${rows}</div>`
}

function Rows<T>(props: ListProps<T> & { readonly rowHeight: number }): VNode {
  const { label, columns, kind, items, rowHeight, keyOf, row, added = 0, focus } = props
  const total = Math.min(items.length, Math.floor(MOST_PIXELS / rowHeight))
  const scroller = useRef<HTMLDivElement>(null)
  const before = useRef(added)
  const [{ top, height }, setSight] = useState({ top: 0, height: 900 })
  const look = ({ scrollTop, clientHeight }: Element): void =>
    setSight({ top: scrollTop, height: clientHeight })
  useSize(scroller, look)
  useLayoutEffect(() => {
    const more = added - before.current
    before.current = added
    const box = scroller.current!
    if (more > 0 && box.scrollTop > 0) box.scrollTop += more * rowHeight
  }, [added])
  useLayoutEffect(() => {
    const box = scroller.current!
    const place = (focus ?? -1) * rowHeight
    const isSeen = place >= box.scrollTop && place + rowHeight <= box.scrollTop + box.clientHeight
    if (focus !== undefined && !isSeen) box.scrollTop = place - box.clientHeight / 3
  }, [focus, label])
  const first = Math.max(0, Math.floor(top / rowHeight) - BEYOND)
  const last = Math.min(total, Math.ceil((top + height) / rowHeight) + BEYOND)
  const style = { '--columns': `var(--${kind})` }
  const rows = items.slice(first, last).map(
    (item, i) => html`<div role="row" class="row" key=${keyOf(item)} aria-rowindex=${first + i + 2}
      style=${{ ...style, transform: `translateY(${(first + i) * rowHeight}px)`, height: `${rowHeight}px` }}>${row(item)}</div>`,
  )
  return html`<div class=${`list ${kind}`} role="table" aria-label=${label} aria-rowcount=${total + 1}>
    <div role="rowgroup" class="head dim"><div role="row" class="row" style=${style}>${columns.map(
      (name) => html`<div role="columnheader" class="cell cut">${name}</div>`,
    )}</div></div>
    <div role="rowgroup" class="rows" ref=${scroller} onScroll=${() => look(scroller.current!)} onKeyDown=${moveByArrows('.row')} tabindex="0" aria-label=${label}>
      <div role="presentation" class="sheet" style=${{ height: `${total * rowHeight}px` }}>${rows}</div>
    </div>
  </div>`
}

/** Looks at an element at first, and whenever its size changes. */
export function useSize(
  element: { readonly current: Element | null },
  look: (element: Element) => void,
): void {
  useEffect(() => {
    const box = element.current!
    look(box)
    const observer = new ResizeObserver(() => look(box))
    observer.observe(box)
    return () => observer.disconnect()
  }, [])
}

export function Cell(props: { children?: Children; className?: string }): VNode {
  const { children, className = '' } = props
  return html`<div role="cell" class=${`cell cut ${className}`}>${children}</div>`
}

/** Space before what is within something else; most of the cell is left for what it is. */
export function indentAt(pixels: number): string {
  return `min(${pixels}px, 40%)`
}
