// What a link runs over: a WebSocket, or a queue in tests. It keeps messages whole and in order.

/** No events before a listener is set, and none after the end. */
export interface Pipe {
  readonly remote: RemoteEnd
  send(message: Uint8Array): void
  /** Messages sent but still buffered. */
  readonly unsent: number
  readonly unsentBytes: number
  /** Flushes what was sent. */
  close(): void
  /** Drops what was sent: the other end may be gone. */
  destroy(): void
  /** False: backpressure, the other end has to wait. */
  read(wanted: boolean): void
  listen(listener: PipeListener): void
}

export interface RemoteEnd {
  readonly address: string
  readonly port: number
}

export interface PipeListener {
  readonly message: (message: Uint8Array) => void
  /** @param bytes of an unfinished message, received so far */
  readonly part: (bytes: number) => void
  /** @param reason from the transport, if it gives one */
  readonly end: (reason: string | undefined) => void
}
