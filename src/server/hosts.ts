// Who may talk to the chain: which `Host` a request must name.
import { isIP } from 'node:net'

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '::1']

/**
 * True when a request's `Host` header names this server. A page of another site that resolves its own name to this
 * machine (DNS rebinding) sends that name, and is refused.
 * @param allowed names besides loopback's: `--host` and `--allow-host`; `*` allows any
 */
export function isAllowedHost(header: string | undefined, allowed: readonly string[]): boolean {
  // HTTP/1.0 and hand-written clients leave it out; browsers never do
  if (header === undefined || header === '') return true
  const name = hostNameOf(header)
  if (LOOPBACK_NAMES.includes(name) || name.endsWith('.localhost')) return true
  if (isIP(name) === 4 && name.startsWith('127.')) return true
  return allowed.includes('*') || allowed.some((each) => each.toLowerCase() === name)
}

/** The names that a server bound to `host` answers to. Bound to a wildcard it may be reached by any address. */
export function namesOf(
  host: string,
  allowHosts: readonly string[],
  header: string | undefined,
): readonly string[] {
  const isWildcard = host === '0.0.0.0' || host === '::'
  const name = hostNameOf(header ?? '')
  return isWildcard && isIP(name) !== 0 ? [...allowHosts, name] : [...allowHosts, host]
}

/** The name in a `Host` header, without port and brackets. */
function hostNameOf(header: string): string {
  const bracketed = /^\[([^\]]*)\]/.exec(header)
  return (bracketed?.[1] ?? header.split(':')[0] ?? '').toLowerCase()
}
