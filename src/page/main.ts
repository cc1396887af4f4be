// The page that a browser gets at the URL of a chain, an ordinary client of its JSON-RPC: the frame around all views.
import { type ComponentType, render, type VNode } from 'preact'
import { useEffect, useErrorBoundary, useRef, useState } from 'preact/hooks'
import { number as count, short } from '../core/format.ts'
import { client } from './data/chain.ts'
import { go, linkTo, type Route, useRoute, type ViewProps } from './data/route.ts'
import { placeOf } from './data/search.ts'
import { useView } from './data/use.ts'
import { classes, html } from './html.ts'
import { Failure } from './parts/basics.ts'
import { useKeys } from './parts/keys.ts'
import { AccountView } from './views/account.ts'
import { AccountsView } from './views/accounts.ts'
import { ActView } from './views/act.ts'
import { BlockView } from './views/block.ts'
import { DebuggerView } from './views/debugger.ts'
import { LiveView } from './views/live.ts'
import { LogView } from './views/log.ts'
import { NetworkView } from './views/network.ts'
import { PastBar, TimeView } from './views/time.ts'
import { TransactionView } from './views/transaction.ts'

interface ViewEntry {
  readonly path: string
  readonly title: string
  /** Goes there after `g`. A view without one is of one thing, which the second part of the route names. */
  readonly key?: string
  /** Fills the window, and its parts scroll. */
  readonly isFull?: boolean
  readonly view: ComponentType<ViewProps>
}

const LISTED: readonly ViewEntry[] = [
  { path: '', title: 'Live', key: 'l', isFull: true, view: LiveView },
  { path: 'log', title: 'Log', key: 'o', isFull: true, view: LogView },
  { path: 'accounts', title: 'Accounts', key: 'c', isFull: true, view: AccountsView },
  { path: 'network', title: 'Network', key: 'n', view: NetworkView },
  { path: 'act', title: 'Act', key: 'a', view: ActView },
  { path: 'time', title: 'Time', key: 't', view: TimeView },
]

const SINGLE: readonly ViewEntry[] = [
  { path: 'block', title: 'Block', view: BlockView },
  { path: 'tx', title: 'Transaction', view: TransactionView },
  { path: 'debug', title: 'Debugger', isFull: true, view: DebuggerView },
  { path: 'address', title: 'Account', view: AccountView },
]

function viewAt({ parts: [path = '', id, ...more] }: Route): ViewEntry | undefined {
  if (more.length > 0) return undefined
  return (id === undefined ? LISTED : SINGLE).find((each) => each.path === path)
}

function titleOfView({ title }: ViewEntry, { parts: [, id] }: Route): string {
  if (id === undefined) return title
  return `${title} ${/^\d+$/.test(id) ? count(Number(id)) : short(id)}`
}

function App(): VNode {
  const route = useRoute()
  const [isHelping, setHelping] = useState(false)
  useShortcuts(() => setHelping((is) => !is))
  const entry = viewAt(route)
  const arriving = useArriving(route.parts.join('/'))
  const title = entry === undefined ? 'Not found' : titleOfView(entry, route)
  useEffect(() => {
    document.title = `${title} · devchain`
  }, [title])
  return html`
    <a class="skip hidden" href="#main" onClick=${skip}>Skip to content</a>
    <${Header} onHelp=${() => setHelping(true)} />
    <${Navigation} current=${entry} />
    <main id="main" tabindex="-1" class=${classes(entry?.isFull && 'full', arriving)}>
      <${Problem} />
      <${PastBar} route=${route} />
      ${
        entry === undefined
          ? html`<h1>Nothing here</h1><p>There is no page at this address.</p><p><a href="#/">Show the chain</a></p>`
          : html`<${View} key=${route.parts.join('/')} entry=${entry} route=${route} />`
      }
    </main>
    ${isHelping && html`<${Help} onClose=${() => setHelping(false)} />`}
  `
}

/** What a client added, such as an ABI, may be other than it should be: the rest of the page goes on. */
function View({ entry, route }: ViewProps & { entry: ViewEntry }): VNode {
  const [error] = useErrorBoundary()
  return error === undefined
    ? html`<${entry.view} route=${route} />`
    : html`<h1>${entry.title}</h1><${Failure} error=${new Error(`cannot show this: ${error}`)} />`
}

/** Drawings without a request: a view asks again with what it read, in a task after it is drawn. */
const QUIET_DRAWINGS = 3

/** Milliseconds from the connection on, after which a view is shown down to the first part that is still read. */
const MOST_ARRIVING_MS = 2_000

