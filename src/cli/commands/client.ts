// The RPC client of commands that talk to a running chain.
import { invalidParams, printValue } from '../../core/errors.ts'
import { jsonIn } from '../../core/objects.ts'
import { OPTIONS } from '../../options/table.ts'
import { JSON_HEADERS, Poster } from '../../rpc/post.ts'
import type { Json } from '../../rpc/schema.ts'
import { CommandFailure } from '../output.ts'
import { EXIT } from '../parse/subcommands.ts'

/** The chain returned an error. */
export class ChainRefusal extends CommandFailure {
  readonly code: number
  readonly data: Json | undefined

  constructor(message: string, code: number, data?: Json) {
    super(message, EXIT.refused, ` (error ${code})`)
    this.code = code
    this.data = data
  }

  override get json(): object {
    const { code, message, data } = this
    return { code, message, data }
  }
}

/** There was no response, or none in JSON-RPC. */
export class NoChain extends CommandFailure {
  constructor(message: string) {
    super(message, EXIT.noChain, ' (--url sets another URL)')
  }
}

export interface Call {
  readonly method: string
  readonly params?: readonly unknown[]
}

/** Milliseconds; some calls take long. */
const PATIENCE_MS = 10 * 60_000

/**
 * @param chain the value of `--chain`: a name, number or path, which replaces the URL's path
 * @param given the value of `--url`; `http://` is optional, and on this computer the port alone is enough
 * @throws {DevchainError} `INVALID_PARAMS` unless it is an http URL, or for an empty name
 */
export function chainUrl(given: unknown, chain?: unknown): string {
  const url = serverUrl(given)
  if (chain === undefined) return url
  if (chain === '') throw invalidParams('--chain: expected a name or number, got ""')
  return new URL(`/${encodeURIComponent(String(chain).replace(/^\//, ''))}`, url).href
}

function serverUrl(given: unknown): string {
  const { DEVCHAIN_URL, DEVCHAIN_PORT } = process.env
  const text = String(given ?? (DEVCHAIN_URL || DEVCHAIN_PORT || OPTIONS.port.default))
  const isPort = /^:?\d{1,5}$/.test(text)
  const url = isPort ? `http://127.0.0.1:${text.replace(':', '')}` : text
  const whole = url.includes('://') ? url : `http://${url}`
  if (URL.canParse(whole) && /^https?:$/.test(new URL(whole).protocol)) return whole
  const name = given === undefined ? (DEVCHAIN_URL ? 'DEVCHAIN_URL' : 'DEVCHAIN_PORT') : '--url'
  throw invalidParams(`${name}: expected an http URL or a port, got ${printValue(text)}`)
}

/**
 * @param patienceMs timeout
 * @throws {ChainRefusal} the chain's error
 * @throws {NoChain} if there is no chain
 */
export async function ask(
  url: string,
  call: Call,
  patienceMs: number = PATIENCE_MS,
): Promise<Json> {
  return resultOf(url, await post(url, request(call, 1), patienceMs))
}

/**
 * Sends a batch, which runs in order.
 * @throws {ChainRefusal} the first error
 * @throws {NoChain} if there is no chain
 */
export async function askAll(url: string, calls: readonly Call[]): Promise<readonly Json[]> {
  const replies = await post(url, calls.map(request), PATIENCE_MS)
  // a batch that is refused as a whole gets one error
  if (!Array.isArray(replies)) return [resultOf(url, replies)]
  const byId = new Map(replies.map((reply: { readonly id?: unknown } | null) => [reply?.id, reply]))
  return calls.map((_, id) => resultOf(url, byId.get(id)))
}

function request({ method, params = [] }: Call, id: number): object {
  return { jsonrpc: '2.0', id, method, params }
}

function resultOf(url: string, reply: unknown): Json {
  if (typeof reply !== 'object' || reply === null || !('result' in reply || 'error' in reply)) {
    throw new NoChain(`${url} does not speak JSON-RPC`)
  }
  const { result, error } = reply as { readonly result?: Json; readonly error?: unknown }
  if (error === undefined || error === null) return result ?? null
  const { message, code, data } = error as Partial<ChainRefusal>
  throw new ChainRefusal(String(message), Number(code), data)
}

async function post(url: string, body: object, patienceMs: number): Promise<unknown> {
  let text: string
  try {
    const poster = new Poster(new URL(url), JSON_HEADERS)
    text = (await poster.post(JSON.stringify(body), patienceMs)).text
  } catch (error) {
    throw new NoChain(`cannot reach a chain at ${url}: ${reasonOf(error as Error)}`)
  }
  return jsonIn(text)
}

function reasonOf(error: NodeJS.ErrnoException): string {
  if (error.name === 'TimeoutError') return 'timed out'
  // for a name with several addresses the message is in the errors of the attempts
  const [first] = error instanceof AggregateError ? (error.errors as readonly Error[]) : []
  return error.message || first?.message || error.code || 'no response'
}
