// The frame around all views: navigation, search, the state of the connection, and shortcuts.
import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { number as count } from '../core/format.ts'
import { go, linkTo, useRoute } from './data/route.ts'
import { placeOf } from './data/search.ts'
import { useChain, useView } from './data/use.ts'
import { classes, html } from './html.ts'
import { Help } from './parts/help.ts'
import { useKeys } from './parts/keys.ts'
import { LISTED, titleOfView, type ViewEntry, viewAt } from './views/index.ts'
import { PastBar } from './views/time.ts'

export function App(): VNode {
  const route = useRoute()
  const [isHelping, setHelping] = useState(false)
  const search = useRef<HTMLInputElement>(null)
  useShortcuts(search, () => setHelping((is) => !is))
  const entry = viewAt(route)
  const arriving = useArriving(route.parts.join('/'))
  const title = entry === undefined ? 'Not found' : titleOfView(entry, route)
  useEffect(() => {
    document.title = `${title} · devchain`
  }, [title])
  return html`
    <a class="skip hidden" href="#main" onClick=${skip}>Skip to content</a>
    <${Header} search=${search} onHelp=${() => setHelping(true)} />
    <${Navigation} current=${entry} />
    <main id="main" tabindex="-1" class=${classes(entry?.isFull && 'full', arriving)}>
      <${Problem} />
      <${PastBar} route=${route} />
      ${
        entry === undefined
          ? html`<h1>Nothing here</h1><p>There is no page at this address.</p><p><a href="#/">Show the chain</a></p>`
          : html`<${entry.view} key=${route.parts.join('/')} route=${route} />`
      }
    </main>
    ${isHelping && html`<${Help} onClose=${() => setHelping(false)} />`}
  `
}

/** Drawings without a request: a view asks again with what it read, in a task after it is drawn. */
const QUIET_DRAWINGS = 3

/** Milliseconds from the connection on, after which a view is shown down to the first part that is still read. */
const MOST_ARRIVING_MS = 2_000

/** The class of a view that still reads what it shows first: not all of it is seen, so that nothing moves under its reader. */
function useArriving(view: string): string {
  const chain = useChain()
  const [shown, setShown] = useState({ view: '', how: 'arriving' })
  useEffect(() => {
    let [quiet, sent, sinceMs, how, isGone] = [0, 0, performance.now(), 'arriving', false]
    const look = (): void => {
      if (isGone) return
      const { status } = chain.view
      if (status === 'connecting') sinceMs = performance.now()
      // a request may have been sent and answered since the last look
      const isQuiet = status !== 'connecting' && !chain.isWaiting && chain.sent === sent
      quiet = isQuiet ? quiet + 1 : 0
      sent = chain.sent
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
  }, [chain, view])
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

type InputRef = Readonly<{ current: HTMLInputElement | null }>

function Header({ search, onHelp }: { search: InputRef; onHelp: () => void }): VNode {
  const { path } = useChain()
  const { head, status, chainId, pending } = useView()
  const [kind, word] = STATUS[status]
  return html`<header class="top">
    <a class="brand strong flow" href="#/" aria-label="devchain"><img src="/page.svg" alt="" width="22" height="22" /><span>devchain</span></a>
    <span class="where dim cut" title="Path and id of the chain">${path === '/' ? '' : `${path} `}${chainId === undefined ? '' : `chain ${chainId}`}</span>
    <${Search} input=${search} />
    <div class="now flow">
      <span class="pending warn" title="Transactions in the pool">${pending > 0 && `${count(pending)} pending`}</span>
      <a class="height strong" href=${head ? linkTo(['block', head.number]) : '#/'} title="Newest block">
        <span class="hidden">Newest block </span>${head ? `#${count(head.number)}` : ''}</a>
      <span class="status dim" role="status"><i class=${`outcome ${kind}`}></i>${word}</span>
      <button type="button" class="quiet" onClick=${onHelp} aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)">?</button>
    </div>
  </header>`
}

function Search({ input }: { input: InputRef }): VNode {
  const chain = useChain()
  const [problem, setProblem] = useState('')
  const find = async (event: Event): Promise<void> => {
    event.preventDefault()
    const text = input.current?.value.trim() ?? ''
    if (text === '') return
    const place = await placeOf(chain, text)
    if (place === undefined) return setProblem(`nothing found for ${text}`)
    setProblem('')
    input.current!.value = ''
    input.current!.blur()
    go(linkTo(place))
  }
  return html`<form class="search flow" role="search" onSubmit=${find}>
    <input ref=${input} type="search" spellcheck=${false} autocomplete="off" aria-label="Search"
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
    html`<p class="notice warn" role="alert">devchain does not respond. The page goes on when it is back.</p>`
  )
}

/** `/` searches, `?` helps, `g` and a letter go to a view. */
function useShortcuts(search: InputRef, help: () => void): void {
  const isGoing = useRef(false)
  useKeys((event) => {
    const { key } = event
    const view = isGoing.current && LISTED.find((each) => each.key === key)
    isGoing.current = key === 'g'
    if (view) go(linkTo([view.path]))
    else if (key === '?') help()
    else if (key === '/') {
      event.preventDefault()
      search.current?.focus()
    }
  })
}
