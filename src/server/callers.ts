// Checks where requests come from: the `Host` header, and `Origin`, which browsers send for web pages.
import type { IncomingHttpHeaders } from 'node:http'
import { BlockList, isIP, isIPv4 } from 'node:net'
import { printValue } from '../core/errors.ts'
import { oneLine } from '../core/format.ts'
import { lazy } from '../core/lrucache.ts'
import type { Refusal } from './replies.ts'

export type CallerHeaders = Pick<IncomingHttpHeaders, 'host' | 'origin'>

/** Returns the refusal; undefined if allowed. */
export type HeaderCheck = (header: string | undefined) => Refusal | undefined

/** Foreign origins reported; further ones are not. */
const MAX_REPORTED = 100

/** Characters of an origin that are reported and compared, as anyone may send it. */
const MOST_SHOWN = 200

const loopback = lazy(() => {
  const list = new BlockList()
  list.addSubnet('127.0.0.0', 8)
  list.addAddress('::1', 'ipv6')
  return list
})

function isLoopback(name: string): boolean {
  if (name === 'localhost' || name.endsWith('.localhost')) return true
  const version = versionOf(name)
  return version !== 0 && loopback().check(name, version === 6 ? 'ipv6' : 'ipv4')
}

/**
 * A page that resolves its own name to this machine (DNS rebinding) sends that name, and is refused.
 * @param host the name or address the server is bound to. A wildcard is reachable by any address, and an
 * address cannot be rebound.
 * @param allowHosts names allowed besides `host` and loopback; `*` for any
 * @param onForeign called with each refused header; it must not throw
 */
export function createHostCheck(
  host: string,
  allowHosts: readonly string[],
  onForeign?: (header: string) => void,
): HeaderCheck {
  const allowed = new Set([host, ...allowHosts].map(hostNameOf))
  const isWildcard = host === '0.0.0.0' || host === '::'
  const isAllowed = (name: string): boolean =>
    allowed.has(name) || allowed.has('*') || isLoopback(name) || (isWildcard && versionOf(name) > 0)
  // nearly all requests have the same one
  let lastAllowed: string | undefined
  return (header) => {
    // HTTP/1.0 and hand-written clients omit it; browsers never do
    if (header === lastAllowed || header === undefined || header === '') return undefined
    if (isAllowed(hostNameOf(header))) {
      lastAllowed = header
      return undefined
    }
    onForeign?.(header)
    const message = `the host ${printValue(header)} is not allowed: start with --allow-host NAME to allow it`
    return { status: 403, message }
  }
}

/** 4 or 6 for an address, 0 for a name. Node's pattern for version 6 is slow to make, so only likely addresses reach it. */
function versionOf(name: string): number {
  const colons = name.indexOf(':') !== name.lastIndexOf(':')
  if (colons) return isIP(name)
  return isIPv4(name) ? 4 : 0
}

/** The name in a `Host` header or origin, without port, brackets and trailing dot. */
function hostNameOf(header: string): string {
  if (versionOf(header) === 6) return header.toLowerCase()
  const name = /^\[([^\]]*)\]/.exec(header)?.[1] ?? header.split(':', 1)[0] ?? ''
  return name.toLowerCase().replace(/\.$/, '')
}

/**
 * Pages of this computer are always allowed; each foreign origin is reported once. Programs send no such
 * header, except browser extensions.
 * @param allowed origins such as `https://app.example`, host names without scheme and port, or `*` for any
 * @param onNotice gets one sentence per foreign origin; it must not throw
 */
export function createOriginCheck(
  allowed: readonly string[],
  onNotice: (text: string) => void = () => undefined,
): HeaderCheck {
  const reported = new Set<string>()
  const reportOnce = (origin: string, text: string): void => {
    if (reported.size > MAX_REPORTED || reported.has(origin)) return
    reported.add(origin)
    if (reported.size <= MAX_REPORTED) onNotice(text)
    else onNotice(`pages of over ${MAX_REPORTED} origins called; further origins are not logged`)
  }
  const isAllowed = (origin: string): boolean =>
    [origin, hostOf(origin), '*'].some((name) => name !== undefined && allowed.includes(name))
  // most requests of a page follow one another
  let lastAllowed: string | undefined
  return (header) => {
    if (header === undefined || header === '' || header === lastAllowed) return undefined
    const origin = oneLine(header.toLowerCase(), MOST_SHOWN)
    const host = hostOf(origin)
    const whose = origin === 'null' ? 'without an origin (file:, sandbox)' : `of ${origin}`
    if (host === undefined || !isLoopback(host)) {
      if (!isAllowed(origin)) {
        const refused = `a request from a page ${whose} was refused; --allow-origin ${origin} allows it`
        reportOnce(origin, refused)
        const message = `pages ${whose} are not allowed: start with --allow-origin ${origin} to allow them`
        return { status: 403, message }
      }
      const hint = allowed.includes('*') ? '; --allow-origin restricts this' : ''
      reportOnce(origin, `a page ${whose} calls this chain${hint}`)
    }
    lastAllowed = header
    return undefined
  }
}

/** Browsers name the origin of a page, and no page but this server's own has the address that was asked. */
export function isOwnPage({ host, origin }: CallerHeaders): boolean {
  return host !== undefined && /^https?:\/\/(.*)$/.exec(origin ?? '')?.[1] === host
}

/** Undefined for `null` (files and sandboxed frames), and for an invalid origin. */
function hostOf(origin: string): string | undefined {
  const [, host] = /^[a-z][a-z\d+.-]*:\/\/([^/\s@]+)$/.exec(origin) ?? []
  return host && hostNameOf(host)
}
