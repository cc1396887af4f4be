// What is asked and answered over HTTP besides JSON-RPC: as the server hands it over, and takes it back.

/** A request below a path that is not JSON-RPC's. */
export interface SiteRequest {
  readonly method: 'GET' | 'POST'
  /** Path and query, as the client wrote them. */
  readonly target: string
  /** Of the body: `application/json`. */
  readonly contentType: string
  readonly body: Uint8Array
}

export interface SiteReply {
  readonly status: number
  readonly contentType: string
  readonly body: string
}
