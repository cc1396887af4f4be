// JSON-RPC over one WebSocket, which is opened again when it ends.

/** What a method refused. */
export class CallError extends Error {
  /** The error of the contract in words and the places in its source; empty if unknown. */
  readonly solidityStack: readonly string[]

  constructor({ message, solidityStack = [] }: ErrorReply) {
    super(message)
    this.solidityStack = solidityStack
  }
}

type ErrorReply = Readonly<{ message: string; solidityStack?: readonly string[] }>

interface Reply {
  readonly id?: number
  readonly result?: unknown
  readonly error?: ErrorReply
  readonly params?: { readonly subscription: string; readonly result: unknown }
}

type Waiting = Readonly<{ resolve: (answer: Answer) => void; reject: (error: Error) => void }>

/** A result, and the characters of the message that it came in. */
type Answer = Readonly<{ result: unknown; size: number }>

interface SocketEvents {
  readonly onOpen: () => void
  readonly onLost: () => void
  readonly onNews: (subscription: string, result: unknown) => void
}

/** Requests of one batch: the server answers its first only with its last. */
const MOST_TOGETHER = 50

/** Milliseconds before another attempt: the first, and the most. */
const RETRY_MS = 250
const MOST_RETRY_MS = 4_000

export class RpcSocket {
  readonly #url: string
  readonly #events: SocketEvents
  readonly #waiting = new Map<number, Waiting>()
  #socket: WebSocket | undefined
  #queue: string[] = []
  #nextId = 1
  #retryMs = RETRY_MS

  constructor(url: string, events: SocketEvents) {
    this.#url = url
    this.#events = events
    this.#connect()
  }

  /** Whether requests have no response yet. */
  get isWaiting(): boolean {
    return this.#waiting.size > 0
  }

  /** Requests so far. */
  get sent(): number {
    return this.#nextId - 1
  }

  /** Requests of one turn go out as a batch. @param alone not in a batch: it takes long */
  request(method: string, params: readonly unknown[], alone = false): Promise<Answer> {
    const id = this.#nextId++
    const text = JSON.stringify({ jsonrpc: '2.0', id, method, params })
    return new Promise((resolve, reject) => {
      if (this.#socket?.readyState !== WebSocket.OPEN) return reject(lost())
      this.#waiting.set(id, { resolve, reject })
      if (alone) return this.#socket.send(text)
      if (this.#queue.length === 0) queueMicrotask(() => this.#flush())
      this.#queue.push(text)
    })
  }

  /** Tries now, without waiting for the next attempt. */
  hurry(): void {
    if (this.#socket === undefined) this.#connect()
  }

  #flush(): void {
    const queue = this.#queue.splice(0)
    while (queue.length > 0) {
      const texts = queue.splice(0, MOST_TOGETHER)
      this.#socket?.send(texts.length === 1 ? texts[0]! : `[${texts.join()}]`)
    }
  }

  #connect(): void {
    const socket = new WebSocket(this.#url)
    this.#socket = socket
    socket.onopen = () => {
      this.#retryMs = RETRY_MS
      this.#events.onOpen()
    }
    socket.onmessage = ({ data }: MessageEvent<string>) => this.#take(data)
    socket.onclose = () => this.#end()
  }

  #end(): void {
    this.#socket = undefined
    this.#queue = []
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const { reject } of waiting) reject(lost())
    this.#events.onLost()
    setTimeout(() => this.hurry(), this.#retryMs)
    this.#retryMs = Math.min(2 * this.#retryMs, MOST_RETRY_MS)
  }

  #take(text: string): void {
    const replies = [JSON.parse(text) as Reply | Reply[]].flat()
    for (const each of replies) this.#takeOne(each, text.length / replies.length)
  }

  #takeOne({ id, result, error, params }: Reply, size: number): void {
    if (params !== undefined) {
      this.#events.onNews(params.subscription, params.result)
      return
    }
    const waiting = this.#waiting.get(id ?? 0)
    this.#waiting.delete(id ?? 0)
    if (error === undefined) waiting?.resolve({ result, size })
    else waiting?.reject(new CallError(error))
  }
}

function lost(): Error {
  return new Error('the connection to devchain is lost')
}
