// Where the page is: the part of the URL behind `#`, so that the browser's history and links work.
import { attempt } from '../../core/errors.ts'
import { isHash } from './format.ts'
import { useEvents } from './use.ts'

export interface Route {
  /** `['tx', '0x…']` of `#/tx/0x…`. */
  readonly parts: readonly string[]
  readonly query: Readonly<Record<string, string>>
  /** The block at which the page shows the chain, by number, or by hash off the chain; undefined: the newest. */
  readonly at: number | string | undefined
}

export type ViewProps = Readonly<{ route: Route }>

export function routeOf(fragment: string): Route {
  const [path = '', search = ''] = fragment.replace(/^#\/?/, '').split('?', 2)
  const parts = path
    .split('/')
    .filter(Boolean)
    .map((each) => attempt(() => decodeURIComponent(each)) ?? each)
  const query = Object.fromEntries(new URLSearchParams(search))
  const { at: given = '' } = query
  const at = /^\d{1,15}$/.test(given) ? Number(given) : isHash(given) ? given : undefined
  return { parts, query, at }
}

/** `#/block/7?at=5`: at the point at which the page is, unless the query has another. Undefined members are left out. */
export function linkTo(
  parts: readonly (string | number)[],
  query: Readonly<Record<string, string | number | undefined>> = {},
): string {
  const members = Object.entries({ at: routeOf(location.hash).at, ...query }).filter(
    ([, value]) => value !== undefined,
  )
  const search = new URLSearchParams(members.map(([name, value]) => [name, String(value)]))
  const path = parts.map((part) => encodeURIComponent(part)).join('/')
  return `#/${path}${members.length > 0 ? `?${search}` : ''}`
}

export function useRoute(): Route {
  useEvents(window, 'hashchange')
  return routeOf(location.hash)
}

export function go(link: string): void {
  location.hash = link
}

/** The same place without a new entry in the history. */
export function replaceWith(link: string): void {
  history.replaceState(undefined, '', link)
  dispatchEvent(new HashChangeEvent('hashchange'))
}
