// A chain with a bit of everything that a dump has to carry, grown over any node's RPC, and the questions that both ends of
// a dump have to answer alike.
import { createWalletClient, custom, defineChain, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { hexFromBytes } from '../../../src/core/hex.ts'
import { blobOf, kzg } from '../evm/blobs.ts'
import { assemble, calling, deploying } from '../evm/bytecode.ts'
import type { Ask } from '../tools/anvil.ts'
import { eventually } from '../waiting/eventually.ts'

const SENDER = privateKeyToAccount(
  '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
)
const DELEGATOR = privateKeyToAccount(
  '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
)
const STRANGER = '0x00000000000000000000000000000000000000aa'

/** What there is to ask about. */
export interface DumpedChain {
  readonly height: number
  /** By what they are, as "creation" or "revert". */
  readonly hashes: Readonly<Record<string, Hex>>
  readonly accounts: readonly Hex[]
  readonly contract: Hex
}

/** Stores the block's number and logs twice; reverts for one byte of data, halts for two. */
const STORING = assemble(`
  CALLDATASIZE 1 EQ @revert JUMPI CALLDATASIZE 2 EQ @halt JUMPI
  NUMBER 1 SSTORE 9 8 0 0 LOG2 7 32 0 LOG1 STOP
  revert: 0xbad 0 MSTORE 32 0 REVERT
  halt: INVALID
`)

/** Stores 42, logs, and leaves the code above. */
const CREATION = hexFromBytes(
  Uint8Array.of(...assemble('42 0 SSTORE 7 32 0 LOG1'), ...relocated(STORING)),
)

/** Init code of a runtime that stands behind other code of 10 bytes. */
function relocated(runtime: Uint8Array): Uint8Array {
  const init = deploying(runtime)
  const moved = init.slice()
  moved[5]! += assemble('42 0 SSTORE 7 32 0 LOG1').length
  return moved
}

const FEES = { maxFeePerGas: 20_000_000_000n, maxPriorityFeePerGas: 1n }
const GAS = 500_000n

/** Grows a chain from its genesis: transactions of every type, of each outcome, alone and together, and a jump in time. */
export async function growChain(ask: Ask, chainId: number, hasBlobs = true): Promise<DumpedChain> {
  const chain = defineChain({
    id: chainId,
    name: 'grown',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [] } },
  })
  const provider = {
    request: ({ method, params = [] }: { method: string; params?: unknown[] }) =>
      ask(method, ...params),
  }
  const wallet = createWalletClient({ account: SENDER, chain, transport: custom(provider) })
  const hashes: Record<string, Hex> = {}
  let nonce = 0
  const send = async (name: string, request: object): Promise<Hex> => {
    const common = { gas: GAS, nonce: nonce++ }
    const hash = await wallet.sendTransaction({ ...FEES, ...common, ...request } as never)
    hashes[name] = hash
    return hash
  }
  const mined = async (hash: Hex): Promise<{ readonly contractAddress: Hex }> => {
    const receipt = await eventually(() => ask('eth_getTransactionReceipt', hash))
    return receipt as { readonly contractAddress: Hex }
  }
  const to = DELEGATOR.address
  const price = {
    gasPrice: 20_000_000_000n,
    maxFeePerGas: undefined,
    maxPriorityFeePerGas: undefined,
  }
  await mined(await send('legacy', { ...price, type: 'legacy', to, value: 1n }))
  const accessList = [{ address: to, storageKeys: [`0x${'11'.repeat(32)}`] }]
  await mined(await send('accessList', { ...price, type: 'eip2930', to, value: 2n, accessList }))
  const { contractAddress: contract } = await mined(await send('creation', { data: CREATION }))
  await mined(await send('call', { to: contract }))
  await mined(await send('revert', { to: contract, data: '0x01' }))
  await mined(await send('halt', { to: contract, data: '0x0102' }))
  const outer = assemble(`${calling(contract)} POP ${calling(contract)} 2 SSTORE STOP`)
  const { contractAddress: caller } = await mined(
    await send('deployment', { data: hexFromBytes(deploying(outer)) }),
  )
  await ask('evm_increaseTime', 1000)
  await mined(await send('nested', { to: caller }))
  const authorization = await DELEGATOR.signAuthorization({
    contractAddress: contract,
    chainId,
    nonce: 0,
  })
  await mined(await send('setCode', { to, authorizationList: [authorization] }))
  const blobs = { blobs: [hexFromBytes(blobOf(2))], kzg, maxFeePerBlobGas: 100n }
  if (hasBlobs) await mined(await send('blobs', { ...blobs, to: STRANGER }))
  await ask('evm_setAutomine', false)
  await send('first', { ...price, type: 'legacy', to, value: 1n })
  await send('second', { to: contract })
  await ask('evm_mine')
  await ask('evm_setAutomine', true)
  await impersonated(ask, contract, hashes)
  await ask('anvil_mine', '0x3', '0xa')
  await ask('anvil_setStorageAt', contract, '0x5', `0x${'00'.repeat(31)}63`)
  const height = Number(await ask('eth_blockNumber'))
  const named: Hex[] = [SENDER.address, DELEGATOR.address, STRANGER, contract, caller]
  const accounts = named.map((each) => each.toLowerCase() as Hex)
  return { height, hashes, accounts, contract }
}

