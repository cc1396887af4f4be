// Sites: what answers HTTP requests besides JSON-RPC, such as a page or the health of a chain.

/** By what a site knows its requests. */
export interface SiteHead {
  /** GET for HEAD too. */
  readonly method: 'GET' | 'POST'
  /** Path and query, as the client wrote them. */
  readonly target: string
  /** What the client would like to get, as its `accept` says; empty where it says nothing. */
  readonly accept: string
}

export interface SiteRequest extends SiteHead {
  /** Of the body: `application/json`. */
  readonly contentType: string
  readonly body: Uint8Array
}

export interface SiteReply {
  readonly status: number
  readonly contentType: string
  readonly body: string
  /** Besides those of every reply. */
  readonly headers?: Readonly<Record<string, string>>
}

export interface Site {
  /** True for the requests that it answers: asked once for each head, before the body is read. */
  readonly owns: (head: SiteHead) => boolean
  readonly answer: (request: SiteRequest) => Promise<SiteReply>
}
