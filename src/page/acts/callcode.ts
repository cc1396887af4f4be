// A JSON-RPC call as people put it into their own programs: JSON, curl, viem.
import { shellWord } from '../../core/format.ts'

export type RpcCall = Readonly<{ method: string; params: readonly unknown[] }>

export function call(method: string, ...params: readonly unknown[]): RpcCall {
  return { method, params }
}

type Members = Readonly<Record<string, string | undefined>>

/** Calls to a URL in each form. */
export const CALL_FORMS: Readonly<
  Record<string, (calls: readonly RpcCall[], url: string) => string>
> = {
  'JSON-RPC': (calls) => calls.map(jsonOf).join('\n'),
  curl: (calls, url) => calls.map((each) => curlOf(url, each)).join('\n'),
  viem: (calls, url) => [viemClientOf(url), ...calls.map(viemOf)].join('\n'),
}

function jsonOf({ method, params }: RpcCall): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }, null, 2)
}

function curlOf(url: string, { method, params }: RpcCall): string {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  return `curl ${shellWord(url)} -H 'content-type: application/json' -d ${shellWord(body)}`
}

/** The client on which the calls of `viemOf` run. */
function viemClientOf(url: string): string {
  return `const client = createTestClient({ mode: 'hardhat', transport: http(${quoted(url)}) })
  .extend(publicActions).extend(walletActions)`
}

function viemOf(call: RpcCall): string {
  const [first, second] = call.params as readonly [unknown, unknown]
  const write = ACTIONS[call.method]
  return `await client.${write === undefined ? requestOf(call) : write(first, second)}`
}

/** The actions of viem's clients by method, where there is one; all others go out as plain requests. */
const ACTIONS: Readonly<Record<string, (first: unknown, second: unknown) => string>> = {
  eth_sendTransaction: (order) =>
    `sendTransaction(${object({ ...transactionOf(order), chain: 'null' })})`,
  eth_call: (order, block) => `call(${object({ ...transactionOf(order), ...blockOf(block) })})`,
  hardhat_impersonateAccount: (address) => `impersonateAccount({ address: ${quoted(address)} })`,
  hardhat_stopImpersonatingAccount: (address) =>
    `stopImpersonatingAccount({ address: ${quoted(address)} })`,
  hardhat_setBalance: (address, value) =>
    `setBalance({ address: ${quoted(address)}, value: ${big(value)} })`,
  hardhat_mine: (blocks, interval) =>
    `mine(${object({ blocks: plain(blocks ?? '0x1'), interval: interval === undefined ? undefined : plain(interval) })})`,
  evm_increaseTime: (seconds) => `increaseTime({ seconds: ${plain(seconds)} })`,
  evm_setNextBlockTimestamp: (timestamp) =>
    `setNextBlockTimestamp({ timestamp: ${big(timestamp)} })`,
  evm_setAutomine: (enabled) => `setAutomine(${enabled})`,
  evm_snapshot: () => 'snapshot()',
  evm_revert: (id) => `revert({ id: ${quoted(id)} })`,
}

/** viem names the sender `account`, and takes amounts as big integers. */
function transactionOf(order: unknown): Members {
  const { from, to, value, data, gas } = order as Members
  return {
    account: from && quoted(from),
    to: to && quoted(to),
    value: value && big(value),
    data: data && quoted(data),
    gas: gas && big(gas),
  }
}

function blockOf(block: unknown): Members {
  if (block === undefined || block === 'latest') return {}
  if (typeof block === 'object') return { blockHash: quoted((block as Members).blockHash) }
  return String(block).startsWith('0x') ? { blockNumber: big(block) } : { blockTag: quoted(block) }
}

function requestOf({ method, params }: RpcCall): string {
  return `request({ method: ${quoted(method)}, params: ${JSON.stringify(params)} })`
}

function object(members: Members): string {
  const set = Object.entries(members).filter(([, value]) => value !== undefined)
  return `{ ${set.map(([name, value]) => `${name}: ${value}`).join(', ')} }`
}

function quoted(value: unknown): string {
  return JSON.stringify(String(value))
}

function plain(quantity: unknown): string {
  return BigInt(String(quantity)).toString()
}

function big(quantity: unknown): string {
  return `${plain(quantity)}n`
}
