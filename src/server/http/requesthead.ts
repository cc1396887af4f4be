// Parses the heads of plain requests: POST in HTTP/1.1 with a content length and no unusual headers.
import type { Site, SiteHead } from '../../rpc/site.ts'
import { type CallerCheck, pathOf } from '../answer.ts'

export interface PlainHead {
  readonly path: string
  readonly length: number
  /** True if the client asks to close the connection. */
  readonly closes: boolean
}

/** Bytes; a longer head is not plain. */
const MAX_HEAD = 8_000

const HEAD_END = Buffer.from('\r\n\r\n')

/** The start of every plain request; others are handed over at once. */
const BEGINNING = 'POST /'

/** Cached heads: clients repeat them, except for the length. */
const REMEMBERED = 256

const FORM = /^POST (\/[!-~]*) HTTP\/1\.1((?:\r\n[!#$%&'*+.^_`|~\w-]+:[\t -~]*)*)$/

/** Headers that only node's server handles. */
const UNUSUAL = new Set([
  'content-encoding',
  'expect',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

const SINGLE = new Set(['connection', 'content-length', 'host', 'origin'])

/** A head, and all its bytes up to the body. */
export interface KnownHead {
  readonly head: PlainHead
  readonly bytes: Uint8Array
}

/**
 * The reader returns undefined for an incomplete head and for everything that is not plain: it accepts few forms strictly
 * and leaves all others, and errors, to node's server. Requests for a site are not plain.
 */
export function createHeadReader(
  bodyLimit: number,
  checkCaller: CallerCheck,
  sites: readonly Site[],
): (bytes: Buffer) => KnownHead | undefined {
  const known = new Map<string, KnownHead>()
  let last: KnownHead | undefined
  return (bytes) => {
    // most heads repeat: comparing is faster than finding the end and decoding
    if (last !== undefined && beginsWith(bytes, last.bytes)) return last
    const end = bytes.indexOf(HEAD_END)
    if (end < 0 || end > MAX_HEAD) return undefined
    const text = bytes.toString('latin1', 0, end)
    const remembered = known.get(text)
    if (remembered !== undefined) {
      last = remembered
      return last
    }
    const head = readHead(text, checkCaller, sites)
    if (head === undefined || head.length > bodyLimit) return undefined
    if (known.size >= REMEMBERED) known.clear()
    last = { head, bytes: new Uint8Array(bytes.subarray(0, end + HEAD_END.length)) }
    known.set(text, last)
    return last
  }
}

/** True if it may still become a plain head. */
export function isPartOfHead(bytes: Buffer): boolean {
  const text = bytes.toString('latin1', 0, BEGINNING.length)
  return bytes.length <= MAX_HEAD && BEGINNING.startsWith(text) && !bytes.includes(HEAD_END)
}

function beginsWith(bytes: Buffer, known: Uint8Array): boolean {
  const { length } = known
  return bytes.length >= length && bytes.compare(known, 0, length, 0, length) === 0
}

function readHead(
  text: string,
  checkCaller: CallerCheck,
  sites: readonly Site[],
): PlainHead | undefined {
  const [, target = '', lines] = FORM.exec(text) ?? []
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
  const caller = { host: values.get('host'), origin: values.get('origin') }
  if (checkCaller(caller) !== undefined) return undefined
  const accept = values.get('accept') ?? ''
  // only whether a site owns it is asked here
  const host = caller.host ?? ''
  const head: SiteHead = { method: 'POST', target, accept, host, isFromOtherPage: false }
  if (sites.some(({ owns }) => owns(head))) return undefined
  return { path: pathOf(target), length: Number(length), closes: connection === 'close' }
}
