// Sites: pages and other HTTP replies besides JSON-RPC, such as the health of a chain.

export interface SiteHead {
  /** GET for HEAD too. */
  readonly method: 'GET' | 'POST'
  readonly target: string
  /** The `accept` header; empty without one. */
  readonly accept: string
  /** The `host` header, a name and a port; empty without one. */
  readonly host: string
  /** A page of another site made the browser ask, as by an image: without an origin, which is checked elsewhere. */
  readonly isFromOtherPage: boolean
}

export interface SiteRequest extends SiteHead {
  /** Of the body: `application/json`. */
  readonly contentType: string
  readonly body: Uint8Array
  /** Aborted when the client disconnects before it has the reply. */
  readonly gone: AbortSignal
  /** False if the reply would reach nobody. Takes a while if the client has closed its side: it may be gone. */
  readonly isThere: () => Promise<boolean>
}

export interface SiteReply {
  readonly status: number
  readonly contentType: string
  readonly body: string
  /** Besides those of every reply. */
  readonly headers?: Readonly<Record<string, string>>
}

export interface Site {
  /** Checked once for each request head, before the body is read. */
  readonly owns: (head: SiteHead) => boolean
  readonly answer: (request: SiteRequest) => Promise<SiteReply>
}
