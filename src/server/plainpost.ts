// The heads of requests that the fast lane answers: a POST in HTTP/1.1 with its length told, and nothing unusual about it.
import type { HostCheck } from './hosts.ts'

/** What of a head matters. */
export interface PlainHead {
  /** Bytes of the body. */
  readonly length: number
  /** True when the client wants no more on this connection. */
  readonly closes: boolean
}

/** Bytes of a head; a longer one is not plain. */
export const MAX_HEAD = 8_000

/** Heads that are remembered: clients send the same ones, but for the length. */
const REMEMBERED = 256

const FORM = /^POST \/[!-~]* HTTP\/1\.1((?:\r\n[!#$%&'*+.^_`|~\w-]+:[\t -~]*)*)$/

/** Headers that ask for what the fast lane does not do. */
const UNUSUAL = new Set([
  'expect',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Headers that may come once only. */
const SINGLE = new Set(['connection', 'content-length', 'host'])

/**
 * Makes the reader of heads, which are given without the empty line at their end. It gives undefined for whatever is not
 * plain: a strict reader of few forms leaves all others, and their mistakes, to node's.
 */
export function createHeadReader(
  bodyLimit: number,
  checkHost: HostCheck,
): (head: string) => PlainHead | undefined {
  const known = new Map<string, PlainHead>()
  return (text) => {
    const remembered = known.get(text)
    if (remembered !== undefined) return remembered
    const head = readHead(text, checkHost)
    if (head === undefined || head.length > bodyLimit) return undefined
    if (known.size >= REMEMBERED) known.clear()
    known.set(text, head)
    return head
  }
}

function readHead(text: string, checkHost: HostCheck): PlainHead | undefined {
  const lines = FORM.exec(text)?.[1]
  if (lines === undefined) return undefined
  const values = new Map<string, string>()
  for (const line of lines.split('\r\n').slice(1)) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    if (UNUSUAL.has(name) || (SINGLE.has(name) && values.has(name))) return undefined
    values.set(name, line.slice(colon + 1).replace(/^[\t ]+|[\t ]+$/g, ''))
  }
  const length = values.get('content-length')
  const connection = values.get('connection')?.toLowerCase() ?? 'keep-alive'
  if (length === undefined || !/^[0-9]{1,15}$/.test(length)) return undefined
  if (connection !== 'keep-alive' && connection !== 'close') return undefined
  if (checkHost(values.get('host')) !== undefined) return undefined
  return { length: Number(length), closes: connection === 'close' }
}
