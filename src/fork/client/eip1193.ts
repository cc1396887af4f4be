// Carries requests through an EIP-1193 provider of this process: another devchain, or a test's.
import type { ForkProvider } from '../../options/fork.ts'
import type { Json } from '../../rpc/schema.ts'
import {
  type Provider,
  ProviderFailure,
  type UpstreamReply,
  type UpstreamRequest,
} from './provider.ts'
import { inTime } from './waitbudget.ts'

/** Parallel requests; EIP-1193 has no batches. */
const MOST_AT_ONCE = 100

export function eip1193Provider(inner: ForkProvider): Provider {
  const replyOf = async ({ method, params }: UpstreamRequest): Promise<UpstreamReply> => {
    try {
      return { result: ((await inner.request({ method, params })) ?? null) as Json }
    } catch (error) {
      const { code, message, data } = error as { code?: unknown; message?: unknown; data?: Json }
      const read = { code: Number(code ?? -32000), message: String(message ?? error) }
      return { error: data === undefined ? read : { ...read, data } }
    }
  }
  return {
    name: 'the provider',
    mostAtOnce: MOST_AT_ONCE,
    send: async (asks, timeoutMs) => {
      const replies = await inTime(Promise.all(asks.map(replyOf)), timeoutMs)
      if (replies !== undefined) return replies
      throw new ProviderFailure('broken', `the provider: no answer within ${timeoutMs / 1000} s`)
    },
  }
}
