// What a link runs over: a WebSocket, or in tests a queue in memory. It carries whole messages in their order.

/** One end. Nothing is told before a listener is set, and nothing after the end. */
export interface Pipe {
  /** Where the other end is: an IP address and a port. */
  readonly remote: RemoteEnd
  send(message: Uint8Array): void
  /** Messages that were sent and have not left. */
  readonly unsent: number
  /** Bytes of these. */
  readonly unsentBytes: number
  /** Ends it. What was sent before still leaves. */
  close(): void
  /** Ends it at once: the other end may be gone. */
  destroy(): void
  /** While false, what comes waits at the other end. */
  read(wanted: boolean): void
  listen(listener: PipeListener): void
}

export interface RemoteEnd {
  readonly address: string
  readonly port: number
}

export interface PipeListener {
  readonly message: (message: Uint8Array) => void
  /** More of a message that is not all there: so many bytes of it are held by now. */
  readonly part: (bytes: number) => void
  /** Called once. @param reason what the transport says of it, where it says something */
  readonly end: (reason: string | undefined) => void
}
