// The chain of this test worker, in any test runner.
import { workerNumber, workerUrl } from './workers.ts'

export interface WorkerChain {
  /** `http://127.0.0.1:8545/1` */
  readonly url: string
  /** `ws://127.0.0.1:8545/1` */
  readonly wsUrl: string
  /** The unlocked accounts. */
  readonly accounts: () => Promise<readonly `0x${string}`[]>
  /** EIP-1193. Rejects with the chain's error, with its `code` and `data`. */
  readonly request: (request: {
    readonly method: string
    readonly params?: readonly unknown[] | Readonly<Record<string, unknown>>
  }) => Promise<unknown>
  /** @returns reverts to this moment, any number of times */
  readonly snapshot: () => Promise<() => Promise<void>>
  /** Returns to what the set-up left, or to genesis. */
  readonly reset: () => Promise<void>
}

/** Where a devchain without `--port` listens. */
const DEFAULT_URL = 'http://127.0.0.1:8545'

function urlOf(): string {
  const { DEVCHAIN_CHAINS, DEVCHAIN_URL } = process.env
  const url = DEVCHAIN_CHAINS || DEVCHAIN_URL || DEFAULT_URL
  return workerUrl(url, workerNumber(process.env, process.pid))
}

async function request({
  method,
  params = [],
}: Parameters<WorkerChain['request']>[0]): Promise<unknown> {
  const url = urlOf()
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  }).catch((cause: unknown) => {
    const message = `cannot reach a chain at ${url}: add devchain/vitest to globalSetup, or run the tests by devchain exec --chains`
    throw new Error(message, { cause })
  })
  const { result, error } = (await response.json()) as { result?: unknown; error?: Error }
  if (error !== undefined) throw Object.assign(new Error(error.message), error)
  return result
}

export const chain: WorkerChain = {
  get url() {
    return urlOf()
  },
  get wsUrl() {
    return urlOf().replace('http', 'ws')
  },
  accounts: async () => (await request({ method: 'eth_accounts' })) as readonly `0x${string}`[],
  request,
  snapshot: async () => {
    const id = await request({ method: 'evm_snapshot' })
    return async () => {
      await request({ method: 'evm_revert', params: [id] })
    }
  },
  reset: async () => {
    await request({ method: 'evm_reset' })
  },
}
