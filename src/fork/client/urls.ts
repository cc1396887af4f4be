// Shows URLs in logs and errors by their host only: path, query, user info and headers may hold keys.
import { isIP } from 'node:net'
import { attempt, invalidParams } from '../../core/errors.ts'
import type { Json } from '../../rpc/schema.ts'

/** The scheme, host and port; an invalid URL is not shown at all. */
export function shownUrl(url: string): string {
  if (!URL.canParse(url)) return 'a text that is no URL'
  const { protocol, host, pathname, search, username } = new URL(url)
  const hasMore = pathname.length > 1 || search !== '' || username !== ''
  return `${protocol}//${host}${hasMore ? '/…' : ''}`
}

export type Headers = Readonly<Record<string, string>>

export interface Shown {
  readonly where: string
  /** Removes keys from what the server says. */
  readonly clean: Cleaner
}

/** Where requests go. */
export interface Endpoint extends Shown {
  /** Without a fragment, and without user and password, which are a header. */
  readonly url: URL
  readonly headers: Headers
}

/** @throws {DevchainError} `INVALID_PARAMS` unless it is a URL of HTTP or WebSocket */
export function endpointOf(text: string, given: Headers): Endpoint {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^(http|ws)s?:$/.test(url.protocol)) {
    throw invalidParams(`fork: expected a node URL (http, https, ws or wss), got ${shownUrl(text)}`)
  }
  const { username, password } = url
  url.username = ''
  url.password = ''
  url.hash = ''
  const headers: Record<string, string> = { ...given }
  if (username !== '' || password !== '') {
    const pair = [username, password].map(decoded).join(':')
    headers.authorization ??= `Basic ${Buffer.from(pair).toString('base64')}`
  }
  return { url, headers, where: shownUrl(text), clean: cleanerOf(text, Object.values(headers)) }
}

export interface Cleaner {
  /** Returns one line, cut if it is long. */
  (text: string): string
  readonly json: (data: Json) => Json
}

/** @param headers values that are sent, which are secret too */
export function cleanerOf(url: string, headers: readonly string[] = []): Cleaner {
  const secrets = [...secretsOf(url), ...headers.flatMap(secretsIn)]
  // a secret that contains another one goes first
  const ordered = secrets.sort((one, other) => other.length - one.length).map(patternOf)
  const hidden = (text: string): string => {
    let shown = text.replaceAll(url, shownUrl(url))
    for (const secret of ordered) shown = shown.replaceAll(secret, '…')
    return shown
  }
  const json = (data: Json): Json => {
    if (typeof data === 'string') return hidden(data)
    if (typeof data !== 'object' || data === null) return data
    if (Array.isArray(data)) return data.map(json)
    return Object.fromEntries(
      Object.entries(data).map(([name, value]) => [name, json(value as Json)]),
    )
  }
  const text = (said: string): string => hidden(said).replace(/\s+/g, ' ').slice(0, MOST_SHOWN)
  return Object.assign(text, { json })
}

/** Characters. */
const MOST_SHOWN = 300

/** Shorter parts are versions and the like. */
const LEAST_SECRET = 3

/** Shorter parts are hidden only as whole words, as other words may contain them. */
const LEAST_ALONE = 8

/** Parts of URLs that are no keys. */
const WORDS =
  /^(rpc|json-?rpc|api|https?|wss|evm|eth|ethereum|mainnet|sepolia|hoodi|polygon|arbitrum|optimism|base)$/i

function patternOf(secret: string): string | RegExp {
  if (secret.length >= LEAST_ALONE) return secret
  const escaped = secret.replace(/[^A-Za-z0-9]/g, '\\$&')
  return new RegExp(`(?<![A-Za-z0-9])${escaped}(?![A-Za-z0-9])`, 'g')
}

function isSecret(part: string): boolean {
  return part.length >= LEAST_SECRET && !WORDS.test(part)
}

function secretsOf(url: string): readonly string[] {
  if (!URL.canParse(url)) return []
  const { pathname, searchParams, username, password } = new URL(url)
  const parts = [...pathname.split('/'), ...searchParams.values(), username, password]
  return [...parts, ...parts.map(decoded)].filter(isSecret)
}

/** A part with invalid escapes stays as it is. */
function decoded(part: string): string {
  return attempt(() => decodeURIComponent(part)) ?? part
}

/** The whole value, and its long words: many tokens follow a scheme such as Bearer. */
function secretsIn(value: string): readonly string[] {
  const words = value.split(/[\s,;=]+/).filter(({ length }) => length >= LEAST_ALONE)
  return [value, ...words].filter(isSecret)
}

/** True for local nodes: they have no rate limits, and their newest block does not change by itself. */
export function isPrivateUrl(url: string): boolean {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '').toLowerCase()
  if (host === 'localhost' || /\.(localhost|local|internal)$/.test(host)) return true
  if (isIP(host) === 4) {
    return /^(127\.|10\.|192\.168\.|169\.254\.|172\.(1[6-9]|2\d|3[01])\.|0\.)/.test(host)
  }
  if (isIP(host) === 6) return host === '::1' || /^f[cd]|^fe80/.test(host)
  return !host.includes('.')
}
