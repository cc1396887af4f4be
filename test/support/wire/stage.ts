// A chain behind real sockets for runs that do not end: who asks, and how the calls of others end.
import { expect } from 'vitest'
import { createDevchain, type Devchain, type ObservedCall } from '../../../src/devchain.ts'

/** JUMPDEST PUSH0 JUMP, for ever. */
export const LOOP = '0x5b5f56'

/** Where the loop is put. */
export const LOOPING: string = `0x${'10'.repeat(20)}`

/** The first account of the chain, which can pay for anything. */
export const ALICE = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'

/** A transaction that ends after days, where blocks have room for it. */
export const ENDLESS: Readonly<Record<string, string>> = {
  from: ALICE,
  to: LOOPING,
  gas: '0xe8d4a51000',
}

/** A running chain; nothing may have gone wrong in it when it is disposed of. */
export interface Stage extends AsyncDisposable {
  readonly devchain: Devchain
  readonly url: string
  readonly wsUrl: string
  /** Asks without a connection. */
  readonly ask: (method: string, ...params: unknown[]) => Promise<unknown>
  /** Resolves with the error that the next call of this method ends with, whoever asked. */
  readonly failure: (method: string) => Promise<ObservedCall['error']>
}

/** Starts a chain on a free port. */
export async function startStage(options: object = {}): Promise<Stage> {
  const failures = new Map<string, (error: ObservedCall['error']) => void>()
  const bugs: unknown[] = []
  const devchain = await createDevchain(
    // estimates of later forks end with the gas that one transaction may have
    { port: 0, hardfork: 'prague', ...options },
    {
      observer: {
        onCall: ({ method, error }) => failures.get(method)?.(error),
        onBug: (bug) => bugs.push(bug),
      },
    },
  )
  const { url, wsUrl } = await devchain.listen()
  return {
    devchain,
    url,
    wsUrl,
    ask: (method, ...params) => devchain.request({ method, params }),
    failure: (method) => new Promise((resolve) => failures.set(method, resolve)),
    [Symbol.asyncDispose]: async () => {
      await devchain.close()
      expect(bugs).toEqual([])
    },
  }
}

/** A stage whose blocks have room for what does not end, with code in place that does not. */
export async function startEndless(options: object = {}): Promise<Stage> {
  const stage = await startStage(options)
  await stage.ask('evm_setBlockGasLimit', '0x1fffffffffffff')
  await stage.ask('hardhat_setCode', LOOPING, LOOP)
  return stage
}

/** A request as text. */
export function bodyOf(method: string, params: readonly unknown[]): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
}
