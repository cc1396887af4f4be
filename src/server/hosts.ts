// Checks the `Host` header of requests.
import { BlockList, isIP, isIPv4 } from 'node:net'
import { printValue } from '../core/errors.ts'
import type { Refusal } from './replies.ts'

/** Returns the refusal; undefined if allowed. */
export type HostCheck = (header: string | undefined) => Refusal | undefined

export function createLoopbackCheck(): (name: string) => boolean {
  let list: BlockList | undefined
  return (name) => {
    if (name === 'localhost' || name.endsWith('.localhost')) return true
    const version = versionOf(name)
    if (version === 0) return false
    list ??= createLoopback()
    return list.check(name, version === 6 ? 'ipv6' : 'ipv4')
  }
}

function createLoopback(): BlockList {
  const list = new BlockList()
  list.addSubnet('127.0.0.0', 8)
  list.addAddress('::1', 'ipv6')
  return list
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
): HostCheck {
  const allowed = new Set([host, ...allowHosts].map(hostNameOf))
  const isWildcard = host === '0.0.0.0' || host === '::'
  const isLoopback = createLoopbackCheck()
  const isAllowed = (name: string): boolean =>
    allowed.has(name) || allowed.has('*') || isLoopback(name) || (isWildcard && versionOf(name) > 0)
  // nearly all requests have the same one
  let lastAllowed: string | undefined
  return (header) => {
    // HTTP/1.0 and hand-written clients omit it; browsers never do
    if (header === lastAllowed || header === undefined || header === '') return undefined
    if (!isAllowed(hostNameOf(header))) {
      onForeign?.(header)
      return wrongHost(header)
    }
    lastAllowed = header
    return undefined
  }
}

function wrongHost(header: string): Refusal {
  const message = `the host ${printValue(header)} is not allowed: start with --allow-host NAME to allow it`
  return { status: 403, word: 'INVALID_REQUEST', message }
}

/** 4 or 6 for an address, 0 for a name. Node's pattern for version 6 is slow to make, so only likely addresses reach it. */
function versionOf(name: string): number {
  const colons = name.indexOf(':') !== name.lastIndexOf(':')
  if (colons) return isIP(name)
  return isIPv4(name) ? 4 : 0
}

/** The name in a `Host` header or origin, without port, brackets and trailing dot. */
export function hostNameOf(header: string): string {
  if (versionOf(header) === 6) return header.toLowerCase()
  const name = /^\[([^\]]*)\]/.exec(header)?.[1] ?? header.split(':', 1)[0] ?? ''
  return name.toLowerCase().replace(/\.$/, '')
}