/** The class of a view that still reads what it shows first: not all of it is seen, so that nothing moves under its reader. */
function useArriving(view: string): string {
  const [shown, setShown] = useState({ view: '', how: 'arriving' })
  useEffect(() => {
    let [quiet, sent, sinceMs, how, isGone] = [0, 0, performance.now(), 'arriving', false]
    const look = (): void => {
      if (isGone) return
      const { socket } = client
      const { status } = client.view
      if (status === 'connecting') sinceMs = performance.now()
      // a request may have been sent and answered since the last look
      const isQuiet = status !== 'connecting' && !socket.isWaiting && socket.sent === sent
      quiet = isQuiet ? quiet + 1 : 0
      sent = socket.sent
      const isLate = performance.now() - sinceMs > MOST_ARRIVING_MS
      const next = quiet >= QUIET_DRAWINGS ? '' : isLate ? 'late' : 'arriving'
      if (next !== how) setShown({ view, how: next })
      how = next
      if (how !== '') requestAnimationFrame(() => setTimeout(look))
    }
    look()
    return () => {
      isGone = true
    }
  }, [view])
  return shown.view === view ? shown.how : 'arriving'
}

function skip(event: Event): void {
  event.preventDefault()
  document.getElementById('main')?.focus()
}

const STATUS = {
  open: ['good', 'Live'],
  connecting: ['warn', 'Connecting'],
  lost: ['bad', 'Reconnecting'],
} as const

function Header({ onHelp }: { onHelp: () => void }): VNode {
  const { path } = client
  const { head, status, chainId, pending } = useView()
  const [kind, word] = STATUS[status]
  return html`<header class="top">
    <a class="brand strong flow" href="#/" aria-label="devchain"><img src="/page.svg" alt="" width="22" height="22" /><span>devchain</span></a>
    <span class="where dim cut" title="Path and id of the chain">${path === '/' ? '' : `${path} `}${chainId === undefined ? '' : `chain ${chainId}`}</span>
    <${Search} />
    <div class="now flow">
      <span class="pending warn" title="Transactions in the pool">${pending > 0 && `${count(pending)} pending`}</span>
      <a class="height strong" href=${head ? linkTo(['block', head.number]) : '#/'} title="Newest block">
        <span class="hidden">Newest block </span>${head ? `#${count(head.number)}` : ''}</a>
      <span class="status dim" role="status"><i class=${`outcome ${kind}`}></i>${word}</span>
      <button type="button" class="quiet" onClick=${onHelp} aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)">?</button>
    </div>
  </header>`
}

/** `/` goes there. */
function Search(): VNode {
  const field = useRef<HTMLInputElement>(null)
  const [problem, setProblem] = useState('')
  useKeys((event) => {
    if (event.key !== '/') return
    event.preventDefault()
    field.current!.focus()
  })
  const find = async (event: Event): Promise<void> => {
    event.preventDefault()
    const input = field.current!
    const text = input.value.trim()
    if (text === '') return
    const place = await placeOf(text)
    if (place === undefined) return setProblem(`nothing found for ${text}`)
    setProblem('')
    input.value = ''
    input.blur()
    go(linkTo(place))
  }
  return html`<form class="search flow" role="search" onSubmit=${find}>
    <input ref=${field} type="search" spellcheck=${false} autocomplete="off" aria-label="Search"
      placeholder="Block, transaction, address or name" onInput=${() => setProblem('')} />
    <kbd aria-hidden="true">/</kbd>
    <span class="problem notice bad" role="alert">${problem}</span>
  </form>`
}

function Navigation({ current }: { current: ViewEntry | undefined }): VNode {
  return html`<nav class="views" aria-label="Views">${LISTED.map(
    (entry) =>
      html`<a href=${linkTo([entry.path])} aria-current=${entry === current ? 'page' : undefined}
        title=${`${entry.title} (g ${entry.key})`}>${entry.title}</a>`,
  )}</nav>`
}

function Problem(): VNode | false {
  const { status, problem } = useView()
  if (problem !== undefined)
    return html`<p class="failure notice bad" role="alert">This page cannot read the chain: ${problem}</p>`
  return (
    status === 'lost' &&
    html`<p class="notice warn" role="alert">devchain does not respond${client.path !== '/' && ` at ${client.path}`}. The page goes on when it is back.</p>`
  )
}

/** `?` helps, `g` and a letter go to a view. */
function useShortcuts(help: () => void): void {
  const isGoing = useRef(false)
  useKeys(({ key }) => {
    const view = isGoing.current && LISTED.find((each) => each.key === key)
    isGoing.current = key === 'g'
    if (view) go(linkTo([view.path]))
    else if (key === '?') help()
  })
}

/** The keyboard shortcuts, in a dialog. */
function Help({ onClose }: { onClose: () => void }): VNode {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  const keys = [
    ['/', 'Search'],
    ...LISTED.map(({ key, title }) => [`g ${key}`, title]),
    ['↑ ↓', 'Move in a list'],
    ['← →', 'Move in time, or by steps in the debugger'],
    ['Shift ← →', 'Move by marks, or by lines'],
    ['Esc', 'Leave a field or a dialog'],
    ['?', 'This help'],
  ]
  return html`<dialog ref=${dialog} class="help" aria-label="Keyboard shortcuts" onClose=${onClose}>
    <h2>Keyboard shortcuts</h2>
    <dl>${keys.map(([key, what]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${what}</dd></div>`)}</dl>
    <form method="dialog"><button type="submit">Close</button></form>
  </dialog>`
}

addEventListener('focus', () => client.socket.hurry())
document.body.textContent = ''
render(html`<${App} />`, document.body)
