// The keyboard shortcuts, in a dialog.
import type { VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { html } from '../html.ts'
import { LISTED } from '../views/index.ts'

export function Help({ onClose }: { onClose: () => void }): VNode {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  const keys = [
    ['/', 'Search'],
    ...LISTED.map(({ key, title }) => [`g ${key}`, title]),
    ['↑ ↓', 'Move in a list'],
    ['Esc', 'Leave a field or a dialog'],
    ['?', 'This help'],
  ]
  return html`<dialog ref=${dialog} class="help" aria-label="Keyboard shortcuts" onClose=${onClose}>
    <h2>Keyboard shortcuts</h2>
    <dl>${keys.map(([key, what]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${what}</dd></div>`)}</dl>
    <form method="dialog"><button type="submit">Close</button></form>
  </dialog>`
}
