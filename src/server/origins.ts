// Checks the `Origin` header, which browsers send for web pages.
import { oneLine } from '../core/format.ts'
import { createLoopbackCheck, hostNameOf } from './hosts.ts'
import type { Refusal } from './replies.ts'

/** Returns the refusal; undefined if allowed. */
export type OriginCheck = (header: string | undefined) => Refusal | undefined

/** Foreign origins reported; further ones are not. */
const MAX_REPORTED = 100

/** Characters of an origin that are reported and compared, as anyone may send it. */
const MOST_SHOWN = 200

/**
 * Pages of this computer are always allowed; each foreign origin is reported once. Programs send no such
 * header, except browser extensions.
 * @param allowed origins such as `https://app.example`, host names without scheme and port, or `*` for any
 * @param onNotice gets one sentence per foreign origin; it must not throw
 */
export function createOriginCheck(
  allowed: readonly string[],
  onNotice: (text: string) => void = () => undefined,
): OriginCheck {
  const isLoopback = createLoopbackCheck()
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
    if (host === undefined || !isLoopback(host)) {
      if (!isAllowed(origin)) {
        reportOnce(
          origin,
          `a request from a page of ${origin} was refused; --allow-origin ${origin} allows it`,
        )
        return wrongOrigin(origin)
      }
      reportOnce(origin, `a page of ${origin} calls this chain; --allow-origin restricts this`)
    }
    lastAllowed = header
    return undefined
  }
}

/** Undefined for `null` (files and sandboxed frames), and for an invalid origin. */
function hostOf(origin: string): string | undefined {
  const [, host] = /^[a-z][a-z\d+.-]*:\/\/([^/\s@]+)$/.exec(origin) ?? []
  return host && hostNameOf(host)
}

function wrongOrigin(origin: string): Refusal {
  const message = `pages of ${origin} are not allowed: start with --allow-origin ${origin} to allow them`
  return { status: 403, word: 'INVALID_REQUEST', message }
}
