// Exercises a chain of its own while nobody asks for anything: V8 compiles what is used often, and by that the first
// calls of a user are as fast as later ones.
import type { MaybePromise } from '../core/promises.ts'

/** What is to be exercised. */
export interface WarmUp {
  /** Makes a chain that nobody sees, and gives what answers the text of JSON-RPC requests to it. */
  readonly open: () => Promise<(message: string) => MaybePromise<unknown>>
  /** How many requests of users there have been. */
  readonly asked: () => number
  /** True while one of them is worked on: it may rest now and then, and that time is not ours. */
  readonly isWorking: () => boolean
  readonly onBug: (error: unknown) => void
}

/** The start's own work, and what is asked at once, come first. */
const FIRST_MS = 200

/** Between two slices; requests that came meanwhile put the next one off. */
const PAUSE_MS = 5

/** A request that comes meanwhile waits so long, and for the end of a step. */
const SLICE_MS = 1

/** After so many V8 has compiled what it will. */
const ROUNDS = 40

const ACCOUNT = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'

/** Sixteen times: hashes a counter, adds that to one of eight slots. Then it logs and returns. */
const CONTRACT =
  '0x60298060095f395ff3' +
  '5f5b805f5260205f20806007168054820190555060010180601011600157' +
  '5f525f60205fa160205ff3'

/** Begins to exercise. @returns stops it */
export function warmUp({ open, asked, isWorking, onBug }: WarmUp): () => void {
  const steps = exercise(open)
  let timer = setTimeout(tick, FIRST_MS).unref()
  let isStopped = false
  let seen = asked()
  function tick(): void {
    const isBusy = asked() !== seen || isWorking()
    seen = asked()
    if (isBusy) timer = setTimeout(tick, PAUSE_MS).unref()
    else void slice()
  }
  async function slice(): Promise<void> {
    try {
      for (const end = performance.now() + SLICE_MS; performance.now() < end; ) {
        if (isStopped || (await steps.next()).done) return
      }
      timer = setTimeout(tick, PAUSE_MS).unref()
    } catch (error) {
      onBug(error)
    }
  }
  return () => {
    isStopped = true
    clearTimeout(timer)
  }
}

/** What tests and wallets do most, a request a step. */
async function* exercise(open: WarmUp['open']): AsyncGenerator<void, void, void> {
  const answer = await open()
  const ask = async (method: string, ...params: readonly unknown[]): Promise<unknown> => {
    const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    return JSON.parse(String(await answer(message))).result
  }
  yield
  for (let round = 0; round < ROUNDS; round++) {
    await answer(readsOf(round))
    yield
  }
  const deployment = await ask('eth_sendTransaction', {
    from: ACCOUNT,
    data: CONTRACT,
    gas: '0x30000',
  })
  const receipt = await ask('eth_getTransactionReceipt', deployment)
  const { contractAddress: to } = receipt as { readonly contractAddress: string }
  const run = { from: ACCOUNT, to, data: '0x', gas: '0x80000' }
  for (let round = 0; round < ROUNDS; round++) {
    const hash = await ask('eth_sendTransaction', {
      from: ACCOUNT,
      to: addressOf(round),
      value: '0x1',
    })
    yield
    await ask('eth_getTransactionReceipt', hash)
    await ask('eth_blockNumber')
    yield
    await ask('eth_sendTransaction', run)
    yield
    await ask('eth_call', run, 'latest')
    await ask('eth_estimateGas', run)
    yield
    await ask('eth_getLogs', { address: to, fromBlock: 'latest' })
    await ask('eth_getBlockByNumber', 'latest', false)
    yield
  }
}

/** A batch of small questions. */
function readsOf(round: number): string {
  const block = 'latest'
  const balances = Array.from({ length: 20 }, (_, i) => ({
    method: 'eth_getBalance',
    params: [addressOf(round * 20 + i), block],
  }))
  const others = [
    { method: 'eth_blockNumber', params: [] },
    { method: 'eth_chainId', params: [] },
    { method: 'eth_gasPrice', params: [] },
    { method: 'eth_getTransactionCount', params: [ACCOUNT, 'pending'] },
    { method: 'eth_getCode', params: [addressOf(round), block] },
  ]
  return JSON.stringify(
    [...balances, ...others].map((call, id) => ({ jsonrpc: '2.0', id, ...call })),
  )
}

function addressOf(number: number): string {
  return `0x${number.toString(16).padStart(40, '0')}`
}
