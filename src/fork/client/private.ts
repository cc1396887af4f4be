// Addresses of this computer and of its own network.
import { isIP } from 'node:net'

/** True for the URL of a node of one's own: it counts no requests, and its newest block stays. */
export function isPrivateUrl(url: string): boolean {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '').toLowerCase()
  if (host === 'localhost' || /\.(localhost|local|internal)$/.test(host)) return true
  if (isIP(host) === 4) {
    return /^(127\.|10\.|192\.168\.|169\.254\.|172\.(1[6-9]|2\d|3[01])\.|0\.)/.test(host)
  }
  if (isIP(host) === 6) return host === '::1' || /^f[cd]|^fe80/.test(host)
  return !host.includes('.')
}