/** Transactions of an account whose key nobody has. */
async function impersonated(ask: Ask, to: Hex, hashes: Record<string, Hex>): Promise<void> {
  await ask('anvil_impersonateAccount', STRANGER)
  await ask('anvil_setBalance', STRANGER, '0xde0b6b3a7640000')
  const common = { from: STRANGER, to, value: '0x0', gas: '0x30d40' }
  const fees = { maxFeePerGas: '0x4a817c800', maxPriorityFeePerGas: '0x1' }
  for (const [name, prices] of Object.entries({
    stranger: { gasPrice: '0x4a817c800' },
    typedStranger: fees,
  })) {
    const hash = (await ask('eth_sendTransaction', { ...common, ...prices })) as Hex
    await eventually(() => ask('eth_getTransactionReceipt', hash))
    hashes[name] = hash
  }
}

/** Questions about blocks, transactions and the newest accounts, which any dump answers. */
export function questionsOf({ height, hashes, accounts, contract }: DumpedChain): Question[] {
  const numbers = Array.from({ length: height + 1 }, (_, number) => `0x${number.toString(16)}`)
  return [
    ['eth_blockNumber'],
    ['eth_getLogs', { fromBlock: '0x0', toBlock: 'latest' }],
    ['eth_getStorageAt', contract, '0x5', 'latest'],
    ...numbers.map((number): Question => ['eth_getBlockByNumber', number, true]),
    ...numbers.map((number): Question => ['eth_getBlockReceipts', number]),
    ...Object.values(hashes).flatMap((hash): Question[] => [
      ['eth_getTransactionByHash', hash],
      ['eth_getTransactionReceipt', hash],
    ]),
    ...accounts.flatMap((account) => stateQuestions(account, 'latest')),
  ]
}

/** Questions about older states, which dumps with historical states answer. */
export function olderQuestionsOf({ height, accounts }: DumpedChain): Question[] {
  const numbers = Array.from({ length: height }, (_, number) => `0x${number.toString(16)}`)
  return numbers.flatMap((number) => accounts.flatMap((each) => stateQuestions(each, number)))
}

/** A method and its parameters. */
export type Question = readonly [method: string, ...params: unknown[]]

function stateQuestions(account: Hex, block: string): Question[] {
  return [
    ['eth_getBalance', account, block],
    ['eth_getTransactionCount', account, block],
    ['eth_getCode', account, block],
    ['eth_getStorageAt', account, '0x1', block],
  ]
}

/** Members that are the node's own word, or that only one of them has. */
const OWN: ReadonlySet<string> = new Set([
  'size',
  'blockTimestamp',
  'blobGasPrice',
  'cumulativeDifficulty',
  'totalDifficulty',
  'blobs',
  'commitments',
  'proofs',
])

/** An answer without what no dump carries. */
export function comparable(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.map(comparable)
  if (typeof answer !== 'object' || answer === null) return answer
  const members = Object.entries(answer).filter(([name]) => !OWN.has(name))
  return Object.fromEntries(members.map(([name, value]) => [name, comparable(value)]))
}
