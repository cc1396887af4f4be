// What clients make of a contract's failures against a chain that speaks as another node: each decodes what it decodes there.
import { Contract, JsonRpcProvider } from 'ethers'
import {
  type Abi,
  BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  createWalletClient,
  defineChain,
  type Hex,
  http,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { Web3 } from 'web3'
import { createDevchain } from '../../src/devchain.ts'
import { COMPAT_NODES, type CompatNode } from '../../src/methods/compat/profiles.ts'
import type { Contract as Artifact } from '../support/solidity/contracts.ts'

const ALICE = privateKeyToAccount(
  '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
)
const { abi, bytecode } = inject('contracts').Vault as Artifact

const SECONDS = expect.any(BigInt)

const FAILURES: readonly (readonly [
  kind: string,
  name: string,
  args: unknown[],
  reported: FailureReport,
])[] = [
  ['a reason', 'deposit', ['note'], { name: 'Error', args: ['nothing sent'] }],
  ['a panic', 'check', [false], { name: 'Panic', args: [1n] }],
  ['a custom error', 'withdraw', [1n], { name: 'TooEarly', args: [SECONDS, SECONDS] }],
]

type Way = 'call' | 'estimate' | 'send'

/** Where clients decode errors; web3 does it in calls alone. */
const WAYS: Readonly<Record<'viem' | 'ethers' | 'web3', readonly Way[]>> = {
  viem: ['call', 'estimate', 'send'],
  ethers: ['call', 'estimate', 'send'],
  web3: ['call'],
}

/** With the real ganache: of its code viem decodes nothing, and in its estimates ethers finds no data. */
const WAYS_OF_GANACHE: typeof WAYS = { viem: [], ethers: ['call'], web3: ['call'] }

/** An error as a client names it. */
interface FailureReport {
  readonly name: string | undefined
  readonly args: readonly unknown[]
}

interface Client {
  /** Has a function fail; gives what it failed with. */
  readonly fail: (way: Way, name: string, args: unknown[]) => Promise<FailureReport>
  readonly close: () => void
}

function viemClient(url: string, chainId: number, address: Hex): Client {
  const chain = defineChain({
    id: chainId,
    name: 'test',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  })
  // internal errors, as some nodes call a revert, it would ask for again
  const common = { chain, transport: http(url, { retryCount: 0 }) }
  const reader = createPublicClient(common)
  const writer = createWalletClient(common)
  const fail = async (way: Way, functionName: string, args: unknown[]): Promise<FailureReport> => {
    const request = { address, abi: abi as Abi, functionName, args, account: ALICE, chain }
    const ways = {
      call: () => reader.simulateContract(request),
      estimate: () => reader.estimateContractGas(request),
      send: () => writer.writeContract(request),
    }
    const error = (await thrownBy(ways[way]())) as BaseError
    expect(error).toBeInstanceOf(BaseError)
    const reverted = error.walk((each) => each instanceof ContractFunctionRevertedError)
    const { data } = (reverted ?? {}) as Partial<ContractFunctionRevertedError>
    return data === undefined
      ? { name: undefined, args: [error.details] }
      : { name: data.errorName, args: data.args ?? [] }
  }
  return { fail, close: () => {} }
}

async function ethersClient(url: string, _: number, address: Hex): Promise<Client> {
  const provider = new JsonRpcProvider(url, undefined, { pollingInterval: 20, cacheTimeout: -1 })
  const contract = new Contract(address, abi as never, await provider.getSigner(0))
  const fail = async (way: Way, name: string, args: unknown[]): Promise<FailureReport> => {
    const called = contract.getFunction(name)
    const ways = {
      call: () => called.staticCall(...args),
      estimate: () => called.estimateGas(...args),
      send: () => called.send(...args),
    }
    const error = (await thrownBy(ways[way]())) as {
      revert?: FailureReport | null
      data?: string | null
    }
    // of an estimate ethers hands on the data, which its users then take apart
    const reported = error.revert ?? contract.interface.parseError(error.data ?? '0x')
    // the number of a panic is no bigint in ethers
    const all = [...(reported?.args ?? [])].map((arg) =>
      typeof arg === 'number' ? BigInt(arg) : arg,
    )
    return { name: reported?.name, args: all }
  }
  return { fail, close: () => provider.destroy() }
}

function web3Client(url: string, _: number, address: Hex): Client {
  const contract = new Web3(url).eth.Contract
  const { methods } = new contract(abi as never, address) as unknown as {
    methods: Record<
      string,
      (...args: unknown[]) => Record<string, (options: object) => Promise<unknown>>
    >
  }
  const fail = async (way: Way, name: string, args: unknown[]): Promise<FailureReport> => {
    const error = await thrownBy(methods[name]?.(...args)?.[way]?.({ from: ALICE.address }))
    const { cause } = error as { cause?: { errorName?: string; errorArgs?: object } }
    // by their places, and then by their names once more
    const all = Object.entries(cause?.errorArgs ?? {}).filter(([key]) => /^\d+$/.test(key))
    return { name: cause?.errorName, args: all.map(([, value]) => value) }
  }
  return { fail, close: () => {} }
}

async function thrownBy(asked: Promise<unknown> | undefined): Promise<unknown> {
  return await (asked ?? Promise.resolve()).then(
    (answer) => {
      throw new Error(`it did not fail: ${answer}`)
    },
    (thrown: unknown) => thrown,
  )
}

interface Scene extends AsyncDisposable {
  readonly clients: Readonly<Record<'viem' | 'ethers' | 'web3', Client>>
}

/** A chain that speaks as another node, with a vault that opens in an hour. */
async function begin(compat: CompatNode): Promise<Scene> {
  const devchain = await createDevchain({ compat, port: 0 })
  const { url } = await devchain.listen()
  const ask = (method: string, ...params: unknown[]): Promise<unknown> =>
    devchain.request({ method, params })
  const data = `${bytecode}${'e10'.padStart(64, '0')}`
  const hash = await ask('eth_sendTransaction', { from: ALICE.address, data, gas: '0x2dc6c0' })
  const receipt = (await ask('eth_getTransactionReceipt', hash)) as { contractAddress: Hex }
  const place = [url, Number(await ask('eth_chainId')), receipt.contractAddress] as const
  const clients = {
    viem: viemClient(...place),
    ethers: await ethersClient(...place),
    web3: web3Client(...place),
  }
  const end = async (): Promise<void> => {
    for (const { close } of Object.values(clients)) close()
    await devchain.close()
  }
  return { clients, [Symbol.asyncDispose]: end }
}

describe.each(COMPAT_NODES)('with --compat %s', (compat) => {
  let scene: Scene

  beforeAll(async () => {
    scene = await begin(compat)
  })
  afterAll(async () => {
    await scene[Symbol.asyncDispose]()
  })

  const ways = compat === 'ganache' ? WAYS_OF_GANACHE : WAYS
  const cases = (['viem', 'ethers', 'web3'] as const).flatMap((client) =>
    ways[client].flatMap((way) =>
      FAILURES.map(
        ([kind, name, args, reported]) => [client, kind, way, name, args, reported] as const,
      ),
    ),
  )

  test.each(cases)('%s decodes %s as %s', async (client, _, way, name, args, reported) => {
    expect(await scene.clients[client].fail(way, name, args)).toEqual(reported)
  })
})

test('with --compat ganache viem has the revert reason in words only', async () => {
  await using scene = await begin('ganache')
  const reported = await scene.clients.viem.fail('call', 'deposit', ['note'])
  const words = 'VM Exception while processing transaction: revert nothing sent'
  expect(reported).toEqual({ name: undefined, args: [words] })
})
