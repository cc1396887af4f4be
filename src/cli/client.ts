// Asks a running chain, for the commands that talk to one.
import type { Json } from '../rpc/schema.ts'

/** The chain answered with an error. */
export class ChainRefusal extends Error {
  readonly code: number
  readonly data: Json | undefined

  constructor(message: string, code: number, data: Json | undefined) {
    super(message)
    this.code = code
    this.data = data
  }
}

/** Nobody answered, or nobody who speaks JSON-RPC. */
export class NoChain extends Error {}

/** Milliseconds in which a chain begins to answer; some calls take long. */
const PATIENCE_MS = 10 * 60_000

/**
 * The result of a call.
 * @param patienceMs how long an answer is waited for
 * @throws {ChainRefusal} what the chain answered instead
 * @throws {NoChain} when there is none
 */
export async function ask(
  url: string,
  method: string,
  params: readonly unknown[] = [],
  patienceMs: number = PATIENCE_MS,
): Promise<Json> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const reply = await post(url, body, patienceMs)
  if (typeof reply !== 'object' || reply === null || !('result' in reply || 'error' in reply)) {
    throw new NoChain(`${url} does not speak JSON-RPC`)
  }
  const { result, error } = reply as { readonly result?: Json; readonly error?: unknown }
  if (error === undefined || error === null) return result ?? null
  const { message, code, data } = error as {
    readonly message?: unknown
    readonly code?: unknown
    readonly data?: Json
  }
  throw new ChainRefusal(String(message), Number(code), data)
}

async function post(url: string, body: string, patienceMs: number): Promise<unknown> {
  const headers = { 'content-type': 'application/json' }
  try {
    const signal = AbortSignal.timeout(patienceMs)
    const response = await fetch(url, { method: 'POST', headers, body, signal })
    return await response.json()
  } catch (error) {
    if (error instanceof SyntaxError) throw new NoChain(`${url} does not speak JSON-RPC`)
    throw new NoChain(`cannot reach a chain at ${url}: ${reasonOf(error as Error)}`)
  }
}

function reasonOf({ cause, message }: Error): string {
  return cause instanceof Error ? cause.message || String(cause) : message
}
