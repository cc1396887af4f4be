// A JSON-RPC call as people put it into their own programs: JSON, curl, viem.
import { shellWord } from '../../core/format.ts'

export type RpcCall = Readonly<{ method: string; params: readonly unknown[] }>

export function call(method: string, ...params: readonly unknown[]): RpcCall {
  return { method, params }
}

/** Calls to a URL in each form. */
export const CALL_FORMS: Readonly<
  Record<string, (calls: readonly RpcCall[], url: string) => string>
> = {
  'JSON-RPC': (calls) => calls.map((each) => bodyOf(each, 2)).join('\n'),
  curl: (calls, url) => {
    const command = `curl ${shellWord(url)} -H 'content-type: application/json' -d`
    return calls.map((each) => `${command} ${shellWord(bodyOf(each))}`).join('\n')
  },
  viem: (calls, url) => [viemClientOf(url), ...calls.map(viemOf)].join('\n'),
}

function bodyOf({ method, params }: RpcCall, indent?: number): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }, null, indent)
}

/** The client on which the calls of `viemOf` run. */
function viemClientOf(url: string): string {
  return `const client = createTestClient({ mode: 'hardhat', transport: http(${literal(url)}) })
  .extend(publicActions).extend(walletActions)`
}

function viemOf({ method, params }: RpcCall): string {
  const [first, second] = params as readonly [unknown, unknown]
  const request = `{ method: ${literal(method)}, params: ${JSON.stringify(params)} }`
  const [name, argument] = ACTIONS[method]?.(first, second) ?? []
  return `await client.${name === undefined ? `request(${request})` : `${name}(${literal(argument)})`}`
}

type Action = readonly [name: string, argument?: unknown]

/** The actions of viem's clients by method, where there is one; all others go out as plain requests. */
const ACTIONS: Readonly<Record<string, (first: unknown, second: unknown) => Action>> = {
  eth_sendTransaction: (order) => ['sendTransaction', { ...transactionOf(order), chain: null }],
  eth_call: (order, block) => ['call', { ...transactionOf(order), ...blockOf(block) }],
  hardhat_impersonateAccount: (address) => ['impersonateAccount', { address }],
  hardhat_stopImpersonatingAccount: (address) => ['stopImpersonatingAccount', { address }],
  hardhat_setBalance: (address, value) => ['setBalance', { address, value: big(value) }],
  hardhat_mine: (blocks = 1, interval) => {
    return ['mine', { blocks: Number(blocks), interval: interval && Number(interval) }]
  },
  evm_increaseTime: (seconds) => ['increaseTime', { seconds: Number(seconds) }],
  evm_setNextBlockTimestamp: (time) => ['setNextBlockTimestamp', { timestamp: big(time) }],
  evm_setAutomine: (enabled) => ['setAutomine', enabled],
  evm_snapshot: () => ['snapshot'],
}

/** viem names the sender `account`, and takes amounts as big integers. */
function transactionOf(order: unknown): object {
  const { from, to, value, data, gas } = order as Readonly<Record<string, unknown>>
  return { account: from, to, value: big(value), data, gas: big(gas) }
}

function blockOf(block: unknown): object {
  if (block === undefined || block === 'latest') return {}
  if (typeof block === 'object') return { ...block }
  return String(block).startsWith('0x') ? { blockNumber: big(block) } : { blockTag: block }
}

function big(quantity: unknown): bigint | undefined {
  return quantity === undefined ? undefined : BigInt(String(quantity))
}

/** As JavaScript; nothing for undefined. */
function literal(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? ''
  const set = Object.entries(value).filter(([, each]) => each !== undefined)
  return `{ ${set.map(([name, each]) => `${name}: ${literal(each)}`).join(', ')} }`
}
