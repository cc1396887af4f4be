// Requests to another network through a provider of this process (EIP-1193): another devchain, or what a test makes.
import type { Json } from '../../rpc/schema.ts'
import type { Provider, Reply } from './provider.ts'
import { ProviderFailure } from './provider.ts'

/** What an EIP-1193 provider has. */
export interface Eip1193 {
  readonly request: (request: {
    readonly method: string
    readonly params?: readonly unknown[]
  }) => Promise<unknown>
}

/** True for something that can be asked. */
export function isEip1193(value: unknown): value is Eip1193 {
  return typeof (value as { request?: unknown } | null | undefined)?.request === 'function'
}

/** Requests that it is asked at the same time; each is a call of its own. */
const MOST_AT_ONCE = 100

/** A provider of requests by calls. */
export function eip1193Provider(inner: Eip1193): Provider {
  return {
    name: 'the provider',
    mostAtOnce: MOST_AT_ONCE,
    send: (asks, timeoutMs) =>
      withTimeout(
        Promise.all(asks.map(({ method, params }) => replyOf(inner.request({ method, params })))),
        timeoutMs,
      ),
  }
}

async function replyOf(asked: Promise<unknown>): Promise<Reply> {
  try {
    return { result: ((await asked) ?? null) as Json }
  } catch (error) {
    const { code, message, data } = error as { code?: unknown; message?: unknown; data?: Json }
    const read = { code: Number(code ?? -32000), message: String(message ?? error) }
    return { error: data === undefined ? read : { ...read, data } }
  }
}

async function withTimeout<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const problem = `the provider: no answer within ${timeoutMs / 1000} s`
    timer = setTimeout(() => reject(new ProviderFailure('broken', problem)), timeoutMs)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
