// A network to fork: a devchain behind an HTTP server that can be slow, limited, lying, or cut off.
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Hex, hexFromBytes } from '../../../src/core/hex.ts'
import { createDevchain, type Devchain, type DevchainOptions } from '../../../src/devchain.ts'
import { assemble, deploying, RETURN_WORD } from '../evm/bytecode.ts'

/** A request of JSON-RPC. */
export interface Asked {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

/** An answer of HTTP, whatever is asked. */
export interface HttpAnswer {
  readonly status: number
  readonly body: string
  readonly headers?: Record<string, string>
}

/** What is wrong with it; members are changed while it runs. */
export interface Faults {
  /** HTTP answers in place of the next ones, by turns: a status, a body, headers. */
  readonly next: HttpAnswer[]
  /** The HTTP answer in place of all others. */
  always: HttpAnswer | undefined
  /** More requests of one batch are refused, with the words of a service. */
  mostTogether: number
  /** Methods that it does not know. */
  readonly unknown: Set<string>
  /** What an answer is changed to. */
  lie: ((asked: Asked, result: unknown) => unknown) | undefined
  /** Error of an item, in place of its answer. */
  refuse: ((asked: Asked) => { code: number; message: string } | undefined) | undefined
  /** What the replies to a batch are changed to: their order, or how many there are. */
  replies: ((replies: readonly object[]) => readonly object[]) | undefined
  /** Who answers in its place. */
  stranger: Devchain | undefined
  /** True: connections are cut without an answer. */
  isCut: boolean
  /** Milliseconds before each answer. */
  latencyMs: number
}

/** A network to fork. */
export interface Upstream {
  readonly devchain: Devchain
  readonly url: string
  readonly faults: Faults
  /** Requests of HTTP that came, each with what it asked. */
  readonly requests: (readonly Asked[])[]
  /** The headers that the last one came with. */
  readonly headers: () => IncomingHttpHeaders
  /** Asks the devchain itself. */
  readonly ask: (method: string, ...params: readonly unknown[]) => Promise<unknown>
  readonly close: () => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** Starts a network: the same in every run. */
export async function startUpstream(options: DevchainOptions = {}): Promise<Upstream> {
  const devchain = await createDevchain({ clock: 'step:12', ...options })
  const faults: Faults = {
    next: [],
    always: undefined,
    mostTogether: Number.POSITIVE_INFINITY,
    unknown: new Set(),
    lie: undefined,
    refuse: undefined,
    replies: undefined,
    stranger: undefined,
    isCut: false,
    latencyMs: 0,
  }
  const requests: (readonly Asked[])[] = []
  let headers: IncomingHttpHeaders = {}
  const server = createServer((request, response) => {
    headers = request.headers
    void read(request).then(async (text) => {
      const body = JSON.parse(text) as Asked | readonly Asked[]
      requests.push(Array.isArray(body) ? body : [body as Asked])
      if (faults.isCut) {
        request.socket.destroy()
        return
      }
      if (faults.latencyMs > 0) await later(faults.latencyMs)
      const instead = faults.always ?? faults.next.shift()
      if (instead !== undefined) {
        response.writeHead(instead.status, instead.headers).end(instead.body)
        return
      }
      const isTooLong = Array.isArray(body) && body.length > faults.mostTogether
      const answer = isTooLong
        ? { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'batch is too large' } }
        : Array.isArray(body)
          ? changed(await Promise.all(body.map((each) => answerTo(devchain, faults, each))), faults)
          : await answerTo(devchain, faults, body as Asked)
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    server.close()
    await devchain.close()
  }
  return {
    devchain,
    url: `http://127.0.0.1:${port}`,
    faults,
    requests,
    headers: () => headers,
    ask: (method, ...params) => devchain.request({ method, params }),
    close,
    [Symbol.asyncDispose]: close,
  }
}

function changed(replies: readonly object[], faults: Faults): readonly object[] {
  return faults.replies?.(replies) ?? replies
}

async function answerTo(devchain: Devchain, faults: Faults, asked: Asked): Promise<object> {
  const { id, method, params } = asked
  const envelope = { jsonrpc: '2.0', id }
  const refused = faults.unknown.has(method)
    ? { code: -32601, message: `the method ${method} does not exist` }
    : faults.refuse?.(asked)
  if (refused !== undefined) return { ...envelope, error: refused }
  try {
    const result = await (faults.stranger ?? devchain).request({ method, params })
    return { ...envelope, result: faults.lie === undefined ? result : faults.lie(asked, result) }
  } catch (error) {
    const { code, message, data } = error as { code: number; message: string; data?: unknown }
    return { ...envelope, error: { code, message, data } }
  }
}

async function read(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString()
}

function later(milliseconds: number): Promise<void> {
  return new Promise((answer) => {
    setTimeout(answer, milliseconds)
  })
}

/** A fork of a network. */
export interface Fork {
  readonly devchain: Devchain
  readonly ask: Upstream['ask']
  /** What it logged. */
  readonly notices: readonly string[]
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** A fork of a network, without the cache folder: the same in every run. */
export async function forkOf(upstream: Upstream, options: DevchainOptions = {}): Promise<Fork> {
  const notices: string[] = []
  const devchain = await createDevchain(
    { fork: { url: upstream.url }, noForkCache: true, clock: 'step:12', port: 0, ...options },
    { observer: { onNotice: (text) => notices.push(text) } },
  )
  return {
    devchain,
    notices,
    ask: (method, ...params) => devchain.request({ method, params }),
    [Symbol.asyncDispose]: () => devchain.close(),
  }
}

/** A 32-byte word without 0x. */
export function word(value: bigint | number): string {
  return value.toString(16).padStart(64, '0')
}

/** Slots that the keeper sums up. */
export const SUMMED = 40

const SUM = Array.from({ length: SUMMED }, (_, slot) => `${slot} SLOAD ADD`).join(' ')

/**
 * A contract that puts its second word into the slot of its first, and logs it; called with one word it follows as many links:
 * slot 1000 names the next slot, that the one after, and the last is returned. Without input it sums up the first slots.
 */
const KEEPER = `
  CALLDATASIZE 32 EQ @follow JUMPI
  CALLDATASIZE ISZERO @sum JUMPI
  32 CALLDATALOAD 0 CALLDATALOAD SSTORE
  32 CALLDATALOAD 0 MSTORE 0 CALLDATALOAD 32 0 LOG1 STOP
  sum: 0 ${SUM} ${RETURN_WORD}
  follow: 1000 0 CALLDATALOAD
  next: DUP1 ISZERO @end JUMPI
  1 SWAP1 SUB SWAP1 SLOAD SWAP1 @next JUMP
  end: POP ${RETURN_WORD}
`

/** The init code of the keeper. */
export const KEEPER_CODE: Hex = hexFromBytes(deploying(assemble(KEEPER)))

/** Input of the keeper: sets a slot. */
export function setting(slot: bigint | number, value: bigint | number): Hex {
  return `0x${word(slot)}${word(value)}`
}

/** Sends from the first account, and gives the receipt. */
export async function sendOn(
  ask: Upstream['ask'],
  request: Readonly<Record<string, unknown>>,
): Promise<Record<string, string> & { readonly logs: readonly Record<string, string>[] }> {
  const [from] = (await ask('eth_accounts')) as readonly string[]
  const hash = await ask('eth_sendTransaction', { from, gas: '0x200000', ...request })
  return (await ask('eth_getTransactionReceipt', hash)) as never
}

/** Deploys a keeper whose first slots hold their number and a hundred, and a chain of links from slot 1000 on. */
export async function deployKeeper({ ask }: Pick<Upstream, 'ask'>): Promise<string> {
  const { contractAddress: keeper } = await sendOn(ask, { data: KEEPER_CODE })
  if (keeper === undefined) throw new Error('nothing was deployed')
  await ask('evm_setAutomine', false)
  const [from] = (await ask('eth_accounts')) as readonly string[]
  const slots = Array.from({ length: SUMMED }, (_, slot) => [slot, slot + 100] as const)
  const links = [1000, 2000, 3000, 4000, 5000].map((slot) => [slot, slot + 1000] as const)
  for (const [slot, value] of [...slots, ...links]) {
    await ask('eth_sendTransaction', {
      from,
      to: keeper,
      data: setting(slot, value),
      gas: '0x20000',
    })
  }
  await ask('evm_mine')
  await ask('evm_setAutomine', true)
  return keeper
}
