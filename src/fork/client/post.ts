// One POST after another over connections that are kept: by node's own client, which is there sooner than `fetch`.
import http from 'node:http'
import { gunzipSync } from 'node:zlib'

/** Connections to one server. */
const MOST_CONNECTIONS = 8

/** Bytes of an answer that are read. */
const MOST_BYTES = 268_435_456

/** Times that an answer may send us elsewhere. */
const MOST_MOVES = 3

/** What a server answered. */
export interface Posted {
  readonly status: number
  readonly text: string
  /** The header `Retry-After`. */
  readonly retryAfter: string | undefined
}

/** Posts to one URL. */
export interface Poster {
  /** @throws {Error} in words for a user, when there was no answer in time */
  readonly post: (body: string, timeoutMs: number) => Promise<Posted>
  /** Cuts all connections. */
  readonly close: () => void
}

type Headers = Readonly<Record<string, string>>

/** @param url of HTTP, without user and password */
export function posterOf(url: URL, headers: Headers): Poster {
  const options = { keepAlive: true, maxSockets: MOST_CONNECTIONS }
  let agents: { readonly [protocol: string]: http.Agent } = {}
  const agentFor = (client: Client, { protocol }: URL): http.Agent => {
    const agent = agents[protocol] ?? new client.Agent(options)
    agents = { ...agents, [protocol]: agent }
    return agent
  }
  return {
    post: async (body, timeoutMs) => {
      const end = AbortSignal.timeout(timeoutMs)
      let at = url
      for (let moves = 0; ; moves++) {
        // secrets are for the server that they were given for
        const sent = at.host === url.host ? headers : JSON_HEADERS
        const client = await clientOf(at)
        const agent = agentFor(client, at)
        const answer = await once({ client, url: at, agent, headers: sent, body, end })
        if (answer.location === undefined || moves === MOST_MOVES) return answer
        at = new URL(answer.location, at)
      }
    },
    close: () => {
      for (const agent of Object.values(agents)) agent.destroy()
    },
  }
}

export const JSON_HEADERS: Headers = { 'content-type': 'application/json', accept: '*/*' }

type Client = typeof http | typeof import('node:https')

/** What encrypts takes a while to load, which a node of one's own has no use for. */
async function clientOf({ protocol }: URL): Promise<Client> {
  return protocol === 'https:' ? (await import('node:https')).default : http
}

interface Request {
  readonly client: Client
  readonly url: URL
  readonly agent: http.Agent
  readonly headers: Headers
  readonly body: string
  readonly end: AbortSignal
}

type Answer = Posted & { readonly location: string | undefined }

/** A connection that was closed just as it was used again says nothing of the server: a fresh one is tried at once. */
async function once(request: Request): Promise<Answer> {
  for (;;) {
    const sent = send(request)
    try {
      return await sent.answer
    } catch (error) {
      if (!sent.isStale() || request.end.aborted) throw error
    }
  }
}

interface Sent {
  readonly answer: Promise<Answer>
  /** True when it went by a connection that was there already, and nothing came back. */
  readonly isStale: () => boolean
}

function send({ client, url, agent, headers, body, end }: Request): Sent {
  let response: http.IncomingMessage | undefined
  const request = client.request(url, {
    method: 'POST',
    agent,
    headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
    signal: end,
  })
  const answer = new Promise<Answer>((resolve, reject) => {
    request.on('error', reject)
    request.on('response', (incoming) => {
      response = incoming
      read(incoming).then(resolve, reject)
    })
  })
  request.end(body)
  return { answer, isStale: () => request.reusedSocket && response === undefined }
}

async function read(incoming: http.IncomingMessage): Promise<Answer> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of incoming) {
    parts.push(part as Buffer)
    length += (part as Buffer).length
    if (length > MOST_BYTES) throw new Error(`an answer of more than ${MOST_BYTES} bytes`)
  }
  const bytes = Buffer.concat(parts)
  const { statusCode: status = 0, headers } = incoming
  const text = headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes
  const isMove = [301, 302, 307, 308].includes(status)
  return {
    status,
    // it leaves out a byte order mark, which some gateways put there
    text: new TextDecoder().decode(text),
    retryAfter: headers['retry-after'],
    location: isMove ? headers.location : undefined,
  }
}
